//! Programs that write to disks.

use super::FileUses;
use super::getopt::ParsedArguments;
use crate::plan::builtin::without_prefix;
use crate::plan::step::{FileUseMode, PlannedWord};

/// `dd if=FILE of=FILE`.
pub(super) fn dd(arguments: &ParsedArguments, uses: &mut FileUses) {
    for operand in arguments.operands() {
        let prefix = operand.prefix();
        if prefix.starts_with(b"if=") {
            uses.read(&without_prefix(operand, 3));
        } else if prefix.starts_with(b"of=") {
            uses.write(&without_prefix(operand, 3));
        } else if operand.literal().is_none() && !prefix.contains(&b'=') {
            uses.incomplete();
        }
    }
}

/// `mkfs -t TYPE DEVICE`. Options differ between file systems, so every operand that is a path counts.
pub(super) fn mkfs(arguments: &[PlannedWord], uses: &mut FileUses) {
    const VALUES: &[&[u8]] =
        &[b"-t", b"-L", b"-n", b"-b", b"-m", b"-O", b"-E", b"-U", b"-i", b"-N", b"-I", b"-T"];
    let mut after_option = false;
    let mut operands = Vec::new();
    for argument in arguments {
        if !argument.prefix().starts_with(b"-") && !after_option {
            operands.push(argument);
        }
        after_option = argument.literal().is_some_and(|word| VALUES.contains(&word));
    }
    // A number after the device is the number of blocks.
    let is_number =
        |item: &&&PlannedWord| item.literal().is_some_and(|text| text.iter().all(u8::is_ascii_digit));
    operands.iter().filter(|item| !is_number(item)).for_each(|device| uses.write(device));
    uses.incomplete();
}

/// `wipefs` lists signatures; with `-a` or `-o` it erases them.
pub(super) fn wipefs(arguments: &ParsedArguments, uses: &mut FileUses) {
    let erases = arguments.has("a o all offset") && !arguments.has("n no-act");
    used(arguments, erases, uses);
}

/// `badblocks DEVICE` reads; with `-w` it overwrites.
pub(super) fn badblocks(arguments: &ParsedArguments, uses: &mut FileUses) {
    let mode = if arguments.has("w n") { FileUseMode::Write } else { FileUseMode::Read };
    let device = arguments.operands().next();
    device.into_iter().for_each(|device| uses.add(mode, device, crate::plan::step::FileScope::Exact));
}

/// `fdisk` and `sfdisk` change a disk unless an option only lists its partitions.
pub(super) fn fdisk(arguments: &ParsedArguments, uses: &mut FileUses) {
    const LISTS: &str = "l x s n list list-details getsz no-act dump json d J list-free F verify V show-size";
    let lists = if arguments.command == b"fdisk" { "l x s list list-details getsz" } else { LISTS };
    used(arguments, !arguments.has(lists), uses);
}

/// `parted DEVICE [COMMAND …]`.
pub(super) fn parted(arguments: &ParsedArguments, uses: &mut FileUses) {
    let mut operands = arguments.operands();
    let Some(device) = operands.next().filter(|_| !arguments.has("l list")) else { return };
    let words: Vec<&PlannedWord> = operands.collect();
    let reads = |item: &&&PlannedWord| {
        matches!(item.literal(), Some(b"print" | b"unit" | b"help" | b"align-check" | b"version" | b"p"))
    };
    match words.first() {
        Some(word) if reads(&word) => uses.read(device),
        _ => uses.write(device),
    }
}

/// `sgdisk` changes a disk unless it only prints.
pub(super) fn sgdisk(arguments: &ParsedArguments, uses: &mut FileUses) {
    const CHANGES: &str = "z Z o n d t c g G l m r R s S u U e A h N j zap zap-all clear new delete typecode \
        largest-new mbrtogpt load-backup randomize-guids change-name replicate sort move-second-header";
    used(arguments, arguments.has(CHANGES) && !arguments.has("P pretend"), uses);
}

/// `cryptsetup luksFormat DEVICE` and its other actions.
pub(super) fn cryptsetup(arguments: &ParsedArguments, uses: &mut FileUses) {
    let mut operands = arguments.operands();
    let action = operands.next().and_then(PlannedWord::literal).unwrap_or_default();
    let Some(device) = operands.next() else { return };
    match action {
        b"luksFormat" | b"erase" | b"luksErase" | b"reencrypt" => uses.write(device),
        _ => uses.read(device),
    }
    uses.incomplete();
}

fn used(arguments: &ParsedArguments, writes: bool, uses: &mut FileUses) {
    let mode = if writes { FileUseMode::Write } else { FileUseMode::Read };
    arguments.operands().for_each(|device| uses.add(mode, device, crate::plan::step::FileScope::Exact));
}
