//! `haft spawn`, option by option.

use std::time::Duration;

use haft_test_support::{Haft, Scratch, child};

fn haft() -> Haft {
    Haft::new(env!("CARGO_BIN_EXE_haft"))
}

#[test]
fn a_program_runs_and_its_output_streams_through() {
    haft()
        .args(["spawn", "--", "/bin/echo", "hello", "-n", "--json"])
        .run()
        .status(0)
        .stdout("hello -n --json\n")
        .stderr("");
    haft().args(["spawn", child(), "interleave", "1"]).run().status(0).stdout("out 0\n").stderr("err 0\n");
}

#[test]
fn output_is_shown_before_the_program_ends() {
    use std::io::Read as _;
    let scratch = Scratch::new();
    for option in ["--timeout=60s", "--limit-output=1M", "--pty"] {
        let (mut near, far) = std::io::pipe().unwrap();
        let go = scratch.text(option);
        let far = std::os::fd::OwnedFd::from(far).into();
        let running = haft().args(["spawn", option, "--", child(), "deaf", &go]).stdout_to(far).start();
        let mut first = [0; 13];
        near.read_exact(&mut first).unwrap();
        assert_eq!(&first, b"not listening", "{option}");
        scratch.touch(option);
        running.finish().status(0);
    }
}

#[test]
fn cwd_sets_the_working_directory() {
    let seen = haft().args(["spawn", "--cwd", "/usr", "--", child(), "report"]).run().status(0).report();
    assert_eq!(seen.directory(), std::path::Path::new("/usr"));
    let seen = haft().directory("/etc").args(["spawn", "--", child(), "report"]).run().status(0).report();
    assert_eq!(seen.directory(), std::path::Path::new("/etc"));
    haft().args(["spawn", "--cwd", "/no/where", "--", "true"]).run().status(126).stderr_has("'/no/where'");
}

#[test]
fn relative_cwd_and_program_are_resolved() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.file("inner")).unwrap();
    std::fs::copy(child(), scratch.file("inner/program")).unwrap();
    let call =
        haft().directory(scratch.path()).args(["spawn", "--cwd", "inner", "--", "./program", "report"]);
    assert_eq!(call.run().status(0).report().directory(), scratch.file("inner"));
}

#[test]
fn env_sets_removes_and_clears() {
    let report = |options: &[&str]| {
        haft()
            .env("KEEP", "1")
            .env("DROP", "2")
            .arg("spawn")
            .args(options)
            .args(["--", child(), "report"])
            .run()
            .report()
    };
    let seen = report(&["--env", "NEW=a=b", "--env", "DROP", "--env", "EMPTY="]);
    assert_eq!(seen.variable("NEW").as_deref(), Some("a=b"));
    assert_eq!(seen.variable("EMPTY").as_deref(), Some(""));
    assert_eq!((seen.variable("KEEP").as_deref(), seen.variable("DROP")), (Some("1"), None));
    let seen = report(&["--clear-env", "--env", "ONLY=1"]);
    assert_eq!(seen.texts("env"), ["ONLY=1"]);
    haft().args(["spawn", "--env", "=x", "--", "true"]).run().status(2).stderr_has("environment variable");
}

#[test]
fn the_program_is_searched_in_its_own_path() {
    let scratch = Scratch::new();
    std::os::unix::fs::symlink(child(), scratch.file("only-here")).unwrap();
    let path = format!("PATH={}", scratch.path().display());
    haft().args(["spawn", "--env", &path, "--", "only-here", "exit", "7"]).run().status(7);
    haft()
        .args(["spawn", "--", "only-here", "exit", "7"])
        .run()
        .status(127)
        .stderr_has("'only-here' not found");
}

#[test]
fn stdin_is_inherited_null_or_a_file() {
    let scratch = Scratch::new();
    std::fs::write(scratch.file("input"), "12345").unwrap();
    let count = |options: &[&str]| {
        let call = haft().input("piped in").arg("spawn").args(options).args(["--", child(), "count"]);
        call.run().status(0).error_text().split(' ').next().unwrap().to_owned()
    };
    assert_eq!(count(&[]), "8");
    assert_eq!(count(&["--stdin", "inherit"]), "8");
    assert_eq!(count(&["--stdin", "-"]), "8");
    assert_eq!(count(&["--stdin", "null"]), "0");
    assert_eq!(count(&["--stdin", &scratch.text("input")]), "5");
    let missing = haft().args(["spawn", "--stdin", "/no/such/file", "--", "true"]);
    missing.run().status(2).stderr_has("'/no/such/file'");
}

