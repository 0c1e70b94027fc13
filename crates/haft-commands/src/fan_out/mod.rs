//! Runs a fan-out: reads items, hands them to an executor, and prints the results.
//!
//! One loop reads items, submits them, collects their records and prints them. [`Schedule`] decides what to submit, without
//! knowing threads or files. The [`Executor`] decides where items run. [`ReorderBuffer`] decides the order of the output.

mod deadlines;
mod engine;
mod items;
mod job_log;
mod json_record;
mod local;
mod progress;
mod recorded_data;
mod reorder_buffer;
mod resume;
mod schedule;
mod worker;
mod workers;

use std::os::fd::BorrowedFd;
use std::time::Duration;

use haft_kernel::builtins::Context;
use haft_kernel::io::Ready;
use haft_kernel::{Bytes, FanOut, Flow, Unwind};
use haft_scale::{Executor, ItemAttempt, ItemEnd, ItemRecord};

use crate::halt::Halt;
use crate::status::ITEM_FAILED;
use items::ItemReader;
use job_log::JobLog;
use progress::ProgressLine;
use recorded_data::RecordedData;
use reorder_buffer::ReorderBuffer;
use resume::FinishedItems;
use schedule::Schedule;

pub(crate) use engine::Engine;
pub use worker::{WorkerItems, WorkerRecords, transfer_of};

/// The exit status if the fan-out cannot start or cannot go on.
const CANNOT_RUN: i32 = 1;
/// How often the progress line is updated while nothing happens.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);

/// The arguments of `scatter` and `gather`.
#[derive(Clone, Debug)]
pub(crate) struct FanOutSettings {
    pub(crate) variable: Bytes,
    /// Where the items run.
    pub(crate) engine: Engine,
    /// The largest number of items at a time.
    pub(crate) limit: Option<usize>,
    /// The items, if they are not read from standard input.
    pub(crate) items: Option<Vec<Bytes>>,
    /// The time limit of each attempt at an item.
    pub(crate) timeout: Option<Duration>,
    pub(crate) retries: u64,
    pub(crate) halt: Option<Halt>,
    /// The file with the records of earlier runs.
    pub(crate) resume: Option<Bytes>,
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
    executor: Box<dyn Executor + 'a>,
    results: ReorderBuffer<ItemRecord>,
    finished: Option<FinishedItems>,
    /// Why the run cannot go on.
    failure: Option<String>,
    job_log: Option<JobLog>,
    progress: Option<ProgressLine>,
    data: RecordedData,
}

/// Runs a fan-out to its end.
pub(crate) fn run(context: &mut Context<'_>, fan_out: &FanOut<'_>, settings: &FanOutSettings) -> Flow {
    let mut run = match FanOutRun::new(context, fan_out, settings) {
        Ok(run) => run,
        Err(message) => {
            engine::report(context, &message);
            return Ok(CANNOT_RUN);
        }
    };
    let result = run.process_items(context);
    // After a cancellation or a broken pipe, items may still run. They must not outlive this command.
    run.executor.shut_down();
    if let Some(progress) = &mut run.progress {
        progress.clear(context);
    }
    run.save(context);
    result?;
    run.finish(context)
}

impl<'a> FanOutRun<'a> {
    fn new(
        context: &mut Context<'_>,
        fan_out: &'a FanOut<'a>,
        settings: &'a FanOutSettings,
    ) -> Result<Self, String> {
        let open = |path: &Bytes| {
            JobLog::open(context.session(), path)
                .map_err(|error| format!("cannot write '{path}': {}", haft_fs::message(&error)))
        };
        let job_log = settings.job_log.as_ref().map(open).transpose()?;
        let finished = match &settings.resume {
            Some(path) => {
                Some(FinishedItems::open(context.session(), path, &settings.variable, &fan_out.text())?)
            }
            None => None,
        };
        let executor = engine::start(context, fan_out, settings)?;
        Ok(Self {
            fan_out,
            settings,
            items: match &settings.items {
                Some(items) => ItemReader::of_items(items.clone()),
                None => ItemReader::new(fan_out.input.clone(), settings.separator),
            },
            schedule: Schedule::new(executor.capacity(), settings.retries, settings.halt),
            executor,
            results: ReorderBuffer::new(settings.ordered),
            finished,
            failure: None,
            job_log,
            progress: ProgressLine::new(context),
            data: RecordedData::new(context.wants_data()),
        })
    }

