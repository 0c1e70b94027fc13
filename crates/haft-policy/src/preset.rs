//! The presets.

use std::fmt;
use std::str::FromStr;

use haft_config::{ConfigSource, Layer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A policy that comes with haft.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// Commands change nothing and use no network.
    ReadOnly,
    /// Commands change the project and temporary files, and reach no other machine.
    Workspace,
    /// Everything but a network beyond this machine.
    Offline,
    /// Everything.
    Full,
}

impl Preset {
    /// All presets, the strictest first.
    pub const ALL: [Preset; 4] = [Preset::ReadOnly, Preset::Workspace, Preset::Offline, Preset::Full];

    /// The name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Preset::ReadOnly => "read-only",
            Preset::Workspace => "workspace",
            Preset::Offline => "offline",
            Preset::Full => "full",
        }
    }

    /// The text of the policy, in TOML.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Preset::ReadOnly => include_str!("presets/read-only.toml"),
            Preset::Workspace => include_str!("presets/workspace.toml"),
            Preset::Offline => include_str!("presets/offline.toml"),
            Preset::Full => include_str!("presets/full.toml"),
        }
    }

    pub(crate) fn source(self) -> ConfigSource {
        ConfigSource {
            layer: Layer::Embedded,
            name: format!("preset {self}"),
            path: None,
            text: self.text().to_owned(),
        }
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// There is no preset of this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownPreset {
    name: String,
}

impl UnknownPreset {
    /// A hint with the nearest name, or all names.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        haft_config::suggest(&self.name, Preset::ALL.map(Preset::as_str))
    }
}

impl fmt::Display for UnknownPreset {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "unknown policy '{}'", self.name)
    }
}

impl std::error::Error for UnknownPreset {}

impl FromStr for Preset {
    type Err = UnknownPreset;

    fn from_str(name: &str) -> Result<Preset, UnknownPreset> {
        let found = Preset::ALL.into_iter().find(|preset| preset.as_str() == name);
        found.ok_or_else(|| UnknownPreset { name: name.to_owned() })
    }
}
