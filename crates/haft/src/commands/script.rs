//! The script that `run`, `check` and `plan` read, and the meaning of its command names.

use std::ffi::{OsStr, OsString};
use std::io::Read as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;
use std::sync::OnceLock;

use haft_lang::{Resolution, Resolver, is_builtin};

use haft_process::{CancelToken, Host, reason};
use haft_tools::Registry;

use crate::commands::check_jq;
use crate::commands::options::ScriptArguments;
use crate::failure::{CANNOT_RUN_STATUS, Failure, NOT_FOUND_STATUS};
use crate::process_context::ProcessContext;
use crate::tools::{self, ToolSettings};

/// A script's text, and its name in messages.
pub(crate) struct ScriptText {
    pub(crate) name: String,
    pub(crate) source: Vec<u8>,
}

/// Reads the script that the arguments name; `command` is the command that they belong to, for hints.
///
/// # Errors
/// If there is no script, or it cannot be read, or is not text.
pub(crate) fn read(script: ScriptArguments, command: &str) -> Result<ScriptText, Failure> {
    match (script.command, script.file) {
        (Some(text), _) => Ok(ScriptText { name: "-c".to_owned(), source: text.into_vec() }),
        (None, Some(file)) if file == "-" => read_input(),
        (None, Some(file)) => read_file(&file, command),
        (None, None) => Err(Failure::usage("no script was given")
            .with_hint(format_args!("type: {command} FILE, or {command} -c 'TEXT'"))),
    }
}

fn read_input() -> Result<ScriptText, Failure> {
    let mut source = Vec::new();
    match std::io::stdin().read_to_end(&mut source) {
        Ok(_) => Ok(ScriptText { name: "standard input".to_owned(), source }),
        Err(error) => Err(Failure::usage(format!("standard input cannot be read: {}", reason(&error)))),
    }
}

fn read_file(file: &OsString, command: &str) -> Result<ScriptText, Failure> {
    let source = text_of_file(Path::new(file)).map_err(|failure| {
        // A command line, or a program, in the place of a file.
        let is_missing = failure.status == NOT_FOUND_STATUS;
        let name = file.as_bytes();
        let is_command = looks_like_shell(name) || (!name.contains(&b'/') && is_command_name(file));
        match is_missing && is_command {
            true => failure.with_hint(format_args!("did you mean: {command} -c {}", quote(file))),
            false => failure,
        }
    })?;
    Ok(ScriptText { name: file.to_string_lossy().into_owned(), source })
}

/// Reads the text of a script's file.
///
/// # Errors
/// If it cannot be read, or is a binary file, with the exit status that a shell uses.
pub(crate) fn text_of_file(path: &Path) -> Result<Vec<u8>, Failure> {
    /// A binary file is recognized by its beginning.
    const PROBE_BYTES: u64 = 4096;
    let shown = path.display();
    let unreadable = |error: std::io::Error| {
        let is_missing = error.kind() == std::io::ErrorKind::NotFound;
        let status = if is_missing { NOT_FOUND_STATUS } else { CANNOT_RUN_STATUS };
        Failure::new(format_args!("cannot read '{shown}': {}", reason(&error)), status)
    };
    let mut file = std::fs::File::open(path).map_err(unreadable)?;
    let mut text = Vec::new();
    file.by_ref().take(PROBE_BYTES).read_to_end(&mut text).map_err(unreadable)?;
    if haft_text::encoding::is_binary(&text) {
        return Err(Failure::new(
            format_args!("cannot run '{shown}': it is a binary file, not a script"),
            CANNOT_RUN_STATUS,
        )
        .with_hint(format_args!("to run a program, type: haft spawn -- {}", quote(path.as_os_str()))));
    }
    file.read_to_end(&mut text).map_err(unreadable)?;
    Ok(text)
}

/// Whether a word can only be meant as shell code: it contains blanks or operators.
pub(crate) fn looks_like_shell(word: &[u8]) -> bool {
    word.iter().any(|byte| b" \t\n|&;<>$`(){}*".contains(byte))
}

