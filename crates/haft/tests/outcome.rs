//! Exit statuses, and the result as JSON.

use haft_test_support::{Haft, Scratch, child};
use serde_json::{Value, json};

fn haft() -> Haft {
    Haft::new(env!("CARGO_BIN_EXE_haft"))
}

/// The result of a child's mode, with options.
fn outcome(options: &[&str], arguments: &[&str]) -> (i32, Value) {
    let run = haft().args(["spawn", "--json"]).args(options).arg("--").arg(child()).args(arguments).run();
    let value = run.json();
    let code = value["status"]["code"].as_i64().unwrap() as i32;
    run.status(code);
    (code, value)
}

#[test]
fn the_exit_status_is_that_of_the_program() {
    for code in ["0", "1", "3", "124", "255"] {
        haft().args(["spawn", "--", child(), "exit", code]).run().status(code.parse().unwrap());
    }
}

#[test]
fn death_by_a_signal_is_128_and_its_number() {
    for signal in [1, 2, 3, 6, 9, 11, 13, 15, 31, 34, 64] {
        haft().args(["spawn", "--", child(), "die", &signal.to_string()]).run().status(128 + signal);
    }
    let (code, value) = outcome(&[], &["die", "11"]);
    assert_eq!((code, &value["status"]["signal"]), (139, &json!("SIGSEGV")));
}

#[test]
fn a_program_that_cannot_start_has_status_126_or_127() {
    let scratch = Scratch::new();
    scratch.touch("plain");
    let spawn = |program: &str| haft().args(["spawn", "--", program]).run().stdout("");
    spawn("no-such-program")
        .status(127)
        .stderr_has("haft: program 'no-such-program' not found\nhint: PATH is");
    spawn("/no/such").status(127).stderr_has("'/no/such'");
    spawn(&scratch.text("plain")).status(126).stderr_has("permission denied\nhint: make it executable");
    spawn("/").status(126).stderr_has("directory");
    let run = haft().args(["spawn", "--json", "--", "no-such-program"]).run().status(127).stderr("");
    let value = run.json();
    assert_eq!(value["status"], json!({"code": 127, "signal": null, "timed_out": false, "cancelled": false}));
    assert_eq!(value["error"]["message"], "program 'no-such-program' not found");
}

#[test]
fn the_result_has_all_documented_fields() {
    let (code, value) = outcome(&[], &["interleave", "2"]);
    assert_eq!(code, 0);
    assert_eq!(value["status"], json!({"code": 0, "signal": null, "timed_out": false, "cancelled": false}));
    let stage = &value["stages"][0];
    assert_eq!(stage["argv"], json!([child(), "interleave", "2"]));
    assert_eq!((&stage["kind"], &stage["status"]), (&json!("external"), &value["status"]));
    assert_eq!(stage["bytes_out"], 12);
    assert!(stage["wall"].as_f64().unwrap() > 0.0 && stage["max_rss"].as_u64().unwrap() > 100_000);
    assert!(stage["user"].is_f64() && stage["system"].is_f64());
    assert_eq!(value["stdout"]["text"], "out 0\nout 1\n");
    assert_eq!(value["stderr"]["text"], "err 0\nerr 1\n");
    for stream in ["stdout", "stderr"] {
        let stream = &value[stream];
        assert_eq!((&stream["total_bytes"], &stream["total_lines"]), (&json!(12), &json!(2)));
        assert_eq!((&stream["truncated"], &stream["lossy"]), (&json!(false), &json!(false)));
        assert!(stream["id"].as_str().is_some_and(|id| !id.is_empty()));
    }
    assert_eq!(value["tree"], json!({"started_by_haft": 1, "killed": 0, "survivors": 0}));
    assert_eq!(value["jobs"], json!([]));
    let here = std::fs::read_link("/proc/self/cwd").unwrap();
    assert_eq!(value["cwd"], here.to_str().unwrap());
    assert!(value["duration"].as_f64().unwrap() >= stage["wall"].as_f64().unwrap());
}

#[test]
fn truncation_does_not_change_the_exit_status() {
    let (code, value) = outcome(&["--limit-output", "1k"], &["lines", "1000"]);
    assert_eq!(code, 0);
    let stdout = &value["stdout"];
    assert_eq!((&stdout["truncated"], &stdout["total_lines"]), (&json!(true), &json!(1000)));
    let text = stdout["text"].as_str().unwrap();
    assert!(
        text.starts_with("line 1\n") && text.ends_with("line 1000\n") && text.contains("omitted"),
        "{text}"
    );
    assert!(stdout["omitted"]["bytes"].as_u64().unwrap() > 7000);
}

