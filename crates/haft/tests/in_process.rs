//! In-process commands in a plain shell.

use std::time::Duration;

use haft_test_support::{FinishedHaft, Haft, Marker, Scratch, child, eventually};

/// A timeout that is long enough on a busy machine.
const SOON: Duration = Duration::from_secs(60);

fn script(text: &str) -> Haft {
    Haft::new(env!("CARGO_BIN_EXE_haft")).args(["-c", text])
}

fn run(text: &str) -> FinishedHaft {
    script(text).run()
}

#[test]
fn in_process_commands_run() {
    run(r#"spawn command=echo argv=["a b"]"#).status(0).stdout("a b\n").stderr("");
    run("seq 3 | scatter --as N --limit 2 | echo \"<$N>\" | gather --text")
        .status(0)
        .stdout("<1>\n<2>\n<3>\n");
    run("f() { while :; do :; done; }; timeout 0.2 f").status(124).stdout("").stderr("");
    run("type -t spawn; type -t timeout; command -v spawn").status(0).stdout("command\nfile\nspawn\n");
}

#[test]
fn timeout_of_a_program_uses_the_installed_timeout() {
    // The program sees the same parent, process group and arguments as under bash.
    run("timeout 20 sh -c 'cat /proc/$PPID/comm'").status(0).stdout("timeout\n");
    run("timeout 600 sleep 600 & sleep 0.5; kill $!; wait $!; echo $?").status(0).stdout("143\n");
    run("timeout --version | head -c 7").status(0).stdout("timeout");
    run("timeout x true").status(125);
}

#[test]
fn timeout_has_the_statuses_of_gnu() {
    for (text, status) in [
        ("timeout 20 true", 0),
        ("timeout 0.1 sleep 60; echo; exit $?", 0),
        ("timeout 0.1 sleep 60 || exit $?", 124),
        ("timeout --preserve-status 0.1 sleep 60 || exit $?", 143),
        ("timeout -s KILL 0.1 sleep 60 || exit $?", 137),
        ("timeout -k 0.1 0.1 sh -c 'trap \"\" TERM; while :; do sleep 0.05; done' || exit $?", 137),
        ("timeout 20 no-such-program || exit $?", 127),
        ("timeout 20 /etc/passwd || exit $?", 126),
        ("timeout --nope 20 true || exit $?", 125),
    ] {
        run(text).status(status);
    }
}

#[test]
fn a_function_around_a_program_of_its_name_does_not_call_itself() {
    run("cat() { timeout 20 cat \"$@\"; }; echo x | cat").status(0).stdout("x\n");
}

#[test]
fn a_signal_to_the_shell_ends_spawned_programs() {
    let (marker, scratch) = (Marker::new(), Scratch::new());
    let stay = format!("{} pause {} {}", child(), marker.as_str(), scratch.text("ready"));
    for (signal, members) in [(2, 2), (15, 2)] {
        let running =
            script(&format!("spawn command=sh argv=[\"-c\", \"{stay} & {stay}\"]; echo no")).start();
        assert!(eventually(SOON, || marker.count() == members));
        running.signal(signal);
        assert_eq!(running.finish().killed_by(signal).output(), b"");
        assert!(eventually(SOON, || marker.count() == 0), "{:?} are left", marker.pids());
    }
    let running = script(&format!(
        "spawn command={} argv=[\"pause\", \"{}\", \"{}\"]",
        child(),
        marker.as_str(),
        scratch.text("ready")
    ))
    .start();
    assert!(eventually(SOON, || marker.count() == 1));
    running.signal(9);
    let _ = running.finish();
    assert!(eventually(SOON, || marker.count() == 0), "{:?} are left", marker.pids());
}
