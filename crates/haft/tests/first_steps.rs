//! The first commands that a new user types: help, mistakes, standard input, Ctrl-C.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::time::Duration;

use haft_test_support::{Haft, Marker, RunningHaft, Scratch, child, eventually, open_terminal};
use serde_json::{Value, json};

const SIGINT: i32 = 2;

fn haft() -> Haft {
    Haft::new(env!("CARGO_BIN_EXE_haft"))
}

#[test]
fn help_shows_the_shell_the_commands_and_examples() {
    let help = haft().arg("--help").run().status(0).stderr("").output_text();
    for text in ["haft -c TEXT", "haft [OPTION]... FILE", "haft -s", "interactive shell", "haft COMMAND"] {
        assert!(help.contains(text), "{text:?} is missing in\n{help}");
    }
    for text in ["Inspect a script before it runs:\n  check", "Examples:\n  haft -c ", "\n  version"] {
        assert!(help.contains(text), "{text:?} is missing in\n{help}");
    }
    haft().arg("help").run().status(0).stdout(&help);
    haft().arg("-h").run().status(0).stdout(&help);
}

#[test]
fn every_command_has_help_with_examples() {
    let commands = "run spawn exec output check plan launch tool trust mcp man completions";
    for command in commands.split(' ') {
        let help = haft().args([command, "--help"]).run().status(0).stderr("").output_text();
        assert!(help.contains("Examples:\n  "), "{command}\n{help}");
        haft().args(["help", command]).run().status(0).stdout(&help);
    }
    let nested = haft().args(["help", "tool", "call"]).run().status(0).output_text();
    assert!(nested.contains("haft tool call add a=1 b=2"), "{nested}");
}

#[test]
fn the_version_is_printed_by_a_command_and_an_option() {
    let version = format!("haft {}\n", env!("CARGO_PKG_VERSION"));
    for word in ["version", "--version", "-V"] {
        haft().arg(word).run().status(0).stdout(&version).stderr("");
    }
}

#[test]
fn manual_pages_cover_every_command() {
    let scratch = Scratch::new();
    haft().directory(scratch.path()).args(["man", "--output", "man1"]).run().status(0).stdout("").stderr("");
    let page = |name: &str| std::fs::read_to_string(scratch.file(&format!("man1/{name}.1"))).unwrap();
    assert!(page("haft-tool-call").contains("haft\\-tool\\-call"), "{}", page("haft-tool-call"));
    for text in [".TH haft", "haft\\-launch", "Run a bash script"] {
        assert!(page("haft").contains(text), "{text:?} is missing in\n{}", page("haft"));
    }
    assert!(!scratch.file("man1/haft-__watch.1").exists());
    haft().args(["man", "run"]).run().status(0).stdout(page("haft-run"));
    haft().args(["man", "nothing"]).run().status(2).stderr_has("unknown command 'nothing'");
}

#[test]
fn completions_cover_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = haft().args(["completions", shell]).run().status(0).stderr("").output_text();
        assert!(script.contains("spawn") && script.contains("limit-memory"), "{script}");
    }
    let script = haft().args(["completions", "bash"]).run().output_text();
    Haft::by(["bash", "-n"]).input(script).run().status(0).stderr("");
}

#[test]
fn a_missing_file_has_the_message_and_status_of_bash() {
    let scratch = Scratch::new();
    let call = |word: &str| haft().directory(scratch.path()).arg(word).run().stdout("");
    call("nofile.sh")
        .status(127)
        .stderr("haft: nofile.sh: No such file or directory\nhint: 'haft --help' lists the commands\n");
    call("no-such-command").status(127).stderr_has("haft: no-such-command: No such file or directory");
    call("./nofile").status(127).stderr_has("./nofile: No such file or directory");
    call("echo hi").status(127).stderr_has("hint: to run a command line, type: haft -c 'echo hi'");
}

