//! Whether a program may start.
//!
//! Every start asks: [`Command::spawn`](crate::Command::spawn) and [`Command::replace`](crate::Command::replace) take a
//! [`StartPermission`] as an argument, and jobs use the one of their [`Host`](crate::Host). A command can carry a further
//! one, that of the session it was made by. All of them have to agree.

use std::ffi::OsStr;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use crate::error::{Error, ErrorKind};

/// A program that is about to start, every name resolved.
#[derive(Clone, Copy, Debug)]
pub struct StartRequest<'a> {
    /// The file.
    pub program: &'a Path,
    /// The program's name for itself and its arguments.
    pub argv: &'a [&'a OsStr],
    /// The directory it starts in; `None` for that of this process.
    pub directory: Option<&'a Path>,
}

/// Why a program may not start. The reason completes the sentence "cannot start 'NAME': …".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denial {
    /// The reason, with the option or rule that it comes from.
    pub reason: String,
}

/// Decides about each program that is about to start.
pub trait StartPolicy: fmt::Debug + Send + Sync {
    /// Whether it may start.
    ///
    /// # Errors
    /// Why it may not.
    fn decide(&self, request: &StartRequest<'_>) -> Result<(), Denial>;
}

/// The permission to start programs: all, none, or those that policies allow. Cheap to clone.
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
}

impl StartPermission {
    /// All programs may start.
    #[must_use]
    pub const fn all() -> StartPermission {
        StartPermission { refused: None, policies: Vec::new() }
    }

    /// No program may start, for this reason.
    #[must_use]
    pub fn none(reason: &str) -> StartPermission {
        StartPermission { refused: Some(reason.into()), policies: Vec::new() }
    }

    /// The programs that a policy allows may start.
    #[must_use]
    pub fn by(policy: Arc<dyn StartPolicy>) -> StartPermission {
        StartPermission { refused: None, policies: vec![policy] }
    }

    /// What both permissions allow.
    #[must_use]
    pub fn and(&self, other: &StartPermission) -> StartPermission {
        let refused = self.refused.clone().or_else(|| other.refused.clone());
        StartPermission { refused, policies: [&*self.policies, &*other.policies].concat() }
    }

    /// Whether every program may start.
    pub(crate) fn is_unlimited(&self) -> bool {
        self.refused.is_none() && self.policies.is_empty()
    }

    /// Why no program at all may start, if that is so.
    #[must_use]
    pub fn refusal(&self) -> Option<&str> {
        self.refused.as_deref()
    }

    /// Whether a program may start.
    ///
    /// # Errors
    /// [`ErrorKind::Denied`], with the reason.
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
