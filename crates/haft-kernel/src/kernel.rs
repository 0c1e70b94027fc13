//! What sessions share.

use std::collections::BTreeMap;
use std::sync::Arc;

use haft_fs::{FileSystem, Local, Memory};
use haft_process::{Disposition, Signals, StartPermission};

use crate::command::{Added, Backend, Command};
use crate::control::Terminal;
use crate::signals::SignalInbox;

/// Everything that does not change while sessions run: the file system, and what they may do.
#[derive(Debug)]
pub struct Kernel {
    pub(crate) files: Arc<dyn FileSystem>,
    /// Which programs may be started.
    pub(crate) permission: StartPermission,
    /// Whether sessions reach nothing of the machine: no file, no program, no process, no network.
    pub(crate) isolated: bool,
    /// Whether this process is a shell and nothing else: it may be replaced, and its jobs outlive it.
    pub(crate) plain_shell: bool,
    /// The terminal that an interactive shell shares with its jobs.
    pub(crate) terminal: Option<Arc<Terminal>>,
    /// Signals on their way to the session.
    pub(crate) signals: Arc<SignalInbox>,
    /// Commands that an embedder has added, by name.
    pub(crate) commands: BTreeMap<Vec<u8>, Arc<dyn Command>>,
    /// Commands that were there before the process: a table that costs nothing to set up.
    pub(crate) table: &'static [&'static dyn Command],
    /// Directories of scripts that run in this process.
    pub(crate) scripts: Vec<Vec<u8>>,
    /// Where tools are looked for that nothing else has.
    pub(crate) backend: Option<Arc<dyn Backend>>,
}

/// Makes a [`Kernel`].
#[derive(Debug)]
pub struct KernelBuilder {
    kernel: Kernel,
}

impl Kernel {
    /// A kernel on the machine's own files that may start programs.
    #[must_use]
    pub fn builder() -> KernelBuilder {
        let kernel = Kernel {
            files: Arc::new(Local),
            permission: StartPermission::all(),
            isolated: false,
            plain_shell: false,
            terminal: None,
            signals: Arc::default(),
            commands: BTreeMap::new(),
            table: &[],
            scripts: Vec::new(),
            backend: None,
        };
        KernelBuilder { kernel }
    }
}

impl Kernel {
    /// Whether any program may be started.
    pub(crate) fn allows_programs(&self) -> bool {
        self.permission.refusal().is_none()
    }

    /// The added command of this name.
    #[inline]
    pub(crate) fn added(&self, name: &[u8]) -> Option<Added> {
        if let Some(command) = self.commands.get(name) {
            return Some(Added::Shared(command.clone()));
        }
        self.table
            .iter()
            .find(|command| command.name().as_bytes() == name)
            .map(|command| Added::Static(*command))
    }

    /// All added commands, in the order of their names.
    pub(crate) fn all_added(&self) -> Vec<&dyn Command> {
        let table = self
            .table
            .iter()
            .copied()
            .filter(|command| !self.commands.contains_key(command.name().as_bytes()));
        let mut all: Vec<&dyn Command> =
            self.commands.values().map(|command| &**command).chain(table).collect();
        all.sort_by_key(|command| command.name().to_owned());
        all
    }

    /// Has this process ignore a signal, obey it, or catch it and put it into the inbox. Only a plain shell does that.
    pub(crate) fn dispose(&self, signal: i32, disposition: Disposition) {
        self.signals.set_caught(signal, disposition == Disposition::Catch);
        if disposition == Disposition::Catch {
            let inbox = self.signals.clone();
            haft_process::set_signal_catcher(move |caught| inbox.raise(caught));
        }
        // What is written to a closed pipe ends the session that wrote it, not the process that it shares with others; and a
        // shell lets `SIGQUIT` be for the programs that it runs.
        let spared = matches!(signal, Signals::PIPE | Signals::QUIT) && disposition == Disposition::Default;
        let disposition = if spared { Disposition::Ignore } else { disposition };
        let _ = haft_process::set_disposition(signal, disposition);
    }

    /// Sees to it that this process does not keep back permissions that a session with this mask gives. Sessions open
    /// files with the permissions they shall have, so a mask of the process that is too wide does no harm.
    pub(crate) fn permit(&self, mask: u32) {
        if self.plain_shell {
            let kept = rustix::process::umask(rustix::fs::Mode::from_raw_mode(mask));
            rustix::process::umask(kept & rustix::fs::Mode::from_raw_mode(mask));
        }
    }
}

impl KernelBuilder {
    /// The file system that everything is opened through.
    #[must_use]
    pub fn files(mut self, files: Arc<dyn FileSystem>) -> Self {
        self.kernel.files = files;
        self
    }

    /// Whether programs may be started.
    #[must_use]
    pub fn external(self, external: bool) -> Self {
        match external {
            true => self,
            false => self.permission(&StartPermission::none("external commands are switched off")),
        }
    }

    /// Adds a permission that every program of a session needs. The sessions' tools need a host that is
    /// [restricted](haft_process::Host::restricted) by it.
    #[must_use]
    pub fn permission(mut self, permission: &StartPermission) -> Self {
        self.kernel.permission = self.kernel.permission.and(permission);
        self
    }

    /// Files in memory, at most so many bytes of them, and no programs: nothing of the machine can be touched.
    #[must_use]
    pub fn isolated(mut self, bytes: u64) -> Self {
        self.kernel.isolated = true;
        let nothing = StartPermission::none("external commands are switched off by '--isolated'");
        self.files(Arc::new(Memory::with_standard_files(bytes))).permission(&nothing)
    }

    /// Says that this process is a shell and nothing else.
    #[must_use]
    pub fn plain_shell(mut self, plain: bool) -> Self {
        self.kernel.plain_shell = plain;
        self
    }

    /// The terminal that this process, a shell and nothing else, shares with its jobs.
    #[must_use]
    pub fn terminal(mut self, terminal: Arc<Terminal>) -> Self {
        self.kernel.terminal = Some(terminal);
        self
    }

    /// Where the signals that this process catches are put.
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

    /// Adds commands that run in this process, from a table. Commands added one by one come before them.
    #[must_use]
    pub fn commands(mut self, table: &'static [&'static dyn Command]) -> Self {
        self.kernel.table = table;
        self
    }

    /// Adds a directory whose files are scripts that run in this process, by their names.
    #[must_use]
    pub fn scripts(mut self, directory: impl Into<Vec<u8>>) -> Self {
        self.kernel.scripts.push(directory.into());
        self
    }

    /// Where tools are looked for that nothing else has.
    #[must_use]
    pub fn backend(mut self, backend: Arc<dyn Backend>) -> Self {
        self.kernel.backend = Some(backend);
        self
    }

    /// The kernel.
    #[must_use]
    pub fn build(self) -> Arc<Kernel> {
        Arc::new(self.kernel)
    }
}
