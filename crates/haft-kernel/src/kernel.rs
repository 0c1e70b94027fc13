//! The kernel: what sessions share.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use haft_fs::{AccessMode, FileRules, FileSystem, Guarded, Local, Memory, Rooted};
use haft_process::{Disposition, Executability, Namespaces, Signals, StartPermission};

use crate::command::{Added, Backend, BuiltinTable, Command, CommandGate, StandIns};
use crate::control::Terminal;
use crate::session::HostIdentity;
use crate::signals::SignalInbox;

/// State that sessions share and cannot change: the file system, added commands, permissions.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The builtins. They are in a layer above and are found through this table.
    pub(crate) builtins: &'static BuiltinTable,
    pub(crate) files: Arc<dyn FileSystem>,
    /// The namespaces that programs join.
    pub(crate) namespaces: Option<JoinedNamespaces>,
    /// Which programs may be started.
    pub(crate) permission: StartPermission,
    /// Which commands may run in this process.
    pub(crate) gate: Option<Arc<dyn CommandGate>>,
    /// Which files may be accessed.
    file_rules: Option<Arc<dyn FileRules>>,
    /// Whether sessions cannot reach the machine: no files, programs, processes or network.
    pub(crate) isolated: bool,
    /// Whether this process is a shell and does nothing else: `exec` may replace it, and its jobs outlive it.
    pub(crate) plain_shell: bool,
    /// The terminal that an interactive shell shares with its jobs.
    pub(crate) terminal: Option<Arc<Terminal>>,
    /// The inbox for signals to the process.
    pub(crate) signals: Arc<SignalInbox>,
    /// Added commands, by name.
    pub(crate) commands: BTreeMap<Vec<u8>, Arc<dyn Command>>,
    /// Static tables of added commands, which cost nothing to set up.
    pub(crate) tables: Vec<&'static [&'static dyn Command]>,
    /// Commands that may run instead of programs.
    pub(crate) stand_ins: StandIns,
    /// Directories of scripts that run in this process.
    pub(crate) scripts: Vec<Vec<u8>>,
    /// The source of tools, which are looked up last.
    pub(crate) backend: Option<Arc<dyn Backend>>,
}

/// The files of an isolated session: in memory, at most `bytes` of them, owned by the user that the session sees.
#[must_use]
pub fn isolated_files(bytes: u64) -> Memory {
    let user = HostIdentity::nobody().user;
    Memory::with_standard_files(bytes).owned_by(user, user)
}

/// Namespaces of sessions. The kernel's files are those that the namespaces show.
#[derive(Clone, Debug)]
pub(crate) struct JoinedNamespaces {
    pub(crate) namespaces: Arc<Namespaces>,
    /// The files without the namespaces.
    outside: Arc<dyn FileSystem>,
}

/// Builds a [`Kernel`].
#[derive(Debug)]
pub struct KernelBuilder {
    kernel: Kernel,
}

impl KernelBuilder {
    /// A builder for a kernel with these builtins and the files of the machine that may start programs.
    pub(crate) fn new(builtins: &'static BuiltinTable) -> KernelBuilder {
        let kernel = Kernel {
            builtins,
            files: Arc::new(Local),
            namespaces: None,
            permission: StartPermission::all(),
            gate: None,
            file_rules: None,
            isolated: false,
            plain_shell: false,
            terminal: None,
            signals: Arc::default(),
            commands: BTreeMap::new(),
            tables: Vec::new(),
            stand_ins: StandIns::default(),
            scripts: Vec::new(),
            backend: None,
        };
        KernelBuilder { kernel }
    }
}

impl Kernel {
    /// The same kernel with the files and programs of other namespaces.
    ///
    /// # Errors
    /// If a descriptor cannot be duplicated.
    pub(crate) fn inside(&self, namespaces: Arc<Namespaces>) -> std::io::Result<Arc<Kernel>> {
        let root = namespaces.root().try_clone_to_owned()?;
        let outside = self.outside_files();
        let files: Arc<dyn FileSystem> = match &self.file_rules {
            Some(rules) => Arc::new(Guarded::new(root, rules.clone())),
            None => Arc::new(Rooted::new(root)),
        };
        Ok(Arc::new(Kernel {
            files,
            namespaces: Some(JoinedNamespaces { namespaces, outside }),
            ..self.clone()
        }))
    }

