//! Programs that run a script from an argument or a file: sed, awk, jq, interpreters.

use super::FileUses;
use super::getopt::ParsedArguments;
use super::path::{base_name, with_suffix};
use crate::plan::script_language::{awk_writes_nothing, sed_is_harmless};
use crate::plan::step::{FileScope, FileUseMode, PlannedWord};

/// `sed [-i[SUFFIX]] SCRIPT FILE…`. `-e` and `-f` also specify scripts.
pub(super) fn sed(arguments: &ParsedArguments, uses: &mut FileUses) {
    let given = arguments.has("e f expression file");
    let mut operands = arguments.operands();
    let scripts: Vec<&PlannedWord> = if given {
        arguments.values("e expression").collect()
    } else {
        operands.next().into_iter().collect()
    };
    let harmless = |script: &&PlannedWord| script.literal().is_some_and(sed_is_harmless);
    uses.complete &= scripts.iter().all(harmless) && !arguments.has("f file");
    let in_place = arguments.has("i in-context");
    let suffix = arguments.value("i in-context");
    for file in operands {
        uses.read(file);
        if in_place {
            uses.write(file);
            suffix.into_iter().for_each(|suffix| backup(file, suffix, uses));
        }
    }
}

/// Adds the backup of `sed -iSUFFIX`. `*` in the suffix is replaced by the file name.
fn backup(file: &PlannedWord, suffix: &PlannedWord, uses: &mut FileUses) {
    let Some(suffix) = suffix.literal() else { return uses.incomplete() };
    if !suffix.contains(&b'*') {
        return uses.write(&with_suffix(file, suffix));
    }
    let (Some(path), Some(name)) = (file.literal(), base_name(file)) else { return uses.incomplete() };
    let name = name.literal().unwrap_or_default();
    let copy = suffix.split(|byte| *byte == b'*').collect::<Vec<_>>().join(name);
    let directory = if suffix.contains(&b'/') { &b""[..] } else { &path[..path.len() - name.len()] };
    uses.add_text(FileUseMode::Write, &[directory, &copy].concat(), FileScope::Exact);
}

/// `awk PROGRAM FILE…`. `name=value` among the files is an assignment.
pub(super) fn awk(arguments: &ParsedArguments, uses: &mut FileUses) {
    let mut operands = arguments.operands();
    let in_files = arguments.has("f E file e source");
    match if in_files { None } else { operands.next() } {
        Some(program) => uses.complete &= program.literal().is_some_and(awk_writes_nothing),
        None => uses.incomplete(),
    }
    arguments.values("f E file").for_each(|file| uses.read(file));
    let in_place = arguments.values("i include").any(|value| value.literal() == Some(b"inplace"));
    for file in operands.filter(|item| !is_assignment(item)) {
        uses.read(file);
        if in_place {
            uses.write(file);
        }
    }
}

fn is_assignment(item: &PlannedWord) -> bool {
    let prefix = item.prefix();
    let name = prefix.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    name > 0 && prefix.get(name) == Some(&b'=') && !prefix[0].is_ascii_digit()
}

/// `jq [OPTION…] FILTER FILE…`. Some options take two values, so this function parses the words itself.
pub(super) fn jq(arguments: &ParsedArguments, uses: &mut FileUses) {
    let mut operands = arguments.operands();
    let mut filter_given = false;
    let mut ended = false;
    while let Some(item) = operands.next() {
        match item.literal() {
            Some(b"--") => ended = true,
            Some(b"--arg" | b"--argjson") => drop(operands.nth(1)),
            Some(b"--indent") => drop(operands.next()),
            Some(b"--slurpfile" | b"--rawfile" | b"--argfile") => {
                operands.nth(1).into_iter().for_each(|file| uses.read(file));
            }
            Some(b"-f" | b"--from-file") => {
                operands.next().into_iter().for_each(|file| uses.read(file));
                filter_given = true;
            }
            Some(b"--args" | b"--jsonargs") => return,
            _ if !ended && item.prefix().starts_with(b"-") && item.prefix().len() > 1 => {}
            _ if !filter_given => filter_given = true,
            _ => uses.read(item),
        }
    }
}

/// Adds the script of an interpreter. Its effects are not known.
pub(super) fn interpreter(arguments: &[PlannedWord], uses: &mut FileUses) {
    uses.incomplete();
    if let Some(script) = script_operand(arguments) {
        script.into_iter().for_each(|script| uses.read(script));
    }
}

/// Returns the first operand of an interpreter; `None` if an option specifies the program.
fn script_operand(arguments: &[PlannedWord]) -> Option<Option<&PlannedWord>> {
    let gives = |item: &PlannedWord| {
        let prefix = item.prefix();
        let letters = !prefix.starts_with(b"--") && prefix.iter().any(|letter| b"cemEprnhV".contains(letter));
        letters || matches!(prefix, b"--version" | b"--help" | b"--eval" | b"--print")
    };
    let is_option = |item: &&PlannedWord| item.prefix().len() > 1 && item.prefix().starts_with(b"-");
    let options = arguments.iter().take_while(is_option);
    match options.clone().any(gives) {
        true => None,
        false => Some(arguments.get(options.count())),
    }
}

/// Whether an interpreter other than a shell runs its standard input.
pub(crate) fn interpreter_reads_input(arguments: &[PlannedWord]) -> bool {
    script_operand(arguments)
        .is_some_and(|operand| operand.is_none_or(|operand| operand.literal() == Some(b"-")))
}

/// Removes the version from the name of an interpreter: `python3.12`.
pub(crate) fn without_version(name: &[u8]) -> &[u8] {
    let version =
        name.iter().rposition(|byte| !byte.is_ascii_digit() && *byte != b'.').map_or(0, |at| at + 1);
    if name[version..].contains(&b'.') { &name[..version] } else { name }
}

/// Adds the script of a shell. Text after `-c` and standard input are separate steps.
pub(super) fn shell(arguments: &[PlannedWord], uses: &mut FileUses) {
    let mut rest = arguments.iter();
    while let Some(item) = rest.next() {
        match item.literal() {
            Some(b"-o" | b"+o" | b"-O" | b"+O" | b"--rcfile" | b"--init-file") => drop(rest.next()),
            Some(b"-" | b"--") => {
                return rest.next().into_iter().for_each(|script| script_file(script, uses));
            }
            Some(word) if word.starts_with(b"--") || word.starts_with(b"+") => {}
            Some(word) if word.starts_with(b"-") => {
                if word.contains(&b'c') || word.contains(&b's') {
                    return;
                }
            }
            _ => return script_file(item, uses),
        }
    }
}

fn script_file(script: &PlannedWord, uses: &mut FileUses) {
    uses.read(script);
    uses.incomplete();
}
