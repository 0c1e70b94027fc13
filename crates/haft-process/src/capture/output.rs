use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::BorrowedFd;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};

use super::recording::Recorder;
use super::snapshot::OutputSnapshot;
use super::spill::{SpillDirectory, SpillFile};
use super::state::{CHECKPOINT_DISTANCE, OutputState, count_newlines};
use super::{Error, OutputId, OutputSlice, OutputSummary, OutputView, Recording, StoredOutput};
use crate::pty::TerminalSize;

/// Maximum sizes of a captured output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaptureLimits {
    /// Bytes from the beginning that are kept in memory.
    pub head: usize,
    /// Bytes from the end that are kept in memory.
    pub tail: usize,
    /// Maximum size of the spill file, which holds the beginning of an output that is larger than head and tail together.
    pub spill: u64,
}

impl Default for CaptureLimits {
    /// 64 KiB of head and of tail, 64 MiB of spill.
    fn default() -> Self {
        Self { head: 64 << 10, tail: 64 << 10, spill: 64 << 20 }
    }
}

impl CaptureLimits {
    /// Stores at most `cap` bytes of the beginning, and up to 64 KiB of the end.
    #[must_use]
    pub fn capped(cap: u64) -> CaptureLimits {
        let limits = CaptureLimits::default();
        let half = usize::try_from(cap / 2).unwrap_or(usize::MAX);
        CaptureLimits { head: limits.head.min(half), tail: limits.tail.min(half), spill: cap }
    }
}

/// Larger buffers are copied instead of exchanged.
const MAX_EXCHANGED_BYTES: usize = CHECKPOINT_DISTANCE as usize;

/// One captured stream of bytes. Clones share it. The spill file is removed with the last clone.
#[derive(Clone, Debug)]
pub struct Output {
    pub(super) shared: Arc<OutputShared>,
}

/// An output that may no longer exist.
#[derive(Clone, Debug)]
pub(crate) struct WeakOutput(Weak<OutputShared>);

impl WeakOutput {
    /// Returns the output, unless its last clone was dropped.
    pub(crate) fn upgrade(&self) -> Option<Output> {
        self.0.upgrade().map(|shared| Output { shared })
    }
}

#[derive(Debug)]
pub(super) struct OutputShared {
    id: OutputId,
    limits: CaptureLimits,
    /// Locked during a whole append, before `state`.
    intake: Mutex<Intake>,
    state: Mutex<OutputState>,
    pub(super) grown: Condvar,
    /// Whether bytes are being moved from a pipe to this output, so that neither counts them.
    read_in_progress: AtomicBool,
}

/// The storage for bytes that do not fit into memory.
#[derive(Debug)]
enum Intake {
    /// Everything fits into memory so far. A spill file is created here when it does not.
    Fitting(SpillDirectory),
    /// Everything goes to the file, which has this size.
    Spilling(Arc<SpillFile>, u64),
    /// There is no file, or it is full. It has this size.
    Closed(u64),
}

impl Output {
    /// Makes an empty output. Without a spill directory, only head and tail are kept.
    pub fn new(limits: CaptureLimits, spill: Option<SpillDirectory>) -> Self {
        let intake = match spill {
            Some(directory) if limits.spill > (limits.head as u64 + limits.tail as u64) => {
                Intake::Fitting(directory)
            }
            _ => Intake::Closed(0),
        };
        Self::with(OutputId::new(), limits, intake, OutputState::new(limits.tail))
    }

