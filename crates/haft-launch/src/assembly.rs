//! Assembles the role and the prompt from text sources.

use std::collections::HashMap;
use std::time::Duration;

use crate::config_types::StringOrList;
use crate::context_command::{CommandResult, ContextCommand};
use crate::error::{Error, ErrorKind};
use crate::host_facts::HostFacts;
use crate::selection::{LaunchRequest, LaunchSelection};
use crate::template::PlaceholderValues;
use crate::text_file::{self, FileText};
use crate::text_source::TextSource;

/// Time limit for a git command.
const GIT_TIMEOUT: Duration = Duration::from_secs(10);

/// Placeholders that git commands provide.
const GIT_COMMANDS: [(&str, &[&str]); 4] = [
    ("git_branch", &["git", "branch", "--show-current"]),
    ("git_root", &["git", "rev-parse", "--show-toplevel"]),
    ("git_user", &["git", "config", "--get", "user.name"]),
    ("git_email", &["git", "config", "--get", "user.email"]),
];

/// A prompt in progress: files have been read, commands have not run yet.
#[derive(Debug)]
pub struct PromptAssembly<'s> {
    facts: &'s HostFacts,
    instructions: Vec<u8>,
    role: Option<PendingText>,
    contexts: Vec<PendingText>,
    task: Option<PendingText>,
    commands: Vec<ContextCommand>,
    skipped: Vec<String>,
    /// For each git placeholder, the index of its command.
    git: HashMap<&'static str, usize>,
}

/// The role and the prompt of a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AssembledPrompt {
    /// The role text, if there is a role.
    pub role: Option<Vec<u8>>,
    /// The prompt text.
    pub prompt: Vec<u8>,
    /// Names of the contexts in the prompt.
    pub included: Vec<String>,
    /// The pieces of the role and the prompt, in order.
    pub pieces: Vec<PromptPiece>,
    /// Notes about default contexts that the agent reads itself.
    pub skipped: Vec<String>,
    /// Notes about texts that were left out or truncated.
    pub notes: Vec<String>,
}

/// One piece of a role or prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptPiece {
    /// Its kind and name: `role "NAME"`, `context "NAME"`, `task "NAME"` or `instructions`.
    pub label: String,
    /// Its size.
    pub bytes: usize,
}

impl PromptPiece {
    fn new(label: &str, text: &[u8]) -> PromptPiece {
        PromptPiece { label: label.to_owned(), bytes: text.len() }
    }
}

/// A text whose command may not have run yet.
#[derive(Debug)]
struct PendingText {
    label: String,
    name: String,
    source: TextSource,
    required: bool,
    file: Option<FileText>,
    command_index: Option<usize>,
}

