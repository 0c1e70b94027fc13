//! A second process that outlives this one by a moment, and ends what it has left behind.

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
use crate::permission::StartPermission;
use crate::proc::{self, Entry};
use crate::pursuit::LONGEST_PAUSE;
use crate::rundir::{StaleRun, paths};
use crate::scope::Scope;
use crate::signal::Signals;
use crate::sweep::signal_process;

/// How long the processes of a dead run are given to end by themselves. A killed run shall be gone within a second.
const GRACE: Duration = Duration::from_millis(300);

/// The name of the watcher in process lists. It does not hold the name of the program it watches, so that somebody
/// who kills that by name does not kill the watcher with it.
const NAME: &str = "tree-watcher";

/// Prefix of a process that could not be killed, given by pid and start time, on the line to the watcher.
const SURVIVOR: &str = "survivor:";

/// The line to the watcher: it breaks when this process ends, however that comes about. What is told through it ends with a
/// zero byte: first the name of the run, then the run directory or nothing, then control groups and processes that could not be
/// killed, and nothing as the last word of a run that ends in order.
#[derive(Debug)]
pub(crate) struct Watcher {
    child: Child,
    line: OwnedFd,
}

impl Watcher {
    pub(crate) fn start(command: &Command, id: &str, run_directory: Option<&Path>) -> Result<Watcher, Error> {
        let failed = |error| Error::system("start the watcher", error);
        let (far, near) = pipe_with(PipeFlags::CLOEXEC).map_err(failed)?;
        let null =
            rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()).map_err(failed)?;
        let null = crate::command::DescriptorSource::from(null);
        let mut command = command.clone();
        command.argument_zero(NAME).working_directory("/").group(ProcessGroup::Session).keep_tracing();
        command.descriptor(0, far).descriptor(1, null.clone()).descriptor(2, null);
        let deaf = [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM];
        command.ignore_signals(deaf.into_iter().fold(Signals::none(), Signals::with));
        // Told through the line rather than by an argument, where it would show the name of the program again.
        let directory = run_directory.map_or(&b""[..], |path| path.as_os_str().as_bytes());
        tell(&near, &[id.as_bytes(), directory].join(&0)).map_err(failed)?;
        // The watcher belongs to the application, so no permission of a session applies.
        let child = command.spawn(&StartPermission::all())?;
        guardian::spare([child.pid()]);
        watchers().push(child.pid());
        Ok(Watcher { child, line: near })
    }

    /// Tells of a control group, so that it is known even if the run directory is gone when it matters.
    pub(crate) fn note_cgroup(&self, cgroup: &Path) {
        let _ = tell(&self.line, cgroup.as_os_str().as_bytes());
    }

    /// Tells of processes that could not be killed.
    pub(crate) fn note_survivors(&self, left: &[Entry]) {
        for entry in left {
            let _ = tell(&self.line, format!("{SURVIVOR}{}:{}", entry.pid, entry.start).as_bytes());
        }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        watchers().retain(|pid| *pid != self.child.pid());
        let _ = tell(&self.line, b"");
    }
}

/// The process numbers of the watchers of this process.
fn watchers() -> MutexGuard<'static, Vec<i32>> {
    static WATCHERS: Mutex<Vec<i32>> = Mutex::new(Vec::new());
    WATCHERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a process is a watcher of this process: scripts must not signal it.
pub fn is_watcher(pid: i32) -> bool {
    watchers().contains(&pid)
}

/// The watchers that this process has.
pub(crate) fn pids() -> Vec<i32> {
    watchers().clone()
}

fn tell(line: &OwnedFd, words: &[u8]) -> rustix::io::Result<usize> {
    rustix::io::write(line, &[words, b"\0"].concat())
}

/// Listens until standard input ends, which is when the process that started this one has gone; and then ends what its run has
/// left, if it has left anything. The body of the process that [`HostBuilder::watcher`](crate::HostBuilder::watcher) starts.
pub fn watch() {
    let _ = rustix::thread::set_name(c"tree-watcher");
    // No process that it may have to end shall get at the line to it.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    let mut told = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        match rustix::io::read(rustix::stdio::stdin(), &mut buffer) {
            Ok(0) => break,
            Ok(count) => told.extend_from_slice(&buffer[..count]),
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => break,
        }
    }
    let mut told = paths(&told);
    let (Some(id), Some(run_directory)) = (told.next(), told.next()) else { return };
    let (survivors, mut cgroups): (Vec<PathBuf>, Vec<PathBuf>) =
        told.partition(|told| survivor(told).is_some());
    let in_order = cgroups.pop_if(|last| last.as_os_str().is_empty()).is_some();
    clean_run_directory(&run_directory);
    // The directory may be missing or removed, and its notes with it.
    if !in_order {
        end_processes(&id.to_string_lossy(), cgroups);
    }
    pursue(survivors.iter().filter_map(|told| survivor(told)).collect());
}

/// Ends what the notes of a run directory name, and removes it.
fn clean_run_directory(run_directory: &Path) {
    let Some(base) = run_directory.parent() else { return };
    // The owner's lock goes with its last descriptor, which may be a moment after the pipe.
    let end = Instant::now() + Duration::from_secs(5);
    while run_directory.symlink_metadata().is_ok() && Instant::now() < end {
        let _ = clean_stale(base);
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Parses the pid and start time of a process that could not be killed.
fn survivor(told: &Path) -> Option<(i32, u64)> {
    let (pid, start) = told.to_str()?.strip_prefix(SURVIVOR)?.split_once(':')?;
    Some((pid.parse().ok()?, start.parse().ok()?))
}

/// Kills processes until they are gone.
fn pursue(mut left: Vec<(i32, u64)>) {
    loop {
        left.retain(|&(pid, start)| {
            let found = proc::entry(pid).filter(|entry| entry.start == start && !entry.zombie);
            found.into_iter().for_each(|entry| signal_process(entry, Signal::KILL));
            found.is_some()
        });
        if left.is_empty() {
            return;
        }
        std::thread::sleep(LONGEST_PAUSE);
    }
}

/// Ends all processes of a dead run.
pub(crate) fn end_run(run: &StaleRun) {
    end_processes(run.id().as_str(), run.cgroups().unwrap_or_default());
}

fn end_processes(id: &str, mut cgroups: Vec<PathBuf>) {
    cgroups.retain(|path| cgroup::is_ours(path, id));
    Scope::recovered(id, cgroups.clone()).end(GRACE);
    cgroups.iter().for_each(|path| cgroup::remove(path));
}
