//! The memory limit of a session.
//!
//! Rust aborts the whole process when an allocation fails. Therefore a session has a [`MemoryBudget`], which is checked in two ways:
//!
//! - The [`CountingAllocator`] counts every allocation of the threads of the session. When they hold more than the limit, the next
//!   [check](crate::Session::check) ends the session. Loops and expansions check often.
//! - Before an allocation whose size depends on the script, such as a concatenation or a padded `printf`, the session reserves the
//!   memory.
//!
//! All sessions of a process together may use nine tenths of the memory of the machine.
//!
//! A library cannot choose the allocator. Without the [`CountingAllocator`] the session adds up the growth of values, and after each
//! mebibyte compares the resident memory of the process with the limit.

mod meter;

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use haft_fs::ByteSize;
use haft_process::LimitKind;
use serde::Serialize;

pub use crate::sys::CountingAllocator;
use meter::{CountedThread, Meter};
pub(crate) use meter::{count, is_probing};

/// Allocations from this size on are checked against the limit before they are made.
const MIN_CHECKED_BYTES: usize = 4 << 10;

/// Allocations from this size on are tried before they are made, because the system may refuse them.
const MIN_PROBED_BYTES: usize = 1 << 20;

/// How much of a thread's stack counts as used.
const COUNTED_STACK_BYTES: i64 = 128 << 10;

/// Without counted allocations: the growth after which the memory of the process is measured.
const SAMPLE_BYTES: u64 = 1 << 20;

/// How much more a session may use that already holds as much as its limit, for instance to unset variables.
const HEADROOM_BYTES: i64 = 1 << 20;

/// After the limit was reached, traps may use the limit divided by this in addition.
const TRAP_SHARE_DIVISOR: i64 = 8;

/// A limit relative to the memory of the machine is computed once the session uses this much.
const LIMIT_RESOLUTION_BYTES: i64 = 64 << 20;

/// The exit status of a run that reached its memory limit: that of a process that the kernel killed for lack of memory.
pub const MEMORY_STATUS: i32 = 137;

/// The exit status of a plain shell that reached its memory limit: that of bash when it runs out of memory.
pub(crate) const SHELL_MEMORY_STATUS: i32 = 2;

/// The limit that ended a run.
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
    /// The operation that needed the memory.
    pub grew: &'static str,
    /// The memory that the script and its programs would have used, in bytes.
    pub needed: u64,
    /// The part of it that the programs used.
    pub programs: u64,
    /// The limit, in bytes.
    pub limit: u64,
}

impl LimitHit {
    /// Returns the kind of the limit, as in the JSON report.
    #[must_use]
    pub fn kind(self) -> LimitKind {
        match self {
            LimitHit::Memory(_) => LimitKind::Memory,
        }
    }

    /// Returns the exit status of the run.
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
        let (needed, limit) = (ByteSize(self.needed), ByteSize(self.limit));
        write!(formatter, "memory limit reached: {} needs {needed} in all, ", self.grew)?;
        if self.programs > 0 {
            write!(formatter, "with {} of its programs, ", ByteSize(self.programs))?;
        }
        write!(formatter, "the limit is {limit}")
    }
}

/// How much memory a session may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemoryLimit {
    /// This many bytes.
    Bytes(u64),
    /// A quarter of the memory that this process can use: the minimum of the memory of the machine, the limits of its control groups, and
    /// its resource limits.
    #[default]
    Quarter,
    /// Nine tenths of that memory, for a process that runs only one shell.
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
    state: Mutex<BudgetState>,
    /// Without counted allocations: the growth since the memory of the process was measured.
    growth: AtomicU64,
}

#[derive(Debug, Default)]
struct BudgetState {
    /// How the limit was reached, if it was.
    hit: Option<MemoryHit>,
    /// Whether that was reported on standard error.
    told: bool,
    /// Whether an operation was stopped half-way because the limit was exceeded.
    stopping: bool,
    /// The highest memory use that was observed.
    most: i64,
    /// The limit, if it is not computed yet.
    deferred: Option<MemoryLimit>,
    /// Without counted allocations: the resident memory of the process when the limit was set.
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

/// Counts the allocations of this thread for a session until it is dropped.
#[derive(Debug)]
#[must_use = "allocations are counted until it is dropped"]
pub struct CountedMemory {
    /// Dropped first, because the thread must not refer to the meter after the budget is dropped.
    _thread: CountedThread,
    _budget: MemoryBudget,
}

/// Runs a function whose allocations outlive the session and therefore do not count for it.
pub(crate) fn uncounted<T>(run: impl FnOnce() -> T) -> T {
    let _scope = CountedThread::enter(None);
    run()
}

impl MemoryBudget {
    /// Counts the allocations of this thread for the session from now on.
    pub fn enter(&self) -> CountedMemory {
        CountedMemory { _thread: CountedThread::enter(Some(self.0.meter)), _budget: self.clone() }
    }

