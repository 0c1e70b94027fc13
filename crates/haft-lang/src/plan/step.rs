//! What a plan is made of.

use std::path::PathBuf;

use serde::{Serialize, Serializer};

use crate::ast::{Span, Text};

/// Everything that a program can run, in the order written.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ScriptPlan {
    /// The steps. What belongs to another step follows it, and names it as its [`PlanStep::parent`].
    pub steps: Vec<PlanStep>,
    /// The files that the steps use, each once.
    pub files: FileSummary,
}

/// The files that a whole program reads, writes and deletes, each once, in the order of their first use.
///
/// Standard streams and devices without content such as `/dev/null` are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FileSummary {
    /// Files that are read.
    pub reads: Vec<UsedFile>,
    /// Files that are created or changed, in content, mode, owner or times.
    pub writes: Vec<UsedFile>,
    /// Files that are removed or moved away.
    pub deletes: Vec<UsedFile>,
    /// Whether these are all files: no step has [`PlanStep::files_complete`] unset.
    pub complete: bool,
}

/// A file that a program uses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UsedFile {
    /// Its path, relative to the directory that the program starts in.
    pub target: PlannedWord,
    /// How much of a directory is used.
    #[serde(skip_serializing_if = "FileScope::is_exact")]
    pub scope: FileScope,
}

/// One command, simple or compound, and all that its text tells about what it does.
#[derive(Clone, Debug, Serialize)]
pub struct PlanStep {
    /// The index of the step that this one is a part of.
    pub parent: Option<usize>,
    /// What it is to its parent.
    pub role: StepRole,
    /// The line it begins on, counted from 1.
    pub line: u32,
    /// Where it stands. What was read out of a literal (`sh -c '…'`) has the context of the command that holds it.
    #[serde(serialize_with = "span")]
    pub span: Span,
    /// What it does.
    #[serde(flatten)]
    pub action: StepAction,
    /// The name and the arguments of a command; the words of `for`, `select` and `case`.
    pub argv: Vec<PlannedWord>,
    /// The assignments: for a command, its environment.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assignments: Vec<PlannedAssignment>,
    /// The redirections, in the order in which they take effect, and then the files that the arguments name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileUse>,
    /// Whether `files` holds every file that the command itself uses. It is unset for programs whose use of files is
    /// not known, and for options that are not known.
    pub files_complete: bool,
    /// The working directory that relative paths refer to, if a `cd` before changed it. It is assumed that `cd`
    /// succeeds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<PlannedWord>,
    /// When and where it runs.
    #[serde(flatten)]
    pub conditions: StepConditions,
    /// Its context in a pipeline of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<PipelineStage>,
    /// What the text cannot tell.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub opaque: Vec<Opaque>,
}

/// What a step is to its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepRole {
    /// A statement of the program.
    Statement,
    /// What decides an `if` or a loop.
    Condition,
    /// The body of a compound command.
    Body,
    /// The body of `else`.
    Else,
    /// In `$(…)` or backquotes.
    Substitution,
    /// In `<(…)` or `>(…)`.
    ProcessSubstitution,
    /// The body of a function: runs when the function is called.
    FunctionBody,
    /// What a wrapper such as `sudo` or `xargs` runs.
    Wrapped,
    /// Text that a command reads as a script: `eval`, `sh -c`.
    Script,
    /// Text that runs on a signal or at the end.
    Trap,
    /// What a builtin calls back, or a variable such as `PROMPT_COMMAND` holds.
    Callback,
}

/// What a step does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum StepAction {
    /// Calls a function of the program.
    Function {
        /// What the name means wherever the function is not defined.
        otherwise: Option<CommandTarget>,
    },
    /// Runs a command.
    Command {
        /// What its name means.
        target: CommandTarget,
    },
    /// Assigns or redirects, and runs no command.
    Assign,
    /// Holds other commands.
    Compound {
        /// The word that begins it: `if`, `for`, `{`, `(`, `[[`, …
        keyword: &'static str,
    },
    /// Defines a function.
    Define {
        /// Its name.
        #[serde(serialize_with = "text")]
        name: Text,
        /// Whether each call starts the function again in parallel, without a condition: a fork bomb.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        forks_itself: bool,
    },
}

/// What a command's name means.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "is", content = "path")]
pub enum CommandTarget {
    /// A builtin, or a command that runs in-process.
    Builtin,
    /// A script that runs in-process.
    Script(PathBuf),
    /// A program.
    External(PathBuf),
    /// A tool.
    Tool,
    /// Nothing has that name.
    Missing,
    /// There is no telling.
    Unknown,
}

/// When and where a step runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StepConditions {
    /// It may not run at all.
    pub conditional: bool,
    /// It may run several times.
    pub repeated: bool,
    /// It is not waited for.
    pub background: bool,
    /// It runs in a copy of the shell: what it changes there is lost.
    pub subshell: bool,
    /// It runs later than where it stands: a function's body, a trap.
    pub deferred: bool,
}

/// The context of a command in a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PipelineStage {
    /// Counted from 1.
    pub number: usize,
    /// How many there are.
    pub of: usize,
}

/// A word, as far as the text tells what it becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedWord {
    /// What it is made of. Literal pieces do not stand next to each other.
    pub pieces: Vec<WordPiece>,
    /// Whether it may become any number of arguments rather than one.
    pub several: bool,
}

