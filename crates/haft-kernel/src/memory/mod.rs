//! The memory of a session: how much it may use, and what happens when that is used up.
//!
//! Rust aborts the process when an allocation fails, and with it everything else that the process does. So a session has a
//! [`MemoryBudget`], which is checked in two ways:
//!
//! - The [`CountingAllocator`] counts every allocation of the session's threads. When they hold more than the limit, the
//!   next [check](crate::Session::check) ends the session. Loops and expansions check often.
//! - Before a single allocation whose size a script decides, such as a concatenation or a padded `printf`, the session
//!   asks whether there is room for it.
//!
//! All sessions of a process together may use nine tenths of the machine's memory, whatever each of them may use.
//!
//! A library cannot choose the allocator. In a process without the [`CountingAllocator`], the growth of values is added up
//! instead, and after each mebibyte the resident memory of the whole process is compared with the limit.

mod meter;

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use haft_process::LimitKind;
use serde::Serialize;

use crate::flow::Unwind;
use crate::session::Session;
pub use crate::sys::CountingAllocator;
use meter::{CountedThread, Meter};
pub(crate) use meter::{count, is_probing};

/// An allocation of this size is large: whether there is room for it is found out before it is made.
const LARGE: usize = 4 << 10;

/// Whether the system gives an allocation of this size is found out before it is made.
const PROBED: usize = 1 << 20;

/// The part of a thread's stack that is taken to be in use.
const STACK_BYTES: i64 = 128 << 10;

/// Where allocations are not counted: growth after which the memory of the process is looked at.
const SAMPLE_BYTES: u64 = 1 << 20;

/// A session that already holds as much as its limit may use this much more, for instance to unset variables.
const HEADROOM: i64 = 1 << 20;

/// After the limit was reached, traps may use this part of it in addition.
const TRAP_SHARE: i64 = 8;

/// A limit that is a part of the machine's memory is not worked out before the session uses this much.
const FIRST_LOOK: i64 = 64 << 20;

/// The exit status of a run that has reached its memory limit: that of a process which the system has killed for its memory.
pub const MEMORY_STATUS: i32 = 137;

/// The exit status of a plain shell that has reached its memory limit: that of bash without memory.
pub(crate) const SHELL_MEMORY_STATUS: i32 = 2;

/// A limit that has ended a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LimitHit {
    /// The memory of the script itself.
    Memory(MemoryHit),
}

/// How a script reached its memory limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct MemoryHit {
    /// What grew.
    pub grew: &'static str,
    /// The memory that the script would have used, in bytes.
    pub needed: u64,
    /// The limit, in bytes.
    pub limit: u64,
}

impl LimitHit {
    /// The limit, as in the JSON form.
    #[must_use]
    pub fn kind(self) -> LimitKind {
        match self {
            LimitHit::Memory(_) => LimitKind::Memory,
        }
    }

    /// The exit status of the run.
    #[must_use]
    pub fn code(self) -> i32 {
        match self {
            LimitHit::Memory(_) => MEMORY_STATUS,
        }
    }
}

impl fmt::Display for LimitHit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LimitHit::Memory(hit) => hit.fmt(formatter),
        }
    }
}

impl fmt::Display for MemoryHit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (needed, limit) = (Size(self.needed), Size(self.limit));
        write!(formatter, "memory limit reached: {} needs {needed} in all, the limit is {limit}", self.grew)
    }
}

/// A number of bytes for people.
struct Size(u64);

impl fmt::Display for Size {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
        match UNITS.into_iter().find(|(unit, _)| self.0 >= *unit) {
            Some((unit, name)) => write!(formatter, "{:.1} {name}", self.0 as f64 / unit as f64),
            None => write!(formatter, "{} bytes", self.0),
        }
    }
}

/// How much memory a session may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemoryLimit {
    /// This many bytes.
    Bytes(u64),
    /// A quarter of the memory that this process could use: the smallest of the machine's memory, the limits of its
    /// control groups, and its resource limits.
    #[default]
    Quarter,
    /// Nine tenths of that: for a process that is one shell and nothing else.
    Most,
}

