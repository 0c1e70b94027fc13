//! Prompts.

use haft_kernel::Session;

/// The prompt of somebody who has set none: the directory, and the status of what failed.
pub(crate) const FIRST: &str = r"\[\e[36m\]\w\[\e[0m\] \[\e[31m\]${?#0}\[\e[0m\]\$ ";
/// The same, for those who want no colours.
pub(crate) const FIRST_PLAIN: &str = r"\w ${?#0}\$ ";
/// What stands before further lines.
pub(crate) const NEXT: &str = "> ";

/// Expands the prompt that a variable holds. One that cannot be expanded is shown as it is.
pub(crate) fn expand(session: &mut Session, name: &[u8]) -> String {
    let text = session.value(name).unwrap_or_default();
    let expanded = session.prompt(&text).unwrap_or(text);
    expanded.lossy().into_owned()
}
