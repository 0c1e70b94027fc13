//! The directory stack, shared by `dirs`, `pushd` and `popd`.

use haft_text::Bytes;

use super::Context;
use super::cd::enter;
use super::integer::parse_integer;
use crate::flow::Flow;
use crate::options::SetOption;

/// Why an operand does not select an entry of the directory stack.
pub(super) enum NoEntry {
    NotANumber,
    OutOfRange,
}

/// Returns the directory stack; the working directory comes first.
pub(super) fn stack(context: &Context<'_>) -> Vec<Bytes> {
    let mut all = vec![Bytes::from(context.working_directory().path())];
    all.extend(context.working_directory().stack().iter().cloned());
    all
}

/// Returns the index that `+N` or `-N` selects in a stack of this size.
pub(super) fn index(text: &[u8], size: usize) -> Result<usize, NoEntry> {
    let number = parse_integer(&text[1..]).filter(|_| text[1..].iter().all(u8::is_ascii_digit));
    let number = number.and_then(|number| usize::try_from(number).ok()).ok_or(NoEntry::NotANumber)?;
    let place = if text.starts_with(b"+") { Some(number) } else { (size - 1).checked_sub(number) };
    place.filter(|place| *place < size).ok_or(NoEntry::OutOfRange)
}

pub(super) fn refuse(context: &mut Context<'_>, text: &Bytes, size: usize, problem: &NoEntry) -> Flow {
    match problem {
        NoEntry::NotANumber => context.usage(format_args!("{text}: invalid number")),
        NoEntry::OutOfRange if size == 1 => {
            context.error("directory stack empty");
            Ok(1)
        }
        NoEntry::OutOfRange => {
            context.error(format_args!("{text}: directory stack index out of range"));
            Ok(1)
        }
    }
}

/// How `dirs` prints the stack.
#[derive(Clone, Copy, Default)]
pub(super) struct StackFormat {
    pub(super) long: bool,
    pub(super) lines: bool,
    pub(super) numbers: bool,
}

pub(super) fn show_all(context: &mut Context<'_>, format: StackFormat) -> Flow {
    let mut text = Vec::new();
    for (place, directory) in stack(context).iter().enumerate() {
        if format.numbers {
            text.extend_from_slice(format!("{place:2}  ").as_bytes());
        } else if place > 0 && !format.lines {
            text.push(b' ');
        }
        text.extend_from_slice(&entry(context, directory, format.long));
        if format.lines {
            text.push(b'\n');
        }
    }
    if !format.lines {
        text.push(b'\n');
    }
    context.print(&text)
}

/// Returns an entry as it is printed: the home directory as a tilde unless `long` is set.
pub(super) fn entry(context: &Context<'_>, directory: &Bytes, long: bool) -> Vec<u8> {
    if !long
        && let Some(home) = context.value(b"HOME").filter(|home| home.len() > 1)
        && let Some(rest) = directory.strip_prefix(home.as_bytes())
        && (rest.is_empty() || rest.starts_with(b"/"))
    {
        return [b"~", rest].concat();
    }
    directory.to_vec()
}

fn go(context: &mut Context<'_>, directory: &Bytes) -> bool {
    let physical = context.options().has(SetOption::Physical);
    match enter(context.session_mut(), directory, physical) {
        Ok(()) => true,
        Err(error) => {
            context.error(format_args!("{directory}: {}", haft_fs::message(&error)));
            false
        }
    }
}

/// Changes to a directory, and makes `rest` the rest of the stack.
pub(super) fn move_to(context: &mut Context<'_>, directory: &Bytes, rest: Vec<Bytes>) -> Flow {
    if !go(context, directory) {
        return Ok(1);
    }
    context.working_directory_mut().set_stack(rest);
    show_all(context, StackFormat::default())
}
