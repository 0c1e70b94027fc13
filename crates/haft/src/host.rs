//! The process layer, set up for a program that owns its process.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use haft_process::{
    CancelToken, Command, Disposition, Host, HostBuilder, Signals, clean_stale, clean_stale_private,
    is_descendant, needs_guardian, on_sent_signals, reap_orphans, set_disposition, signal_name,
};

use rustix::fs::{Access, access};

use crate::failure::{Failure, print_message};
use crate::process_context::ProcessContext;

/// Goes on in a child of this process where only an ancestor can end what haft leaves behind if it is killed. Without one, the
/// watcher does what it can.
pub(crate) fn enter_guarded() {
    if needs_guardian() {
        let _ = haft_process::enter_guarded();
    }
}

/// Cleans up after crashed runs and sets up a host of our own.
pub(crate) fn set_up(process: &ProcessContext) -> Host {
    clean_up(process);
    // What is written to a process that has gone is lost, and that is all there is to it.
    let _ = set_disposition(Signals::PIPE, Disposition::Ignore);
    with_directories(process).cgroups().subreaper().watcher(watcher()).build()
}

/// A host for the tools of a session: it owns what it starts, but not this process, whose children are the session's.
pub(crate) fn for_tools(process: &ProcessContext) -> Host {
    with_directories(process).cgroups().watcher(watcher()).build()
}

/// The directories to try, in this order: below the temporary directories, since outputs may be large and those are on a
/// disk; in the user's runtime directory; and a directory with a random name below the temporary ones.
fn with_directories(process: &ProcessContext) -> HostBuilder {
    let bases = run_bases(process).into_iter().fold(Host::builder(), HostBuilder::run_directory);
    temporary_directories(process).into_iter().fold(bases, HostBuilder::private_directory)
}

/// Ends and removes what crashed runs have left. Bases with random names are looked for only where the usual one
/// belongs to another user.
fn clean_up(process: &ProcessContext) {
    let foreign = run_bases(process).iter().any(|base| clean_stale(base).is_err());
    if foreign {
        for parent in temporary_directories(process) {
            clean_stale_private(&parent);
        }
    }
}

/// The base directory of files that have to outlive this process: private to the user, on a disk rather than in memory.
pub(crate) fn run_base(process: &ProcessContext) -> PathBuf {
    run_bases(process).into_iter().next().unwrap_or_default()
}

/// The base directories that are tried, the best one first.
pub(crate) fn run_bases(process: &ProcessContext) -> Vec<PathBuf> {
    let name = format!("haft-{}", rustix::process::getuid().as_raw());
    let temporary = temporary_directories(process).into_iter().map(|place| place.join(&name));
    let runtime = process.variable("XDG_RUNTIME_DIR").map(|place| PathBuf::from(place).join("haft"));
    temporary.chain(runtime).collect()
}

/// Directories for temporary files that can be written; if there are none, the one that was asked for.
fn temporary_directories(process: &ProcessContext) -> Vec<PathBuf> {
    let wanted = process.variable("TMPDIR").map(PathBuf::from);
    let places: Vec<_> =
        wanted.into_iter().chain(["/tmp", "/var/tmp", "/dev/shm"].map(PathBuf::from)).collect();
    let writable = |place: &&PathBuf| access(*place, Access::WRITE_OK | Access::EXEC_OK).is_ok();
    let usable: Vec<_> = places.iter().filter(writable).cloned().collect();
    if usable.is_empty() { places.into_iter().take(1).collect() } else { usable }
}

/// Ourselves, as the watcher.
fn watcher() -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.argument("__watch");
    command
}

/// Hears the signals that haft itself gets. There is one in a process, however often it is asked for.
#[derive(Clone)]
pub(crate) struct SignalHandler {
    /// Cancelled when haft is asked to end: by Ctrl-C, a closed terminal, or `kill`.
    pub(crate) cancel: CancelToken,
    /// The signal that cancelled it; 0 before.
    cancelled_by: Arc<AtomicI32>,
    on_resize: Arc<OnceLock<ResizeCallback>>,
    forward_to: Arc<Mutex<Option<SignalCallback>>>,
    /// Whether the processes that haft has started may ask it to end.
    ignores_descendants: Arc<AtomicBool>,
}

