//! The texts of a launch: which files and commands they need, and what is made of them.

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

/// How long git may take to answer.
const GIT_TIMEOUT: Duration = Duration::from_secs(10);

/// The placeholders that git answers, with the question.
const GIT: [(&str, &[&str]); 4] = [
    ("git_branch", &["git", "branch", "--show-current"]),
    ("git_root", &["git", "rev-parse", "--show-toplevel"]),
    ("git_user", &["git", "config", "--get", "user.name"]),
    ("git_email", &["git", "config", "--get", "user.email"]),
];

/// The texts of a launch in the making: files are read, commands are still to be run.
#[derive(Debug)]
pub struct PromptAssembly<'s> {
    facts: &'s HostFacts,
    instructions: Vec<u8>,
    role: Option<PendingText>,
    contexts: Vec<PendingText>,
    task: Option<PendingText>,
    commands: Vec<ContextCommand>,
    /// Which command_index answers which placeholder of git.
    git: HashMap<&'static str, usize>,
}

/// The texts of a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AssembledPrompt {
    /// Who the agent shall be.
    pub role: Option<Vec<u8>>,
    /// What it shall know and do.
    pub prompt: Vec<u8>,
    /// The contexts that are in it.
    pub included: Vec<String>,
    /// What could not be made, or not as it should, and why.
    pub notes: Vec<String>,
}

