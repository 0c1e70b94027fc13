//! `kill` in a script reaches the processes of that script and those it names, but never haft or its caller.
//!
//! Every case runs in a PID namespace of its own, with a `bash` as the caller and a `sleep` as an unrelated process.

use haft_test_support::Haft;

const HAFT: &str = env!("CARGO_BIN_EXE_haft");

/// Starts an unrelated process, runs haft, and prints its status and the remaining processes.
const CALLER: &str = r#"
sleep 300 & innocent=$!
until [[ $(< /proc/$innocent/comm) == sleep ]]; do :; done
"$@"
echo "status $?"
kill -0 $innocent && echo "the other process lives"
"#;

/// A call of haft whose caller reports the remaining processes; `None` without namespaces.
fn called(words: &[&str]) -> Option<Haft> {
    let caller = ["bash", "-c", CALLER, "caller"];
    Haft::in_pid_namespace(caller).map(|haft| haft.arg(HAFT).args(words))
}

/// Runs scripts with these arguments. Each prints the expected text; the caller and the unrelated process survive.
#[track_caller]
fn expect(words: &[&str], cases: &[(&str, &str, i32)]) {
    for (script, written, status) in cases {
        let words: Vec<&str> = words.iter().copied().chain([*script]).collect();
        let Some(call) = called(&words) else { return };
        let run = call.run();
        let expected = format!("{written}status {status}\nthe other process lives\n");
        assert_eq!(run.output_text(), expected, "{script}\n{}", run.error_text());
    }
}

/// Jobs that could not start: `$!` is not the number of a process.
const UNSTARTED: &[(&str, &str, i32)] = &[
    ("nope & kill $!; echo $?", "1\n", 0),
    ("nope & wait $!; echo $?", "127\n", 0),
    ("nope & a=$!; nope & (( a != $! && a > 4194304 )) && echo differ", "differ\n", 0),
    ("true | nope & kill $!; wait $!; echo sane", "sane\n", 0),
    ("nope > /no/such/dir/file & kill $!; echo $?", "1\n", 0),
    ("nope | nope & kill $!; echo $?", "1\n", 0),
    ("/ & kill $!; wait $!; echo $?", "126\n", 0),
    ("nope & for pid in $(jobs -p); do kill $pid; done; echo sane", "sane\n", 0),
    ("coproc nope; kill $COPROC_PID; wait $COPROC_PID; echo sane", "sane\n", 0),
    (": <(nope); kill $!; echo sane", "sane\n", 0),
];

#[test]
fn killing_a_job_that_could_not_start_kills_nothing() {
    expect(&["run", "-c"], UNSTARTED);
    expect(&["-c"], UNSTARTED);
}

#[test]
fn kill_0_means_the_processes_of_the_script() {
    let wait = "wait $!; echo $?";
    expect(
        &["run", "-c"],
        &[
            (&format!("sleep 50 & trap : TERM; kill 0; {wait}"), "143\n", 0),
            ("sleep 50 & kill 0; echo not reached", "", 143),
            ("kill -9 0; echo not reached", "", 137),
            ("kill -- 0; echo not reached", "", 143),
            ("trap 'kill 0' EXIT; sleep 50 & echo hi", "hi\n", 143),
            ("trap 'trap - TERM; kill 0' EXIT TERM; sleep 50 & echo hi", "hi\n", 143),
            ("trap 'echo bye' EXIT; kill 0; echo not reached", "bye\n", 143),
            ("trap '' TERM; kill 0; echo on", "on\n", 0),
            ("(kill 0); echo not reached", "", 143),
            ("x=$(kill 0); echo not reached", "", 143),
            ("kill 0 & while :; do :; done", "", 143),
            ("{ kill 0; } & sleep 50; echo not reached", "", 143),
            ("kill 0 | while :; do :; done", "", 143),
            ("kill -0 0; echo $?", "0\n", 0),
            ("set -m; sleep 50 & kill 0; echo not reached", "", 143),
            ("f() { kill 0; }; timeout 5 f; echo $?", "143\n", 0),
        ],
    );
}

