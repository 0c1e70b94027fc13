//! `read`.

mod line;
mod split;
mod terminal;

use std::sync::Arc;
use std::time::Duration;

use haft_text::Bytes;

use self::line::{InputLine, LineEnding, ReadLimit};
use super::descriptor_reader::DescriptorReader;
use super::options::OptionFlag;
use super::{Context, options};
use crate::flow::{Flow, Unwind};
use crate::io::{OpenFile, Ready, wait_readable};
use crate::variables::{AssignedElement, VariableError, VariableValue, is_name};

/// The parsed options.
struct ReadOptions<'a> {
    array: Option<&'a [u8]>,
    delimiter: u8,
    limit: Option<ReadLimit>,
    prompt: Option<&'a [u8]>,
    raw: bool,
    silent: bool,
    timeout: Option<Duration>,
    file: Arc<OpenFile>,
}

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let (flags, names) = match options::parse(context, arguments, "ersa:d:i:n:N:p:t:u:") {
        Ok(parsed) => parsed,
        Err(end) => return end,
    };
    let request = match parse(context, &flags) {
        Ok(request) => request,
        Err(message) => {
            context.error(message);
            return Ok(1);
        }
    };
    if let Some(bad) = names.iter().find(|name| !is_assignable(name)) {
        context.error(VariableError::InvalidName(bad.clone()));
        return Ok(1);
    }
    context.flush();
    if request.timeout == Some(Duration::ZERO) {
        return Ok(i32::from(!is_ready(context, &request.file)));
    }
    let mode = terminal::TerminalModeGuard::set(&request.file, request.silent, request.limit.is_some());
    if let Some(prompt) = request.prompt.filter(|_| request.file.is_terminal()) {
        context.print_error(prompt);
        context.flush();
    }
    let read = read_line(context, &request);
    drop(mode);
    let (line, ending) = read?;
    conclude(context, &request, names, &line, ending)
}

fn is_assignable(name: &[u8]) -> bool {
    is_name(name) || crate::session::split_reference(name).is_some()
}

fn is_ready(context: &Context<'_>, file: &OpenFile) -> bool {
    match file.descriptor() {
        Some(descriptor) => matches!(
            wait_readable(&[descriptor], Some(Duration::ZERO), context.cancel_token()),
            Ready::Descriptor(_)
        ),
        None => true,
    }
}

fn parse<'a>(context: &Context<'_>, flags: &[OptionFlag<'a>]) -> Result<ReadOptions<'a>, String> {
    let number = |text: &[u8], problem: &str| {
        let shown = String::from_utf8_lossy(text).into_owned();
        let value = super::integer::parse_integer(text).and_then(|number| usize::try_from(number).ok());
        value.ok_or_else(|| format!("{shown}: {problem}"))
    };
    let number_of =
        flags.iter().rev().find(|flag| flag.letter == b'u').map_or(b"0".as_slice(), OptionFlag::text);
    let descriptor = number(number_of, "invalid file descriptor specification")?;
    let file = u32::try_from(descriptor).ok().and_then(|descriptor| context.file(descriptor));
    let file = file.ok_or_else(|| format!("{descriptor}: invalid file descriptor: Bad file descriptor"))?;
    let mut request = ReadOptions {
        array: None,
        delimiter: b'\n',
        limit: None,
        prompt: None,
        raw: false,
        silent: false,
        timeout: None,
        file,
    };
    for flag in flags {
        let text = flag.text();
        match flag.letter {
            b'a' => request.array = Some(text),
            b'd' => request.delimiter = text.first().copied().unwrap_or(0),
            b'n' => request.limit = Some(ReadLimit::AtMost(number(text, "invalid number")?)),
            b'N' => request.limit = Some(ReadLimit::Exactly(number(text, "invalid number")?)),
            b'p' => request.prompt = Some(text),
            b'r' => request.raw = true,
            b's' => request.silent = true,
            b't' => {
                let shown = String::from_utf8_lossy(text).into_owned();
                let seconds = duration(&shown);
                request.timeout =
                    Some(seconds.ok_or_else(|| format!("{shown}: invalid timeout specification"))?);
            }
            _ => {}
        }
    }
    Ok(request)
}

/// Parses a number of seconds with an optional fraction. Negative numbers are invalid.
fn duration(text: &str) -> Option<Duration> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let seconds: f64 = if plain { text.parse().ok()? } else { return None };
    Duration::try_from_secs_f64(seconds).ok()
}

fn read_line(
    context: &mut Context<'_>,
    request: &ReadOptions<'_>,
) -> Result<(InputLine, LineEnding), Unwind> {
    let mut input = DescriptorReader::new(request.file.clone(), request.timeout, false);
    let read = line::read(context, &mut input, request.delimiter, request.limit, request.raw);
    input.finish();
    read
}

fn conclude(
    context: &mut Context<'_>,
    request: &ReadOptions<'_>,
    names: &[Bytes],
    line: &InputLine,
    ending: LineEnding,
) -> Flow {
    if let LineEnding::Failed(errno) = ending {
        let message = haft_fs::message(&std::io::Error::from_raw_os_error(errno));
        context.error(format_args!("read error: 0: {message}"));
        return Ok(1);
    }
    let status = match ending {
        LineEnding::Complete => 0,
        LineEnding::EndOfFile | LineEnding::Failed(_) => 1,
        LineEnding::TimedOut => 142,
    };
    let separators = context.value(b"IFS").unwrap_or_else(|| " \t\n".into());
    if let Some(array) = request.array {
        // A fixed number of characters is not split.
        let words = match request.limit {
            Some(ReadLimit::Exactly(_)) => vec![line.bytes.clone().into()],
            _ => split::all(line, &separators, || context.session().is_stopping()),
        };
        context.session().check_cancelled()?;
        return Ok(assign_array(context, array, words).max(status));
    }
    let assigned = match (names, request.limit) {
        ([], _) => assign(context, b"REPLY", line.bytes.clone().into()),
        ([first, rest @ ..], Some(ReadLimit::Exactly(_))) => {
            let mut result = assign(context, first, line.bytes.clone().into());
            for name in rest {
                result = result.max(assign(context, name, Bytes::new()));
            }
            result
        }
        (names, _) => {
            let values = split::into(line, &separators, names.len());
            names.iter().zip(values).fold(0, |result, (name, value)| result.max(assign(context, name, value)))
        }
    };
    Ok(assigned.max(status))
}

fn assign(context: &mut Context<'_>, name: &[u8], value: Bytes) -> i32 {
    match context.session_mut().assign_reference(name, value) {
        Ok(()) => 0,
        Err(error) => {
            context.session_mut().report(error);
            1
        }
    }
}

fn assign_array(context: &mut Context<'_>, name: &[u8], words: Vec<Bytes>) -> i32 {
    let elements =
        words.into_iter().map(|value| AssignedElement { subscript: None, append: false, value }).collect();
    if !is_name(name) {
        context.error(VariableError::InvalidName(name.into()));
        return 1;
    }
    if context
        .session()
        .lookup(name)
        .is_some_and(|known| matches!(known.value, VariableValue::Associative(_)))
    {
        let shown = String::from_utf8_lossy(name).into_owned();
        context.error(format_args!("{shown}: cannot convert associative to indexed array"));
        return 1;
    }
    match context.session_mut().assign_list(name, elements, false) {
        Ok(()) => 0,
        Err(error) => {
            context.error(error);
            1
        }
    }
}