    /// Counts the stack of a thread that is about to start. The thread that starts it calls this: threads that wait for a
    /// processor hold memory too.
    pub(crate) fn count_stack() {
        count(COUNTED_STACK_BYTES);
    }

    /// Ends the counting that [`count_stack`](Self::count_stack) began.
    pub(crate) fn release_stack() {
        count(-COUNTED_STACK_BYTES);
    }

    /// Sets the limit. A session that already holds more may grow by a mebibyte.
    pub fn set_limit(&self, limit: MemoryLimit) {
        let mut state = self.state();
        if !meter::is_counted() {
            state.resident_before = haft_process::resident_memory().unwrap_or(0);
        }
        (state.hit, state.told, state.stopping, state.most) = (None, false, false, 0);
        state.deferred = (!matches!(limit, MemoryLimit::Bytes(_))).then_some(limit);
        let bytes = if state.deferred.is_some() { LIMIT_RESOLUTION_BYTES } else { limit.bytes() };
        self.0.meter.set_programs(0);
        self.0.meter.set_limit(bytes.max(self.floor()));
    }

    /// Returns the memory that the session uses, in bytes.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.0.meter.used().unsigned_abs()
    }

    /// Sets the memory that the session's programs use, in bytes. It counts towards the limit.
    pub fn set_program_memory(&self, bytes: u64) {
        self.0.meter.set_programs(i64::try_from(bytes).unwrap_or(i64::MAX));
    }

    /// Computes the limit if that was not done yet. Returns whether it was computed now.
    fn resolve_limit(&self) -> bool {
        let Some(limit) = self.state().deferred.take() else { return false };
        self.0.meter.set_limit(limit.bytes().max(self.floor()));
        true
    }

    /// Checks again after the limit was exceeded: the limit may have been provisional, and memory may have been freed. Returns whether the
    /// session may continue.
    #[cold]
    pub(crate) fn recheck(&self) -> bool {
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

    /// Returns the smallest possible limit.
    fn floor(&self) -> i64 {
        self.0.meter.used().saturating_add(HEADROOM_BYTES)
    }

    /// Returns how the limit was reached, if it was reached since it was set.
    #[must_use]
    pub fn hit(&self) -> Option<MemoryHit> {
        self.state().hit
    }

    /// Returns how the limit was reached, if that was not reported yet.
    pub(crate) fn take_unreported(&self) -> Option<MemoryHit> {
        let mut state = self.state();
        state.hit.filter(|_| !std::mem::replace(&mut state.told, true))
    }

    #[inline]
    pub(crate) fn is_exceeded(&self) -> bool {
        self.0.meter.is_exceeded()
    }

    /// Tells whether that many bytes can be allocated at once.
    #[inline]
    pub(crate) fn has_room(&self, bytes: usize) -> bool {
        bytes < MIN_CHECKED_BYTES || self.has_room_for_large(bytes)
    }

    #[inline(never)]
    fn has_room_for_large(&self, bytes: usize) -> bool {
        self.note_growth(bytes);
        let fits = || self.0.meter.has_room(bytes as u64);
        (fits() || (self.resolve_limit() && fits()))
            && (bytes < MIN_PROBED_BYTES || meter::can_allocate(bytes))
    }

    /// Records the growth of values, for a process without counted allocations.
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

    /// Records that the limit was reached. Returns whether that was the first time. With `traps`, some more memory is allowed for them.
    pub(crate) fn exceed(&self, grew: &'static str, bytes: usize, traps: bool) -> bool {
        let mut state = self.state();
        let limit = self.0.meter.limit();
        state.stopping = !traps;
        match traps {
            true => self.0.meter.set_limit(limit.saturating_add(limit / TRAP_SHARE_DIVISOR)),
            false => self.0.meter.exceed(),
        }
        if state.hit.is_some() {
            return false;
        }
        let script = self.0.meter.used().saturating_add_unsigned(bytes as u64).max(state.most) as u64;
        let programs = self.0.meter.programs() as u64;
        let needed = script.saturating_add(programs);
        state.hit = Some(MemoryHit { grew, needed, programs, limit: limit as u64 });
        true
    }

    fn state(&self) -> MutexGuard<'_, BudgetState> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
