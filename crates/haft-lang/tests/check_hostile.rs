//! `check` and `plan` answer on any input, on a small stack and in time that grows with its length.

use std::time::{Duration, Instant};

use haft_lang::check::check;
use haft_lang::plan::plan;
use haft_lang::{BuiltinsOnly, ParseOptions, parse_script};

fn both(source: &[u8]) -> usize {
    let options = ParseOptions::default();
    let found = check(source, &options, &BuiltinsOnly).len();
    let script = parse_script(source, &options);
    let plan = plan(&script.program, source, &BuiltinsOnly);
    found + plan.steps.len() + plan.to_string().len()
}

/// On the stack that threads have by default, with a deadline.
fn answer(source: Vec<u8>) {
    let shown = String::from_utf8_lossy(&source[..source.len().min(60)]).into_owned();
    let begun = Instant::now();
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(move || both(&source));
    assert!(thread.expect("a thread").join().is_ok(), "{shown}");
    assert!(begun.elapsed() < Duration::from_secs(20), "{shown} took {:?}", begun.elapsed());
}

#[test]
fn deep_input_is_answered() {
    for depth in [60, 150, 10_000] {
        let nested = |open: &str, close: &str| (open.repeat(depth) + "x" + &close.repeat(depth)).into_bytes();
        answer(nested("( ", " )"));
        answer(nested("{ ", "; }"));
        answer(nested("$(", ")"));
        answer(nested("echo \"$(", ")\""));
        answer(nested("if ", "; then :; fi"));
        answer(nested("echo ${a:-", "}"));
        answer(nested("! ", ""));
        answer(nested("f() { ", "; }"));
        answer(nested("(( (", ") ))"));
        answer(nested("[[ ( ", " ) ]]"));
        answer(nested("case x in x) ", ";; esac"));
        answer(nested("coproc { ", "; }"));
        answer(nested("cat <(", ")"));
    }
}

#[test]
fn long_input_is_answered() {
    let many = |piece: &str| piece.repeat(10_000).into_bytes();
    answer(many("sudo "));
    answer(many("eval "));
    answer(many("env -S "));
    answer(many("find -exec "));
    answer(many("x=1; "));
    answer(many("cd a; rm b\n"));
    answer(many("a && "));
    answer(many("ls | while read a; do b=1; done; echo $b\n"));
    answer(many("[ $a = b ]\n"));
    answer(many("set -u; echo $a$b\n"));
    answer(many("f() { f; }\n"));
    answer(many("a=$b; "));
    answer(many("alias a=b\n"));
    answer(many("echo $((a+b))\n"));
    answer(many("exit\n"));
    answer(
        (0..20_000)
            .map(|number| format!("command{number} $variable{number}; v{number}=1\n"))
            .collect::<String>()
            .into_bytes(),
    );
    answer(
        (0..20_000)
            .map(|number| format!("n{number}=0; ls | while read x; do n{number}=1; done\n"))
            .collect::<String>()
            .into_bytes(),
    );
}

#[test]
fn odd_bytes_are_answered() {
    let mut state = 7_u64;
    for _ in 0..400 {
        let mut source = Vec::new();
        for _ in 0..200 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let bytes = b"$(){}[]<>|&;'\"`\\ \n=!*?~#-+:abx01\0\xff\xe2\x80\x9c";
            source.push(bytes[(state >> 33) as usize % bytes.len()]);
        }
        let _ = both(&source);
    }
}
