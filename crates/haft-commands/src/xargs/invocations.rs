//! Splits the input of `xargs` into items, and items into invocations of the command.

use haft_kernel::Bytes;

use crate::arguments::CommandArguments;

/// The words of one invocation.
pub(super) type Invocation = Vec<Bytes>;

/// Splits at a delimiter. A delimiter at the end starts no further item.
pub(super) fn split_delimited(input: &[u8], delimiter: u8) -> Vec<Bytes> {
    let input = input.strip_suffix(&[delimiter]).unwrap_or(input);
    if input.is_empty() {
        return Vec::new();
    }
    input.split(|byte| *byte == delimiter).map(Bytes::from).collect()
}

/// Splits at blanks and newlines, or only at newlines if `by_line`. Quotes and backslashes protect separators.
pub(super) fn split_quoted(input: &[u8], by_line: bool) -> Result<Vec<Bytes>, String> {
    let mut items = Vec::new();
    let mut item: Option<Vec<u8>> = None;
    let mut bytes = input.iter().copied();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\n' => items.extend(item.take().map(Bytes::from)),
            b' ' | b'\t' if item.is_none() => {}
            b' ' | b'\t' if !by_line => items.extend(item.take().map(Bytes::from)),
            b'\'' | b'"' => take_quoted(&mut bytes, byte, item.get_or_insert_default())?,
            b'\\' => item.get_or_insert_default().extend(bytes.next()),
            other => item.get_or_insert_default().push(other),
        }
    }
    items.extend(item.map(Bytes::from));
    Ok(items)
}

/// Appends the text up to the closing quote, which must be on the same line.
fn take_quoted(bytes: &mut impl Iterator<Item = u8>, quote: u8, item: &mut Vec<u8>) -> Result<(), String> {
    loop {
        match bytes.next() {
            Some(byte) if byte == quote => return Ok(()),
            Some(b'\n') | None => {
                let kind = if quote == b'"' { "double" } else { "single" };
                return Err(format!("unmatched {kind} quote"));
            }
            Some(byte) => item.push(byte),
        }
    }
}

/// The invocations for all items, as `-I`, `-n` and `-r` ask for them.
pub(super) fn group_items(
    command: &[Bytes],
    items: &[Bytes],
    arguments: &CommandArguments,
) -> Vec<Invocation> {
    if let Some(placeholder) = arguments.text("replace") {
        let fill = |item: &Bytes| command.iter().map(|word| replace(word, placeholder, item)).collect();
        return items.iter().map(fill).collect();
    }
    if items.is_empty() {
        return if arguments.flag("no-run-if-empty") { Vec::new() } else { vec![command.to_vec()] };
    }
    let max = arguments.number("max-args").and_then(|max| usize::try_from(max).ok()).unwrap_or(usize::MAX);
    items.chunks(max.min(items.len())).map(|items| [command, items].concat()).collect()
}

/// The invocations for `-L`: the items of at most `max_lines` lines each. A line that ends in a blank continues on the
/// next one. Empty lines are skipped.
pub(super) fn group_lines(command: &[Bytes], input: &[u8], max_lines: usize) -> Vec<Invocation> {
    let mut invocations: Vec<Invocation> = Vec::new();
    let (mut lines, mut continued) = (0, false);
    for line in input.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()) {
        let items = split_quoted(line, false).unwrap_or_default();
        lines += usize::from(!continued);
        match invocations.last_mut().filter(|_| continued || lines <= max_lines) {
            Some(invocation) => invocation.extend(items),
            None => {
                lines = 1;
                invocations.push([command, &items].concat());
            }
        }
        continued = line.ends_with(b" ") || line.ends_with(b"\t");
    }
    invocations
}

/// Replaces every occurrence of the placeholder in a word.
fn replace(word: &Bytes, placeholder: &Bytes, item: &Bytes) -> Bytes {
    let mut replaced = Vec::new();
    let mut rest: &[u8] = word;
    while let Some(at) = memchr::memmem::find(rest, placeholder).filter(|_| !placeholder.is_empty()) {
        replaced.extend_from_slice(&rest[..at]);
        replaced.extend_from_slice(item);
        rest = &rest[at + placeholder.len()..];
    }
    replaced.extend_from_slice(rest);
    replaced.into()
}
