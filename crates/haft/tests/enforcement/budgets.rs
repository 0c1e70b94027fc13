//! Budgets of a policy end a run, with a named cause. Everything here is bounded by itself as well.

use haft_test_support::{Haft, is_root};
use serde_json::Value;

use crate::support::Place;

const HAFT: &str = env!("CARGO_BIN_EXE_haft");

/// Runs the rest of its arguments without control groups.
const HIDE_GROUPS: &str = "mount -t tmpfs none /sys/fs/cgroup && exec \"$@\"";

/// Bombs: the budget, a script, and the cause in the result.
const BOMBS: [(&str, &str, &str); 8] = [
    ("memory = \"100M\"", "python3 -c 'x = [bytearray(8 << 20) for i in range(64)]'", "memory"),
    // A script that starts again after each kill, and one in haft itself.
    (
        "memory = \"100M\"",
        "for i in 1 2 3; do python3 -c 'x = [bytearray(8 << 20) for i in range(64)]'; done",
        "memory",
    ),
    ("memory = \"100M\"", "x=0123456789; while ((${#x} < 400000000)); do x=$x$x; done", "memory"),
    (
        "processes = 40",
        "f() { if (($1 > 0)); then f $(($1 - 1)) & f $(($1 - 1)) & fi; sleep 5; }; f 8",
        "processes",
    ),
    ("disk = \"20M\"", "dd if=/dev/zero of=f bs=1M count=300 status=none", "disk"),
    (
        "disk = \"20M\"",
        "for i in {1..300}; do dd if=/dev/zero of=f$i bs=1M count=1 status=none; done",
        "disk",
    ),
    ("output = \"1M\"", "yes | head -c 300000000", "output"),
    ("cpu = \"1s\"", "for i in 1 2 3; do timeout 20 sh -c 'while :; do :; done' & done; wait", "cpu"),
];

/// `haft` in a PID namespace; `None` if there are none.
fn contained(words: &[&str]) -> Option<Haft> {
    Haft::in_pid_namespace(words.iter().chain(&[HAFT]))
}

fn policy(place: &Place, budget: &str) -> String {
    place.policy(&format!("[policy.budgets]\n{budget}\n")).display().to_string()
}

/// Checks that a budget ended a script before its last command.
fn check(result: &Value, cause: &str) {
    assert_eq!(result["status"]["limit"], cause, "{result:#}");
    let limit = &result["limits"][cause];
    assert_eq!(limit["hit"], true, "{result:#}");
    let output = result["stdout"]["text"].as_str().unwrap_or_default();
    assert!(!output.contains("survived"), "{result:#}");
    assert_eq!(result["tree"]["survivors"], 0, "{result:#}");
}

fn end_by_budget(words: &[&str]) {
    for (budget, script, cause) in BOMBS {
        let place = Place::new();
        let policy = policy(&place, budget);
        let Some(haft) = contained(words) else { return println!("skipped: no PID namespaces") };
        let script = format!("{script}; sleep 60; echo survived");
        let run = haft.directory(place.path("project")).env("HOME", place.path("home"));
        check(&run.args(["run", "--json", "--policy", &policy, "-c", &script]).run().json(), cause);
    }
}

#[test]
fn a_budget_ends_a_run_with_a_named_cause() {
    end_by_budget(&[]);
}

#[test]
fn a_budget_ends_a_run_without_control_groups() {
    if !is_root() {
        return println!("skipped: only root can hide the control groups");
    }
    end_by_budget(&["unshare", "-m", "sh", "-c", HIDE_GROUPS, "sh", "setsid", "-w"]);
}

#[test]
fn the_lowest_of_budget_and_option_holds() {
    let place = Place::new();
    let policy = policy(&place, "wall = \"300s\"\nprocesses = 4");
    let run = |options: &[&str], script: &str| {
        let haft =
            Haft::new(HAFT).directory(place.path("project")).args(["run", "--json", "--policy", &policy]);
        haft.args(options).args(["-c", script]).run().json()
    };
    assert_eq!(run(&["--timeout", "0.3s"], "sleep 60")["status"]["timed_out"], true);
    let result =
        run(&["--limit-processes", "500"], "for i in 1 2 3 4 5 6; do sleep 9 & done; wait; echo survived");
    check(&result, "processes");
    assert_eq!(result["limits"]["processes"]["asked"], 4, "{result:#}");
}

#[test]
fn budgets_hold_for_programs_and_tools() {
    let place = Place::new();
    let policy = policy(&place, "output = \"1M\"\nwall = \"60s\"");
    let haft = || Haft::new(HAFT).directory(place.path("project")).env("HOME", place.path("home"));
    let spawned = haft().args(["spawn", "--json", "--policy", &policy, "--", "yes"]).run().json();
    check(&spawned, "output");
    // Without JSON, the output is shown as far as the budget allows.
    let shown = haft().args(["spawn", "--policy", &policy, "--", "yes"]).run();
    assert!(shown.output().len() >= 1 << 20 && shown.output().len() < 8 << 20, "{}", shown.output().len());
    assert!(shown.error_text().contains("output limit of 1048576 bytes exceeded"), "{}", shown.error_text());
    let call =
        haft().args(["tool", "--policy", &policy, "call", "--json", "bash", "command=yes"]).run().json();
    assert!(call.to_string().contains("output limit exceeded"), "{call:#}");
}
