//! Parses jq programs to find syntax errors in them.

use jaq_core::load::{Lexer, Parser};

/// Larger or more deeply nested programs are not parsed, since the parser recurses.
const MAX_PROGRAM_BYTES: usize = 2000;
const MAX_NESTING: usize = 60;

/// The syntax error of a program; `None` if it parses or is not checked.
pub(crate) fn syntax_error(program: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(program).ok()?;
    let nested = text.matches(['(', '[', '{', '-']).count() + text.matches("if ").count();
    if text.len() > MAX_PROGRAM_BYTES || nested > MAX_NESTING || is_unsupported(text) {
        return None;
    }
    let tokens = match Lexer::new(text).lex() {
        Ok(tokens) => tokens,
        Err(errors) => {
            let (expected, rest) = errors.into_iter().next()?;
            return Some(describe_error(text, expected.as_str(), rest));
        }
    };
    let parsed = Parser::new(&tokens).parse(|parser| parser.term());
    let (expected, found) = parsed.err()?.into_iter().next()?;
    let rest = found.map_or("", |token| token.0);
    Some(describe_error(text, expected.as_str(), rest))
}

/// Whether a program uses syntax that jq accepts and this parser may not.
fn is_unsupported(text: &str) -> bool {
    let trimmed = text.trim_start();
    let lone = trimmed.is_empty() || trimmed.starts_with('#');
    let definitions = trimmed.starts_with("def ") && trimmed.trim_end().ends_with(';');
    lone || definitions || ["?//", "import ", "include ", "$__"].iter().any(|mark| text.contains(mark))
}

fn describe_error(text: &str, expected: &str, rest: &str) -> String {
    let at = rest.as_ptr() as usize;
    let offset = at.checked_sub(text.as_ptr() as usize).filter(|offset| *offset < text.len());
    let found: String = offset.map_or(String::new(), |offset| text[offset..].chars().take(12).collect());
    if found.is_empty() {
        format!("expected {expected}, found the end")
    } else {
        format!("expected {expected}, found '{found}'")
    }
}

#[cfg(test)]
mod tests {
    use super::syntax_error;

    #[test]
    fn common_programs_are_accepted() {
        let programs = [
            ".",
            ".[]",
            ".a.b",
            ".a[0]",
            ".[-1:]",
            ".a?",
            "..",
            ".[\"a b\"]",
            ".a.\"b\"",
            "{a, b: .c}",
            "{(.k): .v}",
            "{\"a\": 1}",
            "[.[] | .x]",
            "map(select(.a > 1 and .b != \"x\"))",
            "to_entries[] | \"\\(.key)=\\(.value)\"",
            "if .a then 1 elif .b then 2 else 3 end",
            "if . then 1 end",
            "reduce .[] as $x (0; . + $x)",
            "foreach .[] as $x (0; . + $x; [.])",
            "try error(\"x\") catch .",
            ".a // \"none\"",
            ".a |= . + 1",
            ".a += 1",
            "del(.a, .b)",
            "$ENV.HOME",
            "env.HOME",
            "@base64",
            "@csv \"\\(.a)\"",
            "def f(x): x + 1; f(.)",
            ". as [$a, {b: $c}] | $a",
            "label $out | .[] | break $out",
            "[limit(3; .[])]",
            "-1",
            "-(.a)",
            "input",
            "@sh",
            ".a.b.c?",
            "map(.a) | add / length",
            ".[] | select(.name | test(\"^a\"; \"i\"))",
            "with_entries(.value |= tostring)",
            "{if: 1}",
            ".and",
            "# comment\n.a",
            "group_by(.a)[] | {a: .[0].a, n: length}",
            ".a[1:3]",
            ".[]?",
            "not",
            "1e3",
            "\"\\u00e9\"",
            "{a: 1} + {b: 2}",
            ".a, .b",
            "(.a | length) as $n | $n",
            "$x",
            "{$x}",
            "{$__loc__}",
            "{\"a\\(1)\": 2}",
            ".a as $x | .b as $y | $x + $y",
            "getpath([\"a\",\"b\"])",
        ];
        let refused: Vec<_> = programs
            .iter()
            .filter_map(|program| Some((program, syntax_error(program.as_bytes())?)))
            .collect();
        assert!(refused.is_empty(), "{refused:#?}");
    }

    #[test]
    fn broken_programs_are_rejected() {
        for program in [
            ".[",
            ".a | map(.b",
            ".a ==",
            "{a: }",
            "if .a then 1",
            "\"abc",
            ".a |",
            "select(.a",
            ")",
            "[1,]",
            ".a b",
        ] {
            assert!(syntax_error(program.as_bytes()).is_some(), "{program}");
        }
    }

    #[test]
    fn deeply_nested_programs_are_not_parsed() {
        for program in ["(".repeat(100_000), "-".repeat(1_900), "[".repeat(1_000), "if ".repeat(600)] {
            let _ = syntax_error(program.as_bytes());
        }
    }
}
