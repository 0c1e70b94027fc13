//! Limits hold, and the result reports how they were enforced and whether they were reached: with control groups where they can
//! be created, and without them as another user.

use haft_test_support::{Haft, Scratch, child, is_root};
use serde_json::Value;

const HAFT: &str = env!("CARGO_BIN_EXE_haft");

/// Runs haft as the current user, and as a user who cannot create control groups.
fn as_both_users(arguments: &[&str], check: impl Fn(Value)) {
    let scratch = Scratch::new();
    check(Haft::new(HAFT).temporary(scratch.path()).args(arguments).run().json());
    if !is_root() {
        println!("skipped: only root can start a program as another user");
        return;
    }
    let words =
        ["unshare", "-pf", "--mount-proc", "--kill-child", "setpriv", "--reuid=65534", "--regid=65534"];
    let call = Haft::by(words).args(["--clear-groups", HAFT]).env("TMPDIR", "/tmp").directory("/");
    let run = call.args(arguments).run();
    if run.error_text().starts_with("unshare:") {
        println!("skipped: {run}");
        return;
    }
    let result = run.json();
    assert_ne!(result["limits"]["memory"]["enforced_by"], "cgroup", "{result}");
    check(result);
}

fn is_enforced(limit: &Value) -> bool {
    limit["enforced_by"] == "cgroup" || limit["enforced_by"] == "sampling"
}

#[test]
fn processes_together_over_the_memory_limit_are_killed_and_the_result_names_the_limit() {
    let script = "for i in 1 2 3 4; do \"$0\" allocate-and-wait 62914560 & done; wait";
    let arguments = ["spawn", "--json", "--limit-memory", "150M", "--timeout", "60s", "--", "bash", "-c"];
    let script = [script, child()];
    as_both_users(&[&arguments[..], &script[..]].concat(), |result| {
        let limit = &result["limits"]["memory"];
        assert!(is_enforced(limit) && limit["hit"] == true, "{result}");
        assert!(limit["killed"].as_u64() >= Some(1), "{result}");
        assert_eq!((&limit["asked"], &result["status"]["limit"]), (&(150 << 20).into(), &"memory".into()));
        assert_eq!(result["status"]["timed_out"], false, "{result}");
    });
}

#[test]
fn processes_over_the_limit_are_refused_or_killed_and_the_result_names_the_limit() {
    let script = "bash -c 'for i in 1 2 3 4 5 6 7 8; do sleep 2 & done; wait'; echo end";
    as_both_users(&["run", "--json", "--limit-processes", "5", "-c", script], |result| {
        let limit = &result["limits"]["processes"];
        assert!(is_enforced(limit) && limit["hit"] == true && limit["asked"] == 5, "{result}");
        assert_eq!(result["status"]["limit"], "processes", "{result}");
        assert_eq!(result["stdout"]["text"], "end\n", "{result}");
    });
}

#[test]
fn an_unreached_limit_is_reported() {
    let limits = ["--limit-memory", "1G", "--limit-processes", "900", "--limit-cpu", "50s"];
    for command in [&["run", "--json"][..], &["spawn", "--json"]] {
        let program: &[&str] = if command[0] == "run" { &["-c", "/bin/true"] } else { &["--", "/bin/true"] };
        as_both_users(&[command, &limits, program].concat(), |result| {
            for kind in ["memory", "processes", "cpu"] {
                assert_eq!(result["limits"][kind]["hit"], false, "{kind} in {result}");
                assert_eq!(result["limits"][kind]["killed"], 0, "{kind} in {result}");
            }
            assert_eq!(result["limits"]["cpu"]["enforced_by"], "rlimit", "{result}");
            assert!(result["status"].get("limit").is_none(), "{result}");
        });
    }
    let without = Haft::new(HAFT).args(["run", "--json", "-c", "true"]).run().json();
    assert!(without.get("limits").is_none(), "{without}");
}

#[test]
fn the_cpu_limit_is_reported_for_scripts_and_nested_programs() {
    let script = "\"$1\" burn; echo $?";
    let result = Haft::new(HAFT).args(["run", "--json", "--limit-cpu", "1s", "-c", script, child()]);
    let result = result.run().json();
    assert_eq!(result["stdout"]["text"], "152\n", "{result}");
    assert_eq!((&result["limits"]["cpu"]["hit"], &result["status"]["limit"]), (&true.into(), &"cpu".into()));
    let script = "\"$0\" burn; exit $?";
    let arguments = ["spawn", "--limit-cpu", "1s", "--", "bash", "-c", script, child()];
    Haft::new(HAFT).args(arguments).run().status(152).stderr_has("haft: CPU time limit of 1 s reached");
}

