//! One turn of the supervisor: wait for something to happen, and deal with it.

use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::enforce::{Sampler, Verdict};
use crate::job::stream::Progress;
use crate::job::{Drain, Job};

/// How often to look whether the last process has gone, where no descriptor tells.
const LOOK: Duration = Duration::from_millis(20);

/// How often to look whether a process waits for input that will not come.
const ASK: Duration = Duration::from_millis(250);

/// What a descriptor in the poll set stands for.
#[derive(Clone, Copy)]
enum Source {
    Exit,
    Wake,
    Feed,
    Forward,
    Stream(usize),
    /// The scope became empty or populated since its state was last read.
    Emptied,
    /// Only there to wake us: what it means is looked up each turn.
    Other,
}

impl Job {
    /// Waits for something to happen, and deals with it.
    pub(super) fn turn(&mut self) {
        if self.emptied.is_none() && self.waits_for_emptiness() {
            self.emptied = self.shared.scope.emptied();
        }
        let ready = self.wait_for_events();
        for source in ready {
            match source {
                Source::Exit => self.note_end(),
                Source::Wake => self.serve_requests(),
                Source::Feed => self.feeder.iter_mut().for_each(|feeder| feeder.write()),
                Source::Forward => self.feeder.iter_mut().for_each(|feeder| feeder.read()),
                Source::Stream(index) => self.read(index),
                Source::Emptied => self.acknowledge_emptied(),
                Source::Other => {}
            }
        }
        self.decide();
    }

    /// Polls everything that matters now, until the next thing is due.
    fn wait_for_events(&self) -> Vec<Source> {
        let mut set = Vec::with_capacity(8);
        let mut sources = Vec::with_capacity(8);
        let mut add = |descriptor, flags, source| {
            set.push(PollFd::from_borrowed_fd(descriptor, flags));
            sources.push(source);
        };
        if let (Some(descriptor), None) = (self.foreground.descriptor(), self.ended) {
            add(descriptor, PollFlags::IN, Source::Exit);
        }
        for (index, stream) in self.streams.iter().enumerate() {
            if let Some(source) = stream.source() {
                add(source, PollFlags::IN, Source::Stream(index));
            }
        }
        if let Some(target) = self.feeder.as_ref().and_then(|feeder| feeder.writable()) {
            add(target, PollFlags::OUT, Source::Feed);
        }
        if let Some(source) = self.feeder.as_ref().and_then(|feeder| feeder.readable()) {
            add(source, PollFlags::IN, Source::Forward);
        }
        add(self.shared.wake(), PollFlags::IN, Source::Wake);
        if let (false, Ok(cancelled)) = (self.ladder.has_begun(), self.shared.cancel.descriptor()) {
            add(cancelled, PollFlags::IN, Source::Other);
        }
        if let Some(emptied) = self.emptied.as_ref().filter(|_| self.waits_for_emptiness()) {
            add(std::os::fd::AsFd::as_fd(emptied), PollFlags::PRI, Source::Emptied);
        }
        let timeout = self.next_due().map(|due| timespec(due.saturating_duration_since(Instant::now())));
        if poll(&mut set, timeout.as_ref()).is_err() {
            return Vec::new();
        }
        let happened = |entry: &PollFd<'_>| !entry.revents().is_empty();
        set.iter().zip(sources).filter(|(entry, _)| happened(entry)).map(|(_, source)| source).collect()
    }

    /// Whether the next thing to happen may be that the last process goes.
    fn waits_for_emptiness(&self) -> bool {
        self.ladder.has_begun() || self.foreground.is_gone()
    }

    /// When something has to be done even if nothing happens.
    fn next_due(&self) -> Option<Instant> {
        let now = Instant::now();
        let look =
            (self.waits_for_emptiness() && (self.emptied.is_none() || self.is_busy())).then_some(now + LOOK);
        let ask = self.starves().then_some(now + ASK);
        let deadline = self.deadline.filter(|_| !self.ladder.has_begun());
        let drain = self.drain.map(Drain::due);
        let sample = self.sampler.as_ref().filter(|_| !self.ladder.has_begun()).map(Sampler::due);
        [deadline, self.ladder.due(), drain, look, ask, sample].into_iter().flatten().min()
    }

