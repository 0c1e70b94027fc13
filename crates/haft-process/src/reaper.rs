//! Reaping orphans.
//!
//! A subreaper becomes the parent of every descendant whose own parent ends, and must reap it. Children that this crate
//! started are reaped by their owners instead, so their pids are recorded in a table. There is one table per process,
//! because the kernel has one list of children per process. It is used only after [`become_subreaper`].

use std::collections::{HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockWriteGuard, TryLockError};
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::proc;
use crate::sys;

static SUBREAPER: AtomicBool = AtomicBool::new(false);
/// Whether this process had children that this crate did not start when it became a subreaper.
static HAD_CHILDREN: AtomicBool = AtomicBool::new(false);
/// Children that are reaped by their owners.
static OWNED_CHILDREN: Mutex<Option<HashSet<i32>>> = Mutex::new(None);
/// The children that were reaped last, the oldest first.
static REAPED: Mutex<VecDeque<(i32, Instant)>> = Mutex::new(VecDeque::new());
/// Maximum length of that list.
const MAX_REAPED: usize = 256;
/// How long a reaped child counts as a possible sender of a signal. Its pid may be reused later.
const REAPED_TIME: Duration = Duration::from_secs(5);
/// Whether processes must not be started any more.
static STARTS_FORBIDDEN: AtomicBool = AtomicBool::new(false);
/// Read-locked while a child is started and recorded; write-locked while orphans are determined.
static STARTING: RwLock<()> = RwLock::new(());
/// Locked while a thread waits for [`STARTING`], so that no more children are started meanwhile.
static STARTS_PAUSED: Mutex<()> = Mutex::new(());

/// Makes this process a subreaper: the parent of all descendants whose own parent ends. Children that were not started by
/// this crate are reaped by it from then on. This is a process-wide setting, for applications and not for libraries.
///
/// # Errors
/// Fails if the system call fails.
pub fn become_subreaper() -> Result<(), Error> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .map_err(|error| Error::system("become a subreaper", error))?;
    // Existing children are not orphans: this process had them before it executed this program.
    let mut owned = owned();
    if !is_subreaper() && sys::has_children() {
        let owned = owned.get_or_insert_default();
        for child in proc::own_children() {
            if owned.insert(child) {
                HAD_CHILDREN.store(true, Ordering::Release);
            }
        }
    }
    SUBREAPER.store(true, Ordering::Release);
    Ok(())
}

/// Stops being a subreaper. A program that replaces this process would inherit the setting otherwise.
pub fn resign_subreaper() {
    if SUBREAPER.swap(false, Ordering::AcqRel) {
        let _ = rustix::process::set_child_subreaper(None);
    }
}

/// Whether this process is a subreaper.
pub(crate) fn is_subreaper() -> bool {
    SUBREAPER.load(Ordering::Acquire)
}

/// Whether orphans may descend from children that this process had before it became a subreaper.
pub(crate) fn had_children() -> bool {
    HAD_CHILDREN.load(Ordering::Acquire)
}

/// Prevents all threads from starting processes. A thread that tries blocks until this process ends.
pub(crate) fn forbid_starts() {
    STARTS_FORBIDDEN.store(true, Ordering::SeqCst);
    drop(await_starts());
}

/// Waits until no child is being started, and prevents starts until the result is dropped.
///
/// A child that was stopped before it executes its program would block the thread that starts it, so it is continued.
fn await_starts() -> RwLockWriteGuard<'static, ()> {
    const INTERVAL: Duration = Duration::from_micros(500);
    let _paused = STARTS_PAUSED.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        match STARTING.try_write() {
            Ok(guard) => return guard,
            Err(TryLockError::Poisoned(error)) => return error.into_inner(),
            Err(TryLockError::WouldBlock) => std::thread::sleep(INTERVAL),
        }
        let entries = proc::own_children().into_iter().filter(|pid| is_orphan(*pid)).filter_map(proc::entry);
        for child in entries.filter(proc::shares_memory) {
            let _ = sys::kill(child.pid, libc::SIGCONT);
        }
    }
}

fn block_forever() -> ! {
    loop {
        std::thread::park();
    }
}

/// Starts a child and records it as owned, so that it is never taken for an orphan.
pub(crate) fn register_child<E>(spawn: impl FnOnce() -> Result<sys::Spawned, E>) -> Result<sys::Spawned, E> {
    if !is_subreaper() {
        return spawn();
    }
    drop(STARTS_PAUSED.lock().unwrap_or_else(PoisonError::into_inner));
    let starting = STARTING.read().unwrap_or_else(PoisonError::into_inner);
    if STARTS_FORBIDDEN.load(Ordering::SeqCst) {
        drop(starting);
        block_forever();
    }
    let spawned = spawn()?;
    owned().get_or_insert_default().insert(spawned.pid);
    Ok(spawned)
}

fn owned() -> MutexGuard<'static, Option<HashSet<i32>>> {
    OWNED_CHILDREN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes a child that its owner reaped or detached.
pub(crate) fn release(pid: i32) {
    if !is_subreaper() {
        return;
    }
    note_reaped(pid);
    if let Some(owned) = owned().as_mut() {
        owned.remove(&pid);
    }
}

fn note_reaped(pid: i32) {
    let mut reaped = reaped();
    if reaped.len() == MAX_REAPED {
        reaped.pop_front();
    }
    reaped.push_back((pid, Instant::now()));
}

fn reaped() -> MutexGuard<'static, VecDeque<(i32, Instant)>> {
    REAPED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a process is a descendant of this process, or was its child and has just been reaped. The sender of a signal may
/// have ended before the signal is handled.
#[must_use]
pub fn is_descendant(pid: i32) -> bool {
    // An owner reaps its child before it removes it from the table.
    let is_child = owned().as_ref().is_some_and(|owned| owned.contains(&pid));
    let was_child = || reaped().iter().any(|(child, at)| *child == pid && at.elapsed() < REAPED_TIME);
    is_child || proc::descends_from_self(pid) || was_child()
}

/// Returns the orphans: children that this process inherited.
pub(crate) fn orphans() -> Vec<i32> {
    if !is_subreaper() || !sys::has_children() {
        return Vec::new();
    }
    // The table stays locked, so that no child is removed meanwhile.
    let _starting = await_starts();
    let owned = owned();
    let is_owned = |pid: &i32| owned.as_ref().is_some_and(|owned| owned.contains(pid));
    proc::own_children().into_iter().filter(|pid| !is_owned(pid)).collect()
}

/// Whether a child of this process is an orphan.
pub(crate) fn is_orphan(child: i32) -> bool {
    is_subreaper() && !owned().as_ref().is_some_and(|owned| owned.contains(&child))
}

/// Reaps orphans that have ended. Has no effect unless this process is a subreaper.
pub fn reap_orphans() {
    if !is_subreaper() || !sys::has_ended_children() {
        return;
    }
    for pid in orphans() {
        if let Ok(Some(_)) = sys::wait_pid(pid, false) {
            note_reaped(pid);
        }
    }
}
