//! The files that git commands use.
//!
//! The work tree is the working directory or that of `-C`, and the repository is `.git` in it. Both are
//! described as a whole. Commands that run hooks are not complete.

use super::FileUses;
use super::getopt::{OptionSyntax, ParsedArgument, ParsedArguments};
use super::path::{base_name, join, without_suffix};
use crate::plan::step::{FileScope, FileUseMode, PlannedWord};
use crate::plan::words::known;

/// The effect of a git command.
enum GitEffect {
    /// Reads the work tree and the repository.
    Reads,
    /// Changes only the repository.
    Records,
    /// Changes the repository and the work tree.
    Updates,
    /// Computed by a function.
    By(fn(&GitCommand<'_>, &mut FileUses)),
}

/// A git command with its arguments and work tree.
struct GitCommand<'a> {
    name: &'a [u8],
    arguments: &'a [PlannedWord],
    directory: PlannedWord,
}

const COMMANDS: &[(&str, GitEffect)] = &[
    (
        "blame cat-file describe diff diff-files diff-index diff-tree for-each-ref grep log ls-files ls-tree merge-base \
         name-rev rev-list rev-parse shortlog show show-ref status var version whatchanged check-ignore count-objects \
         fsck help symbolic-ref reflog cherry range-diff",
        GitEffect::Reads,
    ),
    (
        "branch config fetch gc notes push remote repack replace tag update-ref update-index prune pack-refs bundle",
        GitEffect::Records,
    ),
    (
        "am bisect cherry-pick checkout-index merge pull rebase revert submodule switch sparse-checkout subtree \
         read-tree lfs",
        GitEffect::Updates,
    ),
    ("add stage commit", GitEffect::By(record)),
    ("checkout restore", GitEffect::By(checkout)),
    ("reset", GitEffect::By(reset)),
    ("clean", GitEffect::By(clean)),
    ("stash", GitEffect::By(stash)),
    ("apply", GitEffect::By(apply)),
    ("rm", GitEffect::By(remove)),
    ("mv", GitEffect::By(rename)),
    ("clone", GitEffect::By(clone)),
    ("init", GitEffect::By(init)),
    ("worktree", GitEffect::By(worktree)),
    ("archive format-patch", GitEffect::By(export)),
];

pub(super) fn git(arguments: &ParsedArguments, uses: &mut FileUses) {
    let mut directory = known(b".");
    arguments.values("C").for_each(|next| directory = join(&directory, next));
    uses.complete &= !arguments.has("git-dir work-tree c config-env");
    let words: Vec<PlannedWord> = arguments.operands().cloned().collect();
    let Some((command, rest)) = words.split_first() else { return };
    let name = command.literal().unwrap_or_default();
    let found = COMMANDS.iter().find(|(names, _)| names.split(' ').any(|known| known.as_bytes() == name));
    let Some((_, effect)) = found else { return uses.incomplete() };
    let work = GitCommand { name, arguments: rest, directory };
    match effect {
        GitEffect::Reads => {
            work.tree(FileUseMode::Read, uses);
            work.output(uses);
        }
        GitEffect::Records => work.repository(uses),
        GitEffect::Updates => {
            work.tree(FileUseMode::Write, uses);
            uses.incomplete();
        }
        GitEffect::By(function) => function(&work, uses),
    }
}

impl GitCommand<'_> {
    /// Adds the whole work tree, including the repository.
    fn tree(&self, mode: FileUseMode, uses: &mut FileUses) {
        uses.add(mode, &self.directory, FileScope::Tree);
    }

    fn repository(&self, uses: &mut FileUses) {
        uses.add(FileUseMode::Write, &join(&self.directory, &known(b".git")), FileScope::Tree);
    }

    /// Adds the file of `--output`.
    fn output(&self, uses: &mut FileUses) {
        let outputs = self.arguments.iter().filter(|item| item.prefix().starts_with(b"--output="));
        outputs.for_each(|item| uses.write(&crate::plan::builtin::without_prefix(item, 9)));
    }

