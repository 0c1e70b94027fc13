//! The parse trees of texts, in detail.

use std::sync::Arc;

use haft_lang::Bytes;
use haft_lang::ast::{
    Argument, ArithmeticForm, ArithmeticNode, AssignmentValue, BraceRange, Braces, CommandKind, Duplicate,
    Json, ParameterOperator, PartKind, RedirectDescriptor, RedirectKind, SimpleCommand, SubscriptKind, Word,
    WordFlags,
};
use haft_lang::{AliasTable, ParseOptions, Parser, Program, parse};

fn program(text: &str) -> Program {
    parse(text.as_bytes(), &ParseOptions::default())
        .unwrap_or_else(|error| panic!("{}", error.render("test", text.as_bytes())))
}

/// Parses a text that is one simple command.
fn simple(text: &str) -> SimpleCommand {
    match &program(text).body.statements[0].first.stages[0].kind {
        CommandKind::Simple(simple) => simple.clone(),
        other => panic!("not a simple command: {other:?}"),
    }
}

/// Parses a text that is one simple command, and returns its first argument.
fn argument(text: &str) -> Word {
    simple(text).arguments[1].word().expect("a word").clone()
}

fn names(program: &Program) -> Vec<String> {
    let first = |statement: &haft_lang::ast::Statement| match &statement.first.stages[0].kind {
        CommandKind::Simple(simple) => {
            String::from_utf8_lossy(simple.name().unwrap_or_default()).into_owned()
        }
        _ => String::new(),
    };
    program.body.statements.iter().map(first).collect()
}

#[test]
fn quoted_words_without_expansions_are_literal() {
    for (text, literal) in [
        ("echo plain", "plain"),
        ("echo 'a b'", "a b"),
        ("echo a\"b c\"'d'\\e", "ab cde"),
        ("echo \"\\$x \\n\"", "$x \\n"),
        ("echo $'a\\tb\\x41\\u00e9'", "a\tbA\u{e9}"),
        ("echo \"\"", ""),
        ("echo con\\\ntinued", "continued"),
        ("echo [", "["),
        ("echo {}", "{}"),
        ("echo a{b,c", "a{b,c"),
        ("echo x$", "x$"),
    ] {
        assert_eq!(argument(text).literal(), Some(literal.as_bytes()), "{text}");
    }
}

#[test]
fn flags_describe_the_expansion() {
    for (text, flags) in [
        ("echo $x", WordFlags::EXPANSION.union(WordFlags::SPLIT)),
        ("echo \"$x\"", WordFlags::EXPANSION.union(WordFlags::QUOTED)),
        ("echo \"$@\"", WordFlags::EXPANSION.union(WordFlags::QUOTED).union(WordFlags::FIELDS)),
        ("echo \"${a[@]}\"", WordFlags::EXPANSION.union(WordFlags::QUOTED).union(WordFlags::FIELDS)),
        ("echo \"$(x)\"", WordFlags::EXPANSION.union(WordFlags::QUOTED).union(WordFlags::COMMANDS)),
        ("echo *.c", WordFlags::GLOB),
        ("echo {a,b}", WordFlags::BRACES),
        ("echo ~/x", WordFlags::TILDE),
        ("echo a=b", WordFlags::ASSIGNMENT),
        ("echo 'x'", WordFlags::QUOTED),
        ("echo x", WordFlags::NONE),
    ] {
        assert_eq!(argument(text).flags, flags, "{text}");
    }
}

#[test]
fn brace_ranges_stay_ranges() {
    let range = |text: &str| match &argument(text).parts()[0].kind {
        PartKind::Braces(braces) => match **braces {
            Braces::Range(range) => range,
            Braces::List(_) => panic!("a list"),
        },
        other => panic!("no braces: {other:?}"),
    };
    let numbers = |first, last, step, width| BraceRange::Numbers { first, last, step, width };
    assert_eq!(range("echo {1..1000000000}"), numbers(1, 1_000_000_000, 1, 0));
    assert_eq!(range("echo {01..10..3}"), numbers(1, 10, 3, 2));
    assert_eq!(range("echo {-01..3}"), numbers(-1, 3, 1, 3));
    assert_eq!(range("echo {a..e}"), BraceRange::Letters { first: b'a', last: b'e', step: 1 });
}

