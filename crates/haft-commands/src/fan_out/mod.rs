//! Running a fan-out: items from an input, branches on threads, results to an output.
//!
//! One loop reads items, starts branches, takes their results and writes them. What to do next is decided by the
//! [`Schedule`], which knows nothing of threads or files; in which order results are shown, by the [`ReorderBuffer`].

mod item_result;
mod items;
mod job_log;
mod progress;
mod reorder_buffer;
mod schedule;
mod workers;

use std::os::fd::BorrowedFd;
use std::time::Duration;

use haft_kernel::builtins::Context;
use haft_kernel::io::Ready;
use haft_kernel::{Bytes, FanOut, Flow, Unwind};

use item_result::ItemResult;
use items::ItemReader;
use job_log::JobLog;
use progress::ProgressLine;
use reorder_buffer::ReorderBuffer;
use schedule::{ItemAttempt, Schedule};
use workers::Workers;

/// The status of a fan-out of which an item failed.
const FAILED: i32 = 123;

/// What the two commands ask for.
#[derive(Clone, Debug)]
pub(crate) struct FanOutSettings {
    pub(crate) variable: Bytes,
    pub(crate) limit: usize,
    pub(crate) retries: u64,
    pub(crate) halt: Option<Halt>,
    pub(crate) separator: u8,
    pub(crate) ordered: bool,
    pub(crate) text: bool,
    pub(crate) joblog: Option<Bytes>,
}

/// After how many failures to stop, and whether at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Halt {
    pub(crate) failures: u64,
    pub(crate) now: bool,
}

/// A fan-out that runs.
struct FanOutRun<'a> {
    fan: &'a FanOut<'a>,
    settings: &'a FanOutSettings,
    items: ItemReader,
    schedule: Schedule<Bytes>,
    workers: Workers,
    order: ReorderBuffer<ItemResult>,
    joblog: Option<JobLog>,
    progress: Option<ProgressLine>,
}

/// Runs a fan-out to its end.
pub(crate) fn run(context: &mut Context<'_>, fan: &FanOut<'_>, settings: &FanOutSettings) -> Flow {
    let joblog = match &settings.joblog {
        Some(path) => match JobLog::open(context.session, path) {
            Ok(joblog) => Some(joblog),
            Err(error) => {
                context.error(format_args!("cannot write '{path}': {}", haft_fs::message(&error)));
                return Ok(1);
            }
        },
        None => None,
    };
    let workers = match Workers::new(settings.limit) {
        Ok(workers) => workers,
        Err(error) => {
            context.error(format_args!("cannot start: {}", haft_fs::message(&error)));
            return Ok(1);
        }
    };
    let mut run = FanOutRun {
        fan,
        settings,
        items: ItemReader::new(fan.input.clone(), settings.separator),
        schedule: Schedule::new(settings.limit, settings.retries, settings.halt),
        workers,
        order: ReorderBuffer::new(settings.ordered),
        joblog,
        progress: ProgressLine::on(context),
    };
    let result = run.drive(context);
    // Whatever still runs, because this was cancelled or nobody reads any longer, ends before this does.
    run.workers.end();
    if let Some(progress) = &mut run.progress {
        progress.clear(context);
    }
    result?;
    run.conclude(context)
}

impl FanOutRun<'_> {
    fn drive(&mut self, context: &mut Context<'_>) -> Result<(), Unwind> {
        loop {
            while let Some(attempt) = self.schedule.next() {
                self.start(context, attempt)?;
            }
            if self.schedule.is_over() {
                return Ok(());
            }
            let _ = context.session.flush();
            let readable = self.wait(context)?;
            for (attempt, finished) in self.workers.take() {
                self.finished(context, attempt, finished)?;
            }
            if readable {
                self.read(context)?;
            }
            if let Some(progress) = &mut self.progress {
                progress.show(context, &self.schedule.counts());
            }
        }
    }

    /// Waits for an item or a result. Yields whether items can be read.
    fn wait(&self, context: &mut Context<'_>) -> Result<bool, Unwind> {
        const TICK: Duration = Duration::from_millis(200);
        let wants = self.schedule.wants_item(self.order.held());
        let input: Option<BorrowedFd<'_>> = self.items.descriptor().filter(|_| wants);
        if wants && input.is_none() {
            return Ok(true);
        }
        let mut descriptors: Vec<BorrowedFd<'_>> = input.into_iter().collect();
        descriptors.push(self.workers.event());
        let tick = self.progress.is_some().then_some(TICK);
        let ready = context.session.wait_at_most(&descriptors, tick)?;
        Ok(input.is_some() && ready == Ready::Descriptor(0))
    }

    fn read(&mut self, context: &mut Context<'_>) -> Result<(), Unwind> {
        let ended = match self.items.fill(context.session.cancel_token()) {
            Ok(ended) => ended,
            Err(error) => {
                context.check()?;
                context.error(format_args!("cannot read: {}", haft_fs::message(&error)));
                true
            }
        };
        while let Some(item) = self.items.next() {
            self.schedule.offer(item);
        }
        if ended {
            self.schedule.end_input();
        }
        Ok(())
    }

    fn start(&mut self, context: &mut Context<'_>, attempt: ItemAttempt<Bytes>) -> Result<(), Unwind> {
        let branch = self.fan.branch(&self.settings.variable, &attempt.item);
        let started = branch.and_then(|branch| self.workers.start(attempt.clone(), branch));
        match started {
            Ok(()) => Ok(()),
            Err(error) => self.finished(context, attempt, ItemResult::not_started(&error)),
        }
    }

    fn finished(
        &mut self,
        context: &mut Context<'_>,
        attempt: ItemAttempt<Bytes>,
        finished: ItemResult,
    ) -> Result<(), Unwind> {
        if let Some(joblog) = &mut self.joblog {
            joblog.note(&self.settings.variable, &attempt, &finished, &self.fan.text());
        }
        if finished.interrupted {
            context.session.interrupt()?;
        }
        let index = attempt.index;
        let item = attempt.item.clone();
        let attempts = attempt.number;
        let again = self.schedule.finished(attempt, finished.status == 0);
        if self.schedule.stops_now() {
            self.workers.cancel();
        }
        if again {
            return Ok(());
        }
        let ready = self.order.put(index, finished.of(item, attempts));
        for finished in ready {
            self.show(context, &finished)?;
        }
        Ok(())
    }

    fn show(&mut self, context: &mut Context<'_>, finished: &ItemResult) -> Result<(), Unwind> {
        if let Some(progress) = &mut self.progress {
            progress.clear(context);
        }
        if !self.settings.text {
            return context.print(&finished.record()).map(drop);
        }
        if !finished.stderr.is_empty() {
            let _ = context.session.write(2, &finished.stderr);
        }
        context.print(&finished.stdout).map(drop)
    }

    /// Shows what waits for items that will never come, and says how it went.
    fn conclude(mut self, context: &mut Context<'_>) -> Flow {
        for finished in self.order.rest() {
            self.show(context, &finished)?;
        }
        let counts = self.schedule.counts();
        if self.schedule.has_halted() {
            context.error(format_args!(
                "stopped after {} failed; items that had not begun were left out",
                counts.failed
            ));
        }
        if let Some(error) = self.joblog.as_ref().and_then(JobLog::failure) {
            context.error(format_args!("cannot write the job log: {error}"));
        }
        let _ = context.session.flush();
        Ok(if counts.failed > 0 { FAILED } else { 0 })
    }
}
