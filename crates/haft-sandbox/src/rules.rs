//! Rules, and the sandbox that is built from them.

use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use crate::access::Access;
use crate::exceptions::ProtectedPath;
use crate::machine::Machine;
use crate::{exceptions, filter, ruleset};

/// A file or directory with everything below it, and the kinds of access to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRule {
    /// An absolute path.
    pub path: PathBuf,
    /// The kinds of access.
    pub access: Access,
}

/// The part of the network that programs may use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum NetworkRule {
    /// Everything.
    #[default]
    All,
    /// Nothing; UNIX sockets work.
    None,
    /// The network that programs are in, which is a private one: they cannot leave it, or use other kinds of network.
    Private,
    /// TCP connections to these ports and TCP servers on these ports, on any host. No other protocol.
    Ports {
        /// Ports to connect to.
        connect: Vec<u16>,
        /// Ports to listen on.
        bind: Vec<u16>,
    },
}

/// Rules for programs.
#[derive(Clone, Debug, Default)]
pub struct KernelRules {
    /// Allowed access; all other access is denied.
    pub files: Vec<FileRule>,
    /// Denied access below allowed directories.
    pub exceptions: Vec<FileRule>,
    /// The network.
    pub network: NetworkRule,
}

/// A sandbox that a child applies to itself.
#[derive(Debug)]
pub struct KernelSandbox {
    /// The Landlock ruleset. `None` if the kernel has no Landlock.
    pub landlock: Option<OwnedFd>,
    /// The seccomp filter: classic BPF instructions of eight bytes each.
    pub seccomp: Vec<[u8; 8]>,
    /// Files and directories that may not change. Only a mount namespace can protect them.
    pub protected: Vec<ProtectedPath>,
    /// Rules that this sandbox does not enforce, as sentences.
    pub unenforced: Vec<String>,
}

/// The kernel refused a ruleset.
#[derive(Debug)]
pub struct SandboxError {
    pub(crate) step: &'static str,
    pub(crate) source: io::Error,
}

impl fmt::Display for SandboxError {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(text, "cannot {}: {}", self.step, self.source)
    }
}

impl std::error::Error for SandboxError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

impl KernelRules {
    /// Allows access to a file, or to a directory with everything below it.
    pub fn allow(&mut self, path: impl Into<PathBuf>, access: Access) {
        self.files.push(FileRule { path: path.into(), access });
    }

    /// Takes access below an allowed directory away.
    pub fn except(&mut self, path: impl Into<PathBuf>, access: Access) {
        self.exceptions.push(FileRule { path: path.into(), access });
    }

    /// Builds the sandbox. Paths that do not exist are skipped.
    ///
    /// # Errors
    /// If the kernel refuses the ruleset.
    pub fn build(&self, machine: &Machine) -> Result<KernelSandbox, SandboxError> {
        let mut unenforced = Vec::new();
        let files = exceptions::expand(&self.files, &self.exceptions);
        let landlock = ruleset::create(&files, &self.network, machine, &mut unenforced)?;
        let protected = exceptions::protected_paths(&self.files, &self.exceptions);
        Ok(KernelSandbox { landlock, seccomp: filter::build(&self.network), protected, unenforced })
    }
}