#[test]
fn arithmetic_is_parsed_ahead_of_time_where_possible() {
    let form = |text: &str| match &argument(text).parts()[0].kind {
        PartKind::Arithmetic(arithmetic) => arithmetic.form.clone(),
        other => panic!("no arithmetic: {other:?}"),
    };
    assert!(matches!(form("echo $((i + 1))"), ArithmeticForm::Tree(_)));
    assert!(matches!(form("echo $(( a[i] + b[\"x\"] ))"), ArithmeticForm::Tree(_)));
    assert!(matches!(form("echo $(( $i * 2 ))"), ArithmeticForm::Guess(_)));
    assert!(matches!(form("echo $(( ${#a[@]} - 1 ))"), ArithmeticForm::Guess(_)));
    assert!(matches!(form("echo $(( 1$i ))"), ArithmeticForm::Text));
    assert!(matches!(form("echo $(( $a$b ))"), ArithmeticForm::Text));
    assert!(matches!(form("echo $(( 16#$x ))"), ArithmeticForm::Text));
    assert!(matches!(form("echo $(( 1 + ))"), ArithmeticForm::Text));
    assert!(matches!(form("echo $(( 08 ))"), ArithmeticForm::Text));
    let ArithmeticForm::Tree(empty) = form("echo $(( ))") else { panic!("not a tree") };
    assert_eq!(*empty.node(empty.root()), ArithmeticNode::Number(0));
}

#[test]
fn redirections_are_typed() {
    let redirects =
        program("cmd 2>&1 >&- 3<&4- {fd}<in >&file").body.statements[0].first.stages[0].redirects.clone();
    let duplicate = |number, close| Duplicate::Descriptor { number, close };
    assert_eq!(redirects[0].kind, RedirectKind::DuplicateOutput(duplicate(1, false)));
    assert_eq!(redirects[0].descriptor, RedirectDescriptor::Number(2));
    assert_eq!(redirects[1].kind, RedirectKind::DuplicateOutput(Duplicate::Close));
    assert_eq!(redirects[2].kind, RedirectKind::DuplicateInput(duplicate(4, true)));
    assert!(matches!(&redirects[3].descriptor, RedirectDescriptor::Variable { name, .. } if *name == "fd"));
    assert!(matches!(redirects[4].kind, RedirectKind::DuplicateOutput(Duplicate::Word(_))));
}

#[test]
fn here_documents_have_bodies() {
    let text = "cat <<A <<'B' <<-C\n$x\nA\n$y\nB\n\tz\n\tC\n";
    let redirects = program(text).body.statements[0].first.stages[0].redirects.clone();
    let bodies: Vec<_> = redirects
        .iter()
        .map(|redirect| match &redirect.kind {
            RedirectKind::HereDocument(document) => document.body().literal().map(<[u8]>::to_vec),
            other => panic!("not a here-document: {other:?}"),
        })
        .collect();
    assert_eq!(bodies, [None, Some(b"$y\n".to_vec()), Some(b"z\n".to_vec())]);
}

#[test]
fn an_unterminated_here_document_is_a_warning() {
    let program = program("cat <<E\nbody");
    assert_eq!(program.warnings.len(), 1);
    let RedirectKind::HereDocument(document) = &program.body.statements[0].first.stages[0].redirects[0].kind
    else {
        panic!("not a here-document");
    };
    assert_eq!(document.body().literal(), Some(b"body\n".as_slice()));
    assert!(!document.terminated());
}

