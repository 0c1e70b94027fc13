//! `haft spawn --pty`, and haft on a terminal.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::time::Duration;

use haft_test_support::{Haft, child, open_terminal};

fn haft() -> Haft {
    Haft::new(env!("CARGO_BIN_EXE_haft"))
}

#[test]
fn a_program_with_pty_has_a_controlling_terminal() {
    let seen = haft().args(["spawn", "--pty", "--", child(), "report"]).run().status(0).report();
    assert!(seen.descriptors().iter().all(|(_, target)| target.starts_with("/dev/pts/")));
    assert_ne!(seen.number("tty"), 0);
    assert_eq!(seen.number("foreground"), seen.number("pid"));
}

#[test]
fn the_terminal_has_the_requested_size() {
    let size = |option: &str| {
        let run =
            haft().args(["spawn", option, "--timeout", "500ms", "--", child(), "window"]).run().status(124);
        run.output_text()
    };
    assert_eq!(size("--pty=132x50"), "132x50\r\n");
    assert_eq!(size("--pty"), "80x24\r\n");
}

#[test]
fn a_question_is_answered_by_standard_input() {
    let call = haft().input("Grace\n").args([
        "spawn",
        "--pty",
        "--stdin",
        "-",
        "--",
        child(),
        "ask",
        "tty",
        "Who? ",
    ]);
    let run = call.run().status(0);
    assert!(run.output_text().ends_with("answer: Grace\r\n"), "{run}");
}

#[test]
fn a_question_without_input_does_not_hang() {
    let call = || haft().args(["spawn", "--timeout", "20s"]);
    let run = call().args(["--pty", "--", child(), "ask", "tty", "Who? "]).run().status(0);
    assert!(run.output_text().ends_with("answer: \r\n"), "{run}");
    call().args(["--", child(), "ask", "stdin", "Who? "]).run().status(0).stdout("Who? answer: \n");
    let none = call().args(["--", child(), "ask", "tty", "Who? "]).run().status(4);
    assert!(none.output_text().contains("no terminal"), "there is no terminal to steal: {none}");
}

#[test]
fn the_result_shows_the_rendered_screen() {
    let script = r"printf '50%%\r100%%\n\033[1mbold\033[0m\n'";
    let value = haft().args(["spawn", "--pty", "--json", "--", "sh", "-c", script]).run().status(0).json();
    assert_eq!(value["output"]["text"], "100%\nbold\n");
}

/// Reads from a terminal until its text ends with `end`.
fn read_until(master: &mut File, end: &str) -> String {
    let mut seen = Vec::new();
    let mut buffer = [0; 256];
    while !String::from_utf8_lossy(&seen).ends_with(end) {
        match master.read(&mut buffer) {
            Ok(count) if count > 0 => seen.extend_from_slice(&buffer[..count]),
            _ => break,
        }
    }
    String::from_utf8_lossy(&seen).into_owned()
}

#[test]
fn keys_on_haft_terminal_reach_the_program() {
    let (mut master, slave) = open_terminal().unwrap();
    let files = [slave.try_clone().unwrap(), slave.try_clone().unwrap(), slave.try_clone().unwrap()];
    let call = haft().standard(files).args([
        "spawn",
        "--pty",
        "--stdin",
        "-",
        "--",
        child(),
        "ask",
        "stdin-hidden",
        "Key? ",
    ]);
    let running = call.start();
    assert_eq!(read_until(&mut master, "Key? "), "Key? ");
    master.write_all(b"secret\r").unwrap();
    let seen = read_until(&mut master, "answer: secret\r\n");
    assert_eq!(seen, "\r\nanswer: secret\r\n", "nothing is echoed twice or in clear");
    running.finish().status(0);
    // The settings are restored: keys are echoed again.
    master.write_all(b"visible\n").unwrap();
    assert_eq!(read_until(&mut master, "visible\r\n"), "visible\r\n");
}

#[test]
fn a_program_without_pty_has_no_controlling_terminal() {
    let (mut master, slave) = open_terminal().unwrap();
    let files = [slave.try_clone().unwrap(), slave.try_clone().unwrap(), slave];
    let running = haft().standard(files).args(["spawn", "--", child(), "ask", "tty", "Steal? "]).start();
    let seen = read_until(&mut master, "\n");
    assert!(seen.contains("no terminal"), "{seen}");
    running.finish().status(4).within(Duration::from_secs(20));
}
