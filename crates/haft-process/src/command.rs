//! What to run, and how it shall be born.

use std::ffi::{CStr, CString, OsStr, OsString};
use std::os::fd::{AsRawFd as _, OwnedFd, RawFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::child::Child;
use crate::environment::Environment;
use crate::error::{self, Error, ErrorKind, Subject};
use crate::limit::{Resource, ResourceLimit};
use crate::lookup::find_program;
use crate::permission::{StartPermission, StartRequest};
use crate::reaper;
use crate::scope::Scope;
use crate::signal::Signals;
use crate::size;
use crate::sys;

/// Which process group a child belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProcessGroup {
    /// The parent's.
    Inherit,
    /// A new one, led by the child.
    #[default]
    Own,
    /// An existing one.
    Join(i32),
    /// A new session, and with it a new group; the child has no controlling terminal.
    Session,
}

/// The number under which a child holds the file that it [executes](Command::program_file). An interpreter opens it as
/// `/dev/fd/63`. Shells give the same number to process substitutions, so scripts leave it alone.
const PROGRAM_DESCRIPTOR: RawFd = 63;

/// Where a descriptor of the child comes from.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum DescriptorSource {
    /// The descriptor with this number in the parent.
    Inherit(RawFd),
    /// An open file that the command shares.
    Open(Arc<OwnedFd>),
}

impl DescriptorSource {
    pub(crate) fn number(&self) -> RawFd {
        match self {
            DescriptorSource::Inherit(number) => *number,
            DescriptorSource::Open(file) => file.as_raw_fd(),
        }
    }
}

impl From<OwnedFd> for DescriptorSource {
    fn from(file: OwnedFd) -> DescriptorSource {
        DescriptorSource::Open(Arc::new(file))
    }
}

/// Restrictions made by the parent and applied in the child just before its program starts.
#[derive(Clone, Debug, Default)]
pub struct Sandbox {
    /// Whether the program may gain no privileges by exec; implied by the other two.
    pub no_new_privileges: bool,
    /// A Landlock ruleset.
    pub landlock: Option<Arc<OwnedFd>>,
    /// A seccomp program: classic BPF instructions of eight bytes each.
    pub seccomp: Option<Arc<[[u8; 8]]>>,
}

/// A program with its arguments, environment, directory and descriptors.
///
/// The defaults suit a supervised child: an empty environment, the standard descriptors inherited and no other, a
/// process group of its own, no signal blocked or ignored.
#[derive(Clone, Debug)]
pub struct Command {
    program: OsString,
    argument_zero: Option<OsString>,
    has_program_file: bool,
    arguments: Vec<OsString>,
    environment: Arc<Environment>,
    working_directory: Option<PathBuf>,
    descriptors: Vec<(RawFd, DescriptorSource)>,
    group: ProcessGroup,
    controlling_terminal: Option<RawFd>,
    foreground_of: Option<RawFd>,
    parent_death: Option<i32>,
    limits: Vec<ResourceLimit>,
    nice: Option<i32>,
    umask: Option<u32>,
    sandbox: Sandbox,
    ignored: Signals,
    scope: Option<Scope>,
    exact_environment: bool,
    restriction: StartPermission,
    keep_tracing: bool,
}

impl Command {
    /// A command for a program, found by `PATH` unless it has a slash.
    pub fn new(program: impl Into<OsString>) -> Command {
        Command {
            program: program.into(),
            argument_zero: None,
            has_program_file: false,
            arguments: Vec::new(),
            environment: Arc::default(),
            working_directory: None,
            descriptors: (0..3).map(|number| (number, DescriptorSource::Inherit(number))).collect(),
            group: ProcessGroup::default(),
            controlling_terminal: None,
            foreground_of: None,
            parent_death: None,
            limits: Vec::new(),
            nice: None,
            umask: None,
            sandbox: Sandbox::default(),
            ignored: Signals::default(),
            scope: None,
            exact_environment: false,
            restriction: StartPermission::all(),
            keep_tracing: false,
        }
    }

    /// Adds an argument.
    pub fn argument(&mut self, argument: impl Into<OsString>) -> &mut Command {
        self.arguments.push(argument.into());
        self
    }

