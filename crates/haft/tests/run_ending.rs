//! A run of a script leaves no process and no file behind, however it ends.

use std::time::{Duration, Instant};

use haft_test_support::own::quarantine;
use haft_test_support::{Haft, Marker, RunningHaft, Scratch, child, eventually};

const SOON: Duration = Duration::from_secs(20);

/// A script that starts a tree of ten processes, with a temporary directory of its own.
struct Tree {
    scratch: Scratch,
    marker: Marker,
}

impl Tree {
    /// Starts the script; `TREE` in it runs the tree.
    fn start(options: &[&str], script: &str) -> (Tree, RunningHaft) {
        let tree = Tree { scratch: Scratch::new(), marker: Marker::new() };
        let words = format!("{} tree {} {} all", child(), tree.marker.as_str(), tree.scratch.text("ready"));
        let call = Haft::new(env!("CARGO_BIN_EXE_haft")).temporary(tree.scratch.path()).directory("/");
        let call = call.args(["run", "--grace", "100ms"]).args(options).arg("-c");
        let script = script.replace("TREE", &words).replace("CHILD", child());
        let script =
            script.replace("MARKER", tree.marker.as_str()).replace("READY", &tree.scratch.text("ready"));
        let running = call.arg(script).start();
        tree.scratch.await_lines("ready", 11);
        assert!(eventually(SOON, || tree.marker.count() >= 13), "{} are there", tree.marker.count());
        (tree, running)
    }

    fn is_gone(&self) {
        assert_eq!(self.marker.pids(), [0; 0], "left behind");
        let left: Vec<_> = self.scratch.listing().into_iter().filter(|path| path.contains("/run-")).collect();
        assert_eq!(left, [""; 0], "files left behind");
    }
}

/// Ways to run a command from a script.
const WAYS: [&str; 7] = [
    "TREE",
    "TREE | cat",
    "cat /dev/null | TREE",
    "x=$(TREE)",
    "(TREE); :",
    "f() { TREE; }; while :; do f; done",
    "{ TREE; } & wait",
];

#[test]
fn a_timeout_ends_all_processes_of_a_script() {
    quarantine("a_timeout_ends_all_processes_of_a_script", || {
        for way in WAYS {
            let (tree, running) = Tree::start(&["--timeout", "3s"], &format!("echo before; {way}"));
            let run = running.finish().status(124).within(Duration::from_secs(30));
            tree.is_gone();
            run.stdout("before\n").stderr_has("timed out after 3s");
        }
    });
}

/// Commands that end a tree within the script, which then goes on.
const WITHIN: [&str; 3] = [
    "timeout -k 0.1 2 TREE",
    "f() { TREE; }; timeout -k 0.1 2 f",
    "spawn command=CHILD argv=[\"tree\", \"MARKER\", \"READY\", \"all\"] timeout=2000",
];

#[test]
fn a_timeout_within_the_script_ends_all_its_processes() {
    quarantine("a_timeout_within_the_script_ends_all_its_processes", || {
        for way in WITHIN {
            let scratch = Scratch::new();
            let (ended, go) = (scratch.text("ended"), scratch.text("go"));
            let rest = format!("echo $?; : > {ended}; {} wait-for {go}", child());
            let (tree, running) = Tree::start(&[], &format!("{way}; {rest}"));
            assert!(eventually(SOON, || scratch.file("ended").exists()), "{way}");
            assert_eq!(tree.marker.pids(), [0; 0], "left behind by {way}");
            scratch.touch("go");
            let run = running.finish().status(0);
            assert!(["124\n", "137\n"].contains(&run.output_text().as_str()), "{way}: {run}");
            tree.is_gone();
        }
    });
}

#[test]
fn sigint_ends_all_processes_of_a_script() {
    quarantine("sigint_ends_all_processes_of_a_script", || {
        for signal in [2, 15, 1] {
            let (tree, running) = Tree::start(&[], "TREE | cat");
            running.signal(signal);
            running.finish().status(130);
            tree.is_gone();
        }
    });
}

#[test]
fn the_end_of_the_script_ends_its_processes() {
    quarantine("the_end_of_the_script_ends_its_processes", || {
        let scratch = Scratch::new();
        let wait = format!("{} wait-for {}", child(), scratch.text("go"));
        let (tree, running) = Tree::start(&[], &format!("TREE & {wait}"));
        scratch.touch("go");
        running.finish().status(0).stderr_has("left running by");
        tree.is_gone();
    });
}

#[test]
fn killing_haft_ends_all_processes_of_a_script() {
    quarantine("killing_haft_ends_all_processes_of_a_script", || {
        let (tree, running) = Tree::start(&[], "while :; do TREE; done");
        let start = Instant::now();
        running.signal(9);
        let gone = eventually(Duration::from_secs(5), || tree.marker.count() == 0);
        assert!(gone, "after {:?} there are still {:?}", start.elapsed(), tree.marker.pids());
        running.finish().killed_by(9);
        assert!(eventually(SOON, || !tree.scratch.listing().iter().any(|path| path.contains("/run-"))));
    });
}

#[test]
fn a_full_pipe_on_standard_error_does_not_delay_the_end() {
    let (far, near) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).expect("a pipe");
    rustix::io::ioctl_fionbio(&near, true).expect("a setting");
    while rustix::io::write(&near, &[b'x'; 4096]).is_ok() {}
    rustix::io::ioctl_fionbio(&near, false).expect("a setting");
    let null = || std::fs::File::open("/dev/null").expect("it is there");
    let errors = std::fs::File::from(near);
    let call = Haft::new(env!("CARGO_BIN_EXE_haft")).args(["run", "--timeout", "200ms", "--grace", "100ms"]);
    let output = std::fs::File::options().write(true).open("/dev/null").expect("it is there");
    let ended = call.args(["-c", "sleep 60 & sleep 60"]).standard([null(), output, errors]).start().finish();
    ended.status(124).within(Duration::from_secs(10));
    drop(far);
}
