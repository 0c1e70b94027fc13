//! Stand-ins: in-process commands that run instead of programs of the machine.
//!
//! A stand-in runs only if a script cannot observe the difference. Otherwise the program runs.

use std::os::unix::ffi::OsStrExt as _;

use haft_lang::ast::{Assignment, AssignmentValue, Command, CommandKind, Duplicate, Redirect, RedirectKind};
use haft_process::Signals;
use haft_text::Bytes;

use super::dispatch::CommandTarget;
use crate::command::Added;
use crate::options::SetOption;
use crate::session::Session;
use crate::traps::Trap;
use crate::variables::Attributes;

/// Directories whose programs can have stand-ins. A program elsewhere in `PATH` is the choice of the user.
const SYSTEM_DIRECTORIES: [&[u8]; 2] = [b"/usr/bin", b"/bin"];

/// Exported variables that change what programs do, or what they load.
const PROGRAM_VARIABLES: [&[u8]; 10] = [
    b"LD_PRELOAD",
    b"LD_AUDIT",
    b"POSIXLY_CORRECT",
    b"_POSIX2_VERSION",
    b"GREP_OPTIONS",
    b"BLOCK_SIZE",
    b"BLOCKSIZE",
    b"LS_BLOCK_SIZE",
    b"QUOTING_STYLE",
    b"TIME_STYLE",
];

/// Variables that select the locale.
const LOCALE_VARIABLES: [&[u8]; 8] =
    [b"LC_ALL", b"LC_CTYPE", b"LC_COLLATE", b"LC_MESSAGES", b"LC_NUMERIC", b"LC_TIME", b"LANG", b"LANGUAGE"];

/// Parts of paths that lead to files of the process that opens them.
const OWN_FILES: [&[u8]; 3] = [b"proc/", b"/proc", b"/dev/"];

impl Session {
    /// Replaces a program by its stand-in, if it has one that may run here.
    #[inline]
    pub(super) fn resolve_stand_in(
        &mut self,
        target: CommandTarget,
        words: &[Bytes],
        command: &Command,
    ) -> CommandTarget {
        if !matches!(target, CommandTarget::External) || self.kernel.stand_ins.is_empty() {
            return target;
        }
        self.find_stand_in(words, command).unwrap_or(target)
    }

    /// Whether standard output is a terminal, for commands that write something else to it. Redirections of the command do not count.
    #[must_use]
    pub fn has_terminal_output(&self) -> bool {
        self.open_files.get(1).is_some_and(|output| output.is_terminal())
    }

    fn find_stand_in(&mut self, words: &[Bytes], command: &Command) -> Option<CommandTarget> {
        let (name, arguments) = words.split_first()?;
        let found = self.kernel.stand_ins.find(name)?;
        let allowed = !self.definitions.disabled_builtins().contains(&found.name())
            && self.allows_stand_ins()
            && assignments(command).iter().all(selects_plain_locale)
            && !command.redirects.iter().any(closes_descriptor)
            && !arguments.iter().any(|argument| names_own_file(argument))
            && self.is_system_program(name, &found)
            && !found.steps_aside(self, arguments);
        if allowed {
            // `hash` counts the use.
            self.caches.use_command(name, 1);
        }
        allowed.then(|| CommandTarget::StandIn(found))
    }

    /// Whether the state of the session lets programs run in this process.
    fn allows_stand_ins(&self) -> bool {
        !self.is_interactive()
            && !self.processes.is_background()
            && !self.options.has(SetOption::Monitor)
            // Traces of stages are in the order in which they start.
            && !self.options.has(SetOption::Trace)
            && !self.has_signal_traps()
            && !self.limits.limits_programs()
            && !self.working_directory.path().starts_with(b"/proc")
            && !self.has_lost_directory()
            && self.has_plain_descriptors()
            && self.value(b"HAFT_COMMANDS").is_none_or(|value| value != "host")
            && !PROGRAM_VARIABLES.iter().any(|name| self.is_exported(name))
            && LOCALE_VARIABLES.iter().all(|name| self.has_plain_locale(name))
    }

    /// Whether the standard descriptors are open, and standard input is not a terminal.
    fn has_plain_descriptors(&self) -> bool {
        (0..=2).all(|number| self.open_files.get(number).is_some())
            && !self.open_files.get(0).is_some_and(|input| input.is_terminal())
    }

    /// Whether a signal has a trap, which must wait until a program ends, or programs ignore a closed pipe.
    fn has_signal_traps(&self) -> bool {
        self.traps.iter().any(|(trap, text)| match trap {
            Trap::Signal(signal) => signal == Signals::PIPE || !text.is_empty(),
            _ => false,
        })
    }

    fn is_exported(&self, name: &[u8]) -> bool {
        self.variables.get(name).is_some_and(|variable| variable.is(Attributes::EXPORT))
    }

    /// Whether a variable is unset or selects a locale in which programs sort bytes and write English.
    fn has_plain_locale(&self, name: &[u8]) -> bool {
        self.variables
            .get(name)
            .is_none_or(|variable| variable.as_scalar().is_some_and(|value| is_plain_locale(value)))
    }

    /// Whether `PATH` finds the program in a system directory. A symbolic link there must lead to a program that the command knows.
    fn is_system_program(&mut self, name: &[u8], command: &Added) -> bool {
        let Some(path) = self.locate_program(name, &[], 0) else { return false };
        let Some(directory) = system_directory(&path) else { return false };
        if !self.kernel.is_symlink(&path) {
            return command.programs().is_empty()
                || command.programs().iter().any(|it| it.as_bytes() == name);
        }
        let Ok(target) = self.kernel.files.canonicalize(haft_text::path(&path)) else { return false };
        let target = target.as_os_str().as_bytes();
        let file = &target[directory.len().min(target.len())..];
        let is_known = || command.programs().iter().any(|it| file == [b"/", it.as_bytes()].concat());
        system_directory(target) == Some(directory) && is_known()
    }
}

/// The directory of a path, if it is one whose programs can have stand-ins.
fn system_directory(path: &[u8]) -> Option<&[u8]> {
    let slash = path.iter().rposition(|byte| *byte == b'/')?;
    Some(&path[..slash]).filter(|directory| SYSTEM_DIRECTORIES.contains(directory))
}

/// The assignments before a command.
fn assignments(command: &Command) -> &[Assignment] {
    match &command.kind {
        CommandKind::Simple(simple) => &simple.assignments,
        _ => &[],
    }
}

/// Whether a redirection closes a descriptor. Programs differ in what they say then.
fn closes_descriptor(redirect: &Redirect) -> bool {
    matches!(
        redirect.kind,
        RedirectKind::DuplicateInput(Duplicate::Close) | RedirectKind::DuplicateOutput(Duplicate::Close)
    )
}

/// Whether an assignment before a command only selects a plain locale, as `LC_ALL=C` does.
fn selects_plain_locale(assignment: &Assignment) -> bool {
    let AssignmentValue::Word(word) = &assignment.value else { return false };
    LOCALE_VARIABLES.contains(&assignment.name.as_bytes())
        && !assignment.append
        && assignment.subscript.is_none()
        && word.literal().is_some_and(is_plain_locale)
}

fn is_plain_locale(value: &[u8]) -> bool {
    matches!(value, b"" | b"C" | b"POSIX" | b"C.UTF-8" | b"C.utf8")
}

fn names_own_file(argument: &[u8]) -> bool {
    OWN_FILES.iter().any(|part| memchr::memmem::find(argument, part).is_some())
}
