//! What `check` and `plan` have in common: where the text comes from, and what names mean.

use std::ffi::{OsStr, OsString};
use std::io::Read as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;
use std::sync::OnceLock;

use haft_lang::{Resolution, Resolver, is_builtin};

use crate::arguments::ScriptArguments;
use crate::commands::check_jq;
use haft_process::{CancelToken, Host, reason};
use haft_tools::Registry;

use crate::failure::Failure;
use crate::process_context::ProcessContext;
use crate::tools::{self, ToolSettings};

/// A script's text and what it is called.
pub(crate) struct ScriptText {
    pub(crate) name: String,
    pub(crate) source: Vec<u8>,
}

/// Reads the script that the arguments name.
pub(crate) fn read(script: ScriptArguments) -> Result<ScriptText, Failure> {
    match (script.command, script.file) {
        (Some(text), _) => Ok(ScriptText { name: "-c".to_owned(), source: text.into_vec() }),
        (None, Some(file)) if file == "-" => read_input(),
        (None, Some(file)) => read_file(&file),
        (None, None) => Err(Failure::usage("no script is given")),
    }
}

fn read_input() -> Result<ScriptText, Failure> {
    let mut source = Vec::new();
    match std::io::stdin().read_to_end(&mut source) {
        Ok(_) => Ok(ScriptText { name: "standard input".to_owned(), source }),
        Err(error) => Err(Failure::usage(format!("standard input cannot be read: {}", reason(&error)))),
    }
}

fn read_file(file: &OsString) -> Result<ScriptText, Failure> {
    Ok(ScriptText { name: file.to_string_lossy().into_owned(), source: text_of_file(Path::new(file))? })
}

/// The text of a script's file, if it is text: of what is none only the beginning is read. The status is that of a shell.
pub(crate) fn text_of_file(path: &Path) -> Result<Vec<u8>, Failure> {
    const BEGINNING: u64 = 4096;
    let shown = path.display();
    let fail = |message, status| Failure { message, hint: None, status };
    let unreadable = |error: std::io::Error| {
        let status = if error.kind() == std::io::ErrorKind::NotFound { 127 } else { 126 };
        fail(format!("cannot read '{shown}': {}", reason(&error)), status)
    };
    let mut file = std::fs::File::open(path).map_err(unreadable)?;
    let mut text = Vec::new();
    file.by_ref().take(BEGINNING).read_to_end(&mut text).map_err(unreadable)?;
    if haft_text::encoding::is_binary(&text) {
        return Err(fail(format!("cannot run '{shown}': it is a binary file, not a script"), 126));
    }
    file.read_to_end(&mut text).map_err(unreadable)?;
    Ok(text)
}

/// A failure as one JSON object, for callers that asked for JSON.
pub(super) fn failure_json(failure: &Failure) -> String {
    let report = serde_json::json!({ "ok": false, "error": failure.message, "hint": failure.hint });
    report.to_string() + "\n"
}

/// What names mean in haft's process.
pub(crate) struct NameResolver<'s> {
    process: &'s ProcessContext,
    /// The tools, once a name may be one of theirs.
    registry: OnceLock<Registry>,
}

impl Resolver for NameResolver<'_> {
    fn resolve(&self, name: &[u8]) -> Resolution {
        if is_builtin(name) {
            return Resolution::Builtin;
        }
        match self.resolve_program(name) {
            Resolution::Missing if is_brought(name) => Resolution::Builtin,
            Resolution::Missing if self.is_tool(name) => Resolution::Tool,
            resolution => resolution,
        }
    }

    fn is_set(&self, variable: &[u8]) -> Option<bool> {
        Some(self.process.environment.get(OsStr::from_bytes(variable)).is_some())
    }

    fn check_jq(&self, program: &[u8]) -> Option<String> {
        check_jq::fault(program)
    }
}

impl<'s> NameResolver<'s> {
    pub(crate) fn new(process: &'s ProcessContext) -> Self {
        Self { process, registry: OnceLock::new() }
    }

    /// The same where the tools are known already.
    pub(crate) fn with(process: &'s ProcessContext, registry: Registry) -> Self {
        Self { process, registry: OnceLock::from(registry) }
    }

    /// Whether a name is a tool's, as far as that can be told without asking any.
    fn is_tool(&self, name: &[u8]) -> bool {
        let open = || {
            let settings = ToolSettings::read(self.process).unwrap_or_default();
            tools::open(self.process, Host::plain(), &settings, CancelToken::new())
        };
        let has = |name: &str| !name.contains('/') && self.registry.get_or_init(open).has(name);
        name == b"tool" || std::str::from_utf8(name).is_ok_and(has)
    }

    /// What a name means among the programs.
    fn resolve_program(&self, name: &[u8]) -> Resolution {
        let directory = self.process.working_directory.as_deref();
        let name = OsStr::from_bytes(name);
        match haft_process::find_program(name, self.process.variable("PATH"), directory) {
            Ok(path) if path.is_relative() && !exists(directory, &path) => Resolution::Unknown,
            Ok(path) if path.is_absolute() && !path.exists() => Resolution::Missing,
            Ok(path) => Resolution::External(path),
            Err(_) => Resolution::Missing,
        }
    }
}

/// Whether haft brings a command of this name.
fn is_brought(name: &[u8]) -> bool {
    haft_commands::TABLE.iter().any(|command| command.name().as_bytes() == name)
}

fn exists(directory: Option<&Path>, path: &Path) -> bool {
    directory.is_some_and(|directory| directory.join(path).exists())
}
