//! The deadline of a run reaches whatever the script does: loops, expansions, builtins, reads, writes, opens, waits.

use std::path::Path;
use std::time::Duration;

use haft_kernel::run::{Input, Run, Status};
use haft_kernel::{Kernel, Session};
use haft_process::Host;
use haft_test_support::Scratch;

const TIMEOUT: Duration = Duration::from_millis(150);

/// How long after that it may take on the slowest machine. On an idle one it is a few milliseconds.
const PROMPTLY: Duration = Duration::from_secs(4);

fn session(directory: &Path) -> Session {
    Session::with_environment(Kernel::builder().build(), [("PATH", "/usr/bin:/bin")], directory)
}

/// Runs scripts that would go on for ever. In their directory are two named pipes that nobody else opens.
#[track_caller]
fn all_end(scripts: &[&str]) {
    for script in scripts {
        let scratch = Scratch::new();
        for name in ["fifo", "other"] {
            let kind = rustix::fs::FileType::Fifo;
            rustix::fs::mknodat(rustix::fs::CWD, scratch.file(name), kind, rustix::fs::Mode::RWXU, 0)
                .unwrap();
        }
        let run = Run::new(*script).input(Input::Pipe).timeout(TIMEOUT).grace(Duration::from_millis(500));
        let outcome = run.run(&Host::plain(), &mut session(scratch.path())).expect(script);
        assert_eq!(
            outcome.status,
            Status::TimedOut,
            "{script}: {}",
            String::from_utf8_lossy(&outcome.stderr())
        );
        assert!(outcome.duration < TIMEOUT + PROMPTLY, "{script} took {:?}", outcome.duration);
        assert_eq!(outcome.tree.survivors.pids(), [0; 0], "{script}");
    }
}

#[test]
fn loops() {
    all_end(&[
        "while :; do :; done",
        "until false; do x=1; done",
        "for ((;;)); do x=1; done",
        "for i in {1..10000}; do for j in {1..100000}; do :; done; done",
        "while true; do continue; done",
        "(while :; do :; done)",
        "{ while :; do :; done; } | cat",
        "cat | while :; do :; done",
        "while :; do :; done & wait",
        "time while :; do :; done",
        "! while :; do :; done",
        "if while :; do :; done; then :; fi",
        "case $(while :; do :; done) in *) esac",
    ]);
}

#[test]
fn functions_traps_and_text() {
    all_end(&[
        "f() { g; g; }; g() { (( $((++n)) )) ; f1; f1; }; f1() { (( depth++ < 60 )) && { f1; f1; }; (( depth-- )); }; f; while f1; do :; done",
        "f() { while :; do :; done; }; f",
        "trap 'while :; do :; done' DEBUG; :",
        "trap 'while :; do :; done' EXIT; :",
        "eval 'while :; do :; done'",
        ". /dev/stdin <<< 'while :; do :; done'",
        "g() { while :; do :; done; }; x=$(g)",
    ]);
}

#[test]
fn expansions() {
    all_end(&[
        "echo {1..100000000} > /dev/null",
        "declare -a x=( {1..100000000} )",
        "for i in {1..100000000}; do :; done",
        "x=$(while :; do :; done)",
        "x=`while :; do :; done`",
        "cat <(while :; do :; done)",
        "cat <<< $(while :; do :; done)",
        "x=$(head -c 20000000 /dev/zero | tr '\\0' a); while :; do y=${x^^}; done",
        "x=$(head -c 20000000 /dev/zero | tr '\\0' a); while :; do y=${x//[ab]/c}; done",
        "x=$(head -c 20000000 /dev/zero | tr '\\0' ' '); while :; do set -- $x; done",
        "declare -A a; for ((i=0;i<10000;i++)); do a[$i]=$i; done; while :; do x=\"${a[*]}\"; y=\"${!a[*]}\"; done",
        "x=$(yes)",
        "x=$(< /dev/zero)",
        "eval \"$(printf ': %s;' {1..300000})\"; while :; do :; done",
        "x=$(( $(while :; do :; done) + 1 ))",
        "shopt -s globstar; while :; do echo /usr/**; done > /dev/null",
    ]);
}

