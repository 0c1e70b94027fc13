//! With `--no-external` no program starts, whatever a script does. Programs that start leave a trace in a file.

use haft_test_support::{Haft, Scratch};

const REASON: &str = "external commands are switched off by '--no-external'";

/// A directory with a program, a tool and a configured server; each writes to `trace` when it starts.
fn place() -> Scratch {
    let scratch = Scratch::new();
    let trace = scratch.text("trace");
    let program = |name: &str, body: &str| {
        use std::os::unix::fs::PermissionsExt as _;
        let path = scratch.file(name);
        std::fs::create_dir_all(path.parent().expect("it is in a directory")).unwrap();
        std::fs::write(&path, format!("{body}\necho {name} >> '{trace}'\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    program("program", "#!/bin/sh");
    program("plain-script", "");
    program("haft/tools/noisy-tool", "#!/bin/sh");
    let server = format!("[[mcp]]\nname = 'server'\ncommand = ['{}']\n", scratch.text("program"));
    std::fs::write(scratch.file("haft/config.toml"), server).unwrap();
    scratch
}

/// Ways to start a program from a script; the message contains the program's name.
const WAYS: &[(&str, &str)] = &[
    ("./program", "./program"),
    ("./plain-script", "./plain-script"),
    ("./program & wait $!", "./program"),
    ("./program | ./program", "./program"),
    ("(./program)", "./program"),
    ("x=$(./program)", "./program"),
    ("read -r x < <(./program); wait $!", "./program"),
    ("coproc ./program; wait $COPROC_PID", "./program"),
    ("command ./program", "./program"),
    ("command -p ls", "ls"),
    ("exec ./program", "./program"),
    ("exec -a other ./program", "other"),
    ("exec -c ./program", "./program"),
    ("hash -p ./program p; p", "p"),
    ("eval ./program", "./program"),
    ("trap ./program EXIT; exit 126", "./program"),
    ("spawn command=./program", "./program"),
    ("timeout 5 ./program", "./program"),
    ("env A=b ./program", "./program"),
    ("echo x | xargs ./program", "./program"),
    ("PATH=$PWD; program", "program"),
    ("jobs -x ./program", "./program"),
    ("tool process_start argv=[\"./program\"]", "./program"),
    ("tool process_start command=./program", "/proc/self/exe"),
    ("tool noisy", "noisy-tool"),
    ("noisy", "noisy"),
    ("tool server.any", "program"),
];

#[test]
fn no_program_starts_whatever_a_script_does() {
    let scratch = place();
    for (script, name) in WAYS {
        let haft = Haft::new(env!("CARGO_BIN_EXE_haft")).env("XDG_CONFIG_HOME", scratch.path());
        let haft = haft.temporary(scratch.path()).directory(scratch.path());
        let run = haft.args(["run", "--no-external", "-c", script]).run();
        let said = run.error_text();
        assert_eq!(run.code(), Some(126), "{script}\n{said}");
        assert!(said.contains(REASON) && said.contains(name), "{script}\n{said}");
        assert!(!scratch.file("trace").exists(), "{script} started a program");
    }
}

#[test]
fn a_tool_that_runs_scripts_starts_no_program() {
    let scratch = place();
    let haft = Haft::new(env!("CARGO_BIN_EXE_haft")).temporary(scratch.path()).directory(scratch.path());
    let script = "tool bash command='./program; echo $?'";
    let run = haft.args(["run", "--no-external", "-c", script]).run();
    assert!(run.output_text().contains(REASON), "{}", run.output_text());
    assert!(!scratch.file("trace").exists());
}