    /// Reads the state of the scope, which is what makes its descriptor quiet again.
    fn acknowledge_emptied(&self) {
        if let Some(emptied) = &self.emptied {
            let _ = rustix::io::pread(emptied, &mut [0; 128], 0);
        }
    }

    fn note_end(&mut self) {
        let now = Instant::now();
        self.ended = Some(now);
        self.drain = Some(Drain::from(now));
        self.slave = None;
        if let Some(feeder) = &mut self.feeder {
            feeder.close();
        }
    }

    fn serve_requests(&mut self) {
        let requests = self.shared.take_requests();
        let Some(feeder) = &mut self.feeder else { return };
        requests.input.into_iter().for_each(|bytes| feeder.push(bytes));
        if requests.close_input {
            feeder.finish();
        }
        feeder.write();
    }

    fn read(&mut self, index: usize) {
        let progress = self.streams[index].read(&mut self.buffer, self.on_output.as_mut());
        if let (Progress::Bytes, Some(drain)) = (progress, &mut self.drain) {
            drain.quiet = Instant::now() + Drain::QUIET;
        }
    }

    /// Takes the decisions that time and others' wishes ask for.
    fn decide(&mut self) {
        let now = Instant::now();
        if !self.ladder.has_begun() {
            let exceeded = self.sample_if_due(now);
            self.begin_ladder_if_due(now, exceeded);
        }
        if self.ladder.has_begun() && !self.ladder.is_down() {
            self.advance_ladder(now);
        }
        if self.starves() && self.shared.waiting_process().is_some() {
            self.tell_end_of_input();
        }
    }

    fn advance_ladder(&mut self, now: Instant) {
        let due = self.ladder.due().is_some_and(|due| now >= due);
        if due {
            self.work.iter().for_each(|work| work.stop());
        }
        let working = self.is_working();
        if due || (!working && (self.ended.is_some() || self.foreground.is_gone())) {
            self.ladder.advance(now, working, &self.shared.scope);
            if self.ladder.is_down() {
                self.note_end_of_killed();
            }
        }
    }

    /// Enforces limits by a look at all processes; says whether the run has to end for one.
    fn sample_if_due(&mut self, now: Instant) -> bool {
        let Some(sampler) = self.sampler.as_mut().filter(|sampler| now >= sampler.due()) else {
            return false;
        };
        match sampler.sample(&self.shared.scope) {
            Verdict::Continue => false,
            Verdict::End(kind) => {
                self.shared.scope.tracker().note_ended(kind);
                true
            }
        }
    }

    fn begin_ladder_if_due(&mut self, now: Instant, exceeded: bool) {
        let late = self.deadline.is_some_and(|deadline| now >= deadline) && self.ended.is_none();
        let cancelled = self.shared.cancel.is_cancelled();
        if late || cancelled || exceeded {
            self.timed_out = late;
            self.needed_input = late && self.shared.waiting_process().is_some();
            self.cancelled = cancelled && !late;
            self.work.iter().for_each(|work| work.request_end());
            // One that starts processes faster than they can be killed gets no time to start more.
            let grace = if exceeded { Duration::ZERO } else { self.shared.grace() };
            self.ladder.begin(now, grace, &self.shared.scope);
            self.work.iter().for_each(|work| work.allow_cleanup());
        }
    }

    /// Everybody is dead, so what the pipes still hold is all there will be.
    fn note_end_of_killed(&mut self) {
        if self.ended.is_none() {
            self.note_end();
        }
        self.drain = Some(Drain::from(Instant::now()));
    }

    /// Whether the job is on a terminal on which nobody will ever type.
    fn starves(&self) -> bool {
        self.feeder.as_ref().is_some_and(|feeder| feeder.is_exhausted()) && self.ended.is_none()
    }

    fn tell_end_of_input(&mut self) {
        let Some(terminal) = &self.shared.terminal else { return };
        let end = terminal.end_of_input();
        if let Some(feeder) = &mut self.feeder {
            feeder.push([end].as_slice().into());
            feeder.write();
        }
    }
}

fn timespec(duration: Duration) -> Timespec {
    // A moment more rather than less, so that what is due is due when the poll returns.
    let duration = duration + Duration::from_micros(100);
    Timespec { tv_sec: duration.as_secs() as i64, tv_nsec: i64::from(duration.subsec_nanos()) }
}
