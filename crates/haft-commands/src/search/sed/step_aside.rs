//! Decides whether GNU's `sed` must run.

use haft_kernel::{Bytes, Session};

use super::reader::{PartOrigin, ScriptPart};
use super::{RECENT, dialect, parser};
use crate::arguments::{ArgumentValue, CommandArguments};
use crate::step_aside::{absolute, has_attributes, small_file};
use crate::text::number::parse_count;

/// Parts of paths that lead to files of the process that opens them.
const OWN_FILES: [&[u8]; 2] = [b"/dev/", b"/proc"];

/// Whether GNU's program might do something else.
pub(super) fn steps_aside(session: &mut Session, arguments: &CommandArguments) -> bool {
    let mut files: &[Bytes] = &arguments.operands;
    let Some(mut parts) = script_parts(session, arguments) else { return true };
    if parts.is_empty() {
        let Some((script, rest)) = files.split_first() else { return true };
        parts.push(ScriptPart { text: script.clone(), origin: PartOrigin::Expression(1) });
        files = rest;
    }
    let has_valid_length = arguments.text("line-length").is_none_or(|text| parse_count(text).is_some());
    // It reads one byte at a time.
    if arguments.flag("unbuffered") || !has_valid_length {
        return true;
    }
    let dialect = dialect(arguments, session.encoding());
    let script = RECENT.get_or_make((parts, dialect), |(parts, dialect)| parser::parse(parts, *dialect));
    let is_exact = script.is_ok_and(|script| !script.is_inexact);
    let edits = arguments.get("in-place").is_some();
    !is_exact || edits && !files.iter().all(|name| is_editable(session, name))
}

/// The parts of the script that options give. `None` if they cannot be read twice.
fn script_parts(session: &Session, arguments: &CommandArguments) -> Option<Vec<ScriptPart>> {
    let mut parts = Vec::new();
    for (name, value) in arguments.in_order() {
        let ArgumentValue::Text(text) = value else { continue };
        match name {
            "expression" => {
                let number = parts.iter().filter(|part| is_expression(part)).count() + 1;
                parts.push(ScriptPart { text: text.clone(), origin: PartOrigin::Expression(number) });
            }
            "file" => {
                let content = small_file(session, text)?;
                if OWN_FILES.iter().any(|part| memchr::memmem::find(&content, part).is_some()) {
                    return None;
                }
                let origin = PartOrigin::File(text.clone());
                parts.push(ScriptPart { text: Bytes::from(content), origin });
            }
            _ => {}
        }
    }
    Some(parts)
}

fn is_expression(part: &ScriptPart) -> bool {
    matches!(part.origin, PartOrigin::Expression(_))
}

/// Whether a file can be edited in place without loss: a regular file without extended attributes.
fn is_editable(session: &Session, name: &[u8]) -> bool {
    let path = absolute(session, name);
    let metadata = path.and_then(|path| session.files().symlink_metadata(&path).ok());
    metadata.is_some_and(|metadata| metadata.is_file()) && !has_attributes(session, name)
}
