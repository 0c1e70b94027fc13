//! `bind`: key bindings and variables of the line editor.

use haft_text::Bytes;

use super::options::OptionFlag;
use super::{Context, options};
use crate::flow::{Flow, Unwind};
use crate::session::readline::{self, FUNCTIONS, KeyBinding, KeymapName};

/// How many key sequences of a function are shown in a sentence.
const MAX_SHOWN_SEQUENCES: usize = 5;

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    if !context.session().is_interactive() {
        context.error("warning: line editing not enabled");
    }
    context.session_mut().open_readline()?;
    let (flags, operands) = match options::parse(context, arguments, "lpsvPSVXm:f:q:u:r:x:") {
        Ok(parsed) => parsed,
        Err(end) => return end,
    };
    let value = |letter| flags.iter().rev().find(|flag| flag.letter == letter).map(OptionFlag::text);
    let before = context.session_mut().readline_mut().current;
    if let Some(name) = value(b'm') {
        let Some(keymap) = KeymapName::named(name) else {
            context.error(format_args!("`{}': invalid keymap name", String::from_utf8_lossy(name)));
            return Ok(1);
        };
        context.session_mut().readline_mut().current = keymap;
    }
    let status = execute(context, &flags, operands);
    if value(b'm').is_some() {
        context.session_mut().readline_mut().current = before;
    }
    context.session_mut().follow_editing_mode();
    status
}

fn execute(context: &mut Context<'_>, flags: &[OptionFlag<'_>], operands: &[Bytes]) -> Flow {
    let mut status = 0;
    for letter in *b"lpPsSvVfqurxX" {
        let Some(flag) = flags.iter().rev().find(|flag| flag.letter == letter) else { continue };
        status = match letter {
            b'f' => read_file(context, flag.text())?,
            b'q' => query(context, flag.text())?,
            b'u' => unbind_function(context, flag.text()),
            b'r' => {
                unbind_sequence(context, flag.text());
                return Ok(0);
            }
            b'x' => bind_command(context, flag.text()),
            letter => {
                let text = listing(context, letter);
                context.print(&text)?
            }
        };
    }
    for operand in operands {
        if let Err(message) = context.session_mut().readline_mut().execute_line(operand) {
            complain(context, &message);
        }
    }
    Ok(status)
}

fn complain(context: &mut Context<'_>, message: &str) {
    context.print_error(format!("readline: {message}\n").as_bytes());
}

/// The output of an option that lists something.
fn listing(context: &mut Context<'_>, letter: u8) -> Vec<u8> {
    let state = context.session_mut().readline_mut();
    let mut text = Vec::new();
    match letter {
        b'l' => FUNCTIONS.into_iter().for_each(|name| text.extend(format!("{name}\n").into_bytes())),
        b'p' | b'P' => {
            text.push(b'\n');
            for name in FUNCTIONS {
                let sequences = state.sequences(name);
                text.extend(if letter == b'p' {
                    as_bindings(name, &sequences)
                } else {
                    as_sentence(name, &sequences)
                });
            }
        }
        b'v' => state.variables.listed().for_each(|(name, value)| {
            text.extend([b"set ", name.as_bytes(), b" ", value.as_bytes(), b"\n"].concat());
        }),
        b'V' => state.variables.listed().for_each(|(name, value)| {
            text.extend([name.as_bytes(), b" is set to `", value.as_bytes(), b"'\n"].concat());
        }),
        _ => {
            for (keys, binding) in state.bindings() {
                text.extend(macro_line(letter, &keys, binding).unwrap_or_default());
            }
        }
    }
    text
}

/// A line of `-s`, `-S` or `-X`; `None` for a binding that the option does not list.
fn macro_line(letter: u8, keys: &[u8], binding: &KeyBinding) -> Option<Vec<u8>> {
    Some(match (letter, binding) {
        (b's', KeyBinding::Macro(text)) | (b'X', KeyBinding::Command(text)) => {
            [b"\"", keys, b"\": \"", &readline::written(text), b"\"\n"].concat()
        }
        (b'S', KeyBinding::Macro(text)) => [keys, b" outputs ", &readline::written(text), b"\n"].concat(),
        _ => return None,
    })
}

