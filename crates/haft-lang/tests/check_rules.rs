//! Every rule reports its wrong examples and does not report its right examples.

use haft_lang::check::{RULES, Severity, check};
use haft_lang::{BuiltinsOnly, ParseOptions, Resolution, Resolver, is_builtin};

/// A resolver that knows a few programs.
struct FewPrograms;

const PROGRAMS: &[&str] = &[
    "a", "awk", "cat", "chmod", "chown", "cp", "cut", "date", "egrep", "env", "expr", "find", "g", "grep",
    "head", "jq", "ls", "make", "mkdir", "mktemp", "mv", "nohup", "program", "ps", "rm", "sed", "sh", "sort",
    "sudo", "tail", "tar", "tee", "touch", "tr", "uniq", "wc", "which", "xargs", "yes",
];

impl Resolver for FewPrograms {
    fn resolve(&self, name: &[u8]) -> Resolution {
        if is_builtin(name) {
            Resolution::Builtin
        } else if PROGRAMS.iter().any(|program| program.as_bytes() == name) {
            Resolution::External("/usr/bin".into())
        } else {
            Resolution::Missing
        }
    }

    fn is_set(&self, variable: &[u8]) -> Option<bool> {
        Some(variable == b"HOME")
    }

    fn check_arguments(&self, name: &[u8], arguments: &[&[u8]]) -> Option<String> {
        let mut parameters = arguments.iter().take_while(|word| word.contains(&b'='));
        let is_known = |word: &&&[u8]| {
            let known: [&[u8]; 4] = [b"command=", b"argv=", b"timeout=5000", b"timeout=1"];
            known.iter().any(|start| word.starts_with(start) && !word.ends_with(b"s"))
        };
        (name == b"spawn").then(|| parameters.find(|word| !is_known(word))).flatten()?;
        Some("unknown parameter".to_owned())
    }

    fn check_jq(&self, program: &[u8]) -> Option<String> {
        let count = |wanted: &[u8]| program.iter().filter(|byte| wanted.contains(byte)).count();
        (count(b"([") != count(b")]") || program.ends_with(b"==")).then(|| "unbalanced".to_owned())
    }
}

fn codes(source: &str) -> Vec<&'static str> {
    check(source.as_bytes(), &ParseOptions::default(), &FewPrograms).iter().map(|found| found.code).collect()
}

#[test]
fn wrong_examples_are_reported() {
    let missed: Vec<String> = RULES
        .iter()
        .flat_map(|rule| rule.wrong.iter().map(move |example| (rule.code, example)))
        .filter(|(code, example)| !codes(example).contains(code))
        .map(|(code, example)| format!("{code}: {example:?} gives {:?}", codes(example)))
        .collect();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn right_examples_are_not_reported() {
    let alarms: Vec<String> = RULES
        .iter()
        .flat_map(|rule| rule.right.iter().map(move |example| (rule.code, example)))
        .filter(|(code, example)| codes(example).contains(code) || codes(example).contains(&"syntax"))
        .map(|(code, example)| format!("{code}: {example:?} gives {:?}", codes(example)))
        .collect();
    assert!(alarms.is_empty(), "{alarms:#?}");
}

#[test]
fn only_commands_that_are_always_reached_are_errors() {
    let worst = |source: &str| {
        check(source.as_bytes(), &ParseOptions::default(), &FewPrograms)
            .iter()
            .map(|found| found.severity)
            .max()
    };
    for source in [
        "[ -f x",
        "if [ -f x && true; then :; fi",
        "{ ( [ -f x ); }",
        "while [ -f x; do :; done",
        "echo $([ -f x)",
    ] {
        assert_eq!(worst(source), Some(Severity::Error), "{source}");
    }
    for source in [
        "true && [ -f x",
        "if true; then [ -f x; fi",
        "f() { [ -f x; }",
        "for a in b; do [ -f x; done",
        "case a in b) [ -f x;; esac",
        "exit\n[ -f x",
        "exec \"$0\" x\n[ -f x",
    ] {
        assert_eq!(worst(source), Some(Severity::Warning), "{source}");
    }
}

/// A script may contain other data after the command that ends it.
#[test]
fn text_after_exit_or_exec_is_not_checked() {
    for source in ["exec python3 \"$0\"\nif x:\n  (1)\n", "echo x; exit\nPK\x03(\x04)\n"] {
        let found = check(source.as_bytes(), &ParseOptions::default(), &BuiltinsOnly);
        assert!(found.iter().all(|found| found.severity != Severity::Error), "{source} {found:?}");
    }
}

#[test]
fn codes_are_unique_and_well_formed() {
    for (at, rule) in RULES.iter().enumerate() {
        assert!(RULES[at + 1..].iter().all(|other| other.code != rule.code), "{} occurs twice", rule.code);
        assert!(rule.code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{}", rule.code);
        assert!(!rule.wrong.is_empty() && !rule.right.is_empty(), "{} lacks examples", rule.code);
        assert!(!rule.summary.ends_with('.') && rule.explanation.ends_with('.'), "{}", rule.code);
    }
}
