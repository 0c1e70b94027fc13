//! Signals by name and number, and sets of them.

use std::thread;
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::sys::{self, SignalSet, TakenSignal};

/// The names of the signals that have one, in the order of `kill -l`.
const NAMES: [(i32, &str); 31] = [
    (libc::SIGHUP, "HUP"),
    (libc::SIGINT, "INT"),
    (libc::SIGQUIT, "QUIT"),
    (libc::SIGILL, "ILL"),
    (libc::SIGTRAP, "TRAP"),
    (libc::SIGABRT, "ABRT"),
    (libc::SIGBUS, "BUS"),
    (libc::SIGFPE, "FPE"),
    (libc::SIGKILL, "KILL"),
    (libc::SIGUSR1, "USR1"),
    (libc::SIGSEGV, "SEGV"),
    (libc::SIGUSR2, "USR2"),
    (libc::SIGPIPE, "PIPE"),
    (libc::SIGALRM, "ALRM"),
    (libc::SIGTERM, "TERM"),
    (libc::SIGSTKFLT, "STKFLT"),
    (libc::SIGCHLD, "CHLD"),
    (libc::SIGCONT, "CONT"),
    (libc::SIGSTOP, "STOP"),
    (libc::SIGTSTP, "TSTP"),
    (libc::SIGTTIN, "TTIN"),
    (libc::SIGTTOU, "TTOU"),
    (libc::SIGURG, "URG"),
    (libc::SIGXCPU, "XCPU"),
    (libc::SIGXFSZ, "XFSZ"),
    (libc::SIGVTALRM, "VTALRM"),
    (libc::SIGPROF, "PROF"),
    (libc::SIGWINCH, "WINCH"),
    (libc::SIGIO, "IO"),
    (libc::SIGPWR, "PWR"),
    (libc::SIGSYS, "SYS"),
];

/// The name of a signal without its `SIG`, such as `TERM`; real-time signals have names like `RTMIN+3`.
pub fn signal_name(number: i32) -> Option<String> {
    if let Some((_, name)) = NAMES.iter().find(|(known, _)| *known == number) {
        return Some((*name).to_owned());
    }
    let (first, last) = (34, 64);
    match number {
        _ if number == first => Some("RTMIN".to_owned()),
        _ if number == last => Some("RTMAX".to_owned()),
        _ if number > first && number <= first + 15 => Some(format!("RTMIN+{}", number - first)),
        _ if number > first + 15 && number < last => Some(format!("RTMAX-{}", last - number)),
        _ => None,
    }
}

/// The number of a signal by its name, with or without `SIG`, in either case.
pub fn signal_number(name: &str) -> Option<i32> {
    let upper = name.to_ascii_uppercase();
    let bare = upper.strip_prefix("SIG").unwrap_or(&upper);
    let alias = match bare {
        "IOT" => "ABRT",
        "POLL" => "IO",
        "CLD" => "CHLD",
        other => other,
    };
    (1..=64).find(|&number| signal_name(number).as_deref() == Some(alias))
}

/// A set of signals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Signals(SignalSet);

impl Signals {
    /// A child that has ended.
    pub const CHLD: i32 = libc::SIGCHLD;
    /// A terminal's hang-up.
    pub const HUP: i32 = libc::SIGHUP;
    /// Ctrl-C.
    pub const INT: i32 = libc::SIGINT;
    /// Ctrl-\\.
    pub const QUIT: i32 = libc::SIGQUIT;
    /// The one that cannot be caught.
    pub const KILL: i32 = libc::SIGKILL;
    /// Ctrl-Z.
    pub const TSTP: i32 = libc::SIGTSTP;
    /// Reading from the terminal in the background.
    pub const TTIN: i32 = libc::SIGTTIN;
    /// Writing to the terminal in the background.
    pub const TTOU: i32 = libc::SIGTTOU;
    /// The request to go on after a stop.
    pub const CONT: i32 = libc::SIGCONT;
    /// A write that nobody will read.
    pub const PIPE: i32 = libc::SIGPIPE;
    /// A terminal that has changed its size.
    pub const WINCH: i32 = libc::SIGWINCH;
    /// The polite request to end.
    pub const TERM: i32 = libc::SIGTERM;
    /// For programs to use among themselves.
    pub const USR1: i32 = libc::SIGUSR1;
    /// For programs to use among themselves.
    pub const USR2: i32 = libc::SIGUSR2;

    /// The empty set.
    pub fn none() -> Signals {
        Signals::default()
    }

    /// The signals that this process ignores now, as a program that replaces it should.
    pub fn ignored_now() -> Signals {
        Signals(sys::ignored_signals())
    }

