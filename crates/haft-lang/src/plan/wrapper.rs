//! Commands that run their arguments as a command.

use super::build::{PlanBuilder, StepContext};
use super::shell::{input, placeholders};
use super::show;
use super::step::{OpaqueReason, PlannedAssignment, PlannedWord, StepRole, WordPiece};
use crate::Bytes;

/// The argument syntax of a wrapper.
pub(super) struct Wrapper {
    name: &'static str,
    /// Short options without a value.
    flags: &'static str,
    /// Short options with a value, in the same word or the next.
    values: &'static str,
    /// Long options without a value. Options written with `=` need not be listed.
    long_flags: &'static [&'static str],
    /// Long options whose value is the next word.
    long_values: &'static [&'static str],
    /// The number of operands before the command.
    operands: usize,
    /// Whether assignments may precede the command.
    assignments: bool,
    /// The short option whose value is a shell command.
    script: Option<u8>,
    /// Short options with which the wrapper runs nothing.
    idle: &'static str,
    runs: WrapperKind,
}

/// The meaning of the remaining operands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WrapperKind {
    /// A command that runs in this shell.
    Here,
    /// A command that runs in a separate process.
    Apart,
    /// A command that runs repeatedly with additional arguments.
    Repeated,
    /// A shell command, joined from the operands.
    Joined,
    /// A command, or a shell that reads standard input if there is none.
    Shell,
}

const PLAIN: Wrapper = Wrapper {
    name: "",
    flags: "",
    values: "",
    long_flags: &[],
    long_values: &[],
    operands: 0,
    assignments: false,
    script: None,
    idle: "",
    runs: WrapperKind::Apart,
};

