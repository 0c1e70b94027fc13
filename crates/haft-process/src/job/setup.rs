//! Starting a job: pipes or a terminal, a scope, the process.

use std::os::fd::{AsRawFd as _, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::io::ioctl_fionbio;
use rustix::pipe::{PipeFlags, pipe_with};

use crate::cancel::CancelToken;
use crate::command::{Command, DescriptorSource, ProcessGroup};
use crate::enforce::{EnforcedBy, LimitState, RunLimits, Sampler};
use crate::error::{Error, ErrorKind};
use crate::host::{Host, ScopeLimits};
use crate::job::control::Shared;
use crate::job::feeder::Feeder;
use crate::job::inside::{Done, Foreground};
use crate::job::stream::{Stream, StreamKind};
use crate::job::{
    InProcessJob, InProcessWork, Input, Job, OutputCallback, Streams, SupervisionOptions, Task,
};
use crate::ladder::Ladder;
use crate::limit::{Resource, ResourceLimit};
use crate::needs_input::FileIdentity;
use crate::outcome::Captured;
use crate::pty::{Terminal, TerminalSize};
use crate::sys;

/// How many processes more than twice the limit the kernel allows where only samples enforce it.
const PROCESS_BACKSTOP: u64 = 64;

/// What connects a job to its process.
#[derive(Default)]
struct Wiring {
    streams: Vec<Stream>,
    captured: Captured,
    feeder: Option<Feeder>,
    terminal: Option<Terminal>,
    slave: Option<DescriptorSource>,
    inputs: Vec<FileIdentity>,
}

/// A job that lacks nothing but its foreground.
struct Parts {
    command: Command,
    work: Option<Arc<dyn InProcessWork>>,
    wiring: Wiring,
    shared: Shared,
    timeout: Option<Duration>,
    on_output: Option<OutputCallback>,
    sampler: Option<Sampler>,
}

impl Job {
    pub(super) fn start(task: Task, host: &Host) -> Result<Job, Error> {
        let mut parts = Parts::new(task, host)?;
        let started = Instant::now();
        let child = parts.command.spawn(host.permission())?;
        parts.shared.pid = child.pid();
        Ok(parts.with(Foreground::Process(child), started))
    }

    pub(super) fn start_in_process(task: Task, host: &Host) -> Result<(Job, InProcessJob), Error> {
        let parts = Parts::new(task, host)?;
        let done = Done::new()?;
        let wired = parts.command.clone();
        let inside = InProcessJob { scope: parts.shared.scope.clone(), wired, done: done.clone() };
        Ok((parts.with(Foreground::Work(done), Instant::now()), inside))
    }
}

impl Parts {
    /// All that can fail comes before the process, so that none is started in vain.
    fn new(task: Task, host: &Host) -> Result<Parts, Error> {
        let Task { mut command, work, within, options } = task;
        let SupervisionOptions {
            mut input,
            streams,
            capture_limits: limits,
            scope_limits,
            timeout,
            grace,
            cancel,
            on_output,
        } = options;
        if let (Input::Inherit, Streams::Terminal(_)) = (&input, streams) {
            input = Input::Forward(inherited_input(&command)?);
        }
        let mut wiring = match streams {
            Streams::Terminal(size) => Wiring::terminal(&mut command, host, limits, size)?,
            _ => Wiring::pipes(&mut command, host, limits, streams)?,
        };
        wiring.give_input(&mut command, input)?;
        let scope = within.map_or_else(|| host.scope(scope_limits), |outer| outer.part());
        let enforced = scope.limits();
        if scope_limits.strict {
            refuse_weak_limits(&enforced)?;
        }
        let sampler = limit_each_process(&mut command, &scope_limits, &enforced);
        command.scope(&scope);
        let cancel = cancel.map_or_else(CancelToken::new, |token| token.child());
        let shared = Shared::new(scope, cancel, grace)?;
        Ok(Parts { command, work, wiring, shared, timeout, on_output, sampler })
    }

    fn with(self, foreground: Foreground, started: Instant) -> Job {
        let Parts { command, work, wiring, mut shared, timeout, on_output, sampler } = self;
        shared.captured = wiring.captured;
        shared.terminal = wiring.terminal;
        shared.inputs = wiring.inputs;
        Job {
            shared: Arc::new(shared),
            argv: command.argv().map(ToOwned::to_owned).collect(),
            working_directory: command.directory().map(ToOwned::to_owned),
            foreground,
            work,
            exit: None,
            started,
            ended: None,
            deadline: timeout.and_then(|timeout| started.checked_add(timeout)),
            timed_out: false,
            cancelled: false,
            needed_input: false,
            feeder: wiring.feeder,
            streams: wiring.streams,
            slave: wiring.slave,
            on_output,
            ladder: Ladder::default(),
            sampler,
            drain: None,
            emptied: None,
            buffer: Vec::new(),
            concluded: false,
        }
    }
}

impl Wiring {
    fn pipes(
        command: &mut Command,
        host: &Host,
        limits: crate::capture::CaptureLimits,
        streams: Streams,
    ) -> Result<Wiring, Error> {
        let mut wiring = Wiring::default();
        // A session of its own, so that there is no terminal it could take its input from.
        command.group(ProcessGroup::Session);
        match streams {
            Streams::Separate => {
                let kinds = [(1, StreamKind::Stdout), (2, StreamKind::Stderr)];
                for (number, kind) in kinds {
                    command.descriptor(number, wiring.add_stream(kind, host, limits)?);
                }
            }
            Streams::Merged => {
                let target = wiring.add_stream(StreamKind::Merged, host, limits)?;
                command.descriptor(1, target.clone()).descriptor(2, target);
            }
            Streams::Inherit | Streams::Terminal(_) => {}
        }
        Ok(wiring)
    }

    fn terminal(
        command: &mut Command,
        host: &Host,
        limits: crate::capture::CaptureLimits,
        size: TerminalSize,
    ) -> Result<Wiring, Error> {
        let (terminal, slave) = Terminal::open(size, command)?;
        let output = host.output(limits);
        let source = terminal.duplicate()?;
        set_nonblocking(&source)?;
        let mut inputs = Vec::new();
        if let DescriptorSource::Open(slave) = &slave {
            inputs.extend(identity(slave.as_raw_fd()));
        }
        inputs.extend(FileIdentity::of("/dev/tty"));
        Ok(Wiring {
            streams: vec![Stream::new(StreamKind::Merged, source, output.clone())],
            captured: Captured { output: Some(output), terminal: Some(size), ..Captured::default() },
            feeder: None,
            terminal: Some(terminal),
            slave: Some(slave),
            inputs,
        })
    }

    /// Makes a pipe for a stream and returns its writing end.
    fn add_stream(
        &mut self,
        kind: StreamKind,
        host: &Host,
        limits: crate::capture::CaptureLimits,
    ) -> Result<DescriptorSource, Error> {
        let (source, target) = pipe()?;
        set_nonblocking(&source)?;
        let output = host.output(limits);
        self.streams.push(Stream::new(kind, source, output.clone()));
        match kind {
            StreamKind::Stdout => self.captured.stdout = Some(output),
            StreamKind::Stderr => self.captured.stderr = Some(output),
            StreamKind::Merged => self.captured.output = Some(output),
        }
        Ok(target.into())
    }

    fn give_input(&mut self, command: &mut Command, input: Input) -> Result<(), Error> {
        if let Some(terminal) = &self.terminal {
            let target = terminal.duplicate()?;
            set_nonblocking(&target)?;
            let mut feeder = Feeder::new(target, true);
            feed(&mut feeder, input);
            self.feeder = Some(feeder);
            return Ok(());
        }
        match input {
            Input::Null => {
                command.descriptor(0, open_null()?);
            }
            Input::File(file) => {
                self.inputs.extend(identity(file.as_raw_fd()));
                command.descriptor(0, DescriptorSource::Open(file));
            }
            Input::Inherit => {
                let inherited = command.wired(0).map(DescriptorSource::number);
                self.inputs.extend(inherited.and_then(identity));
            }
            Input::Bytes(_) | Input::Forward(_) | Input::Pipe => {
                let (source, target) = pipe()?;
                set_nonblocking(&target)?;
                self.inputs.extend(identity(source.as_raw_fd()));
                command.descriptor(0, source);
                let mut feeder = Feeder::new(target, false);
                feed(&mut feeder, input);
                self.feeder = Some(feeder);
            }
        }
        Ok(())
    }
}

/// The command's own descriptor 0, for a job whose processes get a terminal instead.
fn inherited_input(command: &Command) -> Result<Arc<OwnedFd>, Error> {
    match command.wired(0) {
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

fn feed(feeder: &mut Feeder, input: Input) {
    match input {
        Input::Null => feeder.finish(),
        Input::Bytes(bytes) => {
            feeder.push(bytes);
            feeder.finish();
        }
        Input::File(file) | Input::Forward(file) => feeder.forward(file),
        Input::Pipe | Input::Inherit => {}
    }
}

/// Sets the limits that the kernel enforces for each process on its own, and yields what samples those that no control
/// group enforces for all together.
fn limit_each_process(command: &mut Command, asked: &ScopeLimits, enforced: &RunLimits) -> Option<Sampler> {
    if let Some(time) = asked.cpu {
        command.limit(ResourceLimit::cpu(time));
    }
    let weak = |state: Option<LimitState>| {
        state.filter(|state| state.enforced_by != EnforcedBy::Cgroup).map(|state| state.asked)
    };
    let (memory, processes) = (weak(enforced.memory), weak(enforced.processes));
    if let Some(memory) = memory {
        // A backstop for what happens between two samples. Exactly the limit would refuse memory that is never used.
        command.limit(ResourceLimit::fixed(Resource::DataSize, memory.saturating_mul(2)));
    }
    if let Some(processes) = processes {
        // The system counts all processes of the user, not those of the job, and does not tell when it refuses one: a
        // backstop as well, which leaves the decision to the samples.
        let backstop = processes.saturating_mul(2).saturating_add(PROCESS_BACKSTOP);
        command.limit(ResourceLimit::fixed(
            Resource::Processes,
            backstop.saturating_add(crate::proc::count_of_user()),
        ));
    }
    Sampler::new(memory, processes)
}

/// Refuses to start where the kernel does not enforce a limit for the whole tree.
fn refuse_weak_limits(enforced: &RunLimits) -> Result<(), Error> {
    let strong = |by| matches!(by, EnforcedBy::Cgroup | EnforcedBy::Rlimit);
    match enforced.all().find(|(_, state)| !strong(state.enforced_by)) {
        None => Ok(()),
        Some((kind, _)) => {
            let message = format!("cannot enforce the {} limit for all processes together", kind.name());
            let hint = "no control group can be made here; without strict limits it is enforced by sampling";
            Err(Error::new(ErrorKind::Limit, message).with_hint(hint))
        }
    }
}

fn identity(number: i32) -> Option<FileIdentity> {
    FileIdentity::of(format!("/proc/self/fd/{number}"))
}

fn pipe() -> Result<(OwnedFd, OwnedFd), Error> {
    pipe_with(PipeFlags::CLOEXEC).map_err(|error| Error::system("make a pipe", error))
}

fn set_nonblocking(descriptor: &OwnedFd) -> Result<(), Error> {
    ioctl_fionbio(descriptor, true).map_err(|error| Error::system("prepare a pipe", error))
}
