//! The text commands give the same output, messages and exit statuses as GNU's programs, for random options and files.
//!
//! `HAFT_GNU_CASES=N` sets the number of cases per command, `HAFT_GNU_SEED=N` the first seed, `HAFT_GNU_COMMAND=NAME` the only
//! command, `HAFT_GNU_LOCALE=NAME` the locale.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the test runs GNU's programs, and reads its own settings"
)]

#[expect(dead_code, reason = "other tests use the rest")]
#[path = "../support/mod.rs"]
mod support;

mod awk;
mod compare;
mod files;
mod jq;
mod options;
mod random;
mod search;
mod system;
mod trees;

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use haft_commands::{GNU_GROUPS, with_gnu_commands};
use haft_kernel::{Bytes, Kernel, Session};
use random::Random;
use support::{ScriptResult, run_bytes_in, run_in};

/// Differences shown per command.
const MAX_SHOWN: usize = 6;

/// Cases per command.
const DEFAULT_CASES: u64 = 60;

/// A call of a command.
struct Case {
    arguments: Vec<String>,
    input: &'static str,
}

fn environment_number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// The versions whose messages the commands have.
const VERSIONS: [(&str, &str); 4] =
    [("cat", "coreutils) 9.1"), ("grep", "grep) 3.8"), ("sed", "sed) 4.9"), ("rev", "util-linux 2.38")];

/// Whether the machine has those versions.
fn has_versions() -> bool {
    VERSIONS.iter().all(|(program, version)| has_version(program, version))
}

fn has_version(program: &str, version: &str) -> bool {
    let output = Command::new(program).arg("--version").output();
    output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains(version))
}

/// Versions of programs that a machine may lack.
const OPTIONAL_VERSIONS: [(&str, &str); 4] =
    [("awk", "GNU Awk 5.2.1"), ("cmp", "diffutils) 3.8"), ("diff", "diffutils) 3.8"), ("jq", "jq-1.")];

/// Whether the machine has the program that a command is compared with.
fn is_comparable(name: &str) -> bool {
    OPTIONAL_VERSIONS.iter().all(|(program, version)| *program != name || has_version(program, version))
}

/// A random call of a command.
fn random_case(name: &str, random: &mut Random) -> Case {
    let case = match name {
        "awk" => Some(awk::case(random)),
        "jq" => Some(jq::case(random)),
        _ => None,
    };
    case.or_else(|| search::case(name, random))
        .or_else(|| compare::case(name, random))
        .or_else(|| system::case(name, random))
        .unwrap_or_else(|| options::case(name, random))
}

/// The locale of both.
fn locale() -> String {
    std::env::var("HAFT_GNU_LOCALE").unwrap_or_else(|_| "C".to_owned())
}

/// Whether the command leaves a call to the program where there is one.
fn steps_aside(name: &str, case: &Case, directory: &Path) -> bool {
    let commands = GNU_GROUPS.iter().flat_map(|group| group.commands);
    let command = commands.copied().find(|command| command.name() == name);
    let words: Vec<Bytes> = case.arguments.iter().map(|word| Bytes::from(files::bytes(word))).collect();
    command.is_some_and(|command| command.steps_aside(&mut session_here(directory), &words))
}

/// Runs a case with GNU's program.
fn run_program(program: &str, case: &Case, directory: &Path) -> ScriptResult {
    let input = std::fs::File::open(directory.join(case.input)).expect("an input file");
    let output = Command::new(program)
        .args(case.arguments.iter().map(|word| files::os_string(word)))
        .current_dir(directory)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("LC_ALL", locale())
        .stdin(Stdio::from(input))
        .output()
        .expect("a program of the system");
    let status = output.status;
    ScriptResult {
        status: status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)),
        stdout: support::text(&output.stdout),
        stderr: support::text(&output.stderr),
    }
}

/// A session that cannot start programs.
fn session_here(directory: &Path) -> Session {
    let kernel: Arc<Kernel> = with_gnu_commands(Kernel::builder()).external(false).build();
    let mut session = Session::new(kernel);
    session.import_environment([("PATH", "/usr/bin:/bin"), ("LC_ALL", &locale())]);
    session.set_directory(directory);
    session
}

/// Runs a case in a session that cannot start programs.
fn run_here(name: &str, case: &Case, directory: &Path) -> ScriptResult {
    let session = session_here(directory);
    let words: Vec<String> =
        case.arguments.iter().map(|word| format!("'{}'", word.replace('\'', "'\\''"))).collect();
    run_bytes_in(session, &files::bytes(&format!("{name} {} < {}", words.join(" "), case.input)))
}

#[test]
fn commands_behave_as_gnu_programs_do() {
    if !has_versions() {
        println!("skipped: the programs are of other versions than {VERSIONS:?}");
        return;
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    files::make(directory.path());
    compare::make(directory.path());
    let cases = environment_number("HAFT_GNU_CASES", DEFAULT_CASES);
    let first = environment_number("HAFT_GNU_SEED", 1);
    let mut failures = Vec::new();
    let only = std::env::var("HAFT_GNU_COMMAND").ok();
    let is_wanted = |name: &&str| only.as_deref().is_none_or(|only| only == *name);
    // `yes` never ends.
    let groups = GNU_GROUPS.iter().filter(|group| group.title != trees::FILE_GROUP);
    let commands = groups.flat_map(|group| group.commands);
    let names = commands.map(|command| command.name()).filter(|name| *name != "yes");
    for name in names.filter(is_wanted).filter(|name| is_comparable(name)) {
        for seed in first..first + cases {
            let case = random_case(name, &mut Random::new(seed, name));
            let [here, there] =
                [run_here(name, &case, directory.path()), run_program(name, &case, directory.path())];
            if here != there && !steps_aside(name, &case, directory.path()) {
                let known =
                    failures.iter().filter(|text: &&String| text.starts_with(&format!("{name} "))).count();
                if known >= MAX_SHOWN {
                    continue;
                }
                failures.push(format!(
                    "{name} {:?} < {}\nhaft: {here:?}\nGNU:  {there:?}",
                    case.arguments, case.input
                ));
            }
        }
    }
    files::reopen(directory.path());
    assert!(failures.is_empty(), "differences:\n\n{}", failures.join("\n\n"));
}

#[test]
fn a_command_steps_aside_for_the_program_if_it_does_not_know_an_option() {
    let kernel = with_gnu_commands(Kernel::builder()).build();
    let result = run_in(support::session_with(kernel), "cat --version | head -n 1");
    assert!(result.stdout.starts_with("cat (GNU coreutils)"), "{result:?}");
}
