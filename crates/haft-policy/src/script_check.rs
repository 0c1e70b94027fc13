//! Decisions about a script before it runs.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use haft_lang::plan::{
    CommandTarget, Expansion, FileScope, FileUse, FileUseMode, OpaqueReason, PlanStep, PlannedWord,
    ScriptPlan, StepAction, UsedBy, WordPiece,
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::command::{DispatchKind, JudgedCommand, JudgedWord};
use crate::context::DEVICES;
use crate::decision::{Decision, PolicyVerdict};
use crate::file_limit::FileAccess;
use crate::path_pattern::normalized;
use crate::policy::{Policy, unknown};

/// The decisions about one command of a script.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StepDecision {
    /// The line of the command, starting at 1.
    pub line: u32,
    /// The command, about as in the script.
    pub command: String,
    /// The kind; absent for a redirection without a command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<DispatchKind>,
    /// The strictest decision about the command itself.
    #[serde(flatten)]
    pub decision: Decision,
    /// The decisions about files that it names, where they are not allowed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileDecision>,
    /// Whether rules allow it explicitly, or it only affects the shell: an agent need not ask about it.
    pub vouched: bool,
}

/// A decision about a file that a command names.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FileDecision {
    /// The use of the file.
    pub access: FileAccess,
    /// Its path.
    pub path: String,
    /// The decision.
    #[serde(flatten)]
    pub decision: Decision,
}

impl StepDecision {
    /// The strictest verdict about the command and its files.
    #[must_use]
    pub fn verdict(&self) -> PolicyVerdict {
        let files = self.files.iter().map(|file| file.decision.verdict);
        files.fold(self.decision.verdict, PolicyVerdict::max)
    }
}

/// The surroundings of a script that is judged before it runs.
pub struct ScriptSurroundings<'a> {
    /// The directory in which it starts.
    pub directory: &'a Path,
    /// Resolves the symbolic links of an absolute path, as far as it exists.
    pub resolve: &'a dyn Fn(&Path) -> PathBuf,
}

impl Policy {
    /// Decides about every command of a script, and the files that they name. Words and paths that are not known before
    /// the script runs are decided when it runs; if they could match a rule, the verdict is [`PolicyVerdict::Ask`].
    #[must_use]
    pub fn check_script(
        &self,
        plan: &ScriptPlan,
        surroundings: &ScriptSurroundings<'_>,
    ) -> Vec<StepDecision> {
        plan.steps.iter().filter_map(|step| self.check_step(step, surroundings)).collect()
    }

    fn check_step(&self, step: &PlanStep, surroundings: &ScriptSurroundings<'_>) -> Option<StepDecision> {
        let files = self.check_files(step, surroundings);
        let kinds = kinds(step);
        let is_structure = matches!(step.action, StepAction::Compound { .. } | StepAction::Define { .. });
        if is_structure && step.files.is_empty() && step.opaque.is_empty() {
            return None;
        }
        let own = kinds.iter().map(|(kind, path)| {
            let path =
                path.map(|path| (surroundings.resolve)(&normalized(&surroundings.directory.join(path))));
            let words = step.argv.iter().map(JudgedWord::planned).collect();
            self.decide_one(&JudgedCommand { kind: *kind, words, path })
        });
        let opaque =
            step.opaque.iter().filter(|opaque| self.limits_commands() && hides_commands(opaque.reason));
        let all = own.chain(opaque.map(|opaque| unknown(&opaque.source)));
        let decision = all.reduce(Decision::stricter).unwrap_or_default();
        let is_plain = kinds.len() < 2 && step.opaque.is_empty() && files.is_empty() && is_harmless(step);
        let is_allowed =
            decision.is_allowed() && (decision.rule.is_some() || affects_shell_only(step, &kinds));
        let vouched = is_plain && is_allowed && self.vouches_for_files(step, surroundings);
        Some(StepDecision {
            line: step.line,
            command: label(step),
            kind: kinds.first().map(|(kind, _)| *kind),
            decision,
            files,
            vouched,
        })
    }