    /// The same kernel without namespaces.
    pub(crate) fn outside(&self) -> Arc<Kernel> {
        Arc::new(Kernel { files: self.outside_files(), namespaces: None, ..self.clone() })
    }

    fn outside_files(&self) -> Arc<dyn FileSystem> {
        self.namespaces.as_ref().map_or(&self.files, |joined| &joined.outside).clone()
    }

    /// Whether any program may be started.
    pub(crate) fn allows_programs(&self) -> bool {
        self.permission.refusal().is_none()
    }

    /// Whether a file can be executed.
    pub(crate) fn executability(&self, path: &Path) -> Executability {
        match self.files.metadata(path) {
            Ok(metadata) if metadata.is_dir() => Executability::Absent,
            Ok(_) if self.files.access(path, AccessMode::EXECUTE).is_ok() => Executability::Executable,
            Ok(_) => Executability::NotExecutable,
            Err(_) => Executability::Absent,
        }
    }

    /// Whether a path is a symbolic link.
    pub(crate) fn is_symlink(&self, path: &[u8]) -> bool {
        self.files.read_link(haft_text::path(path)).is_ok()
    }

    /// Ends what the backend has started, before the process becomes another program.
    pub(crate) fn release_backend(&self) {
        if let Some(backend) = &self.backend {
            backend.release();
        }
    }

    /// The added command of this name.
    #[inline]
    pub(crate) fn added(&self, name: &[u8]) -> Option<Added> {
        if let Some(command) = self.commands.get(name) {
            return Some(Added::Shared(command.clone()));
        }
        self.tables
            .iter()
            .copied()
            .flatten()
            .find(|command| command.name().as_bytes() == name)
            .map(|command| Added::Static(*command))
    }

    /// All added commands, in the order of their names.
    pub(crate) fn all_added(&self) -> Vec<&dyn Command> {
        let table = self
            .tables
            .iter()
            .copied()
            .flatten()
            .copied()
            .filter(|command| !self.commands.contains_key(command.name().as_bytes()));
        let mut all: Vec<&dyn Command> =
            self.commands.values().map(|command| &**command).chain(table).collect();
        all.sort_by_key(|command| command.name().to_owned());
        all
    }

    /// Sets the disposition of a signal in this process. Caught signals go to the inbox. Only a plain shell calls this.
    pub(crate) fn dispose(&self, signal: i32, disposition: Disposition) {
        self.signals.set_caught(signal, disposition == Disposition::Catch);
        if disposition == Disposition::Catch {
            let inbox = self.signals.clone();
            haft_process::set_signal_catcher(move |caught| inbox.raise(caught));
        }
        // Writing to a closed pipe ends the session that wrote, not the process that it shares with others. A shell ignores
        // `SIGQUIT`, which is for its programs.
        let spared = matches!(signal, Signals::PIPE | Signals::QUIT) && disposition == Disposition::Default;
        let disposition = if spared { Disposition::Ignore } else { disposition };
        let _ = haft_process::set_disposition(signal, disposition);
    }

    /// Widens the mask of the process so that it does not remove permissions that a session with this mask grants. Sessions
    /// apply their own mask when they create files.
    pub(crate) fn permit(&self, mask: u32) {
        if self.plain_shell {
            let kept = rustix::process::umask(rustix::fs::Mode::from_raw_mode(mask));
            rustix::process::umask(kept & rustix::fs::Mode::from_raw_mode(mask));
        }
    }
}

impl KernelBuilder {
    /// Sets the file system.
    #[must_use]
    pub fn files(mut self, files: Arc<dyn FileSystem>) -> Self {
        self.kernel.files = files;
        self
    }

    /// Sets whether programs may be started.
    #[must_use]
    pub fn external(self, external: bool) -> Self {
        match external {
            true => self,
            false => self.permission(&StartPermission::none("external commands are switched off")),
        }
    }

