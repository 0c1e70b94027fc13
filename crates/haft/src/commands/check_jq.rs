//! Whether a jq program parses.

use jaq_core::load::{Lexer, Parser};

/// The longest program that is looked at, and the deepest: the parser recurses.
const LONGEST: usize = 2000;
const DEEPEST: usize = 60;

/// What is wrong with a program; `None` if it parses, or if it is none that we look at.
pub(crate) fn fault(program: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(program).ok()?;
    let nested = text.matches(['(', '[', '{', '-']).count() + text.matches("if ").count();
    if text.len() > LONGEST || nested > DEEPEST || is_particular(text) {
        return None;
    }
    let tokens = match Lexer::new(text).lex() {
        Ok(tokens) => tokens,
        Err(errors) => {
            let (expected, rest) = errors.into_iter().next()?;
            return Some(told(text, expected.as_str(), rest));
        }
    };
    let parsed = Parser::new(&tokens).parse(|parser| parser.term());
    let (expected, found) = parsed.err()?.into_iter().next()?;
    let rest = found.map_or("", |token| token.0);
    Some(told(text, expected.as_str(), rest))
}

/// What jq accepts and this parser may not: there the program has the benefit of the doubt.
fn is_particular(text: &str) -> bool {
    let trimmed = text.trim_start();
    let lone = trimmed.is_empty() || trimmed.starts_with('#');
    let definitions = trimmed.starts_with("def ") && trimmed.trim_end().ends_with(';');
    lone || definitions || ["?//", "import ", "include ", "$__"].iter().any(|mark| text.contains(mark))
}

fn told(text: &str, expected: &str, rest: &str) -> String {
    let at = rest.as_ptr() as usize;
    let offset = at.checked_sub(text.as_ptr() as usize).filter(|offset| *offset < text.len());
    let found: String = offset.map_or(String::new(), |offset| text[offset..].chars().take(12).collect());
    if found.is_empty() {
        format!("expected {expected}, found its end")
    } else {
        format!("expected {expected}, found \"{found}\"")
    }
}

#[cfg(test)]
mod tests {
    use super::fault;

    #[test]
    fn programs_in_use_are_accepted() {
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
        let refused: Vec<_> =
            programs.iter().filter_map(|program| Some((program, fault(program.as_bytes())?))).collect();
        assert!(refused.is_empty(), "{refused:#?}");
    }

    #[test]
    fn broken_programs_are_refused() {
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
            assert!(fault(program.as_bytes()).is_some(), "{program}");
        }
    }

    #[test]
    fn hostile_programs_are_left_alone() {
        for program in ["(".repeat(100_000), "-".repeat(1_900), "[".repeat(1_000), "if ".repeat(600)] {
            let _ = fault(program.as_bytes());
        }
    }
}