/// All known wrappers.
const WRAPPERS: &[Wrapper] = &[
    Wrapper { name: "builtin", runs: WrapperKind::Here, ..PLAIN },
    Wrapper { name: "command", flags: "p", idle: "vV", runs: WrapperKind::Here, ..PLAIN },
    Wrapper { name: "exec", flags: "cl", values: "a", runs: WrapperKind::Here, ..PLAIN },
    Wrapper {
        name: "env",
        flags: "i0v",
        values: "uC",
        long_flags: &["ignore-environment", "null", "debug"],
        long_values: &["unset", "chdir"],
        assignments: true,
        script: Some(b'S'),
        ..PLAIN
    },
    Wrapper {
        name: "sudo",
        flags: "ABbEHKknPSisN",
        values: "CDghpRrTtUu",
        long_flags: &[
            "preserve-env",
            "non-interactive",
            "stdin",
            "set-home",
            "login",
            "shell",
            "background",
            "reset-timestamp",
        ],
        long_values: &["user", "group", "host", "prompt", "chdir", "chroot"],
        assignments: true,
        idle: "lvVe",
        runs: WrapperKind::Shell,
        ..PLAIN
    },
    Wrapper { name: "doas", flags: "nLs", values: "uC", runs: WrapperKind::Shell, ..PLAIN },
    Wrapper {
        name: "su",
        flags: "lmpfP",
        values: "sgGw",
        long_flags: &["login", "preserve-environment"],
        long_values: &["shell", "group"],
        operands: usize::MAX,
        script: Some(b'c'),
        runs: WrapperKind::Shell,
        ..PLAIN
    },
    Wrapper { name: "runuser", flags: "lmpf", values: "ugGs", script: Some(b'c'), ..PLAIN },
    Wrapper { name: "nohup", ..PLAIN },
    Wrapper { name: "setsid", flags: "cfw", long_flags: &["ctty", "fork", "wait"], ..PLAIN },
    Wrapper { name: "nice", flags: "0123456789", values: "n", long_values: &["adjustment"], ..PLAIN },
    Wrapper { name: "ionice", flags: "t", values: "cnpPu", long_values: &["class", "classdata"], ..PLAIN },
    Wrapper { name: "chrt", flags: "abdfimoprRv", values: "TPD", operands: 1, ..PLAIN },
    Wrapper { name: "taskset", flags: "acp", operands: 1, ..PLAIN },
    Wrapper { name: "stdbuf", values: "ioe", long_values: &["input", "output", "error"], ..PLAIN },
    Wrapper {
        name: "timeout",
        flags: "vf",
        values: "ks",
        long_flags: &["foreground", "preserve-status", "verbose"],
        long_values: &["signal", "kill-after"],
        operands: 1,
        ..PLAIN
    },
    Wrapper { name: "time", flags: "apvq", values: "fo", long_values: &["format", "output"], ..PLAIN },
    Wrapper {
        name: "xargs",
        flags: "0rtxp",
        values: "adEILnPs",
        long_flags: &["null", "no-run-if-empty", "verbose", "interactive", "exit", "open-tty"],
        long_values: &["arg-file", "delimiter", "max-args", "max-procs", "max-lines", "max-chars", "replace"],
        runs: WrapperKind::Repeated,
        ..PLAIN
    },
    Wrapper { name: "strace", flags: "cCdDfFhiknqrtTvVwxyYzZ", values: "abeEIoOpPsSuUX", ..PLAIN },
    Wrapper { name: "ltrace", flags: "bcCfhiLnrStT", values: "aADeFlnopsuwxX", ..PLAIN },
    Wrapper { name: "chroot", long_flags: &["skip-chdir"], operands: 1, runs: WrapperKind::Shell, ..PLAIN },
    Wrapper { name: "flock", flags: "esxnuoF", values: "wE", operands: 1, script: Some(b'c'), ..PLAIN },
    Wrapper {
        name: "watch",
        flags: "bcCdegprtvwx",
        values: "nq",
        long_values: &["interval"],
        runs: WrapperKind::Joined,
        ..PLAIN
    },
    Wrapper {
        name: "script",
        flags: "aefqtT",
        values: "IOBoEm",
        operands: usize::MAX,
        script: Some(b'c'),
        ..PLAIN
    },
    Wrapper { name: "unshare", flags: "munipUCTrfc", values: "RwSG", runs: WrapperKind::Shell, ..PLAIN },
    Wrapper { name: "nsenter", flags: "amunipCUTFrwZ", values: "tSG", runs: WrapperKind::Shell, ..PLAIN },
    Wrapper { name: "setpriv", ..PLAIN },
    Wrapper { name: "prlimit", flags: "cdefilmnqrstuvxy", values: "po", ..PLAIN },
    Wrapper { name: "setarch", flags: "vRFZLXBIST3", ..PLAIN },
    Wrapper {
        name: "systemd-run",
        flags: "rdGqPtS",
        values: "HMpuE",
        assignments: false,
        runs: WrapperKind::Shell,
        ..PLAIN
    },
    Wrapper { name: "dbus-run-session", ..PLAIN },
    Wrapper { name: "fakeroot", flags: "uh", values: "libsf", runs: WrapperKind::Shell, ..PLAIN },
    Wrapper { name: "eatmydata", ..PLAIN },
    Wrapper { name: "chronic", flags: "ve", ..PLAIN },
    Wrapper { name: "unbuffer", flags: "p", ..PLAIN },
    Wrapper { name: "valgrind", flags: "qvd", ..PLAIN },
    Wrapper { name: "perf", flags: "adgisvSABnr", values: "eoFpCtcrj", operands: 1, ..PLAIN },
    Wrapper {
        name: "pkexec",
        long_flags: &["disable-internal-agent", "keep-cwd"],
        long_values: &["user"],
        ..PLAIN
    },
    Wrapper { name: "sg", flags: "-", operands: 1, script: Some(b'c'), runs: WrapperKind::Joined, ..PLAIN },
    Wrapper {
        name: "ld.so",
        long_values: &["library-path", "preload", "argv0", "audit", "inhibit-rpath"],
        ..PLAIN
    },
];

pub(super) fn find(name: &[u8]) -> Option<&'static Wrapper> {
    WRAPPERS.iter().find(|wrapper| wrapper.name.as_bytes() == name)
}

