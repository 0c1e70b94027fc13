//! Values of JSON words: who sees them, in which positions, and who sees words.

use std::sync::Arc;

use haft_kernel::builtins::Context;
use haft_kernel::{Backend, Bytes, Command, Flow, Kernel, Session, ToolError, TypedArgument};

/// Shows its arguments, each on a line: words as they are, values as JSON.
#[derive(Debug)]
struct Show;

fn show(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let lines: Vec<String> = context
        .typed(arguments)
        .map(|argument| match argument {
            TypedArgument::Word(word) => format!("<{word}>"),
            TypedArgument::Value { name, value, .. } => format!("{}:{value}", String::from_utf8_lossy(name)),
        })
        .collect();
    context.print(format!("{}\n", lines.join(" ")).as_bytes())
}

impl Command for Show {
    fn name(&self) -> &str {
        "show"
    }

    fn takes_values(&self, _: &mut Session, _: &[Bytes]) -> bool {
        true
    }

    fn run(&self, context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
        show(context, arguments)
    }
}

/// The same as a command that takes words.
#[derive(Debug)]
struct Plain;

impl Command for Plain {
    fn name(&self) -> &str {
        "plain"
    }

    fn run(&self, context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
        show(context, arguments)
    }
}

#[derive(Debug)]
struct Tools;

impl Backend for Tools {
    fn has_tool(&self, name: &[u8]) -> bool {
        name == b"tool"
    }

    fn call_tool(&self, context: &mut Context<'_>, words: &[Bytes]) -> Result<Flow, ToolError> {
        Ok(show(context, &words[1..]))
    }

    fn resolve_real_path(&self, path: &[u8]) -> Option<Vec<u8>> {
        Some(path.to_vec())
    }
}

fn output(script: &str) -> String {
    let builder = Kernel::builder().command(Arc::new(Show)).command(Arc::new(Plain));
    let mut session = Session::new(builder.backend(Arc::new(Tools)).build());
    session.import_environment([("PATH", "/usr/bin:/bin")]);
    let status = session.run_main(format!("got=$( {script} ); status=$?").as_bytes());
    assert_eq!(status, Ok(0), "{script}");
    session.value(b"got").unwrap_or_default().lossy().into_owned()
}

#[test]
fn a_command_that_takes_values_sees_them() {
    for (script, expected) in [
        (
            r#"show a=["-r", ".foo"] b={"k": [1, true, null]} c"#,
            r#"a:["-r",".foo"] b:{"k":[1,true,null]} <c>"#,
        ),
        (r#"x='a b"'; show a=["$x", "${#x}"]"#, r#"a:["a b\"","4"]"#),
        (r#"show a='["x"]'"#, r#"<a=["x"]>"#),
        (r#"x='["x"]'; show a=$x"#, r#"<a=["x"]>"#),
        ("show a=[1 b=2]", "<a=[1> <b=2]>"),
        (r#"n=0; show a=["$((n+=1))"]; show "$n""#, "a:[\"1\"]\n<1>"),
    ] {
        assert_eq!(output(script), expected, "{script}");
    }
}

#[test]
fn every_other_command_sees_words() {
    for (script, expected) in [
        (r#"plain a=["-r", ".foo"]"#, "<a=[-r,> <.foo]>"),
        (r#"f() { plain "$@"; }; f a=["x", "y"]"#, "<a=[x,> <y]>"),
        (r#"show() { plain "$@"; }; show a=["x"]"#, "<a=[x]>"),
        (r#"echo a=["x", 1]"#, "a=[x, 1]"),
    ] {
        assert_eq!(output(script), expected, "{script}");
    }
}

#[test]
fn values_arrive_in_every_position() {
    for script in [
        r#"command show a=["x"]"#,
        r#"command -p show a=["x"]"#,
        r#"exec show a=["x"]"#,
        r#"! show a=["x"]"#,
        r#"show a=["x"] | cat"#,
        r#"true | show a=["x"]"#,
        r#"echo "$(show a=["x"])""#,
        r#"trap 'show a=["x"]' EXIT"#,
        r#"eval 'show a=["x"]'"#,
        r#"command=show; $command a=["x"]"#,
        r#"(show a=["x"])"#,
        r#"V=1 show a=["x"]"#,
        r#"show a=["x"] < /dev/null"#,
        r#"tool a=["x"]"#,
        r#"command tool a=["x"]"#,
        r#"exec tool a=["x"]"#,
        r#"tool a=["x"] | cat"#,
    ] {
        assert_eq!(output(script), r#"a:["x"]"#, "{script}");
    }
}

#[test]
fn variables_assigned_for_a_command_are_there_while_it_runs() {
    #[derive(Debug)]
    struct Value;
    impl Command for Value {
        fn name(&self) -> &str {
            "value"
        }
        fn run(&self, context: &mut Context<'_>, _: &[Bytes]) -> Flow {
            let value = context.value(b"V").unwrap_or_default();
            context.print(&value)
        }
    }
    let mut session = Session::new(Kernel::builder().command(Arc::new(Value)).build());
    session.import_environment([("PATH", "/usr/bin:/bin")]);
    assert_eq!(session.run_main(b"V=old; [[ $(V=new value) == new && $V == old ]]"), Ok(0));
}

#[test]
fn type_shows_the_chain() {
    for (script, expected) in [
        ("type show", "show is a command of haft"),
        ("type -t show tool", "command\ntool"),
        ("command -v show", "show"),
        ("show() { :; }; type -a show | tail -n 1", "show is a command of haft"),
        ("type tool", "tool is a tool"),
    ] {
        assert_eq!(output(script), expected, "{script}");
    }
}