#[test]
fn invalid_utf8_is_flagged() {
    let (_, value) = outcome(&[], &["bytes", "41ff42"]);
    assert_eq!((&value["stdout"]["text"], &value["stdout"]["lossy"]), (&json!("A\u{fffd}B"), &json!(true)));
    haft().args(["spawn", "--", child(), "bytes", "41ff42"]).run().stdout([0x41, 0xff, 0x42]);
}

#[test]
fn a_timeout_is_124_with_the_output_so_far() {
    let (code, value) = outcome(&["--timeout", "700ms"], &["drip", "1", "60000"]);
    assert_eq!((code, &value["status"]["timed_out"]), (124, &json!(true)));
    assert_eq!(value["stdout"]["text"], "drip 0\n");
    assert_eq!(value["tree"], json!({"started_by_haft": 1, "killed": 1, "survivors": 0}));
}

#[test]
fn a_result_that_cannot_be_written_is_a_failure() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    haft()
        .args(["spawn", "--json", "--", "true"])
        .stdout_to(full)
        .run()
        .status(1)
        .stderr_has("no space left");
}

#[test]
fn a_closed_pipe_does_not_stop_the_program() {
    let scratch = Scratch::new();
    for option in ["--limit-output=1G", "--json", "--pty"] {
        let (near, far) = std::io::pipe().unwrap();
        drop(near);
        let script = "\"$1\" flood 300000; echo done > \"$2\"";
        let call =
            haft().args(["spawn", option, "--", "sh", "-c", script, "sh", child(), &scratch.text(option)]);
        let _ = call.stdout_to(std::os::fd::OwnedFd::from(far).into()).run();
        assert!(scratch.file(option).exists(), "{option}");
    }
}

#[test]
fn keys_are_masked_in_arguments_and_errors_and_nowhere_else() {
    let canary = "sk-canary-91e2";
    let haft = || Haft::new(env!("CARGO_BIN_EXE_haft")).env("SOME_API_KEY", canary);
    let run =
        haft().args(["run", "--json", "-c", "/bin/echo \"$SOME_API_KEY\" https://a:pw-canary@b.c"]).run();
    let outcome = run.status(0).json();
    assert_eq!(outcome["stages"][0]["argv"][1], "[SOME_API_KEY]");
    assert_eq!(outcome["stages"][0]["argv"][2], "https://a:***@b.c");
    assert_eq!(outcome["stdout"]["text"], format!("{canary} https://a:pw-canary@b.c\n"));
    let spawn = haft().args(["spawn", "--json", "--env", "X_TOKEN=xt-canary-11", "--", "/bin/echo", canary]);
    let spawn = spawn.arg("xt-canary-11").run().status(0).json();
    assert_eq!(spawn["stages"][0]["argv"][1], "[SOME_API_KEY]");
    assert_eq!(spawn["stages"][0]["argv"][2], "[X_TOKEN]");
    let missing = haft().args(["spawn", "--json", "--"]).arg(format!("/{canary}")).run().json();
    assert!(missing["error"]["message"].as_str().is_some_and(|message| message.contains("[SOME_API_KEY]")));
    haft().args(["spawn", "--"]).arg(format!("/{canary}")).run().stderr_has("[SOME_API_KEY]");
    let plan = haft().args(["plan", "-c"]).arg(format!("curl {canary}")).run().status(0);
    assert!(!plan.output_text().contains(canary));
}

#[test]
fn a_spawned_program_that_times_out_is_marked_and_gathered_records_are_data() {
    let outcome = Haft::new(env!("CARGO_BIN_EXE_haft"))
        .args(["run", "--json", "-c", "spawn timeout=100 sleep 60"])
        .run()
        .json();
    assert_eq!(outcome["stages"][0]["status"]["timed_out"], true, "{outcome}");
    assert_eq!(outcome["stages"][0]["status"]["code"], 124, "{outcome}");
    let outcome = Haft::new(env!("CARGO_BIN_EXE_haft"))
        .args(["run", "--json", "-c", "seq 2 | scatter | echo $ITEM | gather --text"])
        .run()
        .json();
    assert_eq!(outcome["data"][1]["item"], "2", "{outcome}");
    assert_eq!(outcome["data"][1]["output"], "2\n", "{outcome}");
}
