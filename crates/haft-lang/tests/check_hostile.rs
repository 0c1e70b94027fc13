//! `check` and `plan` handle any input on a small stack and in roughly linear time.

use std::time::Duration;

use haft_lang::check::check;
use haft_lang::plan::plan;
use haft_lang::{BuiltinsOnly, ParseOptions, Script};
use rustix::time::{ClockId, clock_gettime};

/// Checks and plans a text. Returns the processor time of this thread.
fn check_and_plan(source: &[u8]) -> Duration {
    let options = ParseOptions::default();
    let found = check(source, &options, &BuiltinsOnly).len();
    let script = Script::parse(source, &options);
    let plan = plan(&script.program(), source, &BuiltinsOnly);
    std::hint::black_box(found + plan.steps.len() + plan.to_string().len());
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Runs on a stack of the default thread size, with a limit on the processor time.
fn handle(source: Vec<u8>) {
    let shown = String::from_utf8_lossy(&source[..source.len().min(60)]).into_owned();
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(move || check_and_plan(&source));
    let taken = thread.expect("a thread starts").join().unwrap_or_else(|_| panic!("{shown} panics"));
    assert!(taken < Duration::from_secs(20), "{shown} took {taken:?}");
}

#[test]
fn deeply_nested_input_is_handled() {
    for depth in [60, 150, 10_000] {
        let nested = |open: &str, close: &str| (open.repeat(depth) + "x" + &close.repeat(depth)).into_bytes();
        handle(nested("( ", " )"));
        handle(nested("{ ", "; }"));
        handle(nested("$(", ")"));
        handle(nested("echo \"$(", ")\""));
        handle(nested("if ", "; then :; fi"));
        handle(nested("echo ${a:-", "}"));
        handle(nested("! ", ""));
        handle(nested("f() { ", "; }"));
        handle(nested("(( (", ") ))"));
        handle(nested("[[ ( ", " ) ]]"));
        handle(nested("case x in x) ", ";; esac"));
        handle(nested("coproc { ", "; }"));
        handle(nested("cat <(", ")"));
    }
}

#[test]
fn long_input_is_handled() {
    let many = |piece: &str| piece.repeat(10_000).into_bytes();
    handle(many("sudo "));
    handle(many("eval "));
    handle(many("env -S "));
    handle(many("find -exec "));
    handle(many("x=1; "));
    handle(many("cd a; rm b\n"));
    handle(many("a && "));
    handle(many("ls | while read a; do b=1; done; echo $b\n"));
    handle(many("[ $a = b ]\n"));
    handle(many("set -u; echo $a$b\n"));
    handle(many("f() { f; }\n"));
    handle(many("a=$b; "));
    handle(many("alias a=b\n"));
    handle(many("echo $((a+b))\n"));
    handle(many("exit\n"));
    handle(
        (0..20_000)
            .map(|number| format!("command{number} $variable{number}; v{number}=1\n"))
            .collect::<String>()
            .into_bytes(),
    );
    handle(
        (0..20_000)
            .map(|number| format!("n{number}=0; ls | while read x; do n{number}=1; done\n"))
            .collect::<String>()
            .into_bytes(),
    );
}

#[test]
fn random_bytes_are_handled() {
    let mut state = 7_u64;
    for _ in 0..400 {
        let mut source = Vec::new();
        for _ in 0..200 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let bytes = b"$(){}[]<>|&;'\"`\\ \n=!*?~#-+:abx01\0\xff\xe2\x80\x9c";
            source.push(bytes[(state >> 33) as usize % bytes.len()]);
        }
        check_and_plan(&source);
    }
}