    /// Whether rules allow all files that redirections of a command write.
    fn vouches_for_files(&self, step: &PlanStep, surroundings: &ScriptSurroundings<'_>) -> bool {
        let written = step.files.iter().filter(|file| file.by == UsedBy::Redirection && changes_file(file));
        written.clone().all(|file| {
            self.path(step, file, surroundings).is_some_and(|path| {
                let is_device = DEVICES.iter().any(|device| path.starts_with(device));
                is_device || self.decide_file(FileAccess::Write, &path).rule.is_some()
            })
        })
    }

    fn check_files(&self, step: &PlanStep, surroundings: &ScriptSurroundings<'_>) -> Vec<FileDecision> {
        let mut decisions = Vec::new();
        for file in &step.files {
            let Some(path) = self.path(step, file, surroundings) else { continue };
            for access in accesses(file.mode) {
                let decision = self.decide_tree(*access, &path, file.scope);
                if !decision.is_allowed() {
                    let path = path.to_string_lossy().into_owned();
                    decisions.push(FileDecision { access: *access, path, decision });
                    break;
                }
            }
        }
        decisions
    }

    /// Decides about a path and, if everything in it changes, about protected files in it.
    fn decide_tree(&self, access: FileAccess, path: &Path, scope: FileScope) -> Decision {
        let own = self.decide_file(access, path);
        if access == FileAccess::Read || scope != FileScope::Tree {
            return own;
        }
        let exceptions = self.layers.iter().flat_map(|layer| &layer.files.exceptions);
        let inside = exceptions.filter(|exception| exception.applies(access));
        let inside =
            inside.flat_map(|exception| exception.rule.plain()).filter(|inner| inner.starts_with(path));
        inside.map(|inner| self.decide_file(access, &inner)).fold(own, Decision::stricter)
    }

    /// The path of a file without symbolic links; `None` if it is not known.
    fn path(
        &self,
        step: &PlanStep,
        file: &FileUse,
        surroundings: &ScriptSurroundings<'_>,
    ) -> Option<PathBuf> {
        let target = self.known_path(&file.target)?;
        let directory = match &step.directory {
            Some(directory) => surroundings.directory.join(self.known_path(directory)?),
            None => surroundings.directory.to_path_buf(),
        };
        // A removed or renamed link is not followed.
        let path = directory.join(target);
        if file.mode == FileUseMode::Delete {
            let (parent, name) = (path.parent()?, path.file_name());
            let parent = (surroundings.resolve)(parent);
            return Some(name.map_or(parent.clone(), |name| parent.join(name)));
        }
        Some((surroundings.resolve)(&path))
    }

