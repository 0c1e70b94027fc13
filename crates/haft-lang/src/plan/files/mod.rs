//! The files that the arguments of common commands name.
//!
//! Each command is an entry of `table`: its options, and how it uses the files that options and operands name. A
//! command whose operands have a meaning of their own (`cp`, `tar`, `git`) has a function instead of a mode. Nothing
//! here looks at the file system, so a claim holds whatever is there: `cp a b` writes `b` or, if that is a
//! directory, a file in it.

mod archive;
mod compress;
mod copy;
mod device;
mod find;
mod getopt;
mod git;
mod name;
pub(super) mod path;
mod script_programs;
mod search;
mod table;
mod transfer;

use super::build::PlanBuilder;
use super::step::{FileScope, FileUse, FileUseMode, PlannedWord, UsedBy};
use super::words;
use getopt::ParsedArguments;

pub(crate) use find::find_chooses;
pub(crate) use script_programs::{interpreter_reads_input, without_version as interpreter_name};
pub(crate) use table::is_interpreter;

/// Most files of one command that are named; beyond them the list is not complete.
const MAX_FILES: usize = 1000;

/// Collects the files that a command uses.
struct FileUses {
    files: Vec<FileUse>,
    complete: bool,
}

impl FileUses {
    fn add(&mut self, mode: FileUseMode, target: &PlannedWord, scope: FileScope) {
        if matches!(target.literal(), Some(b"-" | b"")) {
            return;
        }
        if self.files.len() >= MAX_FILES {
            self.complete = false;
            return;
        }
        let by = UsedBy::Command;
        let file = FileUse { descriptor: None, mode, target: target.clone(), scope, by };
        if !self.files.contains(&file) || self.files.len() > 64 {
            self.files.push(file);
        }
    }

    fn read(&mut self, target: &PlannedWord) {
        self.add(FileUseMode::Read, target, FileScope::Exact);
    }

    fn write(&mut self, target: &PlannedWord) {
        self.add(FileUseMode::Write, target, FileScope::Exact);
    }

    fn delete(&mut self, target: &PlannedWord) {
        self.add(FileUseMode::Delete, target, FileScope::Exact);
    }

    /// A use of a path that the text of the command names itself.
    fn add_text(&mut self, mode: FileUseMode, path: &[u8], scope: FileScope) {
        self.add(mode, &words::known(path), scope);
    }

    /// Says that the command uses files which are not listed.
    fn incomplete(&mut self) {
        self.complete = false;
    }
}

/// How a command uses its operands.
#[derive(Clone, Copy)]
enum OperandUse {
    /// They are not files.
    None,
    /// Each is a file.
    Each(FileUseMode),
    /// Each but the first is a file; with one of these options, the first as well.
    AfterFirst(FileUseMode, &'static str),
    /// As the function says.
    By(fn(&ParsedArguments, &mut FileUses)),
}

impl PlanBuilder<'_> {
    /// Adds the files that a command of these arguments uses to its step.
    pub(super) fn command_files(&mut self, index: usize, argv: &[PlannedWord]) {
        self.steps[index].directory = self.directory.path().cloned();
        let argv = self.constants.resolve(argv);
        let Some((first, arguments)) = argv.split_first() else { return };
        let mut uses = FileUses { files: Vec::new(), complete: true };
        match first.literal() {
            None => uses.incomplete(),
            Some(_) if self.steps[index].is_function_call() => {}
            Some(name) => {
                let base = name.rsplit(|byte| *byte == b'/').next().unwrap_or(name);
                table::uses(base, name, arguments, &mut uses);
            }
        }
        let step = &mut self.steps[index];
        step.files.append(&mut uses.files);
        step.files_complete = uses.complete;
    }
}
