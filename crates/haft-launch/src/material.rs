//! The texts of a launch: which files and commands they need, and what is made of them.

use std::collections::HashMap;
use std::time::Duration;

use crate::errand::{Errand, Found};
use crate::error::{Error, ErrorKind};
use crate::recipe::Recipe;
use crate::selection::{Request, Selection};
use crate::source_file::{self, FileText};
use crate::surroundings::Surroundings;
use crate::template::Values;
use crate::written::Texts;

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
pub struct Assembly<'s> {
    surroundings: &'s Surroundings,
    instructions: Vec<u8>,
    role: Option<Piece>,
    contexts: Vec<Piece>,
    task: Option<Piece>,
    errands: Vec<Errand>,
    /// Which errand answers which placeholder of git.
    git: HashMap<&'static str, usize>,
}

/// The texts of a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Material {
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
struct Piece {
    label: String,
    name: String,
    recipe: Recipe,
    required: bool,
    file: Option<FileText>,
    errand: Option<usize>,
}

impl<'s> Assembly<'s> {
    /// Begins to assemble what was selected.
    pub fn new(selection: &Selection<'_>, request: &Request, surroundings: &'s Surroundings) -> Assembly<'s> {
        let mut assembly = Assembly {
            surroundings,
            instructions: request.instructions.clone().unwrap_or_default(),
            role: None,
            contexts: Vec::new(),
            task: None,
            errands: Vec::new(),
            git: HashMap::new(),
        };
        let role = selection.role.map(|role| ("role", role.name.as_str(), &role.recipe, !role.optional));
        let task = selection.task.map(|task| ("task", task.name.as_str(), &task.recipe, true));
        assembly.role = role.map(|parts| assembly.piece(selection, parts));
        for chosen in &selection.contexts {
            let parts = ("context", chosen.name.as_str(), &chosen.recipe, chosen.required);
            let piece = assembly.piece(selection, parts);
            assembly.contexts.push(piece);
        }
        assembly.task = task.map(|parts| assembly.piece(selection, parts));
        assembly
    }

    /// The commands whose results [`finish`](Assembly::finish) wants, in this order.
    pub fn errands(&self) -> &[Errand] {
        &self.errands
    }

    fn piece(&mut self, selection: &Selection<'_>, parts: (&str, &str, &Recipe, bool)) -> Piece {
        let (kind, name, recipe, required) = parts;
        let file = recipe.file.as_deref().filter(|_| recipe.prompt.is_some() || recipe.needs_file());
        let file = file.map(|file| source_file::read(file, recipe, self.surroundings));
        let errand = recipe.needs_command().then(|| self.command(selection, recipe));
        for (placeholder, words) in GIT {
            if recipe.names().any(|used| used == placeholder) && !self.git.contains_key(placeholder) {
                let argv = words.iter().map(Into::into).collect();
                let index = self.add(argv, GIT_TIMEOUT);
                self.git.insert(placeholder, index);
            }
        }
        let label = format!("{kind} \"{name}\"");
        Piece { label, name: name.to_owned(), recipe: recipe.clone(), required, file, errand }
    }

    /// Adds the command of a recipe: a list is run as it is, a text by a shell.
    fn command(&mut self, selection: &Selection<'_>, recipe: &Recipe) -> usize {
        let settings = &selection.catalogue.settings;
        let argv = match &recipe.command {
            Some(Texts::Many(words)) => words.iter().map(Into::into).collect(),
            Some(Texts::One(line)) => {
                let shell = recipe.shell.as_ref().or(settings.shell.as_ref().map(|shell| &shell.value));
                let shell = shell_words(shell, self.surroundings);
                shell.into_iter().chain([line.clone()]).map(Into::into).collect()
            }
            None => Vec::new(),
        };
        self.add(argv, recipe.timeout.unwrap_or(settings.timeout))
    }

    fn add(&mut self, argv: Vec<std::ffi::OsString>, timeout: Duration) -> usize {
        let directory = self.surroundings.working_directory.clone();
        self.errands.push(Errand { argv, timeout, directory });
        self.errands.len() - 1
    }

    /// Makes the texts, given what came of the commands.
    ///
    /// # Errors
    /// If something that has to be there cannot be made.
    pub fn finish(self, found: &[Found]) -> Result<Material, Error> {
        let mut material = Material::default();
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
            // What the user says is never lost, whether the task has a place for it or not.
            instructions = instructions.filter(|_| !task.recipe.names().any(|name| name == "instructions"));
        }
        texts.extend(instructions);
        material.prompt = join(&texts);
        Ok(material)
    }

    /// The text of a piece; nothing, and a note, if it cannot be made and need not be there.
    fn make(
        &self,
        piece: &Piece,
        found: &[Found],
        notes: &mut Vec<String>,
    ) -> Result<Option<Vec<u8>>, Error> {
        match self.text(piece, found, notes) {
            Ok(text) => Ok(Some(text)),
            Err(why) if piece.required => {
                let message = format!("{} cannot be made: {why}", piece.label);
                let error = Error::new(ErrorKind::Material, message);
                Err(match piece.recipe.place() {
                    Some(place) => error.with_hint(format!("it is defined at {place}")),
                    None => error,
                })
            }
            Err(why) => {
                let silent = piece.recipe.layer() == haft_config::Layer::Embedded
                    && matches!(&piece.file, Some(file) if file.is_absent());
                if !silent {
                    notes.push(format!("{} left out: {why}", piece.label));
                }
                Ok(None)
            }
        }
    }

    fn text(&self, piece: &Piece, found: &[Found], notes: &mut Vec<String>) -> Result<Vec<u8>, String> {
        let file = match &piece.file {
            Some(file) if piece.recipe.needs_file() => Some(file.contents.clone()?),
            _ => None,
        };
        let output = match piece.errand.and_then(|index| found.get(index)) {
            None => None,
            Some(Found::Text(text)) => Some(text.clone()),
            Some(Found::Cut(text, total)) => {
                notes.push(format!("{}: only {} of {total} bytes are used", piece.label, text.len()));
                Some(text.clone())
            }
            Some(Found::Nothing(why)) => return Err(why.clone()),
        };
        let Some(template) = &piece.recipe.prompt else { return Ok(file.or(output).unwrap_or_default()) };
        let mut values = HashMap::new();
        for name in template.names() {
            let value = match name {
                "file" => piece.file.as_ref().map(|file| file.shown.clone().into_bytes()).unwrap_or_default(),
                "file_contents" => file.clone().unwrap_or_default(),
                "command" => piece.recipe.command().unwrap_or_default().join(" ").into_bytes(),
                "command_output" => output.clone().unwrap_or_default(),
                "instructions" => self.instructions.clone(),
                _ => self.surroundings.fact(name).unwrap_or_else(|| self.git_answer(name, found)),
            };
            values.insert(name.to_owned(), value);
        }
        Ok(template.fill(&Named(values)))
    }

    /// What git said, without its newline; nothing where it had no answer.
    fn git_answer(&self, name: &str, found: &[Found]) -> Vec<u8> {
        match self.git.get(name).and_then(|index| found.get(*index)) {
            Some(Found::Text(text)) => text.strip_suffix(b"\n").unwrap_or(text).to_vec(),
            _ => Vec::new(),
        }
    }
}

/// The words of a shell, up to the one that is the line.
pub(crate) fn shell_words(shell: Option<&Texts>, surroundings: &Surroundings) -> Vec<String> {
    match shell {
        Some(Texts::Many(words)) => words.clone(),
        Some(Texts::One(program)) => vec![program.clone(), "-c".to_owned()],
        None => vec![surroundings.shell(), "-c".to_owned()],
    }
}

/// Texts with an empty line between them; each stays as it is.
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

impl Values for Named {
    fn value(&self, name: &str) -> &[u8] {
        self.0.get(name).map(Vec::as_slice).unwrap_or_default()
    }
}
