//! What a program would run, read and write, told from its text alone.
//!
//! A [`ScriptPlan`] is what a permission prompt reads, so it has to be complete: whatever the program can run is a [`PlanStep`] of
//! it, or a step says with an [`Opaque`] that its text cannot tell, and why.
//!
//! # How it is complete
//!
//! `build` names every kind of command and follows every list that one holds; whatever else stands in a command
//! (words, redirections, here-documents, subscripts, arithmetic) it goes through with [`crate::walk`], which knows every
//! kind of node there is, and plans each substitution it meets. Neither has a wildcard arm, so a new kind of node does not
//! compile until it is planned. What is hidden in data rather than in the tree is found in four places:
//! `wrapper` looks through commands that run their arguments, `builtin` through builtins that run
//! text or call back, `hazard` through expansions that evaluate values, `program` through programs that have a
//! language of their own or options and settings that name commands. That a program which is none of those runs what it
//! likes is in the nature of programs: its name is in the plan.
//!
//! # Files
//!
//! The files of a step are its redirections and, for the commands that `files` describes, what the arguments name.
//! Variables that the program sets once to known text are looked up (`constant`), and relative paths belong to the
//! directory that `cd` has changed to (`directory`). [`PlanStep::files_complete`] says whether that is all.
//!
//! # How it is bounded
//!
//! Text within text (`eval`, `sh -c`) and commands within arguments (`sudo env nice …`) are followed to a fixed depth, after
//! which a step is opaque; the tree itself is bounded by the parser.

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

/// The path of a file that a step uses, as seen from where the program starts.
pub(crate) fn resolved_path(step: &PlanStep, target: &PlannedWord) -> PlannedWord {
    directory::from_start(step.directory.as_ref(), target)
}

/// Plans a program: `source` is the text it was parsed from.
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
