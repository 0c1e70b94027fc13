//! Runs the examples.

#[path = "../examples/check.rs"]
#[expect(dead_code, reason = "the tests do not call main")]
mod check;
#[path = "../examples/parse.rs"]
#[expect(dead_code, reason = "the tests do not call main")]
mod parse;
#[path = "../examples/plan.rs"]
#[expect(dead_code, reason = "the tests do not call main")]
mod plan;

#[test]
fn parse_lists_commands() {
    let listed =
        parse::commands("script.sh", b"f() {\n  echo \"$(date)\"\n}\nf | sort\n").expect("a valid script");
    assert_eq!(listed, "2: echo \"$(date)\"\n2: date\n4: f\n4: sort\n");
    let error = parse::commands("script.sh", b"if true\n").expect_err("an incomplete script");
    assert!(error.starts_with("error: expected \"then\""), "{error}");
}

#[test]
fn check_reports_problems() {
    let (report, failed) = check::report("script.sh", b"make 2>1\n");
    assert!(
        report.starts_with("warning: \"2>1\" writes to a file named \"1\" [redirect-number]\n"),
        "{report}"
    );
    assert!(!failed);
    let (report, failed) = check::report("script.sh", b"rm -rf /\n");
    assert!(report.starts_with("error: this removes the root directory and everything in it"), "{report}");
    assert!(failed);
}

#[test]
fn plan_lists_commands_and_files() {
    let resolver = plan::SearchPath(Vec::new());
    let text = plan::describe(b"cd site && rm -r build\n", &resolver);
    let expected =
        "   1  cd site  [builtin]\n   1  rm -r build  [not found, conditional]\n\ndeletes: site/build/**\n";
    assert_eq!(text, expected);
    assert!(plan::describe(b"ls; )\n", &resolver).ends_with("syntax error: unexpected \")\"\n"));
}
