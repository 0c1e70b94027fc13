//! Setting up a new session.

use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use haft_fs::FileSystem;
use haft_lang::ast::CommandKind;
use haft_process::{CancelToken, Signals};
use haft_text::Bytes;

use crate::io::OpenFile;
use crate::kernel::Kernel;
use crate::options::{SetOption, ShellOption, ShellOptions};
use crate::session::{Definition, HostIdentity, ProgramOrigin, Session};
use crate::variables::{Attributes, IndexedArray, Variable, VariableValue, is_name};

/// The version of bash that scripts see.
pub const BASH_VERSION: &str = "5.2.15(1)-release";

impl Session {
    /// A session with only the variables that every shell has: no environment, no descriptors.
    #[must_use]
    pub fn hermetic(kernel: Arc<Kernel>) -> Self {
        let none: [(&[u8], &[u8]); 0] = [];
        Self::with_environment(kernel, none, "/")
    }

    /// A session with an environment and a working directory.
    #[must_use]
    pub fn with_environment<N: AsRef<[u8]>, V: AsRef<[u8]>>(
        kernel: Arc<Kernel>,
        environment: impl IntoIterator<Item = (N, V)>,
        directory: impl AsRef<Path>,
    ) -> Self {
        let mut session = Self::new(kernel);
        session.import_environment(environment);
        session.set_directory(directory);
        session
    }

    /// A session that cannot touch the machine: files in memory, at most `bytes` of them, and no programs.
    #[must_use]
    pub fn isolated(bytes: u64) -> Self {
        Self::hermetic(Kernel::builder().isolated(bytes).build())
    }

    /// A session that can touch only these files of the machine, and starts no programs.
    #[must_use]
    pub fn confined(files: Arc<dyn FileSystem>) -> Self {
        Self::hermetic(Kernel::builder().confined(files, "external commands are switched off").build())
    }

    /// Opens a file descriptor of the process under a number.
    pub fn open_descriptor(&mut self, number: u32, descriptor: OwnedFd) {
        self.open_files.set(number, Arc::new(OpenFile::real(descriptor)));
    }

    /// Opens a file descriptor under a number, which the process has inherited without a wish of the script.
    pub fn inherit_descriptor(&mut self, number: u32, descriptor: OwnedFd) {
        self.open_files.inherit(number, Arc::new(OpenFile::real(descriptor)));
    }

    /// Imports an environment as exported variables and functions, and sets the variables that every shell has.
    pub fn import_environment<N: AsRef<[u8]>, V: AsRef<[u8]>>(
        &mut self,
        environment: impl IntoIterator<Item = (N, V)>,
    ) {
        for (name, value) in environment {
            let (name, value) = (name.as_ref(), value.as_ref());
            if let Some(function) = name.strip_prefix(b"BASH_FUNC_").and_then(|name| name.strip_suffix(b"%%"))
            {
                self.import_function(function, value);
            } else if is_name(name) {
                self.variables.insert(name, Variable::scalar(value).with(Attributes::EXPORT));
            } else {
                self.variables.keep_foreign(name, value);
            }
        }
        self.install();
    }

    /// Defines a function from the environment.
    fn import_function(&mut self, name: &[u8], body: &[u8]) {
        let source = [name, b" ", body].concat();
        let Ok(program) = haft_lang::parse(&source, &haft_lang::ParseOptions::default()) else { return };
        let [statement] = &*program.body.statements else { return };
        let [command] = &*statement.first.stages else { return };
        // The name must be the one that was parsed, so that it cannot contain other text.
        if let CommandKind::Function(function) = &command.kind
            && statement.rest.is_empty()
            && *function.name == *name
        {
            let definition = Definition {
                function: function.clone(),
                source: "environment".into(),
                text: Some(source.as_slice().into()),
                exported: true,
                readonly: false,
                traced: false,
            };
            self.definitions.functions_mut().insert(function.name.clone(), Arc::new(definition));
        }
    }

    /// Sets the variables that every shell has.
    fn install(&mut self) {
        self.install_computed();
        for (name, value) in [
            ("IFS", " \t\n"),
            ("OPTERR", "1"),
            ("PS4", "+ "),
            ("BASH_VERSION", BASH_VERSION),
            ("HOSTTYPE", std::env::consts::ARCH),
            ("OSTYPE", "linux-gnu"),
        ] {
            let kept = name == "PS4" && self.variables.get(b"PS4").is_some();
            if !kept {
                self.variables.insert(name.as_bytes(), Variable::scalar(value));
            }
        }
        let machine = format!("{}-pc-linux-gnu", std::env::consts::ARCH);
        let version: Vec<Bytes> =
            ["5", "2", "15", "1", "release", &machine].into_iter().map(Bytes::from).collect();
        let version = Variable::new(VariableValue::Indexed(Arc::new(IndexedArray::from_values(version))));
        self.variables.insert(b"BASH_VERSINFO", version.with(Attributes::READONLY));
        self.variables.insert(b"MACHTYPE", Variable::scalar(machine));
        self.variables.insert(b"OPTIND", Variable::scalar("1").with(Attributes::INTEGER));
        self.install_process();
    }

    /// Changes `SHLVL`: plus one when a shell starts, minus one when a program replaces it.
    pub(crate) fn change_shell_level(&mut self, difference: i64) {
        const MAX_LEVEL: i64 = 999;
        let level = self.value(b"SHLVL").and_then(|value| value.lossy().parse::<i64>().ok()).unwrap_or(0);
        let level = match level.saturating_add(difference).max(0) {
            high if high > MAX_LEVEL => {
                self.report(format_args!("warning: shell level ({high}) too high, resetting to 1"));
                1
            }
            level => level,
        };
        self.variables.insert(b"SHLVL", Variable::scalar(level.to_string()).with(Attributes::EXPORT));
    }

