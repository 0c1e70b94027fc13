//! One iteration of the supervisor: poll, handle the events, act on what is due.

use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::capture::Output;
use crate::enforce::{LimitKind, SampleVerdict, Sampler};
use crate::job::Job;

/// Interval between checks for an empty scope, where no descriptor reports it.
const EMPTY_CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// Interval between checks for a process that reads from a terminal whose input has ended.
const INPUT_CHECK_INTERVAL: Duration = Duration::from_millis(250);

/// The meaning of a polled descriptor.
#[derive(Clone, Copy)]
pub(super) enum PollSource {
    /// The foreground has ended.
    Exit,
    /// A controller has made a request.
    Request,
    /// Input can be written.
    InputTarget,
    /// A file that is forwarded as input can be read.
    InputFile,
    /// An output can be read.
    Output(usize),
    /// The scope became empty or populated since its state was last read.
    Emptied,
    /// The job was cancelled. [`Job::act`] checks this in each iteration.
    Cancelled,
}

impl Job {
    /// Waits for events and handles them.
    pub(super) fn poll_once(&mut self) {
        if self.emptied.is_none() && self.waits_for_empty_scope() {
            self.emptied = self.shared.scope.emptied();
        }
        for source in self.wait_for_events() {
            match source {
                PollSource::Exit => self.note_end(),
                PollSource::Request => self.serve_requests(),
                PollSource::InputTarget => self.io.write_input(),
                PollSource::InputFile => self.io.read_input_file(),
                PollSource::Output(index) => self.io.read_output(index),
                PollSource::Emptied => self.acknowledge_emptied(),
                PollSource::Cancelled => {}
            }
        }
        self.act();
    }

    /// Polls all descriptors until one is ready or something is due.
    fn wait_for_events(&self) -> Vec<PollSource> {
        let mut set = Vec::with_capacity(8);
        let mut sources = Vec::with_capacity(8);
        let mut add = |descriptor, flags, source| {
            set.push(PollFd::from_borrowed_fd(descriptor, flags));
            sources.push(source);
        };
        if let (Some(descriptor), None) = (self.foreground.descriptor(), self.times.ended) {
            add(descriptor, PollFlags::IN, PollSource::Exit);
        }
        self.io.poll_sources(&mut add);
        add(self.shared.wake(), PollFlags::IN, PollSource::Request);
        if let (false, Ok(cancelled)) = (self.ladder.has_begun(), self.shared.cancel.descriptor()) {
            add(cancelled, PollFlags::IN, PollSource::Cancelled);
        }
        if let Some(emptied) = self.emptied.as_ref().filter(|_| self.waits_for_empty_scope()) {
            add(emptied.as_fd(), PollFlags::PRI, PollSource::Emptied);
        }
        let timeout = self.next_due().map(|due| timespec(due.saturating_duration_since(Instant::now())));
        if poll(&mut set, timeout.as_ref()).is_err() {
            return Vec::new();
        }
        let is_ready = |entry: &PollFd<'_>| !entry.revents().is_empty();
        set.iter().zip(sources).filter(|(entry, _)| is_ready(entry)).map(|(_, source)| source).collect()
    }

    /// Whether the job ends when the last process of its scope does.
    fn waits_for_empty_scope(&self) -> bool {
        self.ladder.has_begun() || self.foreground.is_gone()
    }

    /// When the loop must act even without an event.
    fn next_due(&self) -> Option<Instant> {
        let now = Instant::now();
        let checks_scope = self.waits_for_empty_scope() && (self.emptied.is_none() || self.is_busy());
        let scope_check = checks_scope.then_some(now + EMPTY_CHECK_INTERVAL);
        let input_check = self.lacks_input().then_some(now + INPUT_CHECK_INTERVAL);
        let deadline = self.times.deadline.filter(|_| !self.ladder.has_begun());
        let sample = self.sampler.as_ref().filter(|_| !self.ladder.has_begun()).map(Sampler::due);
        let due = [deadline, self.ladder.due(), self.io.drain_due(), scope_check, input_check, sample];
        due.into_iter().flatten().min()
    }