#[test]
fn json_words_have_a_value_and_bash_words() {
    let command = simple("spawn argv=[\"-r\", \".foo\"] env={\"A\": \"$HOME\", \"B\": 1}");
    let Argument::Json(argv) = &command.arguments[1] else { panic!("not JSON") };
    assert_eq!(argv.name, "argv");
    assert_eq!(
        argv.value,
        Json::Array(vec![Json::String(Bytes::from("-r")), Json::String(Bytes::from(".foo"))].into())
    );
    let words: Vec<_> = argv.words.iter().map(haft_lang::print_word).collect();
    assert_eq!(words, [b"argv=[\"-r\",".to_vec(), b"\".foo\"]".to_vec()]);
    let Argument::Json(env) = &command.arguments[2] else { panic!("not JSON") };
    let Json::Object(members) = &env.value else { panic!("not an object") };
    assert!(matches!(&members[0].1, Json::Template(_)));
    assert_eq!(members[1].1, Json::Number(Bytes::from("1")));
}

#[test]
fn invalid_json_is_parsed_as_words() {
    for text in ["x a=[1", "x a=[b]", "x a=[1,]", "x a={1}", "x a=[1]b", "x a={a,b}", "x a=[\"\\q\"]"] {
        assert!(simple(text).arguments.iter().all(|argument| argument.word().is_some()), "{text}");
    }
    assert_eq!(simple("a=[1] b").assignments.len(), 1);
}

#[test]
fn blanks_between_brackets_belong_to_the_command_name() {
    let program = parse(b"x=1 a[1 2]3 b[4 5]", &ParseOptions::default()).expect("a command");
    let CommandKind::Simple(simple) = &program.body.statements[0].first.stages[0].kind else { panic!() };
    let words: Vec<_> = simple.arguments.iter().filter_map(|argument| argument.word()?.plain()).collect();
    assert_eq!(words, [&b"a[1 2]3"[..], b"b[4", b"5]"]);
}

#[test]
fn declaration_builtins_take_assignments() {
    let command = simple("declare -a x=(1 [2]=3) y=$z");
    let Argument::Assignment(array) = &command.arguments[2] else { panic!("not an assignment") };
    let AssignmentValue::Array(elements) = &array.value else { panic!("not an array") };
    let Some(SubscriptKind::Element { key, .. }) =
        elements[1].subscript.as_deref().map(|subscript| &subscript.kind)
    else {
        panic!("no subscript");
    };
    assert_eq!(key.literal(), Some(b"2".as_slice()));
    assert!(matches!(&command.arguments[3], Argument::Assignment(_)));
    assert!(
        matches!(&simple("declare x={1,2}").arguments[1], Argument::Word(word) if word.flags.contains(WordFlags::BRACES))
    );
}

#[test]
fn a_bad_substitution_is_not_a_syntax_error() {
    let PartKind::Parameter(expansion) = argument("echo ${x!y}").parts()[0].kind.clone() else {
        panic!("no parameter");
    };
    assert_eq!(expansion.operator, ParameterOperator::Invalid { text: Bytes::from("x!y") });
}

#[test]
fn invalid_text_in_backquotes_is_not_a_syntax_error() {
    let PartKind::Command(substitution) = argument("echo `)`").parts()[0].kind.clone() else {
        panic!("no substitution");
    };
    assert!(substitution.error.is_some());
}

#[test]
fn commands_have_line_numbers() {
    let program = program("a\n\nb \\\n c\n'x\ny'\nd");
    let lines: Vec<u32> =
        program.body.statements.iter().map(|statement| statement.first.stages[0].line).collect();
    // The line of a command is that of the end of its first argument.
    assert_eq!(lines, [1, 4, 5, 7]);
}

#[test]
fn spans_cover_their_text() {
    let text = "echo \"a $(b 'c d')\" >out";
    let program = program(text);
    let command = &program.body.statements[0].first.stages[0];
    assert_eq!(command.span.of(text.as_bytes()), text.as_bytes());
    assert_eq!(command.redirects[0].span.of(text.as_bytes()), b">out");
    let word = argument(text);
    assert_eq!(word.span.of(text.as_bytes()), b"\"a $(b 'c d')\"");
}

#[test]
fn nul_bytes_are_dropped_with_a_warning() {
    let program = parse(b"ec\0ho a\0b", &ParseOptions::default()).expect("a program");
    assert_eq!(names(&program), ["echo"]);
    assert_eq!(program.warnings.len(), 1);
}

