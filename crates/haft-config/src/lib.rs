//! Configuration: TOML in layers, directories, and trust.
//!
//! A [`Config`] merges sources of several [`Layer`]s: embedded defaults, system, user and project. Later
//! layers override earlier ones. A table section (`[settings]`) is merged field by field. A list section
//! (`[[agent]]`) holds named items: an item replaces an earlier one of the same name as a whole and keeps its
//! position, and a new item is appended. Order is preserved because it matters.
//!
//! The crate that reads a section declares its content as a type with `serde::Deserialize`. Valid keys, value
//! types and enum variants come from that type.
//!
//! ```
//! use haft_config::{Config, Layer, Spanned, ConfigSource};
//! use serde::Deserialize;
//!
//! #[derive(Deserialize)]
//! struct Agent {
//!     bin: String,
//!     model: Option<Spanned<String>>,
//! }
//!
//! let source = |layer, text: &str| ConfigSource { layer, name: format!("{layer}.toml"), path: None, text: text.into() };
//! let mut config = Config::new();
//! config.add(source(Layer::User, "[[agent]]\nname = 'a'\nbin = 'one'\n[[agent]]\nname = 'b'\nbin = 'two'"))?;
//! config.add(source(Layer::Project, "[[agent]]\nname = 'a'\nbin = 'three'\nmodel = 'large'"))?;
//!
//! let agents = config.items::<Agent>("agent")?;
//! let bins: Vec<_> = agents.iter().map(|agent| (agent.name.as_str(), agent.value.bin.as_str())).collect();
//! assert_eq!(bins, [("a", "three"), ("b", "two")]);
//! let span = agents[0].value.model.as_ref().unwrap().span;
//! assert_eq!(config.locate(span).to_string(), "project.toml:4");
//! # Ok::<(), haft_config::Error>(())
//! ```
//!
//! Unknown sections and keys, values of the wrong type and duplicate names are errors. An [`Error`] shows the
//! line with carets, and its hint suggests the nearest valid name.
//!
//! ```
//! # use haft_config::{Config, Layer, ConfigSource};
//! # #[derive(Debug, serde::Deserialize)]
//! # struct Agent { bin: String }
//! let mut config = Config::new();
//! let text = "[[agent]]\nname = 'a'\nbni = 'one'\n".to_owned();
//! config.add(ConfigSource { layer: Layer::User, name: "config.toml".into(), path: None, text })?;
//! let error = config.items::<Agent>("agent").unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "unknown key 'bni' in [[agent]] 'a'\n --> config.toml:3:1\n  |\n3 | bni = 'one'\n  | ^^^"
//! );
//! assert_eq!(error.hint(), Some("did you mean 'bin'?"));
//! # Ok::<(), haft_config::Error>(())
//! ```
//!
//! [`Directories`] finds the directories of the installation, the user and the project. [`trust`] remembers
//! which project files the user allows to run. [`FileRules`] reads files that another user may have created.
//!
//! ```
//! use haft_config::{Directories, DirectoryInputs};
//! use std::path::Path;
//!
//! let inputs = DirectoryInputs { home: Some(Path::new("/home/me")), ..DirectoryInputs::default() };
//! assert_eq!(Directories::resolve(&inputs).user.as_deref(), Some(Path::new("/home/me/.config/haft")));
//! ```
//!
//! # Limits
//!
//! Only unit variants of enums can be read. `#[serde(flatten)]` and `#[serde(untagged)]` hide keys and
//! locations from the deserializer, so unknown keys in such types are not reported; write a visitor instead.

mod config;
mod deserialize;
mod deserialize_error;
mod directories;
mod edit;
mod error;
mod excerpt;
mod file;
mod nearest;
mod printable;
mod section;
mod source;
mod spanned;
mod tree;
pub mod trust;
mod units;

pub use config::{Config, ConfigItem};
pub use directories::{Directories, DirectoryInputs, PROJECT_DIRECTORY, find_project};
pub use edit::{ConfigText, replace_file};
pub use error::{Error, ErrorKind};
pub use file::{
    FileError, FileErrorKind, FileRules, MAX_CONFIG_BYTES, MAX_PROGRAM_BYTES, MAX_STATE_BYTES,
    MAX_TEXT_BYTES, Owners, READ_TIMEOUT, RegularFile, is_pipe,
};
pub use nearest::{all_nearest, nearest, suggest};
pub use printable::{printable, printable_text};
pub use section::{SECTIONS, Section, SectionShape};
pub use source::{CONFIG_FILE_NAME, ConfigSource, ConfigSpan, Layer, SourceLocation};
pub use spanned::Spanned;
pub use units::{duration, size};