    /// Reads the state of the scope, so that its descriptor polls as ready only after another change.
    fn acknowledge_emptied(&self) {
        if let Some(emptied) = &self.emptied {
            let _ = rustix::io::pread(emptied, &mut [0; 128], 0);
        }
    }

    fn note_end(&mut self) {
        let now = Instant::now();
        self.times.ended = Some(now);
        self.io.note_end(now);
    }

    fn serve_requests(&mut self) {
        let requests = self.shared.take_requests();
        self.io.add_input(requests.input, requests.close_input);
    }

    /// Samples limits, starts and advances the ladder, and ends the input of a terminal, as far as each is due.
    fn act(&mut self) {
        let now = Instant::now();
        if !self.ladder.has_begun() {
            let exceeded = self.exceeds_output() || self.sample_if_due(now);
            self.begin_ladder_if_due(now, exceeded);
        }
        if self.ladder.has_begun() && !self.ladder.is_down() {
            self.advance_ladder(now);
        }
        if self.lacks_input() && self.shared.waiting_process().is_some() {
            self.write_end_of_input();
        }
    }

    fn advance_ladder(&mut self, now: Instant) {
        let due = self.ladder.due().is_some_and(|due| now >= due);
        if due {
            self.work.iter().for_each(|work| work.stop());
        }
        let working = self.is_working();
        if due || (!working && (self.times.ended.is_some() || self.foreground.is_gone())) {
            self.ladder.advance(now, working, &self.shared.scope);
            if self.ladder.is_down() {
                self.note_all_killed();
            }
        }
    }

    /// Samples all processes if that is due. Returns whether the job must end because it exceeds a limit.
    fn sample_if_due(&mut self, now: Instant) -> bool {
        let Some(sampler) = self.sampler.as_mut().filter(|sampler| now >= sampler.due()) else {
            return false;
        };
        match sampler.sample(&self.shared.scope, self.work.as_deref()) {
            SampleVerdict::Continue => false,
            SampleVerdict::End(kind) => {
                self.shared.scope.tracker().note_ended(kind);
                true
            }
        }
    }

    /// Whether the job must end because it wrote too much output.
    fn exceeds_output(&self) -> bool {
        let Some(limit) = self.shared.scope.asked_limits().output else { return false };
        let total: u64 = self.shared.captured.all().map(Output::total_bytes).sum();
        if total > limit {
            self.shared.scope.tracker().note_ended(LimitKind::Output);
        }
        total > limit
    }

    fn begin_ladder_if_due(&mut self, now: Instant, exceeded: bool) {
        let late = self.times.deadline.is_some_and(|deadline| now >= deadline) && self.times.ended.is_none();
        let cancelled = self.shared.cancel.is_cancelled();
        if late || cancelled || exceeded {
            self.end.timed_out = late;
            self.end.needed_input = late && self.shared.waiting_process().is_some();
            self.end.cancelled = cancelled && !late;
            self.work.iter().for_each(|work| work.request_end());
            if exceeded {
                // A job that exceeds a limit must not use a grace period to start more processes.
                self.ladder.begin_with_kill(now);
            } else {
                self.ladder.begin(now, self.shared.grace(), &self.shared.scope);
            }
            self.work.iter().for_each(|work| work.allow_cleanup());
        }
    }

    /// Starts the drain, because all processes were killed and the pipes hold the rest of the output.
    fn note_all_killed(&mut self) {
        if self.times.ended.is_none() {
            self.note_end();
        }
        self.io.start_drain(Instant::now());
    }

    /// Whether the job runs on a terminal whose input has ended.
    fn lacks_input(&self) -> bool {
        self.io.is_input_exhausted() && self.times.ended.is_none()
    }

    /// Writes the terminal's end-of-file character.
    fn write_end_of_input(&mut self) {
        let Some(terminal) = &self.shared.terminal else { return };
        let end = terminal.end_of_input();
        self.io.add_input([Arc::from([end].as_slice())], false);
    }
}

fn timespec(duration: Duration) -> Timespec {
    // Slightly more, so that the due time has passed when `poll` returns.
    let duration = duration + Duration::from_micros(100);
    Timespec { tv_sec: duration.as_secs() as i64, tv_nsec: i64::from(duration.subsec_nanos()) }
}
