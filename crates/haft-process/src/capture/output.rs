use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::BorrowedFd;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::snapshot::Snapshot;
use super::spill::{SpillDirectory, SpillFile};
use super::state::{CHECKPOINT_DISTANCE, State, count_newlines};
use super::{Error, OutputId, OutputSlice, OutputSummary, OutputView, StoredOutput};

/// How much of an output is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaptureLimits {
    /// So many bytes from the beginning stay in memory.
    pub head: usize,
    /// So many bytes from the end stay in memory.
    pub tail: usize,
    /// Of an output larger than both together, so many bytes from the beginning go to a spill file.
    pub spill: u64,
}

impl Default for CaptureLimits {
    /// 64 KiB of head and of tail, 64 MiB of spill.
    fn default() -> Self {
        Self { head: 64 << 10, tail: 64 << 10, spill: 64 << 20 }
    }
}

/// A larger buffer is not worth keeping to save a copy.
const LARGEST_BUFFER: usize = CHECKPOINT_DISTANCE as usize;

/// The store of one stream of bytes. Clones share it; the last one to go removes its spill file.
#[derive(Clone, Debug)]
pub struct Output {
    pub(super) shared: Arc<Shared>,
}

#[derive(Debug)]
pub(super) struct Shared {
    id: OutputId,
    limits: CaptureLimits,
    /// Held during a whole append. Whoever takes `state` as well takes it second.
    intake: Mutex<Intake>,
    state: Mutex<State>,
    pub(super) grown: Condvar,
    /// Whether bytes are on their way from a pipe to here, where nobody can count them.
    under_way: AtomicBool,
}

/// What becomes of the bytes that do not stay in memory.
#[derive(Debug)]
enum Intake {
    /// Everything is in memory so far; a spill file is made here when it no longer fits.
    Fitting(SpillDirectory),
    /// Everything is in the file, which has so many bytes.
    Spilling(Arc<SpillFile>, u64),
    /// The file takes no more, or there is none. It holds so many bytes.
    Closed(u64),
}

impl Output {
    /// An empty output. Without a directory for it nothing is spilled, and head and tail are all that is kept.
    pub fn new(limits: CaptureLimits, spill: Option<SpillDirectory>) -> Self {
        let intake = match spill {
            Some(directory) if limits.spill > (limits.head as u64 + limits.tail as u64) => {
                Intake::Fitting(directory)
            }
            _ => Intake::Closed(0),
        };
        Self::with(OutputId::new(), limits, intake, State::new(limits.tail))
    }

    /// The output that a file of a store holds.
    pub(super) fn restore(id: OutputId, file: File, stored: &StoredOutput) -> io::Result<Self> {
        let tail_length = usize::try_from(stored.kept_tail).unwrap_or(usize::MAX);
        let head = usize::try_from(stored.kept_head).unwrap_or(usize::MAX).min(CaptureLimits::default().head);
        let mut state = State::new(tail_length);
        let mut block = vec![0; LARGEST_BUFFER];
        while state.total < stored.kept_head {
            let left = usize::try_from(stored.kept_head - state.total).unwrap_or(usize::MAX);
            let part = &mut block[..left.min(LARGEST_BUFFER)];
            file.read_exact_at(part, state.total)?;
            let spilled = state.total + part.len() as u64;
            state.grow(part, count_newlines(part), head, spilled);
        }
        let mut tail = vec![0; tail_length];
        file.read_exact_at(&mut tail, stored.kept_head + stored.mark)?;
        state.skip(stored.missing_bytes(), stored.newlines.saturating_sub(count_newlines(&tail)));
        state.grow(&tail, count_newlines(&tail), head, stored.kept_head);
        state.finished = true;
        state.spill = Some(Arc::new(SpillFile::existing(file)));
        state.spill_failure = stored.failure.as_deref().map(Into::into);
        let limits = CaptureLimits { head, tail: tail_length, spill: stored.kept_head };
        Ok(Self::with(id, limits, Intake::Closed(stored.kept_head), state))
    }

    fn with(id: OutputId, limits: CaptureLimits, intake: Intake, state: State) -> Self {
        Self {
            shared: Arc::new(Shared {
                id,
                limits,
                intake: Mutex::new(intake),
                state: Mutex::new(state),
                grown: Condvar::new(),
                under_way: AtomicBool::new(false),
            }),
        }
    }

    /// The name of this output.
    pub fn id(&self) -> &OutputId {
        &self.shared.id
    }

    /// Adds bytes at the end.
    pub fn append(&self, bytes: &[u8]) {
        let mut intake = self.intake();
        for part in bytes.chunks(CHECKPOINT_DISTANCE as usize) {
            let spilled = self.spill(&mut intake, part);
            let newlines = count_newlines(part);
            let mut state = self.state();
            state.grow(part, newlines, self.shared.limits.head, spilled);
            self.announce(&mut state);
        }
    }

    /// Adds the first `filled` bytes of a buffer, which may come back as another one of the same length and no less
    /// capacity: the bytes of a large read need not be copied then. What the buffer holds afterwards is of no meaning.
    pub fn append_buffer(&self, buffer: &mut Vec<u8>, filled: usize) {
        let filled = filled.min(buffer.len());
        let head_is_full = self.state().head.len() == self.shared.limits.head;
        if filled == 0 || buffer.capacity() > LARGEST_BUFFER || !head_is_full {
            return self.append(&buffer[..filled]);
        }
        let mut intake = self.intake();
        let spilled = self.spill(&mut intake, &buffer[..filled]);
        let newlines = count_newlines(&buffer[..filled]);
        let mut state = self.state();
        state.grow_by_exchange(buffer, filled, newlines, spilled);
        self.announce(&mut state);
    }