/// Whether a word is the name of a builtin or a command of haft.
fn is_command_name(word: &OsStr) -> bool {
    is_builtin(word.as_bytes()) || is_brought(word.as_bytes())
}

/// A word as one word of a shell, in quotes if it needs them.
pub(crate) fn quote(word: &OsStr) -> String {
    let text = word.to_string_lossy();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./+:,@%=".contains(&byte);
    match !text.is_empty() && text.bytes().all(is_plain) {
        true => text.into_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

/// Resolves command names and variables as the process would that haft runs in.
pub(crate) struct NameResolver<'s> {
    process: &'s ProcessContext,
    /// The tools, opened when a name may be one of theirs.
    registry: OnceLock<Registry>,
    /// Whether tools and commands of haft are among the names.
    knows_tools: bool,
}

impl Resolver for NameResolver<'_> {
    fn resolve(&self, name: &[u8]) -> Resolution {
        if is_builtin(name) {
            return Resolution::Builtin;
        }
        match self.resolve_program(name) {
            resolution if !self.knows_tools => resolution,
            Resolution::Missing if is_brought(name) => Resolution::Builtin,
            Resolution::Missing if self.is_tool(name) => Resolution::Tool,
            resolution => resolution,
        }
    }

    fn is_set(&self, variable: &[u8]) -> Option<bool> {
        Some(self.process.environment.get(OsStr::from_bytes(variable)).is_some())
    }

    fn check_jq(&self, program: &[u8]) -> Option<String> {
        check_jq::syntax_error(program)
    }

    fn check_arguments(&self, name: &[u8], arguments: &[&[u8]]) -> Option<String> {
        if is_brought(name) {
            return haft_commands::argument_problem(name, arguments);
        }
        match self.resolve(name) {
            Resolution::Tool => self.check_tool(name, arguments),
            _ => None,
        }
    }
}

impl<'s> NameResolver<'s> {
    pub(crate) fn new(process: &'s ProcessContext) -> Self {
        Self { process, registry: OnceLock::new(), knows_tools: true }
    }

    /// A resolver for a script that another shell runs.
    pub(crate) fn without_tools(process: &'s ProcessContext) -> Self {
        Self { process, registry: OnceLock::new(), knows_tools: false }
    }

    /// A resolver with a registry that is open already.
    pub(crate) fn with(process: &'s ProcessContext, registry: Registry) -> Self {
        Self { process, registry: OnceLock::from(registry), knows_tools: true }
    }

    /// Whether a name is a tool's. No tool is started to find out.
    fn is_tool(&self, name: &[u8]) -> bool {
        let open = || {
            let settings = ToolSettings::read(self.process).unwrap_or_default();
            tools::open(self.process, Host::plain(), &settings, CancelToken::new())
        };
        let has = |name: &str| !name.contains('/') && self.registry.get_or_init(open).has(name);
        name == b"tool" || std::str::from_utf8(name).is_ok_and(has)
    }

    /// The problem with the arguments of a tool whose schema is known. No tool is started to find out.
    fn check_tool(&self, name: &[u8], arguments: &[&[u8]]) -> Option<String> {
        let name = std::str::from_utf8(name).ok()?;
        let snapshot = self.registry.get()?.snapshot();
        let tool = snapshot.get(name)?;
        let words: Vec<haft_tools::ArgumentWord> = arguments
            .iter()
            .map(|word| haft_tools::ArgumentWord::Text(String::from_utf8_lossy(word).into_owned()))
            .collect();
        // Without arguments, a tool reads them from standard input.
        if words.is_empty() {
            return None;
        }
        match tool.arguments(&words) {
            Ok(mut value) => {
                tool.parameters().fill_defaults(&mut value);
                tool.parameters().validate(&value).err()
            }
            Err(error) => Some(error.message),
        }
    }

    /// Resolves a name among the programs in `PATH`.
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

/// Whether haft has an in-process command of this name.
fn is_brought(name: &[u8]) -> bool {
    haft_commands::TABLE.iter().any(|command| command.name().as_bytes() == name)
}

fn exists(directory: Option<&Path>, path: &Path) -> bool {
    directory.is_some_and(|directory| directory.join(path).exists())
}
