//! Scripts at their memory limit, and haft with few resources.

use std::time::Duration;

use haft_test_support::{FinishedHaft, Haft};
use serde_json::Value;

/// The haft executable.
const HAFT: &str = env!("CARGO_BIN_EXE_haft");

/// The memory limit of each script.
const LIMIT: u64 = 64 << 20;

/// The memory limit of the whole process: values are copied while they grow, and haft itself needs some.
const MOST: u64 = 3 * LIMIT + (50 << 20);

/// Every script ends within this time, even on a loaded machine.
const LONGEST: Duration = Duration::from_secs(80);

/// Two million blanks in `s`, and a hundred elements of `a` that share its memory.
const SHARED: &str = "printf -v s '%2000000s' x; for i in {1..100}; do a+=(\"$s\"); done";

/// Runs a script with little memory under another haft that measures it. Returns the outer result.
fn measure(script: &str) -> Value {
    let inner = [HAFT, "run", "--limit-memory", "64M", "-c", script];
    let run = Haft::new(HAFT).args(["spawn", "--json", "--"]).args(inner).run().within(LONGEST);
    serde_json::from_str(&run.output_text()).unwrap_or_else(|error| panic!("{error}: {run}"))
}

#[track_caller]
fn ends_at_the_limit(scripts: &[&str]) {
    for script in scripts {
        let report = measure(script);
        let stderr = report["stderr"]["text"].as_str().unwrap_or_default();
        assert_eq!(report["status"]["code"], 137, "{script}: {report}");
        assert!(
            stderr.contains("memory limit reached: ") && stderr.contains("64.0 MiB"),
            "{script}: {stderr}"
        );
        assert!(stderr.contains("hint: '--limit-memory SIZE'"), "{script}: {stderr}");
        assert_eq!(report["stdout"]["text"], "", "{script}");
        let most = report["stages"][0]["max_rss"].as_u64().expect("the system tells");
        assert!(most < MOST, "{script}: {most} bytes");
    }
}

#[test]
fn a_string_that_doubles_ends_the_script() {
    ends_at_the_limit(&[
        "s=aaaaaaaa; for i in {1..40}; do s=$s$s; done; echo no",
        "s=aaaaaaaa; for i in {1..40}; do s+=$s; done; echo no",
        "s=aaaaaaaa; for i in {1..40}; do s=\"x$s$s\"; done; echo no",
        "s=aaaaaaaa; for i in {1..40}; do a[0]=$s a[0]+=$s s=${a[0]}; done; echo no",
    ]);
}

#[test]
fn captured_and_read_input_without_end_ends_the_script() {
    ends_at_the_limit(&[
        "x=$(cat /dev/zero); echo no",
        "x=$(</dev/zero); echo no",
        "source /dev/zero; echo no",
        "mapfile x < <(tr '\\0' a < /dev/zero); echo no",
        "cat <<< \"$(cat /dev/zero | tr '\\0' a)\"; echo no",
    ]);
}

#[test]
fn lists_without_end_end_the_script() {
    ends_at_the_limit(&[
        "a=({1..900000000}); echo no",
        "echo {1..900000000}; echo no",
        "set -- a; while :; do set -- \"$@\" \"$@\"; done",
        "a=(a); while :; do a+=(\"${a[@]}\"); done",
        "x='a b'; while :; do x=\"$x $x\"; y=($x); done",
    ]);
}

#[test]
fn formats_and_replacements_that_multiply_end_the_script() {
    ends_at_the_limit(&[
        "printf -v x '%*s' 1000000000 ''; echo no",
        "printf -v s '%1000000s' a; x=${s// /$s}; echo no",
        "printf -v s '%1000000s' a; a=({1..10000}); x=(\"${a[@]/#/$s}\"); echo no",
    ]);
}

