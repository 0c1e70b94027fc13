//! `haft run`: scripts, their options and their results.

use std::time::Duration;

use haft_test_support::{FinishedHaft, Haft, Marker, Scratch, child, eventually};

const SOON: Duration = Duration::from_secs(20);

fn haft() -> Haft {
    Haft::new(env!("CARGO_BIN_EXE_haft")).arg("run")
}

/// The result of a script, as JSON.
#[track_caller]
fn json(options: &[&str], script: &str) -> serde_json::Value {
    haft().args(options).args(["--json", "-c", script]).run().json()
}

#[test]
fn output_and_status_are_those_of_the_script() {
    haft().args(["-c", "echo out; echo err >&2; exit 3"]).run().status(3).stdout("out\n").stderr("err\n");
    haft().args(["-c", "echo $# $1 $2", "--x", "y"]).run().stdout("2 --x y\n");
}

#[test]
fn a_script_comes_from_a_file_or_from_standard_input() {
    let scratch = Scratch::new();
    std::fs::write(scratch.file("script"), "echo \"$0 $1\"; cat").unwrap();
    let run = haft().directory(scratch.path()).args(["--stdin", "-", "script", "x"]).input("input\n").run();
    run.status(0).stdout("script x\ninput\n");
    haft().arg("-").input("echo $((6 * 7))\n").run().stdout("42\n");
    haft().arg(scratch.file("missing")).run().status(127).stderr_has("cannot read");
    haft().run().status(2).stderr_has("no script");
}

#[test]
fn a_syntax_error_is_reported_before_anything_runs() {
    let scratch = Scratch::new();
    let script = "touch made\necho ${x\n";
    haft().directory(scratch.path()).args(["-c", script]).run().status(2).stderr_has("[syntax]");
    assert_eq!(scratch.listing(), [""; 0]);
    let result = haft().args(["--json", "-c", "if"]).run().status(2).json();
    assert_eq!(result["status"]["code"], 2);
    assert!(result["error"]["message"].as_str().unwrap().contains("syntax"));
}

#[test]
fn directory_environment_and_arguments_are_set() {
    let scratch = Scratch::new();
    let run = |options: &[&str], script: &str| haft().args(options).args(["-c", script]).run().output_text();
    assert_eq!(
        run(&["--cwd", &scratch.text("")], "pwd -P").trim_end_matches('\n'),
        scratch.path().canonicalize().unwrap().to_str().unwrap()
    );
    assert_eq!(run(&["--env", "A=b", "--env", "HOME"], "echo $A ${HOME-unset}; printenv A"), "b unset\nb\n");
    assert_eq!(run(&["--clear-env", "--env", "PATH=/usr/bin:/bin"], "echo ${HOME-unset}"), "unset\n");
    haft().args(["--cwd", "/nowhere", "-c", ":"]).run().status(2).stderr_has("/nowhere");
}

#[test]
fn no_external_refuses_programs() {
    haft()
        .args(["--no-external", "-c", "echo built in; git; echo $?"])
        .run()
        .stdout("built in\n126\n")
        .stderr_has("external commands are switched off");
}

#[test]
fn an_isolated_run_touches_nothing() {
    let scratch = Scratch::new();
    let script = "echo x > /tmp/made; read y < /tmp/made; echo $y; echo ${HOME-none}; cat /tmp/made; echo $?; /bin/cat /tmp/made; echo $?; [[ -e /etc/passwd ]]; echo $?";
    let run = haft().directory(scratch.path()).args(["--isolated", "-c", script]).run();
    run.status(0).stdout("x\nnone\nx\n0\n126\n1\n");
    assert!(!std::path::Path::new("/tmp/made").exists());
    let script = "f() { echo \"<$1>\"; }; printf '%s\\n' a b | scatter | f $ITEM | gather --text; timeout 0.1 eval 'while :; do :; done'; echo $?";
    haft().args(["--isolated", "-c", script]).run().status(0).stdout("<a>\n<b>\n124\n");
}

#[test]
fn without_an_environment_programs_are_found_where_they_usually_are() {
    haft().args(["--clear-env", "-c", "printenv PATH; ls -d /"]).run().status(0).stdout("/\n");
}

#[test]
fn the_result_has_every_stage() {
    let script = "seq 100000 | head -n1; f() { return 3; }; f | cat; f";
    for commands in ["host", ""] {
        let result = haft().env("HAFT_COMMANDS", commands).args(["--json", "-c", script]).run().json();
        let stages = result["stages"].as_array().unwrap();
        let kinds: Vec<_> = stages.iter().map(|stage| stage["kind"].as_str().unwrap()).collect();
        if commands == "host" {
            assert_eq!(kinds, ["external", "external", "compound", "function", "external", "function"]);
            assert_eq!(result["tree"]["started_by_haft"], 3);
        }
        assert_eq!(stages[0]["status"]["signal"], "SIGPIPE", "{result}");
        assert_eq!(stages[0]["closed_by"], 1);
        assert_eq!(stages[5]["status"]["code"], 3);
        assert_eq!(result["status"]["code"], 3);
        assert_eq!(result["stdout"]["text"], "1\n");
    }
}

