//! `scatter` and `gather`.

mod support;

use std::time::{Duration, Instant};

use haft_kernel::Kernel;
use haft_test_support::{Marker, Scratch, child, eventually};
use support::{run, run_in, session, session_with};

/// Generous, for a busy machine. Nothing here sleeps this long.
const DEADLINE: Duration = Duration::from_secs(60);

#[test]
fn items_can_be_a_json_array_and_have_a_timeout() {
    let ran = run(r#"scatter items=["a b", "c"] | echo "<$ITEM>" | gather --text"#);
    assert_eq!((ran.status, ran.stdout.as_str()), (0, "<a b>\n<c>\n"), "{}", ran.stderr);
    let script = "seq 2 | scatter timeout=0.2 | { [ $ITEM = 1 ] || sleep 60; } | gather";
    let ran = run(script);
    assert_eq!(ran.status, 123, "{}", ran.stderr);
    let records: Vec<serde_json::Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).expect("a record")).collect();
    assert_eq!((&records[0]["status"], records[0].get("timed_out")), (&0.into(), None));
    assert_eq!((&records[1]["status"], &records[1]["timed_out"]), (&124.into(), &true.into()));
}

#[test]
fn items_come_in_order_with_their_whole_output() {
    for (script, expected) in [
        (
            r#"seq 10 | scatter --as N --limit 4 | echo "$N" | gather --text | paste -sd,"#,
            "1,2,3,4,5,6,7,8,9,10\n",
        ),
        (r#"seq 3 | scatter limit=3 | { sleep 0.$((4 - ITEM)); echo $ITEM; } | gather -t"#, "1\n2\n3\n"),
        (
            r#"seq 3 | scatter limit=3 | { sleep 0.$(((4 - ITEM) * 3)); echo $ITEM; } | gather -t --unordered"#,
            "3\n2\n1\n",
        ),
        ("printf 'a b\\n\\n\\tc' | scatter | printf '<%s>' \"$ITEM\" | gather -t", "<a b><><\tc>"),
        ("printf 'a\\nb\\0c' | scatter -0 | printf '<%s>' \"$ITEM\" | gather -t", "<a\nb><c>"),
        ("seq 3 | scatter | cat | gather -t", "1\n2\n3\n"),
        ("seq 2 | scatter | sed s/^/x/ | sed s/$/y/ | gather -t", "x1y\nx2y\n"),
        ("f() { echo \"f $1\"; }; seq 2 | scatter as=N | f \"$N\" | gather -t", "f 1\nf 2\n"),
        ("x=1; seq 2 | scatter | { x=$((x + ITEM)); echo $x; } | gather -t; echo $x", "2\n3\n1\n"),
        ("scatter < /dev/null | cat | gather; echo $?", "0\n"),
        ("seq 2 | scatter | echo $ITEM | gather -t > /dev/stderr; echo ${PIPESTATUS[@]}", "0 0 0 0\n"),
        ("seq 4 | scatter | seq $ITEM | gather -t | wc -l", "10\n"),
        ("echo \"[$(seq 2 | scatter | echo $ITEM | gather -t)]\"", "[1\n2]\n"),
        (
            "seq 2 | scatter | { seq 2 | scatter as=M | echo $ITEM$M | gather -t; } | gather -t",
            "11\n12\n21\n22\n",
        ),
        ("seq 2 | scatter | head -c 300000 /dev/zero | gather -t | wc -c", "600000\n"),
        ("x=$(head -c 100000 /dev/zero | tr '\\0' x); echo $x | scatter | wc -c | gather -t", "100001\n"),
        ("set -o pipefail; seq 2 | scatter | false | gather > /dev/null; echo $?", "123\n"),
        ("seq 2 | scatter | false | gather > /dev/null; echo ${PIPESTATUS[@]}", "0 0 0 123\n"),
    ] {
        let ran = run(script);
        assert_eq!(ran.stdout, expected, "{script}: {}", ran.stderr);
    }
}

#[test]
fn a_failed_item_is_recorded_and_the_others_run() {
    let script = "printf '%s\\n' 1 0 2 | scatter as=N | sh -c 'echo out; echo err >&2; exit $0' $N | gather";
    let ran = run(script);
    assert_eq!(ran.status, 123);
    let records: Vec<serde_json::Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let statuses: Vec<_> = records.iter().map(|record| (&record["item"], &record["status"])).collect();
    assert_eq!(
        format!("{statuses:?}"),
        r#"[(String("1"), Number(1)), (String("0"), Number(0)), (String("2"), Number(2))]"#
    );
    for record in records {
        assert_eq!((&record["output"], &record["stderr"]), (&"out\n".into(), &"err\n".into()));
        assert!(record["duration"].as_f64().is_some_and(|duration| duration > 0.0 && duration < 60.0));
    }
}

#[test]
fn records_of_binary_output_are_marked_as_lossy() {
    let ran = run(r"echo x | scatter | printf '\xff' | gather");
    let record: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!((&record["output"], &record["lossy"]), (&"\u{fffd}".into(), &true.into()));
    let ran = run(r"echo x | scatter | printf '\xff' | gather -t | od -An -tx1");
    assert_eq!(ran.stdout, " ff\n");
}

#[test]
fn no_more_items_than_the_limit_run_in_parallel() {
    let scratch = Scratch::new();
    let script = format!(
        "cd {}; seq 6 | scatter limit=2 | {{ mkdir run.$ITEM; ls -d run.* | wc -l; sleep 0.1; rmdir run.$ITEM; }} | gather -t",
        scratch.path().display()
    );
    let ran = run(&script);
    let max = ran.stdout.lines().map(|line| line.trim().parse::<usize>().expect("a number")).max();
    assert_eq!(max, Some(2), "{}", ran.stderr);
}

#[test]
fn retries_halt_and_the_job_log() {
    let scratch = Scratch::new();
    let in_scratch = |script: &str| run(&format!("cd {}; {script}", scratch.path().display()));
    let ran =
        in_scratch("seq 2 | scatter limit=1 retries=2 | { echo x >> t; [ $(wc -l < t) -ge 3 ]; } | gather");
    let attempts: Vec<u64> = ran
        .stdout
        .lines()
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line).expect("JSON")["attempts"].as_u64().unwrap_or(0)
        })
        .collect();
    assert_eq!((ran.status, attempts), (0, vec![3, 1]));

    let ran = in_scratch("seq 9 | scatter limit=1 halt=soon,fail=2 | [ $ITEM -lt 4 ] | gather | wc -l");
    assert_eq!(ran.stdout, "5\n", "{}", ran.stderr);
    assert!(
        ran.stderr.contains("stopped after 2 failures; the remaining items did not run"),
        "{}",
        ran.stderr
    );

    let started = Instant::now();
    let ran = in_scratch("printf '%s\\n' 600 x | scatter limit=2 halt=now | sleep $ITEM | gather");
    assert!(started.elapsed() < DEADLINE);
    assert_eq!((ran.status, ran.stdout.lines().count()), (123, 2));

    let ran =
        in_scratch("seq 2 | scatter as=N | [ $N = 1 ] | gather joblog=log > /dev/null; cut -f 1,7,9 log");
    let mut lines: Vec<&str> = ran.stdout.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["1\t0\tN='1' [ $N = 1 ]", "2\t1\tN='2' [ $N = 1 ]", "Seq\tExitval\tCommand"]);
}

