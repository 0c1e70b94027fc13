//! GNU's commands that run in-process instead of programs.

use haft_test_support::{Haft, Scratch};
use serde_json::Value;

/// Whether the system has the programs whose place the commands take.
fn has_programs() -> bool {
    let usual = std::fs::symlink_metadata("/usr/bin/cat").is_ok_and(|metadata| metadata.is_file());
    if !usual {
        println!("skipped: /usr/bin/cat is not a program of its own");
    }
    usual
}

fn haft(scratch: &Scratch) -> Haft {
    Haft::new(env!("CARGO_BIN_EXE_haft"))
        .env("PATH", "/usr/bin:/bin")
        .env("LC_ALL", "C")
        .env("HOME", scratch.text("."))
        .env("XDG_CONFIG_HOME", scratch.text("."))
}

/// The kinds of the stages of a script.
fn kinds(scratch: &Scratch, script: &str) -> Vec<String> {
    let outcome = haft(scratch).args(["run", "--json", "-c", script]).run().json();
    let stages = outcome["stages"].as_array().cloned().unwrap_or_default();
    stages.iter().map(|stage| stage["kind"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn text_commands_start_no_process() {
    if !has_programs() {
        return;
    }
    let scratch = Scratch::new();
    for script in [
        "seq 3 | sort -r | wc -l",
        "LC_ALL=C sort < /etc/passwd",
        "cat /etc/passwd > copy",
        "trap 'echo end' EXIT; cat /etc/passwd",
    ] {
        let found = kinds(&scratch, &format!("cd {}; {script}", scratch.text(".")));
        assert!(
            found.iter().all(|kind| matches!(kind.as_str(), "command" | "builtin")),
            "{script}: {found:?}"
        );
        assert!(found.iter().any(|kind| kind == "command"), "{script}: {found:?}");
    }
}

/// Scripts whose `sort` must be the program.
const PROGRAMS: &[&str] = &[
    "sort --no-such-option < /dev/null",
    "sort --version",
    "/usr/bin/sort /etc/passwd",
    "enable -n sort; sort /etc/passwd",
    "HAFT_COMMANDS=host; sort /etc/passwd",
    "export LD_PRELOAD=; sort /etc/passwd",
    "export POSIXLY_CORRECT=1; sort /etc/passwd",
    "LC_ALL=de_DE.UTF-8 sort /etc/passwd",
    "LC_ALL=de_DE.UTF-8; sort /etc/passwd",
    "TMPDIR=/ sort /etc/passwd",
    "trap 'echo end' TERM; sort /etc/passwd",
    "ulimit -f 1000; sort /etc/passwd",
    "sort /dev/null",
    "sort /proc/self/status",
    "cd /proc/self; sort status",
    "set -x; sort /etc/passwd",
    "sort /etc/passwd >&-",
    "ln -s /usr/bin/sort .; PATH=.:$PATH; sort /etc/passwd",
];

#[test]
fn the_program_runs_where_a_script_could_observe_the_difference() {
    if !has_programs() {
        return;
    }
    for script in PROGRAMS {
        let scratch = Scratch::new();
        let outcome = haft(&scratch)
            .args(["run", "--json", "-c", &format!("cd {}; {script}", scratch.text("."))])
            .run()
            .json();
        let stages = outcome["stages"].as_array().cloned().unwrap_or_default();
        let is_sort = |stage: &&Value| stage["argv"][0].as_str().is_some_and(|name| name.ends_with("sort"));
        let kind = stages.iter().find(is_sort).map(|stage| stage["kind"].clone());
        assert_eq!(kind, Some("external".into()), "{script}: {outcome}");
    }
}

#[test]
fn the_configuration_can_choose_the_program() {
    if !has_programs() {
        return;
    }
    let scratch = Scratch::new();
    std::fs::create_dir_all(scratch.file("haft")).expect("a directory");
    std::fs::write(scratch.file("haft/config.toml"), "[commands]\nhost = ['sort']\n").expect("a file");
    assert_eq!(kinds(&scratch, "sort /etc/passwd | wc -l"), ["external", "command"]);
}

#[test]
fn type_and_enable_know_the_commands_unless_haft_is_another_shell() {
    if !has_programs() {
        return;
    }
    let scratch = Scratch::new();
    haft(&scratch)
        .args(["-c", "type -a cat; type cat; enable -n cat; type -a cat; command -v cat"])
        .run()
        .status(0)
        .stdout(
            "cat is a command of haft\ncat is /usr/bin/cat\ncat is /bin/cat\ncat is /usr/bin/cat\n\
             cat is /usr/bin/cat\ncat is /bin/cat\n/usr/bin/cat\n",
        );
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_haft"), scratch.file("bash")).expect("a link");
    Haft::new(scratch.text("bash"))
        .env("PATH", "/usr/bin:/bin")
        .args(["-c", "type -a cat; enable -n cat; PATH=/nonexistent; cat"])
        .run()
        .status(127)
        .stdout("cat is /usr/bin/cat\ncat is /bin/cat\n")
        .stderr_has("enable: cat: not a shell builtin");
}
