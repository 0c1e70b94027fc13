//! Counting the bytes that the threads of a session have allocated.
//!
//! Each thread of a session points to the session's meter. The allocator adds to a number of the thread, and the thread
//! passes that on to the meter in steps, so that an allocation costs one addition and no shared memory is written.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// A thread keeps at most this many bytes to itself.
const STEP: i64 = 64 << 10;

/// The bytes that one session holds.
#[derive(Debug, Default)]
pub(super) struct Meter {
    used: AtomicI64,
    limit: AtomicI64,
    exceeded: AtomicBool,
}

/// The bytes that all sessions of this process hold, and how many they may hold.
static TOTAL: AtomicI64 = AtomicI64::new(0);
static TOTAL_LIMIT: AtomicI64 = AtomicI64::new(i64::MAX);

/// Sets how many bytes all sessions of this process may hold together.
pub(super) fn set_total_limit(bytes: i64) {
    TOTAL_LIMIT.store(bytes, Ordering::Relaxed);
}

/// Meters that no session uses. They are never freed, so the allocator can point to them.
static SPARE: Mutex<Vec<&'static Meter>> = Mutex::new(Vec::new());

thread_local! {
    static METER: Cell<Option<&'static Meter>> = const { Cell::new(None) };
    static UNREPORTED: Cell<i64> = const { Cell::new(0) };
    static PROBING: Cell<bool> = const { Cell::new(false) };
}

/// Adds bytes that this thread has allocated, or subtracts those that it has freed. Called by the allocator: it must not
/// allocate, lock or panic.
#[inline]
pub(crate) fn count(bytes: i64) {
    if let Some(meter) = METER.get() {
        let sum = UNREPORTED.get() + bytes;
        match (-STEP..STEP).contains(&sum) {
            true => UNREPORTED.set(sum),
            false => {
                UNREPORTED.set(0);
                meter.add(sum);
            }
        }
    }
}

/// Whether this thread only asks whether there is memory, and deals with a refusal.
pub(crate) fn is_probing() -> bool {
    PROBING.get()
}

/// Whether the system gives this process so many bytes at once.
pub(super) fn can_allocate(bytes: usize) -> bool {
    PROBING.set(true);
    let given = std::hint::black_box(Vec::<u8>::new()).try_reserve_exact(bytes).is_ok();
    PROBING.set(false);
    given
}

/// Whether the allocator of this process counts.
pub(super) fn is_counted() -> bool {
    static COUNTED: OnceLock<bool> = OnceLock::new();
    *COUNTED.get_or_init(|| {
        let meter = Meter::acquire();
        let scope = CountedThread::enter(Some(meter));
        let probe: Vec<u8> = std::hint::black_box(Vec::with_capacity(4 * STEP as usize));
        let counted = meter.used() > 0;
        drop(probe);
        drop(scope);
        meter.release();
        counted
    })
}

impl Meter {
    /// A meter that nothing else uses.
    pub(super) fn acquire() -> &'static Meter {
        let spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let meter = spare.unwrap_or_else(|| Box::leak(Box::default()));
        meter.set_limit(i64::MAX);
        meter
    }

    /// Gives a meter back that no thread points to any more.
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

    /// Whether so many bytes more are within the limit of the session, and of all sessions of this process.
    pub(super) fn has_room(&self, bytes: u64) -> bool {
        let fits = |used: &AtomicI64, limit: &AtomicI64| {
            used.load(Ordering::Relaxed).saturating_add_unsigned(bytes) <= limit.load(Ordering::Relaxed)
        };
        fits(&self.used, &self.limit) && fits(&TOTAL, &TOTAL_LIMIT)
    }

    /// Sets the bytes in use, where the allocator does not count them.
    pub(super) fn set_used(&self, bytes: i64) {
        self.add(bytes - self.used.load(Ordering::Relaxed));
    }

    /// The bytes in use. What was allocated before the session entered a counted thread is not among them.
    pub(super) fn used(&self) -> i64 {
        self.used.load(Ordering::Relaxed).max(0)
    }

    pub(super) fn limit(&self) -> i64 {
        self.limit.load(Ordering::Relaxed)
    }

    /// Sets the limit; nothing has exceeded it yet.
    pub(super) fn set_limit(&self, limit: i64) {
        self.limit.store(limit, Ordering::Relaxed);
        self.exceeded.store(false, Ordering::Release);
    }

    /// Has it count as exceeded.
    pub(super) fn exceed(&self) {
        self.exceeded.store(true, Ordering::Release);
    }

    /// Whether more than the limit was in use since the limit was set.
    #[inline]
    pub(super) fn is_exceeded(&self) -> bool {
        self.exceeded.load(Ordering::Acquire)
    }
}

/// This thread's allocations count for a meter, until this is dropped.
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

/// Passes on what this thread has kept to itself.
fn report() {
    let sum = UNREPORTED.take();
    if let Some(meter) = METER.get() {
        meter.add(sum);
    }
}
