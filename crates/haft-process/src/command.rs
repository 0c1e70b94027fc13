//! A program to start: arguments, environment, descriptors, process group, limits.

mod prepared;
mod sandbox;

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsRawFd as _, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use self::prepared::{PreparedStrings, spawn_with_retries};
use self::sandbox::AppliedSandboxes;
pub use self::sandbox::Sandbox;
use crate::argument_size;
use crate::child::Child;
use crate::environment::Environment;
use crate::error::{self, Error, ErrorSubject};
use crate::limit::{Resource, ResourceLimit};
use crate::namespace::Namespaces;
use crate::permission::{StartPermission, StartRequest};
use crate::scope::Scope;
use crate::signal::Signals;
use crate::sys::{self, SessionSetup};

/// Process group of a child.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProcessGroup {
    /// The parent's group.
    Inherit,
    /// A new group, led by the child.
    #[default]
    Own,
    /// An existing group.
    Join(i32),
    /// A new session and thus a new group. The child has no controlling terminal.
    Session,
}

/// The child's descriptor of the file that it [executes](Command::program_file). An interpreter opens it as `/dev/fd/63`.
/// Shells use the same number for process substitutions, so scripts do not use it themselves.
const PROGRAM_DESCRIPTOR: RawFd = 63;

/// The source of a child's descriptor.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum DescriptorSource {
    /// The descriptor with this number in the parent.
    Inherit(RawFd),
    /// An open file, shared with the command.
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

/// A command that may be started. Only its process group can still be chosen.
#[derive(Debug)]
pub struct PermittedCommand<'a> {
    command: &'a mut Command,
    permission: &'a StartPermission,
    prepared: PreparedStrings,
}

impl PermittedCommand<'_> {
    /// Sets the process group, as [`Command::group`] does.
    pub fn group(&mut self, group: ProcessGroup) {
        self.command.group(group);
    }

    /// Makes the child's group the foreground group of a terminal, as [`Command::foreground_of`] does.
    pub fn foreground_of(&mut self, terminal: RawFd) {
        self.command.foreground_of(terminal);
    }

    /// Starts the process.
    ///
    /// # Errors
    /// As for [`Command::spawn`].
    pub fn spawn(&self) -> Result<Child, Error> {
        self.command.spawn_prepared(&self.prepared, self.permission)
    }
}

/// A program with its arguments, environment, working directory and descriptors.
///
/// By default, the child has an empty environment, inherits only the three standard descriptors, leads a new process group,
/// and has no signal blocked or ignored.
#[derive(Clone, Debug)]
pub struct Command {
    program: OsString,
    argument_zero: Option<OsString>,
    has_program_file: bool,
    arguments: Vec<OsString>,
    environment: Arc<Environment>,
    working_directory: Option<PathBuf>,
    descriptors: Vec<(RawFd, DescriptorSource)>,
    session: SessionSetup,
    limits: Vec<ResourceLimit>,
    nice: Option<i32>,
    umask: Option<u32>,
    sandbox: Option<Sandbox>,
    namespaces: Option<Arc<Namespaces>>,
    ignored: Signals,
    scope: Option<Scope>,
    exact_environment: bool,
    restriction: StartPermission,
    keep_tracing: bool,
    shortcuts: Shortcuts,
}

/// Work that a start may leave out.
#[derive(Clone, Copy, Debug, Default)]
struct Shortcuts {
    /// The working directory is already that of this process.
    same_directory: bool,
    /// The pidfd is opened when it is needed.
    pidfd_on_demand: bool,
}

