//! Signal names, numbers and sets, and the signal handling of an application.

use std::thread;
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::sys::{self, MAX_SIGNAL, SignalSet, TakenSignal};

/// Signal names in the order of `kill -l`.
const SIGNAL_NAMES: [(i32, &str); 31] = [
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

/// The first real-time signal that programs can use. The C library reserves the two before it.
const FIRST_REAL_TIME_SIGNAL: i32 = 34;

/// Returns the name of a signal without `SIG`, such as `TERM` or `RTMIN+3`.
pub fn signal_name(number: i32) -> Option<String> {
    if let Some((_, name)) = SIGNAL_NAMES.iter().find(|(known, _)| *known == number) {
        return Some((*name).to_owned());
    }
    let (first, last) = (FIRST_REAL_TIME_SIGNAL, MAX_SIGNAL);
    match number {
        _ if number == first => Some("RTMIN".to_owned()),
        _ if number == last => Some("RTMAX".to_owned()),
        _ if number > first && number <= first + 15 => Some(format!("RTMIN+{}", number - first)),
        _ if number > first + 15 && number < last => Some(format!("RTMAX-{}", last - number)),
        _ => None,
    }
}

/// Returns the number of a signal. The name is case-insensitive, with or without `SIG`.
pub fn signal_number(name: &str) -> Option<i32> {
    let upper = name.to_ascii_uppercase();
    let bare = upper.strip_prefix("SIG").unwrap_or(&upper);
    let alias = match bare {
        "IOT" => "ABRT",
        "POLL" => "IO",
        "CLD" => "CHLD",
        other => other,
    };
    (1..=MAX_SIGNAL).find(|&number| signal_name(number).as_deref() == Some(alias))
}

/// A set of signals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Signals(SignalSet);

impl Signals {
    /// `SIGCHLD`: a child has ended.
    pub const CHLD: i32 = libc::SIGCHLD;
    /// `SIGHUP`: the terminal was closed.
    pub const HUP: i32 = libc::SIGHUP;
    /// `SIGINT`: Ctrl-C.
    pub const INT: i32 = libc::SIGINT;
    /// `SIGQUIT`: Ctrl-\\.
    pub const QUIT: i32 = libc::SIGQUIT;
    /// `SIGKILL`: ends a process, and cannot be caught.
    pub const KILL: i32 = libc::SIGKILL;
    /// `SIGTSTP`: Ctrl-Z.
    pub const TSTP: i32 = libc::SIGTSTP;
    /// `SIGTTIN`: a background process reads from the terminal.
    pub const TTIN: i32 = libc::SIGTTIN;
    /// `SIGTTOU`: a background process writes to the terminal.
    pub const TTOU: i32 = libc::SIGTTOU;
    /// `SIGCONT`: continues a stopped process.
    pub const CONT: i32 = libc::SIGCONT;
    /// `SIGPIPE`: a write to a pipe without readers.
    pub const PIPE: i32 = libc::SIGPIPE;
    /// `SIGWINCH`: the terminal size has changed.
    pub const WINCH: i32 = libc::SIGWINCH;
    /// `SIGTERM`: asks a process to end.
    pub const TERM: i32 = libc::SIGTERM;
    /// `SIGUSR1`: defined by the application.
    pub const USR1: i32 = libc::SIGUSR1;
    /// `SIGUSR2`: defined by the application.
    pub const USR2: i32 = libc::SIGUSR2;

    /// Returns the empty set.
    pub fn none() -> Signals {
        Signals::default()
    }

    /// Returns the signals that this process ignores.
    pub fn ignored_now() -> Signals {
        Signals(sys::ignored_signals())
    }

    /// Returns the set with `signal` added.
    #[must_use]
    pub fn with(mut self, signal: i32) -> Signals {
        self.0.insert(signal);
        self
    }

    /// Returns the set without `signal`.
    #[must_use]
    pub fn without(mut self, signal: i32) -> Signals {
        self.0.remove(signal);
        self
    }

    /// Whether `signal` is a member.
    pub fn contains(self, signal: i32) -> bool {
        self.0.contains(signal)
    }

    /// Returns the members in ascending order.
    pub fn iter(self) -> impl Iterator<Item = i32> {
        let mut rest = self.0.0;
        std::iter::from_fn(move || {
            let lowest = rest.trailing_zeros();
            rest &= rest.wrapping_sub(1);
            i32::try_from(lowest + 1).ok().filter(|signal| *signal <= MAX_SIGNAL)
        })
    }

    pub(crate) fn raw(self) -> SignalSet {
        self.0
    }
}

/// Calls `action` on a new thread for each of these signals that this process receives. Blocks the signals in the calling
/// thread and in threads that it starts afterwards, so an application must call this first, and once per signal.
///
/// # Errors
/// Fails if no thread can be started.
pub fn on_signals(signals: Signals, mut action: impl FnMut(i32) + Send + 'static) -> Result<(), Error> {
    on_sent_signals(signals, move |signal, _| action(signal))
}

/// Like [`on_signals`], but passes the pid of the sender too, if a process sent the signal.
///
/// # Errors
/// Fails if no thread can be started.
pub fn on_sent_signals(
    signals: Signals,
    mut action: impl FnMut(i32, Option<i32>) + Send + 'static,
) -> Result<(), Error> {
    sys::block(signals.raw());
    let mut duplicates = DuplicateFilter::default();
    let serve = move || {
        while let Some(signal) = sys::wait_for_info(signals.raw()) {
            if !duplicates.is_duplicate(signal, Instant::now()) {
                action(signal.number, (signal.sender > 0).then_some(signal.sender));
            }
        }
    };
    let builder = thread::Builder::new().name("signals".to_owned()).stack_size(128 * 1024);
    builder.spawn(serve).map(drop).map_err(|error| Error::system("start a thread for signals", error))
}

/// Recognises signals that this process received twice: directly, as a member of its process group, and forwarded by its
/// guardian, which is in the same group.
#[derive(Debug, Default)]
struct DuplicateFilter(Option<(TakenSignal, Instant)>);

impl DuplicateFilter {
    /// Maximum time between a signal and its duplicate.
    const MAX_DELAY: Duration = Duration::from_millis(200);

    fn is_duplicate(&mut self, signal: TakenSignal, now: Instant) -> bool {
        let duplicate = self.0.take().is_some_and(|(last, at)| {
            (last.number, last.sender) == (signal.number, signal.sender)
                && last.forwarded != signal.forwarded
                && now - at < DuplicateFilter::MAX_DELAY
        });
        if !duplicate && signal.number != Signals::CHLD {
            self.0 = Some((signal, now));
        }
        duplicate
    }
}

/// Calls `kill(2)`: sends a signal to a process, to the group `-pid` if `pid` is negative, or to the group of this process if
/// it is 0. Signal 0 only checks whether a signal could be sent.
///
/// # Errors
/// Fails like `kill(2)`.
pub fn send_signal(pid: i32, signal: i32) -> std::io::Result<()> {
    sys::kill(pid, signal)
}

/// The disposition of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disposition {
    /// The default action.
    Default,
    /// The signal is ignored.
    Ignore,
    /// The function of [`set_signal_catcher`] is called.
    Catch,
}

