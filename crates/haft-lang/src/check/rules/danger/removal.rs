//! Removing or overwriting files that the system needs.

use super::path::CriticalDirectory;
use super::step_tree::{StepTree, name};
use crate::check::diagnostic::Severity;
use crate::check::rule::{Rule, RuleMatcher, RuleReport};
use crate::plan::{FileScope, FileUse, FileUseMode, PlanStep, ScriptPlan, UsedBy, resolved_path};

/// Commands that run other commands with another root directory.
pub(super) const OTHER_ROOT: &[&[u8]] =
    &[b"chroot", b"bwrap", b"systemd-nspawn", b"arch-chroot", b"fakechroot"];

/// `rm -rf /`.
pub(in crate::check::rules) static REMOVES_SYSTEM: Rule = Rule {
    code: "removes-system",
    severity: Severity::Error,
    summary: "the root directory, a system directory or a home directory is removed",
    explanation: "rm -rf, find -delete or mv is given /, a directory that the system needs, a home directory, \
        or a pattern for everything in one. Often there is an extra space or a missing name: rm -rf \
        / tmp, rm -rf ~/. Name the directory to remove.",
    wrong: &[
        "rm -rf /",
        "rm -rf /*",
        "rm -r -f -- //",
        "rm --recursive --force /.",
        "rm -fr ~",
        "rm -rf ~/*",
        "rm -rf ~/.",
        "rm -rf \"$HOME\"",
        "rm -rf ${HOME}/*",
        "rm -rf ~root",
        "rm -rf / tmp/x",
        "rm -rf /usr/../etc",
        "rm -rf /{bin,lib}",
        "/bin/rm -rf /etc",
        "sudo rm -rf /usr",
        "sudo -u root -- nice -n 5 rm -rf /",
        "command rm -rf /var/*",
        "env -i rm -rf /",
        "xargs rm -rf /",
        "sh -c 'rm -rf /'",
        "eval 'rm -rf ~'",
        "trap 'rm -rf /' EXIT",
        "f() { rm -rf /; }",
        "find / -delete",
        "find ~ -type f -delete",
        "find / -exec rm -rf {} +",
        "find / -print0 | xargs -0 rm -rf",
        "cd / && rm -rf *",
        "cd; rm -rf .",
        "d=/; rm -rf $d",
        "rm -rf ${dir:-/}",
        "rm -rf \"${dir-/usr}\"/*",
        "echo 'rm -rf /' | sh",
        "printf 'rm -rf /\\n' | sudo bash",
        "cat <<< 'rm -rf ~' | sh",
        "for d in /etc /usr; do rm -rf \"$d\"; done",
        "cmd='rm -rf'; $cmd /",
        "mv ~ /dev/null",
        "mv / /backup",
        "busybox rm -rf /",
    ],
    right: &[
        "rm -rf ./build",
        "rm -rf /tmp/*",
        "rm -rf /tmp/x /var/tmp/y",
        "rm -rf /var/lib/apt/lists/*",
        "rm -rf ~/.cache/thing",
        "rm -rf \"$HOME/build\"",
        "rm -rf \"$HOME.old\"",
        "rm -rf *",
        "rm -rf \"$dir\"",
        "rm -f /etc/app.conf",
        "rm -rf /usr/local/app",
        "rm -rf /home/user/project",
        "find / -name core -delete",
        "find ~ -name '*.tmp' -delete",
        "find . -delete",
        "find / -name x -exec rm {} +",
        "find / -name x | xargs rm -f",
        "echo rm -rf /",
        "rm -rf ${dir:-/tmp/x}",
        "rm -rf \"${dir:-}\"",
        "echo 'rm -rf /' | cat",
        "echo 'rm -rf /' > x | sh",
        "grep 'rm -rf /' log",
        "chroot /mnt rm -rf /boot",
        "d=/tmp/x; rm -rf $d",
        "cd /tmp/x && rm -rf *",
        "ls /",
        "rm() { :; }; rm -rf /",
    ],
    matcher: RuleMatcher::Plan(removes_system),
};

fn removes_system(plan: &ScriptPlan, report: &mut RuleReport<'_>) {
    let step_tree = StepTree::of(plan);
    for step in &plan.steps {
        let Some(critical) = step.files.iter().find_map(|file| removed(step, file)) else { continue };
        if step_tree.runs_in(step, OTHER_ROOT) {
            continue;
        }
        let verb = if name(step) == b"mv" { "moves away" } else { "removes" };
        let found =
            report.add(step.span, format!("this {verb} {} and everything in it", critical.description()));
        // Synchronizing a tree may be intended.
        if matches!(name(step), b"rsync" | b"git") {
            found.severity = Severity::Warning;
        }
        found.hint("specify the files or the directory to remove");
    }
    deleted_by_find(&step_tree, report);
}