    /// Says that no more bytes will come, which ends every wait for them.
    pub fn finish(&self) {
        let mut intake = self.intake();
        if let Intake::Fitting(_) = *intake {
            // Nothing will be spilled any more: the directory need not be held open.
            *intake = Intake::Closed(0);
        }
        let mut state = self.state();
        state.finished = true;
        self.announce(&mut state);
    }

    /// Whether no more bytes will come.
    pub fn is_finished(&self) -> bool {
        self.state().finished
    }

    /// All bytes of the stream so far, kept or not.
    pub fn total_bytes(&self) -> u64 {
        self.state().total
    }

    /// How many bytes were written to a pipe from which everything goes here: those that have come, and those that are still in
    /// it. `None` if whoever moves them takes too long.
    pub fn written_through(&self, pipe: BorrowedFd<'_>) -> Option<u64> {
        const TRIES: usize = 200;
        (0..TRIES).find_map(|_| {
            let before = self.total_bytes();
            let waiting = rustix::io::ioctl_fionread(pipe).ok()?;
            let is_steady = !self.shared.under_way.load(Ordering::SeqCst) && self.total_bytes() == before;
            if !is_steady {
                std::thread::yield_now();
            }
            is_steady.then_some(before + waiting)
        })
    }

    /// Says whether bytes are being moved from a pipe to here.
    pub(crate) fn set_under_way(&self, under_way: bool) {
        self.shared.under_way.store(under_way, Ordering::SeqCst);
    }

    pub(super) fn newlines(&self) -> u64 {
        self.state().newlines
    }

    /// All lines of the stream so far, kept or not; an unfinished last line counts.
    pub fn total_lines(&self) -> u64 {
        self.state().lines()
    }

    /// Whether every byte of the stream is kept.
    pub fn is_complete(&self) -> bool {
        self.state().is_complete()
    }

    /// The byte ranges of the stream that are kept: one, or two with what is lost between them; none of an empty stream.
    pub fn retained(&self) -> Vec<Range<u64>> {
        let state = self.state();
        super::snapshot::retained(state.prefix_end, state.tail_start(), state.total)
    }

    /// Why spilling was given up, if it was. Head and tail, and what had reached the file, are kept all the same.
    pub fn spill_failure(&self) -> Option<Arc<str>> {
        self.state().spill_failure.clone()
    }

    /// The file that holds the beginning of the stream, if it outgrew memory; it goes with this output.
    pub fn spill_path(&self) -> Option<PathBuf> {
        self.state().spill.as_ref().and_then(|spill| spill.path())
    }

    /// How many bytes are in a spill file, on disk or in memory.
    pub fn spilled_bytes(&self) -> u64 {
        let state = self.state();
        if state.spill.is_some() { state.prefix_end } else { 0 }
    }

    /// What the view shows of the stream so far, in at most `budget` bytes.
    ///
    /// # Errors
    /// When the spill file cannot be read back.
    pub fn slice(&self, view: &OutputView, budget: usize) -> Result<OutputSlice, Error> {
        view.slice(&self.snapshot(), budget)
    }

    /// The same in the form that goes into a result: as text, with totals.
    ///
    /// # Errors
    /// When the spill file cannot be read back.
    pub fn summary(&self, view: &OutputView, budget: usize) -> Result<OutputSummary, Error> {
        let snapshot = self.snapshot();
        let slice = view.slice(&snapshot, budget)?;
        Ok(OutputSummary::new(&slice, self.id().clone(), self.spill_failure()))
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn intake(&self) -> MutexGuard<'_, Intake> {
        self.shared.intake.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot::new(&self.state())
    }

    /// Offers the next bytes to the spill file. Returns how many bytes the file has then.
    fn spill(&self, intake: &mut Intake, part: &[u8]) -> u64 {
        if let Intake::Fitting(directory) = intake {
            let limits = self.shared.limits;
            let total = self.total_bytes() + part.len() as u64;
            if total <= limits.head as u64 + limits.tail as u64 {
                return 0;
            }
            *intake = self.begin_spill(&directory.clone());
        }
        let (file, size) = match intake {
            Intake::Spilling(file, size) => (file, size),
            Intake::Fitting(_) => return 0,
            Intake::Closed(size) => return *size,
        };
        let room = self.shared.limits.spill.saturating_sub(*size);
        let fitting = &part[..usize::try_from(room).map_or(part.len(), |room| room.min(part.len()))];
        let (written, result) = file.write(fitting, *size);
        *size += written as u64;
        let size = *size;
        if let Err(error) = &result {
            self.state().spill_failure = Some(error.to_string().into());
        }
        if result.is_err() || size == self.shared.limits.spill {
            *intake = Intake::Closed(size);
        }
        size
    }

    /// Makes the spill file and moves everything there is into it. A file that cannot even take that is dropped again:
    /// everything it would have held is still in memory.
    fn begin_spill(&self, directory: &SpillDirectory) -> Intake {
        let mut memory = Vec::new();
        {
            let state = self.state();
            memory.extend_from_slice(&state.head);
            state.tail.copy(0, state.tail.len(), &mut memory);
        }
        let created = directory.create(&self.shared.id, &memory).map(Arc::new);
        let mut state = self.state();
        match created {
            Ok(file) => {
                state.spill = Some(Arc::clone(&file));
                Intake::Spilling(file, memory.len() as u64)
            }
            Err(error) => {
                state.spill_failure = Some(error.to_string().into());
                Intake::Closed(0)
            }
        }
    }

    fn announce(&self, state: &mut State) {
        if state.waiting > 0 {
            self.shared.grown.notify_all();
        }
        if !state.bells.is_empty() {
            state.bells.retain(|bell| bell.upgrade().is_some_and(|bell| bell.ring()));
        }
    }
}
