//! Decides whether GNU's programs for files must run. They do what is rare, slow, or depends on the file system.

use haft_fs::Metadata;
use haft_kernel::{Bytes, Session};

use crate::arguments::{ArgumentValue, CommandArguments};
use crate::step_aside::{absolute, has_default_acl, is_same_in_programs, walks_root};

/// The largest file that is copied in-process. Programs share the blocks of larger ones where the file system can.
const MAX_COPY_BYTES: u64 = 1 << 20;

/// The unit of the number of blocks of a file.
const BLOCK_BYTES: u64 = 512;

/// For commands that make files or directories: an access control list decides about the permissions of new files.
pub(super) fn makes_files(session: &mut Session, arguments: &CommandArguments) -> bool {
    arguments.operands.iter().any(|name| has_default_acl(session, name))
}

/// `touch`
pub(super) fn touch(session: &mut Session, arguments: &CommandArguments) -> bool {
    arguments.text("time").is_some()
        || arguments.operands.iter().any(|name| *name == "-")
        || makes_files(session, arguments)
}

/// `chmod`
pub(super) fn chmod(_: &mut Session, arguments: &CommandArguments) -> bool {
    arguments.flag("recursive")
}

/// `rm`
pub(super) fn rm(session: &mut Session, arguments: &CommandArguments) -> bool {
    let is_recursive = arguments.flag("recursive") || arguments.flag("R");
    is_recursive && (arguments.flag("verbose") || walks_root(session, &arguments.operands))
        || arguments.operands.iter().any(|name| name.ends_with(b"/") && !is_directory(session, name))
}

/// `mv`: files move within their file system.
pub(super) fn mv(session: &mut Session, arguments: &CommandArguments) -> bool {
    let target = arguments.text("target-directory");
    let Some((last, others)) = arguments.operands.split_last() else { return true };
    let (target, sources) = match target {
        Some(target) => (target, arguments.operands.as_slice()),
        None => (last, others),
    };
    let device = match metadata(session, target) {
        Some(found) => found.device,
        None => match parent(session, target) {
            Some(found) => found.device,
            None => return true,
        },
    };
    let is_plain = |name: &[u8]| {
        link_metadata(session, name).is_some_and(|found| found.is_file() && found.device == device)
    };
    !sources.iter().all(|name| is_plain(name))
}

/// `cp`: copies of small files.
pub(super) fn cp(session: &mut Session, arguments: &CommandArguments) -> bool {
    const PLAIN: [&str; 5] = ["force", "no-clobber", "target-directory", "no-target-directory", "verbose"];
    let has_target = arguments.text("target-directory").is_some();
    let operands = arguments.operands.as_slice();
    let sources =
        if has_target { operands } else { operands.split_last().map_or(operands, |(_, rest)| rest) };
    let is_small = |name: &[u8]| {
        metadata(session, name).is_some_and(|found| {
            found.is_file() && found.size <= MAX_COPY_BYTES && found.blocks * BLOCK_BYTES >= found.size
        })
    };
    !arguments.in_order().all(|(name, _)| PLAIN.contains(&name))
        || sources.is_empty()
        || !sources.iter().all(|name| is_small(name))
        || makes_files(session, arguments)
}

/// `ls`: lists of names, not for a terminal.
pub(super) fn ls(session: &mut Session, arguments: &CommandArguments) -> bool {
    const PLAIN: [&str; 11] = [
        "all",
        "almost-all",
        "1",
        "directory",
        "reverse",
        "t",
        "S",
        "U",
        "p",
        "recursive",
        "group-directories-first",
    ];
    !arguments.in_order().all(|(name, _)| PLAIN.contains(&name))
        || arguments.flag("recursive") && walks_root(session, &arguments.operands)
        || session.has_terminal_output()
}

/// `realpath`
pub(super) fn realpath(_: &mut Session, arguments: &CommandArguments) -> bool {
    arguments.in_order().any(|(name, _)| !matches!(name, "canonicalize-existing" | "quiet" | "zero"))
}

/// `du`: the sums of directories.
pub(super) fn du(session: &mut Session, arguments: &CommandArguments) -> bool {
    const PLAIN: [&str; 8] =
        ["summarize", "apparent-size", "bytes", "total", "human-readable", "k", "m", "null"];
    !arguments.flag("summarize")
        || !arguments.in_order().all(|(name, _)| PLAIN.contains(&name))
        || walks_root(session, &arguments.operands)
}

/// `stat`: formats without names of users and local times.
pub(super) fn stat(_: &mut Session, arguments: &CommandArguments) -> bool {
    let format = arguments.in_order().rev().find(|(name, _)| matches!(*name, "format" | "printf"));
    let Some((_, ArgumentValue::Text(format))) = format else { return true };
    let mut directives = format.split(|byte| *byte == b'%').skip(1);
    let is_plain = |directive: &[u8]| {
        let letter = directive.iter().find(|byte| !b"#0-+ .123456789HL".contains(byte));
        letter.is_none_or(|letter| b"nNsabBfFhiugYXZAdDo".contains(letter))
    };
    !directives.all(is_plain) || arguments.operands.iter().any(|name| *name == "-")
}

/// `mktemp`
pub(super) fn mktemp(session: &mut Session, arguments: &CommandArguments) -> bool {
    let is_plain = |name: &str| matches!(name, "directory" | "dry-run" | "quiet" | "suffix");
    let directory = session.value(b"TMPDIR").filter(|directory| !directory.is_empty());
    let directory = directory.unwrap_or_else(|| Bytes::from("/tmp"));
    let name = match arguments.operands.first() {
        Some(template) => template.clone(),
        None => Bytes::from([&directory, b"/x".as_slice()].concat()),
    };
    !arguments.in_order().all(|(name, _)| is_plain(name))
        || !is_same_in_programs(session, "TMPDIR")
        || has_default_acl(session, &name)
}

fn metadata(session: &Session, name: &[u8]) -> Option<Metadata> {
    absolute(session, name).and_then(|path| session.files().metadata(&path).ok())
}

fn link_metadata(session: &Session, name: &[u8]) -> Option<Metadata> {
    absolute(session, name).and_then(|path| session.files().symlink_metadata(&path).ok())
}

fn parent(session: &Session, name: &[u8]) -> Option<Metadata> {
    metadata(session, super::run::directory_part(name))
}

fn is_directory(session: &Session, name: &[u8]) -> bool {
    let trimmed = super::run::without_trailing_slashes(name);
    link_metadata(session, trimmed).is_some_and(|found| found.is_dir())
}