fn removed(step: &PlanStep, file: &FileUse) -> Option<CriticalDirectory> {
    let deletes =
        file.mode == FileUseMode::Delete && file.scope != FileScope::Inside && name(step) != b"rmdir";
    deletes.then(|| CriticalDirectory::of(&resolved_path(step, &file.target))).flatten()
}

/// Finds `find / -exec rm {} +` and `find / | xargs rm` without a test that selects files.
fn deleted_by_find(step_tree: &StepTree<'_>, report: &mut RuleReport<'_>) {
    for (index, step) in step_tree.steps.iter().enumerate() {
        let Some(parent) = step.parent.map(|parent| &step_tree.steps[parent]) else { continue };
        if !matches!(name(step), b"rm" | b"shred" | b"unlink" | b"mv") {
            continue;
        }
        if let Some(critical) = found_tree(step_tree, index, parent) {
            report.add(step.span, format!("this removes {} and everything in it", critical.description()));
        }
    }
}

/// Returns the critical directory whose whole content a command gets as arguments: `find / -exec COMMAND {} +`,
/// `find / | xargs COMMAND`. `parent` runs the command at `index`.
pub(super) fn found_tree(
    step_tree: &StepTree<'_>,
    index: usize,
    parent: &PlanStep,
) -> Option<CriticalDirectory> {
    match name(parent) {
        b"find" => everything_found(parent),
        b"xargs" => step_tree.upstream(index).unwrap_or_default().iter().find_map(everything_found),
        _ => None,
    }
}

/// Returns the critical directory whose whole content `find` lists.
fn everything_found(step: &PlanStep) -> Option<CriticalDirectory> {
    if name(step) != b"find" || crate::plan::find_chooses(&step.argv) {
        return None;
    }
    let roots = step.files.iter().filter(|file| file.by == UsedBy::Command && file.mode == FileUseMode::Read);
    roots.into_iter().find_map(|file| CriticalDirectory::of(&resolved_path(step, &file.target)))
}

/// Files that the system needs for logins and booting.
const SYSTEM_FILES: &[&str] = &[
    "/etc/passwd",
    "/etc/shadow",
    "/etc/group",
    "/etc/gshadow",
    "/etc/sudoers",
    "/etc/fstab",
    "/etc/inittab",
    "/etc/ld.so.preload",
    "/etc/nsswitch.conf",
    "/etc/pam.conf",
];

/// `> /etc/passwd`.
pub(in crate::check::rules) static OVERWRITES_SYSTEM_FILE: Rule = Rule {
    code: "overwrites-system-file",
    severity: Severity::Warning,
    summary: "a file that the system needs is overwritten or removed",
    explanation: "Without its account files or file system table, the system may refuse logins or fail to \
        boot. Append a line with >>, or use a program that edits the file safely: vipw, visudo, \
        usermod.",
    wrong: &[
        "echo x > /etc/passwd",
        ": > /etc/shadow",
        "cat users | sudo tee /etc/sudoers",
        "rm -f /etc/passwd",
        "truncate -s 0 /etc/shadow",
        "dd if=/dev/zero of=/etc/fstab",
        "mv /etc/passwd /tmp",
    ],
    right: &[
        "echo x >> /etc/fstab",
        "echo x | tee -a /etc/sudoers",
        "cat /etc/passwd > users",
        "sed -i '/swap/d' /etc/fstab",
        "echo x > /etc/hosts",
        "cp /etc/passwd backup",
        "chroot /mnt sh -c 'echo x > /etc/fstab'",
        "echo x > \"$root/etc/fstab\"",
    ],
    matcher: RuleMatcher::Plan(overwrites_system_file),
};

fn overwrites_system_file(plan: &ScriptPlan, report: &mut RuleReport<'_>) {
    let step_tree = StepTree::of(plan);
    for step in &plan.steps {
        let overwrites = |file: &&FileUse| match file.mode {
            FileUseMode::Delete => true,
            FileUseMode::Write => {
                file.by == UsedBy::Redirection
                    || matches!(name(step), b"tee" | b"truncate" | b"dd" | b"shred")
            }
            _ => false,
        };
        let system = step.files.iter().filter(overwrites).find(|file| {
            let path = resolved_path(step, &file.target);
            path.literal().is_some_and(|path| SYSTEM_FILES.iter().any(|known| known.as_bytes() == path))
        });
        if let Some(file) = system.filter(|_| !step_tree.runs_in(step, OTHER_ROOT)) {
            let path = String::from_utf8_lossy(file.target.literal().unwrap_or_default()).into_owned();
            let verb = if file.mode == FileUseMode::Delete { "removed" } else { "overwritten" };
            report.add(step.span, format!("the system file \"{path}\" is {verb}"));
        }
    }
}