#[test]
fn wrong_usage_is_rejected_before_anything_runs() {
    for (script, complaint) in [
        ("seq 3 | scatter | touch bad", "scatter: needs 'gather' after it in the pipeline"),
        ("touch bad | gather", "gather: needs 'scatter' before it in the pipeline"),
        ("touch bad | scatter | gather", "gather: needs a stage after 'scatter'"),
        (
            "touch bad | scatter | scatter | cat | gather",
            "scatter: starts a fan-out before the 'gather' of the previous one",
        ),
        ("scatter", "scatter: must be followed by 'gather' in the same pipeline"),
        ("gather", "gather: must follow 'scatter' in the same pipeline"),
        (
            "seq 3 | scatter --limit 0 | touch bad | gather",
            "scatter: invalid value '0' for 'limit': expected an integer of at least 1",
        ),
        (
            "seq 3 | scatter --as 1x | touch bad | gather",
            "scatter: invalid value '1x' for 'as': expected a variable name",
        ),
        (
            "seq 3 | scatter --limt 1 | touch bad | gather",
            "scatter: unknown parameter 'limt'\nhint: did you mean 'limit'?",
        ),
        (
            "seq 3 | scatter --joblog x | touch bad | gather",
            "scatter: unknown parameter 'joblog'\nhint: pass it to 'gather' instead",
        ),
        (
            "seq 3 | scatter | touch bad | gather --txt",
            "gather: unknown parameter 'txt'\nhint: did you mean 'text'?",
        ),
        (
            "seq 3 | scatter | touch bad | gather limit=2",
            "gather: unknown parameter 'limit'\nhint: pass it to 'scatter' instead",
        ),
    ] {
        let scratch = Scratch::new();
        let ran = run(&format!("cd {}; {script}", scratch.path().display()));
        assert_eq!(ran.status, 2, "{script}");
        assert!(ran.stderr.contains(complaint), "{script}: {}", ran.stderr);
        assert!(!scratch.file("bad").exists(), "{script}");
    }
    let ran = run("seq 3 | scatter | cat | gather joblog=/no/such/file");
    assert_eq!(ran.status, 1);
    assert!(ran.stderr.contains("cannot write '/no/such/file': No such file or directory"), "{}", ran.stderr);
}

