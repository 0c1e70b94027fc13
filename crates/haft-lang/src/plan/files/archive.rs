//! tar, zip and unzip.

use super::FileUses;
use super::getopt::{ParsedArgument, ParsedArguments};
use super::path::{join, with_suffix};
use crate::plan::step::{FileScope, FileUseMode, PlannedWord};
use crate::plan::words::known;

pub(super) const TAR_SHORT: &str = "AcdrtuxGnSkUWOpsmlvwzZjJahPiBRMb:C:f:F:g:H:I:K:L:N:T:V:X:o";
pub(super) const TAR_LONG: &str = "catenate concatenate create diff compare delete append list test-label update \
    extract get check-device listed-incremental= incremental ignore-failed-read level= no-check-device no-seek seek \
    occurrence=? sparse sparse-version= add-file= backup=? directory= exclude= exclude-backups exclude-caches \
    exclude-caches-all exclude-from= exclude-ignore= exclude-tag= exclude-vcs exclude-vcs-ignores no-null \
    no-recursion no-unquote null recursion files-from= unquote exclude-from= anchored ignore-case no-anchored \
    no-ignore-case no-wildcards wildcards wildcards-match-slash strip-components= transform= xform= keep-newer-files \
    keep-old-files no-overwrite-dir one-top-level=? overwrite overwrite-dir recursive-unlink remove-files skip-old-files \
    unlink-first verify ignore-command-error no-ignore-command-error to-stdout to-command= atime-preserve=? \
    clamp-mtime delay-directory-restore group= group-map= mode= mtime= no-delay-directory-restore no-same-owner \
    no-same-permissions numeric-owner owner= owner-map= preserve-permissions same-permissions preserve-order same-order \
    same-owner sort= touch no-acls acls no-selinux selinux no-xattrs xattrs xattrs-exclude= xattrs-include= file= \
    force-local info-script= new-volume-script= tape-length= multi-volume rmt-command= rsh-command= volno-file= \
    blocking-factor= read-full-records ignore-zeros record-size= format= old-archive posix pax-option= portability \
    label= auto-compress use-compress-program= bzip2 xz lzip lzma lzop no-auto-compress zstd gzip gunzip ungzip \
    compress uncompress after-date= newer= newer-mtime= one-file-system absolute-names dereference hard-dereference \
    starting-file= suffix= full-time index-file= block-number checkpoint=? checkpoint-action= interactive \
    confirmation no-quote-chars= quote-chars= quoting-style= restrict show-defaults show-omitted-dirs \
    show-snapshot-field-ranges show-stored-names show-transformed-names totals=? utc verbose warning=";

/// `tar c|x|t|r|u|d f ARCHIVE [-C DIRECTORY] FILE…`.
pub(super) fn tar(arguments: &ParsedArguments, uses: &mut FileUses) {
    let archive = arguments.value("f file");
    let local = archive.filter(|archive| !archive.prefix().contains(&b':') || arguments.has("force-local"));
    uses.complete &= archive.is_none_or(|_| local.is_some())
        && !arguments.has("M multi-volume g listed-incremental backup");
    arguments.values("T files-from X exclude-from").for_each(|file| uses.read(file));
    uses.complete &= !arguments.has("T files-from");
    let extracts = arguments.has("x extract get");
    let reads = extracts || arguments.has("t list d diff compare");
    match local {
        Some(archive) if reads => uses.read(archive),
        Some(archive) if arguments.has("c create") => uses.write(archive),
        Some(archive) => uses.add(FileUseMode::Append, archive, FileScope::Exact),
        None => {}
    }
    if extracts {
        unpacked(arguments, uses);
    } else if !arguments.has("t list delete") {
        packed(arguments, uses);
    }
}

