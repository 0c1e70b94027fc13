//! Policies: which commands, files, networks and variables a run may use, and how much of everything.
//!
//! A [`Policy`] is read from the section `[policy]` of a configuration file. It starts from a [`Preset`], if the section
//! names one, or else from no limits.
//!
//! ```
//! use haft_policy::{DispatchKind, CommandRequest, FileAccess, Policy, PolicyContext, PolicyVerdict};
//! use std::path::Path;
//!
//! let context = PolicyContext { project: Some("/work".into()), ..PolicyContext::default() };
//! let text = r#"
//! [policy]
//! preset = "workspace"
//!
//! [policy.commands]
//! ask = [["git", "push"]]
//!
//! [[policy.commands.rules]]
//! decision = "deny"
//! argv = ["git", "push", "--force"]
//! instead = "git push --force-with-lease"
//! "#;
//! let policy = Policy::from_text("policy.toml", text, &context)?;
//!
//! let decide = |argv: &[&[u8]]| {
//!     let directory = Path::new("/work");
//!     policy.decide_command(&CommandRequest { kind: DispatchKind::External, argv, path: None, directory })
//! };
//! assert_eq!(decide(&[b"git", b"status"]).verdict, PolicyVerdict::Allow);
//! assert_eq!(decide(&[b"sudo", b"sh", b"-c", b"git -C sub push"]).verdict, PolicyVerdict::Ask);
//! let denied = decide(&[b"git", b"push", b"origin", b"--force"]);
//! assert_eq!(denied.verdict, PolicyVerdict::Deny);
//! assert_eq!(denied.place.unwrap().to_string(), "policy.toml:8");
//!
//! assert!(policy.decide_file(FileAccess::Write, Path::new("/work/src/main.rs")).is_allowed());
//! assert!(!policy.decide_file(FileAccess::Write, Path::new("/etc/hosts")).is_allowed());
//! assert!(policy.decide_network("localhost", 8080).is_allowed());
//! # Ok::<(), haft_config::Error>(())
//! ```
//!
//! # How it decides
//!
//! The strictest rule that matches wins: deny, then ask, then allow. Only a command that no rule matches gets the default
//! decision. An `allow` rule matches its words in order. `deny` and `ask` rules match every spelling that could mean the
//! same: options in any order and grouping, options before a subcommand, any path to a program of that name. A command
//! that runs another one, such as `sudo`, `xargs` or `sh -c`, is judged together with it.
//!
//! [`Policy::narrow`] combines the policies of the user and the project. Both must allow something, so a project cannot
//! widen what the user allows.
//!
//! [`Policy::sandbox`] has the lists that a sandbox of the operating system needs for what a program does itself.
//!
//! # Limits
//!
//! Paths are compared as text: the caller resolves symbolic links first. The commands that a program starts on its own,
//! such as those in a file that `bash` or `python` runs, are not known here.

mod budget;
mod command;
mod command_rule;
mod context;
mod decision;
mod description;
mod example;
mod file_limit;
mod git;
mod layer;
mod network;
mod options;
mod path_pattern;
mod policy;
mod preset;
mod reader;
mod sandbox;
mod script_check;
mod secrets;
mod section;
mod variable;
mod wildcard;

pub use budget::Budgets;
pub use command::{CommandRequest, DispatchKind};
pub use context::PolicyContext;
pub use decision::{Decision, PolicyVerdict, RulePlace};
pub use description::RuleDescription;
pub use example::ExampleResult;
pub use file_limit::FileAccess;
pub use git::GitCapabilities;
pub use network::NetworkLevel;
pub use policy::Policy;
pub use preset::{Preset, UnknownPreset};
pub use sandbox::{SandboxPaths, SandboxRules};
pub use script_check::{FileDecision, ScriptSurroundings, StepDecision};
