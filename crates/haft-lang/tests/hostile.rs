//! Hostile input: the parser handles every text in linear time on a 2 MiB stack.

use std::time::Duration;

use haft_lang::{ErrorKind, ParseOptions, parse};
use rustix::time::{ClockId, clock_gettime};

/// Runs `body` on a stack of the default thread size.
fn on_small_stack<T: Send + 'static>(body: impl FnOnce() -> T + Send + 'static) -> T {
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(body);
    thread.expect("a thread starts").join().expect("the parser does not panic")
}

/// The processor time of this thread, which does not include other processes.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Parses, compares, prints and drops `text`. Returns the processor time.
fn handle(name: &str, text: &[u8]) -> Duration {
    let text = text.to_vec();
    let name = name.to_owned();
    on_small_stack(move || {
        match parse(&text, &ParseOptions { extglob: true, ..ParseOptions::default() }) {
            Ok(program) => {
                let again = program.clone();
                assert!(program == again, "{name}: a tree equals its clone");
                assert!(!format!("{program:?}").is_empty());
            }
            Err(error) => assert!(!error.render(&name, &text).is_empty()),
        }
        processor_time()
    })
}

/// Constructs to nest: opening text, content, closing text.
const NESTED_CONSTRUCTS: &[(&str, &str, &str)] = &[
    ("(", "a", ")"),
    ("( ", "a", " )"),
    ("{ ", "a;", " }"),
    ("((", "1", "))"),
    ("$((", "1", "))"),
    ("$(( ", "1", " ))"),
    ("$(((", "1", ")))"),
    ("$((a ", "1", ") )"),
    ("echo $((a; ", "1", ") )"),
    ("$(", "a", ")"),
    ("echo $(", "a", ")"),
    ("echo \"$(", "a", ")\""),
    ("${x:-", "a", "}"),
    ("\"${x:-", "a", "}\""),
    ("${x!", "a", "}"),
    ("${#x[", "a", "]!}"),
    ("${x[", "a", "]!}"),
    ("${x[", "a", "]}"),
    ("a[", "1", "]"),
    ("a[$(", "1", ")] "),
    ("a[$(a[", "1", "] )]=1 "),
    ("[", "a", "]"),
    ("[[ ", "a", " ]]"),
    ("[[ ( ", "a", " ) ]]"),
    ("( ", "a", " )"),
    ("! ", "a", ""),
    ("[[ ! ", "a", " ]]"),
    ("{", "a,b", "}"),
    ("{a,", "b", "}"),
    ("@(", "a", ")"),
    ("echo @(a|", "b", ")"),
    ("<(", "a", ")"),
    ("cat <(cat ", "a", ")"),
    ("if ", "a", "; then b; fi"),
    ("if a; then ", "b", "; fi"),
    ("while ", "a", "; do b; done"),
    ("for x in a; do ", "b", "; done"),
    ("case a in b) ", "c", ";; esac"),
    ("f() ", "{ a; }", ""),
    ("function f ", "{ a; }", ""),
    ("f() { ", "a", "; }"),
    ("coproc ", "a", ""),
    ("time ", "a", ""),
    ("a=(", "b", ")"),
    ("a=($(a=(", "b", ")))"),
    ("declare a={$(declare a={", "b", "})}"),
    ("eval a=($(eval a=(", "b", ")))"),
    ("coproc $(coproc ", "b", ")"),
    ("$[", "1", "]"),
    ("((1?", "1", ":1))"),
    ("((", "1", "))+"),
    ("`", "a", "`"),
    ("a && ", "b", ""),
    ("a | ", "b", ""),
    ("a=", "b", ""),
    ("a ", "b", ""),
    ("'", "b", "'"),
    ("\"", "b", "\""),
    ("$'", "b", "'"),
    ("\\", "b", ""),
    ("\\\n", "b", ""),
    ("cat <<E\n$(", "a", "\nE\n)"),
    ("cat <<E\n", "a", "\nE\n"),
    ("$(cat <<E\n", "a", "\nE\n)"),
    ("x a=[", "1", "]"),
    ("x a={\"a\":", "1", "}"),
    ("x a=[\"$(x a=[\"", "1", "\"])\"]"),
    ("[a", "b", "$x]"),
    ("[[[[[[[[$x", "b", ""),
    ("~", "a", ""),
    ("{1..1000000000}", "a", ""),
    ("\0", "a", ""),
    ("#", "a", ""),
    ("#a\n", "a", ""),
    ("\n", "a", ""),
    (";", "a", ""),
    ("$", "a", ""),
    ("${", "a", "}"),
    ("<<", "a", ""),
    ("<<E ", "a", "\nE"),
    ("<", "a", ""),
    ("(( a[", "1", "] ))"),
    ("((a[", "1", "]"),
    ("((-", "1", "))"),
    ("1+", "1", ""),
];

#[test]
fn nested_constructs_are_handled_open_and_closed() {
    for (open, inside, close) in NESTED_CONSTRUCTS {
        for depth in [100, 10_000] {
            let opened = open.repeat(depth);
            let closed = format!("{opened}{inside}{}", close.repeat(depth));
            for text in [opened.as_bytes(), closed.as_bytes()] {
                let took = handle(open, text);
                assert!(took < Duration::from_secs(2), "{open:?} {depth} times took {took:?}");
            }
        }
    }
}

#[test]
fn parsing_time_is_linear_in_the_length() {
    for (open, inside, close) in NESTED_CONSTRUCTS {
        let timed = |depth: usize| {
            let text = format!("{}{inside}{}", open.repeat(depth), close.repeat(depth));
            let runs = (0..2).map(|_| handle(open, text.as_bytes()));
            runs.min().unwrap_or_default()
        };
        let (short, long) = (timed(10_000), timed(40_000));
        let allowed = short * 10 + Duration::from_millis(300);
        assert!(long <= allowed, "{open:?}: {short:?} for 10000, {long:?} for 40000");
    }
}

#[test]
fn deep_nesting_has_its_own_error() {
    let text = "( ".repeat(10_000);
    let error = parse(text.as_bytes(), &ParseOptions::default()).expect_err("too deep");
    assert_eq!(error.kind, ErrorKind::TooDeep);
    assert_eq!(error.message(), "nested too deeply");
    assert!(!error.incomplete);
}

#[test]
fn long_words_and_random_bytes_are_handled() {
    let megabyte = 1 << 20;
    for byte in 0..=u8::MAX {
        let took = handle("one byte", &vec![byte; megabyte / 8]);
        assert!(took < Duration::from_secs(2), "{byte:#x} took {took:?}");
    }
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for round in 0..400 {
        let alphabet: &[u8] = match round % 4 {
            0 => b"(){}[]$\"'`\\ \n;&|<>=+-*/?!@#~%^,.:aE0",
            1 => b"$((){}\"`\\ \n",
            2 => b"<<E\n$(\")'\\ ",
            _ => b"",
        };
        let text: Vec<u8> = (0..2000)
            .map(|_| {
                let number = random();
                match alphabet.len() {
                    0 => number.to_le_bytes()[3],
                    length => alphabet[usize::try_from(number >> 20).unwrap_or(0) % length],
                }
            })
            .collect();
        let took = handle("random", &text);
        assert!(took < Duration::from_secs(1), "random bytes took {took:?}: {text:?}");
    }
}