#[test]
fn a_mistyped_command_gets_a_suggestion() {
    let run = haft().args(["spwan", "--", "true"]).run().status(2).stdout("");
    run.stderr_has("haft: unrecognized subcommand 'spwan'").stderr_has("'spawn'");
}

#[test]
fn a_program_in_place_of_a_script_gets_the_command_that_runs_it() {
    haft()
        .arg("ls")
        .run()
        .status(126)
        .stderr_has("it is a binary file, not a script")
        .stderr_has("hint: to run a program, type: haft -c ls, or under supervision: haft spawn -- ls");
    haft()
        .args(["run", "/bin/ls"])
        .run()
        .status(126)
        .stderr_has("hint: to run a program, type: haft spawn -- /bin/ls");
}

#[test]
fn a_command_line_in_place_of_a_file_gets_the_option_that_runs_it() {
    let run = |arguments: &[&str]| haft().args(arguments).run().stdout("");
    run(&["run", "echo hi"]).status(127).stderr_has("hint: did you mean: haft run -c 'echo hi'\n");
    run(&["run", "echo"]).status(127).stderr_has("hint: did you mean: haft run -c echo\n");
    run(&["check", "it's | wrong"]).status(2).stderr_has(r"haft check -c 'it'\''s | wrong'");
    run(&["plan", "rm *"]).status(2).stderr_has("haft plan -c 'rm *'");
    run(&["spawn", "ls | wc"])
        .status(127)
        .stderr_has("hint: for a command line, type: haft run -c 'ls | wc'\n");
    run(&["exec", "ls -l"]).status(127).stderr_has("hint: for a command line, type: haft -c 'ls -l'\n");
    run(&["run"]).status(2).stderr_has("hint: type: haft run FILE, or haft run -c 'TEXT'\n");
}

#[test]
fn standard_input_reaches_the_program_and_the_script() {
    haft().input("x\n").args(["spawn", "--", "cat"]).run().status(0).stdout("x\n");
    haft()
        .input("x\ny\n")
        .args(["run", "-c", "read -r line; echo \"<$line>\"; cat"])
        .run()
        .stdout("<x>\ny\n");
    haft().input("x\n").args(["run", "--stdin", "null", "-c", "cat"]).run().status(0).stdout("");
    let json = haft().input("x\n").args(["spawn", "--json", "--", "cat"]).run().status(0).json();
    assert_eq!(json["stdout"]["text"], "");
    let json = haft().input("x\n").args(["run", "--json", "--stdin", "inherit", "-c", "cat"]).run().json();
    assert_eq!(json["stdout"]["text"], "x\n");
}

/// Starts haft on a terminal. Returns its master, the open terminal and the running haft.
fn on_terminal(arguments: &[&str]) -> (File, File, RunningHaft) {
    let (master, slave) = open_terminal().unwrap();
    let files = [slave.try_clone().unwrap(), slave.try_clone().unwrap(), slave.try_clone().unwrap()];
    (master, slave, haft().standard(files).args(arguments).start())
}

fn read_until(master: &mut File, end: &str) -> String {
    let mut seen = String::new();
    let mut buffer = [0; 256];
    while !seen.ends_with(end) {
        match master.read(&mut buffer) {
            Ok(count) if count > 0 => seen.push_str(&String::from_utf8_lossy(&buffer[..count])),
            _ => break,
        }
    }
    seen
}

#[test]
fn a_program_can_ask_a_question_on_the_terminal() {
    let (mut master, _slave, running) =
        on_terminal(&["run", "-c", "read -rp 'name? ' name; echo \"hello $name\""]);
    assert_eq!(read_until(&mut master, "name? "), "name? ");
    master.write_all(b"Ada\n").unwrap();
    assert!(read_until(&mut master, "hello Ada\r\n").ends_with("hello Ada\r\n"));
    running.finish().status(0);
}

