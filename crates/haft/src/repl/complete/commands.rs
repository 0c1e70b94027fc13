//! Completion of command names.

use haft_kernel::Session;

use super::files;

/// Command names with a prefix: functions, aliases, builtins, in-process commands and programs.
pub(super) fn names(session: &Session, prefix: &[u8]) -> Vec<Vec<u8>> {
    let own = session.command_names().into_iter().map(|name| name.to_vec());
    let mut names: Vec<Vec<u8>> = own.filter(|name| name.starts_with(prefix)).collect();
    let path = session.value(b"PATH").unwrap_or_default();
    for directory in path.split(|byte| *byte == b':') {
        let directory = session.resolve(if directory.is_empty() { b"." } else { directory });
        names.extend(files::programs(&directory, prefix));
    }
    names
}
