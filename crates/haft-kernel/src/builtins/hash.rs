//! `hash`.

use haft_text::Bytes;

use super::name_lookup::is_program;
use super::{Context, options};
use crate::flow::Flow;
use crate::options::SetOption;

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let (flags, operands) = match options::parse(context, arguments, "dlp:rt") {
        Ok(parsed) => parsed,
        Err(end) => return end,
    };
    let has = |letter| options::has(&flags, letter);
    if has(b't') && operands.is_empty() {
        context.error("-t: option requires an argument");
        return Ok(1);
    }
    if has(b'r') {
        context.caches_mut().clear_commands();
    }
    if operands.is_empty() {
        return if has(b'r') { Ok(0) } else { list(context, has(b'l')) };
    }
    if has(b't') {
        return show(context, operands, has(b'l'));
    }
    if !context.options().has(SetOption::HashAll) {
        context.error("hashing disabled");
        return Ok(1);
    }
    let path = flags.iter().rev().find(|flag| flag.letter == b'p').map(super::options::OptionFlag::text);
    let mut status = 0;
    for name in operands {
        let done = match (path, has(b'd')) {
            (Some(path), _) if path.contains(&b'/') && context.session().is_restricted() => {
                context.error(format_args!("{}: restricted", String::from_utf8_lossy(path)));
                status = 1;
                true
            }
            (Some(path), _) if context.session().is_restricted() => {
                context.error(format_args!("{}: not found", String::from_utf8_lossy(path)));
                status = 1;
                true
            }
            (Some(path), _) => {
                remember(context, name, path);
                true
            }
            (None, true) => context.caches_mut().commands_mut().remove(name).is_some(),
            (None, false) => look_up(context, name),
        };
        if !done {
            context.error(format_args!("{name}: not found"));
            status = 1;
        }
    }
    Ok(status)
}

fn remember(context: &mut Context<'_>, name: &Bytes, path: &[u8]) {
    let session = context.session_mut();
    let current = session.value(b"PATH");
    session.caches.validate_commands(current.as_ref());
    session.caches.commands_mut().insert(name.clone(), (path.into(), 0));
}

/// Finds a program and caches its path. A name with a slash or of something else than a program needs no cache.
fn look_up(context: &mut Context<'_>, name: &Bytes) -> bool {
    let session = context.session_mut();
    if name.contains(&b'/') || session.function(name).is_some() || session.find_builtin(name).is_some() {
        return true;
    }
    let path = session.value(b"PATH");
    match session.search_path(name, path.as_deref()).filter(|found| is_program(session, found)) {
        Some(found) => {
            remember(context, name, &found);
            true
        }
        None => false,
    }
}

/// The number of hash buckets of the table in bash, which lists the names in their order.
const BUCKETS: u32 = 256;

fn list(context: &mut Context<'_>, reusable: bool) -> Flow {
    let hashed = context.caches().commands().clone();
    if hashed.is_empty() {
        return if reusable { Ok(0) } else { context.print(b"hash: hash table empty\n") };
    }
    let mut text = Vec::new();
    if !reusable {
        text.extend_from_slice(b"hits\tcommand\n");
    }
    let mut sorted: Vec<_> = hashed.iter().collect();
    sorted.sort_by_key(|(name, _)| crate::variables::bash_hash(name) & (BUCKETS - 1));
    for (name, (path, hits)) in sorted {
        if reusable {
            text.extend_from_slice(&[b"builtin hash -p ", &path[..], b" ", name, b"\n"].concat());
        } else {
            text.extend_from_slice(&[format!("{hits:4}\t").as_bytes(), path, b"\n"].concat());
        }
    }
    context.print(&text)
}

fn show(context: &mut Context<'_>, names: &[Bytes], reusable: bool) -> Flow {
    let mut status = 0;
    for name in names {
        let Some((path, hits)) = context.caches_mut().commands_mut().get_mut(name) else {
            context.error(format_args!("{name}: not found"));
            status = 1;
            continue;
        };
        *hits += 1;
        let path = path.clone();
        let line = match (reusable, names.len()) {
            (true, _) => [b"builtin hash -p ", &path[..], b" ", name, b"\n"].concat(),
            (false, 1) => [&path[..], b"\n"].concat(),
            (false, _) => [&name[..], b"\t", &path, b"\n"].concat(),
        };
        context.print(&line)?;
    }
    Ok(status)
}