#[test]
fn keys_reach_a_program_on_its_own_terminal() {
    let (mut master, _slave, running) =
        on_terminal(&["spawn", "--pty", "--", child(), "ask", "stdin-hidden", "Key? "]);
    assert_eq!(read_until(&mut master, "Key? "), "Key? ");
    master.write_all(b"secret\r").unwrap();
    assert_eq!(read_until(&mut master, "answer: secret\r\n"), "\r\nanswer: secret\r\n");
    running.finish().status(0);
    // The settings of the terminal are restored: keys are echoed again.
    master.write_all(b"visible\n").unwrap();
    assert_eq!(read_until(&mut master, "visible\r\n"), "visible\r\n");
}

#[test]
fn a_cancelled_run_says_what_was_ended() {
    for command in [&["spawn", "--"][..], &["run", "-c"]] {
        let marker = Marker::new();
        let sleep = format!("{} sleep {}", child(), marker.as_str());
        let words: Vec<&str> = if command[0] == "run" { vec![&sleep] } else { sleep.split(' ').collect() };
        let running = haft().args(command).args(words).start();
        assert!(eventually(Duration::from_secs(20), || marker.count() == 1));
        running.signal(SIGINT);
        let run = running.finish().status(130);
        run.stderr_has("was cancelled by SIGINT; 1 process ended\n");
    }
}

#[test]
fn usage_errors_have_one_style_and_are_json_on_request() {
    let wrong = ["spawn", "--timeout", "soon", "--", "true"];
    let run = haft().args(wrong).run().status(2).stdout("");
    run.stderr(
        "haft: invalid value 'soon' for '--timeout <TIME>': expected a number such as 10 or 2.5\n\
                hint: 'haft spawn --help' shows the usage\n",
    );
    for arguments in [
        &["spawn", "--json", "--timeout", "soon", "--", "true"][..],
        &["spawn", "--json"],
        &["run", "--json", "--bogus"],
        &["run", "--json", "/no/such/file"],
        &["check", "--json"],
        &["check", "--json", "/no/such/file"],
        &["plan", "--json", "/no/such/file"],
        &["check", "--json", "--explain", "no-such-rule"],
        &["output", "--json", "no-such-id"],
        &["tool", "show", "--json", "no_such_tool"],
        &["launch", "show", "--json", "no-such-agent"],
        &["trust", "--json", "/no/such/file"],
    ] {
        let run = haft().args(arguments).run().stderr("");
        let report = run.json();
        assert_eq!((&report["schema_version"], &report["ok"]), (&json!(1), &json!(false)), "{arguments:?}");
        assert!(report["error"]["message"].as_str().is_some_and(|text| !text.is_empty()), "{report}");
        assert_eq!(report["status"]["code"].as_i64(), run.code().map(i64::from), "{arguments:?}");
    }
}

#[test]
fn an_error_in_the_rc_file_names_the_file() {
    let scratch = Scratch::new();
    std::fs::write(scratch.file("rc"), "echo first\nno_such_command_x\nif then\n").unwrap();
    let run = haft().directory(scratch.path()).args(["--rcfile", "rc", "-i", "-c", "echo hi"]).run();
    run.stdout("first\nhi\n").stderr_has(": rc: line 3: ");
    std::fs::write(scratch.file("rc"), "echo first\nno_such_command_x\n").unwrap();
    let run = haft().directory(scratch.path()).args(["--rcfile", "rc", "-i", "-c", "echo hi"]).run();
    run.stdout("first\nhi\n").stderr_has(": rc: line 2: no_such_command_x: command not found");
}

#[test]
fn the_configuration_of_an_unknown_agent_lists_the_known_ones() {
    let run = haft().args(["mcp", "--print-config", "nothing"]).run().status(2).stdout("");
    run.stderr_has("claude").stderr_has("codex");
    haft().args(["mcp", "--print-config"]).run().status(2).stderr_has("claude");
    let config: Value =
        serde_json::from_str(&haft().args(["mcp", "--print-config", "claude"]).run().status(0).output_text())
            .unwrap();
    assert_eq!(config["mcpServers"]["haft"]["args"], json!(["mcp"]));
}