#[test]
fn the_parser_returns_one_complete_command_at_a_time() {
    let mut parser = Parser::new(b"a; b\nif c\nthen d; fi\ncat <<E\nbody\nE\ne)\n", ParseOptions::default());
    let mut next = || parser.next_complete_command();
    assert_eq!(names(&next().expect("right").expect("some")), ["a", "b"]);
    assert_eq!(next().expect("right").expect("some").body.statements.len(), 1);
    assert_eq!(names(&next().expect("right").expect("some")), ["cat"]);
    assert!(next().is_err());
    assert!(next().expect("the end").is_none());
}

#[test]
fn options_affect_later_commands() {
    let mut parser = Parser::new(b"a\necho @(x|y)\n", ParseOptions::default());
    assert!(parser.next_complete_command().is_ok());
    parser.options_mut().extglob = true;
    assert!(parser.next_complete_command().is_ok());
    assert!(parse(b"echo @(x|y)", &ParseOptions::default()).is_err());
}

/// Parses a text with aliases.
fn with_aliases(aliases: &[(&str, &str)], text: &str) -> Program {
    let aliases: AliasTable =
        aliases.iter().map(|(name, value)| (Bytes::from(*name), Bytes::from(*value))).collect();
    let aliases = Some(Arc::new(aliases));
    parse(text.as_bytes(), &ParseOptions { aliases, ..ParseOptions::default() }).expect("a program")
}

#[test]
fn aliases_are_expanded_as_in_scripts() {
    let aliases = [
        ("a", "echo x "),
        ("b", "foo bar"),
        ("w", "while"),
        ("two", "one\nsecond"),
        ("self", "self y"),
        ("outer", "a"),
        ("quote", "echo \""),
    ];
    for (text, meant) in [
        ("a b", "echo x foo bar"),
        ("a b b", "echo x foo bar b"),
        ("\\a b", "\\a b"),
        ("'a' b", "'a' b"),
        ("x; a b", "x; echo x foo bar"),
        ("w false; do b; done", "while false; do foo bar; done"),
        ("two z", "one\nsecond z"),
        ("self", "self y"),
        ("outer b", "echo x b"),
        ("quote a b\"", "echo \" a b\""),
        ("v=1 b", "v=1 foo bar"),
        ("x | b && b", "x | foo bar && foo bar"),
        ("echo b", "echo b"),
    ] {
        assert_eq!(with_aliases(&aliases, text), program(meant), "{text}");
    }
    assert_eq!(with_aliases(&aliases, &"b;".repeat(5000)), program(&"foo bar;".repeat(5000)));

    // A substitution remembers that an alias was expanded in it, because a function reads it again when it runs.
    let substitution = format!("{:?}", with_aliases(&aliases, "echo $(b)"));
    for part in ["aliased: true", "Plain(\"foo\")", "Plain(\"bar\")"] {
        assert!(substitution.contains(part), "{part}: {substitution}");
    }
}

#[test]
fn extended_globs_are_parsed_if_enabled() {
    let options = ParseOptions { extglob: true, ..ParseOptions::default() };
    for text in [
        "echo !(a|b) @(a b) *(a;b) +(a|@(b|c)) ?(x)",
        "case x in @(a|b)) ;; !(x)) ;; (?(c)) ;; esac",
        "x=@(a|b) y=!(a)",
        "!(a)",
        "a+=(b)",
        "rm -- !(keep|\"a b\"|$x|$(y)|'c)')",
        "[[ @(a) == b && -f @(a) ]]",
        "echo @(a|b\nc) @()",
        "echo {@(a|b),c} @({a,b}|c)",
        "declare x=@(a|b)",
    ] {
        let program = parse(text.as_bytes(), &options);
        let program = program.unwrap_or_else(|error| panic!("{}", error.render("test", text.as_bytes())));
        let printed = haft_lang::print(&program);
        assert!(parse(&printed, &options).is_ok_and(|again| again == program), "{text}");
    }
    assert!(parse(b"echo @(a", &options).is_err_and(|error| error.incomplete));
}
