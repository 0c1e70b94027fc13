//! Runs a fan-out: reads items, runs the stages once per item on worker threads, and prints the results.
//!
//! One loop reads items, starts branches, collects their results and prints them. [`Schedule`] decides what to start, without
//! knowing threads or files. [`ReorderBuffer`] decides the order of the output.

mod deadlines;
mod item_result;
mod items;
mod job_log;
mod progress;
mod recorded_data;
mod reorder_buffer;
mod schedule;
mod workers;

use std::os::fd::BorrowedFd;
use std::time::Duration;

use haft_kernel::builtins::Context;
use haft_kernel::io::Ready;
use haft_kernel::{Bytes, FanOut, Flow, Unwind};

use crate::halt::Halt;
use crate::status::ITEM_FAILED;
use deadlines::Deadlines;
use item_result::ItemResult;
use items::ItemReader;
use job_log::JobLog;
use progress::ProgressLine;
use recorded_data::RecordedData;
use reorder_buffer::ReorderBuffer;
use schedule::{ItemAttempt, Schedule};
use workers::Workers;

/// The exit status if the fan-out cannot start.
const CANNOT_START: i32 = 1;
/// How often the progress line is updated while nothing happens.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);

/// The arguments of `scatter` and `gather`.
#[derive(Clone, Debug)]
pub(crate) struct FanOutSettings {
    pub(crate) variable: Bytes,
    pub(crate) limit: usize,
    /// The items, if they are not read from standard input.
    pub(crate) items: Option<Vec<Bytes>>,
    /// The time limit of each attempt at an item.
    pub(crate) timeout: Option<Duration>,
    pub(crate) retries: u64,
    pub(crate) halt: Option<Halt>,
    pub(crate) separator: u8,
    pub(crate) ordered: bool,
    pub(crate) text: bool,
    pub(crate) job_log: Option<Bytes>,
}

/// The state of a running fan-out.
struct FanOutRun<'a> {
    fan_out: &'a FanOut<'a>,
    settings: &'a FanOutSettings,
    items: ItemReader,
    schedule: Schedule<Bytes>,
    workers: Workers,
    results: ReorderBuffer<ItemResult>,
    job_log: Option<JobLog>,
    progress: Option<ProgressLine>,
    deadlines: Deadlines,
    data: RecordedData,
}

/// Runs a fan-out to its end.
pub(crate) fn run(context: &mut Context<'_>, fan_out: &FanOut<'_>, settings: &FanOutSettings) -> Flow {
    let mut run = match FanOutRun::new(context, fan_out, settings) {
        Ok(run) => run,
        Err(message) => {
            context.error(message);
            return Ok(CANNOT_START);
        }
    };
    let result = run.process_items(context);
    // After a cancellation or a broken pipe, branches may still run. They must not outlive this command.
    run.workers.shut_down();
    if let Some(progress) = &mut run.progress {
        progress.clear(context);
    }
    result?;
    run.finish(context)
}

impl<'a> FanOutRun<'a> {
    fn new(
        context: &Context<'_>,
        fan_out: &'a FanOut<'a>,
        settings: &'a FanOutSettings,
    ) -> Result<Self, String> {
        let open = |path: &Bytes| {
            JobLog::open(context.session(), path)
                .map_err(|error| format!("cannot write '{path}': {}", haft_fs::message(&error)))
        };
        let job_log = settings.job_log.as_ref().map(open).transpose()?;
        let workers = Workers::new(settings.limit)
            .map_err(|error| format!("cannot start: {}", haft_fs::message(&error)))?;
        Ok(Self {
            fan_out,
            settings,
            items: match &settings.items {
                Some(items) => ItemReader::of_items(items.clone()),
                None => ItemReader::new(fan_out.input.clone(), settings.separator),
            },
            schedule: Schedule::new(settings.limit, settings.retries, settings.halt),
            workers,
            results: ReorderBuffer::new(settings.ordered),
            job_log,
            progress: ProgressLine::new(context),
            deadlines: Deadlines::new(settings.timeout),
            data: RecordedData::new(context.wants_data()),
        })
    }

