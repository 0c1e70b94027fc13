//! What the parser says about a text that somebody is still writing.

use haft_lang::ast::{Program, WarningKind};
use haft_lang::{ParseOptions, SyntaxError, parse};

/// How often a text is added to before it is given up.
const ADDITIONS: usize = 24;

/// Whether Enter ends a text: nothing is open, no here-document waits for its end, the line is not continued.
pub(crate) fn is_complete(text: &str, options: &ParseOptions) -> bool {
    let line = format!("{text}\n");
    match parse(line.as_bytes(), options) {
        Ok(program) => !waits_for_more(&program) && !is_continued(text, options),
        Err(error) => !error.incomplete,
    }
}

fn waits_for_more(program: &Program) -> bool {
    program
        .warnings
        .iter()
        .any(|warning| matches!(warning.kind, WarningKind::UnterminatedHereDocument { .. }))
}

/// Whether the last character is a backslash that continues the line. In a comment it is a character like others: there
/// a quote that is never closed does not matter.
fn is_continued(text: &str, options: &ParseOptions) -> bool {
    let backslashes = text.bytes().rev().take_while(|byte| *byte == b'\\').count();
    let commented = || parse(format!("{}'\n", &text[..text.len() - 1]).as_bytes(), options).is_ok();
    backslashes % 2 == 1 && !commented()
}

/// The program that a text would be if what is open in it were closed. Spans beyond the text are of what was added.
/// The error, for a text that nothing added could make right.
pub(crate) fn parse_unfinished(text: &str, options: &ParseOptions) -> Result<Program, SyntaxError> {
    let mut whole = text.to_owned();
    let mut last = None;
    for _ in 0..ADDITIONS {
        match parse(whole.as_bytes(), options) {
            Ok(program) => return Ok(program),
            Err(error) if error.incomplete => {
                whole.push_str(&missing(&error));
                last = Some(error);
            }
            Err(error) if (error.span.start as usize) < text.len() => return Err(error),
            Err(error) => return Err(last.unwrap_or(error)),
        }
    }
    last.map_or_else(|| parse(whole.as_bytes(), options), Err)
}

/// What would close what is open.
fn missing(error: &SyntaxError) -> String {
    let expected = error.expected.as_deref().unwrap_or_default();
    let opened = error.opened.map_or("", |opened| opened.what);
    let token =
        expected.strip_prefix('"').and_then(|rest| rest.split('"').next()).filter(|token| !token.is_empty());
    match (token, opened) {
        (_, "\"" | "'" | "`") => opened.to_owned(),
        (_, "$'") => "'".to_owned(),
        (_, "$\"") => "\"".to_owned(),
        (Some("}"), opened) if opened.starts_with('$') => "}".to_owned(),
        (Some("]]"), _) => " ]]".to_owned(),
        (Some(";"), _) => ";".to_owned(),
        (Some(token), _) => format!("\n{token}"),
        (None, _) if expected.starts_with("a command") => "\n:".to_owned(),
        (None, _) if expected.starts_with("the body") => " { :; }".to_owned(),
        (None, _) if expected.contains("\"]]\"") => " ]]".to_owned(),
        (None, _) => " x".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enter_ends_what_can_be_run() {
        for (text, complete) in [
            ("ls", true),
            ("", true),
            ("echo 'a", false),
            ("echo \"a", false),
            ("if true", false),
            ("if true; then echo; fi", true),
            ("for x in 1 2; do", false),
            ("f() {", false),
            ("ls |", false),
            ("true &&", false),
            ("echo $(ls", false),
            ("cat <<END", false),
            ("cat <<END\nx", false),
            ("cat <<END\nx\nEND", true),
            ("echo \\", false),
            ("echo \\\\", true),
            ("echo a # \\", true),
            ("echo ) x", true),
            ("case x in", false),
        ] {
            assert_eq!(is_complete(text, &ParseOptions::default()), complete, "{text:?}");
        }
    }

    #[test]
    fn what_is_open_is_closed() {
        for text in [
            "echo 'a",
            "echo \"a $(ls",
            "echo \"${HOME",
            "if",
            "if true",
            "if true; then",
            "if true; then ls",
            "while",
            "for x",
            "for x in",
            "for x in a",
            "for x in a; do",
            "case",
            "case x",
            "case x in",
            "case x in a)",
            "{ ls",
            "( ls",
            "f()",
            "f() {",
            "function f",
            "ls |",
            "ls &&",
            "echo $((1+",
            "[[ a",
            "[[ a ==",
            "x=(a b",
            "cat <",
            "echo `ls",
            "echo <(ls",
            "ls # don't",
            "$(",
            "echo ${x:-",
            "if ls; then # x",
            "until a; do b",
            "echo $'a",
        ] {
            let parsed = parse_unfinished(text, &ParseOptions::default());
            assert!(parsed.is_ok(), "{text:?}: {parsed:?}");
        }
        assert!(parse_unfinished("ls ) x", &ParseOptions::default()).is_err());
    }
}