#[test]
fn what_is_large() {
    all_end(&[
        "a=({1..300000}); while :; do b=(\"${a[@]}\"); done",
        "a=({1..300000}); while :; do set -- \"${a[@]}\"; shift; done",
        "a=({1..300000}); while :; do declare -p a > /dev/null; done",
        "a=({1..300000}); while :; do x=\"${a[*]@Q}\"; done",
        "a=({1..300000}); while :; do echo \"${a[@]}\"; done > /dev/null",
        "a=({1..300000}); while :; do (a[1]=2; :); done",
        "while :; do printf -v x '%*s' 500000000 x; done",
        "printf -v x '%5000000s' a; while :; do y=${x@Q}; z=$(declare -p x); done",
        "printf -v x '%5000000s' a; x=${x// /x }; while :; do y=($x); read -ra z <<< \"$x\"; done",
        "printf -v x '%5000000s' a; while :; do cat <<< \"$x\"; done > /dev/null",
        "printf -v x '%1000000s' a; while :; do [[ $x =~ (a| )*[bc]$ ]]; done",
        "printf -v x ': ; %.0s' {1..100000}; while :; do eval \"$x\"; done",
        "printf -v x '%3000000s' a; while :; do eval \"echo '$x' $x\"; done > /dev/null",
        "printf -v x '1+%.0s' {1..100000}; while :; do (( y = ${x}1 )); done",
        "echo {1..1000}{1..1000}{1..1000} > /dev/null",
        "while :; do compgen -c > /dev/null; done",
    ]);
}

#[test]
fn reads() {
    all_end(&[
        "read x",
        "read -t 1000 x",
        "read -n 3 x",
        "mapfile x",
        "select x in a b; do :; done",
        "mapfile < /dev/zero",
        "mapfile -t x < <(yes)",
        "read -N 1000000000 x < /dev/zero",
        "while :; do read -t 0.001 x < /dev/zero; done",
        "cat",
        "x=$(cat)",
        "while read x; do :; done",
        "exec 3<> fifo; read -u 3 x",
        "exec 3<> fifo; x=$(< /dev/fd/3)",
        "read x < <(sleep 1000)",
        "coproc sleep 1000; read x <&${COPROC[0]}",
    ]);
}

#[test]
fn opens_that_wait() {
    all_end(&[
        "read x < fifo",
        "echo x > fifo",
        "x=$(< fifo)",
        ". ./fifo",
        "mapfile x < fifo",
        "cat < fifo",
        "{ echo x > fifo; } & wait",
        "while :; do :; done > fifo",
        "exec 3< fifo 4> other",
        "trap 'echo again' USR1; (kill -USR1 $$) & exec 3< fifo",
        "cat <(cat < fifo)",
        "exec 3<> /dev/tcp/192.0.2.1/9 || while :; do :; done",
    ]);
}

#[test]
fn writes_without_room() {
    all_end(&[
        "exec 3<> fifo; while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; done >&3",
        "exec 3<> fifo; printf '%0200000d' 1 >&3",
        "exec 3<> fifo; x=$(printf '%0200000d' 1); echo $x >&3",
        "exec 3<> fifo; set -x; for ((;;)); do :; done 2>&3",
        "while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyy; done | sleep 1000",
        "yes | sleep 1000",
        "yes | while :; do :; done",
        "{ while :; do echo y; done; } 2>&1 | { sleep 1000; }",
    ]);
}

#[test]
fn waits() {
    all_end(&[
        "sleep 1000",
        "sleep 1000 & wait",
        "sleep 1000 & wait $!",
        "sleep 1000 & wait -n",
        "sleep 1000 | cat",
        "cat | sleep 1000",
        "(sleep 1000)",
        "x=$(sleep 1000)",
        "sleep 1000 > >(cat)",
        "exec sleep 1000",
        "command sleep 1000",
        "(sleep 1000; :) & fg 2> /dev/null; wait",
        "while :; do : & done",
        "while :; do : | :; done",
    ]);
}

#[test]
fn patterns() {
    all_end(&[
        "x=$(printf '%030000d' 0); while :; do [[ $x == *0*0*0*0*0*0*0*1 ]]; done",
        "x=$(printf '%030000d' 0); while :; do y=${x//*0*0*0*0*1/}; done",
        "x=$(printf '%030000d' 0); shopt -s extglob; while :; do [[ $x == +(0|00|000)1 ]]; done",
        "x=$(printf '%03000d' 0); while :; do [[ $x =~ (0*)*(0*)*1 ]]; done",
    ]);
}
