//! Options that choose a policy.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

const POLICY: &str = "Policy";

/// The policy of a command.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct PolicyOptions {
    /// Limit it by this policy: read-only, workspace, offline, full, or a FILE [default: the configured one]
    #[arg(long, value_name = "NAME|FILE", help_heading = POLICY)]
    pub(crate) policy: Option<OsString>,
    /// Accept it if this machine cannot enforce all of the policy
    #[arg(long, help_heading = POLICY)]
    pub(crate) best_effort: bool,
    /// The directory of the project; the working directory if there is none.
    #[arg(skip)]
    pub(crate) directory: Option<PathBuf>,
    /// Whether a person can be asked on the terminal.
    #[arg(skip)]
    pub(crate) asks: bool,
}
