//! Error messages.

use std::fmt::Display;

use crate::options::ShellOption;
use crate::session::Session;

impl Session {
    /// Writes a message to standard error, after the name of the shell and the line number.
    pub fn report(&mut self, message: impl Display) {
        self.report_labelled("", message);
    }

    /// Writes a message of a builtin, which the option `gnu_errfmt` does not change.
    pub(crate) fn report_builtin(&mut self, message: impl Display) {
        let is_gnu = self.options.shell(ShellOption::GnuErrorFormat);
        self.options.put_shell(ShellOption::GnuErrorFormat, false);
        self.report(message);
        self.options.put_shell(ShellOption::GnuErrorFormat, is_gnu);
    }

    /// Writes a message to standard error, after the name of the shell.
    pub(crate) fn report_without_line(&mut self, message: &str) {
        let line = format!("{}: {message}\n", self.parameters.zero());
        let _ = self.write(2, line.as_bytes());
        let _ = self.flush();
    }

    /// Writes a message about a text that is not a file. Its label, such as `-c` or `eval`, precedes the line number.
    pub(crate) fn report_labelled(&mut self, label: &str, message: impl Display) {
        // Messages about a sourced file have the name of the file; in an interactive shell, after the shell's name.
        let shell = self.parameters.zero();
        let name = match self.calls.frames().last() {
            Some(frame) if !self.is_interactive() => frame.source.to_string(),
            Some(frame) if !frame.is_function => format!("{shell}: {}", frame.source),
            _ => shell.to_string(),
        };
        let name = if label.is_empty() { name } else { format!("{name}: {label}") };
        let is_gnu = self.options.shell(ShellOption::GnuErrorFormat) && label.is_empty();
        let line = match self.calls.line() {
            line if is_gnu && !self.is_interactive() => format!("{name}:{line}: {message}\n"),
            _ if self.is_interactive() && self.calls.frames().is_empty() => format!("{name}: {message}\n"),
            0 => format!("{name}: {message}\n"),
            line => format!("{name}: line {line}: {message}\n"),
        };
        let _ = self.write(2, line.as_bytes());
        let _ = self.flush();
    }
}
