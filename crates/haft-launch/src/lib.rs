//! Assembles the context of an agent and becomes it.
//!
//! A launch has five steps, and each is a value that can be looked at before the next:
//!
//! ```text
//!  sources ─▶ Catalogue ─▶ Selection ─▶ Assembly ─▶ Material ─▶ Plan
//!  layers     read,        names        files       role and    every argument,
//!  of TOML    checked      found        read        prompt      variable and file
//! ```
//!
//! Only the commands that contexts are made of are run on the way, [side by side](errand::run) under supervision. What becomes
//! of a [`Plan`] is up to the program: haft's own writes the files and replaces itself by the agent.
//!
//! ```
//! use haft_config::{Layer, Source};
//! use haft_launch::{Assembly, Catalogue, Plan, Request, Surroundings};
//!
//! let text = r#"
//! [[agent]]
//! name = "echo"
//! command = ["{bin}", ["--model", "{model}"], ["--", "{prompt}"]]
//! "#;
//! let source = Source { layer: Layer::User, name: "config.toml".into(), path: None, text: text.into() };
//! let catalogue = Catalogue::read([source])?;
//!
//! let request = Request {
//!     agent: Some("echo".into()),
//!     instructions: Some(b"say {model}, $(date)".to_vec()),
//!     ..Request::default()
//! };
//! let surroundings = Surroundings { working_directory: "/".into(), ..Surroundings::default() };
//! let selection = catalogue.select(&request, &surroundings)?;
//! let assembly = Assembly::new(&selection, &request, &surroundings);
//! assert!(assembly.errands().is_empty());
//! let material = assembly.finish(&[])?;
//! let plan = Plan::new(&selection, &request, &material, &surroundings, "/tmp/launch".as_ref())?;
//! assert_eq!(plan.argv, ["echo", "--", "say {model}, $(date)"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Values are inserted once. Whatever a file, a command or a user says, it is not looked at for placeholders again, and it is
//! never text for a shell.
//!
//! # Limits
//!
//! What an agent's definition says about its program is believed. A file is read up to 16 MiB, a command's output up to one.
//! Prompts are bytes; where an agent wants a JSON string (`{role:json}`), what is no UTF-8 is replaced.

mod agent;
mod catalogue;
mod describe;
pub mod errand;
mod error;
mod files;
mod material;
mod mcp;
mod name;
mod plan;
mod recipe;
mod selection;
mod source_file;
mod surroundings;
mod template;
mod trust;
mod words;
mod written;

pub use agent::{Agent, Way};
pub use catalogue::{Catalogue, Context, Role, Task, embedded};
pub use error::{Error, ErrorKind};
pub use files::{Files, clean};
pub use material::{Assembly, Material};
pub use mcp::{McpConfig, mcp_config, mcp_kinds};
pub use plan::Plan;
pub use recipe::{DEFAULT_TIMEOUT, Recipe};
pub use selection::{Kind, Request, Selection};
pub use surroundings::Surroundings;
pub use template::{AGENT_PLACEHOLDERS, TEMPLATE_PLACEHOLDERS};
pub use trust::standing;
