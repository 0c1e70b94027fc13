//! The watcher: a second process that ends the processes of this one after it was killed.

use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{DumpableBehavior, Signal, set_dumpable_behavior};

use crate::cgroup;
use crate::child::Child;
use crate::command::{Command, ProcessGroup};
use crate::error::Error;
use crate::guardian;
use crate::host::clean_stale;
use crate::kill_retry::MAX_RETRY_INTERVAL;
use crate::permission::StartPermission;
use crate::proc::{self, ProcessEntry};
use crate::rundir::{StaleRun, paths};
use crate::scope::Scope;
use crate::scope_kill::signal_process;
use crate::signal::Signals;

/// Grace period for the processes of a dead run, which must end within a second.
const DEAD_RUN_GRACE: Duration = Duration::from_millis(300);

/// The name of the watcher in process lists. It differs from that of the program, so that `pkill` of the program does not
/// kill the watcher.
const WATCHER_NAME: &str = "tree-watcher";

/// Prefix of a message that names a process that could not be killed, by pid and start time.
const SURVIVOR_PREFIX: &str = "survivor:";

/// A running watcher and the pipe to it, which is closed when this process ends for any reason.
///
/// Messages are NUL-terminated: first the id of the run, then its run directory or an empty string, then control groups and
/// processes that could not be killed. An empty last message means that the run ended normally.
#[derive(Debug)]
pub(crate) struct Watcher {
    child: Child,
    pipe: OwnedFd,
}

impl Watcher {
    pub(crate) fn start(command: &Command, id: &str, run_directory: Option<&Path>) -> Result<Watcher, Error> {
        let failed = |error| Error::system("start the watcher", error);
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC).map_err(failed)?;
        let null =
            rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()).map_err(failed)?;
        let null = crate::command::DescriptorSource::from(null);
        let mut command = command.clone();
        command
            .argument_zero(WATCHER_NAME)
            .working_directory("/")
            .group(ProcessGroup::Session)
            .keep_tracing();
        command.descriptor(0, reader).descriptor(1, null.clone()).descriptor(2, null);
        let ignored = [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM];
        command.ignore_signals(ignored.into_iter().fold(Signals::none(), Signals::with));
        // Sent through the pipe, because an argument would show the name of the program in process lists.
        let directory = run_directory.map_or(&b""[..], |path| path.as_os_str().as_bytes());
        send(&writer, &[id.as_bytes(), directory].join(&0)).map_err(failed)?;
        // The watcher belongs to the application, so the permissions of sessions do not apply.
        let child = command.spawn(&StartPermission::all())?;
        guardian::spare([child.pid()]);
        watchers().push(child.pid());
        Ok(Watcher { child, pipe: writer })
    }

    /// Reports a control group, for the case that the run directory is gone when the watcher needs it.
    pub(crate) fn report_cgroup(&self, cgroup: &Path) {
        let _ = send(&self.pipe, cgroup.as_os_str().as_bytes());
    }

    /// Reports processes that could not be killed.
    pub(crate) fn report_survivors(&self, left: &[ProcessEntry]) {
        for entry in left {
            let _ = send(&self.pipe, format!("{SURVIVOR_PREFIX}{}:{}", entry.pid, entry.start).as_bytes());
        }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        watchers().retain(|pid| *pid != self.child.pid());
        let _ = send(&self.pipe, b"");
    }
}

/// The pids of the watchers of this process.
fn watchers() -> MutexGuard<'static, Vec<i32>> {
    static WATCHERS: Mutex<Vec<i32>> = Mutex::new(Vec::new());
    WATCHERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a process is a watcher of this process. Scripts must not signal it.
pub fn is_watcher(pid: i32) -> bool {
    watchers().contains(&pid)
}

/// Returns the pids of the watchers of this process.
pub(crate) fn pids() -> Vec<i32> {
    watchers().clone()
}

fn send(pipe: &OwnedFd, message: &[u8]) -> rustix::io::Result<usize> {
    rustix::io::write(pipe, &[message, b"\0"].concat())
}

/// Reads messages from standard input until the process that started this one ends, and then ends the processes and removes the
/// files that it left. This is the body of the process that [`HostBuilder::watcher`](crate::HostBuilder::watcher) starts.
pub fn watch() {
    let _ = rustix::thread::set_name(c"tree-watcher");
    // Prevents the processes that it may have to end from opening its pipe.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    let mut received = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        match rustix::io::read(rustix::stdio::stdin(), &mut buffer) {
            Ok(0) => break,
            Ok(count) => received.extend_from_slice(&buffer[..count]),
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => break,
        }
    }
    let mut messages = paths(&received);
    let (Some(id), Some(run_directory)) = (messages.next(), messages.next()) else { return };
    let (survivors, mut cgroups): (Vec<PathBuf>, Vec<PathBuf>) =
        messages.partition(|message| parse_survivor(message).is_some());
    let ended_normally = cgroups.pop_if(|last| last.as_os_str().is_empty()).is_some();
    clean_run_directory(&run_directory);
    // The run directory, which records the same control groups, may be missing.
    if !ended_normally {
        end_processes(&id.to_string_lossy(), cgroups);
    }
    kill_until_gone(survivors.iter().filter_map(|message| parse_survivor(message)).collect());
}

/// Ends the processes that a run directory records, and removes it.
fn clean_run_directory(run_directory: &Path) {
    // The kernel may release the owner's lock slightly after it closes the pipe.
    const LOCK_TIMEOUT: Duration = Duration::from_secs(60);
    let Some(base) = run_directory.parent() else { return };
    let end = Instant::now() + LOCK_TIMEOUT;
    while run_directory.symlink_metadata().is_ok() && Instant::now() < end {
        let _ = clean_stale(base);
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Parses the pid and start time of a process that could not be killed.
fn parse_survivor(message: &Path) -> Option<(i32, u64)> {
    let (pid, start) = message.to_str()?.strip_prefix(SURVIVOR_PREFIX)?.split_once(':')?;
    Some((pid.parse().ok()?, start.parse().ok()?))
}

/// Kills processes until they are gone.
fn kill_until_gone(mut left: Vec<(i32, u64)>) {
    loop {
        left.retain(|&(pid, start)| {
            let found = proc::entry(pid).filter(|entry| entry.start == start && !entry.zombie);
            found.into_iter().for_each(|entry| signal_process(entry, Signal::KILL));
            found.is_some()
        });
        if left.is_empty() {
            return;
        }
        std::thread::sleep(MAX_RETRY_INTERVAL);
    }
}

/// Ends all processes of a dead run.
pub(crate) fn end_run(run: &StaleRun) {
    end_processes(run.id().as_str(), run.cgroups().unwrap_or_default());
}

fn end_processes(id: &str, mut cgroups: Vec<PathBuf>) {
    cgroups.retain(|path| cgroup::is_ours(path, id));
    Scope::recovered(id, cgroups.clone()).end(DEAD_RUN_GRACE);
    cgroups.iter().for_each(|path| cgroup::remove(path));
}
