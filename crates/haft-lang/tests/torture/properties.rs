//! Properties of the parser that hold for every text.

use haft_lang::ast::WarningKind;
use haft_lang::{ParseOptions, Parser, Program, Span, SyntaxError, parse, print};

type Outcome = Result<Program, SyntaxError>;

/// Checks all properties for a text. Returns a message if one is violated.
pub(crate) fn examine(text: &[u8], extglob: bool) -> Result<(), String> {
    let options = ParseOptions { extglob, ..ParseOptions::default() };
    let whole = parse(text, &options);
    match &whole {
        Ok(program) => {
            check_spans(program, text)?;
            check_round_trip(program, &options)?;
        }
        Err(error) => check_error(error, text)?,
    }
    check_command_by_command(&whole, text, options)
}

/// All spans are inside the text and in order.
fn check_spans(program: &Program, text: &[u8]) -> Result<(), String> {
    let mut end = 0;
    for statement in &program.body.statements {
        check_span(statement.span, text)?;
        ensure(statement.span.start >= end, || format!("statement {:?} begins too early", statement.span))?;
        end = statement.span.end;
    }
    program.warnings.iter().try_for_each(|warning| check_span(warning.span, text))
}

fn check_error(error: &SyntaxError, text: &[u8]) -> Result<(), String> {
    check_span(error.span, text)?;
    if let Some(opened) = &error.opened {
        check_span(opened.span, text)?;
        ensure(opened.span.start <= error.span.start, || format!("opened after {error:?}"))?;
    }
    ensure(!error.render("text", text).is_empty(), || "nothing to show".to_owned())
}

fn check_span(span: Span, text: &[u8]) -> Result<(), String> {
    let inside = span.start <= span.end && span.end as usize <= text.len();
    ensure(inside, || format!("{span:?} lies outside of {} bytes", text.len()))
}

/// The printed program parses to the same program.
fn check_round_trip(program: &Program, options: &ParseOptions) -> Result<(), String> {
    if program.warnings.iter().any(|warning| is_unprintable(&warning.kind)) {
        return Ok(());
    }
    let printed = print(program);
    let shown = || String::from_utf8_lossy(&printed).into_owned();
    let same =
        |again: &Program| again.body == program.body || (is_near_json(&printed) && print(again) == printed);
    match parse(&printed, options) {
        Ok(again) => ensure(same(&again), || format!("printed as another program: {:?}", shown())),
        Err(error) => Err(format!("printed as an invalid program: {:?}: {error}", shown())),
    }
}

/// An unterminated here-document ends with the input, which cannot be expressed elsewhere in a script.
fn is_unprintable(warning: &WarningKind) -> bool {
    matches!(warning, WarningKind::UnterminatedHereDocument { .. })
}

/// A line continuation or a redirection prevents text from being JSON, and printing removes or moves them.
fn is_near_json(printed: &[u8]) -> bool {
    printed.windows(2).any(|pair| pair == b"=[" || pair == b"={")
}

/// Parsing command by command yields the same result as parsing the whole text.
fn check_command_by_command(whole: &Outcome, text: &[u8], options: ParseOptions) -> Result<(), String> {
    let mut parser = Parser::new(text, options);
    let mut statements = Vec::new();
    let error = loop {
        let before = parser.offset();
        match parser.next_complete_command() {
            Ok(Some(program)) => {
                statements.extend(program.body.statements.iter().cloned());
                ensure(parser.offset() > before, || "no progress".to_owned())?;
            }
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
    };
    match (whole, error) {
        (Ok(program), None) => ensure(*program.body.statements == *statements, || {
            "parsing command by command yields another program".to_owned()
        }),
        (Err(whole), Some(error)) => {
            let same = whole.kind == error.kind
                && whole.incomplete == error.incomplete
                && whole.span.range() == error.span.range();
            ensure(same, || format!("parsing command by command yields {error:?}\ninstead of {whole:?}"))
        }
        (Ok(_), Some(error)) => Err(format!("refused only when parsed command by command: {error:?}")),
        (Err(error), None) => Err(format!("accepted only when parsed command by command: {error:?}")),
    }
}

fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}
