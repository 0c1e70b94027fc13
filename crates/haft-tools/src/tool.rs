//! Tools and their descriptors.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use haft_config::Layer;
use haft_config::trust::ContentHash;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::access::ToolAccess;
use crate::native::NativeTool;
use crate::schema::Schema;

/// The answer to `--schema`.
///
/// ```
/// let text = r#"{"name": "greet", "description": "Greets", "parameters": {"properties": {"who": {"type": "string"}}}}"#;
/// let descriptor = haft_tools::ToolDescriptor::parse(text.as_bytes()).unwrap();
/// assert_eq!(descriptor.name, "greet");
/// assert_eq!(descriptor.parameters["type"], "object");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ToolDescriptor {
    /// The name, which is also the command name in scripts.
    pub name: String,
    /// Describes the tool to the model that decides whether to call it.
    pub description: String,
    /// JSON Schema of the arguments, of type `object`.
    pub parameters: Value,
    /// JSON Schema of the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returns: Option<Value>,
    /// Default time limit of a call, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<f64>,
    /// Maximum size of the result in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_limit: Option<u64>,
    /// The paths that the tool reads and writes, so that calls can run in parallel.
    #[serde(default, skip_serializing_if = "ToolAccess::is_unknown")]
    pub access: ToolAccess,
    /// Environment variables of the caller that the tool needs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<String>,
    /// Name for people, if it differs from `name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Hints about its behaviour, in the form of MCP: `readOnlyHint`, `destructiveHint` and others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Value>,
    /// Version of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

impl ToolDescriptor {
    /// Parses and validates the output of `--schema`.
    ///
    /// # Errors
    /// Returns what is wrong and where.
    pub fn parse(bytes: &[u8]) -> Result<ToolDescriptor, String> {
        let text = std::str::from_utf8(bytes)
            .map_err(|error| format!("the schema is not UTF-8 at byte {}", error.valid_up_to()))?;
        if text.trim().is_empty() {
            return Err("the schema is empty".to_owned());
        }
        let value: Value = serde_json::from_str(text).map_err(|error| {
            format!("the schema is not JSON at byte {}: {error}", crate::text::byte_of(text, &error))
        })?;
        ToolDescriptor::from_value(value)
    }

    /// Validates a descriptor in JSON form.
    ///
    /// # Errors
    /// Returns what is wrong and where.
    pub fn from_value(value: Value) -> Result<ToolDescriptor, String> {
        if !value.is_object() {
            return Err(format!("schema must be an object, got {}", crate::text::kind(&value)));
        }
        let mut descriptor: ToolDescriptor =
            serde_json::from_value(value).map_err(|error| format!("bad schema: {error}"))?;
        descriptor.validate()?;
        Ok(descriptor)
    }

    fn validate(&mut self) -> Result<(), String> {
        if self.name.is_empty() || !self.name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        {
            return Err(format!(
                "bad schema at /name: '{}' may contain only letters, digits and '_'",
                self.name
            ));
        }
        if self.timeout.is_some_and(|seconds| Duration::try_from_secs_f64(seconds).is_err() || seconds == 0.0)
        {
            return Err("bad schema at /timeout: it must be a positive number of seconds".to_owned());
        }
        let Some(parameters) = self.parameters.as_object_mut() else {
            return Err(format!(
                "bad schema at /parameters: it must be an object, got {}",
                crate::text::kind(&self.parameters)
            ));
        };
        let kind = parameters.entry("type").or_insert_with(|| "object".into());
        if kind != "object" {
            return Err(format!("bad schema at /parameters/type: it must be \"object\", got {kind}"));
        }
        Schema::check(&self.parameters).map_err(|error| format!("bad schema at /parameters{error}"))?;
        if let Some(returns) = &self.returns {
            Schema::check(returns).map_err(|error| format!("bad schema at /returns{error}"))?;
        }
        self.access.check(&self.parameters)
    }
}

/// A tool that can be called.
#[derive(Clone, Debug)]
pub struct Tool {
    inner: Arc<ToolData>,
}

#[derive(Debug)]
struct ToolData {
    descriptor: ToolDescriptor,
    source: ToolSource,
    parameters: OnceLock<Schema>,
    returns: OnceLock<Option<Schema>>,
}

