//! The data types of a plan.

use std::borrow::Cow;
use std::path::PathBuf;

use serde::{Serialize, Serializer};

use crate::ast::{Bytes, Span};

/// Everything that a program can run, in source order.
#[derive(Clone, Debug, Default, Serialize, schemars::JsonSchema)]
pub struct ScriptPlan {
    /// The steps. Children follow their parent and refer to it in [`PlanStep::parent`].
    pub steps: Vec<PlanStep>,
    /// The files that the steps use, without duplicates.
    pub files: FileSummary,
}

/// The files that a program reads, writes and deletes, without duplicates, in the order of their first use.
///
/// Does not include standard streams and devices without content, such as `/dev/null`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct FileSummary {
    /// Files that are read.
    pub reads: Vec<UsedFile>,
    /// Files that are created, or whose content, mode, owner or timestamps change.
    pub writes: Vec<UsedFile>,
    /// Files that are removed or renamed.
    pub deletes: Vec<UsedFile>,
    /// Whether the lists are complete: [`PlanStep::files_complete`] is set for every step.
    pub complete: bool,
}

/// A file that a program uses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct UsedFile {
    /// Its path, relative to the directory in which the program starts.
    pub target: PlannedWord,
    /// How much of a directory is used.
    #[serde(skip_serializing_if = "FileScope::is_exact")]
    pub scope: FileScope,
}

/// A simple or compound command, and everything that its text tells about its effects.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct PlanStep {
    /// The index of the parent step.
    pub parent: Option<usize>,
    /// Its role in the parent step.
    pub role: StepRole,
    /// Its line number, starting at 1.
    pub line: u32,
    /// Source range. A step from a nested script (`sh -c '…'`) has the range of the command that contains it.
    #[serde(serialize_with = "span")]
    #[schemars(with = "[u32; 2]")]
    pub span: Span,
    /// Its action.
    #[serde(flatten)]
    pub action: StepAction,
    /// The name and arguments of a command, or the words of `for`, `select` and `case`.
    pub argv: Vec<PlannedWord>,
    /// The assignments. For a command, they are environment variables.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assignments: Vec<PlannedAssignment>,
    /// The redirections, in the order in which they take effect, followed by the files named by arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileUse>,
    /// Whether `files` contains every file that the command itself uses. It is false for programs and options
    /// whose use of files is not known.
    pub files_complete: bool,
    /// The working directory for relative paths, if an earlier `cd` changed it. The plan assumes that `cd`
    /// succeeds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<PlannedWord>,
    /// When and where it runs.
    #[serde(flatten)]
    pub conditions: StepConditions,
    /// Its position in a pipeline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<PipelineStage>,
    /// The effects that the text does not tell.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub opaque: Vec<Opaque>,
}

/// The role of a step in its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StepRole {
    /// A statement of the program.
    Statement,
    /// The condition of an `if` or a loop.
    Condition,
    /// The body of a compound command.
    Body,
    /// The body of `else`.
    Else,
    /// In `$(…)` or backquotes.
    Substitution,
    /// In `<(…)` or `>(…)`.
    ProcessSubstitution,
    /// The body of a function, which runs when the function is called.
    FunctionBody,
    /// A command run by a wrapper such as `sudo` or `xargs`.
    Wrapped,
    /// A nested script: `eval`, `sh -c`.
    Script,
    /// A trap handler.
    Trap,
    /// A callback of a builtin, or the value of a variable such as `PROMPT_COMMAND`.
    Callback,
}

/// The action of a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum StepAction {
    /// Calls a function of the program.
    Function {
        /// The meaning of the name where the function is not defined.
        otherwise: Option<CommandTarget>,
    },
    /// Runs a command.
    Command {
        /// The meaning of its name.
        target: CommandTarget,
    },
    /// Assigns or redirects without running a command.
    Assign,
    /// A compound command.
    Compound {
        /// Its first token: `if`, `for`, `{`, `(`, `[[`, …
        keyword: &'static str,
    },
    /// Defines a function.
    Define {
        /// Its name.
        #[serde(serialize_with = "text")]
        #[schemars(with = "String")]
        name: Bytes,
        /// Whether each call unconditionally starts the function again in parallel: a fork bomb.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        forks_itself: bool,
    },
}

/// The meaning of a command name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "is", content = "path")]
pub enum CommandTarget {
    /// A builtin, or a command that runs in-process.
    Builtin,
    /// A script that runs in-process.
    Script(PathBuf),
    /// An external program.
    External(PathBuf),
    /// A tool.
    Tool,
    /// No command has this name.
    Missing,
    /// Not known.
    Unknown,
}

/// When and where a step runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct StepConditions {
    /// It may not run at all.
    pub conditional: bool,
    /// It may run several times.
    pub repeated: bool,
    /// It runs in the background.
    pub background: bool,
    /// It runs in a subshell, so its changes to the shell are lost.
    pub subshell: bool,
    /// It runs later than its position in the source: a function body, a trap.
    pub deferred: bool,
}

/// The position of a command in a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct PipelineStage {
    /// The position, starting at 1.
    pub number: usize,
    /// The number of commands in the pipeline.
    pub of: usize,
}