/// The parsed arguments of a wrapper.
struct WrapperArguments<'i> {
    rest: &'i [PlannedWord],
    idle: bool,
    script: Option<PlannedWord>,
    /// The working directory of the command.
    directory: Option<PlannedWord>,
    assignments: Vec<PlannedAssignment>,
    unknown_option: Option<&'i PlannedWord>,
}

impl Wrapper {
    fn read<'i>(&self, arguments: &'i [PlannedWord]) -> WrapperArguments<'i> {
        let mut reading = WrapperArguments {
            rest: arguments,
            idle: false,
            script: None,
            directory: None,
            assignments: Vec::new(),
            unknown_option: None,
        };
        let mut operands = self.operands;
        while let Some((argument, after)) = reading.rest.split_first() {
            let prefix = argument.prefix();
            if argument.several && prefix.is_empty() {
                reading.unknown_option = reading.unknown_option.or(Some(argument));
            }
            if prefix == b"--" && argument.literal().is_some() {
                reading.rest = after;
                break;
            }
            if prefix.len() > 1 && prefix[0] == b'-' {
                reading.rest = after;
                self.option(argument, &mut reading);
            } else if let Some(binding) = self.assignment(argument) {
                reading.assignments.push(binding);
                reading.rest = after;
            } else if prefix == b"-" && self.name != "env" || operands > 0 {
                operands = operands.saturating_sub(usize::from(prefix != b"-"));
                reading.rest = after;
            } else {
                break;
            }
        }
        reading
    }

    fn assignment(&self, argument: &PlannedWord) -> Option<PlannedAssignment> {
        let at = memchr::memchr(b'=', argument.prefix()).filter(|_| self.assignments)?;
        let (name, value) = argument.prefix().split_at(at);
        let mut pieces = argument.pieces.clone();
        pieces[0] = WordPiece::Literal(Bytes::from(&value[1..]));
        let value = vec![PlannedWord { pieces, several: false }];
        Some(PlannedAssignment { name: name.into(), append: false, value })
    }

    fn option<'i>(&self, argument: &'i PlannedWord, reading: &mut WrapperArguments<'i>) {
        let Some(option) = argument.literal() else {
            // The value of an option may be dynamic, but its name must be known.
            let known =
                self.values.as_bytes().contains(&argument.prefix()[1]) || argument.prefix().contains(&b'=');
            if !known {
                reading.unknown_option = Some(argument);
            }
            return;
        };
        match option.strip_prefix(b"--") {
            Some(long) => self.long_option(long, argument, reading),
            None => self.short_options(&option[1..], argument, reading),
        }
    }

    fn long_option<'i>(&self, long: &[u8], argument: &'i PlannedWord, reading: &mut WrapperArguments<'i>) {
        let (name, value) = match memchr::memchr(b'=', long) {
            Some(at) => (&long[..at], Some(&long[at + 1..])),
            None => (long, None),
        };
        if matches!(name, b"command" | b"split-string") {
            let next = super::words::known(value.unwrap_or_default());
            reading.script = if value.is_some() { Some(next) } else { take(reading) };
        } else if name == b"chdir" {
            let given = value.map(super::words::known);
            reading.directory = given.or_else(|| take(reading));
        } else if value.is_none() && self.long_values.iter().any(|known| known.as_bytes() == name) {
            take(reading);
        } else if value.is_none() && !self.long_flags.iter().any(|known| known.as_bytes() == name) {
            reading.idle |= matches!(name, b"help" | b"version" | b"list" | b"validate");
            reading.unknown_option = if reading.idle { reading.unknown_option } else { Some(argument) };
        }
    }

    fn short_options<'i>(
        &self,
        letters: &[u8],
        argument: &'i PlannedWord,
        reading: &mut WrapperArguments<'i>,
    ) {
        for (at, letter) in letters.iter().enumerate() {
            let rest = &letters[at + 1..];
            if self.script == Some(*letter) {
                let inline = (!rest.is_empty()).then(|| super::words::known(rest));
                reading.script = inline.or_else(|| take(reading));
                return;
            }
            if self.values.as_bytes().contains(letter) {
                let value = if rest.is_empty() { take(reading) } else { Some(super::words::known(rest)) };
                if matches!((self.name, letter), ("env", b'C') | ("sudo", b'D')) {
                    reading.directory = value;
                }
                return;
            }
            reading.idle |= self.idle.as_bytes().contains(letter);
            if !reading.idle && !self.flags.as_bytes().contains(letter) {
                reading.unknown_option = Some(argument);
            }
        }
    }
}

