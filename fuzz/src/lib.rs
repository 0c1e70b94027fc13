//! The properties that the fuzz targets check. Each function panics if a property does not hold.

use haft_lang::ast::WarningKind;
use haft_lang::check::check;
use haft_lang::plan::plan;
use haft_lang::{
    BuiltinsOnly, ParseOptions, Parser, Program, Script, Span, parse, parse_arithmetic, print,
};

/// Splits the input into options and a text: the lowest bit of the first byte enables `extglob`.
fn split(data: &[u8]) -> Option<(ParseOptions, &[u8])> {
    let (first, text) = data.split_first()?;
    Some((ParseOptions { extglob: first & 1 == 1, ..ParseOptions::default() }, text))
}

fn assert_inside(span: Span, text: &[u8]) {
    assert!(span.start <= span.end && span.end as usize <= text.len(), "{span:?} of {} bytes", text.len());
}

/// Parsing never panics, spans are inside the text, and parsing command by command accepts the same texts.
pub fn check_parse(data: &[u8]) {
    let Some((options, text)) = split(data) else { return };
    let whole = parse(text, &options);
    match &whole {
        Ok(program) => {
            program.body.statements.iter().for_each(|statement| assert_inside(statement.span, text))
        }
        Err(error) => {
            assert_inside(error.span, text);
            assert!(!error.render("text", text).is_empty());
        }
    }
    let mut parser = Parser::new(text, options);
    let result = loop {
        match parser.next_complete_command() {
            Ok(Some(_)) => {}
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    assert_eq!(whole.is_ok(), result.is_ok(), "{whole:?}\n{result:?}");
}

/// A printed program parses to an equal program.
pub fn check_round_trip(data: &[u8]) {
    let Some((options, text)) = split(data) else { return };
    let Ok(program) = parse(text, &options) else { return };
    // A here-document inside a command substitution that the end of the input cuts off cannot be printed.
    let unterminated = |kind: &WarningKind| matches!(kind, WarningKind::UnterminatedHereDocument { .. });
    if program.warnings.iter().any(|warning| unterminated(&warning.kind)) {
        return;
    }
    let printed = print(&program);
    let again = parse(&printed, &options).unwrap_or_else(|error| {
        panic!("the printed program is invalid: {error}\n{}", String::from_utf8_lossy(&printed))
    });
    assert!(is_equal(&again, &program, &printed), "{}", String::from_utf8_lossy(&printed));
}

/// Printing can turn words into a JSON word, because it removes line continuations and moves redirections.
/// Such a program must at least print the same again.
fn is_equal(again: &Program, program: &Program, printed: &[u8]) -> bool {
    let may_be_json = printed.windows(2).any(|pair| pair == b"=[" || pair == b"={");
    again.body == program.body || (may_be_json && print(again) == printed)
}

/// Checking never panics, and all diagnostics are inside the text.
pub fn check_check(data: &[u8]) {
    let Some((options, text)) = split(data) else { return };
    for diagnostic in check(text, &options, &BuiltinsOnly) {
        assert_inside(diagnostic.span, text);
        diagnostic.related.iter().for_each(|(span, _)| assert_inside(*span, text));
    }
}

/// Planning never panics, and parents precede their children.
pub fn check_plan(data: &[u8]) {
    let Some((options, text)) = split(data) else { return };
    let script = Script::parse(text, &options);
    let plan = plan(&script.program(), text, &BuiltinsOnly);
    for (index, step) in plan.steps.iter().enumerate() {
        assert_inside(step.span, text);
        assert!(step.parent.is_none_or(|parent| parent < index));
    }
    assert!(plan.steps.is_empty() || !plan.to_string().is_empty());
}

/// Parsing an arithmetic expression never panics, and operands precede their operators.
pub fn check_arithmetic(data: &[u8]) {
    if let Ok(tree) = parse_arithmetic(data) {
        assert_eq!(tree.root().index() + 1, tree.nodes().len());
    }
}
