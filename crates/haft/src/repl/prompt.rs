//! Prompts.

use haft_kernel::Session;

/// The default `PS1`: the directory, and the status of a command that failed.
pub(crate) const DEFAULT_PS1: &str = r"\[\e[36m\]\w\[\e[0m\] \[\e[31m\]${?#0}\[\e[0m\]\$ ";
/// The default `PS1` without colours.
pub(crate) const DEFAULT_PS1_PLAIN: &str = r"\w ${?#0}\$ ";
/// The default `PS2`.
pub(crate) const DEFAULT_PS2: &str = "> ";

/// Expands the prompt in a variable. A prompt that cannot be expanded is shown literally.
pub(crate) fn expand(session: &mut Session, name: &[u8]) -> String {
    let text = session.value(name).unwrap_or_default();
    let expanded = session.prompt(&text).unwrap_or(text);
    expanded.lossy().into_owned()
}