/// Who is told of the signals that are not for haft itself.
pub(crate) type SignalCallback = Box<dyn Fn(i32) + Send>;

struct ResizeCallback(Box<dyn Fn() + Send + Sync>);

impl std::fmt::Debug for ResizeCallback {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("ResizeCallback(…)")
    }
}

impl SignalHandler {
    /// Starts to listen. Signals that were ignored when haft was started stay so.
    pub(crate) fn start() -> Result<SignalHandler, Failure> {
        SignalHandler::start_with(&[])
    }

    /// The same, which also hears signals that are [passed on](SignalHandler::forward_signals).
    pub(crate) fn start_with(more: &[i32]) -> Result<SignalHandler, Failure> {
        static STARTED: OnceLock<SignalHandler> = OnceLock::new();
        if let Some(signals) = STARTED.get() {
            return Ok(signals.clone());
        }
        let ignored = Signals::ignored_now();
        let signals = SignalHandler {
            cancel: CancelToken::new(),
            cancelled_by: Arc::default(),
            on_resize: Arc::default(),
            forward_to: Arc::default(),
            ignores_descendants: Arc::default(),
        };
        let deaf = signals.ignores_descendants.clone();
        let (cancel, cancelled_by) = (signals.cancel.clone(), signals.cancelled_by.clone());
        let on_resize = signals.on_resize.clone();
        let (forward_to, more) = (signals.forward_to.clone(), more.to_vec());
        let wanted = [Signals::INT, Signals::HUP, Signals::TERM, Signals::QUIT, Signals::WINCH];
        // Where it is ignored, the system reaps children, and nobody learns how they ended.
        let _ = set_disposition(Signals::CHLD, Disposition::Default);
        let heard =
            wanted.into_iter().chain(more.iter().copied()).filter(|&signal| !ignored.contains(signal));
        let heard = heard.fold(Signals::none().with(Signals::CHLD), Signals::with);
        on_sent_signals(heard, move |signal, sender| match signal {
            Signals::CHLD => reap_orphans(),
            Signals::WINCH => {
                on_resize.get().into_iter().for_each(|on_resize: &ResizeCallback| (on_resize.0)());
            }
            signal if more.contains(&signal) => {
                let callback = forward_to.lock().unwrap_or_else(PoisonError::into_inner);
                callback.iter().for_each(|callback| callback(signal));
            }
            signal => match sender.filter(|_| deaf.load(Ordering::Relaxed)).filter(|pid| is_descendant(*pid))
            {
                Some(pid) => print_message(format_args!(
                    "ignored SIG{} of process {pid}, which a script has started",
                    signal_name(signal).unwrap_or_default()
                )),
                None => {
                    cancelled_by.store(signal, Ordering::Relaxed);
                    cancel.cancel();
                }
            },
        })?;
        let _ = STARTED.set(signals.clone());
        Ok(signals)
    }

    /// The signal that asked haft to end, if one did.
    pub(crate) fn cancelled_by(&self) -> Option<i32> {
        Some(self.cancelled_by.load(Ordering::Relaxed)).filter(|signal| *signal != 0)
    }

    /// Ignores requests to end that come from processes which haft has started.
    pub(crate) fn ignore_descendants(&self) {
        self.ignores_descendants.store(true, Ordering::Relaxed);
    }

    /// Says who is told of the other signals, if anybody is.
    pub(crate) fn forward_signals(&self, callback: Option<SignalCallback>) {
        *self.forward_to.lock().unwrap_or_else(PoisonError::into_inner) = callback;
    }

    /// Calls `action` whenever haft's terminal changes its size.
    pub(crate) fn on_resize(&self, action: impl Fn() + Send + Sync + 'static) {
        let _ = self.on_resize.set(ResizeCallback(Box::new(action)));
    }
}