/// A word, expanded as far as the text tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedWord {
    /// Its pieces. No two literal pieces are adjacent.
    pub pieces: Vec<WordPiece>,
    /// Whether it may expand to any number of arguments.
    pub several: bool,
}

/// A piece of a word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WordPiece {
    /// Literal text after quote removal.
    Literal(
        #[serde(serialize_with = "text")]
        #[schemars(with = "String")]
        Bytes,
    ),
    /// An expansion whose result is not known.
    Dynamic {
        /// The kind of expansion.
        by: Expansion,
        /// Its text in the source.
        #[serde(serialize_with = "text")]
        #[schemars(with = "String")]
        source: Bytes,
    },
}

/// The kind of an expansion in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Expansion {
    /// A parameter expansion such as `$name`.
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
    /// Arguments that a wrapper adds: the input of `xargs`, the files found by `find`.
    Input,
    /// A name that the command itself chooses.
    Chosen,
}

/// An assignment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct PlannedAssignment {
    /// The variable, including its subscript.
    #[serde(serialize_with = "text")]
    #[schemars(with = "String")]
    pub name: Bytes,
    /// Whether the operator is `+=`.
    pub append: bool,
    /// The value, or the elements of an array.
    pub value: Vec<PlannedWord>,
}

/// A file that a redirection or a command uses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct FileUse {
    /// The file descriptor: a number or `{name}`. `None` for the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub descriptor: Option<String>,
    /// How the file is used.
    pub mode: FileUseMode,
    /// The file, the text of a here-document or here-string, or the duplicated file descriptor.
    pub target: PlannedWord,
    /// How much of a directory is used.
    #[serde(skip_serializing_if = "FileScope::is_exact")]
    pub scope: FileScope,
    /// Whether a redirection or the command uses the file.
    #[serde(skip_serializing_if = "UsedBy::is_redirection")]
    pub by: UsedBy,
}

/// How much of a path is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FileScope {
    /// The file itself.
    #[default]
    Exact,
    /// The file, or a file in it if it is a directory: the target of `cp a b`.
    Inside,
    /// The file, and everything in it if it is a directory.
    Tree,
}

impl FileScope {
    fn is_exact(&self) -> bool {
        *self == Self::Exact
    }
}

/// The user of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
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
    /// `<&` or `>&` with a file descriptor. If the operand is not known, it may also be a file.
    Duplicate,
    /// `>&-`.
    Close,
    /// Removed or renamed.
    Delete,
    /// Its mode, owner, timestamps or other attributes change.
    Attributes,
}

/// An effect that the text does not tell, so the plan may be incomplete.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Opaque {
    /// The reason.
    pub reason: OpaqueReason,
    /// The relevant text in the source.
    #[serde(serialize_with = "text")]
    #[schemars(with = "String")]
    pub source: Bytes,
}

/// Why a step is opaque.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum OpaqueReason {
    /// The command name is not known before it runs.
    CommandName,
    /// The text of a script is not known before it runs.
    ScriptText,
    /// The text of a script is invalid or nested too deeply.
    UnreadableText,
    /// A file is run as a script.
    ScriptFile,
    /// Standard input is run as a script.
    ScriptInput,
    /// Unknown options determine what a wrapper runs.
    WrapperOptions,
    /// An unknown value is evaluated as arithmetic, in which a subscript can run commands.
    ArithmeticValue,
    /// A variable name is not known before it runs, and a subscript in it can run commands.
    VariableName,
    /// A value is expanded as a prompt.
    PromptValue,
    /// A variable that affects which programs are found is set.
    Lookup,
    /// An alias changes the meaning of later command names.
    Alias,
    /// Code is loaded into the shell.
    LoadedCode,
    /// A program in another language runs, which can run commands.
    Language,
    /// Commands run on another machine or in a container.
    Elsewhere,
    /// The text of a substitution is invalid.
    BrokenSubstitution,
}

impl PlannedWord {
    /// Returns the text if it is fully known.
    #[must_use]
    pub fn literal(&self) -> Option<&[u8]> {
        match self.pieces.as_slice() {
            [] => Some(b""),
            [WordPiece::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// Returns the literal prefix.
    #[must_use]
    pub fn prefix(&self) -> &[u8] {
        match self.pieces.first() {
            Some(WordPiece::Literal(text)) => text,
            _ => b"",
        }
    }
}

/// A [`PlannedWord`] as JSON: `text` if all of it is known, else its pieces.
#[derive(Serialize, schemars::JsonSchema)]
#[serde(untagged)]
enum SerializedWord<'a> {
    Known { text: Cow<'a, str> },
    Dynamic { pieces: &'a [WordPiece], several: bool },
}

impl schemars::JsonSchema for PlannedWord {
    fn schema_name() -> Cow<'static, str> {
        "PlannedWord".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        SerializedWord::json_schema(generator)
    }
}

impl Serialize for PlannedWord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let word = match self.literal() {
            Some(text) => SerializedWord::Known { text: String::from_utf8_lossy(text) },
            None => SerializedWord::Dynamic { pieces: &self.pieces, several: self.several },
        };
        word.serialize(serializer)
    }
}

fn text<S: Serializer>(text: &Bytes, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(text)
}

fn span<S: Serializer>(span: &Span, serializer: S) -> Result<S::Ok, S::Error> {
    [span.start, span.end].serialize(serializer)
}
