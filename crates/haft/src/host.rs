//! The process layer, set up for a program that owns its process.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use haft_process::{
    CancelToken, Command, Disposition, Host, Signals, clean_stale, on_signals, reap_orphans, set_disposition,
};

use rustix::fs::{Access, access};

use crate::failure::Failure;
use crate::surroundings::Surroundings;

/// Cleans up after crashed runs and sets up a host of our own.
pub(crate) fn set_up(surroundings: &Surroundings) -> Host {
    let base = run_base(surroundings);
    let _ = clean_stale(&base);
    // What is written to a process that has gone is lost, and that is all there is to it.
    let _ = set_disposition(Signals::PIPE, Disposition::Ignore);
    Host::builder().run_directory(base).cgroups().subreaper().watcher(watcher()).build()
}

/// A host for the tools of a session: it owns what it starts, but not this process, whose children are the session's.
pub(crate) fn for_tools(surroundings: &Surroundings) -> Host {
    Host::builder().run_directory(run_base(surroundings)).cgroups().watcher(watcher()).build()
}

/// Where the directories of runs are: private to the user, on a disk rather than in memory. Without one nobody could
/// clean up after us, so another place will do where the usual one cannot be written.
pub(crate) fn run_base(surroundings: &Surroundings) -> PathBuf {
    let wanted = surroundings.variable("TMPDIR").map(PathBuf::from);
    let places = wanted.into_iter().chain(["/tmp", "/var/tmp", "/dev/shm"].map(PathBuf::from));
    let writable = |place: &PathBuf| access(place, Access::WRITE_OK | Access::EXEC_OK).is_ok();
    let place = places.clone().find(writable).or_else(|| places.clone().next()).unwrap_or_default();
    place.join(format!("haft-{}", rustix::process::getuid().as_raw()))
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
        let listener =
            Listener { cancel: CancelToken::new(), resized: Arc::default(), passed_on: Arc::default() };
        let (cancel, resized) = (listener.cancel.clone(), listener.resized.clone());
        let (passed_on, more) = (listener.passed_on.clone(), more.to_vec());
        let wanted =
            [Signals::INTERRUPT, Signals::HANGUP, Signals::TERMINATE, Signals::QUIT, Signals::WINDOW_CHANGE];
        // Where it is ignored, the system reaps children, and nobody learns how they ended.
        let _ = set_disposition(Signals::CHILD, Disposition::Default);
        let heard =
            wanted.into_iter().chain(more.iter().copied()).filter(|&signal| !ignored.contains(signal));
        let heard = heard.fold(Signals::none().with(Signals::CHILD), Signals::with);
        on_signals(heard, move |signal| match signal {
            Signals::CHILD => reap_orphans(),
            Signals::WINDOW_CHANGE => resized.get().into_iter().for_each(|resized: &Resized| (resized.0)()),
            signal if more.contains(&signal) => {
                let hearer = passed_on.lock().unwrap_or_else(PoisonError::into_inner);
                hearer.iter().for_each(|hearer| hearer(signal));
            }
            _ => cancel.cancel(),
        })?;
        let _ = STARTED.set(listener.clone());
        Ok(listener)
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
