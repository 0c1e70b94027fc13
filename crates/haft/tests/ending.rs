//! A run leaves no process and no file behind, however it ends.

use std::time::{Duration, Instant};

use haft_test_support::own::quarantine;
use haft_test_support::{Haft, Marker, RunningHaft, Scratch, child, eventually, is_root, process};

const SOON: Duration = Duration::from_secs(20);

fn haft() -> Haft {
    Haft::new(env!("CARGO_BIN_EXE_haft"))
}

/// A run of haft with a tree of ten processes below it, and a temporary directory of its own.
struct Tree {
    scratch: Scratch,
    marker: Marker,
}

impl Tree {
    /// Starts it with options of `spawn`. Without privileges haft cannot create a control group.
    fn start(privileged: bool, options: &[&str]) -> Option<(Tree, RunningHaft)> {
        let (reach, lines, count) = ("all", 11, 14);
        let tree = Tree { scratch: Scratch::new(), marker: Marker::new() };
        let program = env!("CARGO_BIN_EXE_haft");
        let call = if privileged {
            Haft::new(program)
        } else {
            if !is_root() {
                println!("skipped: only root can start a program as another user");
                return None;
            }
            open_to_all(tree.scratch.path());
            Haft::by(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", program])
        };
        let call = call.temporary(tree.scratch.path()).directory("/").args(["spawn", "--grace", "100ms"]);
        let call = call.args(options).args(["--", child(), "tree"]);
        let running = call.args([tree.marker.as_str(), &tree.scratch.text("ready"), reach]).start();
        tree.scratch.await_lines("ready", lines);
        assert!(eventually(SOON, || tree.marker.count() >= count - 1), "{} are there", tree.marker.count());
        Some((tree, running))
    }

    fn is_gone(&self) {
        assert_eq!(self.marker.pids(), [0; 0], "left behind");
        self.has_no_files();
    }

    fn has_no_files(&self) {
        let left: Vec<_> = self.scratch.listing().into_iter().filter(|path| path.contains("/run-")).collect();
        assert_eq!(left, [""; 0], "files left behind");
    }
}

/// Makes a directory writable for all users, like `/tmp`.
fn open_to_all(path: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o1777)).unwrap();
}

fn end_by_timeout(privileged: bool) {
    let Some((tree, running)) = Tree::start(privileged, &["--timeout", "2s"]) else { return };
    let run = running.finish().status(124).within(Duration::from_secs(10));
    tree.is_gone();
    run.stderr_has("timed out after 2s");
}

fn by_signal(privileged: bool, signal: i32) {
    let Some((tree, running)) = Tree::start(privileged, &[]) else { return };
    running.signal(signal);
    running.finish().status(130);
    tree.is_gone();
}

fn end_by_kill(privileged: bool) {
    let Some((tree, running)) = Tree::start(privileged, &[]) else { return };
    let start = Instant::now();
    running.signal(9);
    let gone = eventually(Duration::from_secs(1), || tree.marker.count() == 0);
    assert!(gone, "after {:?} there are still {:?}", start.elapsed(), tree.marker.pids());
    running.finish().killed_by(9);
    assert!(eventually(SOON, || !tree.scratch.listing().iter().any(|path| path.contains("/run-"))));
    tree.is_gone();
}

#[test]
fn a_timeout_ends_the_tree_with_a_control_group() {
    quarantine("a_timeout_ends_the_tree_with_a_control_group", || {
        end_by_timeout(true);
    });
}

#[test]
fn a_timeout_ends_the_tree_without_a_control_group() {
    quarantine("a_timeout_ends_the_tree_without_a_control_group", || {
        end_by_timeout(false);
    });
}

#[test]
fn sigint_ends_the_tree_with_a_control_group() {
    quarantine("sigint_ends_the_tree_with_a_control_group", || by_signal(true, 2));
}

#[test]
fn sigint_ends_the_tree_without_a_control_group() {
    quarantine("sigint_ends_the_tree_without_a_control_group", || by_signal(false, 2));
}

#[test]
fn every_cancelling_signal_ends_the_tree() {
    quarantine("every_cancelling_signal_ends_the_tree", || {
        for signal in [1, 3, 15] {
            let scratch = Scratch::new();
            let call = haft().temporary(scratch.path()).args(["spawn", "--", child(), "pause", "x"]);
            let running = call.arg(scratch.text("ready")).start();
            scratch.await_lines("ready", 1);
            running.signal(signal);
            running.finish().status(130).within(Duration::from_secs(10));
        }
    });
}

#[test]
fn killing_haft_ends_the_tree_with_a_control_group() {
    quarantine("killing_haft_ends_the_tree_with_a_control_group", || {
        end_by_kill(true);
    });
}