#[test]
fn the_group_of_haft_means_the_processes_of_the_script() {
    let Some(call) = Haft::in_pid_namespace(["setsid", "--wait", "bash", "-c", CALLER, "caller"]) else {
        return;
    };
    let script = "read -r _ _ _ _ group _ < /proc/$$/stat; sleep 50 & kill -- -$group; echo not reached";
    let run = call.arg(HAFT).args(["run", "-c", script]).run();
    assert_eq!(run.output_text(), "status 143\nthe other process lives\n", "{}", run.error_text());
}

#[test]
fn kill_minus_1_means_the_processes_of_the_script() {
    expect(
        &["run", "-c"],
        &[
            ("sleep 50 & kill -9 -1; echo not reached", "", 137),
            ("sleep 50 & kill -- -1; echo not reached", "", 143),
            ("(kill -9 -1)", "", 137),
        ],
    );
}

#[test]
fn the_number_of_the_shell_means_the_script() {
    expect(
        &["run", "-c"],
        &[
            ("kill $$; echo not reached", "", 143),
            ("kill -9 $$; echo not reached", "", 137),
            ("kill -9 $BASHPID; echo not reached", "", 137),
            ("(kill -9 $$); echo not reached", "", 137),
            ("kill $$ & while :; do :; done", "", 143),
            ("(kill -9 $BASHPID); echo $?", "137\n", 0),
            ("trap 'echo got it; exit 3' USR1; (kill -USR1 $$) & while :; do :; done", "got it\n", 3),
        ],
    );
}

#[test]
fn programs_of_a_run_are_not_in_the_group_of_haft() {
    expect(
        &["run", "-c"],
        &[("/bin/kill 0; bash -c 'kill -9 0' | cat; bash -c 'kill 0' & wait; echo on", "on\n", 0)],
    );
}

#[test]
fn other_processes_can_be_killed_by_their_numbers() {
    let Some(call) = called(&["run", "-c"]) else { return };
    let script = "for stat in /proc/[0-9]*/stat; do read -r pid name _ < $stat; \
                  [[ $name == '(sleep)' ]] && kill -9 $pid && echo killed; done; :";
    let run = call.arg(script).run();
    assert_eq!(run.output_text(), "killed\nstatus 0\n", "{}", run.error_text());
}

#[test]
fn the_watcher_cannot_be_killed_by_the_script() {
    // The watcher may not have its name yet.
    let script = "sleep 50 & for try in {1..300}; do for comm in /proc/[0-9]*/comm; do read -r name < $comm; \
                  pid=${comm//[^0-9]/}; \
                  [[ $name == tree-watcher ]] && { kill -9 $pid; echo $?; kill -9 -$pid; echo $?; break 2; }; \
                  done 2> /dev/null; sleep 0.1; done; :";
    expect(&["run", "-c"], &[(script, "1\n1\n", 0)]);
}

#[test]
fn a_tool_survives_its_script() {
    let Some(call) = called(&["tool", "call", "bash", "command=sleep 50 & kill 0; echo not reached"]) else {
        return;
    };
    let run = call.run();
    let output = run.output_text();
    assert!(output.contains("\"signal\":\"SIGTERM\""), "{output}");
    assert!(output.ends_with("the other process lives\n"), "{output}");
}

/// Sends these scripts to a server one after the other, then ends the input. Returns the answers.
const SERVED: &str = r#"
sleep 300 & innocent=$!
hello='"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}'
said=$(mktemp); haft=$1; shift
{
    printf '{"jsonrpc":"2.0","id":"hello",%s}\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n' "$hello"
    for script; do
        printf '{"jsonrpc":"2.0","id":"%s","method":"tools/call","params":{"name":"run","arguments":{"script":"%s"}}}\n' "$script" "$script"
        for ((i = 0; i < 600; i++)); do grep -qF "\"id\":\"$script\"" "$said" && break; sleep .1; done
    done
} | "$haft" mcp > "$said"
echo "status ${PIPESTATUS[1]}"
grep -c '"result":{"content"' "$said"; rm "$said"
kill -0 $innocent && echo "the other process lives"
"#;

#[test]
fn a_server_survives_its_scripts() {
    let Some(call) = Haft::in_pid_namespace(["bash", "-c", SERVED, "caller", HAFT]) else { return };
    let scripts = ["nope & kill $!", "kill -9 0", "kill -9 -1", "kill -9 $$", "trap 'kill -9 0' EXIT"];
    let run = call.args(scripts).run();
    assert_eq!(run.output_text(), "status 0\n5\nthe other process lives\n", "{}", run.error_text());
}
