//! The examples of all descriptors run, and help shows them.

mod support;

use haft_commands::CommandDescriptor;
use haft_kernel::Kernel;
use support::ScriptResult;

/// Whether text matches a pattern in which one `…` per line matches anything.
fn matches(text: &str, expected: &str) -> bool {
    let (mut lines, mut wanted) = (text.split('\n'), expected.split('\n'));
    loop {
        match (lines.next(), wanted.next()) {
            (None, None) => return true,
            (Some(line), Some(wanted)) if line_matches(line, wanted) => {}
            _ => return false,
        }
    }
}

fn line_matches(line: &str, wanted: &str) -> bool {
    match wanted.split_once('…') {
        None => line == wanted,
        Some((before, after)) => {
            line.starts_with(before) && line.len() >= before.len() + after.len() && line.ends_with(after)
        }
    }
}

#[test]
fn every_example_has_the_stated_output_and_status() {
    run_examples(haft_commands::DESCRIPTORS, support::run);
}

#[test]
fn every_example_of_gnus_commands_runs_isolated() {
    for group in haft_commands::GNU_GROUPS {
        run_examples(group.descriptors, |script| {
            let kernel = haft_commands::with_gnu_commands(Kernel::builder()).isolated(1 << 20).build();
            support::run_in(support::session_with(kernel), script)
        });
    }
}

fn run_examples(descriptors: &[&CommandDescriptor], run: impl Fn(&str) -> ScriptResult) {
    for descriptor in descriptors {
        assert!(!descriptor.examples.is_empty(), "'{}' has no example", descriptor.name);
        for example in descriptor.examples {
            let ran = run(example.script);
            assert!(
                ran.status == example.status && matches(&ran.stdout, example.output),
                "{}: {}\n{ran:#?}",
                descriptor.name,
                example.script
            );
        }
    }
}

#[test]
fn help_builtin_and_help_option_print_the_same_text() {
    for descriptor in haft_commands::DESCRIPTORS {
        let name = descriptor.name;
        let help = haft_commands::help(descriptor);
        assert_eq!(support::run(&format!("help {name}")).stdout, help);
        if matches!(name, "spawn" | "scatter" | "gather") {
            let ran = support::run(&format!("{name} --help"));
            assert_eq!((ran.status, ran.stdout), (0, help), "{name}");
        }
        let line = support::run(&format!("help -s {name}")).stdout;
        assert_eq!(line, format!("{name}: {}\n", haft_commands::synopsis(descriptor)));
    }
}