    fn process_items(&mut self, context: &mut Context<'_>) -> Result<(), Unwind> {
        loop {
            while let Some(attempt) = self.schedule.next() {
                self.start(context, attempt)?;
            }
            if self.schedule.is_finished() {
                return Ok(());
            }
            context.flush();
            let readable = self.wait(context)?;
            for index in self.deadlines.expire() {
                self.workers.cancel_item(index);
            }
            for (attempt, result) in self.workers.take_finished() {
                self.handle_result(context, attempt, result)?;
            }
            if readable {
                self.read_items(context)?;
            }
            if let Some(progress) = &mut self.progress {
                progress.update(context, &self.schedule.counts());
            }
        }
    }

    /// Waits for an item or a result. Returns whether items can be read.
    fn wait(&self, context: &mut Context<'_>) -> Result<bool, Unwind> {
        let wants_item = self.schedule.wants_item(self.results.len());
        let input: Option<BorrowedFd<'_>> = self.items.descriptor().filter(|_| wants_item);
        if wants_item && input.is_none() {
            return Ok(true);
        }
        let mut descriptors: Vec<BorrowedFd<'_>> = input.into_iter().collect();
        descriptors.push(self.workers.event());
        let progress = self.progress.is_some().then_some(PROGRESS_INTERVAL);
        let timeout = [progress, self.deadlines.next()].into_iter().flatten().min();
        let ready = context.session().wait_at_most(&descriptors, timeout)?;
        Ok(input.is_some() && ready == Ready::Descriptor(0))
    }

    fn read_items(&mut self, context: &mut Context<'_>) -> Result<(), Unwind> {
        let ended = match self.items.fill(context.cancel_token()) {
            Ok(ended) => ended,
            Err(error) => {
                context.check()?;
                context.error(format_args!("cannot read standard input: {}", haft_fs::message(&error)));
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
        let index = attempt.index;
        let branch = self.fan_out.branch(&self.settings.variable, &attempt.item);
        let started = branch.and_then(|branch| self.workers.start(attempt.clone(), branch));
        match started {
            Ok(()) => {
                self.deadlines.start(index);
                Ok(())
            }
            Err(error) => self.handle_result(context, attempt, ItemResult::not_started(&error)),
        }
    }

    /// Records a finished attempt, and prints every result that is now in order.
    fn handle_result(
        &mut self,
        context: &mut Context<'_>,
        attempt: ItemAttempt<Bytes>,
        mut result: ItemResult,
    ) -> Result<(), Unwind> {
        if self.deadlines.end(attempt.index) {
            result.time_out();
        }
        if let Some(job_log) = &mut self.job_log {
            job_log.record(&self.settings.variable, &attempt, &result, &self.fan_out.text());
        }
        if result.interrupted {
            context.session_mut().interrupt()?;
        }
        let (index, item, attempts) = (attempt.index, attempt.item.clone(), attempt.number);
        let will_retry = self.schedule.finished(attempt, result.status == 0);
        if self.schedule.must_cancel() {
            self.workers.cancel();
        }
        if will_retry {
            return Ok(());
        }
        for result in self.results.push(index, result.with_item(item, attempts)) {
            self.print(context, &result)?;
        }
        Ok(())
    }

    fn print(&mut self, context: &mut Context<'_>, result: &ItemResult) -> Result<(), Unwind> {
        if let Some(progress) = &mut self.progress {
            progress.clear(context);
        }
        self.data.add(result);
        if !self.settings.text {
            return context.print(&result.to_json_line()).map(drop);
        }
        if !result.stderr.is_empty() {
            context.print_error(&result.stderr);
        }
        context.print(&result.stdout).map(drop)
    }

    /// Prints results that waited for items which never ran, reports problems, and returns the exit status.
    fn finish(mut self, context: &mut Context<'_>) -> Flow {
        for result in self.results.drain() {
            self.print(context, &result)?;
        }
        if let Some(records) = self.data.take() {
            context.set_data(records);
        }
        let failed = self.schedule.counts().failed;
        if self.schedule.has_halted() {
            let failures = if failed == 1 { "failure" } else { "failures" };
            context.error(format_args!("stopped after {failed} {failures}; the remaining items did not run"));
        }
        if let Some(error) = self.job_log.as_ref().and_then(JobLog::failure) {
            context.error(format_args!("cannot write the job log: {error}"));
        }
        context.flush();
        Ok(if failed > 0 { ITEM_FAILED } else { 0 })
    }
}