impl MemoryLimit {
    fn bytes(self) -> i64 {
        let share = |parts: u64, of: u64| {
            static AVAILABLE: OnceLock<Option<u64>> = OnceLock::new();
            let available = AVAILABLE.get_or_init(|| uncounted(haft_process::available_memory));
            if let Some(bytes) = available {
                meter::set_total_limit(i64::try_from(bytes / 10 * 9).unwrap_or(i64::MAX));
            }
            available.map_or(u64::MAX, |bytes| bytes / of * parts)
        };
        let bytes = match self {
            MemoryLimit::Bytes(bytes) => bytes,
            MemoryLimit::Quarter => share(1, 4),
            MemoryLimit::Most => share(9, 10),
        };
        i64::try_from(bytes).unwrap_or(i64::MAX)
    }
}

/// The memory of a session and its subshells. Clones share it.
#[derive(Clone, Debug)]
pub struct MemoryBudget(Arc<Budget>);

#[derive(Debug)]
struct Budget {
    meter: &'static Meter,
    state: Mutex<State>,
    /// Where allocations are not counted: the growth since the memory of the process was looked at.
    growth: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    /// How the limit was reached, if it was.
    hit: Option<MemoryHit>,
    /// Whether that was told on standard error.
    told: bool,
    /// Whether something has stopped half-way because the limit was exceeded.
    stopping: bool,
    /// The most that was seen to be in use.
    most: i64,
    /// The limit, if it was not worked out yet.
    deferred: Option<MemoryLimit>,
    /// Where allocations are not counted: the resident memory of the process when the limit was set.
    resident_before: u64,
}

impl Drop for Budget {
    fn drop(&mut self) {
        self.meter.release();
    }
}

impl Default for MemoryBudget {
    fn default() -> Self {
        MemoryBudget(Arc::new(Budget {
            meter: Meter::acquire(),
            state: Mutex::default(),
            growth: AtomicU64::new(0),
        }))
    }
}

/// This thread's allocations count for a session, until this is dropped.
#[derive(Debug)]
#[must_use = "allocations are counted until it is dropped"]
pub struct CountedMemory {
    /// Dropped first: the meter must not be pointed to when the budget goes.
    _thread: CountedThread,
    _budget: MemoryBudget,
}

/// Runs something whose allocations outlive the session, so they do not count for it.
pub(crate) fn uncounted<T>(run: impl FnOnce() -> T) -> T {
    let _scope = CountedThread::enter(None);
    run()
}

impl MemoryBudget {
    /// From now on, what this thread allocates counts for the session.
    pub fn enter(&self) -> CountedMemory {
        CountedMemory { _thread: CountedThread::enter(Some(self.0.meter)), _budget: self.clone() }
    }

    /// The same for a thread that was started for the session: its stack counts too.
    pub(crate) fn enter_thread(&self) -> CountedMemory {
        let scope = self.enter();
        count(STACK_BYTES);
        scope
    }

    /// Ends what [`enter_thread`](Self::enter_thread) has begun.
    pub(crate) fn leave_thread(&self, scope: CountedMemory) {
        count(-STACK_BYTES);
        drop(scope);
    }

    /// Sets the limit. A session that already holds more may grow by a mebibyte.
    pub fn set_limit(&self, limit: MemoryLimit) {
        let mut state = self.state();
        if !meter::is_counted() {
            state.resident_before = haft_process::resident_memory().unwrap_or(0);
        }
        (state.hit, state.told, state.stopping, state.most) = (None, false, false, 0);
        state.deferred = (!matches!(limit, MemoryLimit::Bytes(_))).then_some(limit);
        let bytes = if state.deferred.is_some() { FIRST_LOOK } else { limit.bytes() };
        self.0.meter.set_limit(bytes.max(self.floor()));
    }

    /// Works out the limit if that was not done yet. Yields whether it was not.
    fn resolve_limit(&self) -> bool {
        let Some(limit) = self.state().deferred.take() else { return false };
        self.0.meter.set_limit(limit.bytes().max(self.floor()));
        true
    }

    /// Looks again after the limit was exceeded: the limit may be a first one, and what exceeded it may be freed. Yields
    /// whether all is well.
    #[cold]
    pub(crate) fn settle(&self) -> bool {
        if self.resolve_limit() {
            return true;
        }
        let mut state = self.state();
        state.stopping |= !self.0.meter.has_room(0);
        state.most = state.most.max(self.0.meter.used());
        if !state.stopping {
            self.0.meter.set_limit(self.0.meter.limit());
        }
        !state.stopping
    }