#[test]
fn one_message_names_the_limit_that_was_reached() {
    let arguments = ["spawn", "--limit-memory", "64M", "--", child(), "allocate-and-wait", "134217728"];
    let run = Haft::new(HAFT).args(arguments).run().status(137);
    assert_eq!(
        run.error_text(),
        "haft: memory limit of 67108864 bytes reached; 1 process was killed\n",
        "{run}"
    );
}

#[test]
fn strict_limits_start_nothing_without_kernel_enforcement() {
    let arguments = ["spawn", "--json", "--strict-limits", "--limit-memory", "1G", "--", "echo", "started"];
    as_both_users(&arguments, |result| match result["limits"]["memory"]["enforced_by"].as_str() {
        Some(by) => assert_eq!((by, &result["stdout"]["text"]), ("cgroup", &"started\n".into()), "{result}"),
        None => {
            let message = result["error"]["message"].as_str().unwrap_or_default();
            assert_eq!(message, "cannot enforce the memory limit for all processes together", "{result}");
        }
    });
    let cpu = ["spawn", "--strict-limits", "--limit-cpu", "5s", "--", "echo", "started"];
    Haft::new(HAFT).args(cpu).run().status(0).stdout("started\n");
}

/// Waits until the memory of a background program is counted, then makes a value of 50 MB.
const SCRIPT_AND_PROGRAM: &str = "
    \"$1\" allocate-and-wait 62914560 &
    sleep 1
    printf -v value '%50000000s' x
    echo ${#value}";

#[test]
fn the_memory_limit_holds_for_the_sum_of_script_and_programs() {
    let arguments = |limit| ["run", "--json", "--limit-memory", limit, "-c", SCRIPT_AND_PROGRAM, child()];
    as_both_users(&arguments("100M"), |result| {
        assert_eq!((&result["status"]["code"], &result["status"]["limit"]), (&137.into(), &"memory".into()));
        assert_eq!(result["limits"]["memory"]["hit"], true, "{result}");
        assert_eq!(result["stdout"]["text"], "", "{result}");
        let message = result["stderr"]["text"].as_str().unwrap_or_default();
        assert!(message.contains("memory limit reached") && message.contains("of its programs"), "{result}");
    });
    as_both_users(&arguments("300M"), |result| {
        assert_eq!(result["stdout"]["text"], "50000000\n", "{result}");
        assert_eq!(result["limits"]["memory"]["hit"], false, "{result}");
    });
}

#[test]
fn a_program_may_use_only_what_the_script_leaves() {
    let script = "printf -v value '%60000000s' x; sleep 0.2; \"$1\" allocate-and-wait 62914560; echo $?";
    as_both_users(&["run", "--json", "--limit-memory", "100M", "-c", script, child()], |result| {
        assert_eq!(result["stdout"]["text"], "137\n", "{result}");
        assert_eq!(result["limits"]["memory"]["hit"], true, "{result}");
    });
}

#[test]
fn processes_that_multiply_are_contained_without_control_groups() {
    if !is_root() {
        println!("skipped: only root can hide the control groups");
        return;
    }
    // Starts at most 511 processes if nothing stops it.
    let script = "f() { if (($1 > 0)); then f $(($1 - 1)) & f $(($1 - 1)) & fi; sleep 5; }; f 8";
    let hide = "mount -t tmpfs none /sys/fs/cgroup && exec \"$@\"";
    let words = ["unshare", "-mpf", "--mount-proc", "--kill-child", "sh", "-c", hide, "sh", HAFT];
    let arguments = ["spawn", "--json", "--limit-processes", "20", "--", "bash", "-c", script];
    let run = Haft::by(words).args(arguments).run();
    if run.error_text().starts_with("unshare:") || run.error_text().starts_with("mount:") {
        println!("skipped: {run}");
        return;
    }
    let result = run.json();
    assert_eq!(result["limits"]["processes"]["enforced_by"], "sampling", "{result}");
    assert_eq!(
        (&result["limits"]["processes"]["hit"], &result["status"]["limit"]),
        (&true.into(), &"processes".into())
    );
    assert_eq!(result["tree"]["survivors"], 0, "{result}");
}
