//! Sets up the process layer and the signal handler of this process.

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

/// Continues in a child process if only an ancestor could clean up after a killed haft. If that fails, the watcher does what
/// it can.
pub(crate) fn enter_guarded() {
    if needs_guardian() {
        let _ = haft_process::enter_guarded();
    }
}

/// Cleans up after crashed runs, and sets up a host that owns this process.
pub(crate) fn set_up(process: &ProcessContext) -> Host {
    clean_up(process);
    // A write to a closed pipe fails instead of ending haft.
    let _ = set_disposition(Signals::PIPE, Disposition::Ignore);
    let host = with_directories(process).cgroups().subreaper().watcher(watcher()).build();
    host.restricted(&process.permission()).limited(process.job_limits())
}

/// A host for the tools of a session. It owns the processes that it starts, but not this process.
pub(crate) fn for_tools(process: &ProcessContext) -> Host {
    let host = with_directories(process).cgroups().watcher(watcher()).build();
    host.restricted(&process.permission()).limited(process.job_limits())
}

/// Adds the run directories to try: below the temporary directories, since outputs can be large and those are on a disk; in
/// the user's runtime directory; and with a random name below the temporary directories.
fn with_directories(process: &ProcessContext) -> HostBuilder {
    let bases = run_bases(process).into_iter().fold(Host::builder(), HostBuilder::run_directory);
    temporary_directories(process).into_iter().fold(bases, HostBuilder::private_directory)
}

/// Ends processes and removes files of crashed runs. Directories with random names are searched only if another user owns
/// the usual one.
fn clean_up(process: &ProcessContext) {
    let foreign = run_bases(process).iter().any(|base| clean_stale(base).is_err());
    if foreign {
        for parent in temporary_directories(process) {
            clean_stale_private(&parent);
        }
    }
}

/// The base directory for files that outlive this process: private to the user, on a disk.
pub(crate) fn run_base(process: &ProcessContext) -> PathBuf {
    run_bases(process).into_iter().next().unwrap_or_default()
}

/// The base directories to try, the best one first.
pub(crate) fn run_bases(process: &ProcessContext) -> Vec<PathBuf> {
    let name = format!("haft-{}", rustix::process::getuid().as_raw());
    let temporary = temporary_directories(process).into_iter().map(|place| place.join(&name));
    let runtime = process.variable("XDG_RUNTIME_DIR").map(|place| PathBuf::from(place).join("haft"));
    temporary.chain(runtime).collect()
}

/// The writable directories for temporary files; if there are none, the preferred one.
fn temporary_directories(process: &ProcessContext) -> Vec<PathBuf> {
    let wanted = process.variable("TMPDIR").map(PathBuf::from);
    let places: Vec<_> =
        wanted.into_iter().chain(["/tmp", "/var/tmp", "/dev/shm"].map(PathBuf::from)).collect();
    let writable = |place: &&PathBuf| access(*place, Access::WRITE_OK | Access::EXEC_OK).is_ok();
    let usable: Vec<_> = places.iter().filter(writable).cloned().collect();
    if usable.is_empty() { places.into_iter().take(1).collect() } else { usable }
}

/// The watcher: haft itself.
fn watcher() -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.argument("__watch");
    command
}

/// Handles the signals that haft receives. There is one handler per process.
#[derive(Clone)]
pub(crate) struct SignalHandler {
    /// Cancelled by SIGINT, SIGHUP, SIGTERM and SIGQUIT.
    pub(crate) cancel: CancelToken,
    /// The signal that cancelled it; 0 before.
    cancelled_by: Arc<AtomicI32>,
    on_resize: Arc<OnceLock<ResizeCallback>>,
    forward_to: Arc<Mutex<Option<SignalCallback>>>,
    /// Whether these signals are ignored if a descendant of haft sent them.
    ignores_descendants: Arc<AtomicBool>,
}

/// Receives forwarded signals.
pub(crate) type SignalCallback = Box<dyn Fn(i32) + Send>;

struct ResizeCallback(Box<dyn Fn() + Send + Sync>);

impl std::fmt::Debug for ResizeCallback {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("ResizeCallback(…)")
    }
}

impl SignalHandler {
    /// Starts the handler. Signals that were ignored when haft started stay ignored.
    ///
    /// # Errors
    /// If the thread for signals cannot be started.
    pub(crate) fn start() -> Result<SignalHandler, Failure> {
        SignalHandler::start_with(&[])
    }

    /// Starts the handler, which also [forwards](SignalHandler::forward_signals) these signals.
    ///
    /// # Errors
    /// If the thread for signals cannot be started.
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
        // If SIGCHLD is ignored, the kernel reaps children and their exit status is lost.
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
                    "ignored SIG{} from process {pid}, which a script started",
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

    /// Ignores cancelling signals that descendants of haft send.
    pub(crate) fn ignore_descendants(&self) {
        self.ignores_descendants.store(true, Ordering::Relaxed);
    }

    /// Sets the callback for forwarded signals.
    pub(crate) fn forward_signals(&self, callback: Option<SignalCallback>) {
        *self.forward_to.lock().unwrap_or_else(PoisonError::into_inner) = callback;
    }

    /// Calls `action` after each change of the terminal's size.
    pub(crate) fn on_resize(&self, action: impl Fn() + Send + Sync + 'static) {
        let _ = self.on_resize.set(ResizeCallback(Box::new(action)));
    }
}