/// A text in the making.
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
    /// Begins to assemble what was selected.
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
            git: HashMap::new(),
        };
        let role = selection.role.map(|role| ("role", role.name.as_str(), &role.source, !role.optional));
        let task = selection.task.map(|task| ("task", task.name.as_str(), &task.source, true));
        assembly.role = role.map(|parts| assembly.piece(selection, parts));
        for chosen in &selection.contexts {
            let parts = ("context", chosen.name.as_str(), &chosen.source, chosen.required);
            let piece = assembly.piece(selection, parts);
            assembly.contexts.push(piece);
        }
        assembly.task = task.map(|parts| assembly.piece(selection, parts));
        assembly
    }

    /// The commands whose results [`finish`](PromptAssembly::finish) wants, in this order.
    pub fn commands(&self) -> &[ContextCommand] {
        &self.commands
    }

    fn piece(
        &mut self,
        selection: &LaunchSelection<'_>,
        parts: (&str, &str, &TextSource, bool),
    ) -> PendingText {
        let (kind, name, source, required) = parts;
        let file = source.file.as_deref().filter(|_| source.prompt.is_some() || source.needs_file());
        let file = file.map(|file| text_file::read(file, source, self.facts));
        let command_index = source.needs_command().then(|| self.command(selection, source));
        for (placeholder, words) in GIT {
            if source.names().any(|used| used == placeholder) && !self.git.contains_key(placeholder) {
                let argv = words.iter().map(Into::into).collect();
                let index = self.add(argv, GIT_TIMEOUT);
                self.git.insert(placeholder, index);
            }
        }
        let label = format!("{kind} \"{name}\"");
        PendingText { label, name: name.to_owned(), source: source.clone(), required, file, command_index }
    }

    /// Adds the command of a source: a list is run as it is, a text by a shell.
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

    /// Makes the texts, given what came of the commands.
    ///
    /// # Errors
    /// If something that has to be there cannot be made.
    pub fn finish(self, found: &[CommandResult]) -> Result<AssembledPrompt, Error> {
        let mut material = AssembledPrompt::default();
        if let Some(role) = &self.role {
            material.role = self.make(role, found, &mut material.notes)?.filter(|text| !text.is_empty());
        }
        let mut texts = Vec::new();
        for context in &self.contexts {
            if let Some(text) =
                self.make(context, found, &mut material.notes)?.filter(|text| !text.is_empty())
            {
                material.included.push(context.name.clone());
                texts.push(text);
            }
        }
        let mut instructions = Some(self.instructions.clone()).filter(|text| !text.is_empty());
        if let Some(task) = &self.task {
            texts.extend(self.make(task, found, &mut material.notes)?);
            // What the user says is never lost, whether the task has a location for it or not.
            instructions = instructions.filter(|_| !task.source.names().any(|name| name == "instructions"));
        }
        texts.extend(instructions);
        material.prompt = join(&texts);
        Ok(material)
    }

    /// The text of a piece; nothing, and a note, if it cannot be made and need not be there.
    fn make(
        &self,
        piece: &PendingText,
        found: &[CommandResult],
        notes: &mut Vec<String>,
    ) -> Result<Option<Vec<u8>>, Error> {
        match self.text(piece, found, notes) {
            Ok(text) => Ok(Some(text)),
            Err(why) if piece.required => {
                let message = format!("{} cannot be made: {why}", piece.label);
                let error = Error::new(ErrorKind::MissingText, message);
                Err(match piece.source.location() {
                    Some(location) => error.with_hint(format!("it is defined at {location}")),
                    None => error,
                })
            }
            Err(why) => {
                let silent = piece.source.layer() == haft_config::Layer::Embedded
                    && matches!(&piece.file, Some(file) if file.is_absent());
                if !silent {
                    notes.push(format!("{} left out: {why}", piece.label));
                }
                Ok(None)
            }
        }
    }

    fn text(
        &self,
        piece: &PendingText,
        found: &[CommandResult],
        notes: &mut Vec<String>,
    ) -> Result<Vec<u8>, String> {
        let file = match &piece.file {
            Some(file) if piece.source.needs_file() => Some(file.contents.clone()?),
            _ => None,
        };
        let output = match piece.command_index.and_then(|index| found.get(index)) {
            None => None,
            Some(CommandResult::Text(text)) => Some(text.clone()),
            Some(CommandResult::Cut(text, total)) => {
                notes.push(format!("{}: only {} of {total} bytes are used", piece.label, text.len()));
                Some(text.clone())
            }
            Some(CommandResult::Nothing(why)) => return Err(why.clone()),
        };
        let Some(template) = &piece.source.prompt else { return Ok(file.or(output).unwrap_or_default()) };
        let mut values = HashMap::new();
        for name in template.names() {
            let value = match name {
                "file" => piece.file.as_ref().map(|file| file.shown.clone().into_bytes()).unwrap_or_default(),
                "file_contents" => file.clone().unwrap_or_default(),
                "command" => piece.source.command().unwrap_or_default().join(" ").into_bytes(),
                "command_output" => output.clone().unwrap_or_default(),
                "instructions" => self.instructions.clone(),
                _ => self.facts.fact(name).unwrap_or_else(|| self.git_answer(name, found)),
            };
            values.insert(name.to_owned(), value);
        }
        Ok(template.fill(&Named(values)))
    }

    /// What git said, without its newline; nothing where it had no answer.
    fn git_answer(&self, name: &str, found: &[CommandResult]) -> Vec<u8> {
        match self.git.get(name).and_then(|index| found.get(*index)) {
            Some(CommandResult::Text(text)) => text.strip_suffix(b"\n").unwrap_or(text).to_vec(),
            _ => Vec::new(),
        }
    }
}

/// The words of a shell, up to the one that is the line.
pub(crate) fn shell_words(shell: Option<&StringOrList>, facts: &HostFacts) -> Vec<String> {
    match shell {
        Some(StringOrList::List(words)) => words.clone(),
        Some(StringOrList::String(program)) => vec![program.clone(), "-c".to_owned()],
        None => vec![facts.shell(), "-c".to_owned()],
    }
}

/// StringOrList with an empty line between them; each stays as it is.
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

struct Named(HashMap<String, Vec<u8>>);

impl PlaceholderValues for Named {
    fn value(&self, name: &str) -> &[u8] {
        self.0.get(name).map(Vec::as_slice).unwrap_or_default()
    }
}