    /// The set with `signal` added.
    #[must_use]
    pub fn with(mut self, signal: i32) -> Signals {
        self.0.insert(signal);
        self
    }

    /// The set with `signal` taken out.
    #[must_use]
    pub fn without(mut self, signal: i32) -> Signals {
        self.0.remove(signal);
        self
    }

    /// Whether `signal` is a member.
    pub fn contains(self, signal: i32) -> bool {
        self.0.contains(signal)
    }

    /// The members, the lowest first.
    pub fn iter(self) -> impl Iterator<Item = i32> {
        let mut rest = self.0.0;
        std::iter::from_fn(move || {
            let lowest = rest.trailing_zeros();
            rest &= rest.wrapping_sub(1);
            i32::try_from(lowest + 1).ok().filter(|signal| *signal <= 64)
        })
    }

    pub(crate) fn raw(self) -> SignalSet {
        self.0
    }
}

/// Calls `action` on a thread of its own for each of these signals that this process gets. They are blocked in the
/// calling thread and those it starts from then on, so an application calls this first, and once for a signal.
///
/// # Errors
/// If there is no thread to be had.
pub fn on_signals(signals: Signals, mut action: impl FnMut(i32) + Send + 'static) -> Result<(), Error> {
    on_sent_signals(signals, move |signal, _| action(signal))
}

/// As [`on_signals`], with the process that has sent the signal, if one did.
///
/// # Errors
/// If there is no thread to be had.
pub fn on_sent_signals(
    signals: Signals,
    mut action: impl FnMut(i32, Option<i32>) + Send + 'static,
) -> Result<(), Error> {
    sys::block(signals.raw());
    let mut echoes = Echoes::default();
    let serve = move || {
        while let Some(signal) = sys::wait_for_info(signals.raw()) {
            if !echoes.is_echo(signal, Instant::now()) {
                action(signal.number, (signal.sender > 0).then_some(signal.sender));
            }
        }
    };
    let builder = thread::Builder::new().name("signals".to_owned()).stack_size(128 * 1024);
    builder.spawn(serve).map(drop).map_err(|error| Error::system("start a thread for signals", error))
}

/// Tells signals that reached this process twice: as a member of its group, and passed on by its guardian, which is in the
/// same group.
#[derive(Debug, Default)]
struct Echoes(Option<(TakenSignal, Instant)>);

impl Echoes {
    /// How long after a signal its echo may come.
    const LONGEST: Duration = Duration::from_millis(200);

    fn is_echo(&mut self, signal: TakenSignal, now: Instant) -> bool {
        let echo = self.0.take().is_some_and(|(last, at)| {
            (last.number, last.sender) == (signal.number, signal.sender)
                && last.passed_on != signal.passed_on
                && now - at < Echoes::LONGEST
        });
        if !echo && signal.number != Signals::CHLD {
            self.0 = Some((signal, now));
        }
        echo
    }
}

/// Sends a signal to a process, to the group of a negative number, or to the own group for 0: any signal, also those that have
/// no name. Signal 0 only asks whether it could be sent.
///
/// # Errors
/// As `kill(2)`.
pub fn send_signal(pid: i32, signal: i32) -> std::io::Result<()> {
    sys::kill(pid, signal)
}

/// What this process does with a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disposition {
    /// What the system does.
    Default,
    /// Nothing.
    Ignore,
    /// What [`set_signal_catcher`] was given.
    Catch,
}

/// Decides, once, what is done with the signals that are [caught](Disposition::Catch). It is called on whatever thread the
/// signal finds, in the middle of anything: it may set atomic values and write to descriptors, and must not allocate,
/// lock or panic. Says whether it was the first.
pub fn set_signal_catcher(catcher: impl Fn(i32) + Send + Sync + 'static) -> bool {
    sys::set_catcher(Box::new(catcher))
}

/// Sets what this whole process does with a signal: a setting for applications to make. A program that writes to pipes
/// ignores `SIGPIPE`, as Rust programs do unless they say otherwise.
///
/// # Errors
/// If there is no such signal, or it cannot be caught.
pub fn set_disposition(signal: i32, disposition: Disposition) -> Result<(), Error> {
    match disposition {
        Disposition::Default => sys::set_ignored(signal, false),
        Disposition::Ignore => sys::set_ignored(signal, true),
        Disposition::Catch => sys::catch(signal).map_err(|error| Error::system("catch the signal", error))?,
    }
    Ok(())
}

/// Promises that what this process does with signals is changed by nobody but [`set_disposition`]: a promise for
/// applications to make. Every program starts a little faster for it, since what it would inherit need not be asked.
pub fn claim_signals() {
    sys::claim_signals();
}