#[test]
fn merged_output_is_in_order_and_a_limit_cuts_it() {
    let result = json(&["--merge"], "echo 1; echo 2 >&2; sh -c 'echo 3; echo 4 >&2'");
    assert_eq!(result["output"]["text"], "1\n2\n3\n4\n");
    let run = haft().args(["--limit-output", "20", "-c", "seq 1000"]).run().status(0);
    let (head, tail) = run
        .output_text()
        .split_once("[… 3873 bytes left out …]\n")
        .map_or_else(|| panic!("no mark: {run}"), |(head, tail)| (head.to_owned(), tail.to_owned()));
    assert!(head.len() + tail.len() <= 21 && tail.ends_with("1000\n"), "{run}");
    run.stderr_has("left out by --limit-output");
}

#[test]
fn a_flood_is_bounded() {
    let script = "for i in 1 2 3 4; do head -c 268435456 /dev/zero; done; echo end >&2";
    let result = json(&["--limit-output", "1k"], script);
    assert_eq!(result["stdout"]["total_bytes"], 1u64 << 30);
    assert_eq!(result["stdout"]["truncated"], true);
    assert_eq!(result["stderr"]["text"], "end\n");
}

#[test]
fn a_script_gets_a_terminal_of_the_requested_size() {
    let result = json(&["--pty=100x30"], "stty size; [ -t 0 ] && echo yes; read x; echo \"end $?\"");
    assert_eq!(result["output"]["text"], "30 100\nyes\nend 1\n");
}

#[test]
fn a_script_that_waits_for_input_is_reported() {
    let scratch = Scratch::new();
    for script in ["read x", "cat", "cat | cat"] {
        let call = format!(
            "rm -f f; mkfifo f; exec \"$0\" run --stdin - --json --timeout 300ms -c '{script}' 0<> f"
        );
        let run = Haft::by(["sh", "-c", &call, env!("CARGO_BIN_EXE_haft")]).directory(scratch.path()).run();
        let result = run.json();
        assert_eq!(result["status"]["code"], 124);
        assert_eq!(result["needed_input"], true, "{script}");
    }
}

/// Runs a script that leaves a process running; `PAUSE` in it is a program that stays.
fn left_running(options: &[&str], script: &str, marker: &Marker) -> FinishedHaft {
    let scratch = Scratch::new();
    let ready = scratch.text("ready");
    let pause = format!("{} pause {} {ready}", child(), marker.as_str());
    let script = format!("{}\n{} wait-for {ready}", script.replace("PAUSE", &pause), child());
    haft().args(options).args(["-c", &script]).run()
}

#[test]
fn background_jobs_end_with_the_run_unless_detached_and_kept() {
    for (script, kept) in [
        ("PAUSE > /dev/null 2>&1 &", 0),
        ("sh -c 'PAUSE > /dev/null 2>&1 &'", 0),
        ("nohup PAUSE > /dev/null 2>&1 &", 1),
        ("setsid PAUSE > /dev/null 2>&1 &", 1),
        ("PAUSE > /dev/null 2>&1 & disown", 1),
        ("PAUSE > /dev/null 2>&1 & disown -h", 1),
    ] {
        let marker = Marker::new();
        left_running(&[], script, &marker).status(0).stderr_has("left running by");
        assert_eq!(marker.count(), 0, "{script}");
        left_running(&["--keep-jobs"], script, &marker).status(0).within(SOON);
        assert!(eventually(SOON, || marker.count() == kept), "{script}: {:?}", marker.pids());
    }
}

#[test]
fn the_output_of_stages_is_counted() {
    let script = "echo abc; { echo a; echo b; } | cat; seq 3 | tr 1 2 > /dev/null; printf xy | cat | head -n 2; echo hi >&2";
    let result = haft().env("HAFT_COMMANDS", "host").args(["--json", "-c", script]).run().json();
    let counts: Vec<_> =
        result["stages"].as_array().unwrap().iter().map(|stage| stage["bytes_out"].as_u64()).collect();
    assert_eq!(counts, [Some(4), Some(4), Some(4), None, None, Some(2), None, Some(2), None]);
}

#[test]
fn an_unknown_option_is_not_a_script() {
    haft().args(["--bogus", "x"]).run().status(2).stderr_has("unknown option '--bogus'");
}

#[test]
fn a_process_that_keeps_the_pipe_open_does_not_delay_the_result() {
    let result = json(&[], "(sleep 100; echo late) & sleep 100 & echo soon");
    assert_eq!(result["stdout"]["text"], "soon\n");
    assert!(result["duration"].as_f64().unwrap() < 20.0);
    assert_eq!(result["tree"]["survivors"], 0);
}

#[test]
fn the_result_lists_jobs_with_their_outputs() {
    let result = json(&[], "sleep 100 & jobs --json");
    let jobs = &result["data"];
    assert_eq!(jobs[0]["number"], 1);
    assert_eq!(jobs[0]["command"], "sleep 100 &");
    assert_eq!(jobs[0]["outputs"][0], result["stdout"]["id"]);
    assert_eq!(jobs[0]["pids"].as_array().unwrap().len(), 1);
}