    /// Makes an output from a stored file.
    pub(super) fn restore(
        id: OutputId,
        file: File,
        stored: &StoredOutput,
        recording: Option<Recording>,
    ) -> io::Result<Self> {
        let tail_length = usize::try_from(stored.kept_tail).unwrap_or(usize::MAX);
        let head = usize::try_from(stored.kept_head).unwrap_or(usize::MAX).min(CaptureLimits::default().head);
        let mut state = OutputState::new(tail_length);
        let mut block = vec![0; MAX_EXCHANGED_BYTES];
        while state.total < stored.kept_head {
            let left = usize::try_from(stored.kept_head - state.total).unwrap_or(usize::MAX);
            let part = &mut block[..left.min(MAX_EXCHANGED_BYTES)];
            file.read_exact_at(part, state.total)?;
            let spilled = state.total + part.len() as u64;
            state.grow(part, count_newlines(part), head, spilled);
        }
        let mut tail = vec![0; tail_length];
        file.read_exact_at(&mut tail, stored.kept_head + stored.mark)?;
        state.skip(stored.missing_bytes(), stored.newlines.saturating_sub(count_newlines(&tail)));
        state.grow(&tail, count_newlines(&tail), head, stored.kept_head);
        state.finished = true;
        state.recorder = recording.map(Recorder::restore);
        state.spill = Some(Arc::new(SpillFile::existing(file)));
        state.spill_failure = stored.failure.as_deref().map(Into::into);
        let limits = CaptureLimits { head, tail: tail_length, spill: stored.kept_head };
        Ok(Self::with(id, limits, Intake::Closed(stored.kept_head), state))
    }

    fn with(id: OutputId, limits: CaptureLimits, intake: Intake, state: OutputState) -> Self {
        Self {
            shared: Arc::new(OutputShared {
                id,
                limits,
                intake: Mutex::new(intake),
                state: Mutex::new(state),
                grown: Condvar::new(),
                read_in_progress: AtomicBool::new(false),
            }),
        }
    }

    /// Records from now on when bytes arrive, for a terminal of this size.
    pub(crate) fn record(&self, size: TerminalSize) {
        self.state().recorder = Some(Recorder::new(size));
    }

    /// Records that the terminal has another size.
    pub(crate) fn note_resize(&self, size: TerminalSize) {
        if let Some(recorder) = &mut self.state().recorder {
            recorder.resize(size);
        }
    }

    /// Returns when the bytes arrived, if the output is that of a terminal.
    pub fn recording(&self) -> Option<Recording> {
        self.state().recorder.as_ref().map(Recorder::recording)
    }

    /// Returns the id of the output.
    pub fn id(&self) -> &OutputId {
        &self.shared.id
    }

    /// Returns a reference that does not keep the output.
    pub(crate) fn downgrade(&self) -> WeakOutput {
        WeakOutput(Arc::downgrade(&self.shared))
    }

    /// Appends bytes.
    pub fn append(&self, bytes: &[u8]) {
        let mut intake = self.intake();
        for part in bytes.chunks(CHECKPOINT_DISTANCE as usize) {
            let spilled = self.spill(&mut intake, part);
            let newlines = count_newlines(part);
            let mut state = self.state();
            state.grow(part, newlines, self.shared.limits.head, spilled);
            self.notify(&mut state);
        }
    }

    /// Appends the first `filled` bytes of a buffer. May exchange the buffer for another one of the same length and at least the
    /// same capacity, to avoid a copy. The contents of the buffer are unspecified afterwards.
    pub fn append_buffer(&self, buffer: &mut Vec<u8>, filled: usize) {
        let filled = filled.min(buffer.len());
        let head_is_full = self.state().head.len() == self.shared.limits.head;
        if filled == 0 || buffer.capacity() > MAX_EXCHANGED_BYTES || !head_is_full {
            return self.append(&buffer[..filled]);
        }
        let mut intake = self.intake();
        let spilled = self.spill(&mut intake, &buffer[..filled]);
        let newlines = count_newlines(&buffer[..filled]);
        let mut state = self.state();
        state.grow_by_exchange(buffer, filled, newlines, spilled);
        self.notify(&mut state);
    }

    /// Marks the output as complete, which ends every wait for more bytes.
    pub fn finish(&self) {
        let mut intake = self.intake();
        if let Intake::Fitting(_) = *intake {
            // Nothing will be spilled any more, so the directory can be closed.
            *intake = Intake::Closed(0);
        }
        let mut state = self.state();
        state.finished = true;
        self.notify(&mut state);
    }

    /// Whether the output is complete.
    pub fn is_finished(&self) -> bool {
        self.state().finished
    }

