//! Commands that write to disks.

use super::step_tree::{has_letter, name, words};
use crate::check::diagnostic::Severity;
use crate::check::rule::{Rule, RuleMatcher, RuleReport};
use crate::plan::{FileUse, FileUseMode, PlanStep, ScriptPlan, resolved_path};

/// Prefixes of disk device names, and whether a digit must follow.
const DISKS: &[(&str, bool)] = &[
    ("/dev/sd", false),
    ("/dev/hd", false),
    ("/dev/vd", false),
    ("/dev/xvd", false),
    ("/dev/nvme", true),
    ("/dev/mmcblk", true),
    ("/dev/md", true),
    ("/dev/dm-", true),
    ("/dev/disk/", false),
    ("/dev/mapper/", false),
    ("/dev/disk", true),
    ("/dev/rdisk", true),
    ("/dev/mem", false),
    ("/dev/kmem", false),
];

/// Programs that destroy the data on a device.
const FORMATTERS: &[&[u8]] = &[b"mke2fs", b"mkdosfs", b"mkntfs", b"mkreiserfs", b"mkswap", b"blkdiscard"];

/// `dd of=/dev/sda`.
pub(in crate::check::rules) static OVERWRITES_DEVICE: Rule = Rule {
    code: "overwrites-device",
    severity: Severity::Warning,
    summary: "a disk is overwritten, formatted or partitioned",
    explanation: "The data on the disk is lost. Verify the device name: names such as /dev/sda can change \
        between boots, /dev/disk/by-id does not. This is a note if the device name is not known \
        before the script runs.",
    wrong: &[
        "dd if=/dev/zero of=/dev/sda",
        "dd if=image.iso of=/dev/nvme0n1 bs=4M",
        "sudo dd if=x of=/dev/mmcblk0",
        "cat x > /dev/sdb",
        "> /dev/vda",
        "cp image /dev/sdc",
        "gunzip -c image.gz | sudo tee /dev/sdd >/dev/null",
        "mkfs.ext4 /dev/sda1",
        "mkfs -t xfs /dev/vdb",
        "mkfs.ext4 -F \"$device\"",
        "mkswap /dev/sda2",
        "wipefs -a /dev/sda",
        "shred -n 1 /dev/sda",
        "parted -s /dev/sda mklabel gpt",
        "echo ,,L | sfdisk /dev/sda",
        "fdisk /dev/sda",
        "sgdisk --zap-all /dev/sda",
        "blkdiscard /dev/nvme0n1",
        "badblocks -wsv /dev/sda",
        "cryptsetup luksFormat /dev/sda3",
        "sh -c 'dd if=/dev/zero of=/dev/sda'",
        "mv x /dev/null",
        "rm -f /dev/null",
    ],
    right: &[
        "dd if=/dev/sda of=backup.img",
        "dd if=/dev/zero of=disk.img bs=1M count=10",
        "dd if=/dev/zero of=/dev/null count=1",
        "echo x > /dev/null",
        "echo x > /dev/tty",
        "echo x > /dev/shm/x",
        "mkfs.ext4 disk.img",
        "mkswap /swapfile",
        "fdisk -l",
        "fdisk -l /dev/sda",
        "parted /dev/sda print",
        "sgdisk -p /dev/sda",
        "wipefs /dev/sda",
        "cryptsetup luksOpen /dev/sda3 data",
        "lsblk /dev/sda",
        "badblocks -sv /dev/sda",
        "smartctl -a /dev/sda",
        "cat /dev/sda | sha256sum",
        "mkfs.ext4 --version",
        "cp /dev/null x",
    ],
    matcher: RuleMatcher::Plan(overwrites_device),
};

fn overwrites_device(plan: &ScriptPlan, report: &mut RuleReport<'_>) {
    for step in &plan.steps {
        if let Some(path) = step.files.iter().find_map(|file| device(step, file)) {
            let found = report.add(step.span, format!("this overwrites the device \"{path}\""));
            found.hint("verify the device name with lsblk");
        } else if formats_unknown(step) {
            let name = String::from_utf8_lossy(name(step)).into_owned();
            let found = report.add(step.span, format!("\"{name}\" destroys the data on the device"));
            found.severity = Severity::Note;
        }
    }
}

/// Returns the device that a file use overwrites.
fn device(step: &PlanStep, file: &FileUse) -> Option<String> {
    let path = resolved_path(step, &file.target);
    let text = path.prefix();
    let whole = path.literal().is_some_and(is_null);
    let replaced = whole
        && (file.mode == FileUseMode::Delete || (file.mode == FileUseMode::Write && name(step) == b"mv"));
    let writes = matches!(file.mode, FileUseMode::Write | FileUseMode::Append | FileUseMode::ReadWrite);
    (replaced || (writes && is_disk(text))).then(|| String::from_utf8_lossy(text).into_owned())
}

fn is_null(path: &[u8]) -> bool {
    matches!(path, b"/dev/null" | b"/dev/zero" | b"/dev/random" | b"/dev/urandom" | b"/dev/tty")
}

fn is_disk(path: &[u8]) -> bool {
    DISKS.iter().any(|(begin, digit)| {
        path.strip_prefix(begin.as_bytes()).is_some_and(|rest| {
            if *digit { rest.first().is_none_or(u8::is_ascii_digit) } else { path.len() > 6 }
        })
    })
}

/// Whether a command formats a device whose name is not known before the script runs.
fn formats_unknown(step: &PlanStep) -> bool {
    let name = name(step);
    let formats = name.starts_with(b"mkfs")
        || FORMATTERS.contains(&name)
        || (name == b"wipefs" && has_letter(step, b'a'))
        || (name == b"sgdisk" && (has_letter(step, b'Z') || words(step).contains(&&b"--zap-all"[..])))
        || (name == b"cryptsetup" && words(step).contains(&&b"luksFormat"[..]));
    let unknown = |file: &FileUse| file.mode == FileUseMode::Write && file.target.prefix().is_empty();
    formats && step.files.iter().any(unknown)
}