/// Sets the function for signals that are [caught](Disposition::Catch), once per process. Returns false if it was set before.
///
/// The function must be async-signal-safe: it may set atomic values and write to descriptors, and must not allocate, lock or
/// panic.
pub fn set_signal_catcher(catcher: impl Fn(i32) + Send + Sync + 'static) -> bool {
    sys::set_catcher(Box::new(catcher))
}

/// Sets the disposition of a signal in this process. This is a process-wide setting, for applications and not for libraries.
///
/// # Errors
/// Fails if the signal number is invalid or the signal cannot be caught.
pub fn set_disposition(signal: i32, disposition: Disposition) -> Result<(), Error> {
    match disposition {
        Disposition::Default => sys::set_ignored(signal, false),
        Disposition::Ignore => sys::set_ignored(signal, true),
        Disposition::Catch => sys::catch(signal).map_err(|error| Error::system("catch the signal", error))?,
    }
    Ok(())
}

/// Runs `action` with all signals blocked in this thread. Threads that it starts never handle signals.
pub fn with_blocked_signals<T>(action: impl FnOnce() -> T) -> T {
    let _held = sys::HeldSignals::all();
    action()
}

/// Declares that only [`set_disposition`] changes the signal dispositions of this process. Programs start slightly faster
/// then, because the dispositions need not be queried. For applications, not for libraries.
pub fn claim_signals() {
    sys::claim_signals();
}