    /// Adds a permission that every program of a session needs. For tools of the sessions, the host must be
    /// [restricted](haft_process::Host::restricted) by it too.
    #[must_use]
    pub fn permission(mut self, permission: &StartPermission) -> Self {
        self.kernel.permission = self.kernel.permission.and(permission);
        self
    }

    /// Sets which commands may run in this process.
    #[must_use]
    pub fn gate(mut self, gate: Arc<dyn CommandGate>) -> Self {
        self.kernel.gate = Some(gate);
        self
    }

    /// Uses the files of the machine as far as rules allow.
    ///
    /// # Errors
    /// If the root directory cannot be opened.
    pub fn file_rules(mut self, rules: Arc<dyn FileRules>) -> std::io::Result<Self> {
        self.kernel.files = Arc::new(Guarded::of_process(rules.clone())?);
        self.kernel.file_rules = Some(rules);
        Ok(self)
    }

    /// Isolates sessions from the machine: files in memory, at most `bytes` of them, and no programs.
    #[must_use]
    pub fn isolated(mut self, bytes: u64) -> Self {
        self.kernel.isolated = true;
        let nothing = StartPermission::none("external commands are switched off by '--isolated'");
        self.files(Arc::new(isolated_files(bytes))).permission(&nothing)
    }

    /// Isolates sessions from the machine, except for these files: no programs, processes or network. The files should be
    /// [confined](Rooted::confined) or in memory. The reason is the error of every program.
    #[must_use]
    pub fn confined(mut self, files: Arc<dyn FileSystem>, reason: &str) -> Self {
        self.kernel.isolated = true;
        self.files(files).permission(&StartPermission::none(reason))
    }

    /// Says whether this process is a shell and does nothing else.
    #[must_use]
    pub fn plain_shell(mut self, plain: bool) -> Self {
        self.kernel.plain_shell = plain;
        self
    }

    /// Sets the terminal that a plain shell shares with its jobs.
    #[must_use]
    pub fn terminal(mut self, terminal: Arc<Terminal>) -> Self {
        self.kernel.terminal = Some(terminal);
        self
    }

    /// Sets the inbox for signals that this process catches.
    #[must_use]
    pub fn signals(mut self, signals: Arc<SignalInbox>) -> Self {
        self.kernel.signals = signals;
        self
    }

    /// Adds a command that runs in this process.
    #[must_use]
    pub fn command(mut self, command: Arc<dyn Command>) -> Self {
        self.kernel.commands.insert(command.name().as_bytes().to_vec(), command);
        self
    }

    /// Adds a static table of commands that run in this process. Commands added one by one take precedence, and earlier tables over
    /// later ones.
    #[must_use]
    pub fn commands(mut self, table: &'static [&'static dyn Command]) -> Self {
        self.kernel.tables.push(table);
        self
    }

    /// Adds a static table of commands that run instead of programs of the same names, if a script cannot observe the difference. Unlike
    /// [added commands](Self::commands), they do not run if `PATH` has no such program.
    #[must_use]
    pub fn stand_ins(mut self, table: &'static [&'static dyn Command]) -> Self {
        self.kernel.stand_ins.add(table);
        self
    }

    /// Lets scripts see the stand-ins with `type -a`, and turn them off with `enable -n`.
    #[must_use]
    pub fn list_stand_ins(mut self) -> Self {
        self.kernel.stand_ins.list();
        self
    }

    /// Always runs the programs of these names instead of their stand-ins. The function is called when the first stand-in is about to run.
    #[must_use]
    pub fn keep_programs(mut self, names: impl FnOnce() -> Vec<String> + Send + 'static) -> Self {
        self.kernel.stand_ins.keep_programs(names);
        self
    }

    /// Adds a directory of scripts that run in this process, by their file names.
    #[must_use]
    pub fn scripts(mut self, directory: impl Into<Vec<u8>>) -> Self {
        self.kernel.scripts.push(directory.into());
        self
    }

    /// Sets the source of tools, which are looked up last.
    #[must_use]
    pub fn backend(mut self, backend: Arc<dyn Backend>) -> Self {
        self.kernel.backend = Some(backend);
        self
    }

    /// Builds the kernel.
    #[must_use]
    pub fn build(self) -> Arc<Kernel> {
        Arc::new(self.kernel)
    }
}
