//! `spawn`: arguments, environment, working directory, input, and timeouts that end the whole process tree.

mod support;

use std::sync::Arc;
use std::time::{Duration, Instant};

use haft_kernel::Kernel;
use haft_test_support::{Marker, Scratch, child, eventually};
use support::{run, run_in, session, session_with};

/// Generous, for a busy machine. Nothing here sleeps this long.
const DEADLINE: Duration = Duration::from_secs(60);

#[test]
fn arguments_arrive_unchanged() {
    for (script, expected) in [
        (
            r#"spawn command=printf argv=["<%s>", "", "a b", "*", "$(echo x)", "\u00e9\n"]"#,
            "<><a b><*><x><é\n>",
        ),
        (r#"spawn command=echo argv="a b""#, "a b\n"),
        (r#"spawn --command echo --argv a --argv '["b"]'"#, "a b\n"),
        (r#"x='["a"]'; spawn command=echo argv="$x""#, "a\n"),
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
fn input_environment_and_working_directory_are_passed_on() {
    let scratch = Scratch::new();
    let directory = scratch.path().canonicalize().expect("an existing directory");
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
fn large_output_is_complete() {
    let ran = run(r#"x=$(spawn command=head argv=["-c", "5000000", "/dev/zero"] | tr '\0' x); echo ${#x}"#);
    assert_eq!(ran.stdout, "5000000\n");
    let ran =
        run(r#"x=$(spawn command=sh argv=["-c", "head -c 5000000 /dev/zero | tr '\\0' x"]); echo ${#x}"#);
    assert_eq!(ran.stdout, "5000000\n");
}

#[test]
fn exit_statuses_and_error_messages() {
    for (script, status, message) in [
        ("spawn command=false", 1, ""),
        (r#"spawn command=sh argv=["-c", "exit 42"]"#, 42, ""),
        (r#"spawn command=sh argv=["-c", "kill -9 \u0024\u0024"]"#, 137, ""),
        ("spawn command=no-such-program", 127, "spawn: 'no-such-program': command not found"),
        ("spawn command=/no/such", 127, "spawn: '/no/such': "),
        ("spawn command=/etc/passwd", 126, "spawn: '/etc/passwd': "),
        ("spawn", 2, "spawn: missing parameter 'command'\nhint: write 'spawn command=PROGRAM …'"),
        ("spawn comand=ls", 2, "spawn: unknown parameter 'comand'\nhint: did you mean 'command'?"),
        (
            "spawn command=ls timeout=soon",
            2,
            "spawn: invalid value 'soon' for 'timeout': expected an integer of at least 0",
        ),
        ("spawn command=ls env='{x'", 2, "spawn: invalid JSON for 'env': "),
        ("spawn command=ls env=[1]", 2, "spawn: invalid value '[1]' for 'env': expected an object"),
        (
            "spawn command=ls argv={}",
            2,
            "spawn: invalid value '{}' for 'argv': expected a string or an array of strings",
        ),
        (
            "spawn command=ls argv=[[1]]",
            2,
            "spawn: invalid value '[[1]]' for 'argv': expected an array of strings",
        ),
        ("spawn command=ls cwd=/no/such", 126, "spawn: cwd '/no/such': No such file or directory"),
        ("spawn command=ls cwd=/etc/passwd", 126, "spawn: cwd '/etc/passwd' is not a directory"),
        ("spawn command=ls ls", 2, "spawn: unexpected argument 'ls'"),
        ("spawn argv=x ls", 2, "spawn: unexpected argument 'ls'"),
        ("spawn x=1 ls", 2, "spawn: unknown parameter 'x'"),
        ("spawn timeout=1 sleep 60", 124, "spawn: 'sleep' timed out after 1ms"),
    ] {
        let ran = run(script);
        assert_eq!(ran.status, status, "{script}: {}", ran.stderr);
        assert!(ran.stderr.contains(message), "{script}: {}", ran.stderr);
        assert_eq!(ran.stderr.is_empty(), message.is_empty(), "{script}: {}", ran.stderr);
    }
}

/// A script whose program starts another one. Both run until they are killed.
fn process_tree(marker: &Marker, scratch: &Scratch, more: &str) -> String {
    let pause = format!("{} pause {} {}", child(), marker.as_str(), scratch.text("ready"));
    format!(r#"spawn command=sh argv=["-c", "{pause} & {pause}"] {more}"#)
}

#[test]
fn a_timeout_ends_the_whole_process_tree() {
    let (marker, scratch) = (Marker::new(), Scratch::new());
    let started = Instant::now();
    let ran = run(&process_tree(&marker, &scratch, "timeout=1500"));
    assert_eq!(ran.status, 124, "{}", ran.stderr);
    assert!(started.elapsed() < DEADLINE);
    assert_eq!(marker.count(), 0);
}

#[test]
fn cancellation_ends_the_whole_process_tree() {
    let (marker, scratch) = (Marker::new(), Scratch::new());
    let script = process_tree(&marker, &scratch, "");
    let session = session();
    let token = session.cancel_token().clone();
    let running = std::thread::spawn(move || run_in(session, &script));
    assert!(eventually(DEADLINE, || marker.count() == 2));
    token.cancel();
    let ran = running.join().expect("the script ends");
    assert_eq!(ran.status, 130);
    assert_eq!(marker.count(), 0);
}

#[test]
fn nothing_runs_with_external_commands_disabled_or_a_virtual_working_directory() {
    let kernel = Kernel::builder().commands(haft_commands::TABLE).external(false).build();
    let ran = run_in(session_with(kernel), "spawn command=ls");
    assert_eq!(ran.status, 126);
    assert!(ran.stderr.contains("spawn: 'ls': external commands are switched off"), "{}", ran.stderr);

    let memory = Arc::new(haft_fs::Memory::new(1 << 20));
    let kernel = Kernel::builder().commands(haft_commands::TABLE).files(memory).build();
    let ran = run_in(session_with(kernel), "spawn command=/bin/ls cwd=/");
    assert_eq!(ran.status, 126);
    assert!(ran.stderr.contains("spawn: cwd '/' is not a real directory of this machine"), "{}", ran.stderr);
}

#[test]
fn arguments_come_as_words_or_as_json_in_text() {
    for (script, output) in [
        (r#"spawn command=echo argv='["hello","from","PATH"]'"#, "hello from PATH\n"),
        (r#"json='["a b", 1, true]'; spawn command=printf argv='<%s>' argv="$json""#, "<a b><1><true>"),
        (r#"a=('x y' '' z); spawn printf '<%s>' "${a[@]}""#, "<x y><><z>"),
        ("spawn timeout=60000 printf '%s' a=b", "a=b"),
        ("spawn env={\"A\": \"1\"} sh -c 'echo $A'", "1\n"),
        ("spawn -- printf %s --help", "--help"),
        ("spawn command=echo argv='[not json'", "[not json\n"),
        ("spawn echo x=[1, 2]", "x=[1, 2]\n"),
    ] {
        let ran = run(script);
        assert_eq!((ran.status, ran.stdout.as_str()), (0, output), "{script}: {}", ran.stderr);
    }
}
