use serde_json::json;

use super::*;

const DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "sample",
    summary: "Shows all kinds.",
    style: ArgumentStyle::Typed,
    parameters: &[
        CommandParameter::new("text", ParameterKind::Text, "Text.").required(),
        CommandParameter::new("flag", ParameterKind::Flag, "A flag.").letter('f'),
        CommandParameter::new("count", ParameterKind::Integer(1), "A number.").letter('n'),
        CommandParameter::new("list", ParameterKind::List, "Strings."),
        CommandParameter::new("object", ParameterKind::Object, "Strings by name."),
        CommandParameter::new("time", ParameterKind::Duration, "A time."),
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
    CommandArguments::parse(&DESCRIPTOR, words.iter().map(Argument::Word))
}

#[test]
fn the_ways_to_write_a_value_are_the_same() {
    for words in [
        &["text=a", "count=2"] as &[_],
        &["--text", "a", "--count=2"],
        &["--text=a", "-n", "2"],
        &["text=a", "-n2"],
    ] {
        let parsed = parse(words).expect("it is right");
        assert_eq!(parsed.text("text"), Some(&"a".into()), "{words:?}");
        assert_eq!(parsed.number("count"), Some(2), "{words:?}");
    }
}

#[test]
fn values_have_the_kind_of_their_parameter() {
    let parsed =
        parse(&["text=a=b", "-f", "time=1.5m", "signal=SIGKILL", "halt=now,fail=3", "object={\"a\":1}"]);
    let parsed = parsed.expect("it is right");
    assert_eq!(parsed.text("text"), Some(&"a=b".into()));
    assert!(parsed.flag("flag"));
    assert_eq!(parsed.duration("time"), Some(Duration::from_secs(90)));
    assert_eq!(parsed.number("signal"), Some(9));
    assert_eq!(parsed.get("halt"), Some(&ArgumentValue::Halt(Some((3, true)))));
    assert_eq!(parsed.object("object"), [("a".to_owned(), "1".to_owned())]);
}

#[test]
fn text_that_looks_like_a_list_is_one_string_and_a_json_word_is_a_list() {
    let parsed = parse(&["text=a", "list=[\"x\"]", "list=y"]).expect("it is right");
    assert_eq!(parsed.list("list"), ["[\"x\"]".into(), Bytes::from("y")]);
    let (text, value) = (Bytes::from("text=a"), json!(["x", 1]));
    let arguments = [Argument::Word(&text), Argument::Value { name: b"list", value: &value }];
    let parsed = CommandArguments::parse(&DESCRIPTOR, arguments).expect("it is right");
    assert_eq!(parsed.list("list"), [Bytes::from("x"), "1".into()]);
}

#[test]
fn what_is_wrong_is_said() {
    for (words, message, hint) in [
        (&["txet=a"] as &[_], "unknown parameter 'txet'", "did you mean 'text'?"),
        (&["--conut", "1"], "unknown parameter 'conut'", "did you mean 'count'?"),
        (&["zzz=1"], "unknown parameter 'zzz'", "'help sample' shows its parameters"),
        (&["-z"], "unknown option '-z'", ""),
        (&[], "'text' is missing", "write 'sample text=TEXT …'"),
        (&["text=a", "count=0"], "'count' is a whole number, at least 1, not '0'", ""),
        (&["text=a", "count=x"], "'count' is a whole number, at least 1, not 'x'", ""),
        (&["text=a", "--count"], "'count' needs a value", ""),
        (&["text=a", "time=5x"], "'time' is a time such as 5, 0.5s, 2m or 1h, not '5x'", ""),
        (&["text=a", "signal=NOPE"], "'signal' is a signal, not 'NOPE'", ""),
        (&["text=a", "name=1x"], "'name' is the name of a variable, not '1x'", ""),
        (
            &["text=a", "halt=later"],
            "'halt' is 'never', 'soon' or 'now', perhaps with ',fail=N', not 'later'",
            "",
        ),
        (&["text=a", "flag=maybe"], "'flag' is true or false, not 'maybe'", ""),
        (
            &["stray"],
            "'stray' belongs to no parameter",
            "arguments are written 'key=value'; 'help sample' shows them",
        ),
        (&["text=a", "object=[1]"], "'object' is an object, not '[1]'", ""),
    ] {
        let error = parse(words).expect_err("it is wrong");
        assert_eq!((error.to_string().as_str(), error.advice().unwrap_or("")), (message, hint), "{words:?}");
    }
    let error = parse(&["text=a", "object={x"]).expect_err("it is wrong");
    assert!(error.to_string().starts_with("'object' is not JSON: "), "{error}");
}
