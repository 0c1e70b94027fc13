//! The arguments that describe a completion specification.

use haft_text::{Bytes, quote};

use super::super::Context;
use super::super::options::{OptionFlag, OptionParser};
use crate::flow::Flow;
use crate::session::completion::{
    ACTIONS, CompletionOption, CompletionSpec, DEFAULT_COMMAND, EMPTY_COMMAND, INITIAL_WORD,
};

/// The options that `compgen` and `complete` share.
const OPTIONS: &str = "abcdefgjksuvo:A:G:W:F:C:X:P:S:";
/// The other options of `complete`.
const COMPLETE_OPTIONS: &str = "prDEI";

/// The parsed arguments of `complete` or `compgen`.
#[derive(Debug, Default)]
pub(in super::super) struct SpecArguments<'a> {
    pub(in super::super) spec: CompletionSpec,
    /// The options of `complete` that are not part of the specification.
    pub(in super::super) letters: Vec<u8>,
    /// Whether there is any option.
    pub(in super::super) has_options: bool,
    pub(in super::super) operands: &'a [Bytes],
}

impl SpecArguments<'_> {
    /// Whether `complete` has this option.
    pub(in super::super) fn has(&self, letter: u8) -> bool {
        self.letters.contains(&letter)
    }
}

/// Parses the arguments of `compgen`, or of `complete`. For invalid ones it prints a message, and returns the result of the builtin.
pub(in super::super) fn parse<'a>(
    context: &mut Context<'_>,
    arguments: &'a [Bytes],
    is_complete: bool,
) -> Result<SpecArguments<'a>, Flow> {
    let known = format!("{OPTIONS}{}", if is_complete { COMPLETE_OPTIONS } else { "" });
    let mut options = OptionParser::new(arguments);
    let mut parsed = SpecArguments::default();
    loop {
        match options.next(&known) {
            Ok(Some(flag)) => {
                parsed.has_options = true;
                add(context, &mut parsed, &flag)?;
            }
            Ok(None) => break,
            Err(bad) => return Err(context.usage(bad)),
        }
    }
    parsed.operands = options.rest();
    Ok(parsed)
}

fn add(context: &mut Context<'_>, parsed: &mut SpecArguments<'_>, flag: &OptionFlag<'_>) -> Result<(), Flow> {
    let spec = &mut parsed.spec;
    let value = Bytes::from(flag.text());
    match flag.letter {
        b'A' if !spec.add_action(&value) => {
            context.error(format_args!("{value}: invalid action name"));
            return Err(Ok(2));
        }
        b'A' => {}
        b'o' => match CompletionOption::named(&value) {
            Some(option) => spec.options.put(option, true),
            None => {
                context.error(format_args!("{value}: invalid option name"));
                return Err(Ok(2));
            }
        },
        b'F' if value.iter().any(|byte| b"()<>;&| \t\n".contains(byte)) => {
            context.error(format_args!("`{value}': not a valid identifier"));
            return Err(Ok(2));
        }
        b'F' => spec.function = Some(value),
        b'C' => spec.command = Some(value),
        b'G' => spec.glob_pattern = Some(value),
        b'W' => spec.words = Some(value),
        b'P' => spec.prefix = Some(value),
        b'S' => spec.suffix = Some(value),
        b'X' => spec.filter = Some(value),
        letter => match ACTIONS.iter().find(|action| action.letter == letter) {
            Some(action) => drop(spec.add_action(action.name.as_bytes())),
            None => parsed.letters.push(letter),
        },
    }
    Ok(())
}

/// The command that `-D`, `-E` or `-I` names.
pub(in super::super) fn named_command(letters: &[u8]) -> Option<Bytes> {
    let names = [(b'D', DEFAULT_COMMAND), (b'E', EMPTY_COMMAND), (b'I', INITIAL_WORD)];
    names.into_iter().find(|(letter, _)| letters.contains(letter)).map(|(_, name)| name.into())
}

impl CompletionSpec {
    /// The `complete` command that defines the specification for a command, with its newline.
    pub(in super::super) fn as_command(&self, command: &[u8]) -> Vec<u8> {
        let mut line = b"complete ".to_vec();
        for (option, name) in CompletionOption::ALL {
            if self.options.has(option) {
                line.extend_from_slice(format!("-o {name} ").as_bytes());
            }
        }
        for action in self.actions().filter(|action| action.letter != 0) {
            line.extend_from_slice(&[b'-', action.letter, b' ']);
        }
        for action in self.actions().filter(|action| action.letter == 0) {
            line.extend_from_slice(format!("-A {} ", action.name).as_bytes());
        }
        let quoted = [
            (b'G', &self.glob_pattern),
            (b'W', &self.words),
            (b'P', &self.prefix),
            (b'S', &self.suffix),
            (b'X', &self.filter),
            (b'C', &self.command),
        ];
        for (letter, value) in quoted {
            if let Some(value) = value {
                push_option(&mut line, letter, &quote::single(value));
            }
        }
        if let Some(function) = &self.function {
            push_option(&mut line, b'F', &quoted_if_needed(function));
        }
        line.extend_from_slice(&command_operand(command));
        line.push(b'\n');
        line
    }

    /// The `compopt` command that sets the options of the specification, with its newline.
    pub(in super::super) fn as_option_command(&self, command: &[u8]) -> Vec<u8> {
        let mut line = b"compopt ".to_vec();
        for (option, name) in CompletionOption::ALL {
            let sign = if self.options.has(option) { '-' } else { '+' };
            line.extend_from_slice(format!("{sign}o {name} ").as_bytes());
        }
        line.extend_from_slice(&command_operand(command));
        line.push(b'\n');
        line
    }
}

fn push_option(line: &mut Vec<u8>, letter: u8, value: &[u8]) {
    line.extend_from_slice(&[b'-', letter, b' ']);
    line.extend_from_slice(value);
    line.push(b' ');
}

fn quoted_if_needed(text: &[u8]) -> Vec<u8> {
    if quote::has_metacharacters(text) { quote::single(text) } else { text.to_vec() }
}

/// The command as an operand of `complete`.
fn command_operand(command: &[u8]) -> Vec<u8> {
    let special = [("-D", DEFAULT_COMMAND), ("-E", EMPTY_COMMAND), ("-I", INITIAL_WORD)];
    match special.into_iter().find(|(_, name)| name.as_bytes() == command) {
        Some((option, _)) => option.into(),
        None if command.is_empty() => b"''".into(),
        None => quoted_if_needed(command),
    }
}
