//! The process layer, set up for a program that owns its process.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use haft_process::{
    CancelToken, Command, Disposition, Host, HostBuilder, Signals, clean_stale, clean_stale_private,
    is_descendant, needs_guardian, on_sent_signals, reap_orphans, set_disposition, signal_name,
};

use rustix::fs::{Access, access};

use crate::failure::{Failure, tell};
use crate::surroundings::Surroundings;

/// Goes on in a child of this process where only an ancestor can end what haft leaves behind if it is killed. Without one, the
/// watcher does what it can.
pub(crate) fn enter_guarded() {
    if needs_guardian() {
        let _ = haft_process::enter_guarded();
    }
}

/// Cleans up after crashed runs and sets up a host of our own.
pub(crate) fn set_up(surroundings: &Surroundings) -> Host {
    clean_up(surroundings);
    // What is written to a process that has gone is lost, and that is all there is to it.
    let _ = set_disposition(Signals::PIPE, Disposition::Ignore);
    with_directories(surroundings).cgroups().subreaper().watcher(watcher()).build()
}

/// A host for the tools of a session: it owns what it starts, but not this process, whose children are the session's.
pub(crate) fn for_tools(surroundings: &Surroundings) -> Host {
    with_directories(surroundings).cgroups().watcher(watcher()).build()
}

/// The directories to try, in this order: below the temporary directories, since outputs may be large and those are on a
/// disk; in the user's runtime directory; and a directory with a random name below the temporary ones.
fn with_directories(surroundings: &Surroundings) -> HostBuilder {
    let bases = run_bases(surroundings).into_iter().fold(Host::builder(), HostBuilder::run_directory);
    temporary_directories(surroundings).into_iter().fold(bases, HostBuilder::private_directory)
}

/// Ends and removes what crashed runs have left. Bases with random names are looked for only where the usual one
/// belongs to another user.
fn clean_up(surroundings: &Surroundings) {
    let foreign = run_bases(surroundings).iter().any(|base| clean_stale(base).is_err());
    if foreign {
        for parent in temporary_directories(surroundings) {
            clean_stale_private(&parent);
        }
    }
}

/// The base directory of files that have to outlive this process: private to the user, on a disk rather than in memory.
pub(crate) fn run_base(surroundings: &Surroundings) -> PathBuf {
    run_bases(surroundings).into_iter().next().unwrap_or_default()
}

/// The base directories that are tried, the best one first.
pub(crate) fn run_bases(surroundings: &Surroundings) -> Vec<PathBuf> {
    let name = format!("haft-{}", rustix::process::getuid().as_raw());
    let temporary = temporary_directories(surroundings).into_iter().map(|place| place.join(&name));
    let runtime = surroundings.variable("XDG_RUNTIME_DIR").map(|place| PathBuf::from(place).join("haft"));
    temporary.chain(runtime).collect()
}

/// Directories for temporary files that can be written; if there are none, the one that was asked for.
fn temporary_directories(surroundings: &Surroundings) -> Vec<PathBuf> {
    let wanted = surroundings.variable("TMPDIR").map(PathBuf::from);
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
pub(crate) struct Listener {
    /// Cancelled when haft is asked to end: by Ctrl-C, a closed terminal, or `kill`.
    pub(crate) cancel: CancelToken,
    resized: Arc<OnceLock<Resized>>,
    passed_on: Arc<Mutex<Option<Hearer>>>,
    /// Whether the processes that haft has started may ask it to end.
    deaf_to_descendants: Arc<AtomicBool>,
}

/// Who is told of the signals that are not for haft itself.
pub(crate) type Hearer = Box<dyn Fn(i32) + Send>;

struct Resized(Box<dyn Fn() + Send + Sync>);

impl std::fmt::Debug for Resized {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Resized(…)")
    }
}

impl Listener {
    /// Starts to listen. Signals that were ignored when haft was started stay so.
    pub(crate) fn start() -> Result<Listener, Failure> {
        Listener::start_with(&[])
    }

    /// The same, which also hears signals that are [passed on](Listener::pass_on).
    pub(crate) fn start_with(more: &[i32]) -> Result<Listener, Failure> {
        static STARTED: OnceLock<Listener> = OnceLock::new();
        if let Some(listener) = STARTED.get() {
            return Ok(listener.clone());
        }
        let ignored = Signals::ignored_now();
        let listener = Listener {
            cancel: CancelToken::new(),
            resized: Arc::default(),
            passed_on: Arc::default(),
            deaf_to_descendants: Arc::default(),
        };
        let deaf = listener.deaf_to_descendants.clone();
        let (cancel, resized) = (listener.cancel.clone(), listener.resized.clone());
        let (passed_on, more) = (listener.passed_on.clone(), more.to_vec());
        let wanted =
            [Signals::INTERRUPT, Signals::HANGUP, Signals::TERMINATE, Signals::QUIT, Signals::WINDOW_CHANGE];
        // Where it is ignored, the system reaps children, and nobody learns how they ended.
        let _ = set_disposition(Signals::CHILD, Disposition::Default);
        let heard =
            wanted.into_iter().chain(more.iter().copied()).filter(|&signal| !ignored.contains(signal));
        let heard = heard.fold(Signals::none().with(Signals::CHILD), Signals::with);
        on_sent_signals(heard, move |signal, sender| match signal {
            Signals::CHILD => reap_orphans(),
            Signals::WINDOW_CHANGE => resized.get().into_iter().for_each(|resized: &Resized| (resized.0)()),
            signal if more.contains(&signal) => {
                let hearer = passed_on.lock().unwrap_or_else(PoisonError::into_inner);
                hearer.iter().for_each(|hearer| hearer(signal));
            }
            signal => match sender.filter(|_| deaf.load(Ordering::Relaxed)).filter(|pid| is_descendant(*pid))
            {
                Some(pid) => tell(format_args!(
                    "ignored SIG{} of process {pid}, which a script has started",
                    signal_name(signal).unwrap_or_default()
                )),
                None => cancel.cancel(),
            },
        })?;
        let _ = STARTED.set(listener.clone());
        Ok(listener)
    }

    /// Ignores requests to end that come from processes which haft has started.
    pub(crate) fn ignore_descendants(&self) {
        self.deaf_to_descendants.store(true, Ordering::Relaxed);
    }

    /// Says who is told of the other signals, if anybody is.
    pub(crate) fn pass_on(&self, hearer: Option<Hearer>) {
        *self.passed_on.lock().unwrap_or_else(PoisonError::into_inner) = hearer;
    }

    /// Calls `action` whenever haft's terminal changes its size.
    pub(crate) fn on_resize(&self, action: impl Fn() + Send + Sync + 'static) {
        let _ = self.resized.set(Resized(Box::new(action)));
    }
}