impl<'s> PromptAssembly<'s> {
    /// Reads the files of the selected texts and collects their commands.
    pub fn new(
        selection: &LaunchSelection<'_>,
        request: &LaunchRequest,
        facts: &'s HostFacts,
    ) -> PromptAssembly<'s> {
        let mut assembly = PromptAssembly {
            facts,
            instructions: request.instructions.clone().unwrap_or_default(),
            role: None,
            contexts: Vec::new(),
            task: None,
            commands: Vec::new(),
            skipped: selection.skipped.clone(),
            git: HashMap::new(),
        };
        let role =
            selection.role.as_ref().map(|role| ("role", role.name.as_str(), &role.source, !role.optional));
        let task = selection.task.as_ref().map(|task| ("task", task.name.as_str(), &task.source, true));
        assembly.role = role.map(|parts| assembly.pending(selection, parts));
        for chosen in &selection.contexts {
            let parts = ("context", chosen.name.as_str(), &chosen.source, chosen.required);
            let pending = assembly.pending(selection, parts);
            assembly.contexts.push(pending);
        }
        assembly.task = task.map(|parts| assembly.pending(selection, parts));
        assembly
    }

    /// The commands to run. [`finish`](PromptAssembly::finish) expects their results in this order.
    pub fn commands(&self) -> &[ContextCommand] {
        &self.commands
    }

    fn pending(
        &mut self,
        selection: &LaunchSelection<'_>,
        parts: (&str, &str, &TextSource, bool),
    ) -> PendingText {
        let (kind, name, source, required) = parts;
        let file = source.file.as_deref().filter(|_| source.prompt.is_some() || source.needs_file());
        let file = file.map(|file| text_file::read(file, source, self.facts));
        let command_index = source.needs_command().then(|| self.command(selection, source));
        for (placeholder, words) in GIT_COMMANDS {
            if source.names().any(|used| used == placeholder) && !self.git.contains_key(placeholder) {
                let argv = words.iter().map(Into::into).collect();
                let index = self.add(argv, GIT_TIMEOUT);
                self.git.insert(placeholder, index);
            }
        }
        let label = format!("{kind} '{name}'");
        PendingText { label, name: name.to_owned(), source: source.clone(), required, file, command_index }
    }

    /// Adds the command of a text source. An array is executed directly, a string by the shell.
    fn command(&mut self, selection: &LaunchSelection<'_>, source: &TextSource) -> usize {
        let settings = &selection.catalogue.settings;
        let argv = match &source.command {
            Some(StringOrList::List(words)) => words.iter().map(Into::into).collect(),
            Some(StringOrList::String(line)) => {
                let shell = source.shell.as_ref().or(settings.shell.as_ref().map(|shell| &shell.value));
                let shell = shell_words(shell, self.facts);
                shell.into_iter().chain([line.clone()]).map(Into::into).collect()
            }
            None => Vec::new(),
        };
        self.add(argv, source.timeout.unwrap_or(settings.timeout))
    }

    fn add(&mut self, argv: Vec<std::ffi::OsString>, timeout: Duration) -> usize {
        let directory = self.facts.working_directory.clone();
        self.commands.push(ContextCommand { argv, timeout, directory });
        self.commands.len() - 1
    }

    /// Builds the texts from the results of the commands.
    ///
    /// # Errors
    /// Fails if a required text cannot be built.
    pub fn finish(self, results: &[CommandResult]) -> Result<AssembledPrompt, Error> {
        let mut prompt = AssembledPrompt { skipped: self.skipped.clone(), ..AssembledPrompt::default() };
        if let Some(role) = &self.role {
            prompt.role = self.make(role, results, &mut prompt.notes)?.filter(|text| !text.is_empty());
            prompt.pieces.extend(prompt.role.as_ref().map(|text| PromptPiece::new(&role.label, text)));
        }
        let mut texts = Vec::new();
        for context in &self.contexts {
            if let Some(text) =
                self.make(context, results, &mut prompt.notes)?.filter(|text| !text.is_empty())
            {
                prompt.included.push(context.name.clone());
                prompt.pieces.push(PromptPiece::new(&context.label, &text));
                texts.push(text);
            }
        }
        let mut instructions = Some(self.instructions.clone()).filter(|text| !text.is_empty());
        if let Some(task) = &self.task {
            let text = self.make(task, results, &mut prompt.notes)?;
            prompt.pieces.extend(text.as_ref().map(|text| PromptPiece::new(&task.label, text)));
            texts.extend(text);
            // Instructions that the task does not place are appended, so they are never lost.
            instructions = instructions.filter(|_| !task.source.names().any(|name| name == "instructions"));
        }
        prompt.pieces.extend(instructions.as_ref().map(|text| PromptPiece::new("instructions", text)));
        texts.extend(instructions);
        prompt.prompt = join(&texts);
        Ok(prompt)
    }

    /// Returns a text, or `None` with a note if an optional text cannot be built.
    fn make(
        &self,
        pending: &PendingText,
        results: &[CommandResult],
        notes: &mut Vec<String>,
    ) -> Result<Option<Vec<u8>>, Error> {
        match self.text(pending, results, notes) {
            Ok(text) => Ok(Some(text)),
            Err(why) if pending.required => {
                let message = format!("cannot build {}: {why}", pending.label);
                let error = Error::new(ErrorKind::MissingText, message);
                Err(match pending.source.location() {
                    Some(location) => error.with_hint(format!("it is defined at {location}")),
                    None => error,
                })
            }
            Err(why) => {
                let silent = pending.source.layer() == haft_config::Layer::Embedded
                    && matches!(&pending.file, Some(file) if file.is_absent());
                if !silent {
                    notes.push(format!("{} is left out: {why}", pending.label));
                }
                Ok(None)
            }
        }
    }

    fn text(
        &self,
        pending: &PendingText,
        results: &[CommandResult],
        notes: &mut Vec<String>,
    ) -> Result<Vec<u8>, String> {
        let file = match &pending.file {
            Some(file) if pending.source.needs_file() => Some(file.contents.clone()?),
            _ => None,
        };
        let output = match pending.command_index.and_then(|index| results.get(index)) {
            None => None,
            Some(CommandResult::Output(text)) => Some(text.clone()),
            Some(CommandResult::Truncated(text, total)) => {
                notes.push(format!("{}: only {} of {total} bytes are used", pending.label, text.len()));
                Some(text.clone())
            }
            Some(CommandResult::Failed(why)) => return Err(why.clone()),
        };
        let Some(template) = &pending.source.prompt else { return Ok(file.or(output).unwrap_or_default()) };
        let mut values = HashMap::new();
        for name in template.names() {
            let value = match name {
                "file" => {
                    pending.file.as_ref().map(|file| file.shown.clone().into_bytes()).unwrap_or_default()
                }
                "file_contents" => file.clone().unwrap_or_default(),
                "command" => pending.source.command().unwrap_or_default().join(" ").into_bytes(),
                "command_output" => output.clone().unwrap_or_default(),
                "instructions" => self.instructions.clone(),
                _ => self.facts.fact(name).unwrap_or_else(|| self.git_output(name, results)),
            };
            values.insert(name.to_owned(), value);
        }
        Ok(template.fill(&TextValues(values)))
    }

    /// Output of a git command without its newline, or nothing if git failed.
    fn git_output(&self, name: &str, results: &[CommandResult]) -> Vec<u8> {
        match self.git.get(name).and_then(|index| results.get(*index)) {
            Some(CommandResult::Output(text)) => text.strip_suffix(b"\n").unwrap_or(text).to_vec(),
            _ => Vec::new(),
        }
    }
}

/// The shell command line up to the script argument.
pub(crate) fn shell_words(shell: Option<&StringOrList>, facts: &HostFacts) -> Vec<String> {
    match shell {
        Some(StringOrList::List(words)) => words.clone(),
        Some(StringOrList::String(program)) => vec![program.clone(), "-c".to_owned()],
        None => vec![facts.shell(), "-c".to_owned()],
    }
}

/// Joins texts with an empty line between them.
fn join(texts: &[Vec<u8>]) -> Vec<u8> {
    let mut joined = Vec::new();
    for text in texts {
        if !joined.is_empty() {
            joined.extend_from_slice(if joined.ends_with(b"\n") { b"\n" } else { b"\n\n" });
        }
        joined.extend_from_slice(text);
    }
    joined
}

struct TextValues(HashMap<String, Vec<u8>>);

impl PlaceholderValues for TextValues {
    fn value(&self, name: &str) -> &[u8] {
        self.0.get(name).map(Vec::as_slice).unwrap_or_default()
    }
}
