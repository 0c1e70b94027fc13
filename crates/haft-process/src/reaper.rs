//! Orphans that become this process's children.
//!
//! A subreaper inherits every descendant whose parent dies, and has to reap it. The kernel keeps one table of
//! children for a process, so the record of which of them were started here, and are waited for by their owners, is
//! one for the process as well. It is kept only after [`become_subreaper`].

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};

use crate::error::Error;
use crate::proc;
use crate::sys;

static SUBREAPER: AtomicBool = AtomicBool::new(false);
/// Whether this process had children that this crate did not start when it became a subreaper.
static HAD_CHILDREN: AtomicBool = AtomicBool::new(false);
static OWNED: Mutex<Option<HashSet<i32>>> = Mutex::new(None);
/// Whether no process may be started any more.
static FORBIDDEN: AtomicBool = AtomicBool::new(false);
/// Shared by those who start children, until they are on record; held alone by whoever looks for children that are not.
static STARTING: RwLock<()> = RwLock::new(());

/// Makes this process the parent of all descendants whose own parent dies. A process-wide setting: an application
/// asks for it, a library does not. From then on, children that were not started by this crate are reaped by it.
///
/// # Errors
/// If the system refuses.
pub fn become_subreaper() -> Result<(), Error> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .map_err(|error| Error::system("become the reaper of orphans", error))?;
    // Children from before are not orphans: this process had them when this program took its place.
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

/// Gives up what [`become_subreaper`] has asked for, which a program that this process becomes would otherwise inherit.
pub fn resign_subreaper() {
    if SUBREAPER.swap(false, Ordering::AcqRel) {
        let _ = rustix::process::set_child_subreaper(None);
    }
}

/// Whether [`become_subreaper`] was called.
pub(crate) fn is_subreaper() -> bool {
    SUBREAPER.load(Ordering::Acquire)
}

/// Whether orphans may descend from children that this crate did not start.
pub(crate) fn had_children() -> bool {
    HAD_CHILDREN.load(Ordering::Acquire)
}

/// Keeps all threads from starting processes from now on: one that tries waits for the end of this process.
pub(crate) fn forbid_starts() {
    FORBIDDEN.store(true, Ordering::SeqCst);
    // Those that have begun get to their end.
    drop(STARTING.write().unwrap_or_else(PoisonError::into_inner));
}

fn wait_for_the_end() -> ! {
    loop {
        std::thread::park();
    }
}

/// Runs a spawn such that its child cannot be taken for an orphan in between.
pub(crate) fn owning<E>(spawn: impl FnOnce() -> Result<sys::Spawned, E>) -> Result<sys::Spawned, E> {
    if !is_subreaper() {
        return spawn();
    }
    let starting = STARTING.read().unwrap_or_else(PoisonError::into_inner);
    if FORBIDDEN.load(Ordering::SeqCst) {
        drop(starting);
        wait_for_the_end();
    }
    let spawned = spawn()?;
    owned().get_or_insert_default().insert(spawned.pid);
    Ok(spawned)
}

fn owned() -> MutexGuard<'static, Option<HashSet<i32>>> {
    OWNED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Forgets a child that was reaped or let go by its owner.
pub(crate) fn release(pid: i32) {
    if is_subreaper()
        && let Some(owned) = owned().as_mut()
    {
        owned.remove(&pid);
    }
}

/// The children of this process that it did not start: those it has inherited.
pub(crate) fn orphans() -> Vec<i32> {
    if !is_subreaper() || !sys::has_children() {
        return Vec::new();
    }
    // Nor may one that is on record be taken off while it is looked for.
    let _starting = STARTING.write().unwrap_or_else(PoisonError::into_inner);
    let owned = owned();
    let is_owned = |pid: &i32| owned.as_ref().is_some_and(|owned| owned.contains(pid));
    proc::own_children().into_iter().filter(|pid| !is_owned(pid)).collect()
}

/// Whether a child of this process is one that it did not start.
pub(crate) fn is_orphan(child: i32) -> bool {
    is_subreaper() && !owned().as_ref().is_some_and(|owned| owned.contains(&child))
}

/// Reaps the orphans that have ended. Nothing happens in a process that is no subreaper.
pub fn reap_orphans() {
    if !is_subreaper() || !sys::has_ended_children() {
        return;
    }
    for pid in orphans() {
        let _ = sys::wait_pid(pid);
    }
}
