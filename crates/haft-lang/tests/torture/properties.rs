//! What holds for every text.

use haft_lang::ast::WarningKind;
use haft_lang::{ParseOptions, Parser, Program, Span, SyntaxError, parse, print};

type Outcome = Result<Program, SyntaxError>;

/// Says what is wrong with what the parser makes of a text, if something is.
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
    check_piecemeal(&whole, text, options)
}

/// Everything lies within the text, in order.
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

/// What is printed parses to the same program.
fn check_round_trip(program: &Program, options: &ParseOptions) -> Result<(), String> {
    if program.warnings.iter().any(|warning| is_unprintable(&warning.kind)) {
        return Ok(());
    }
    let printed = print(program);
    let shown = || String::from_utf8_lossy(&printed).into_owned();
    let same =
        |again: &Program| again.body == program.body || (is_near_json(&printed) && print(again) == printed);
    match parse(&printed, options) {
        Ok(again) => ensure(same(&again), || format!("printed as something else: {:?}", shown())),
        Err(error) => Err(format!("printed as something wrong: {:?}: {error}", shown())),
    }
}

/// A here-document that nothing ends ends with the input; where a line cannot end it there is no way to write that elsewhere.
fn is_unprintable(warning: &WarningKind) -> bool {
    matches!(warning, WarningKind::UnterminatedHereDocument { .. })
}

/// A line that is continued or a redirection keep text from being JSON, and printing moves them.
fn is_near_json(printed: &[u8]) -> bool {
    printed.windows(2).any(|pair| pair == b"=[" || pair == b"={")
}

/// One complete command after the other gives the same as all at once.
fn check_piecemeal(whole: &Outcome, text: &[u8], options: ParseOptions) -> Result<(), String> {
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
        (Ok(program), None) => {
            ensure(*program.body.statements == *statements, || "piecemeal gives another program".to_owned())
        }
        (Err(whole), Some(error)) => {
            let same = whole.kind == error.kind
                && whole.incomplete == error.incomplete
                && whole.span.range() == error.span.range();
            ensure(same, || format!("piecemeal gives {error:?}\ninstead of {whole:?}"))
        }
        (Ok(_), Some(error)) => Err(format!("refused piecemeal only: {error:?}")),
        (Err(error), None) => Err(format!("accepted piecemeal only: {error:?}")),
    }
}

fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}
