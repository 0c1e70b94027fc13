//! The configuration of tools.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use haft_config::trust::{ContentHash, TrustStore};
use haft_config::{Config, ConfigItem, ConfigSource, ErrorKind, Layer, Spanned};
use haft_mcp::{NESTED_SERVER_VARIABLE, RemoteServer, RemoteTransport};
use haft_tools::{Toolset, ToolsetItem};
use serde::Deserialize;

use crate::failure::{Failure, print_hint, print_message};
use crate::places;
use crate::process_context::ProcessContext;

/// The sections `[tools]`, `[[toolset]]`, `[[mcp]]` and `[env]`.
#[derive(Debug, Default)]
pub(crate) struct ToolSettings {
    pub(crate) schema_timeout: Option<Duration>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) output_limit: Option<u64>,
    toolsets: Vec<(String, Vec<String>)>,
    pub(crate) servers: Vec<RemoteServer>,
    /// Variables that look like keys, but are passed to an agent's scripts.
    pub(crate) env_allow: Vec<String>,
}

/// The section `[tools]` in the file, with times in seconds.
#[derive(Default, Deserialize)]
struct ToolsSection {
    schema_timeout: Option<Spanned<f64>>,
    timeout: Option<Spanned<f64>>,
    output_limit: Option<u64>,
}

/// The section `[env]` in the file.
#[derive(Default, Deserialize)]
struct EnvSection {
    allow: Option<Vec<String>>,
}

/// An item of `[[mcp]]` in the file.
#[derive(Deserialize)]
struct McpSection {
    command: Option<Vec<String>>,
    url: Option<String>,
    headers: Option<BTreeMap<String, String>>,
    env: Option<BTreeMap<String, String>>,
    tools: Option<Vec<String>>,
    timeout: Option<Spanned<f64>>,
}

impl ToolSettings {
    /// Reads the user's configuration, and the project's if it is trusted.
    pub(crate) fn read(process: &ProcessContext) -> Result<ToolSettings, Failure> {
        let places = places::find(process);
        let trust = TrustStore::open(places.state.as_deref());
        let mut config = Config::new();
        if let Some(user) = &places.user {
            config.add_file(Layer::User, user, user, &trust.owners())?;
        }
        if let Some(source) = places.project.as_ref().and_then(|project| trusted_source(project, &trust)) {
            config.add(source)?;
        }
        let written: ToolsSection = config.settings("tools")?.unwrap_or_default();
        let time = |written: Option<Spanned<f64>>| written.map(|time| seconds(&config, &time)).transpose();
        let env: EnvSection = config.settings("env")?.unwrap_or_default();
        let toolsets = config.items::<ToolsetItem>("toolset")?;
        let nested = process.variable(NESTED_SERVER_VARIABLE).is_some();
        let servers = config.items::<McpSection>("mcp")?.into_iter().filter(|_| !nested);
        let servers = servers.map(|item| server(&config, item)).collect::<Result<_, _>>()?;
        Ok(ToolSettings {
            servers,
            env_allow: env.allow.unwrap_or_default(),
            schema_timeout: time(written.schema_timeout)?,
            timeout: time(written.timeout)?,
            output_limit: written.output_limit,
            toolsets: toolsets.into_iter().map(|item| (item.name, item.value.tools)).collect(),
        })
    }

    /// The toolset with a name, or for a text with commas or `*` the toolset of these names.
    pub(crate) fn toolset(&self, name: &str) -> Result<Toolset, Failure> {
        let configured =
            self.toolsets.iter().find(|(known, _)| known == name).map(|(_, tools)| tools.clone());
        let listed = || name.contains([',', '*']).then(|| name.split(',').map(str::to_owned).collect());
        let tools: Vec<String> = configured.or_else(listed).ok_or_else(|| Failure {
            message: format!("unknown toolset '{name}'"),
            hint: haft_config::suggest(name, self.toolsets.iter().map(|(name, _)| name.as_str())).or_else(
                || {
                    Some(
                        "separate tools with commas, or define a [[toolset]] in the configuration".to_owned(),
                    )
                },
            ),
            status: 2,
        })?;
        Toolset::new(name, tools).map_err(Failure::usage)
    }

    /// The names of all toolsets.
    pub(crate) fn names(&self) -> Vec<String> {
        self.toolsets.iter().map(|(name, _)| name.clone()).collect()
    }
}

fn seconds(config: &Config, written: &Spanned<f64>) -> Result<Duration, haft_config::Error> {
    Duration::try_from_secs_f64(written.value).ok().filter(|time| !time.is_zero()).ok_or_else(|| {
        let message = format!("invalid time {} (expected seconds)", written.value);
        haft_config::Error::at(ErrorKind::WrongValue, &config.locate(written.span), message)
    })
}

/// Converts an item of `[[mcp]]`, which has either a command or a URL.
fn server(config: &Config, item: ConfigItem<McpSection>) -> Result<RemoteServer, haft_config::Error> {
    let ConfigItem { name, location, value } = item;
    let wrong = |words: &str| {
        haft_config::Error::at(ErrorKind::WrongValue, &location, format!("{words} in [[mcp]] '{name}'"))
    };
    let transport = match (value.command, value.url) {
        (Some(_), None) if value.headers.is_some() => return Err(wrong("`headers` without `url`")),
        (None, Some(_)) if value.env.is_some() => return Err(wrong("`env` without `command`")),
        (Some(command), None) => RemoteTransport::Command { command, env: value.env.unwrap_or_default() },
        (None, Some(url)) => RemoteTransport::Url { url, headers: value.headers.unwrap_or_default() },
        (Some(_), Some(_)) => return Err(wrong("both `command` and `url`")),
        (None, None) => return Err(wrong("neither `command` nor `url`")),
    };
    let timeout = value.timeout.map(|timeout| seconds(config, &timeout)).transpose()?;
    let layer = location.layer();
    Ok(RemoteServer { name, layer, transport, tools: value.tools, timeout })
}

/// The project's configuration, if it is trusted. Prints a message if it is not and contains settings of tools. The hashed
/// text is the text that is used.
fn trusted_source(project: &Path, trust: &TrustStore) -> Option<ConfigSource> {
    let source = match ConfigSource::read(Layer::Project, project, project, &trust.owners()) {
        Ok(source) => source?,
        Err(error) => {
            print_message(format_args!("{error}; the file is ignored"));
            if let Some(hint) = error.hint() {
                print_hint(hint);
            }
            return None;
        }
    };
    let path = source.path.clone()?;
    if trust.is_trusted(&path, &ContentHash::of(source.text.as_bytes())) {
        return Some(source);
    }
    if configures_tools(source) {
        let path = haft_config::printable(path);
        print_message(format_args!("'{path}' is not trusted and ignored; run `haft trust` to trust it"));
    }
    None
}

/// Whether a configuration has sections about tools, or cannot be parsed.
fn configures_tools(source: ConfigSource) -> bool {
    let mut config = Config::new();
    config.add(source).is_err()
        || ["tools", "toolset", "mcp", "env"].iter().any(|section| config.has(section))
}