    /// The least that a limit may be.
    fn floor(&self) -> i64 {
        self.0.meter.used().saturating_add(HEADROOM)
    }

    /// How the limit was reached, if it was since it was set.
    #[must_use]
    pub fn hit(&self) -> Option<MemoryHit> {
        self.state().hit
    }

    /// How the limit was reached, if that was not told yet.
    fn take_untold(&self) -> Option<MemoryHit> {
        let mut state = self.state();
        state.hit.filter(|_| !std::mem::replace(&mut state.told, true))
    }

    #[inline]
    pub(crate) fn is_exceeded(&self) -> bool {
        self.0.meter.is_exceeded()
    }

    /// Whether there is room for so many bytes at once.
    #[inline]
    fn has_room(&self, bytes: usize) -> bool {
        bytes < LARGE || self.has_room_for_large(bytes)
    }

    #[inline(never)]
    fn has_room_for_large(&self, bytes: usize) -> bool {
        self.note_growth(bytes);
        let fits = || self.0.meter.has_room(bytes as u64);
        (fits() || (self.resolve_limit() && fits())) && (bytes < PROBED || meter::can_allocate(bytes))
    }

    /// Notes that values have grown, where allocations are not counted.
    #[inline]
    pub(crate) fn note_growth(&self, bytes: usize) {
        if !meter::is_counted() {
            self.sample(bytes as u64);
        }
    }

    #[inline(never)]
    fn sample(&self, bytes: u64) {
        if self.0.growth.fetch_add(bytes, Ordering::Relaxed) + bytes < SAMPLE_BYTES {
            return;
        }
        self.0.growth.store(0, Ordering::Relaxed);
        let before = self.state().resident_before;
        let used = haft_process::resident_memory().unwrap_or(0).saturating_sub(before);
        self.0.meter.set_used(i64::try_from(used).unwrap_or(i64::MAX));
    }

    /// Notes that the limit was reached. Yields whether it was for the first time. If `traps` are to run, they get some
    /// more memory.
    fn exceed(&self, grew: &'static str, bytes: usize, traps: bool) -> bool {
        let mut state = self.state();
        let limit = self.0.meter.limit();
        state.stopping = !traps;
        match traps {
            true => self.0.meter.set_limit(limit.saturating_add(limit / TRAP_SHARE)),
            false => self.0.meter.exceed(),
        }
        if state.hit.is_some() {
            return false;
        }
        let needed = self.0.meter.used().saturating_add_unsigned(bytes as u64).max(state.most) as u64;
        state.hit = Some(MemoryHit { grew, needed, limit: limit as u64 });
        true
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Session {
    /// The memory that the session and its subshells may use.
    #[must_use]
    pub fn memory(&self) -> &MemoryBudget {
        &self.memory
    }

    /// Asks for memory before something allocates so many bytes at once. If there is not so much, the session ends.
    ///
    /// # Errors
    /// When the session ends.
    #[inline]
    pub fn reserve_memory(&self, grew: &'static str, bytes: usize) -> Result<(), Unwind> {
        match self.memory.has_room(bytes) {
            true => Ok(()),
            false => Err(self.exceed_memory(grew, bytes)),
        }
    }

    /// Looks closer when the session's threads hold more than the limit.
    #[cold]
    #[inline(never)]
    pub(crate) fn check_memory(&self) -> Result<(), Unwind> {
        match self.memory.settle() {
            true => Ok(()),
            false => Err(self.exceed_memory("the script", 0)),
        }
    }

    /// Ends the run that has reached its memory limit, with all its processes; or this shell, if there is no run.
    #[cold]
    #[inline(never)]
    pub(crate) fn exceed_memory(&self, grew: &'static str, bytes: usize) -> Unwind {
        let first = self.memory.exceed(grew, bytes, self.processes.is_supervised());
        match self.processes.run() {
            Some(run) => {
                run.end_for_limit(first);
                Unwind::Cancelled
            }
            None if self.is_interactive() => Unwind::Abort(SHELL_MEMORY_STATUS),
            None => Unwind::Exit(SHELL_MEMORY_STATUS),
        }
    }

    /// Tells that the memory limit was reached, if it was and nothing has told so yet.
    pub(crate) fn tell_memory_hit(&mut self) {
        if let Some(hit) = self.memory.take_untold() {
            self.report(hit);
        }
    }
}