#[test]
fn killing_haft_ends_the_tree_without_a_control_group() {
    quarantine("killing_haft_ends_the_tree_without_a_control_group", || {
        end_by_kill(false);
    });
}

#[test]
fn the_next_start_cleans_up_if_the_watcher_was_killed_too() {
    quarantine("the_next_start_cleans_up_if_the_watcher_was_killed_too", || {
        let (scratch, marker) = (Scratch::new(), Marker::new());
        let script = "\"$1\" daemon \"$2\" \"$3\"; exec sleep 100";
        let null = || std::fs::OpenOptions::new().read(true).write(true).open("/dev/null").unwrap();
        let call = haft().standard([null(), null(), null()]).temporary(scratch.path());
        let call = call.args(["spawn", "--", "sh", "-c", script, "sh", child()]);
        let running = call.args([&scratch.text("ready"), marker.as_str()]).start();
        scratch.await_lines("ready", 1);
        let mut watcher = None;
        let found = eventually(SOON, || {
            watcher = process::children(running.pid()).into_iter().find(|&pid| {
                std::fs::read_to_string(format!("/proc/{pid}/comm"))
                    .is_ok_and(|name| name == "tree-watcher\n")
            });
            watcher.is_some()
        });
        assert!(found, "there is a watcher");
        haft_test_support::signal(watcher.unwrap_or_default(), 9);
        running.signal(9);
        running.finish().killed_by(9);
        // The program dies with haft; the daemon that it started stays.
        assert!(eventually(SOON, || marker.count() == 1), "nothing could have ended it");
        haft().temporary(scratch.path()).args(["spawn", "--", "true"]).run().status(0).stderr("");
        assert_eq!(marker.count(), 0);
        assert!(!scratch.listing().iter().any(|path| path.contains("/run-")), "{:?}", scratch.listing());
    });
}

#[test]
fn leftover_processes_are_ended_and_reported() {
    for option in ["--timeout=60s", "--limit-output=1M"] {
        let (scratch, marker) = (Scratch::new(), Marker::new());
        let call = haft().temporary(scratch.path()).args(["spawn", option, "--", child(), "daemon"]);
        let run = call.args([&scratch.text("ready"), marker.as_str()]).run().status(0);
        assert_eq!(marker.count(), 0);
        let _ =
            run.stdout("started\n").within(Duration::from_secs(5)).stderr_has("ended 1 process left running");
    }
    let (scratch, marker) = (Scratch::new(), Marker::new());
    let call = haft().args(["spawn", "--json", "--", child(), "daemon"]);
    let value = call.args([&scratch.text("ready"), marker.as_str()]).run().status(0).json();
    assert_eq!(marker.count(), 0);
    assert_eq!(value["tree"]["killed"], 1);
}

#[test]
fn leftover_processes_may_end_by_themselves_first() {
    let run = haft().args(["spawn", "--", "sh", "-c", "(sleep 0.05; echo late) & echo now"]).run();
    run.status(0).stdout("now\nlate\n").stderr("");
}

#[test]
fn a_program_can_clean_up_within_the_grace_period() {
    let scratch = Scratch::new();
    let running = haft()
        .args(["spawn", "--grace", "20s", "--", child(), "polite", &scratch.text("ready"), "7"])
        .start();
    scratch.await_lines("ready", 1);
    running.signal(15);
    running.finish().status(130).stdout("goodbye\n").within(Duration::from_secs(15));
}

#[test]
fn orphans_are_reaped_while_the_program_runs() {
    let scratch = Scratch::new();
    let call = haft().args(["spawn", "--", child(), "orphans", "200"]);
    let running = call.args([scratch.text("ready"), scratch.text("go")]).start();
    scratch.await_lines("ready", 1);
    let few = eventually(Duration::from_secs(5), || process::zombies(running.pid()) < 10);
    assert!(few, "{} zombies", process::zombies(running.pid()));
    scratch.touch("go");
    running.finish().status(0);
}

#[test]
fn waiting_uses_no_cpu_time() {
    let scratch = Scratch::new();
    for option in ["--timeout=60s", "--json", "--pty"] {
        let running =
            haft().args(["spawn", option, "--", child(), "wait-for", &scratch.text(option)]).start();
        let pid = running.pid();
        assert!(eventually(SOON, || process::children(pid).len() >= 2));
        let before = process::cpu_time(pid);
        std::thread::sleep(Duration::from_secs(1));
        let used = process::cpu_time(pid) - before;
        scratch.touch(option);
        running.finish().status(0);
        assert!(used <= Duration::from_millis(50), "{used:?} in a second of waiting with {option}");
    }
}
