//! Starting a job: creates pipes or a terminal and a scope, then starts the process.

use std::os::fd::{AsRawFd as _, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::io::ioctl_fionbio;
use rustix::pipe::{PipeFlags, pipe_with};

use crate::cancel::CancelToken;
use crate::capture::CaptureLimits;
use crate::command::{Command, DescriptorSource, ProcessGroup};
use crate::enforce::{DiskMeter, DiskWatch, EnforcedBy, LimitState, MemoryWatch, RunLimits, Sampler};
use crate::error::{Error, ErrorKind};
use crate::host::{Host, ScopeLimits};
use crate::job::control::JobShared;
use crate::job::in_process::{JobForeground, WorkCompletion};
use crate::job::input_writer::InputWriter;
use crate::job::io::JobIo;
use crate::job::output_reader::OutputReader;
use crate::job::{
    EndReason, InProcessJob, InProcessWork, Input, Job, JobProgram, JobTimes, OutputCallback, StreamKind,
    Streams, SupervisionOptions, Task,
};
use crate::ladder::Ladder;
use crate::limit::{Resource, ResourceLimit};
use crate::needs_input::FileIdentity;
use crate::outcome::Captured;
use crate::pty::{PseudoTerminal, TerminalSize};
use crate::sys;

/// Processes that the kernel allows in addition to twice the limit, where the limit is enforced by sampling.
const PROCESS_LIMIT_MARGIN: u64 = 64;

/// The job's side of its pipes or terminal.
#[derive(Default)]
struct JobConnections {
    outputs: Vec<OutputReader>,
    captured: Captured,
    input: Option<InputWriter>,
    terminal: Option<PseudoTerminal>,
    slave: Option<DescriptorSource>,
    /// The files that the job's processes read their input from.
    input_files: Vec<FileIdentity>,
}

/// A job without its foreground.
struct PreparedJob {
    command: Command,
    work: Option<Arc<dyn InProcessWork>>,
    connections: JobConnections,
    shared: JobShared,
    timeout: Option<Duration>,
    callback: Option<OutputCallback>,
    sampler: Option<Sampler>,
}

impl Job {
    pub(super) fn start(task: Task, host: &Host) -> Result<Job, Error> {
        let mut prepared = PreparedJob::new(task, host)?;
        let started = Instant::now();
        let child = prepared.command.spawn(host.permission())?;
        prepared.shared.pid = child.pid();
        Ok(prepared.into_job(JobForeground::Process(child), started))
    }

    pub(super) fn start_in_process(task: Task, host: &Host) -> Result<(Job, InProcessJob), Error> {
        let prepared = PreparedJob::new(task, host)?;
        let completion = WorkCompletion::new()?;
        let template = prepared.command.clone();
        let scope = prepared.shared.scope.clone();
        let job = prepared.into_job(JobForeground::InProcess(completion.clone()), Instant::now());
        Ok((job, InProcessJob { scope, template, completion }))
    }
}

impl PreparedJob {
    /// Does everything that can fail before the process is started.
    fn new(task: Task, host: &Host) -> Result<PreparedJob, Error> {
        let Task { mut command, work, within, options } = task;
        let SupervisionOptions { mut input, streams, capture_limits, .. } = options;
        let scope_limits = options.scope_limits.lower(host.limits());
        if let (Input::Inherit, Streams::Terminal(_)) = (&input, streams) {
            input = Input::Forward(inherited_input(&command)?);
        }
        let mut connections = match streams {
            Streams::Terminal(size) => JobConnections::terminal(&mut command, host, capture_limits, size)?,
            _ => JobConnections::pipes(&mut command, host, capture_limits, streams)?,
        };
        connections.connect_input(&mut command, input)?;
        connections.captured.late = work.as_ref().map(|_| host.output(capture_limits));
        let scope = within.map_or_else(|| host.scope(scope_limits), |outer| outer.part());
        let enforced = scope.limits();
        if scope_limits.strict {
            refuse_weak_limits(&enforced)?;
        }
        let disk = watch_disk(&scope_limits, options.disk_meter)?;
        let sampler = limit_each_process(&mut command, &scope_limits, &enforced, work.is_some(), disk);
        command.scope(&scope);
        let cancel = options.cancel.map_or_else(CancelToken::new, |token| token.child());
        let shared = JobShared::new(scope, cancel, options.grace)?;
        let (timeout, callback) = (options.timeout, options.on_output);
        Ok(PreparedJob { command, work, connections, shared, timeout, callback, sampler })
    }

    fn into_job(self, foreground: JobForeground, started: Instant) -> Job {
        let PreparedJob { command, work, connections, mut shared, timeout, callback, sampler } = self;
        shared.captured = connections.captured;
        shared.terminal = connections.terminal;
        shared.inputs = connections.input_files;
        Job {
            shared: Arc::new(shared),
            program: JobProgram {
                argv: command.argv().map(ToOwned::to_owned).collect(),
                working_directory: command.directory().map(ToOwned::to_owned),
            },
            foreground,
            work,
            exit: None,
            times: JobTimes {
                started,
                ended: None,
                deadline: timeout.and_then(|timeout| started.checked_add(timeout)),
            },
            end: EndReason::default(),
            io: JobIo::new(connections.input, connections.outputs, connections.slave, callback),
            ladder: Ladder::default(),
            sampler,
            emptied: None,
            concluded: false,
        }
    }
}

impl JobConnections {
    fn pipes(
        command: &mut Command,
        host: &Host,
        limits: CaptureLimits,
        streams: Streams,
    ) -> Result<JobConnections, Error> {
        let mut connections = JobConnections::default();
        // In its own session, the program has no controlling terminal to read from.
        command.group(ProcessGroup::Session);
        match streams {
            Streams::Separate => {
                let kinds = [(1, StreamKind::Stdout), (2, StreamKind::Stderr)];
                for (number, kind) in kinds {
                    command.descriptor(number, connections.add_output(kind, host, limits)?);
                }
            }
            Streams::Merged => {
                let target = connections.add_output(StreamKind::Merged, host, limits)?;
                command.descriptor(1, target.clone()).descriptor(2, target);
            }
            Streams::Inherit | Streams::Terminal(_) => {}
        }
        Ok(connections)
    }

    fn terminal(
        command: &mut Command,
        host: &Host,
        limits: CaptureLimits,
        size: TerminalSize,
    ) -> Result<JobConnections, Error> {
        let (terminal, slave) = PseudoTerminal::open(size, command)?;
        let output = host.output(limits);
        output.record(size);
        let source = terminal.duplicate()?;
        set_nonblocking(&source)?;
        let mut input_files = Vec::new();
        if let DescriptorSource::Open(slave) = &slave {
            input_files.extend(identity(slave.as_raw_fd()));
        }
        input_files.extend(FileIdentity::of("/dev/tty"));
        Ok(JobConnections {
            outputs: vec![OutputReader::new(StreamKind::Merged, source, output.clone())],
            captured: Captured { output: Some(output), terminal: Some(size), ..Captured::default() },
            input: None,
            terminal: Some(terminal),
            slave: Some(slave),
            input_files,
        })
    }

    /// Creates a pipe for a stream and returns its write end.
    fn add_output(
        &mut self,
        kind: StreamKind,
        host: &Host,
        limits: CaptureLimits,
    ) -> Result<DescriptorSource, Error> {
        let (source, target) = pipe()?;
        set_nonblocking(&source)?;
        let output = host.output(limits);
        self.outputs.push(OutputReader::new(kind, source, output.clone()));
        match kind {
            StreamKind::Stdout => self.captured.stdout = Some(output),
            StreamKind::Stderr => self.captured.stderr = Some(output),
            StreamKind::Merged => self.captured.output = Some(output),
        }
        Ok(target.into())
    }

    fn connect_input(&mut self, command: &mut Command, input: Input) -> Result<(), Error> {
        if let Some(terminal) = &self.terminal {
            let target = terminal.duplicate()?;
            set_nonblocking(&target)?;
            self.input = Some(input_writer(target, true, input));
            return Ok(());
        }
        match input {
            Input::Null => {
                command.descriptor(0, open_null()?);
            }
            Input::File(file) => {
                self.input_files.extend(identity(file.as_raw_fd()));
                command.descriptor(0, DescriptorSource::Open(file));
            }
            Input::Inherit => {
                let inherited = command.descriptor_source(0).map(DescriptorSource::number);
                self.input_files.extend(inherited.and_then(identity));
            }
            Input::Bytes(_) | Input::Forward(_) | Input::Pipe => {
                let (source, target) = pipe()?;
                set_nonblocking(&target)?;
                self.input_files.extend(identity(source.as_raw_fd()));
                command.descriptor(0, source);
                self.input = Some(input_writer(target, false, input));
            }
        }
        Ok(())
    }
}

/// Returns the command's own descriptor 0, for a job whose processes get a terminal instead.
fn inherited_input(command: &Command) -> Result<Arc<OwnedFd>, Error> {
    match command.descriptor_source(0) {
        Some(DescriptorSource::Open(file)) => Ok(file.clone()),
        Some(DescriptorSource::Inherit(number)) => {
            let file = sys::duplicate(*number);
            file.map(Arc::new).map_err(|error| Error::system("duplicate standard input", error))
        }
        None => open_null().map(Arc::new),
    }
}

fn open_null() -> Result<OwnedFd, Error> {
    rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
        .map_err(|error| Error::system("open '/dev/null'", error))
}

fn input_writer(target: OwnedFd, terminal: bool, input: Input) -> InputWriter {
    let mut writer = InputWriter::new(target, terminal);
    match input {
        Input::Null => writer.finish(),
        Input::Bytes(bytes) => {
            writer.push(bytes);
            writer.finish();
        }
        Input::File(file) | Input::Forward(file) => writer.forward(file),
        Input::Pipe | Input::Inherit => {}
    }
    writer
}

/// Sets the limits that the kernel enforces for each process. Returns a sampler for the limits on all processes together
/// that no control group enforces, and for memory that in-process work shares with its programs.
fn limit_each_process(
    command: &mut Command,
    asked: &ScopeLimits,
    enforced: &RunLimits,
    has_work: bool,
    disk: Option<DiskWatch>,
) -> Option<Sampler> {
    if let Some(time) = asked.cpu {
        command.limit(ResourceLimit::cpu(time));
    }
    if let Some(written) = asked.written {
        // Catches a single large file between two samples.
        command.limit(ResourceLimit::fixed(Resource::FileSize, written));
    }
    let weak = |state: Option<LimitState>| {
        state.filter(|state| state.enforced_by != EnforcedBy::Cgroup).map(|state| state.asked)
    };
    let (memory, processes) = (weak(enforced.memory), weak(enforced.processes));
    if let Some(memory) = memory {
        // Catches growth between two samples. The exact limit would refuse memory that is reserved but never used.
        command.limit(ResourceLimit::fixed(Resource::DataSize, memory.saturating_mul(2)));
    }
    if let Some(processes) = processes {
        // The kernel counts all processes of the user and does not report a refusal, so this only catches growth between
        // two samples.
        let maximum = processes.saturating_mul(2).saturating_add(PROCESS_LIMIT_MARGIN);
        command.limit(ResourceLimit::fixed(
            Resource::Processes,
            maximum.saturating_add(crate::proc::count_of_user()),
        ));
    }
    let watch = match (memory, asked.memory) {
        (Some(limit), _) => Some(MemoryWatch::sampled(limit)),
        (None, Some(limit)) if has_work => Some(MemoryWatch::of_control_group(limit)),
        _ => None,
    };
    Sampler::new(watch, processes, disk, asked)
}

fn watch_disk(asked: &ScopeLimits, meter: Option<DiskMeter>) -> Result<Option<DiskWatch>, Error> {
    match (asked.disk, meter) {
        (Some(limit), Some(meter)) => Ok(Some(DiskWatch { limit, meter })),
        (Some(_), None) => Err(Error::new(ErrorKind::Limit, "nothing measures the space that is limited")),
        (None, _) => Ok(None),
    }
}

/// Fails if the kernel does not enforce a limit for all processes together.
fn refuse_weak_limits(enforced: &RunLimits) -> Result<(), Error> {
    let strong = |by| matches!(by, EnforcedBy::Cgroup | EnforcedBy::Rlimit);
    match enforced.all().find(|(_, state)| !strong(state.enforced_by)) {
        None => Ok(()),
        Some((kind, _)) => {
            let message = format!("cannot enforce the {} limit for all processes together", kind.name());
            let hint = "control groups are not available; without strict limits, sampling enforces it";
            Err(Error::new(ErrorKind::Limit, message).with_hint(hint))
        }
    }
}

fn identity(number: i32) -> Option<FileIdentity> {
    FileIdentity::of(format!("/proc/self/fd/{number}"))
}

fn pipe() -> Result<(OwnedFd, OwnedFd), Error> {
    pipe_with(PipeFlags::CLOEXEC).map_err(|error| Error::system("create a pipe", error))
}

fn set_nonblocking(descriptor: &OwnedFd) -> Result<(), Error> {
    ioctl_fionbio(descriptor, true).map_err(|error| Error::system("set a descriptor to non-blocking", error))
}
