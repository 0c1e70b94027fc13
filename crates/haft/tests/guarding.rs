//! Which processes haft kills and which it leaves alone, and how it reports processes that it cannot kill. Every test runs in a PID
//! namespace of its own.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use haft_test_support::{Haft, Scratch, child, is_root};

const UNPRIVILEGED: &str = "setpriv --reuid=65534 --regid=65534 --clear-groups";

/// Runs a bash script as the first process of a PID namespace.
fn in_namespace(script: &str, arguments: &[&str]) -> Haft {
    let words = ["unshare", "-pf", "--mount-proc", "--kill-child", "bash", "-c", script, "bash"];
    Haft::by(words).args(arguments).directory("/")
}

fn can_make_namespaces() -> bool {
    if !is_root() {
        println!("skipped: only root can make a PID namespace and change to another user");
    }
    is_root()
}

/// A copy of a program that all users can execute.
fn copy(program: &str, scratch: &Scratch, mode: u32) -> PathBuf {
    std::fs::set_permissions(scratch.path(), std::fs::Permissions::from_mode(0o1777)).unwrap();
    let target = scratch.path().join(format!("copy-{}", Path::new(program).file_name().unwrap().display()));
    std::fs::copy(program, &target).unwrap();
    std::fs::set_permissions(&target, std::fs::Permissions::from_mode(mode)).unwrap();
    target
}

#[test]
fn children_from_before_haft_started_and_their_orphans_are_left_alone() {
    if !can_make_namespaces() {
        return;
    }
    let scratch = Scratch::new();
    let haft = copy(env!("CARGO_BIN_EXE_haft"), &scratch, 0o755);
    for user in ["", UNPRIVILEGED] {
        // The subshell ends while haft runs, and leaves an orphan that haft did not start.
        let script = format!(
            "{user} bash -c '(sleep 321 & sleep .3) & sleep .05; exec \"$1\" spawn --timeout 2s --grace 100ms -- sleep 90' bash \"$1\"
             echo \"status $?\"; pgrep -a sleep"
        );
        let run = in_namespace(&script, &[haft.to_str().unwrap()]).temporary(scratch.path()).run();
        let shown = run.output_text();
        assert!(shown.contains("status 124") && shown.contains("sleep 321"), "{user}: {shown}");
        assert!(!shown.contains("sleep 90"), "{user}: {shown}");
    }
}

#[test]
fn a_deadline_holds_although_the_program_cannot_be_killed() {
    if !can_make_namespaces() {
        return;
    }
    let scratch = Scratch::new();
    let haft = copy(env!("CARGO_BIN_EXE_haft"), &scratch, 0o755);
    let stuck = copy(child(), &scratch, 0o4755);
    let (haft, stuck) = (haft.to_str().unwrap(), stuck.to_str().unwrap());
    for way in ["spawn", "run"] {
        let program =
            if way == "run" { "-c \"$2 as-owner /dev/null\"" } else { "-- \"$2\" as-owner /dev/null" };
        let script = format!("{UNPRIVILEGED} \"$1\" {way} --json --timeout 300ms --grace 200ms {program}");
        let run = in_namespace(&script, &[haft, stuck]).temporary(scratch.path()).run().status(124);
        let outcome: serde_json::Value = serde_json::from_str(&run.output_text()).unwrap();
        if outcome["tree"]["survivors"] == 0 {
            println!("skipped: set-user-ID programs do not work in '{}'", scratch.path().display());
            return;
        }
        assert_eq!(outcome["tree"]["survivors"], 1, "{way}");
        assert_eq!(outcome["tree"]["survivor_pids"].as_array().map(Vec::len), Some(1), "{way}");
        assert_eq!(outcome["tree"]["killed"], 0, "{way}");
        let duration = Duration::from_secs_f64(outcome["duration"].as_f64().unwrap());
        assert!(duration < Duration::from_secs(10), "{way}: {duration:?}");
    }
}

#[test]
fn a_killed_haft_ends_as_killed_and_its_parent_stays_the_caller() {
    if !can_make_namespaces() {
        return;
    }
    let scratch = Scratch::new();
    let haft = copy(env!("CARGO_BIN_EXE_haft"), &scratch, 0o755);
    let script = format!(
        "{UNPRIVILEGED} \"$1\" run -c 'echo parent $PPID; kill -9 $$'; echo status $?
         {UNPRIVILEGED} \"$1\" run -c 'exit 7'; echo status $?"
    );
    let run = in_namespace(&script, &[haft.to_str().unwrap()]).temporary(scratch.path()).run();
    assert_eq!(run.output_text(), "parent 1\nstatus 137\nstatus 7\n");
}

#[test]
fn random_process_trees_leave_nothing_behind() {
    if !can_make_namespaces() {
        return;
    }
    let stress = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/stress.py");
    let call = Haft::by(["python3", stress, "--haft", env!("CARGO_BIN_EXE_haft"), "--child", child()]);
    let modes = ["--mode", "root", "--mode", "user", "--mode", "fulldisk"];
    let endings = ["--ending", "normal", "--ending", "timeout", "--ending", "sigint", "--ending", "sigkill"];
    let run = call.args(["--trees", "2", "--seed", "77"]).args(modes).args(endings).run();
    assert!(run.code() == Some(0), "{}", run.output_text());
}

#[test]
fn haft_runs_in_a_process_group_outside_of_its_pid_namespace() {
    if !can_make_namespaces() {
        return;
    }
    // Without a `/proc` of the namespace, haft asks the kernel for the group of each child, which has no number inside.
    let words = ["unshare", "-pf", "--kill-child", env!("CARGO_BIN_EXE_haft"), "run", "--json"];
    let run = Haft::by(words).args(["--timeout", "2s", "-c", "sleep 60 & sleep 60 | cat"]).run().status(124);
    assert_eq!(run.json()["status"]["timed_out"], true);
}
