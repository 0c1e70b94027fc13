//! Which shell a session is: its process numbers, how deep it is nested, where its program came from.

use std::sync::Arc;

use haft_text::Bytes;

use crate::jobs::next_number;

/// The identity of a shell or subshell.
#[derive(Clone, Debug)]
pub(crate) struct ShellIdentity {
    /// `$$`, the same in all subshells.
    pid: i32,
    /// `BASHPID`: the process's number, or for a subshell a number that no process has.
    own_pid: i32,
    /// `BASH_SUBSHELL`.
    depth: u32,
    /// Whether this session is the shell of its process and not a subshell within it.
    leads_process: bool,
    program: ProgramOrigin,
    /// The name of the file that the program came from.
    script: Bytes,
    /// Whether it is a restricted shell.
    restricted: bool,
    /// The arguments that the program was started with.
    arguments: Arc<[Bytes]>,
}

/// The source of a shell's program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ProgramOrigin {
    /// A file.
    #[default]
    File,
    /// The text after `-c`.
    CommandString,
    /// Standard input.
    StandardInput,
}

impl ShellIdentity {
    /// The identity of the shell that runs as process `pid`.
    pub(super) fn new(pid: i32) -> Self {
        Self {
            pid,
            own_pid: pid,
            depth: 0,
            leads_process: true,
            program: ProgramOrigin::File,
            script: Bytes::new(),
            restricted: false,
            arguments: Arc::default(),
        }
    }

    /// The arguments that the program was started with.
    pub(crate) fn arguments(&self) -> &[Bytes] {
        &self.arguments
    }

    /// Sets the arguments that the program was started with.
    pub(super) fn set_arguments(&mut self, arguments: &[Bytes]) {
        self.arguments = arguments.into();
    }

    /// Makes it a restricted shell.
    pub(super) fn restrict(&mut self) {
        self.restricted = true;
    }

    /// Whether it is a restricted shell.
    #[inline]
    pub(crate) fn is_restricted(&self) -> bool {
        self.restricted
    }

    /// A subshell is one level deeper and has a number of its own.
    pub(super) fn for_subshell(&self) -> Self {
        Self { own_pid: next_number(), depth: self.depth + 1, leads_process: false, ..self.clone() }
    }

    /// `$$`.
    pub(crate) fn pid(&self) -> i32 {
        self.pid
    }

    /// `BASHPID`.
    pub(crate) fn own_pid(&self) -> i32 {
        self.own_pid
    }

    /// `BASH_SUBSHELL`.
    #[inline]
    pub(crate) fn depth(&self) -> u32 {
        self.depth
    }

    /// Whether this is a subshell.
    #[inline]
    pub(crate) fn is_subshell(&self) -> bool {
        self.depth > 0
    }

    /// Whether this session is the shell of its process and not a subshell within it.
    #[inline]
    pub(crate) fn leads_process(&self) -> bool {
        self.leads_process
    }

    /// Makes this the shell of the process `pid`, which is a copy of the one that the shell came from.
    pub(crate) fn lead_process(&mut self, pid: i32) {
        self.leads_process = true;
        self.own_pid = pid;
    }

    /// Gives this subshell the depth of `parent`, because the parent consists of nothing else.
    pub(crate) fn take_depth_of(&mut self, parent: &Self) {
        self.depth = parent.depth;
    }

    /// Gives this subshell the depth and `BASHPID` of `parent`, because the parent consists of nothing else.
    pub(crate) fn take_place_of(&mut self, parent: &Self) {
        self.depth = parent.depth;
        self.own_pid = parent.own_pid;
    }

    /// The source of the program.
    #[inline]
    pub(crate) fn program(&self) -> ProgramOrigin {
        self.program
    }

    /// Says where the program comes from; returns the previous origin.
    pub(crate) fn set_program(&mut self, program: ProgramOrigin) -> ProgramOrigin {
        std::mem::replace(&mut self.program, program)
    }

    /// Whether the program is the text after `-c`.
    #[inline]
    pub(crate) fn is_command_string(&self) -> bool {
        self.program == ProgramOrigin::CommandString
    }

    /// Makes a file the program.
    pub(crate) fn set_script(&mut self, name: Bytes) {
        self.script = name;
        self.program = ProgramOrigin::File;
    }

    /// The name of the script as `BASH_SOURCE` shows it.
    pub(crate) fn source_name(&self) -> Bytes {
        match self.program {
            ProgramOrigin::CommandString => "environment".into(),
            ProgramOrigin::StandardInput => "main".into(),
            ProgramOrigin::File => self.script.clone(),
        }
    }
}
