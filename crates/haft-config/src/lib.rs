//! Configuration: layers of TOML, the locations it is found in, and what is trusted.
//!
//! A [`Config`] is made of sources, each a text of a [`Layer`]: what comes with the program, the machine's, the user's,
//! the project's. Later ones win, in two ways. A section in single brackets holds settings, which are merged field by
//! field. A section in double brackets is a list of items, each with a name: an item replaces an earlier one of its name as a
//! whole and keeps its location; a new one comes after all that are there. Order is kept, because it matters.
//!
//! What a section holds is declared by the crate that reads it, as a type with `serde::Deserialize`: the keys that are
//! known, the values they take, the words of a choice are all learnt from there.
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
//! What is wrong is refused: keys and sections that nobody knows, values of another type, names that stand twice. An
//! [`Error`] shows the line with carets under what is meant, and hints at the nearest name that would have been right.
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
//!     "unknown key \"bni\" in [[agent]] \"a\"\n --> config.toml:3:1\n  |\n3 | bni = 'one'\n  | ^^^"
//! );
//! assert_eq!(error.hint(), Some("did you mean \"bin\"?"));
//! # Ok::<(), haft_config::Error>(())
//! ```
//!
//! [`Directories`] names the directories that all of this is found in, and [`trust`] remembers which files of projects the user
//! has allowed to run.
//!
//! ```
//! use haft_config::{Directories, DirectoryInputs};
//! use std::path::Path;
//!
//! let sources = DirectoryInputs { home: Some(Path::new("/home/me")), ..DirectoryInputs::default() };
//! assert_eq!(Directories::resolve(&sources).user.as_deref(), Some(Path::new("/home/me/.config/haft")));
//! ```
//!
//! # Limits
//!
//! A choice is one word: enumerations with data cannot be read. Types that flatten others or look at a value before
//! they decide (`#[serde(flatten)]`, `#[serde(untagged)]`) hide their keys and locations from the reader; write a visitor instead.

mod config;
mod deserialize;
mod deserialize_error;
mod directories;
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

pub use config::{Config, ConfigItem};
pub use directories::{Directories, DirectoryInputs, PROJECT_DIRECTORY, find_project};
pub use error::{Error, ErrorKind};
pub use file::{
    FileError, FileErrorKind, FileRules, MAX_CONFIG_BYTES, MAX_PROGRAM_BYTES, MAX_STATE_BYTES,
    MAX_TEXT_BYTES, Owners, READ_TIMEOUT, RegularFile,
};
pub use nearest::{all_nearest, nearest, suggest};
pub use printable::{printable, printable_text};
pub use section::{SECTIONS, Section, SectionShape};
pub use source::{CONFIG_FILE_NAME, ConfigSource, ConfigSpan, Layer, SourceLocation};
pub use spanned::Spanned;
