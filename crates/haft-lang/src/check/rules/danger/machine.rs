//! Stopping the machine, its processes or its protection.

use super::removal::OTHER_ROOT;
use super::step_tree::{StepTree, has_letter, name, words};
use crate::check::diagnostic::Severity;
use crate::check::rule::{Rule, RuleMatcher, RuleReport};
use crate::plan::{FileUseMode, PlanStep, ScriptPlan};

/// `kill -9 -1`.
pub(in crate::check::rules) static KILLS_EVERYTHING: Rule = Rule {
    code: "kills-everything",
    severity: Severity::Error,
    summary: "every process is killed",
    explanation: "kill with the process ID -1 signals every process that the user may signal; for root, every \
        process of the machine. To end the processes of a script, save their IDs ($!) or use jobs \
        -p.",
    wrong: &[
        "kill -9 -1",
        "kill -- -1",
        "sudo kill -TERM -1",
        "kill -s KILL -1",
        "killall5 -9",
        "pkill -9 .",
        "sh -c 'kill -9 -1'",
    ],
    right: &[
        "kill -1 \"$pid\"",
        "kill -9 \"$pid\"",
        "kill -1 42",
        "kill 0",
        "kill -- -42",
        "kill -l",
        "pkill -9 name",
        "kill -HUP 1",
    ],
    matcher: RuleMatcher::Plan(kills_everything),
};

fn kills_everything(plan: &ScriptPlan, report: &mut RuleReport<'_>) {
    for step in plan.steps.iter().filter(|step| kills_all(step)) {
        report
            .add(step.span, "this kills every process that the user may signal")
            .hint("specify the process IDs, or use kill $(jobs -p)");
    }
}

fn kills_all(step: &PlanStep) -> bool {
    let words = words(step);
    match name(step) {
        // The first word may be a signal: `kill -1 PID`.
        b"kill" => match words.as_slice() {
            [b"--", b"-1", ..] => true,
            [b"-s" | b"-n", _, rest @ ..] => rest.contains(&&b"-1"[..]),
            [first, rest @ ..] => {
                first.starts_with(b"-") && rest.contains(&&b"-1"[..]) && step.argv.len() == words.len() + 1
            }
            [] => false,
        },
        b"killall5" => true,
        b"pkill" => words.iter().any(|word| matches!(*word, b"." | b".*" | b"")),
        _ => false,
    }
}

/// `shutdown now`.
pub(in crate::check::rules) static STOPS_MACHINE: Rule = Rule {
    code: "stops-machine",
    severity: Severity::Warning,
    summary: "the machine is shut down or restarted",
    explanation: "This ends everything that runs on the machine, including this script.",
    wrong: &[
        "shutdown -h now",
        "sudo reboot",
        "poweroff",
        "halt -p",
        "init 0",
        "telinit 6",
        "systemctl reboot",
        "sudo systemctl --force poweroff",
        "echo b > /proc/sysrq-trigger",
        "echo c | sudo tee /proc/sysrq-trigger",
    ],
    right: &[
        "shutdown -c",
        "shutdown --help",
        "systemctl restart nginx",
        "systemctl status poweroff.target",
        "echo reboot",
        "init",
        "npm init 0",
        "echo 1 > /proc/sys/kernel/sysrq",
        "reboot() { :; }; reboot",
    ],
    matcher: RuleMatcher::Plan(stops_machine),
};

fn stops_machine(plan: &ScriptPlan, report: &mut RuleReport<'_>) {
    let step_tree = StepTree::of(plan);
    for step in plan.steps.iter().filter(|step| stops(step) && !step_tree.runs_in(step, OTHER_ROOT)) {
        report.add(step.span, "this shuts down or restarts the machine");
    }
}

fn stops(step: &PlanStep) -> bool {
    let words = words(step);
    let asks = words.iter().any(|word| matches!(*word, b"--help" | b"--version"));
    let named = match name(step) {
        b"shutdown" => !has_letter(step, b'c') && !has_letter(step, b'k') && !words.contains(&&b"--show"[..]),
        b"reboot" | b"poweroff" | b"halt" => !has_letter(step, b'w') && !words.contains(&&b"--wtmp-only"[..]),
        b"init" | b"telinit" => matches!(words.as_slice(), [b"0" | b"6"]),
        b"systemctl" | b"loginctl" => {
            let command = words.iter().find(|word| !word.starts_with(b"-"));
            matches!(command, Some(&(b"poweroff" | b"reboot" | b"halt" | b"kexec" | b"soft-reboot")))
        }
        _ => false,
    };
    let triggers = step.files.iter().any(|file| {
        matches!(file.mode, FileUseMode::Write | FileUseMode::Append)
            && file.target.literal() == Some(b"/proc/sysrq-trigger")
    });
    (named && !asks) || triggers
}

/// `crontab -r`.
pub(in crate::check::rules) static CLEARS_SETTINGS: Rule = Rule {
    code: "clears-settings",
    severity: Severity::Warning,
    summary: "all cron jobs or all firewall rules are removed",
    explanation: "crontab -r removes every job of the user without confirmation, and its key is next to that \
        of crontab -e. Flushing a firewall exposes the machine or locks out remote users. Save the \
        old state first: crontab -l > file, iptables-save > file.",
    wrong: &[
        "crontab -r",
        "sudo crontab -u root -r",
        "iptables -F",
        "sudo iptables -t nat -F",
        "iptables --flush INPUT",
        "ip6tables -X",
        "nft flush ruleset",
        "ufw disable",
        "ufw --force reset",
        "setenforce 0",
    ],
    right: &[
        "crontab -l",
        "crontab jobs",
        "crontab -e",
        "iptables -L",
        "iptables -A INPUT -j DROP",
        "nft list ruleset",
        "ufw status",
        "ufw enable",
    ],
    matcher: RuleMatcher::Plan(clears_settings),
};

fn clears_settings(plan: &ScriptPlan, report: &mut RuleReport<'_>) {
    for step in &plan.steps {
        let words = words(step);
        let has = |word: &[u8]| words.contains(&word);
        let what = match name(step) {
            b"crontab" if has_letter(step, b'r') => "every cron job of the user",
            b"iptables" | b"ip6tables"
                if has(b"-F") || has(b"-X") || has(b"--flush") || has(b"--delete-chain") =>
            {
                "firewall rules"
            }
            b"nft" if has(b"flush") && has(b"ruleset") => "every firewall rule",
            b"ufw" if has(b"disable") || has(b"reset") => "the firewall protection",
            b"setenforce" if has(b"0") || has(b"Permissive") => "the SELinux protection",
            _ => continue,
        };
        report.add(step.span, format!("this removes {what}"));
    }
}