    /// Adds arguments.
    pub fn arguments<A: Into<OsString>>(&mut self, arguments: impl IntoIterator<Item = A>) -> &mut Command {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Gives the program another name for itself than the one it is found by.
    pub fn argument_zero(&mut self, name: impl Into<OsString>) -> &mut Command {
        self.argument_zero = Some(name.into());
        self
    }

    /// Executes an open file with `execveat`, whatever the path of the program names by then: the path is only what the
    /// program is called. A script sees itself as `/dev/fd/63`. Applies to [`spawn`](Command::spawn) alone.
    pub fn program_file(&mut self, file: Arc<OwnedFd>) -> &mut Command {
        self.has_program_file = true;
        self.descriptor(PROGRAM_DESCRIPTOR, DescriptorSource::Open(file))
    }

    /// The exact environment; cheap to share between commands.
    pub fn environment(&mut self, environment: impl Into<Arc<Environment>>) -> &mut Command {
        self.environment = environment.into();
        self
    }

    /// The directory the program starts in.
    pub fn working_directory(&mut self, directory: impl Into<PathBuf>) -> &mut Command {
        self.working_directory = Some(directory.into());
        self
    }

    /// Gives the child a descriptor under a number, replacing what was given for that number.
    pub fn descriptor(&mut self, number: RawFd, descriptor: impl Into<DescriptorSource>) -> &mut Command {
        let descriptor = descriptor.into();
        match self.descriptors.iter_mut().find(|(taken, _)| *taken == number) {
            Some(entry) => entry.1 = descriptor,
            None => self.descriptors.push((number, descriptor)),
        }
        self
    }

    /// Starts the child without this descriptor; that is so for all above 2 that were not given.
    pub fn close(&mut self, number: RawFd) -> &mut Command {
        self.descriptors.retain(|(taken, _)| *taken != number);
        self
    }

    /// Lets the child keep `CAP_SYS_PTRACE` where a [protected process](crate::protect_process) withholds it.
    pub(crate) fn keep_tracing(&mut self) -> &mut Command {
        self.keep_tracing = true;
        self
    }

    /// The child's process group.
    pub fn group(&mut self, group: ProcessGroup) -> &mut Command {
        self.group = group;
        self
    }

    /// Makes a terminal, given by its number in the parent, the controlling one of the child's new session; `None` if
    /// there shall be none.
    pub fn controlling_terminal(&mut self, terminal: impl Into<Option<RawFd>>) -> &mut Command {
        self.group = ProcessGroup::Session;
        self.controlling_terminal = terminal.into();
        self
    }

    /// Makes the child's group the foreground group of the parent's terminal, before its program starts.
    pub fn foreground_of(&mut self, terminal: RawFd) -> &mut Command {
        self.foreground_of = Some(terminal);
        self
    }

    /// The signal the child gets when the *thread* that starts it ends.
    pub fn parent_death_signal(&mut self, signal: i32) -> &mut Command {
        self.parent_death = Some(signal);
        self
    }

    /// Adds a resource limit.
    pub fn limit(&mut self, limit: ResourceLimit) -> &mut Command {
        self.limits.push(limit);
        self
    }

    /// Sets the niceness.
    pub fn nice(&mut self, nice: i32) -> &mut Command {
        self.nice = Some(nice);
        self
    }

    /// Sets the file mode creation mask.
    pub fn umask(&mut self, mask: u32) -> &mut Command {
        self.umask = Some(mask);
        self
    }

    /// Sets the restrictions.
    pub fn sandbox(&mut self, sandbox: Sandbox) -> &mut Command {
        self.sandbox = sandbox;
        self
    }

    /// Signals the program starts with ignored; all others have their default.
    pub fn ignore_signals(&mut self, signals: Signals) -> &mut Command {
        self.ignored = signals;
        self
    }

    /// Makes the child, and all it will start, a member of a scope.
    pub fn scope(&mut self, scope: &Scope) -> &mut Command {
        self.scope = Some(scope.clone());
        self
    }

    /// Leaves the marker of the scope out of the environment where a control group holds the scope together without it.
    pub fn exact_environment(&mut self, exact: bool) -> &mut Command {
        self.exact_environment = exact;
        self
    }

    /// Adds a permission that has to allow the program as well, whoever starts it: that of the session it belongs to.
    pub fn restrict(&mut self, permission: &StartPermission) -> &mut Command {
        self.restriction = self.restriction.and(permission);
        self
    }

    /// The program and its arguments, as the program will see them.
    pub fn argv(&self) -> impl Iterator<Item = &OsStr> {
        let first = self.argument_zero.as_ref().unwrap_or(&self.program);
        std::iter::once(first).chain(&self.arguments).map(OsString::as_os_str)
    }

    /// The directory that was set.
    pub fn directory(&self) -> Option<&Path> {
        self.working_directory.as_deref()
    }

    /// Where a descriptor of the child comes from.
    pub(crate) fn wired(&self, number: RawFd) -> Option<&DescriptorSource> {
        self.descriptors.iter().find(|(to, _)| *to == number).map(|(_, from)| from)
    }

    /// The limits that were set.
    pub(crate) fn limits(&self) -> &[ResourceLimit] {
        &self.limits
    }

    /// Starts the process, if it is permitted. It runs its program when this returns.
    ///
    /// # Errors
    /// Whatever kept the program from starting; nothing is left of the attempt.
    pub fn spawn(&self, permission: &StartPermission) -> Result<Child, Error> {
        let prepared = Prepared::new(self)?;
        self.ask(permission, &prepared)?;
        if self.scope.as_ref().is_some_and(Scope::is_full) {
            let error = std::io::Error::from_raw_os_error(libc::EAGAIN);
            return Err(Error::system("start a process", error).with_hint("as many run as the limit allows"));
        }
        let environment = prepared.environment(self);
        let stack = self.limits.iter().find(|limit| limit.resource == Resource::StackSize);
        size::check(&prepared.path, &prepared.argv, &environment, stack.and_then(|limit| limit.soft))?;
        let descriptors: Vec<_> = self.descriptors.iter().map(|(to, from)| (from.number(), *to)).collect();
        let limits: Vec<_> = self.limits.iter().map(|limit| limit.raw()).collect();
        let join = self.scope.as_ref().map(Scope::join).unwrap_or_default();
        let plan = sys::Plan {
            path: &prepared.path,
            program_file: self.has_program_file.then_some(PROGRAM_DESCRIPTOR),
            argv: &prepared.argv,
            environment: &environment,
            working_directory: prepared.working_directory.as_deref(),
            descriptors: &descriptors,
            group: self.group,
            controlling_terminal: self.controlling_terminal,
            foreground_of: self.foreground_of,
            parent_death: self.parent_death,
            cgroup: join.directory,
            cgroup_files: &join.files,
            limits: &limits,
            nice: self.nice,
            umask: self.umask,
            keep_tracing: self.keep_tracing,
            no_new_privileges: self.sandbox.no_new_privileges,
            landlock: self.sandbox.landlock.as_ref().map(|ruleset| ruleset.as_raw_fd()),
            seccomp: self.sandbox.seccomp.as_deref(),
            ignored: self.ignored.raw(),
            mask: sys::SignalSet::EMPTY,
        };
        match spawn_patiently(&plan) {
            Ok(spawned) => Ok(Child::new(spawned, self.group, self.scope.clone())),
            Err(fault) => Err(self.explain(fault, &prepared)),
        }
    }

    /// Asks whether the program may start. Nothing that starts or becomes a program does without.
    fn ask(&self, permission: &StartPermission, prepared: &Prepared) -> Result<(), Error> {
        if permission.is_unlimited() && self.restriction.is_unlimited() {
            return Ok(());
        }
        let argv: Vec<&OsStr> = self.argv().collect();
        let request = StartRequest {
            program: Path::new(OsStr::from_bytes(prepared.path.to_bytes())),
            argv: &argv,
            directory: self.working_directory.as_deref(),
        };
        permission.check(&request)?;
        self.restriction.check(&request)
    }

    /// Becomes the program, if it is permitted: same process, same terminal, nothing of the caller left. Returns only on failure, and
    /// then this process is as it was.
    ///
    /// Groups, sandbox and scope are not applied: what the program shall have of these, this process has.
    pub fn replace(&self, permission: &StartPermission) -> Error {
        self.try_replace(permission).unwrap_or_else(|error| error)
    }

    fn try_replace(&self, permission: &StartPermission) -> Result<Error, Error> {
        let prepared = Prepared::new(self)?;
        self.ask(permission, &prepared)?;
        let environment = prepared.environment(self);
        size::check(&prepared.path, &prepared.argv, &environment, None)?;
        let descriptors: Vec<_> = self.descriptors.iter().map(|(to, from)| (from.number(), *to)).collect();
        let limits: Vec<_> = self.limits.iter().map(|limit| limit.raw()).collect();
        let fault = sys::replace(&sys::Replacement {
            path: &prepared.path,
            argv: &prepared.argv,
            environment: &environment,
            working_directory: prepared.working_directory.as_deref(),
            descriptors: &descriptors,
            ignored: self.ignored.raw(),
            umask: self.umask,
            limits: &limits,
        });
        Ok(self.explain(fault, &prepared))
    }

    /// The scope whose marker the environment has to carry.
    fn marking_scope(&self) -> Option<&Scope> {
        self.scope.as_ref().filter(|scope| !(self.exact_environment && scope.is_sealed()))
    }

    fn explain(&self, fault: sys::Fault, prepared: &Prepared) -> Error {
        let descriptors: Vec<_> = self.descriptors.iter().map(|(to, _)| *to).collect();
        let limits: Vec<_> = self.limits.iter().map(|limit| limit.resource.name()).collect();
        let subject = Subject {
            program: Path::new(OsStr::from_bytes(prepared.path.to_bytes())),
            working_directory: self.working_directory.as_deref(),
            descriptors: &descriptors,
            limits: &limits,
        };
        error::from_fault(fault, &subject)
    }
}

/// Starts the process; a program that is still open for writing is given a moment. Another thread may just have written
/// it, and a process that a third thread is starting holds a copy of its descriptor until it has reached its own program.
fn spawn_patiently(plan: &sys::Plan<'_>) -> Result<sys::Spawned, sys::Fault> {
    const ATTEMPTS: u32 = 6;
    let mut attempt = 0;
    loop {
        let result = reaper::owning(|| sys::spawn(plan));
        let busy = result.as_ref().is_err_and(|fault| fault.error.raw_os_error() == Some(libc::ETXTBSY));
        if !busy || attempt == ATTEMPTS {
            return result;
        }
        std::thread::sleep(Duration::from_millis(1 << attempt));
        attempt += 1;
    }
}

/// A command's strings in the system's form.
struct Prepared {
    path: CString,
    argv: Vec<CString>,
    working_directory: Option<CString>,
    marker: Option<CString>,
}

impl Prepared {
    fn new(command: &Command) -> Result<Prepared, Error> {
        let directory = command.working_directory.as_deref();
        c_string(&command.program, || "the program's name".to_owned())?;
        let path = find_program(&command.program, command.environment.get("PATH"), directory)
            .map_err(|error| directory_first(error, directory))?;
        let argv = command
            .argv()
            .enumerate()
            .map(|(index, argument)| c_string(argument, || format!("argument {index}")))
            .collect::<Result<_, _>>()?;
        Ok(Prepared {
            path: c_string(path.as_os_str(), || "PATH".to_owned())?,
            argv,
            working_directory: directory
                .map(|directory| c_string(directory.as_os_str(), || "the working directory".to_owned()))
                .transpose()?,
            marker: command.marking_scope().map(|scope| scope.marker(&command.environment)),
        })
    }

    fn environment<'a>(&'a self, command: &'a Command) -> Vec<&'a CStr> {
        match &self.marker {
            None => command.environment.entries().collect(),
            Some(marker) => {
                let others = command.environment.entries().filter(|entry| !crate::scope::is_marker(entry));
                others.chain([marker.as_c_str()]).collect()
            }
        }
    }
}

/// A program that was looked for from a directory which does not exist was not found because of that directory.
fn directory_first(error: Error, directory: Option<&Path>) -> Error {
    match directory {
        Some(directory) if !directory.is_dir() => {
            let why = directory
                .read_dir()
                .err()
                .map_or_else(|| "not a directory".to_owned(), |why| error::reason(&why));
            Error::new(
                ErrorKind::WorkingDirectory,
                format!("cannot enter working directory '{}': {why}", directory.display()),
            )
            .with_path(directory)
        }
        _ => error,
    }
}

fn c_string(text: &OsStr, what: impl Fn() -> String) -> Result<CString, Error> {
    CString::new(text.to_os_string().into_vec())
        .map_err(|_| Error::new(ErrorKind::NulByte, format!("{} holds a NUL byte", what())))
}