    fn has(&self, words: &[&[u8]]) -> bool {
        let options =
            self.arguments.iter().filter_map(PlannedWord::literal).take_while(|word| *word != b"--");
        options.into_iter().any(|word| words.contains(&word))
    }

    /// Whether a short option is given.
    fn has_letter(&self, letter: u8) -> bool {
        let options =
            self.arguments.iter().filter_map(PlannedWord::literal).take_while(|word| *word != b"--");
        options
            .into_iter()
            .any(|word| word.len() > 1 && word[0] == b'-' && word[1] != b'-' && word[1..].contains(&letter))
    }

    /// Returns the paths after `--`, if given.
    fn after_dashes(&self) -> Option<Vec<PlannedWord>> {
        let at = self.arguments.iter().position(|item| item.literal() == Some(b"--"))?;
        Some(self.arguments[at + 1..].iter().map(|path| join(&self.directory, path)).collect())
    }

    /// Returns the operands. These short and long options take a value.
    fn operands(&self, short: &'static str, long: &'static str) -> Vec<PlannedWord> {
        // Options that are not listed take no value.
        let mut operands = Vec::new();
        for item in self.arguments {
            let read = OptionSyntax { short, long }.read(std::slice::from_ref(item));
            if operands.last() == Some(&None) {
                operands.pop();
                continue;
            }
            match read.events.as_slice() {
                [ParsedArgument::Operand(path)] => operands.push(Some(join(&self.directory, path))),
                [ParsedArgument::Option(_, None)] if item.literal().is_some() => operands.push(None),
                _ => {}
            }
        }
        operands.into_iter().flatten().collect()
    }
}

/// `add PATH…` and `commit`: the files are read, the repository is written.
fn record(work: &GitCommand<'_>, uses: &mut FileUses) {
    if work.has(&[b"-n", b"--dry-run"]) {
        return work.tree(FileUseMode::Read, uses);
    }
    let paths = match work.name {
        b"commit" => work.after_dashes().unwrap_or_default(),
        _ => work.operands("", "chmod= pathspec-from-file="),
    };
    match paths.as_slice() {
        [] => work.tree(FileUseMode::Read, uses),
        paths => paths.iter().for_each(|path| uses.add(FileUseMode::Read, path, FileScope::Tree)),
    }
    work.repository(uses);
    uses.complete &= work.name != b"commit";
}

/// `checkout BRANCH`, `checkout -- PATH…`, `restore PATH…`.
fn checkout(work: &GitCommand<'_>, uses: &mut FileUses) {
    uses.incomplete();
    if work.name == b"restore" && work.has(&[b"--staged", b"-S"]) && !work.has(&[b"--worktree", b"-W"]) {
        return work.repository(uses);
    }
    let paths = match work.name {
        b"restore" => Some(work.operands("s:", "source= pathspec-from-file=")),
        _ => work.after_dashes(),
    };
    match paths.as_deref() {
        None | Some([]) => work.tree(FileUseMode::Write, uses),
        Some(paths) => paths.iter().for_each(|path| uses.add(FileUseMode::Write, path, FileScope::Tree)),
    }
}

fn reset(work: &GitCommand<'_>, uses: &mut FileUses) {
    if work.has(&[b"--hard", b"--merge", b"--keep"]) {
        work.tree(FileUseMode::Write, uses);
    } else {
        work.repository(uses);
    }
}

/// `clean -f [PATH…]`.
fn clean(work: &GitCommand<'_>, uses: &mut FileUses) {
    if work.has_letter(b'n') || work.has(&[b"--dry-run"]) {
        return work.tree(FileUseMode::Read, uses);
    }
    let paths = work.operands("e:", "exclude=");
    match paths.as_slice() {
        [] => work.tree(FileUseMode::Delete, uses),
        paths => paths.iter().for_each(|path| uses.add(FileUseMode::Delete, path, FileScope::Tree)),
    }
}

fn stash(work: &GitCommand<'_>, uses: &mut FileUses) {
    match work.arguments.first().and_then(PlannedWord::literal) {
        Some(b"list" | b"show") => work.tree(FileUseMode::Read, uses),
        Some(b"drop" | b"clear" | b"create" | b"store") => work.repository(uses),
        _ => work.tree(FileUseMode::Write, uses),
    }
}