/// Returns the placeholder of `xargs -I TEXT`.
fn replaced(arguments: &[PlannedWord]) -> Vec<u8> {
    let mut words = arguments.iter().filter_map(PlannedWord::literal);
    while let Some(word) = words.next() {
        let value = word.strip_prefix(b"-I").or(word.strip_prefix(b"--replace="));
        match value {
            Some(b"") => return words.next().unwrap_or(b"{}").to_vec(),
            Some(text) => return text.to_vec(),
            None => {}
        }
    }
    b"{}".to_vec()
}

/// Takes the next word as the value of an option.
fn take(reading: &mut WrapperArguments<'_>) -> Option<PlannedWord> {
    let (value, after) = reading.rest.split_first()?;
    reading.rest = after;
    if value.several {
        reading.unknown_option = reading.unknown_option.or(Some(value));
    }
    Some(value.clone())
}

impl PlanBuilder<'_> {
    /// Plans the command that a wrapper runs.
    pub(super) fn wrapped(
        &mut self,
        index: usize,
        wrapper: &Wrapper,
        arguments: &[PlannedWord],
        context: &StepContext<'_>,
    ) {
        let reading = wrapper.read(arguments);
        let before = self.directory.clone();
        reading
            .directory
            .iter()
            .for_each(|directory| self.change_directory(b"cd", std::slice::from_ref(directory)));
        self.run_wrapped(index, wrapper, reading, arguments, context);
        if wrapper.runs != WrapperKind::Here {
            self.directory = before;
        }
    }

    fn run_wrapped(
        &mut self,
        index: usize,
        wrapper: &Wrapper,
        reading: WrapperArguments<'_>,
        arguments: &[PlannedWord],
        context: &StepContext<'_>,
    ) {
        if let Some(argument) = reading.unknown_option.filter(|_| !reading.idle) {
            self.opaque(index, OpaqueReason::WrapperOptions, show::source(argument).as_bytes());
        }
        let context = if wrapper.runs == WrapperKind::Here { *context } else { context.subshell() };
        if !reading.assignments.is_empty() {
            self.steps[index].assignments.extend(reading.assignments);
            self.bindings(index, &context);
        }
        if let Some(script) = &reading.script {
            self.run_text(index, script, StepRole::Script, &context);
        }
        if reading.idle {
            return;
        }
        let argv = reading.rest.to_vec();
        match wrapper.runs {
            WrapperKind::Here | WrapperKind::Apart if argv.is_empty() => {}
            WrapperKind::Here | WrapperKind::Apart => {
                self.run_arguments(index, argv, StepRole::Wrapped, &context);
            }
            WrapperKind::Joined => self.run_joined(index, &argv, StepRole::Script, &context.repeated()),
            WrapperKind::Repeated => {
                let mark = replaced(arguments);
                let mut argv: Vec<PlannedWord> = argv.iter().map(|item| placeholders(item, &mark)).collect();
                if argv.is_empty() {
                    argv.push(super::words::known(b"echo"));
                }
                argv.push(input(b"standard input"));
                self.run_arguments(index, argv, StepRole::Wrapped, &context.repeated());
            }
            WrapperKind::Shell if argv.is_empty() && reading.script.is_none() => {
                self.opaque(index, OpaqueReason::ScriptInput, b"");
            }
            WrapperKind::Shell if argv.is_empty() => {}
            WrapperKind::Shell => self.run_arguments(index, argv, StepRole::Wrapped, &context),
        }
    }
}
