use serde_json::json;

use super::*;
use crate::descriptor::{ArgumentStyle, CommandParameter, ParameterKind};

const DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "sample",
    summary: "A command with a parameter of each type.",
    style: ArgumentStyle::Typed,
    parameters: &[
        CommandParameter::new("text", ParameterKind::Text, "Text.").required(),
        CommandParameter::new("flag", ParameterKind::Flag, "A flag.").letter('f'),
        CommandParameter::new("count", ParameterKind::Integer(1), "An integer.").letter('n'),
        CommandParameter::new("list", ParameterKind::List, "Strings."),
        CommandParameter::new("object", ParameterKind::Object, "Strings by name."),
        CommandParameter::new("time", ParameterKind::Duration, "A duration."),
        CommandParameter::new("signal", ParameterKind::Signal, "A signal."),
        CommandParameter::new("halt", ParameterKind::Halt, "When to stop."),
        CommandParameter::new("name", ParameterKind::Name, "A name."),
    ],
    details: &[],
    statuses: &[],
    examples: &[],
};

fn parse(words: &[&str]) -> Result<CommandArguments, Error> {
    let words: Vec<Bytes> = words.iter().map(|word| Bytes::from(*word)).collect();
    CommandArguments::parse(&DESCRIPTOR, words.iter().map(TypedArgument::Word))
}

#[test]
fn every_way_to_write_a_value_is_accepted() {
    for words in [
        &["text=a", "count=2"] as &[_],
        &["--text", "a", "--count=2"],
        &["--text=a", "-n", "2"],
        &["text=a", "-n2"],
    ] {
        let parsed = parse(words).expect("valid arguments");
        assert_eq!(parsed.text("text"), Some(&"a".into()), "{words:?}");
        assert_eq!(parsed.number("count"), Some(2), "{words:?}");
    }
}

#[test]
fn values_have_the_type_of_their_parameter() {
    let parsed =
        parse(&["text=a=b", "-f", "time=1.5m", "signal=SIGKILL", "halt=now,fail=3", "object={\"a\":1}"]);
    let parsed = parsed.expect("valid arguments");
    assert_eq!(parsed.text("text"), Some(&"a=b".into()));
    assert!(parsed.flag("flag"));
    assert_eq!(parsed.duration("time"), Some(Duration::from_secs(90)));
    assert_eq!(parsed.number("signal"), Some(9));
    assert_eq!(parsed.get("halt"), Some(&ArgumentValue::Halt(Some(Halt { failures: 3, now: true }))));
    assert_eq!(parsed.object("object"), [("a".to_owned(), "1".to_owned())]);
}

#[test]
fn json_arrays_are_parsed_as_lists() {
    let parsed = parse(&["text=a", "list=[\"x\"]", "list=y"]).expect("valid arguments");
    assert_eq!(parsed.list("list"), [Bytes::from("x"), "y".into()]);
    let (text, value) = (Bytes::from("text=a"), json!(["x", 1]));
    let arguments =
        [TypedArgument::Word(&text), TypedArgument::Value { name: b"list", text: b"[]", value: &value }];
    let parsed = CommandArguments::parse(&DESCRIPTOR, arguments).expect("valid arguments");
    assert_eq!(parsed.list("list"), [Bytes::from("x"), "1".into()]);
}

#[test]
fn errors_name_the_problem_and_the_remedy() {
    for (words, message, hint) in [
        (&["txet=a"] as &[_], "unknown parameter 'txet'", "did you mean 'text'?"),
        (&["--conut", "1"], "unknown parameter 'conut'", "did you mean 'count'?"),
        (&["zzz=1"], "unknown parameter 'zzz'", "'help sample' lists the parameters"),
        (&["-z"], "unknown option '-z'", ""),
        (&[], "missing parameter 'text'", "write 'sample text=TEXT …'"),
        (&["text=a", "count=0"], "invalid value '0' for 'count': expected an integer of at least 1", ""),
        (&["text=a", "count=x"], "invalid value 'x' for 'count': expected an integer of at least 1", ""),
        (&["text=a", "--count"], "parameter 'count' requires a value", ""),
        (
            &["text=a", "time=5x"],
            "invalid value '5x' for 'time': expected a duration such as 5, 0.5s, 2m or 1h",
            "",
        ),
        (
            &["text=a", "signal=NOPE"],
            "invalid value 'NOPE' for 'signal': expected a signal name or number",
            "",
        ),
        (&["text=a", "name=1x"], "invalid value '1x' for 'name': expected a variable name", ""),
        (
            &["text=a", "halt=later"],
            "invalid value 'later' for 'halt': expected 'never', 'soon' or 'now', optionally with ',fail=N'",
            "",
        ),
        (&["text=a", "flag=maybe"], "invalid value 'maybe' for 'flag': expected true or false", ""),
        (&["stray"], "unexpected argument 'stray'", "write arguments as 'key=value'; see 'help sample'"),
        (&["text=a", "object=[1]"], "invalid value '[1]' for 'object': expected an object", ""),
    ] {
        let error = parse(words).expect_err("invalid arguments");
        assert_eq!((error.to_string().as_str(), error.advice().unwrap_or("")), (message, hint), "{words:?}");
    }
    let error = parse(&["text=a", "object={x"]).expect_err("invalid arguments");
    assert!(error.to_string().starts_with("invalid JSON for 'object': "), "{error}");
}