impl Command {
    /// Makes a command for a program, which is searched in `PATH` unless its name has a slash.
    pub fn new(program: impl Into<OsString>) -> Command {
        Command {
            program: program.into(),
            argument_zero: None,
            has_program_file: false,
            arguments: Vec::new(),
            environment: Arc::default(),
            working_directory: None,
            descriptors: (0..3).map(|number| (number, DescriptorSource::Inherit(number))).collect(),
            session: SessionSetup::default(),
            limits: Vec::new(),
            nice: None,
            umask: None,
            sandbox: None,
            namespaces: None,
            ignored: Signals::default(),
            scope: None,
            exact_environment: false,
            restriction: StartPermission::all(),
            keep_tracing: false,
            shortcuts: Shortcuts::default(),
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

    /// Sets `argv[0]`. The default is the program's name.
    pub fn argument_zero(&mut self, name: impl Into<OsString>) -> &mut Command {
        self.argument_zero = Some(name.into());
        self
    }

    /// Executes an open file with `execveat` instead of the file at the program's path. A script is named `/dev/fd/63`.
    /// Applies only to [`spawn`](Command::spawn).
    pub fn program_file(&mut self, file: Arc<OwnedFd>) -> &mut Command {
        self.has_program_file = true;
        self.descriptor(PROGRAM_DESCRIPTOR, DescriptorSource::Open(file))
    }

    /// Sets the whole environment. Commands can share one.
    pub fn environment(&mut self, environment: impl Into<Arc<Environment>>) -> &mut Command {
        self.environment = environment.into();
        self
    }

    /// Sets the working directory.
    pub fn working_directory(&mut self, directory: impl Into<PathBuf>) -> &mut Command {
        self.working_directory = Some(directory.into());
        self
    }

    /// Says that the working directory is that of this process, so that the child need not enter it by its name. It then also
    /// starts there if the directory was renamed or removed.
    pub fn same_working_directory(&mut self) -> &mut Command {
        self.shortcuts.same_directory = true;
        self
    }

    /// Opens the child's pidfd only when it is [needed](Child::pidfd). It saves work for a child that is waited for at once.
    /// Only for a process whose children are reaped by this crate alone.
    pub fn pidfd_on_demand(&mut self) -> &mut Command {
        self.shortcuts.pidfd_on_demand = true;
        self
    }

    /// Sets the child's descriptor `number`, replacing an earlier setting.
    pub fn descriptor(&mut self, number: RawFd, descriptor: impl Into<DescriptorSource>) -> &mut Command {
        let descriptor = descriptor.into();
        match self.descriptors.iter_mut().find(|(taken, _)| *taken == number) {
            Some(entry) => entry.1 = descriptor,
            None => self.descriptors.push((number, descriptor)),
        }
        self
    }

    /// Closes the descriptor `number` in the child. Descriptors above 2 are closed unless they are set.
    pub fn close(&mut self, number: RawFd) -> &mut Command {
        self.descriptors.retain(|(taken, _)| *taken != number);
        self
    }

    /// Lets the child keep `CAP_SYS_PTRACE` in a [protected process](crate::protect_process).
    pub(crate) fn keep_tracing(&mut self) -> &mut Command {
        self.keep_tracing = true;
        self
    }

    /// Sets the process group.
    pub fn group(&mut self, group: ProcessGroup) -> &mut Command {
        self.session.group = group;
        self
    }

    /// Starts the child in a new session, with a terminal of the parent as its controlling terminal, or with none.
    pub fn controlling_terminal(&mut self, terminal: impl Into<Option<RawFd>>) -> &mut Command {
        self.session.group = ProcessGroup::Session;
        self.session.controlling_terminal = terminal.into();
        self
    }

    /// Makes the child's group the foreground group of a terminal of the parent, before exec.
    pub fn foreground_of(&mut self, terminal: RawFd) -> &mut Command {
        self.session.foreground_of = Some(terminal);
        self
    }

    /// Sets the signal that the child receives when the *thread* that started it ends.
    pub fn parent_death_signal(&mut self, signal: i32) -> &mut Command {
        self.session.parent_death_signal = Some(signal);
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

    /// Sets restrictions that apply from exec on.
    pub fn sandbox(&mut self, sandbox: Sandbox) -> &mut Command {
        self.sandbox = Some(sandbox);
        self
    }

    /// Sets the namespaces that the child joins. The working directory is one in them.
    pub fn namespaces(&mut self, namespaces: Arc<Namespaces>) -> &mut Command {
        self.namespaces = Some(namespaces);
        self
    }

    /// Sets the signals that the program ignores at its start. All others have their default disposition.
    pub fn ignore_signals(&mut self, signals: Signals) -> &mut Command {
        self.ignored = signals;
        self
    }

    /// Makes the child and all its descendants members of a scope.
    pub fn scope(&mut self, scope: &Scope) -> &mut Command {
        self.scope = Some(scope.clone());
        self
    }

    /// Leaves the scope's marker out of the environment, if a control group contains the scope.
    pub fn exact_environment(&mut self, exact: bool) -> &mut Command {
        self.exact_environment = exact;
        self
    }

    /// Adds a permission that must also allow the program, such as that of a session.
    pub fn restrict(&mut self, permission: &StartPermission) -> &mut Command {
        self.restriction = self.restriction.and(permission);
        self
    }

    /// Returns `argv`, the program's name first.
    pub fn argv(&self) -> impl Iterator<Item = &OsStr> {
        let first = self.argument_zero.as_ref().unwrap_or(&self.program);
        std::iter::once(first).chain(&self.arguments).map(OsString::as_os_str)
    }

    /// Returns the working directory, if it was set.
    pub fn directory(&self) -> Option<&Path> {
        self.working_directory.as_deref()
    }

    /// Returns the source of the child's descriptor `number`.
    pub(crate) fn descriptor_source(&self, number: RawFd) -> Option<&DescriptorSource> {
        self.descriptors.iter().find(|(to, _)| *to == number).map(|(_, from)| from)
    }

    /// Returns the resource limits.
    pub(crate) fn limits(&self) -> &[ResourceLimit] {
        &self.limits
    }

    /// Starts the process, if `permission` allows it. When this returns, the child runs its program.
    ///
    /// # Errors
    /// Returns the reason if the program cannot be started. No process is left then.
    pub fn spawn(&self, permission: &StartPermission) -> Result<Child, Error> {
        let prepared = PreparedStrings::new(self)?;
        self.check_permission(permission, &prepared)?;
        self.spawn_prepared(&prepared, permission)
    }

    /// Asks whether the process may be started, which can take as long as a person needs to answer.
    ///
    /// # Errors
    /// Returns the reason if it may not, or if the program cannot be found.
    pub fn permit<'a>(&'a mut self, permission: &'a StartPermission) -> Result<PermittedCommand<'a>, Error> {
        let prepared = PreparedStrings::new(self)?;
        self.check_permission(permission, &prepared)?;
        Ok(PermittedCommand { command: self, permission, prepared })
    }

    fn spawn_prepared(
        &self,
        prepared: &PreparedStrings,
        permission: &StartPermission,
    ) -> Result<Child, Error> {
        let sandboxes = AppliedSandboxes::new(self, permission);
        let filters = sandboxes.filters();
        if self.scope.as_ref().is_some_and(Scope::is_full) {
            let error = std::io::Error::from_raw_os_error(libc::EAGAIN);
            return Err(Error::system("start a process", error).with_hint("the process limit is reached"));
        }
        let environment = prepared.environment(self);
        let stack = self.limits.iter().find(|limit| limit.resource == Resource::StackSize);
        argument_size::check(
            &prepared.path,
            &prepared.argv,
            &environment,
            stack.and_then(|limit| limit.soft),
        )?;
        let descriptors: Vec<_> = self.descriptors.iter().map(|(to, from)| (from.number(), *to)).collect();
        let limits: Vec<_> = self.limits.iter().map(|limit| limit.raw()).collect();
        let join = self.scope.as_ref().map(Scope::cgroup_join).unwrap_or_default();
        let file = self.has_program_file.then_some(PROGRAM_DESCRIPTOR);
        let plan = sys::SpawnPlan {
            program: prepared.executable(file, &environment),
            descriptors: &descriptors,
            session: self.session,
            cgroups: &join,
            namespaces: self.namespaces.as_deref().map(Namespaces::join_plan).or(sandboxes.mounts()),
            attributes: self.attributes(&limits),
            restrictions: self.restrictions(&sandboxes, &filters),
            pidfd_on_demand: self.shortcuts.pidfd_on_demand,
        };
        match spawn_with_retries(&plan) {
            Ok(spawned) => Ok(Child::new(spawned, self.session.group, self.scope.clone())),
            Err(error) => Err(self.explain(error, prepared)),
        }
    }

    fn attributes<'a>(&self, limits: &'a [sys::RawLimit]) -> sys::ProcessAttributes<'a> {
        sys::ProcessAttributes {
            limits,
            nice: self.nice,
            umask: self.umask,
            ignored_signals: self.ignored.raw(),
        }
    }

    fn restrictions<'a>(
        &self,
        sandboxes: &'a AppliedSandboxes<'_>,
        filters: &'a [&'a [[u8; 8]]],
    ) -> sys::Restrictions<'a> {
        sys::Restrictions {
            keep_tracing: self.keep_tracing,
            no_new_privileges: sandboxes.no_new_privileges(),
            network: sandboxes.network(),
            landlock: &sandboxes.rulesets,
            seccomp: filters,
        }
    }

    /// Checks whether the program may start. Called by everything that starts or executes a program.
    fn check_permission(
        &self,
        permission: &StartPermission,
        prepared: &PreparedStrings,
    ) -> Result<(), Error> {
        if permission.is_unlimited() && self.restriction.is_unlimited() {
            return Ok(());
        }
        let argv: Vec<&OsStr> = self.argv().collect();
        let request = StartRequest {
            program: Path::new(OsStr::from_bytes(prepared.path.to_bytes())),
            argv: &argv,
            directory: self.working_directory.as_deref(),
        };
        // A policy that is in both is asked once.
        permission.and(&self.restriction).check(&request)
    }

    /// Replaces this process by the program, if `permission` allows it. Returns only on failure, with this process unchanged.
    ///
    /// Process group and scope are not applied: the program keeps those of this process. Sandboxes are, and this process keeps
    /// them if the program cannot be executed.
    pub fn replace(&self, permission: &StartPermission) -> Error {
        self.try_replace(permission).unwrap_or_else(|error| error)
    }

    fn try_replace(&self, permission: &StartPermission) -> Result<Error, Error> {
        let sandboxes = AppliedSandboxes::new(self, permission);
        let filters = sandboxes.filters();
        let prepared = PreparedStrings::new(self)?;
        self.check_permission(permission, &prepared)?;
        let environment = prepared.environment(self);
        argument_size::check(&prepared.path, &prepared.argv, &environment, None)?;
        let descriptors: Vec<_> = self.descriptors.iter().map(|(to, from)| (from.number(), *to)).collect();
        let limits: Vec<_> = self.limits.iter().map(|limit| limit.raw()).collect();
        let error = sys::replace(&sys::ProcessReplacement {
            program: prepared.executable(None, &environment),
            descriptors: &descriptors,
            namespaces: sandboxes.mounts(),
            attributes: self.attributes(&limits),
            restrictions: self.restrictions(&sandboxes, &filters),
        });
        Ok(self.explain(error, &prepared))
    }

    /// Returns the scope whose marker belongs into the environment.
    fn marking_scope(&self) -> Option<&Scope> {
        self.scope.as_ref().filter(|scope| !(self.exact_environment && scope.is_sealed()))
    }

    fn explain(&self, error: sys::SpawnError, prepared: &PreparedStrings) -> Error {
        let descriptors: Vec<_> = self.descriptors.iter().map(|(to, _)| *to).collect();
        let limits: Vec<_> = self.limits.iter().map(|limit| limit.resource.name()).collect();
        let subject = ErrorSubject {
            program: Path::new(OsStr::from_bytes(prepared.path.to_bytes())),
            working_directory: self.working_directory.as_deref(),
            descriptors: &descriptors,
            limits: &limits,
        };
        error::from_spawn_error(error, &subject)
    }
}