#[test]
fn the_process_limit_holds_for_scripts() {
    let script = "for i in 1 2 3 4 5 6; do sleep 1 & done; wait; echo done";
    let run = haft().args(["--limit-processes", "3", "-c", script]).run().status(0);
    let refused = run.error_text().matches("sleep: cannot start a process").count();
    assert!((3..6).contains(&refused), "{run}");
    let _ = run.stdout("done\n");
}

#[test]
fn signals_of_programs_reach_the_script() {
    let script = "trap 'echo got; exit 3' USR1; sh -c \"kill -USR1 $$\"; sleep 20; echo no";
    haft().args(["-c", script]).run().status(3).stdout("got\n");
    let script = "trap 'echo got' USR2; sh -c \"sleep 0.2; kill -USR2 $$; sleep 20\" & wait; echo end";
    haft().args(["-c", script]).run().status(0).stdout("got\nend\n");
    let run = haft().args(["--json", "-c", "sh -c \"kill -USR1 $$\"; sleep 5"]).run().status(138);
    assert_eq!(run.json()["status"]["signal"], "SIGUSR1", "{run}");
}

#[test]
fn a_binary_file_is_rejected_by_its_beginning() {
    haft().arg("/dev/zero").run().status(126).stderr_has("it is a binary file, not a script");
    haft().arg("/no/such/script").run().status(127).stderr_has("cannot read '/no/such/script'");
}

/// Scripts whose command substitutions leave a job that keeps the pipe open, with their output.
const HELD: &[(&str, &str)] = &[
    ("x=$(sleep 30 & echo hi); echo $x", "hi\n"),
    ("x=`sleep 30 & echo hi`; echo $x", "hi\n"),
    ("echo \"$(sleep 30 & echo hi) $(echo there)\"", "hi there\n"),
    ("x=$(y=$(sleep 30 & echo in); echo $y out); echo $x", "in out\n"),
    ("x=$(echo a | { cat; sleep 30 & }); echo $x", "a\n"),
    ("x=$( (sleep 30 &) ; echo hi); echo $x", "hi\n"),
    ("x=$(sh -c 'sleep 30 & echo hi'); echo $x", "hi\n"),
    ("x=$({ sleep 30; echo late; } & echo hi); echo $x", "hi\n"),
    ("f() { sleep 30 & echo $!; }; pid=$(f); kill $pid && echo killed", "killed\n"),
    ("x=$(cat <(echo hi) & wait; sleep 30 &); echo $x", "hi\n"),
    ("mapfile -t a < <(sleep 30 & echo hi); echo ${a[@]}", "hi\n"),
    ("cat <(sleep 30 & echo hi)", "hi\n"),
    ("while read -r x; do echo $x; done < <({ sleep 30; echo late; } & echo hi)", "hi\n"),
    ("cat <(cat <(sleep 30 & echo in); echo out)", "in\nout\n"),
    ("mapfile -t a < <(seq 50000 & wait; sleep 30 &); echo ${#a[@]}", "50000\n"),
    ("x=$(sleep 30 & seq 100000 | tail -n1); echo $x", "100000\n"),
];

#[test]
fn a_job_that_holds_the_pipe_of_a_substitution_does_not_hold_the_script() {
    for (script, written) in HELD {
        let run = haft().args(["--timeout", "25s", "-c", script]).run().status(0);
        assert_eq!(run.output_text(), *written, "{script}\n{}", run.error_text());
    }
}

#[test]
fn late_output_of_a_held_substitution_is_kept_apart() {
    let script = "x=$({ sleep 1; echo late; } & echo hi); echo $x; wait; sleep 2";
    let result = json(&[], script);
    assert_eq!(result["late"]["text"], "late\n", "{result}");
    assert_eq!((&result["stdout"]["text"], &result["stderr"]["text"]), (&"hi\n".into(), &"".into()));
    let run = haft().args(["-c", script]).run().status(0).stdout("hi\n");
    run.stderr_has(
        "haft: 5 bytes that background jobs wrote after their substitution had ended were discarded",
    );
    assert!(json(&[], "echo $(echo hi)").get("late").is_none());
}

#[test]
fn a_substitution_has_all_that_its_own_commands_write() {
    let scripts = [
        ("x=$(echo a | tee >(sleep 1; cat) > /dev/null); echo $x", "a\n"),
        ("x=$({ sleep 1; echo a; } & wait); echo $x", "a\n"),
        ("x=$(seq 300000 | md5sum & wait); echo ${#x}", "35\n"),
        ("x=$(< /etc/hostname); echo $?", "0\n"),
    ];
    for (script, written) in scripts {
        haft().args(["-c", script]).run().status(0).stdout(written);
    }
}

#[test]
fn a_plain_shell_waits_for_the_pipe_of_a_substitution() {
    let shell = Haft::new(env!("CARGO_BIN_EXE_haft"));
    let script = "x=$({ sleep 1; echo late; } & echo hi); echo $x";
    shell.args(["-c", script]).run().status(0).stdout("hi late\n");
}
