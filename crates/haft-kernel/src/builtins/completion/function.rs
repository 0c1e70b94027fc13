//! Completion by a function (`-F`) or a command (`-C`).

use haft_text::{Bytes, quote};

use super::candidates::{Candidates, Completing};
use crate::flow::Unwind;
use crate::session::Session;
use crate::variables::{AssignedElement, Attributes, VariableValue};

/// The status of a function that has changed its specification: the completion starts again.
const RETRY: i32 = 124;
/// The status of a function that was not found.
const NOT_FOUND: i32 = 127;

const SCALARS: [&[u8]; 4] = [b"COMP_LINE", b"COMP_POINT", b"COMP_TYPE", b"COMP_KEY"];

/// Calls a completion function, and returns the elements of `COMPREPLY`.
pub(super) fn call(
    session: &mut Session,
    name: &Bytes,
    completing: &Completing,
) -> Result<Candidates, Unwind> {
    let Some(definition) = session.function(name) else {
        session.report(format_args!("completion: function `{name}' not found"));
        return Ok(Candidates::default());
    };
    set_variables(session, completing, false);
    let result = session.call(&definition, &arguments(completing), &[]);
    unset_variables(session);
    let status = match result {
        Err(Unwind::Return(status)) | Ok(status) => status,
        Err(unwind) => return Err(unwind),
    };
    let names = match status {
        RETRY | NOT_FOUND => Vec::new(),
        _ => reply(session),
    };
    let _ = session.variables.unset(b"COMPREPLY", false);
    Ok(Candidates { names, retry: status == RETRY, are_files: false })
}

fn reply(session: &Session) -> Vec<Bytes> {
    match session.lookup(b"COMPREPLY").as_deref() {
        Some(variable) if matches!(variable.value, VariableValue::Associative(_)) => Vec::new(),
        Some(_) => session.values(b"COMPREPLY"),
        None => Vec::new(),
    }
}

/// Runs the command of `-C`, and returns the lines of its output. A backslash joins two lines.
pub(super) fn run_command(
    session: &mut Session,
    command: &[u8],
    completing: &Completing,
) -> Result<Vec<Bytes>, Unwind> {
    let mut text = command.to_vec();
    for argument in arguments(completing) {
        text.push(b' ');
        text.extend(quote::single(&argument));
    }
    let program = match haft_lang::parse(&text, &session.parse_options()) {
        Ok(program) => program,
        Err(error) => return Err(session.fail(error.message())),
    };
    set_variables(session, completing, true);
    let outer = session.calls.set_source_text(Some(text.into()));
    let captured = session.capture_list(&program.body);
    session.calls.set_source_text(outer);
    unset_variables(session);
    let (output, _) = captured?;
    Ok(lines(&output))
}

/// The lines of an output. Only the first one may be empty.
fn lines(output: &[u8]) -> Vec<Bytes> {
    let end = output.iter().rposition(|byte| *byte != b'\n').map_or(0, |at| at + 1);
    let output = &output[..end];
    if output.is_empty() {
        return Vec::new();
    }
    let mut lines = Vec::new();
    let mut start = 0;
    for at in memchr::memchr_iter(b'\n', output) {
        let is_joined = at > start && output[at - 1] == b'\\';
        if !is_joined {
            lines.push(&output[start..at]);
            start = at + 1;
        }
    }
    lines.push(&output[start..]);
    let chosen = lines.iter().enumerate().filter(|(index, line)| *index == 0 || !line.is_empty());
    chosen.map(|(_, line)| Bytes::from(*line)).collect()
}

/// The arguments of a completion function: the command, the word, and the word before it.
fn arguments(completing: &Completing) -> [Bytes; 3] {
    let before = completing.number.saturating_sub(2);
    let previous = completing.words.get(before).cloned().unwrap_or_default();
    [completing.command.clone(), completing.word.clone(), previous]
}

fn set_variables(session: &mut Session, completing: &Completing, export: bool) {
    let before = completing.line.get(..completing.cursor).unwrap_or_default();
    let point = session.encoding().characters(before).count();
    let values = [
        completing.line.clone(),
        point.to_string().into(),
        completing.kind.to_string().into(),
        completing.key.to_string().into(),
    ];
    for (name, value) in SCALARS.into_iter().zip(values) {
        let _ = session.set(name, value);
        if export && let Some(variable) = session.variables.get(name) {
            let attributes = variable.attributes.union(Attributes::EXPORT);
            session.variables.set_attributes(name, attributes);
        }
    }
    if !export {
        let element =
            |value: &Bytes| AssignedElement { subscript: None, append: false, value: value.clone() };
        let words = completing.words.iter().map(element).collect();
        let _ = session.assign_list(b"COMP_WORDS", words, false);
        let index = i64::try_from(completing.number).unwrap_or(0) - 1;
        let _ = session.set(b"COMP_CWORD", index.to_string());
    }
}

fn unset_variables(session: &mut Session) {
    for name in SCALARS.into_iter().chain([b"COMP_WORDS".as_slice(), b"COMP_CWORD"]) {
        let _ = session.variables.unset(name, false);
    }
}
