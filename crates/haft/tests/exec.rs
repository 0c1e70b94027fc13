//! `haft exec`: nothing of haft remains.

use std::time::Duration;

use haft_test_support::{ChildReport, Haft, Scratch, child, eventually, open_terminal, process};

const HAFT: &str = env!("CARGO_BIN_EXE_haft");

fn haft() -> Haft {
    Haft::new(HAFT)
}

#[test]
fn the_program_is_the_same_process_with_the_same_parent() {
    let scratch = Scratch::new();
    let running = haft().args(["exec", "--", child(), "report-to", &scratch.text("report")]).start();
    let pid = running.pid();
    running.finish().status(0).stdout("").stderr("");
    let seen = ChildReport::parse(std::fs::read(scratch.file("report")).unwrap());
    assert_eq!(seen.number("pid"), i64::from(pid));
    assert_eq!(seen.number("ppid"), i64::from(std::process::id()));
}

#[test]
fn status_and_signals_are_the_programs_own() {
    haft().args(["exec", "--", child(), "exit", "42"]).run().status(42);
    haft().args(["exec", "--", child(), "die", "15"]).run().killed_by(15);
    let running = haft().args(["exec", "--", child(), "sleep"]).start();
    let pid = running.pid();
    let is_child = || {
        std::fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe == std::path::Path::new(child()))
    };
    assert!(eventually(Duration::from_secs(20), is_child));
    assert!(process::children(pid).is_empty(), "no watcher is left");
    running.signal(9);
    running.finish().killed_by(9);
}

/// The ignored signals, except for the two that the C library uses itself.
fn ignored(seen: &ChildReport) -> Vec<i64> {
    seen.numbers("ignored").into_iter().filter(|number| !(32..34).contains(number)).collect()
}

#[test]
fn mask_and_descriptors_are_clean_and_ignored_signals_stay_ignored() {
    let words = [child(), "launch", "open", "block", "ignore=1", "--", HAFT];
    let seen =
        Haft::by(words).args(["exec", "--close-fds", "--", child(), "report"]).run().status(0).report();
    assert_eq!(seen.descriptor_numbers(), [0, 1, 2]);
    assert!(seen.numbers("blocked").is_empty());
    assert_eq!(ignored(&seen), [1]);
    let seen = haft().args(["exec", "--", child(), "report"]).run().status(0).report();
    assert_eq!(ignored(&seen), [0; 0], "SIGPIPE has its default");
}

#[test]
fn inherited_descriptors_reach_the_program() {
    let script = format!(
        "exec 9</dev/null; '{HAFT}' exec -- cat <(echo hello); '{HAFT}' exec -- bash -c 'test -e /dev/fd/9'"
    );
    Haft::by(["bash", "-c", &script]).run().status(0).stdout("hello\n");
    let script = format!("exec 9</dev/null; '{HAFT}' exec --close-fds -- bash -c 'test -e /dev/fd/9'");
    Haft::by(["bash", "-c", &script]).run().status(1);
}

#[test]
fn run_and_spawn_keep_the_descriptors_that_are_named() {
    let script = format!(
        "exec 8<<<eight 9<<<nine; '{HAFT}' spawn --keep-fd 8 -- bash -c 'cat <&8; test -e /dev/fd/9 || echo closed'; \
         '{HAFT}' run --keep-fd 9 -c 'read -u 9 word; echo $word; cat /dev/fd/9; test -e /dev/fd/8 || echo closed'"
    );
    Haft::by(["bash", "-c", &script]).run().status(0).stdout("eight\nclosed\nnine\nclosed\n");
    haft()
        .args(["spawn", "--keep-fd", "77", "--", "true"])
        .run()
        .status(2)
        .stderr_has("file descriptor 77 is not open");
    haft().args(["run", "--keep-fd", "1", "-c", "true"]).run().status(2).stderr_has("1 is not in 3..");
}

#[test]
fn directory_and_environment_are_as_asked_for() {
    let call = haft().env("A", "1").args([
        "exec",
        "--cwd",
        "/usr",
        "--clear-env",
        "--env",
        "B=2",
        "--",
        child(),
        "report",
    ]);
    let seen = call.run().status(0).report();
    assert_eq!(seen.directory(), std::path::Path::new("/usr"));
    assert_eq!(seen.texts("env"), ["B=2"]);
    let seen =
        haft().env("A", "1").args(["exec", "--", child(), "report", "", "a b"]).run().status(0).report();
    assert_eq!(seen.variable("A").as_deref(), Some("1"));
    assert_eq!(seen.variable("HAFT_RUN"), None, "it belongs to no run");
    assert_eq!(seen.texts("argv")[1..], ["report", "", "a b"]);
}

#[test]
fn the_terminal_stays_the_same() {
    use std::io::{Read as _, Write as _};
    let (mut master, slave) = open_terminal().unwrap();
    let files = [slave.try_clone().unwrap(), slave.try_clone().unwrap(), slave];
    let running = haft().standard(files).args(["exec", "--", child(), "ask", "stdin", "Name? "]).start();
    let mut seen = Vec::new();
    let mut buffer = [0; 64];
    while !seen.ends_with(b"Name? ") {
        let count = master.read(&mut buffer).unwrap();
        seen.extend_from_slice(&buffer[..count]);
    }
    master.write_all(b"Lin\n").unwrap();
    while !seen.ends_with(b"answer: Lin\r\n") {
        let count = master.read(&mut buffer).unwrap();
        seen.extend_from_slice(&buffer[..count]);
    }
    running.finish().status(0);
}

#[test]
fn a_program_that_cannot_be_executed_has_the_status_of_a_shell() {
    haft()
        .args(["exec", "--", "no-such-program"])
        .run()
        .status(127)
        .stderr_has("'no-such-program' not found");
    haft().args(["exec", "--", "/etc/passwd"]).run().status(126).stderr_has("permission denied");
    haft().args(["exec", "--cwd", "/no/where", "--", "true"]).run().status(126).stderr_has("'/no/where'");
}

#[test]
fn the_longest_possible_variable_is_passed_on() {
    let value = format!("HUGE={}", "x".repeat(131_071 - 5));
    let seen = haft().args(["exec", "--env", &value, "--", child(), "report"]).run().status(0).report();
    assert_eq!(seen.variable("HUGE").unwrap().len(), 131_071 - 5);
}