#[test]
fn large_input_is_passed_on() {
    let bytes = vec![b'z'; 8 << 20];
    let run = haft().input(bytes).args(["spawn", "--stdin", "-", "--", child(), "count"]).run().status(0);
    assert!(run.error_text().starts_with("8388608 "), "{run}");
    haft().input(vec![b'z'; 8 << 20]).args(["spawn", "--stdin", "-", "--", child(), "deaf"]).run().status(0);
}

#[test]
fn merge_keeps_the_true_order() {
    let expected: String = (0..200).map(|number| format!("out {number}\nerr {number}\n")).collect();
    let call = || haft().args(["spawn", "--merge"]);
    call().args(["--", child(), "interleave", "200"]).run().status(0).stdout(&expected).stderr("");
    call()
        .args(["--limit-output", "1M", "--", child(), "interleave", "200"])
        .run()
        .stdout(&expected)
        .stderr("");
    let json = call().args(["--json", "--", child(), "interleave", "200"]).run().json();
    assert_eq!(json["output"]["text"], expected.as_str());
    assert!(json.get("stdout").is_none() && json.get("stderr").is_none());
}

#[test]
fn limit_output_shows_both_ends_and_counts_the_rest() {
    let run = haft().args(["spawn", "--limit-output", "100", "--", child(), "lines", "1000"]).run().status(0);
    let text = run.output_text();
    let mark = "[… 8793 bytes left out …]\n";
    assert!(text.contains(mark) && text.len() - mark.len() - 100 <= 1, "{text}");
    assert!(text.starts_with("line 1\nline 2\n") && text.ends_with("line 999\nline 1000\n"), "{text}");
    run.stderr_has("8793 of 8893 bytes");
    haft()
        .args(["spawn", "--limit-output", "1M", "--", child(), "lines", "3"])
        .run()
        .stdout("line 1\nline 2\nline 3\n")
        .stderr("");
    haft()
        .args(["spawn", "--limit-output", "0", "--", child(), "lines", "3"])
        .run()
        .stdout("[… 21 bytes left out …]\n")
        .stderr_has("21 of 21");
}

#[test]
fn limit_cpu_ends_a_busy_program() {
    let run = haft().args(["spawn", "--limit-cpu", "1s", "--", child(), "burn"]).run();
    run.status(128 + 24).within(Duration::from_secs(60));
}

#[test]
fn limit_memory_holds() {
    let run =
        |size: &str| haft().args(["spawn", "--limit-memory", "128M", "--", child(), "allocate", size]).run();
    run("1048576").status(0).stdout("allocated 1048576\n");
    let refused = run("1073741824");
    assert!(refused.output_text() != "allocated 1073741824\n", "{refused}");
}

#[test]
fn limit_processes_holds() {
    let arguments = ["spawn", "--json", "--limit-processes", "5", "--", child(), "fork", "50"];
    let result = haft().args(arguments).run().json();
    assert_eq!(result["limits"]["processes"]["hit"], true, "{result}");
    if result["limits"]["processes"]["enforced_by"] == "cgroup" {
        assert_eq!(result["stdout"]["text"], "4\n", "{result}");
    }
}

#[test]
fn wrong_usage_has_status_2() {
    for arguments in [
        &["spawn"][..],
        &["spawn", "--timeout", "soon", "--", "true"],
        &["spawn", "--limit-output", "-1", "--", "true"],
        &["spawn", "--limit-memory", "10Q", "--", "true"],
        &["spawn", "--no-such-option", "--", "true"],
        &["spawn", "--pty=wide", "--", "true"],
        &["exec"],
        &["spwan", "--", "true"],
    ] {
        let run = haft().args(arguments).run().status(2).stdout("");
        assert!(!run.error_text().is_empty(), "{run}");
    }
    haft().arg("--help").run().status(0).stderr("");
    haft().arg("--version").run().status(0).stderr("");
}

#[test]
fn arguments_after_the_program_are_not_options_of_haft() {
    haft()
        .args(["spawn", "/bin/echo", "--json", "-x", "--", "--timeout"])
        .run()
        .stdout("--json -x -- --timeout\n");
    haft().args(["exec", "/bin/echo", "--cwd", "-x"]).run().stdout("--cwd -x\n");
}
