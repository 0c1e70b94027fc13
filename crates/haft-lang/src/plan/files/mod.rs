//! The files named by arguments of common commands.
//!
//! Each command has an entry in `table`: its options, and how it uses the files named by options and
//! operands. Commands with their own operand syntax (`cp`, `tar`, `git`) have a function. Nothing here
//! accesses the file system, so every claim must hold for any state of it: `cp a b` writes `b`, or a file in
//! `b` if that is a directory.

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

/// Maximum number of files listed for one command. Beyond it, the list is incomplete.
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

    /// Adds a use of a fixed path.
    fn add_text(&mut self, mode: FileUseMode, path: &[u8], scope: FileScope) {
        self.add(mode, &words::known(path), scope);
    }

    /// Marks the list as incomplete.
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
    /// Each except the first is a file. With one of these options, the first one is a file, too.
    AfterFirst(FileUseMode, &'static str),
    /// Computed by a function.
    By(fn(&ParsedArguments, &mut FileUses)),
}

impl PlanBuilder<'_> {
    /// Adds the files that a command uses to its step.
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