#[test]
fn functions_named_scatter_and_gather_take_precedence() {
    let ran = run("scatter() { sed s/^/s/; }; gather() { sed s/$/g/; }; seq 2 | scatter | cat | gather");
    assert_eq!(ran.stdout, "s1g\ns2g\n");
}

#[test]
fn a_closed_output_ends_the_fan_out() {
    let started = Instant::now();
    let ran = run("yes | scatter limit=2 | echo $ITEM | gather -t | head -n 3");
    assert_eq!(ran.stdout, "y\ny\ny\n");
    assert!(started.elapsed() < DEADLINE);
}

#[test]
fn background_processes_of_an_item_do_not_delay_it() {
    let started = Instant::now();
    let ran = run("seq 2 | scatter | { sleep 600 & echo $ITEM; } | gather -t");
    assert_eq!(ran.stdout, "1\n2\n");
    assert!(started.elapsed() < DEADLINE);
}

#[test]
fn cancellation_ends_all_items() {
    let (marker, scratch) = (Marker::new(), Scratch::new());
    let script = format!(
        "seq 4 | scatter limit=4 | {} pause {} {} | gather",
        child(),
        marker.as_str(),
        scratch.text("ready")
    );
    let session = session();
    let token = session.cancel_token().clone();
    let running = std::thread::spawn(move || run_in(session, &script));
    assert!(eventually(DEADLINE, || marker.count() == 4));
    token.cancel();
    let ran = running.join().expect("the script ends");
    assert_eq!((ran.status, ran.stdout.as_str()), (130, ""));
    assert_eq!(marker.count(), 0);
}

#[test]
fn fan_out_works_with_external_commands_disabled() {
    let kernel = Kernel::builder().commands(haft_commands::TABLE).external(false).build();
    let ran = run_in(session_with(kernel), "printf '%s\\n' a b | scatter | echo \"<$ITEM>\" | gather -t");
    assert_eq!((ran.status, ran.stdout.as_str()), (0, "<a>\n<b>\n"));
}