    /// Returns the number of bytes of the stream so far, kept or not.
    pub fn total_bytes(&self) -> u64 {
        self.state().total
    }

    /// Returns the number of bytes that were written to the pipe of this output: those that were read, and those still in the
    /// pipe. Returns `None` if a read stays in progress for too long.
    pub fn written_through(&self, pipe: BorrowedFd<'_>) -> Option<u64> {
        const MAX_TRIES: usize = 200;
        (0..MAX_TRIES).find_map(|_| {
            let before = self.total_bytes();
            let waiting = rustix::io::ioctl_fionread(pipe).ok()?;
            let is_steady =
                !self.shared.read_in_progress.load(Ordering::SeqCst) && self.total_bytes() == before;
            if !is_steady {
                std::thread::yield_now();
            }
            is_steady.then_some(before + waiting)
        })
    }

    /// Sets whether bytes are being moved from a pipe to this output.
    pub(crate) fn set_read_in_progress(&self, in_progress: bool) {
        self.shared.read_in_progress.store(in_progress, Ordering::SeqCst);
    }

    pub(super) fn newlines(&self) -> u64 {
        self.state().newlines
    }

    /// Returns the number of lines of the stream so far, kept or not, including an unfinished last line.
    pub fn total_lines(&self) -> u64 {
        self.state().lines()
    }

    /// Whether every byte of the stream is kept.
    pub fn is_complete(&self) -> bool {
        self.state().is_complete()
    }

    /// Returns the byte ranges that are kept: none of an empty stream, else one, or two if bytes in between are lost.
    pub fn retained(&self) -> Vec<Range<u64>> {
        let state = self.state();
        super::snapshot::retained(state.prefix_end, state.tail_start(), state.total)
    }

    /// Returns why spilling failed, if it did. Head, tail and the bytes in the file are kept.
    pub fn spill_failure(&self) -> Option<Arc<str>> {
        self.state().spill_failure.clone()
    }

    /// Returns the path of the spill file, which is removed with the output.
    pub fn spill_path(&self) -> Option<PathBuf> {
        self.state().spill.as_ref().and_then(|spill| spill.path())
    }

    /// Returns the size of the spill file, which may be a memory file.
    pub fn spilled_bytes(&self) -> u64 {
        let state = self.state();
        if state.spill.is_some() { state.prefix_end } else { 0 }
    }

    /// Returns the part of the stream that a view selects, at most `budget` bytes.
    ///
    /// # Errors
    /// Fails if the spill file cannot be read.
    pub fn slice(&self, view: &OutputView, budget: usize) -> Result<OutputSlice, Error> {
        view.slice(&self.snapshot(), budget)
    }

    /// Returns the part of the stream that a view selects as text with totals, for a result.
    ///
    /// # Errors
    /// Fails if the spill file cannot be read.
    pub fn summary(&self, view: &OutputView, budget: usize) -> Result<OutputSummary, Error> {
        let snapshot = self.snapshot();
        let slice = view.slice(&snapshot, budget)?;
        Ok(OutputSummary::new(&slice, self.id().clone(), self.spill_failure()))
    }

    pub(super) fn state(&self) -> MutexGuard<'_, OutputState> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn intake(&self) -> MutexGuard<'_, Intake> {
        self.shared.intake.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn snapshot(&self) -> OutputSnapshot {
        OutputSnapshot::new(&self.state())
    }

    /// Writes bytes to the spill file, if one is needed. Returns the size of the file.
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
        let remaining = self.shared.limits.spill.saturating_sub(*size);
        let fitting =
            &part[..usize::try_from(remaining).map_or(part.len(), |remaining| remaining.min(part.len()))];
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

    /// Creates the spill file and writes everything in memory to it. On failure, the file is removed, and its bytes are still in
    /// memory.
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

    /// Wakes all waiters.
    fn notify(&self, state: &mut OutputState) {
        if state.waiting > 0 {
            self.shared.grown.notify_all();
        }
        if !state.wakers.is_empty() {
            state.wakers.retain(|waker| waker.upgrade().is_some_and(|waker| waker.wake()));
        }
    }
}
