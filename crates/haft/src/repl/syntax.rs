//! Parses text that is still being written.

use haft_lang::ast::{Program, WarningKind};
use haft_lang::{Expected, ParseOptions, Script, SyntaxError, parse};

/// How many missing tokens are added at most.
const MAX_ADDITIONS: usize = 24;

/// Parses a text that was entered. Returns `None` if it is not complete: a construct or here-document is open, or the
/// line is continued.
pub(crate) fn parse_complete(text: &str, options: &ParseOptions) -> Option<Script> {
    let script = Script::parse(format!("{text}\n").into_bytes(), options);
    let is_complete = match script.error() {
        None => !waits_for_more(&script) && !is_continued(text, options),
        Some(error) => !error.incomplete,
    };
    is_complete.then_some(script)
}

fn waits_for_more(script: &Script) -> bool {
    script.warnings().any(|warning| matches!(warning.kind, WarningKind::UnterminatedHereDocument { .. }))
}

/// Whether a backslash at the end continues the line. It does not in a comment, which is recognized by adding a quote: an
/// unclosed quote is an error everywhere else.
fn is_continued(text: &str, options: &ParseOptions) -> bool {
    let backslashes = text.bytes().rev().take_while(|byte| *byte == b'\\').count();
    let commented = || parse(format!("{}'\n", &text[..text.len() - 1]).as_bytes(), options).is_ok();
    backslashes % 2 == 1 && !commented()
}

/// Parses a text after closing its open constructs. Spans beyond the text belong to the added tokens.
///
/// # Errors
/// If no addition makes the text valid.
pub(crate) fn parse_unfinished(text: &str, options: &ParseOptions) -> Result<Program, SyntaxError> {
    let mut whole = text.to_owned();
    let mut last = None;
    for _ in 0..MAX_ADDITIONS {
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

/// The text that continues an incomplete one: a token that closes the open construct, or what comes before it.
fn missing(error: &SyntaxError) -> String {
    let opened = error.opened.map_or("", |opened| opened.what);
    match (opened, error.expected) {
        ("\"" | "'" | "`", _) => opened.to_owned(),
        ("$'", _) => "'".to_owned(),
        ("$\"", _) => "\"".to_owned(),
        (_, Some(Expected::Command | Expected::CommandAfter(_) | Expected::CommandAnd(_))) => {
            "\n:".to_owned()
        }
        (_, Some(Expected::FunctionBody)) => " { :; }".to_owned(),
        (opened, Some(expected)) => match expected.token() {
            Some("}") if opened.starts_with('$') => "}".to_owned(),
            Some("]]") => " ]]".to_owned(),
            Some(";") => ";".to_owned(),
            Some(token) => format!("\n{token}"),
            None => " x".to_owned(),
        },
        (_, None) => " x".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complete_texts_are_recognized() {
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
            assert_eq!(parse_complete(text, &ParseOptions::default()).is_some(), complete, "{text:?}");
        }
    }

    #[test]
    fn open_constructs_are_closed() {
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