/// A piece of a word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WordPiece {
    /// Text, quotes removed.
    Literal(#[serde(serialize_with = "text")] Text),
    /// Something that is only known when it runs.
    Dynamic {
        /// What makes it.
        by: Expansion,
        /// How it is written.
        #[serde(serialize_with = "text")]
        source: Text,
    },
}

/// What makes a piece of a word dynamic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expansion {
    /// `$name` and its kin.
    Parameter,
    /// `$(…)`.
    Command,
    /// `$((…))`.
    Arithmetic,
    /// `<(…)`.
    Process,
    /// `~`.
    Tilde,
    /// `{a,b}`.
    Braces,
    /// `*`.
    Glob,
    /// What a wrapper adds: the lines that `xargs` reads, the files that `find` finds.
    Input,
    /// A name or a directory that the command itself chooses.
    Chosen,
}

/// An assignment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlannedAssignment {
    /// The variable, with its subscript as written.
    #[serde(serialize_with = "text")]
    pub name: Text,
    /// Whether it is added to.
    pub append: bool,
    /// The value, or the elements of an array.
    pub value: Vec<PlannedWord>,
}

/// A file that a redirection or a command uses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileUse {
    /// The descriptor: a number, or `{name}`. Absent for the default of the mode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub descriptor: Option<String>,
    /// What is done.
    pub mode: FileUseMode,
    /// The file, the text of a here-document or here-string, or the descriptor that is copied.
    pub target: PlannedWord,
    /// How much of a directory is used.
    #[serde(skip_serializing_if = "FileScope::is_exact")]
    pub scope: FileScope,
    /// What uses the file.
    #[serde(skip_serializing_if = "UsedBy::is_redirection")]
    pub by: UsedBy,
}

/// How much of a file's path is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileScope {
    /// The file itself.
    #[default]
    Exact,
    /// The file or, if it is a directory, a file in it: the target of `cp a b`.
    Inside,
    /// The file and, if it is a directory, everything below it.
    Tree,
}

impl FileScope {
    fn is_exact(&self) -> bool {
        *self == Self::Exact
    }
}

/// What uses a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum UsedBy {
    /// A redirection: the shell opens the file.
    Redirection,
    /// The command opens, changes or removes the file that an argument names.
    Command,
}

impl UsedBy {
    fn is_redirection(&self) -> bool {
        *self == Self::Redirection
    }
}

/// How a file is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileUseMode {
    /// `<`.
    Read,
    /// `>`, `>|`, `&>`.
    Write,
    /// `>>`, `&>>`.
    Append,
    /// `<>`.
    ReadWrite,
    /// `<<`.
    HereDocument,
    /// `<<<`.
    HereString,
    /// `<&` or `>&` with a descriptor, or one that is only known when it runs: then it may be a file.
    Duplicate,
    /// `>&-`.
    Close,
    /// Removed, or moved away.
    Delete,
    /// Its mode, owner, times or other attributes are changed.
    Attributes,
}

/// Something that the text cannot tell, so that what runs is not all in the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Opaque {
    /// Why.
    pub reason: OpaqueReason,
    /// The text that it is about, as written.
    #[serde(serialize_with = "text")]
    pub source: Text,
}

/// Why the text cannot tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum OpaqueReason {
    /// The command's name is made when it runs.
    CommandName,
    /// Text that is run as a script is made when it runs.
    ScriptText,
    /// Text that is run as a script is wrong, or nested too deeply to be followed.
    UnreadableText,
    /// A file is run as a script.
    ScriptFile,
    /// Standard input is run as a script.
    ScriptInput,
    /// What a wrapper runs depends on options that are not known.
    WrapperOptions,
    /// Text is evaluated as arithmetic, in which a subscript can run commands.
    ArithmeticValue,
    /// The name of a variable is made when it runs, and a subscript in it can run commands.
    VariableName,
    /// A value is expanded once more, as a prompt is.
    PromptValue,
    /// A variable is set by which the shell or programs find what they run.
    Lookup,
    /// An alias changes what later names mean.
    Alias,
    /// Code is loaded into the shell.
    LoadedCode,
    /// A program in another language is run, which can run commands.
    Language,
    /// Commands run on another machine, or in another system on this one.
    Elsewhere,
    /// The text between backquotes is no program.
    BrokenSubstitution,
}

impl PlannedWord {
    /// The text, if all of it is known.
    #[must_use]
    pub fn literal(&self) -> Option<&[u8]> {
        match self.pieces.as_slice() {
            [] => Some(b""),
            [WordPiece::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// The literal text it begins with.
    #[must_use]
    pub fn prefix(&self) -> &[u8] {
        match self.pieces.first() {
            Some(WordPiece::Literal(text)) => text,
            _ => b"",
        }
    }
}

impl Serialize for PlannedWord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct KnownWord<'a> {
            text: std::borrow::Cow<'a, str>,
        }
        #[derive(Serialize)]
        struct DynamicWord<'a> {
            pieces: &'a [WordPiece],
            several: bool,
        }
        match self.literal() {
            Some(text) => KnownWord { text: String::from_utf8_lossy(text) }.serialize(serializer),
            None => DynamicWord { pieces: &self.pieces, several: self.several }.serialize(serializer),
        }
    }
}

fn text<S: Serializer>(text: &Text, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(text)
}

fn span<S: Serializer>(span: &Span, serializer: S) -> Result<S::Ok, S::Error> {
    [span.start, span.end].serialize(serializer)
}
