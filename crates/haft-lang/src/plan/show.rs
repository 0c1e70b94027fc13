//! Prints a plan as text: one line per command, indented below its parent.

use std::fmt::{self, Write as _};

use super::step::{
    CommandTarget, FileScope, FileSummary, FileUse, FileUseMode, Opaque, OpaqueReason, PlanStep,
    PlannedAssignment, PlannedWord, ScriptPlan, StepAction, StepConditions, StepRole, UsedBy, UsedFile,
    WordPiece,
};

/// Maximum number of command names in the summary.
const MAX_LISTED_COMMANDS: usize = 20;

impl fmt::Display for ScriptPlan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut depths: Vec<usize> = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            let depth = step.parent.map_or(0, |parent| depths.get(parent).map_or(0, |depth| depth + 1));
            depths.push(depth);
            write!(formatter, "{:>4}  {:indent$}{step}", step.line, "", indent = depth.min(40) * 2)?;
            formatter.write_char('\n')?;
            for opaque in &step.opaque {
                writeln!(formatter, "      {:indent$}  ? {opaque}", "", indent = depth.min(40) * 2)?;
            }
        }
        write!(formatter, "{}", self.files)?;
        unknown_files(formatter, &self.steps)
    }
}

impl fmt::Display for FileSummary {
    /// Writes an empty line and one line each for files read, written and deleted. `/**` means a whole tree.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = [("reads:  ", &self.reads), ("writes: ", &self.writes), ("deletes:", &self.deletes)];
        let mut lines = lines.into_iter().filter(|(_, files)| !files.is_empty()).peekable();
        if lines.peek().is_some() {
            formatter.write_char('\n')?;
        }
        lines.try_for_each(|(word, files)| writeln!(formatter, "{word} {}", used(files)))
    }
}

fn used(files: &[UsedFile]) -> String {
    let shown = |file: &UsedFile| match file.scope {
        FileScope::Tree => format!("{}/**", item(&file.target).trim_end_matches('/')),
        FileScope::Exact | FileScope::Inside => item(&file.target),
    };
    let mut all: Vec<String> = files.iter().map(shown).collect();
    all.dedup();
    all.join(" ")
}

/// Lists the commands whose files are not all known.
fn unknown_files(formatter: &mut fmt::Formatter<'_>, steps: &[PlanStep]) -> fmt::Result {
    let mut names: Vec<String> = Vec::new();
    for step in steps.iter().filter(|step| !step.files_complete) {
        let name = step.argv.first().map_or_else(|| "a command".to_owned(), item);
        if !names.contains(&name) && names.len() <= MAX_LISTED_COMMANDS {
            names.push(name);
        }
    }
    if names.is_empty() {
        return Ok(());
    }
    if names.len() > MAX_LISTED_COMMANDS {
        names[MAX_LISTED_COMMANDS] = "…".to_owned();
    }
    writeln!(formatter, "other files may be used by: {}", names.join(" "))
}

impl fmt::Display for PlanStep {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.stage.is_some_and(|stage| stage.number > 1) {
            formatter.write_str("| ")?;
        }
        formatter.write_str(prefix(self.role))?;
        let mut pieces: Vec<String> = self.assignments.iter().map(binding).collect();
        match &self.action {
            StepAction::Compound { keyword } => pieces.push((*keyword).to_owned()),
            StepAction::Define { name, .. } => pieces.push(format!("{name}()")),
            StepAction::Assign | StepAction::Function { .. } | StepAction::Command { .. } => {}
        }
        match self.action {
            StepAction::Compound { keyword: "[[" } => pieces.extend(self.argv.iter().map(raw)),
            _ => pieces.extend(self.argv.iter().map(item)),
        }
        let redirections = self.files.iter().filter(|file| file.by == UsedBy::Redirection);
        pieces.extend(redirections.map(ToString::to_string));
        formatter.write_str(&pieces.join(" "))?;
        let notes = notes(self);
        if notes.is_empty() { Ok(()) } else { write!(formatter, "  [{notes}]") }
    }
}

impl PlanStep {
    /// The name and arguments, approximately as in the source.
    #[must_use]
    pub fn command_line(&self) -> String {
        sources(&self.argv)
    }
}

fn binding(binding: &PlannedAssignment) -> String {
    let equals = if binding.append { "+=" } else { "=" };
    match binding.value.as_slice() {
        [value] => format!("{}{equals}{}", binding.name, item(value)),
        values => format!("{}{equals}({})", binding.name, items(values)),
    }
}

fn raw(item: &PlannedWord) -> String {
    String::from_utf8_lossy(item.literal().unwrap_or_default())
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

fn prefix(role: StepRole) -> &'static str {
    match role {
        StepRole::Statement | StepRole::Body | StepRole::FunctionBody => "",
        StepRole::Condition => "if: ",
        StepRole::Else => "else: ",
        StepRole::Substitution => "$( ",
        StepRole::ProcessSubstitution => "<( ",
        StepRole::Wrapped => "runs: ",
        StepRole::Script => "script: ",
        StepRole::Trap => "trap: ",
        StepRole::Callback => "later: ",
    }
}