/// The source of a tool.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ToolSource {
    /// Runs in this process.
    Native(Arc<dyn NativeTool>),
    /// Runs in a [provider](crate::ToolProvider), such as an MCP server.
    Provided {
        /// The name of the provider.
        by: Arc<str>,
        /// The configuration layer that defines the provider.
        layer: Layer,
        /// Forwards calls to the provider.
        native: Arc<dyn NativeTool>,
    },
    /// An executable file.
    File(Arc<ToolFile>),
}

/// The file of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolFile {
    /// Its layer.
    pub layer: Layer,
    /// Its path.
    pub path: PathBuf,
    /// Hash of its content when it was inspected.
    pub hash: ContentHash,
    pub(crate) stamp: crate::discover::FileStamp,
}

impl Tool {
    pub(crate) fn new(descriptor: ToolDescriptor, source: ToolSource) -> Tool {
        let (parameters, returns) = (OnceLock::new(), OnceLock::new());
        Tool { inner: Arc::new(ToolData { descriptor, source, parameters, returns }) }
    }

    /// The descriptor.
    pub fn descriptor(&self) -> &ToolDescriptor {
        &self.inner.descriptor
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.inner.descriptor.name
    }

    /// The description.
    pub fn description(&self) -> &str {
        &self.inner.descriptor.description
    }

    /// The source of the tool.
    pub fn source(&self) -> &ToolSource {
        &self.inner.source
    }

    /// The layer of the tool.
    pub fn layer(&self) -> Layer {
        match &self.inner.source {
            ToolSource::Native(_) => Layer::Embedded,
            ToolSource::Provided { layer, .. } => *layer,
            ToolSource::File(file) => file.layer,
        }
    }

    /// The file, if it is an executable.
    pub fn file(&self) -> Option<&ToolFile> {
        match &self.inner.source {
            ToolSource::File(file) => Some(file),
            _ => None,
        }
    }

    /// The name of the provider, if it has one.
    pub fn provider(&self) -> Option<&str> {
        match &self.inner.source {
            ToolSource::Provided { by, .. } => Some(by),
            _ => None,
        }
    }

    /// A result of the tool as text for a model, if the tool has its own text form.
    pub fn text(&self, result: &Value) -> Option<String> {
        match &self.inner.source {
            ToolSource::Native(native) | ToolSource::Provided { native, .. } => native.text(result),
            ToolSource::File(_) => None,
        }
    }

    /// The schema of the parameters, compiled on first use.
    pub fn parameters(&self) -> &Schema {
        self.inner.parameters.get_or_init(|| Schema::new(&self.inner.descriptor.parameters))
    }

    pub(crate) fn returns(&self) -> Option<&Schema> {
        self.inner.returns.get_or_init(|| self.inner.descriptor.returns.as_ref().map(Schema::new)).as_ref()
    }

    /// The tool's own time limit.
    pub fn timeout(&self) -> Option<Duration> {
        self.inner.descriptor.timeout.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
    }
}

/// The tool's name for a file name: `file-read-tool` is `file_read`. Returns `None` if the file is not a
/// tool.
pub fn tool_name_of_file(file_name: &str) -> Option<String> {
    let name = file_name.strip_suffix("-tool")?.replace('-', "_");
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    (plain && !name.is_empty()).then_some(name)
}

/// Maximum length of a name in the APIs of models.
const MAX_MODEL_NAME: usize = 64;
/// Number of hexadecimal digits that make a changed name unique.
const HASH_DIGITS: usize = 8;

