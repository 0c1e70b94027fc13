//! The arguments of a tool call in a script.

use std::io;

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, TypedArgument};
use haft_tools::{ArgumentWord, CallError, exact};
use serde_json::Value;

/// The words of a call; JSON words keep their values.
pub(crate) fn of(context: &Context<'_>, arguments: &[Bytes]) -> Vec<ArgumentWord> {
    context
        .typed(arguments)
        .map(|argument| match argument {
            TypedArgument::Word(word) => ArgumentWord::Text(String::from_utf8_lossy(word).into_owned()),
            TypedArgument::Value { name, text, value } => {
                let exact = std::str::from_utf8(text).ok().and_then(|text| exact::parse(text).ok());
                let value = exact.unwrap_or_else(|| value.clone());
                ArgumentWord::Named(String::from_utf8_lossy(name).into_owned(), value)
            }
        })
        .collect()
}

/// Reads a JSON object from the standard input of a command.
pub(crate) fn of_input(context: &Context<'_>) -> Result<Value, CallError> {
    parse(&read(context).map_err(|error| {
        CallError::invalid(format!("standard input cannot be read: {}", haft_process::reason(&error)))
    })?)
}

/// Parses arguments in JSON.
pub(crate) fn parse(text: &[u8]) -> Result<Value, CallError> {
    std::str::from_utf8(text)
        .map_err(|error| error.to_string())
        .and_then(|text| exact::parse(text).map_err(|error| error.to_string()))
        .map_err(|error| CallError::invalid(format!("standard input is not JSON: {error}")))
}

fn read(context: &Context<'_>) -> io::Result<Vec<u8>> {
    let mut input = Vec::new();
    let Some(file) = context.file(0) else { return Ok(input) };
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match file.read(&mut buffer, None, context.cancel_token()) {
            Ok(0) => return Ok(input),
            Ok(length) => input.extend_from_slice(&buffer[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted && context.check().is_ok() => {}
            Err(error) => return Err(error),
        }
    }
}