    /// The text of a path, with `~` replaced.
    fn known_path(&self, word: &PlannedWord) -> Option<PathBuf> {
        match word.pieces.as_slice() {
            [WordPiece::Literal(text)] => Some(PathBuf::from(OsStr::from_bytes(text))),
            [WordPiece::Dynamic { by: Expansion::Tilde, source }, rest @ ..] if source.as_ref() == b"~" => {
                let home = self.context.home.clone()?;
                match rest {
                    [] => Some(home),
                    [WordPiece::Literal(text)] => {
                        Some(home.join(OsStr::from_bytes(text.strip_prefix(b"/")?)))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// The command as text; for a step without one, its keyword or the variables that it sets.
fn label(step: &PlanStep) -> String {
    match &step.action {
        StepAction::Compound { keyword } => (*keyword).to_owned(),
        StepAction::Define { name, .. } => format!("{name}()"),
        StepAction::Assign => {
            let names = step.assignments.iter().map(|assignment| format!("{}=", assignment.name));
            names.collect::<Vec<_>>().join(" ")
        }
        StepAction::Command { .. } | StepAction::Function { .. } => step.command_line(),
    }
}

/// The kinds that the command of a step may have, with their files; none for other steps.
fn kinds(step: &PlanStep) -> Vec<(DispatchKind, Option<&Path>)> {
    let name = step.argv.first().and_then(PlannedWord::literal).unwrap_or_default();
    let kind = |target: &'_ CommandTarget| match target {
        CommandTarget::Builtin if haft_lang::is_builtin(name) => DispatchKind::Builtin,
        CommandTarget::Builtin => DispatchKind::InProcess,
        CommandTarget::Script(_) => DispatchKind::Script,
        CommandTarget::Tool => DispatchKind::Tool,
        CommandTarget::External(_) | CommandTarget::Missing | CommandTarget::Unknown => {
            DispatchKind::External
        }
    };
    fn file(target: &CommandTarget) -> Option<&Path> {
        match target {
            CommandTarget::Script(path) | CommandTarget::External(path) => Some(path),
            _ => None,
        }
    }
    match &step.action {
        StepAction::Command { target } => vec![(kind(target), file(target))],
        StepAction::Function { otherwise } => {
            let other = otherwise.iter().map(|target| (kind(target), file(target)));
            std::iter::once((DispatchKind::Function, None)).chain(other).collect()
        }
        StepAction::Assign | StepAction::Compound { .. } | StepAction::Define { .. } => Vec::new(),
    }
}

/// Builtins that change nothing but the shell's own state, and cannot make later commands do something else.
const SHELL_ONLY: &[&str] = &[
    ":", "[", "break", "cd", "continue", "dirs", "echo", "exit", "false", "jobs", "popd", "printf", "pushd",
    "pwd", "return", "shift", "test", "times", "true", "type", "umask", "wait",
];

/// Whether a step affects only the shell: a function, whose commands are steps of their own, or a harmless builtin.
fn affects_shell_only(step: &PlanStep, kinds: &[(DispatchKind, Option<&Path>)]) -> bool {
    let name = step.argv.first().and_then(PlannedWord::literal).unwrap_or_default();
    match kinds {
        [] | [(DispatchKind::Function, _)] => true,
        [(DispatchKind::Builtin, _)] => {
            let sets_variable =
                name == b"printf" && step.argv.iter().any(|word| word.prefix().starts_with(b"-"));
            SHELL_ONLY.iter().any(|builtin| builtin.as_bytes() == name) && !sets_variable
        }
        _ => false,
    }
}

/// Whether the assignments of a step cannot change what programs do. Variables that programs use have capital letters.
fn is_harmless(step: &PlanStep) -> bool {
    let is_own = |name: &[u8]| !name.iter().any(u8::is_ascii_uppercase);
    step.assignments.iter().all(|assignment| is_own(&assignment.name))
}

fn changes_file(file: &FileUse) -> bool {
    match file.mode {
        FileUseMode::Duplicate => file.target.literal().is_none(),
        mode => accesses(mode).iter().any(|access| *access != FileAccess::Read),
    }
}

fn accesses(mode: FileUseMode) -> &'static [FileAccess] {
    match mode {
        FileUseMode::Read => &[FileAccess::Read],
        FileUseMode::Write | FileUseMode::Append => &[FileAccess::Write, FileAccess::Create],
        FileUseMode::ReadWrite => &[FileAccess::Read, FileAccess::Write, FileAccess::Create],
        FileUseMode::Attributes => &[FileAccess::Write],
        FileUseMode::Delete => &[FileAccess::Delete],
        FileUseMode::HereDocument | FileUseMode::HereString | FileUseMode::Duplicate | FileUseMode::Close => {
            &[]
        }
    }
}

/// Whether the text leaves open which commands run. A program in another language, or a file that it runs, is its own
/// affair. A value that is evaluated as arithmetic is judged when it runs.
fn hides_commands(reason: OpaqueReason) -> bool {
    matches!(
        reason,
        OpaqueReason::CommandName
            | OpaqueReason::ScriptText
            | OpaqueReason::UnreadableText
            | OpaqueReason::ScriptInput
            | OpaqueReason::WrapperOptions
            | OpaqueReason::BrokenSubstitution
            | OpaqueReason::Lookup
            | OpaqueReason::Alias
            | OpaqueReason::LoadedCode
    )
}
