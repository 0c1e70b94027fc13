//! `cd`.

use haft_text::Bytes;

use super::{Context, options};
use crate::flow::Flow;
use crate::options::{SetOption, ShellOption};
use crate::session::Session;

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let (flags, operands) = match options::parse(context, arguments, "LPe") {
        Ok(parsed) => parsed,
        Err(end) => return end,
    };
    if context.session().is_restricted() {
        context.error("restricted");
        return Ok(1);
    }
    let physical = flags
        .iter()
        .rev()
        .find(|flag| matches!(flag.letter, b'L' | b'P'))
        .map_or(context.options().has(SetOption::Physical), |flag| flag.letter == b'P');
    let destination = match operands {
        [] => home(context),
        [only] if only.as_bytes() == b"-" => previous(context),
        [only] => Some(CdDestination { path: only.clone(), print: false, search: true }),
        _ => {
            context.error("too many arguments");
            return Ok(1);
        }
    };
    match destination {
        Some(destination) => go(context, &destination, physical),
        None => Ok(1),
    }
}

struct CdDestination {
    path: Bytes,
    /// Whether the new directory is printed.
    print: bool,
    /// Whether `CDPATH` is searched.
    search: bool,
}

fn home(context: &mut Context<'_>) -> Option<CdDestination> {
    match context.value(b"HOME") {
        Some(path) => Some(CdDestination { path, print: false, search: false }),
        None => {
            context.error("HOME not set");
            None
        }
    }
}

fn previous(context: &mut Context<'_>) -> Option<CdDestination> {
    match context.value(b"OLDPWD") {
        Some(path) => Some(CdDestination { path, print: true, search: false }),
        None => {
            context.error("OLDPWD not set");
            None
        }
    }
}

fn go(context: &mut Context<'_>, destination: &CdDestination, physical: bool) -> Flow {
    let path = &destination.path;
    let relative = !path.is_empty()
        && !path.starts_with(b"/")
        && !matches!(path.split(|byte| *byte == b'/').next(), Some(b"." | b".."));
    if destination.search
        && relative
        && let Some(list) = context.value(b"CDPATH")
    {
        for directory in list.split(|byte| *byte == b':') {
            let candidate = join(directory, path);
            if enter(context.session_mut(), &candidate, physical).is_ok() {
                let print = !directory.is_empty() && directory != b".";
                return finish(context, print || destination.print);
            }
        }
    }
    match enter(context.session_mut(), path, physical) {
        Ok(()) => finish(context, destination.print),
        Err(error) => enter_cdable_variable(context, path, physical, &error),
    }
}

/// With `cdable_vars`, an argument that is not a directory can be a variable that names one.
fn enter_cdable_variable(
    context: &mut Context<'_>,
    path: &Bytes,
    physical: bool,
    error: &std::io::Error,
) -> Flow {
    if context.options().shell(ShellOption::CdableVariables)
        && let Some(value) = context.value(path)
        && enter(context.session_mut(), &value, physical).is_ok()
    {
        return finish(context, true);
    }
    context.error(format_args!("{path}: {}", haft_fs::message(error)));
    Ok(1)
}

fn finish(context: &mut Context<'_>, print: bool) -> Flow {
    if !print {
        return Ok(0);
    }
    let mut line = context.working_directory().path().to_vec();
    line.push(b'\n');
    context.print(&line)
}

fn join(directory: &[u8], path: &[u8]) -> Vec<u8> {
    match directory {
        [] => path.to_vec(),
        [.., b'/'] => [directory, path].concat(),
        _ => [directory, b"/", path].concat(),
    }
}

/// Changes the working directory, and sets `PWD` and `OLDPWD`.
pub(super) fn enter(session: &mut Session, path: &[u8], physical: bool) -> std::io::Result<()> {
    let absolute =
        if path.is_empty() { session.working_directory.path().to_vec() } else { session.resolve(path) };
    let target = if physical {
        let found = session.kernel.files.canonicalize(haft_text::path(&absolute))?;
        found.into_os_string().into_encoded_bytes()
    } else {
        logical(session, &absolute)?
    };
    let files = &session.kernel.files;
    let metadata = match files.metadata(haft_text::path(&target)) {
        // The working directory may have been removed; then it stays the working directory.
        Err(_) if *target == *session.working_directory.path() && session.working_directory.is_held() => {
            return Ok(());
        }
        metadata => metadata?,
    };
    if !metadata.is_dir() {
        return Err(std::io::Error::from_raw_os_error(rustix::io::Errno::NOTDIR.raw_os_error()));
    }
    files.access(haft_text::path(&target), haft_fs::AccessMode::EXECUTE)?;
    let old = Bytes::from(session.working_directory.path());
    session.change_directory(&target);
    let _ = session.set(b"OLDPWD", old);
    let _ = session.set(b"PWD", target);
    Ok(())
}

/// Removes `.` and `..` from a path as text. The path before a `..` must be a directory, unless it is a parent of the working
/// directory, which may have been removed.
fn logical(session: &Session, absolute: &[u8]) -> std::io::Result<Vec<u8>> {
    let double = absolute.starts_with(b"//") && !absolute.starts_with(b"///");
    let mut kept: Vec<&[u8]> = Vec::new();
    for part in absolute.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => {
                let before = assemble(&kept, double);
                if !kept.is_empty() && !session.working_directory.path().starts_with(&before) {
                    let metadata = session.kernel.files.metadata(haft_text::path(&before))?;
                    if !metadata.is_dir() {
                        return Err(std::io::Error::from_raw_os_error(
                            rustix::io::Errno::NOTDIR.raw_os_error(),
                        ));
                    }
                }
                kept.pop();
            }
            name => kept.push(name),
        }
    }
    Ok(assemble(&kept, double))
}

fn assemble(parts: &[&[u8]], double: bool) -> Vec<u8> {
    let mut path = if double { b"//".to_vec() } else { b"/".to_vec() };
    path.extend_from_slice(&parts.join(&b'/'));
    path
}