fn apply(work: &GitCommand<'_>, uses: &mut FileUses) {
    for patch in work.operands("p:C:", "directory= exclude= include= whitespace=") {
        uses.read(&patch);
    }
    if work.has(&[b"--check", b"--stat", b"--numstat", b"--summary"]) && !work.has(&[b"--apply"]) {
        return;
    }
    if work.has(&[b"--cached"]) {
        return work.repository(uses);
    }
    work.tree(FileUseMode::Write, uses);
}

fn remove(work: &GitCommand<'_>, uses: &mut FileUses) {
    work.repository(uses);
    if work.has(&[b"--cached", b"-n", b"--dry-run"]) {
        return;
    }
    let scope = if work.has_letter(b'r') { FileScope::Tree } else { FileScope::Exact };
    work.operands("", "pathspec-from-file=")
        .iter()
        .for_each(|path| uses.add(FileUseMode::Delete, path, scope));
}

fn rename(work: &GitCommand<'_>, uses: &mut FileUses) {
    work.repository(uses);
    let paths = work.operands("", "");
    let Some((target, sources)) = paths.split_last() else { return };
    sources.iter().for_each(|source| uses.add(FileUseMode::Delete, source, FileScope::Tree));
    uses.add(FileUseMode::Write, target, FileScope::Tree);
}

/// `clone URL [DIRECTORY]`.
fn clone(work: &GitCommand<'_>, uses: &mut FileUses) {
    let operands = work.operands(
        "b:c:o:u:j:",
        "branch= config= origin= depth= reference= separate-git-dir= template= upload-pack= jobs= filter= \
         shallow-since= shallow-exclude= reference-if-able= bundle-uri= server-option=",
    );
    let Some(source) = operands.first() else { return };
    let name = base_name(source).map(|name| without_suffix(&name, b".git").unwrap_or(name));
    match operands.get(1).cloned().or_else(|| name.map(|name| join(&work.directory, &name))) {
        Some(directory) => uses.add(FileUseMode::Write, &directory, FileScope::Tree),
        None => uses.incomplete(),
    }
}

fn init(work: &GitCommand<'_>, uses: &mut FileUses) {
    let operands = work.operands("b:", "template= separate-git-dir= object-format= initial-branch=");
    let directory = operands.first().unwrap_or(&work.directory).clone();
    uses.add(FileUseMode::Write, &join(&directory, &known(b".git")), FileScope::Tree);
    operands.first().into_iter().for_each(|directory| uses.write(directory));
}

/// `worktree add PATH`, `worktree remove PATH`.
fn worktree(work: &GitCommand<'_>, uses: &mut FileUses) {
    work.repository(uses);
    let operands = work.operands("b:B:", "reason=");
    let action = work.arguments.first().and_then(PlannedWord::literal);
    match (action, operands.get(1)) {
        (Some(b"add"), Some(path)) => uses.add(FileUseMode::Write, path, FileScope::Tree),
        (Some(b"remove"), Some(path)) => uses.add(FileUseMode::Delete, path, FileScope::Tree),
        (Some(b"list" | b"prune" | b"lock" | b"unlock" | b"repair"), _) => {}
        _ => uses.incomplete(),
    }
}

/// `archive -o FILE`, `format-patch -o DIRECTORY`.
fn export(work: &GitCommand<'_>, uses: &mut FileUses) {
    work.tree(FileUseMode::Read, uses);
    let read = OptionSyntax { short: "o:v:", long: "output= output-directory= format= prefix= remote=" }
        .read(work.arguments);
    match read.value("o output output-directory") {
        Some(directory) if work.name == b"format-patch" => {
            uses.add(FileUseMode::Write, directory, FileScope::Tree);
        }
        Some(file) => uses.write(file),
        None if work.name == b"format-patch" && !work.has(&[b"--stdout"]) => {
            uses.add(FileUseMode::Write, &work.directory, FileScope::Tree);
        }
        None => {}
    }
}