/// A tool's name for the API of a model, which accepts 1 to 64 of the characters `A-Z a-z 0-9 _ -`. The period after the name
/// of a server becomes two underscores. A name that would still be invalid or ambiguous gets a hash of the original name.
///
/// ```
/// use haft_tools::model_name;
/// assert_eq!(model_name("grep"), "grep");
/// assert_eq!(model_name("github.search"), "github__search");
/// assert_eq!(model_name("files.größe"), "files__gr__e_629caffe");
/// ```
pub fn model_name(name: &str) -> String {
    let (server, tool) = name.split_once('.').map_or((None, name), |(server, tool)| (Some(server), tool));
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    let is_clear = match server {
        Some(server) => !server.contains("__") && !server.ends_with('_') && !tool.starts_with('_'),
        None => !tool.contains("__"),
    };
    let joined = server.map_or(tool.to_owned(), |server| format!("{server}__{tool}"));
    if is_clear && (1..=MAX_MODEL_NAME).contains(&joined.len()) && joined.bytes().all(is_plain) {
        return joined;
    }
    let plain = |letter: char| if letter.is_ascii() && is_plain(letter as u8) { letter } else { '_' };
    let beginning: String = joined.chars().take(MAX_MODEL_NAME - HASH_DIGITS - 1).map(plain).collect();
    format!("{beginning}_{}", &ContentHash::of(name.as_bytes()).as_str()[..HASH_DIGITS])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_for_models_are_valid_and_differ() {
        let long = "x".repeat(80);
        let names = [
            "a.b",
            "a__b",
            "a_.b",
            "a._b",
            "a.b.c",
            "a__b.c",
            "a.b__c",
            "a.b c",
            "a.b/c",
            "é",
            "",
            &long,
            &long[..64],
        ];
        let mut all: Vec<String> = names.iter().map(|name| model_name(name)).collect();
        for name in &all {
            let valid = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
            assert!((1..=64).contains(&name.len()) && name.bytes().all(valid), "{name}");
        }
        all.sort();
        all.dedup();
        assert_eq!(all.len(), names.len(), "{all:?}");
        assert_eq!(model_name("a.b__c"), "a__b__c");
    }

    #[test]
    fn tool_names_follow_from_file_names() {
        let cases = [
            ("file-read-tool", Some("file_read")),
            ("x-tool", Some("x")),
            ("a_b-tool", Some("a_b")),
            ("-tool", None),
            ("tool", None),
            ("x-tool.py", None),
            ("x y-tool", None),
        ];
        for (file, name) in cases {
            assert_eq!(tool_name_of_file(file).as_deref(), name, "{file}");
        }
    }

    #[test]
    fn invalid_schemas_are_errors_with_a_position() {
        let cases = [
            ("", "the schema is empty"),
            ("{\"name\": \"x\", oops}", "the schema is not JSON at byte 14: "),
            ("[]", "schema must be an object, got an array"),
            ("{\"name\": \"x\"}", "bad schema: missing field `description`"),
            ("{\"name\": \"a b\", \"description\": \"\", \"parameters\": {}}", "bad schema at /name: "),
            (
                "{\"name\": \"x\", \"description\": \"\", \"parameters\": []}",
                "bad schema at /parameters: it must be an object",
            ),
            (
                "{\"name\": \"x\", \"description\": \"\", \"parameters\": {\"type\": \"array\"}}",
                "bad schema at /parameters/type: it must be \"object\", got \"array\"",
            ),
            (
                "{\"name\": \"x\", \"description\": \"\", \"parameters\": {\"properties\": {\"a\": {\"type\": \"text\"}}}}",
                "bad schema at /parameters/properties/a/type: ",
            ),
            (
                "{\"name\": \"x\", \"description\": \"\", \"parameters\": {\"$ref\": \"http://127.0.0.1:9/x\"}}",
                "bad schema at /parameters",
            ),
            (
                "{\"name\": \"x\", \"description\": \"\", \"parameters\": {}, \"timeout\": -1}",
                "bad schema at /timeout: ",
            ),
            (
                "{\"name\": \"x\", \"description\": \"\", \"parameters\": {}, \"access\": {\"read\": [\"p\"]}}",
                "bad schema at /access: unknown parameter 'p'",
            ),
            (
                "{\"name\": \"x\", \"description\": \"\", \"parameters\": {}, \"access\": \"all\"}",
                "bad schema: access must be \"none\"",
            ),
        ];
        for (text, expected) in cases {
            let error = ToolDescriptor::parse(text.as_bytes()).expect_err(text);
            assert!(error.starts_with(expected), "{text}: {error}");
        }
        assert_eq!(ToolDescriptor::parse(b"\xff"), Err("the schema is not UTF-8 at byte 0".to_owned()));
    }
}
