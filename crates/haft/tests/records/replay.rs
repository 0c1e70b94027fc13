//! `haft log replay`.

use std::fs;
use std::time::{Duration, Instant};

use haft_process::{Command, Environment, Host, Input, JobHandle, Streams, Task, TerminalSize};
use haft_test_support::eventually;
use serde_json::Value;

use super::SOON;
use super::home::{HAFT, Home};

const SIZE: TerminalSize = TerminalSize { rows: 24, columns: 80 };

/// Starts haft on a terminal.
fn on_terminal(home: &Home, words: &[&str]) -> JobHandle {
    let mut environment = Environment::new();
    for (name, value) in [("HOME", home.0.text("")), ("PATH", "/usr/bin:/bin".to_owned())] {
        environment.set(name, value).expect("a variable");
    }
    let mut command = Command::new(HAFT);
    command.arguments(words.iter().copied()).environment(environment).working_directory(home.0.path());
    let task = Task::new(command).streams(Streams::Terminal(SIZE)).input(Input::Pipe).timeout(SOON);
    task.start(&Host::plain()).expect("it starts").background().expect("a thread")
}

fn shown(handle: &JobHandle) -> String {
    let controller = handle.controller();
    let output = controller.captured().output.clone().expect("the output of the terminal");
    String::from_utf8_lossy(&output.read_since(0, 1 << 20).expect("bytes").bytes).into_owned()
}

fn await_text(handle: &JobHandle, text: &str) {
    assert!(eventually(SOON, || shown(handle).contains(text)), "no '{text}': {:?}", shown(handle));
}

/// Runs a script with '--pty'. Returns the run's id.
fn record(home: &Home, script: &str) -> String {
    home.run(&["run", "--pty", "-c", script]);
    home.runs(&[]).last().expect("a run")["id"].as_str().expect("an id").to_owned()
}

/// The header and the events of an asciicast, checked against the rules of version 3.
fn parse_cast(text: &str) -> (Value, Vec<(f64, String, String)>) {
    let mut lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let header = lines.next().expect("a header");
    assert_eq!(header["version"], 3);
    assert!(
        header["term"]["cols"].is_u64() && header["term"]["rows"].is_u64() && header["timestamp"].is_u64()
    );
    let events = lines.map(|event| {
        let (interval, code, data): (f64, String, String) = serde_json::from_value(event).expect("an event");
        assert!(interval >= 0.0 && ["o", "r", "x"].contains(&code.as_str()), "{interval} {code}");
        (interval, code, data)
    });
    (header, events.collect())
}

fn texts(events: &[(f64, String, String)], code: &str) -> String {
    events.iter().filter(|event| event.1 == code).map(|event| event.2.as_str()).collect()
}

#[test]
fn a_run_on_a_terminal_is_exported_with_times_sizes_and_status() {
    let home = Home::new();
    let script = "printf '\\e[31mred\\e[0m gr\\303'; sleep 0.3; printf '\\274n\\n'; until [ -e go ]; do sleep 0.02; done
        stty size; exit 3";
    let run = on_terminal(&home, &["run", "--pty", "-c", script]);
    await_text(&run, "grün");
    run.controller().resize(TerminalSize { rows: 30, columns: 100 });
    fs::write(home.0.file("go"), "").expect("a file");
    await_text(&run, "30 100");
    assert!(run.wait_for(SOON));
    let id = home.runs(&[])[0]["id"].as_str().expect("an id").to_owned();
    let cast = home.0.text("run.cast");
    home.run(&["log", "replay", &id, "--cast", &cast]).status(0).stdout("");
    let (header, events) = parse_cast(&fs::read_to_string(cast).expect("a file"));
    assert_eq!(header["term"], serde_json::json!({"cols": 80, "rows": 24}));
    assert_eq!(header["command"], script);
    assert_eq!(texts(&events, "o"), "\u{1b}[31mred\u{1b}[0m grün\r\n30 100\r\n");
    assert_eq!(texts(&events, "r"), "100x30");
    assert_eq!(events.last().map(|event| (event.1.as_str(), event.2.as_str())), Some(("x", "3")));
    let size = events.iter().position(|event| event.1 == "r").expect("a size");
    assert!(texts(&events[size..], "o").ends_with("30 100\r\n"), "{events:?}");
    let pause: f64 = events.iter().take(2).map(|event| event.0).sum();
    assert!(pause >= 0.3, "{events:?}");
}

#[test]
fn a_replay_takes_the_time_of_the_run_unless_it_is_shortened() {
    let home = Home::new();
    let id = record(&home, "echo one; sleep 1; echo two");
    let replay = |words: &[&str]| home.haft(&["log", "replay", &id]).args(words).run().status(0);
    let _ = replay(&[]).stdout("one\r\ntwo\r\n").not_before(Duration::from_secs(1));
    let begun = Instant::now();
    let _ = replay(&["--speed", "1000"]).stdout("one\r\ntwo\r\n");
    let _ = replay(&["--max-pause", "1ms"]).stdout("one\r\ntwo\r\n");
    assert!(begun.elapsed() < SOON);
    let (_, events) = parse_cast(&replay(&["--max-pause", "100ms", "--cast", "-"]).output_text());
    assert!(events.iter().all(|event| event.0 <= 0.1), "{events:?}");
    home.run(&["log", "replay", &id, "--speed", "0"]).status(2).stderr_has("must be a number greater than 0");
}

#[test]
fn a_key_ends_a_replay_and_the_terminal_is_reset() {
    let home = Home::new();
    let id = record(&home, "printf '\\e[?1049h\\e[?25lfirst\\e[6n'; sleep 1; echo second");
    let replay = on_terminal(&home, &["log", "replay", &id, "--speed", "0.01"]);
    await_text(&replay, "first");
    replay.controller().write(b"\x1b[1;6R".as_slice());
    replay.controller().write(b" q".as_slice());
    assert!(replay.wait_for(SOON));
    let all = shown(&replay);
    let outcome = replay.wait().expect("an outcome");
    assert!(!outcome.timed_out && outcome.code() == 0, "{outcome:?}");
    assert!(all.contains("\u{1b}[?1049l") && all.contains("\u{1b}[?25h"), "{all:?}");
    assert!(!all.contains("second"), "{all:?}");
}

#[test]
fn only_kept_output_of_a_terminal_can_be_replayed() {
    let home = Home::new();
    home.run(&["run", "--json", "-c", "echo text"]).status(0);
    let piped = home.runs(&[])[0]["id"].as_str().expect("an id").to_owned();
    home.run(&["log", "replay", &piped]).status(1).stderr_has("was not on a terminal of its own");
    home.run(&["run", "--pty", "--keep-output", "0", "-c", "echo text"]).status(0);
    let forgotten = home.runs(&[])[1]["id"].as_str().expect("an id").to_owned();
    home.run(&["log", "replay", &forgotten]).status(1).stderr_has("is no longer kept");
    home.run(&["log", "replay", "run-0"]).status(1).stderr_has("unknown run 'run-0'");
    let id = record(&home, "true");
    home.run(&["log", "replay", &id]).status(1).stderr_has("was not on a terminal of its own");
}
