//! Programs that compress, decompress or split files.

use super::FileUses;
use super::getopt::ParsedArguments;
use super::path::{chosen, concat, literal, with_suffix, without_suffix};
use crate::plan::step::{FileScope, FileUseMode, PlannedWord};
use crate::plan::words::known;

/// How a compression program names files.
struct Compressor {
    /// Suffixes of compressed files, default first, each with the suffix of the decompressed file.
    suffixes: &'static [(&'static str, &'static str)],
    /// Whether the program keeps the original file by default.
    keeps: bool,
}

pub(super) fn gzip(arguments: &ParsedArguments, uses: &mut FileUses) {
    const SUFFIXES: &[(&str, &str)] =
        &[(".gz", ""), (".tgz", ".tar"), (".taz", ".tar"), (".z", ""), (".Z", "")];
    Compressor { suffixes: SUFFIXES, keeps: false }.uses(arguments, uses);
}

pub(super) fn bzip2(arguments: &ParsedArguments, uses: &mut FileUses) {
    const SUFFIXES: &[(&str, &str)] = &[(".bz2", ""), (".bz", ""), (".tbz2", ".tar"), (".tbz", ".tar")];
    Compressor { suffixes: SUFFIXES, keeps: false }.uses(arguments, uses);
}

pub(super) fn xz(arguments: &ParsedArguments, uses: &mut FileUses) {
    const XZ: &[(&str, &str)] = &[(".xz", ""), (".txz", ".tar"), (".lzma", ""), (".tlz", ".tar")];
    const LZMA: &[(&str, &str)] = &[(".lzma", ""), (".tlz", ".tar"), (".xz", ""), (".txz", ".tar")];
    let suffixes = if arguments.command.ends_with(b"lzma") { LZMA } else { XZ };
    Compressor { suffixes, keeps: false }.uses(arguments, uses);
}

pub(super) fn zstd(arguments: &ParsedArguments, uses: &mut FileUses) {
    const SUFFIXES: &[(&str, &str)] =
        &[(".zst", ""), (".tzst", ".tar"), (".gz", ""), (".xz", ""), (".lz4", "")];
    if let Some(output) = arguments.value("o") {
        arguments.operands().for_each(|file| uses.read(file));
        return uses.write(output);
    }
    Compressor { suffixes: SUFFIXES, keeps: !arguments.has("rm") }.uses(arguments, uses);
}

impl Compressor {
    fn uses(&self, arguments: &ParsedArguments, uses: &mut FileUses) {
        let reads = arguments.has("c stdout to-stdout t test l list");
        let keeps = self.keeps || arguments.has("k keep");
        let back = arguments.command.starts_with(b"un")
            || matches!(arguments.command.as_slice(), b"gunzip" | b"bunzip2")
            || arguments.has("d decompress uncompress");
        let given = arguments.value("S suffix").and_then(PlannedWord::literal);
        for file in arguments.operands() {
            uses.read(file);
            if reads {
                continue;
            }
            if arguments.has("r recursive") {
                uses.add(FileUseMode::Write, file, FileScope::Tree);
                uses.add(FileUseMode::Delete, file, FileScope::Tree);
                continue;
            }
            match if back { self.unpacked(file, given) } else { Some(self.packed(file, given)) } {
                Some(other) => uses.write(&other),
                None => uses.incomplete(),
            }
            if !keeps {
                uses.delete(file);
            }
        }
    }

    fn packed(&self, file: &PlannedWord, suffix: Option<&[u8]>) -> PlannedWord {
        let suffix = suffix.unwrap_or(self.suffixes[0].0.as_bytes());
        with_suffix(file, suffix)
    }

    fn unpacked(&self, file: &PlannedWord, suffix: Option<&[u8]>) -> Option<PlannedWord> {
        let known = self.suffixes.iter().map(|(packed, plain)| (packed.as_bytes(), plain.as_bytes()));
        let mut all = suffix.map(|suffix| (suffix, &b""[..])).into_iter().chain(known);
        let found = all.find_map(|(packed, plain)| Some((without_suffix(file, packed)?, plain)));
        found.map(|(name, plain)| with_suffix(&name, plain))
    }
}

/// `split [FILE [PREFIX]]`.
pub(super) fn split(arguments: &ParsedArguments, uses: &mut FileUses) {
    let mut operands = arguments.operands();
    operands.next().into_iter().for_each(|file| uses.read(file));
    if arguments.has("filter") {
        return uses.incomplete();
    }
    numbered(operands.next().cloned().unwrap_or_else(|| known(b"x")), uses);
}

/// `csplit FILE PATTERN…`.
pub(super) fn csplit(arguments: &ParsedArguments, uses: &mut FileUses) {
    arguments.operands().next().into_iter().for_each(|file| uses.read(file));
    numbered(arguments.value("f prefix").cloned().unwrap_or_else(|| known(b"xx")), uses);
}

/// Adds output files with a common prefix and numbered suffixes.
fn numbered(prefix: PlannedWord, uses: &mut FileUses) {
    let pieces = prefix.pieces.into_iter().chain([literal(b""), chosen(b"*")]);
    uses.write(&concat(pieces));
}
