//! Permissions and owners of system files.

use super::path::CriticalDirectory;
use super::removal::{OTHER_ROOT, found_tree};
use super::step_tree::{StepTree, name, words};
use crate::check::diagnostic::Severity;
use crate::check::rule::{Rule, RuleMatcher, RuleReport};
use crate::plan::{FileScope, FileUseMode, PlanStep, ScriptPlan, resolved_path};

/// Directories in which owners are often changed on purpose.
const HANDED_OVER: &[&str] = &["/home", "/opt", "/srv", "/root", "/run", "/Users"];

/// `chmod -R 777 /`.
pub(in crate::check::rules) static SYSTEM_PERMISSIONS: Rule = Rule {
    code: "system-permissions",
    severity: Severity::Error,
    summary: "the permissions or owners of a whole system directory are changed",
    explanation: "Programs such as sudo, ssh and cron refuse to work with wrong permissions or owners, and the \
        old ones cannot be restored. Change only the directory of the application. In a home \
        directory this is a warning: ssh refuses keys that other users can read.",
    wrong: &[
        "chmod -R 777 /",
        "chmod -R 777 /*",
        "sudo chmod -R a+rwx /etc",
        "chmod --recursive 755 /usr",
        "chmod -R 777 ~",
        "chown -R user /",
        "chown -R user:user /usr /etc",
        "sudo chown -R root ~",
        "chgrp -R users /var",
        "chattr -R +i /etc",
        "chmod 777 /etc",
        "chmod 777 /",
        "chmod 666 /etc/shadow",
        "find / -exec chmod 777 {} +",
        "find /etc -type f -exec chown user {} \\;",
        "find / -print0 | xargs -0 chmod a+w",
    ],
    right: &[
        "chmod -R 755 ./dist",
        "chmod 755 /",
        "chmod 1777 /tmp",
        "chmod -R 755 /usr/local/app",
        "sudo chown -R \"$USER\" ~",
        "chown -R www-data /srv",
        "chown -R app:app /opt/app",
        "chmod 600 /etc/shadow",
        "chmod -R u+rwX build",
        "chroot /mnt chmod -R 755 /etc",
        "chmod --help",
        "find / -name x -exec chmod 644 {} +",
        "find . -type d -exec chmod 755 {} +",
    ],
    matcher: RuleMatcher::Plan(system_permissions),
};

fn system_permissions(plan: &ScriptPlan, report: &mut RuleReport<'_>) {
    let step_tree = StepTree::of(plan);
    for step in &plan.steps {
        for file in step.files.iter().filter(|file| file.mode == FileUseMode::Attributes) {
            let path = resolved_path(step, &file.target);
            let critical = CriticalDirectory::of(&path);
            let severity = match (&critical, file.scope) {
                (Some(critical), FileScope::Tree) => tree_severity(step, critical),
                (Some(CriticalDirectory::Root | CriticalDirectory::System(_)), _) if opens_to_all(step) => {
                    Some(Severity::Error)
                }
                (None, _) if opens_to_all(step) && is_secret(path.literal()) => Some(Severity::Warning),
                _ => None,
            };
            let Some(severity) = severity.filter(|_| !step_tree.runs_in(step, OTHER_ROOT)) else { continue };
            let what = match (&critical, file.scope) {
                (Some(critical), FileScope::Tree) => format!("everything in {}", critical.description()),
                (Some(critical), _) => critical.description(),
                (None, _) => format!("\"{}\"", String::from_utf8_lossy(path.literal().unwrap_or_default())),
            };
            report.add(step.span, format!("this changes the permissions or owner of {what}")).severity =
                severity;
            break;
        }
    }
    changed_by_find(&step_tree, report);
}

/// `find / -exec chmod 777 {} +` and `find / | xargs chmod 777`, without a test that chooses files.
fn changed_by_find(step_tree: &StepTree<'_>, report: &mut RuleReport<'_>) {
    for (index, step) in step_tree.steps.iter().enumerate() {
        let Some(parent) = step.parent.map(|parent| &step_tree.steps[parent]) else { continue };
        if !matches!(name(step), b"chmod" | b"chown" | b"chgrp" | b"chattr") {
            continue;
        }
        let Some(critical) = found_tree(step_tree, index, parent) else { continue };
        if let Some(severity) = tree_severity(step, &critical) {
            let message =
                format!("this changes the permissions or owner of everything in {}", critical.description());
            report.add(step.span, message).severity = severity;
        }
    }
}

fn tree_severity(step: &PlanStep, critical: &CriticalDirectory) -> Option<Severity> {
    let owner = matches!(name(step), b"chown" | b"chgrp");
    match critical {
        CriticalDirectory::Root => Some(Severity::Error),
        CriticalDirectory::System(path) if owner && HANDED_OVER.contains(&path.as_str()) => None,
        CriticalDirectory::System(_) => Some(Severity::Error),
        CriticalDirectory::Home if owner => {
            let root = |word: &&[u8]| {
                *word == b"root" || word.starts_with(b"root:") || *word == b"0" || *word == b"0:0"
            };
            words(step).iter().any(root).then_some(Severity::Warning)
        }
        CriticalDirectory::Home => {
            (name(step) == b"chmod" && !only_for_user(step)).then_some(Severity::Warning)
        }
    }
}

/// Whether a mode only adds permissions for the user or removes those of others: `u+rw`, `go-w`.
fn only_for_user(step: &PlanStep) -> bool {
    let mode = words(step).into_iter().find(|word| !word.starts_with(b"-")).unwrap_or_default();
    mode.starts_with(b"u+") || mode.starts_with(b"go-") || mode.starts_with(b"o-") || mode.starts_with(b"g-")
}

/// Whether `chmod` makes a file writable for everyone.
fn opens_to_all(step: &PlanStep) -> bool {
    name(step) == b"chmod"
        && words(step).iter().any(|word| {
            let octal = word.len() >= 3 && word.iter().all(|byte| (b'0'..=b'7').contains(byte));
            let sticky = word.len() == 4 && word[0] == b'1';
            (octal && !sticky && matches!(word.last(), Some(b'2' | b'3' | b'6' | b'7')))
                || matches!(
                    *word,
                    b"a+w" | b"a+rw" | b"a+rwx" | b"o+w" | b"o+rw" | b"o+rwx" | b"+w" | b"ugo+rwx" | b"a=rwx"
                )
        })
}

fn is_secret(path: Option<&[u8]>) -> bool {
    matches!(path, Some(b"/etc/shadow" | b"/etc/gshadow" | b"/etc/sudoers" | b"/etc/passwd" | b"/etc/group"))
}