fn unpacked(arguments: &ParsedArguments, uses: &mut FileUses) {
    if arguments.has("O to-stdout to-command") {
        return;
    }
    let here = known(b".");
    let directory = directories(arguments).pop().unwrap_or(here);
    let top = arguments.value("one-top-level").map(|name| join(&directory, name));
    uses.add(FileUseMode::Write, &top.unwrap_or(directory), FileScope::Tree);
    uses.complete &= !arguments.has("P absolute-names");
}

/// Returns the directories of the `-C` options, each relative to the previous one.
fn directories(arguments: &ParsedArguments) -> Vec<PlannedWord> {
    let mut all: Vec<PlannedWord> = Vec::new();
    for directory in arguments.values("C directory") {
        let next = all.last().map_or_else(|| directory.clone(), |before| join(before, directory));
        all.push(next);
    }
    all
}

/// Adds the files to archive. `-C` applies to the files after it.
fn packed(arguments: &ParsedArguments, uses: &mut FileUses) {
    let mut directory = known(b".");
    for event in &arguments.events {
        match event {
            ParsedArgument::Option("C" | "directory", Some(next)) => directory = join(&directory, next),
            ParsedArgument::Option(..) => {}
            ParsedArgument::Operand(file) => {
                let file = join(&directory, file);
                uses.add(FileUseMode::Read, &file, FileScope::Tree);
                if arguments.has("remove-files") {
                    uses.add(FileUseMode::Delete, &file, FileScope::Tree);
                }
            }
        }
    }
}

pub(super) const ZIP_SHORT: &str = "AcdDeEfFgGhijJklLmMnoqrRsSTuUvVwWxXyYzZ0123456789t:P:b:O:";
pub(super) const ZIP_LONG: &str = "recurse-paths quiet verbose junk-paths update freshen delete move exclude include \
    encrypt password= output-file= symlinks filesync test temp-path= store grow difference-archive fix compression-method=";

/// `zip ARCHIVE FILE…`, with patterns after `-x` and `-i`.
pub(super) fn zip(arguments: &ParsedArguments, uses: &mut FileUses) {
    let mut files: Vec<&PlannedWord> = Vec::new();
    for event in &arguments.events {
        match event {
            ParsedArgument::Option("x" | "i" | "exclude" | "include", _) if !files.is_empty() => break,
            ParsedArgument::Operand(file) => files.push(file),
            ParsedArgument::Option(..) => {}
        }
    }
    let Some((archive, files)) = files.split_first() else { return };
    let named = |item: &PlannedWord| {
        item.literal()
            .is_none_or(|text| text.rsplit(|byte| *byte == b'/').next().unwrap_or(text).contains(&b'.'))
    };
    let archive = if named(archive) || archive.literal() == Some(b"-") {
        (*archive).clone()
    } else {
        with_suffix(archive, b".zip")
    };
    let output = arguments.value("O output-file");
    match output {
        Some(output) => {
            uses.read(&archive);
            uses.write(output);
        }
        None if arguments.has("T test") && files.is_empty() => uses.read(&archive),
        None => uses.write(&archive),
    }
    if arguments.has("d delete") {
        return;
    }
    let scope = if arguments.has("r R recurse-paths") { FileScope::Tree } else { FileScope::Exact };
    for file in files {
        uses.add(FileUseMode::Read, file, scope);
        if arguments.has("m move") {
            uses.add(FileUseMode::Delete, file, scope);
        }
    }
    uses.complete &= !files.iter().any(|file| file.literal() == Some(b"@"));
}

/// `unzip ARCHIVE [MEMBER…] [-d DIRECTORY]`.
pub(super) fn unzip(arguments: &ParsedArguments, uses: &mut FileUses) {
    arguments.operands().next().into_iter().for_each(|archive| uses.read(archive));
    if arguments.has("l t p c v z Z") {
        return;
    }
    match arguments.value("d") {
        Some(directory) => uses.add(FileUseMode::Write, directory, FileScope::Tree),
        None => uses.add_text(FileUseMode::Write, b".", FileScope::Tree),
    }
}