    fn install_process(&mut self) {
        let fixed = Attributes::INTEGER.union(Attributes::READONLY);
        let identity = HostIdentity::of(&self.kernel);
        for (name, number) in [
            ("UID", identity.user.to_string()),
            ("EUID", identity.effective_user.to_string()),
            ("PPID", identity.parent.to_string()),
        ] {
            self.variables.insert(name.as_bytes(), Variable::scalar(number).with(fixed));
        }
        if self.variables.get(b"HOSTNAME").is_none() {
            self.variables.insert(b"HOSTNAME", Variable::scalar(identity.host));
        }
        self.change_shell_level(1);
    }

    /// Ignores signals that were ignored when the shell started. As in bash, no trap can change that.
    pub fn ignore_permanently(&mut self, signals: Signals) {
        if signals != Signals::none() {
            self.traps.fix(signals);
        }
    }

    /// Sets the working directory and `PWD`.
    pub fn set_directory(&mut self, directory: impl AsRef<Path>) {
        let directory = directory.as_ref().as_os_str().as_bytes();
        self.change_directory(directory);
        self.variables.insert(b"PWD", Variable::scalar(directory).with(Attributes::EXPORT));
        if self.variables.get(b"OLDPWD").is_none() {
            self.variables.insert(b"OLDPWD", Variable::unset(Attributes::EXPORT));
        }
    }

    /// Enters the working directory of this process, which must not change it afterwards.
    pub fn enter_process_directory(&mut self, directory: impl AsRef<Path>) {
        self.set_directory(directory);
        self.note_process_directory();
    }

    /// The exported variables.
    pub fn exports(&mut self) -> Arc<haft_process::Environment> {
        self.variables.environment()
    }

    /// Sets `$0` and the arguments of a script given as text, as after `-c`.
    pub fn set_command(&mut self, name: &[u8], arguments: Vec<Bytes>) {
        self.parameters.set_zero(name.into());
        self.identity.set_program(ProgramOrigin::CommandString);
        self.identity.set_arguments(&arguments);
        self.parameters.set_positional(arguments);
    }

    /// Sets `$0` and the arguments of a script in a file.
    pub fn set_script(&mut self, name: &[u8], arguments: Vec<Bytes>) {
        self.parameters.set_zero(name.into());
        self.identity.set_script(name.into());
        self.identity.set_arguments(&arguments);
        self.parameters.set_positional(arguments);
    }

    /// Sets `$0` and the arguments of a script on standard input.
    pub fn set_input(&mut self, name: &[u8], arguments: Vec<Bytes>) {
        self.parameters.set_zero(name.into());
        self.identity.set_program(ProgramOrigin::StandardInput);
        self.identity.set_arguments(&arguments);
        self.parameters.set_positional(arguments);
    }

    /// Turns an option of `set` on or off, with all its effects.
    pub fn set_option(&mut self, option: SetOption, on: bool) {
        self.options.put(option, on);
        match option {
            SetOption::InteractiveComments => self.options.put_shell(ShellOption::InteractiveComments, on),
            SetOption::Emacs if on => self.options.put(SetOption::Vi, false),
            SetOption::Vi if on => self.options.put(SetOption::Emacs, false),
            SetOption::Posix => self.apply_posix_mode(on),
            SetOption::IgnoreEof if on => self.variables.insert(b"IGNOREEOF", Variable::scalar("10")),
            SetOption::IgnoreEof => drop(self.variables.unset(b"IGNOREEOF", false)),
            SetOption::History => self.follow_history_option(on),
            _ => {}
        }
    }

    /// Turns the effects of POSIX mode on or off.
    fn apply_posix_mode(&mut self, on: bool) {
        for option in [ShellOption::ExpandAliases, ShellOption::InheritErrorExit, ShellOption::ShiftVerbose] {
            self.options
                .put_shell(option, on || (self.is_interactive() && option == ShellOption::ExpandAliases));
        }
        match on {
            true if self.variables.get(b"POSIXLY_CORRECT").is_some() => {}
            true => self.variables.insert(b"POSIXLY_CORRECT", Variable::scalar("y")),
            false => drop(self.variables.unset(b"POSIXLY_CORRECT", false)),
        }
    }

    /// Turns an option of `shopt` on or off.
    pub fn set_shell_option(&mut self, option: ShellOption, on: bool) {
        self.options.put_shell(option, on);
        if option == ShellOption::ExtendedDebug {
            self.options.put(SetOption::FunctionTrace, on);
            self.options.put(SetOption::ErrorTrace, on);
        }
    }

    /// The options.
    #[must_use]
    pub fn options(&self) -> ShellOptions {
        self.options
    }

    /// Sets the file mode creation mask.
    pub fn set_umask(&mut self, mask: u32) {
        self.open_files.set_umask(mask & 0o777);
    }

    /// The file mode creation mask.
    #[must_use]
    pub fn umask(&self) -> u32 {
        self.open_files.umask()
    }

    /// The token that cancels the session.
    #[must_use]
    pub fn cancel_token(&self) -> &CancelToken {
        self.limits.cancel()
    }

    /// Makes a token cancel the session.
    pub fn set_cancel_token(&mut self, token: CancelToken) {
        self.limits.set_cancel(token);
    }
}