#[test]
fn values_that_share_memory_end_the_script_when_they_are_copied() {
    let copies = [
        "x=\"${a[*]}\"",
        "echo \"${a[@]}\"",
        "declare -p a",
        "cat <<< \"${a[@]}\"",
        "eval : \"${a[@]}\"",
        "set -x; : \"${a[@]}\"",
        "printf '%s' \"${a[@]}\"",
    ];
    let scripts: Vec<String> =
        copies.iter().map(|copy| format!("{SHARED}; {copy} > /dev/null; echo no")).collect();
    ends_at_the_limit(&scripts.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn text_that_is_parsed_ends_the_script_when_it_grows() {
    ends_at_the_limit(&[
        "t=:; while :; do t=\"$t;$t\"; eval \"false && { $t; }\"; done",
        "t='echo a'; while :; do t=\"$t;$t\"; eval \"f () { $t; }\"; done",
    ]);
}

#[test]
fn a_subshell_a_stage_or_a_job_that_grows_ends_the_whole_script() {
    let grow = "s=aaaaaaaa; while :; do s=$s$s; done";
    let scripts = [
        format!("({grow}); echo no"),
        format!("{grow} | cat; echo no"),
        format!("{grow} & wait; echo no"),
        format!("x=$({grow}); echo no"),
        format!("cat <({grow}); sleep 60; echo no"),
        "f() { f | f; }; f; echo no".to_owned(),
    ];
    ends_at_the_limit(&scripts.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn traps_run_after_the_limit_and_cannot_use_more_than_a_little() {
    let grow = "s=aaaaaaaa; while :; do s=$s$s; done";
    let run = |trap: &str| {
        let script = format!("trap '{trap}' EXIT; {grow}");
        Haft::new(HAFT)
            .args(["run", "--limit-memory", "64M", "-c", &script])
            .run()
            .status(137)
            .within(LONGEST)
    };
    run("echo cleaned").stdout("cleaned\n");
    run("while :; do s=$s$s; done").stdout("");
}

#[test]
fn the_result_names_the_limit() {
    let script = "s=aaaaaaaa; while :; do s=$s$s; done";
    let run =
        Haft::new(HAFT).args(["run", "--json", "--limit-memory", "64M", "-c", script]).run().status(137);
    let report: Value = serde_json::from_str(&run.output_text()).expect("a report");
    assert_eq!(report["status"]["limit"], "memory", "{report}");
    assert_eq!(
        (&report["status"]["cancelled"], &report["status"]["timed_out"]),
        (&false.into(), &false.into())
    );
}

#[test]
fn memory_that_is_freed_does_not_count() {
    let script = "for i in {1..50}; do printf -v s '%8000000s' x; t=$s; unset s t; done; echo done";
    let run = Haft::new(HAFT).args(["run", "--limit-memory", "64M", "-c", script]).run().within(LONGEST);
    run.status(0).stdout("done\n");
}

#[test]
fn recursion_without_end_is_an_error() {
    for (script, said) in [
        ("f() { f; }; f", "nest"),
        ("f() { eval f; }; f", "nest"),
        ("f() { (f); }; f", "nest"),
        ("f() { : $(f); }; f", "nest"),
        ("a=b b=a; echo $((a))", "recursion"),
        ("x='${x@P}'; echo ${x@P}", "nest"),
        ("x='eval \"$x\"'; eval \"$x\"", "nest"),
        ("command_not_found_handle() { nosuch; }; nosuch", "nest"),
    ] {
        let run = Haft::new(HAFT).args(["-c", script]).run().within(LONGEST);
        assert!(run.code().is_some_and(|code| code < 128), "{script}: {run}");
        run.stderr_has(said);
        // Each level uses memory, so the memory limit may be reached first.
        let run = Haft::new(HAFT).args(["run", "--limit-memory", "512M", "-c", script]).run().within(LONGEST);
        assert!(run.code().is_some_and(|code| code < 128 || code == 137), "{script}: {run}");
        let told = run.error_text();
        assert!(told.contains(said) || told.contains("memory limit reached"), "{script}: {told}");
    }
}

/// Runs haft from a shell that sets resource limits.
fn limited(limit: &str, arguments: &[&str]) -> FinishedHaft {
    let script = format!("ulimit {limit}; exec \"$0\" \"$@\"");
    Haft::by(["/bin/bash", "-c", &script, HAFT]).args(arguments).run().within(LONGEST)
}

#[test]
fn deep_recursion_works_with_a_small_stack() {
    let script = "f() { (($1 > 0)) && f $(($1 - 1)); }; f 3000; echo \"end $?\"";
    for stack in ["-s 256", "-s 400", "-s 1000"] {
        limited(stack, &["-c", script]).status(0).stdout("end 1\n");
        limited(stack, &["run", "-c", script]).status(0).stdout("end 1\n");
    }
}

#[test]
fn a_plain_shell_without_memory_says_so_and_ends_like_bash() {
    for script in ["s=aaaaaaaa; while :; do s=$s$s; done", "a=({1..900000000})", "x=$(cat /dev/zero)"] {
        let run = limited("-v 1000000", &["-c", script]).status(2);
        assert!(
            ["memory limit reached", "cannot allocate"].iter().any(|text| run.error_text().contains(text)),
            "{run}"
        );
    }
}

#[test]
fn a_plain_shell_works_with_few_descriptors() {
    limited("-n 7", &["-c", "echo hi"]).status(0).stdout("hi\n");
    let run = limited("-n 4", &["-c", "echo hi"]);
    assert!(run.code() != Some(0), "{run}");
    run.stderr_has("too many open files");
}

#[test]
fn running_out_of_descriptors_is_an_error() {
    for arguments in [
        &["run", "-c", "echo hi"][..],
        &["spawn", "--", "true"],
        &["mcp"],
        &["tool", "call", "bash", "command=true"],
    ] {
        let run = limited("-n 7", arguments);
        assert!(run.code().is_some_and(|code| (1..=126).contains(&code)), "{arguments:?}: {run}");
        run.stderr_has("too many open files");
    }
}

#[test]
fn a_server_with_few_descriptors_answers_or_says_why_not() {
    let client = r#"{"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}"#;
    let request =
        format!(r#"{{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {client}}}"#) + "\n";
    for descriptors in 7..=24 {
        let script = format!("ulimit -n {descriptors}; exec \"$0\" mcp");
        let run = Haft::by(["/bin/bash", "-c", &script, HAFT]).input(request.clone()).run().within(LONGEST);
        match run.code() {
            Some(0) => assert!(run.output_text().contains("serverInfo"), "{descriptors}: {run}"),
            code => {
                assert!(code.is_some_and(|code| (1..=126).contains(&code)), "{descriptors}: {run}");
                run.stderr_has("too many open files");
            }
        }
    }
}
