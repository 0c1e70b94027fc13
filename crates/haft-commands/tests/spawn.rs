//! `spawn`: exact arguments, environment, directory, input; deadlines that hold for the whole tree.

mod support;

use std::sync::Arc;
use std::time::{Duration, Instant};

use haft_kernel::Kernel;
use haft_test_support::{Marker, Scratch, child, eventually};
use support::{run, run_in, session, with};

/// Longer than anything takes on a machine that is busy.
const SOON: Duration = Duration::from_secs(60);

#[test]
fn arguments_arrive_as_given() {
    for (script, expected) in [
        (
            r#"spawn command=printf argv=["<%s>", "", "a b", "*", "$(echo x)", "\u00e9\n"]"#,
            "<><a b><*><x><é\n>",
        ),
        (r#"spawn command=echo argv="a b""#, "a b\n"),
        (r#"spawn --command echo --argv a --argv '["b"]'"#, "a [\"b\"]\n"),
        (r#"x='["a"]'; spawn command=echo argv="$x""#, "[\"a\"]\n"),
        (r#"spawn command=echo"#, "\n"),
        (r#"command spawn command=echo argv=["x"]"#, "x\n"),
        (r#"timeout 20 spawn command=echo argv=["x"]"#, "x\n"),
        (r#"echo "$(spawn command=echo argv=["x"])""#, "x\n"),
        (r#"spawn command=echo argv=["x"] | tr x y"#, "y\n"),
        (r#"f() { spawn command="$1" argv=["$2"]; }; f echo z"#, "z\n"),
    ] {
        let ran = run(script);
        assert_eq!((ran.status, ran.stdout.as_str()), (0, expected), "{script}: {}", ran.stderr);
    }
}

#[test]
fn input_environment_and_directory() {
    let scratch = Scratch::new();
    let directory = scratch.path().canonicalize().expect("it is there");
    for (script, expected) in [
        ("echo in | spawn command=cat".to_owned(), "in\n".to_owned()),
        ("spawn command=cat <<< here".to_owned(), "here\n".to_owned()),
        (
            r#"A=1 spawn command=sh argv=["-c", "echo \u0024A-\u0024B"] env={"B": "2"}"#.to_owned(),
            "1-2\n".to_owned(),
        ),
        (
            r#"export A=1; spawn command=env env={"B": "x y"} clear_env=true | grep -v ^HAFT_RUN="#
                .to_owned(),
            "B=x y\n".to_owned(),
        ),
        (format!("spawn command=pwd cwd={}", directory.display()), format!("{}\n", directory.display())),
        (
            r#"spawn command=sh argv=["-c", "echo out; echo err >&2"] 2>/dev/null"#.to_owned(),
            "out\n".to_owned(),
        ),
        (r#"spawn command=sh argv=["-c", "umask"]; umask 027; umask"#.to_owned(), "0022\n0027\n".to_owned()),
    ] {
        let ran = run(&script);
        assert_eq!((ran.status, ran.stdout), (0, expected), "{script}: {}", ran.stderr);
    }
}

#[test]
fn large_output_arrives_whole() {
    let ran = run(r#"x=$(spawn command=head argv=["-c", "5000000", "/dev/zero"] | tr '\0' x); echo ${#x}"#);
    assert_eq!(ran.stdout, "5000000\n");
    let ran =
        run(r#"x=$(spawn command=sh argv=["-c", "head -c 5000000 /dev/zero | tr '\\0' x"]); echo ${#x}"#);
    assert_eq!(ran.stdout, "5000000\n");
}

#[test]
fn statuses_and_complaints() {
    for (script, status, complaint) in [
        ("spawn command=false", 1, ""),
        (r#"spawn command=sh argv=["-c", "exit 42"]"#, 42, ""),
        (r#"spawn command=sh argv=["-c", "kill -9 \u0024\u0024"]"#, 137, ""),
        ("spawn command=no-such-program", 127, "spawn: 'no-such-program': command not found"),
        ("spawn command=/no/such", 127, "spawn: '/no/such': "),
        ("spawn command=/etc/passwd", 126, "spawn: '/etc/passwd': "),
        ("spawn", 2, "spawn: 'command' is missing\nhint: write 'spawn command=TEXT …'"),
        ("spawn comand=ls", 2, "spawn: unknown parameter 'comand'\nhint: did you mean 'command'?"),
        ("spawn command=ls timeout=soon", 2, "spawn: 'timeout' is a whole number, at least 0, not 'soon'"),
        ("spawn command=ls env='{x'", 2, "spawn: 'env' is not JSON: "),
        ("spawn command=ls env=[1]", 2, "spawn: 'env' is an object, not '[1]'"),
        ("spawn command=ls argv={}", 2, "spawn: 'argv' is a string or an array of strings, not '{}'"),
        ("spawn command=ls argv=[[1]]", 2, "spawn: 'argv' is a list of strings, not '[[1]]'"),
        ("spawn command=ls cwd=/no/such", 126, "spawn: cwd '/no/such': No such file or directory"),
        ("spawn command=ls cwd=/etc/passwd", 126, "spawn: cwd '/etc/passwd' is not a directory"),
        ("spawn ls", 2, "spawn: 'ls' belongs to no parameter"),
    ] {
        let ran = run(script);
        assert_eq!(ran.status, status, "{script}: {}", ran.stderr);
        assert!(ran.stderr.contains(complaint), "{script}: {}", ran.stderr);
        assert_eq!(ran.stderr.is_empty(), complaint.is_empty(), "{script}: {}", ran.stderr);
    }
}

/// A script that starts a program which starts another, both of which stay.
fn tree(marker: &Marker, scratch: &Scratch, more: &str) -> String {
    let stay = format!("{} pause {} {}", child(), marker.as_str(), scratch.text("ready"));
    format!(r#"spawn command=sh argv=["-c", "{stay} & {stay}"] {more}"#)
}

#[test]
fn a_deadline_ends_the_whole_tree() {
    let (marker, scratch) = (Marker::new(), Scratch::new());
    let started = Instant::now();
    let ran = run(&tree(&marker, &scratch, "timeout=1500"));
    assert_eq!(ran.status, 124, "{}", ran.stderr);
    assert!(started.elapsed() < Duration::from_secs(60));
    assert_eq!(marker.count(), 0);
}

#[test]
fn a_cancel_ends_the_whole_tree() {
    let (marker, scratch) = (Marker::new(), Scratch::new());
    let script = tree(&marker, &scratch, "");
    let session = session();
    let token = session.cancel_token().clone();
    let running = std::thread::spawn(move || run_in(session, &script));
    assert!(eventually(SOON, || marker.count() == 2));
    token.cancel();
    let ran = running.join().expect("it ends");
    assert_eq!(ran.status, 130);
    assert_eq!(marker.count(), 0);
}

#[test]
fn nothing_runs_where_programs_are_switched_off_or_files_are_virtual() {
    let off = Kernel::builder().commands(haft_commands::TABLE).external(false).build();
    let ran = run_in(with(off), "spawn command=ls");
    assert_eq!(ran.status, 126);
    assert!(ran.stderr.contains("spawn: 'ls': external commands are switched off"), "{}", ran.stderr);

    let memory = Arc::new(haft_fs::Memory::new(1 << 20));
    let kernel = Kernel::builder().commands(haft_commands::TABLE).files(memory).build();
    let ran = run_in(with(kernel), "spawn command=/bin/ls cwd=/");
    assert_eq!(ran.status, 126);
    assert!(ran.stderr.contains("spawn: cwd '/' is not on this machine"), "{}", ran.stderr);
}