fn as_bindings(name: &str, sequences: &[Vec<u8>]) -> Vec<u8> {
    if sequences.is_empty() {
        return format!("# {name} (not bound)\n").into_bytes();
    }
    sequences
        .iter()
        .flat_map(|keys| [b"\"", keys.as_slice(), b"\": ", name.as_bytes(), b"\n"].concat())
        .collect()
}

fn as_sentence(name: &str, sequences: &[Vec<u8>]) -> Vec<u8> {
    match sequences.is_empty() {
        true => format!("{name} is not bound to any keys\n").into_bytes(),
        false => [name.as_bytes(), b" can be found on ", &shown_sequences(sequences)].concat(),
    }
}

fn shown_sequences(sequences: &[Vec<u8>]) -> Vec<u8> {
    let shown =
        sequences.iter().take(MAX_SHOWN_SEQUENCES).map(|keys| [b"\"", keys.as_slice(), b"\""].concat());
    let list = shown.collect::<Vec<_>>().join(&b", "[..]);
    let end: &[u8] = if sequences.len() > MAX_SHOWN_SEQUENCES { b", ...\n" } else { b".\n" };
    [&list, end].concat()
}

fn query(context: &mut Context<'_>, name: &[u8]) -> Flow {
    let Some(function) = known_function(context, name) else { return Ok(1) };
    let sequences = context.session_mut().readline_mut().sequences(function);
    if sequences.is_empty() {
        context.print(&[name, b" is not bound to any keys.\n"].concat())?;
        return Ok(1);
    }
    context.print(&[name, b" can be invoked via ", &shown_sequences(&sequences)].concat())
}

fn known_function(context: &mut Context<'_>, name: &[u8]) -> Option<&'static str> {
    let function = readline::named(name);
    if function.is_none() {
        context.error(format_args!("`{}': unknown function name", String::from_utf8_lossy(name)));
    }
    function
}

fn unbind_function(context: &mut Context<'_>, name: &[u8]) -> i32 {
    match known_function(context, name) {
        Some(function) => {
            context.session_mut().readline_mut().unbind_function(function);
            0
        }
        None => 1,
    }
}

fn unbind_sequence(context: &mut Context<'_>, keys: &[u8]) {
    let state = context.session_mut().readline_mut();
    let keys = readline::translate(keys, state.variables.is_on("convert-meta"));
    state.bind(&keys, None);
}

/// `-x`: binds a key sequence to a shell command.
fn bind_command(context: &mut Context<'_>, text: &[u8]) -> i32 {
    let shown = String::from_utf8_lossy(text).into_owned();
    let Some(quoted) = text.trim_ascii_start().strip_prefix(b"\"") else {
        context.error(format_args!("{shown}: first non-whitespace character is not `\"'"));
        return 1;
    };
    let Some(end) = readline::closing_quote(quoted) else {
        context.error(format_args!("no closing `\"' in {shown}"));
        return 1;
    };
    let Some(command) = quoted[end + 1..].trim_ascii_start().strip_prefix(b":") else {
        context.error(format_args!("{shown}: missing colon separator"));
        return 1;
    };
    let state = context.session_mut().readline_mut();
    let keys = readline::translate(&quoted[..end], state.variables.is_on("convert-meta"));
    state.bind(&keys, Some(KeyBinding::Command(command.trim_ascii_start().into())));
    0
}

fn read_file(context: &mut Context<'_>, path: &[u8]) -> Result<i32, Unwind> {
    match context.session_mut().read_readline_file(path)? {
        Ok(()) => Ok(0),
        Err(error) => {
            let (path, message) = (String::from_utf8_lossy(path).into_owned(), haft_fs::message(&error));
            context.error(format_args!("{path}: cannot read: {message}"));
            Ok(1)
        }
    }
}
