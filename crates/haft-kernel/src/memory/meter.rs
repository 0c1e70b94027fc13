//! The number of bytes that the threads of a session have allocated.
//!
//! Each thread of a session refers to the meter of the session. The allocator adds to a thread-local counter, which is passed on to the
//! meter in steps, so that an allocation costs one addition without a write to shared memory.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// A thread passes its counter on when it reaches this many bytes.
const REPORT_STEP_BYTES: i64 = 64 << 10;

/// The memory use of one session.
#[derive(Debug, Default)]
pub(super) struct Meter {
    used: AtomicI64,
    /// The memory of the session's programs, which counts towards the same limit.
    programs: AtomicI64,
    limit: AtomicI64,
    exceeded: AtomicBool,
}

/// The memory use of all sessions of this process, and its limit.
static TOTAL: AtomicI64 = AtomicI64::new(0);
static TOTAL_LIMIT: AtomicI64 = AtomicI64::new(i64::MAX);

/// Sets the memory limit of all sessions of this process together.
pub(super) fn set_total_limit(bytes: i64) {
    TOTAL_LIMIT.store(bytes, Ordering::Relaxed);
}

/// Unused meters. They are never freed, so that the allocator can refer to them.
static SPARE: Mutex<Vec<&'static Meter>> = Mutex::new(Vec::new());

thread_local! {
    static METER: Cell<Option<&'static Meter>> = const { Cell::new(None) };
    static UNREPORTED: Cell<i64> = const { Cell::new(0) };
    static PROBING: Cell<bool> = const { Cell::new(false) };
}

/// Adds the bytes that this thread allocated, or subtracts those it freed. The allocator calls this, so it must not allocate, lock or
/// panic.
#[inline]
pub(crate) fn count(bytes: i64) {
    if let Some(meter) = METER.get() {
        let sum = UNREPORTED.get() + bytes;
        match (-REPORT_STEP_BYTES..REPORT_STEP_BYTES).contains(&sum) {
            true => UNREPORTED.set(sum),
            false => {
                UNREPORTED.set(0);
                meter.add(sum);
            }
        }
    }
}

/// Tells whether this thread probes for memory and handles a failed allocation.
pub(crate) fn is_probing() -> bool {
    PROBING.get()
}

/// Tells whether the system can allocate that many bytes at once.
pub(super) fn can_allocate(bytes: usize) -> bool {
    PROBING.set(true);
    let given = std::hint::black_box(Vec::<u8>::new()).try_reserve_exact(bytes).is_ok();
    PROBING.set(false);
    given
}

/// Tells whether the allocator of this process counts allocations.
pub(super) fn is_counted() -> bool {
    static COUNTED: OnceLock<bool> = OnceLock::new();
    *COUNTED.get_or_init(|| {
        let meter = Meter::acquire();
        let scope = CountedThread::enter(Some(meter));
        let probe: Vec<u8> = std::hint::black_box(Vec::with_capacity(4 * REPORT_STEP_BYTES as usize));
        let counted = meter.used() > 0;
        drop(probe);
        drop(scope);
        meter.release();
        counted
    })
}

impl Meter {
    /// Returns an unused meter.
    pub(super) fn acquire() -> &'static Meter {
        let spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let meter = spare.unwrap_or_else(|| Box::leak(Box::default()));
        meter.set_limit(i64::MAX);
        meter.set_programs(0);
        meter
    }

    /// Gives back a meter that no thread refers to any more.
    pub(super) fn release(&'static self) {
        TOTAL.fetch_sub(self.used.swap(0, Ordering::Relaxed), Ordering::Relaxed);
        SPARE.lock().unwrap_or_else(PoisonError::into_inner).push(self);
    }

    fn add(&self, bytes: i64) {
        self.used.fetch_add(bytes, Ordering::Relaxed);
        TOTAL.fetch_add(bytes, Ordering::Relaxed);
        if bytes > 0 && !self.has_room(0) {
            self.exceed();
        }
    }

    /// Tells whether that many more bytes are within the limits of the session and of all sessions of this process.
    pub(super) fn has_room(&self, bytes: u64) -> bool {
        let fits = |used: i64, limit: &AtomicI64| {
            used.saturating_add_unsigned(bytes) <= limit.load(Ordering::Relaxed)
        };
        let session = self.used.load(Ordering::Relaxed).saturating_add(self.programs());
        fits(session, &self.limit) && fits(TOTAL.load(Ordering::Relaxed), &TOTAL_LIMIT)
    }

    /// Sets the memory use, for a process without counted allocations.
    pub(super) fn set_used(&self, bytes: i64) {
        self.add(bytes - self.used.load(Ordering::Relaxed));
    }

    /// Returns the memory use, without allocations before the session entered a counted thread.
    pub(super) fn used(&self) -> i64 {
        self.used.load(Ordering::Relaxed).max(0)
    }

    /// Returns the memory of the session's programs.
    pub(super) fn programs(&self) -> i64 {
        self.programs.load(Ordering::Relaxed)
    }

    /// Sets the memory of the session's programs.
    pub(super) fn set_programs(&self, bytes: i64) {
        self.programs.store(bytes, Ordering::Relaxed);
        if bytes > 0 && !self.has_room(0) {
            self.exceed();
        }
    }

    pub(super) fn limit(&self) -> i64 {
        self.limit.load(Ordering::Relaxed)
    }

    /// Sets the limit, and clears the mark that it was exceeded.
    pub(super) fn set_limit(&self, limit: i64) {
        self.limit.store(limit, Ordering::Relaxed);
        self.exceeded.store(false, Ordering::Release);
    }

    /// Marks the limit as exceeded.
    pub(super) fn exceed(&self) {
        self.exceeded.store(true, Ordering::Release);
    }

    /// Tells whether the memory use exceeded the limit since it was set.
    #[inline]
    pub(super) fn is_exceeded(&self) -> bool {
        self.exceeded.load(Ordering::Acquire)
    }
}

/// Counts the allocations of this thread for a meter until it is dropped.
#[derive(Debug)]
pub(super) struct CountedThread {
    before: Option<&'static Meter>,
}

impl CountedThread {
    pub(super) fn enter(meter: Option<&'static Meter>) -> CountedThread {
        report();
        CountedThread { before: METER.replace(meter) }
    }
}

impl Drop for CountedThread {
    fn drop(&mut self) {
        report();
        METER.set(self.before);
    }
}

/// Passes the counter of this thread on to its meter.
fn report() {
    let sum = UNREPORTED.take();
    if let Some(meter) = METER.get() {
        meter.add(sum);
    }
}
