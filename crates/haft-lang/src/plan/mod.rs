//! Lists what a program would run, read and write, from its text alone.
//!
//! A permission prompt relies on a [`ScriptPlan`], so the plan must be complete: every command that the
//! program can run is a [`PlanStep`], or a step has an [`Opaque`] that says why its text does not tell.
//!
//! # How it is complete
//!
//! `build` handles every kind of command and its lists. It visits everything else in a command (words,
//! redirections, here-documents, subscripts, arithmetic) with [`crate::walk`] and plans each substitution.
//! Neither has a wildcard arm, so a new kind of node does not compile until it is handled. Four modules find
//! commands that are hidden in data: `wrapper` handles commands that run their arguments; `builtin` handles
//! builtins that run text or register callbacks; `hazard` handles expansions that evaluate values; `program`
//! handles programs with their own language, or with options and settings that name commands. Any other
//! program may run anything: the plan contains only its name.
//!
//! # Files
//!
//! The files of a step are those of its redirections and, for commands that `files` describes, those named by
//! its arguments. `constant` resolves variables that the program sets once to a known text. `directory`
//! tracks `cd`, so relative paths belong to the right directory. [`PlanStep::files_complete`] tells whether
//! the list is complete.
//!
//! # How it is bounded
//!
//! Nested scripts (`eval`, `sh -c`) and commands in arguments (`sudo env nice …`) are followed to a fixed
//! depth; deeper steps are opaque. The parser limits the depth of the tree itself.

mod build;
mod builtin;
mod constant;
mod directory;
mod file;
mod files;
mod fork;
mod git;
mod haft_commands;
mod hazard;
mod numeric;
mod program;
mod script_language;
mod shell;
mod show;
mod step;
mod summary;
mod words;
mod wrapper;

use crate::ParseOptions;
use crate::ast::Program;
use crate::resolve::{CachingResolver, Resolver};

pub use step::{
    CommandTarget, Expansion, FileScope, FileSummary, FileUse, FileUseMode, Opaque, OpaqueReason,
    PipelineStage, PlanStep, PlannedAssignment, PlannedWord, ScriptPlan, StepAction, StepConditions,
    StepRole, UsedBy, UsedFile, WordPiece,
};

pub(crate) use constant::variable as variable_name;
pub(crate) use files::find_chooses;
pub(crate) use files::{interpreter_name, interpreter_reads_input, is_interpreter};
pub(crate) use shell::is_shell;
pub(crate) use show::source as written;

/// Returns the path of a file that a step uses, relative to the directory in which the program starts.
pub(crate) fn resolved_path(step: &PlanStep, target: &PlannedWord) -> PlannedWord {
    directory::from_start(step.directory.as_ref(), target)
}

/// Plans a program. `source` is the text it was parsed from.
///
/// ```
/// use haft_lang::{BuiltinsOnly, ParseOptions, parse, plan};
///
/// let source = b"cd /srv && tar -cf - . | sudo -u backup ssh host 'cat > x'";
/// let program = parse(source, &ParseOptions::default())?;
/// let plan = plan::plan(&program, source, &BuiltinsOnly);
/// let names: Vec<_> = plan.steps.iter().filter_map(|step| step.argv.first()?.literal()).collect();
/// assert_eq!(names, [&b"cd"[..], b"tar", b"sudo", b"ssh"]);
/// # Ok::<(), haft_lang::SyntaxError>(())
/// ```
#[must_use]
pub fn plan(program: &Program, source: &[u8], resolver: &dyn Resolver) -> ScriptPlan {
    let resolver = CachingResolver::new(resolver);
    let mut builder = build::PlanBuilder::new(program, source, &resolver, ParseOptions::default());
    builder.list(&program.body, &build::StepContext::top(source));
    let files = summary::summary(&builder.steps);
    ScriptPlan { steps: builder.steps, files }
}

/// Plans one command whose words are already expanded: the command itself, and the commands that it runs because of
/// its arguments, such as those of `sudo`, `sh -c` and `find -exec`.
///
/// ```
/// use haft_lang::{BuiltinsOnly, plan::plan_command};
///
/// let plan = plan_command(&[b"env", b"-i", b"sh", b"-c", b"git push"], &BuiltinsOnly);
/// let names: Vec<_> = plan.steps.iter().filter_map(|step| step.argv.first()?.literal()).collect();
/// assert_eq!(names, [&b"env"[..], b"sh", b"git"]);
/// ```
#[must_use]
pub fn plan_command(argv: &[&[u8]], resolver: &dyn Resolver) -> ScriptPlan {
    let argv: Vec<PlannedWord> = argv.iter().map(|word| words::known(word)).collect();
    let mut builder = build::PlanBuilder::new(&Program::default(), b"", resolver, ParseOptions::default());
    builder.expanded(&argv, &build::StepContext::top(b""));
    ScriptPlan { steps: builder.steps, files: FileSummary::default() }
}
