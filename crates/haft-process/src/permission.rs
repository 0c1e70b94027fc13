//! Permission to start programs.
//!
//! [`Command::spawn`](crate::Command::spawn) and [`Command::replace`](crate::Command::replace) require a
//! [`StartPermission`]. Jobs use that of their [`Host`](crate::Host). A command can have another one, such as that of its
//! session. A program starts only if all of them allow it. A permission can also require a [`Sandbox`], so that every program
//! that starts with it is confined.

use std::ffi::OsStr;
use std::fmt;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::Arc;

use crate::command::Sandbox;
use crate::error::{Error, ErrorKind};
use crate::namespace::Namespaces;
use crate::network::PrivateNetwork;
use crate::sys;

/// A program that is about to start, with its path resolved.
#[derive(Clone, Copy, Debug)]
pub struct StartRequest<'a> {
    /// The file to execute.
    pub program: &'a Path,
    /// The program's name and arguments.
    pub argv: &'a [&'a OsStr],
    /// The working directory; `None` for that of this process.
    pub directory: Option<&'a Path>,
}

/// The refusal of a program. The reason completes the message "cannot start 'NAME': …".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denial {
    /// The reason, which names the option or rule.
    pub reason: String,
}

/// Decides which programs may start.
pub trait StartPolicy: fmt::Debug + Send + Sync {
    /// Checks a program.
    ///
    /// # Errors
    /// Returns a denial if the program may not start.
    fn decide(&self, request: &StartRequest<'_>) -> Result<(), Denial>;
}

/// Permission to start all programs, none, or those that policies allow.
///
/// ```
/// use haft_process::{Command, ErrorKind, StartPermission};
///
/// let none = StartPermission::none("programs are switched off");
/// let error = Command::new("true").spawn(&none).unwrap_err();
/// assert_eq!((error.kind(), error.exit_code()), (ErrorKind::Denied, 126));
/// ```
#[derive(Clone, Debug)]
pub struct StartPermission {
    refused: Option<Arc<str>>,
    policies: Vec<Arc<dyn StartPolicy>>,
    sandboxes: Vec<Arc<Sandbox>>,
}

impl StartPermission {
    /// Allows all programs.
    #[must_use]
    pub const fn all() -> StartPermission {
        StartPermission { refused: None, policies: Vec::new(), sandboxes: Vec::new() }
    }

    /// Allows no program, for a reason.
    #[must_use]
    pub fn none(reason: &str) -> StartPermission {
        StartPermission { refused: Some(reason.into()), ..StartPermission::all() }
    }

    /// Allows the programs that a policy allows.
    #[must_use]
    pub fn by(policy: Arc<dyn StartPolicy>) -> StartPermission {
        StartPermission { policies: vec![policy], ..StartPermission::all() }
    }

    /// Allows all programs, in a sandbox.
    #[must_use]
    pub fn in_sandbox(sandbox: Arc<Sandbox>) -> StartPermission {
        StartPermission { sandboxes: vec![sandbox], ..StartPermission::all() }
    }

    /// Allows the programs that both permissions allow, in the sandboxes of both.
    #[must_use]
    pub fn and(&self, other: &StartPermission) -> StartPermission {
        let refused = self.refused.clone().or_else(|| other.refused.clone());
        StartPermission {
            refused,
            policies: union(&self.policies, &other.policies),
            sandboxes: union(&self.sandboxes, &other.sandboxes),
        }
    }

    /// The sandboxes that every program needs.
    pub(crate) fn sandboxes(&self) -> impl Iterator<Item = &Arc<Sandbox>> {
        self.sandboxes.iter()
    }

    /// Whether programs start in a sandbox.
    #[must_use]
    pub fn has_sandbox(&self) -> bool {
        !self.sandboxes.is_empty()
    }

    /// The network of all programs, if they have one of their own.
    #[must_use]
    pub fn private_network(&self) -> Option<&PrivateNetwork> {
        self.sandboxes.iter().find_map(|sandbox| sandbox.network.as_deref())
    }

    /// Checks a path that this process is about to change for a program. Where a thread cannot be [confined](Self::confine_thread)
    /// to a mount namespace, this is all that protects paths in directories that may change.
    ///
    /// # Errors
    /// If the path is protected.
    pub fn check_change(&self, path: &Path) -> std::io::Result<()> {
        let mut mounts = self.sandboxes.iter().filter_map(|sandbox| sandbox.mounts.as_ref());
        match mounts.any(|mounts| mounts.protects(path)) {
            true => Err(rustix::io::Errno::ROFS.into()),
            false => Ok(()),
        }
    }

    /// Confines this thread, and threads and programs that it starts, to the files that programs of this permission may access. This
    /// cannot be undone.
    ///
    /// # Errors
    /// If the system refuses a ruleset or a namespace.
    pub fn confine_thread(&self) -> std::io::Result<()> {
        let mounts = self.sandboxes.iter().find_map(|sandbox| sandbox.mounts.as_deref());
        mounts.map_or(Ok(()), Namespaces::enter_in_thread)?;
        let rulesets = self.sandboxes.iter().filter_map(|sandbox| sandbox.landlock.as_deref());
        rulesets.map(AsRawFd::as_raw_fd).try_for_each(sys::confine_thread)
    }

    /// Whether all programs are allowed.
    pub(crate) fn is_unlimited(&self) -> bool {
        self.refused.is_none() && self.policies.is_empty()
    }

    /// Returns the reason if no program is allowed.
    #[must_use]
    pub fn refusal(&self) -> Option<&str> {
        self.refused.as_deref()
    }

    /// Checks whether a program may start.
    ///
    /// # Errors
    /// [`ErrorKind::Denied`] with the reason, if it may not.
    pub fn check(&self, request: &StartRequest<'_>) -> Result<(), Error> {
        let denied = |reason: &str| {
            let shown = request.argv.first().copied().unwrap_or(request.program.as_os_str());
            Error::new(ErrorKind::Denied, format!("cannot start '{}': {reason}", shown.display()))
                .with_path(request.program)
        };
        if let Some(reason) = &self.refused {
            return Err(denied(reason));
        }
        let decisions = self.policies.iter().map(|policy| policy.decide(request));
        decisions.collect::<Result<(), Denial>>().map_err(|denial| denied(&denial.reason))
    }
}

/// The members of both lists, each once.
fn union<T: ?Sized>(one: &[Arc<T>], other: &[Arc<T>]) -> Vec<Arc<T>> {
    let is_new = |item: &&Arc<T>| !one.iter().any(|known| Arc::ptr_eq(known, item));
    one.iter().chain(other.iter().filter(is_new)).cloned().collect()
}