    fn process_items(&mut self, context: &mut Context<'_>) -> Result<(), Unwind> {
        loop {
            self.schedule.set_capacity(self.executor.capacity());
            while let Some(attempt) = self.schedule.next() {
                let ItemAttempt { index, item, number } = attempt;
                self.executor.submit(ItemAttempt { index, item: item.as_bytes().into(), number });
            }
            if self.failure.is_none() {
                self.failure = self.executor.failure();
            }
            if self.schedule.is_finished() || self.failure.is_some() {
                return Ok(());
            }
            self.save(context);
            context.flush();
            let readable = self.wait(context)?;
            for (attempt, record) in self.executor.collect() {
                self.handle_record(context, &attempt, record)?;
            }
            self.print_messages(context);
            if readable {
                self.read_items(context)?;
            }
            if let Some(progress) = &mut self.progress {
                progress.update(context, &self.schedule.counts(), self.executor.running());
            }
        }
    }

    /// Waits for an item or a record. Returns whether items can be read.
    fn wait(&self, context: &mut Context<'_>) -> Result<bool, Unwind> {
        let wants_item = self.schedule.wants_item(self.results.len());
        let input: Option<BorrowedFd<'_>> = self.items.descriptor().filter(|_| wants_item);
        if wants_item && input.is_none() {
            return Ok(true);
        }
        let mut descriptors: Vec<BorrowedFd<'_>> = input.into_iter().collect();
        descriptors.push(self.executor.event());
        let progress = self.progress.is_some().then_some(PROGRESS_INTERVAL);
        let timeout = [progress, self.executor.next_deadline()].into_iter().flatten().min();
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
            self.offer(context, item)?;
        }
        if ended {
            self.schedule.end_input();
        }
        Ok(())
    }

    /// Takes an item of the input. An item that an earlier run has finished is only printed.
    fn offer(&mut self, context: &mut Context<'_>, item: Bytes) -> Result<(), Unwind> {
        let index = self.schedule.next_index();
        let found = self.finished.as_ref().map_or(Ok(None), |finished| finished.find(index, &item));
        match found {
            Err(problem) => {
                self.failure.get_or_insert(problem);
                Ok(())
            }
            Ok(Some(record)) => {
                self.schedule.skip(record.status == 0);
                self.print_in_order(context, record)
            }
            Ok(None) => {
                self.schedule.offer(item);
                Ok(())
            }
        }
    }

    /// Handles the end of an attempt, and prints every record that is now in order.
    fn handle_record(
        &mut self,
        context: &mut Context<'_>,
        attempt: &ItemAttempt,
        mut record: ItemRecord,
    ) -> Result<(), Unwind> {
        if let Some(job_log) = &mut self.job_log {
            job_log.record(&self.settings.variable, attempt, &record, &self.fan_out.text());
        }
        if record.end == ItemEnd::Interrupted {
            context.session_mut().interrupt()?;
        }
        record.attempts = attempt.number;
        let own =
            ItemAttempt { index: attempt.index, item: Bytes::from(&*attempt.item), number: attempt.number };
        let will_retry = self.schedule.finished(own, record.status == 0);
        if self.schedule.must_cancel() {
            self.executor.cancel();
        }
        if will_retry {
            return Ok(());
        }
        record.item = attempt.item.clone();
        if let Some(finished) = &mut self.finished {
            finished.add(&record);
        }
        self.print_in_order(context, record)
    }

    fn print_in_order(&mut self, context: &mut Context<'_>, record: ItemRecord) -> Result<(), Unwind> {
        for record in self.results.push(record.index, record) {
            self.print(context, &record)?;
        }
        Ok(())
    }

    fn print(&mut self, context: &mut Context<'_>, record: &ItemRecord) -> Result<(), Unwind> {
        if let Some(progress) = &mut self.progress {
            progress.clear(context);
        }
        self.data.add(record);
        if !self.settings.text {
            return context.print(&json_record::to_json_line(record)).map(drop);
        }
        if !record.stderr.is_empty() {
            context.print_error(&record.stderr);
        }
        context.print(&record.stdout).map(drop)
    }

    fn print_messages(&mut self, context: &mut Context<'_>) {
        for message in self.executor.take_messages() {
            if let Some(progress) = &mut self.progress {
                progress.clear(context);
            }
            context.error(message);
        }
    }

    /// Writes new records to the file of finished items.
    fn save(&mut self, context: &mut Context<'_>) {
        if let Some(problem) = self.finished.as_mut().and_then(FinishedItems::save) {
            context.error(problem);
        }
    }

    /// Prints results that waited for items which never ran, reports problems, and returns the exit status.
    fn finish(mut self, context: &mut Context<'_>) -> Flow {
        for record in self.results.drain() {
            self.print(context, &record)?;
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
        self.print_messages(context);
        let failure = self.failure.filter(|_| !self.schedule.is_finished());
        if let Some(failure) = &failure {
            context.error(format_args!("{failure}; the remaining items did not run"));
        }
        context.flush();
        Ok(match failure {
            Some(_) => CANNOT_RUN,
            None if failed > 0 => ITEM_FAILED,
            None => 0,
        })
    }
}
