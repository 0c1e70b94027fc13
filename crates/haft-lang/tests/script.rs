//! Scripts that are parsed before they run.

use std::sync::Arc;

use haft_lang::Bytes;
use haft_lang::{AliasTable, ParseOptions, Script, print};

/// Reads the rest of a script and prints its commands.
fn rest(reader: &mut haft_lang::ScriptReader<'_>) -> Vec<String> {
    let mut commands = Vec::new();
    while let Ok(Some(command)) = reader.next_command() {
        commands.push(String::from_utf8(print(&command)).expect("text").trim().to_owned());
    }
    commands
}

fn aliases(pairs: &[(&str, &str)]) -> Option<Arc<AliasTable>> {
    Some(Arc::new(pairs.iter().map(|(name, value)| (Bytes::from(*name), Bytes::from(*value))).collect()))
}

#[test]
fn commands_are_read_as_they_were_parsed() {
    let script = Script::parse(&b"a; b\nif c\nthen d; fi\n# end\n"[..], &ParseOptions::default());
    let mut reader = script.reader(ParseOptions::default());
    assert_eq!(reader.offset(), 0);
    assert!(reader.next_command().is_ok_and(|command| command.is_some()));
    assert_eq!(reader.offset(), 5);
    assert_eq!(rest(&mut reader).len(), 1);
    assert_eq!(reader.offset(), 21);
}

#[test]
fn changed_options_affect_the_commands_after_them() {
    let script = Script::parse(
        &b"one\ntwo @(x)\nthree\n"[..],
        &ParseOptions { extglob: true, ..ParseOptions::default() },
    );
    assert!(script.error().is_none());
    let mut reader = script.reader(ParseOptions { extglob: true, ..ParseOptions::default() });
    assert!(reader.next_command().is_ok_and(|command| command.is_some()));
    reader.options_mut().extglob = false;
    assert!(reader.next_command().is_err());
}

#[test]
fn aliases_that_a_command_defines_affect_the_commands_after_it() {
    let script = Script::parse(&b"one\ntwo\nthree\n"[..], &ParseOptions::default());
    let mut reader = script.reader(ParseOptions::default());
    assert!(reader.next_command().is_ok_and(|command| command.is_some()));
    reader.options_mut().aliases = aliases(&[("two", "echo 2"), ("three", "for x in")]);
    assert!(reader.next_command().is_ok_and(|command| command.is_some()));
    assert!(reader.next_command().is_err());
}

#[test]
fn the_commands_of_an_alias_with_several_lines_are_read_once() {
    let options = ParseOptions { aliases: aliases(&[("two", "first\nsecond")]), ..ParseOptions::default() };
    let script = Script::parse(&b"zero\ntwo\nthree @(x)\n"[..], &options);
    let mut reader = script.reader(options);
    assert!(reader.next_command().is_ok_and(|command| command.is_some()));
    assert!(reader.next_command().is_ok_and(|command| command.is_some()));
    reader.options_mut().extglob = true;
    assert_eq!(rest(&mut reader), ["second", "three @(x)"]);
}

#[test]
fn text_after_exit_need_not_be_valid() {
    let script = Script::parse(&b"echo a\nexit 0\n( ) )\n"[..], &ParseOptions::default());
    assert!(script.error().is_none());
    let mut reader = script.reader(ParseOptions::default());
    assert_eq!(rest(&mut reader), ["echo a", "exit 0"]);
}

#[test]
fn a_script_that_was_not_parsed_can_be_read() {
    let script = Script::new(&b"a\nb\n( "[..]);
    let mut reader = script.reader(ParseOptions::default());
    assert_eq!(rest(&mut reader), ["a", "b"]);
}

#[test]
fn a_line_that_cannot_close_the_open_construct_does_not_complete_a_command() {
    let scripts = [
        "f() {\n  if a; then\n    b ${c}\n  fi\n}\n",
        "{ x; (y\n) } \necho }\n}\n",
        "while read -r a\ndo case $a in\n(b) c;; d) e;;esac\ndone\n",
        "for x in a b\ndo { echo \"}\"; }\n$(echo\ndone) done\ndone\n",
        "if a\nthen b; else `if c\nthen d; fi`;fi\n",
        "{ cat <<EOF\n$(\n}\nEOF\n}\n",
        "(a\n((1 +\n2)))\n",
        "until x; do\n  y=(1\n2)\n[[ a &&\nb ]]\ndo\\\nne\n",
        "select a in b; do '\n'done; done\n",
    ];
    for script in scripts {
        let mut opened: Option<haft_lang::Opened> = None;
        let mut from = 0;
        let ends = script.match_indices('\n').map(|(at, _)| at + 1);
        for end in ends.filter(|end| !script[..*end].ends_with("\\\n")) {
            let parsed = Script::parse(script.as_bytes()[..end].to_vec(), &ParseOptions::default());
            let incomplete = parsed.error().filter(|error| error.incomplete);
            let may_end = opened.is_none_or(|opened| opened.may_end_in(&script.as_bytes()[from..end]));
            assert!(may_end || incomplete.is_some(), "{:?} after {opened:?}", &script[from..end]);
            opened = incomplete.and_then(|error| error.opened);
            from = end;
        }
        assert_eq!(opened, None, "{script:?} is complete");
    }
    let parsed = Script::parse(&b"f() {\n"[..], &ParseOptions::default());
    let opened = parsed.error().and_then(|error| error.opened).expect("an open brace");
    assert!(!opened.may_end_in(b"  echo ${a} {b,c}\n") && opened.may_end_in(b"a;}\n"));
}