/// Returns the kind of command, and when and where it runs.
fn notes(step: &PlanStep) -> String {
    let mut notes: Vec<String> = Vec::new();
    match &step.action {
        StepAction::Command { target } => notes.push(target.to_string()),
        StepAction::Function { otherwise: None } => notes.push("function".to_owned()),
        StepAction::Function { otherwise: Some(target) } => notes.push(format!("function, or {target}")),
        StepAction::Assign | StepAction::Compound { .. } | StepAction::Define { .. } => {}
    }
    let StepConditions { conditional, repeated, background, subshell, deferred } = step.conditions;
    let flags = [
        (conditional && !repeated, "conditional"),
        (repeated, "repeated"),
        (background, "background"),
        (subshell, "subshell"),
        (deferred, "deferred"),
    ];
    notes.extend(flags.iter().filter(|(set, _)| *set).map(|(_, name)| (*name).to_owned()));
    notes.join(", ")
}

impl fmt::Display for CommandTarget {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Builtin => formatter.write_str("builtin"),
            Self::Script(path) => write!(formatter, "script {}", path.display()),
            Self::External(path) => write!(formatter, "{}", path.display()),
            Self::Tool => formatter.write_str("tool"),
            Self::Missing => formatter.write_str("not found"),
            Self::Unknown => formatter.write_str("unknown"),
        }
    }
}

impl fmt::Display for FileUse {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let descriptor = self.descriptor.as_deref().unwrap_or_default();
        let symbol = match self.mode {
            FileUseMode::Read => "<",
            FileUseMode::Write => ">",
            FileUseMode::Append => ">>",
            FileUseMode::ReadWrite => "<>",
            FileUseMode::HereDocument => return write!(formatter, "{descriptor}<<{}", summary(&self.target)),
            FileUseMode::HereString => "<<<",
            FileUseMode::Duplicate => ">&",
            FileUseMode::Close => return write!(formatter, "{descriptor}>&-"),
            FileUseMode::Delete => "delete ",
            FileUseMode::Attributes => "change ",
        };
        write!(formatter, "{descriptor}{symbol}{}", item(&self.target))
    }
}

/// Returns the size of a here-document instead of its text.
fn summary(item: &PlannedWord) -> String {
    let length: usize = item
        .pieces
        .iter()
        .map(|piece| match piece {
            WordPiece::Literal(text) => text.len(),
            WordPiece::Dynamic { source, .. } => source.len(),
        })
        .sum();
    format!("({length} bytes)")
}

/// Formats words, with guillemets around dynamic pieces.
fn items(items: &[PlannedWord]) -> String {
    items.iter().map(item).collect::<Vec<_>>().join(" ")
}

/// Formats words approximately as in the source.
pub(super) fn sources(items: &[PlannedWord]) -> String {
    items.iter().map(source).collect::<Vec<_>>().join(" ")
}

pub(crate) fn source(item: &PlannedWord) -> String {
    let piece = |piece: &WordPiece| match piece {
        WordPiece::Literal(text) => quoted(text),
        WordPiece::Dynamic { source, .. } => source.to_string(),
    };
    item.pieces.iter().map(piece).collect()
}

fn item(item: &PlannedWord) -> String {
    match item.literal() {
        Some(b"") => "''".to_owned(),
        _ => item.pieces.iter().map(piece).collect(),
    }
}

fn piece(piece: &WordPiece) -> String {
    match piece {
        WordPiece::Literal(text) => quoted(text),
        WordPiece::Dynamic { source, .. } => format!("«{}»", visible(source)),
    }
}

fn quoted(text: &[u8]) -> String {
    let plain =
        |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./,:=+@%^[]{}~?*!".contains(byte) || *byte > 0x7f;
    let text_shown = visible(text);
    if text.iter().all(plain) { text_shown } else { format!("'{}'", text_shown.replace('\'', "'\\''")) }
}

/// Formats a text on one line, without control characters.
fn visible(text: &[u8]) -> String {
    let mut shown = String::new();
    for character in String::from_utf8_lossy(text).chars() {
        match character {
            '\n' => shown.push_str("\\n"),
            '\t' => shown.push_str("\\t"),
            _ if character.is_control() => shown.extend(character.escape_default()),
            _ => shown.push(character),
        }
    }
    shown
}

impl fmt::Display for Opaque {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "opaque: {}", self.reason)?;
        if self.source.is_empty() { Ok(()) } else { write!(formatter, ": {}", visible(&self.source)) }
    }
}

impl fmt::Display for OpaqueReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::CommandName => "the command name is not known before it runs",
            Self::ScriptText => "the script text is not known before it runs",
            Self::UnreadableText => "the script text cannot be parsed",
            Self::ScriptFile => "it runs a script file, which was not read",
            Self::ScriptInput => "it runs its standard input as a script",
            Self::WrapperOptions => "unknown options determine what it runs",
            Self::ArithmeticValue => {
                "an unknown value is evaluated as arithmetic, and a subscript in it can run commands"
            }
            Self::VariableName => {
                "a variable name is not known before it runs, and a subscript in it can run commands"
            }
            Self::PromptValue => "a value is expanded as a prompt",
            Self::Lookup => "it changes how programs are found",
            Self::Alias => "it defines an alias",
            Self::LoadedCode => "it loads code into the shell",
            Self::Language => "it runs a program in another language",
            Self::Elsewhere => "it runs commands on another machine or in a container",
            Self::BrokenSubstitution => "a substitution cannot be parsed",
        })
    }
}
