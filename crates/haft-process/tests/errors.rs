//! A program that cannot be started is an error of the right kind, never an exit status.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use haft_process::{
    Command, Environment, Error, ErrorKind, Host, Resource, ResourceLimit, Sandbox, StartPermission, Task,
};
use haft_test_support::{Scratch, child, is_root};

/// Starts a command with `spawn` and with `Task`. Both must fail with the same error.
fn start_error(command: &Command) -> Error {
    let error = command.spawn(&StartPermission::all()).expect_err("it must not start");
    let job = Task::new(command.clone()).start(&Host::plain()).expect_err("it must not start");
    assert_eq!((job.kind(), job.to_string()), (error.kind(), error.to_string()));
    error
}

fn check(command: &Command, kind: ErrorKind, code: i32, words: &str) {
    let error = start_error(command);
    assert_eq!((error.kind(), error.exit_code()), (kind, code), "{error}");
    assert!(error.to_string().contains(words), "'{words}' is missing in '{error}'");
}

fn script(scratch: &Scratch, name: &str, text: &str, mode: u32) -> String {
    fs::write(scratch.file(name), text).unwrap();
    fs::set_permissions(scratch.file(name), fs::Permissions::from_mode(mode)).unwrap();
    scratch.text(name)
}

#[test]
fn missing_programs() {
    check(&Command::new("no-such-program"), ErrorKind::NotFound, 127, "'no-such-program' not found");
    check(&Command::new("/no/such/program"), ErrorKind::NotFound, 127, "'/no/such/program' not found");
    check(&Command::new(""), ErrorKind::NotFound, 127, "empty");
    check(&Command::new("/etc/passwd/program"), ErrorKind::NotFound, 127, "/etc/passwd/program");
}

#[test]
fn the_hint_shows_the_searched_path() {
    let mut command = Command::new("no-such-program");
    command.environment(Environment::from_pairs([("PATH", "/only/here")]).unwrap());
    assert!(start_error(&command).hint().unwrap().contains("/only/here"));
}

#[test]
fn files_that_are_not_executable() {
    let scratch = Scratch::new();
    let file = script(&scratch, "file", "#!/bin/sh\n", 0o644);
    let command = Command::new(&file);
    check(&command, ErrorKind::NotExecutable, 126, "permission denied");
    assert_eq!(start_error(&command).path().unwrap(), std::path::Path::new(&file));
    check(&Command::new("/"), ErrorKind::NotExecutable, 126, "directory");
}

#[test]
fn scripts_without_an_interpreter_line() {
    let scratch = Scratch::new();
    let text = script(&scratch, "text", "echo hello\n", 0o755);
    check(&Command::new(&text), ErrorKind::ExecFormat, 126, "format");
    let empty = script(&scratch, "empty", "", 0o755);
    check(&Command::new(&empty), ErrorKind::ExecFormat, 126, "format");
}

#[test]
fn scripts_whose_interpreter_is_missing() {
    let scratch = Scratch::new();
    let file = script(&scratch, "script", "#!/no/such/interpreter\n", 0o755);
    check(&Command::new(&file), ErrorKind::InterpreterNotFound, 127, "interpreter");
}

#[test]
fn inaccessible_working_directories() {
    let scratch = Scratch::new();
    scratch.touch("file");
    let with = |directory: &str| {
        let mut command = Command::new(child());
        command.arguments(["exit", "0"]).working_directory(directory);
        command
    };
    check(&with("/no/such/directory"), ErrorKind::WorkingDirectory, 126, "'/no/such/directory'");
    check(&with(&scratch.text("file")), ErrorKind::WorkingDirectory, 126, "file");
    let mut missing = Command::new("relative/program");
    missing.working_directory("/no/such/directory");
    check(&missing, ErrorKind::WorkingDirectory, 126, "'/no/such/directory'");
}

#[test]
fn closed_descriptors() {
    let mut command = Command::new(child());
    command.argument("report").descriptor(5, haft_process::DescriptorSource::Inherit(19_998));
    check(&command, ErrorKind::Descriptor, 126, "descriptor 5");
}

#[test]
fn refused_limits() {
    if is_root() {
        // For root, only an invalid limit is refused.
        let mut command = Command::new(child());
        command.limit(ResourceLimit { resource: Resource::OpenFiles, soft: Some(20), hard: Some(10) });
        check(&command, ErrorKind::Limit, 126, "open file");
    }
    let mut command = Command::new(child());
    command.limit(ResourceLimit::fixed(Resource::OpenFiles, u64::MAX - 1));
    check(&command, ErrorKind::Limit, 126, "open file");
}

#[test]
fn descriptors_that_are_not_terminals() {
    let file = fs::File::open("/dev/null").unwrap();
    let mut command = Command::new(child());
    command.controlling_terminal(std::os::fd::AsRawFd::as_raw_fd(&file));
    let error = command.spawn(&StartPermission::all()).unwrap_err();
    assert_eq!((error.kind(), error.exit_code()), (ErrorKind::Terminal, 126));
}

#[test]
fn missing_process_groups() {
    let mut command = Command::new(child());
    command.group(haft_process::ProcessGroup::Join(1));
    let error = command.spawn(&StartPermission::all()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::System, "{error}");
    assert!(error.to_string().contains("process group"), "{error}");
}

#[test]
fn invalid_sandboxes() {
    let file: OwnedFd = fs::File::open("/dev/null").unwrap().into();
    let mut command = Command::new(child());
    command.sandbox(Sandbox { landlock: Some(Arc::new(file)), ..Sandbox::default() });
    check(&command, ErrorKind::Sandbox, 126, "sandbox");
    let mut command = Command::new(child());
    command.sandbox(Sandbox { seccomp: Some(Arc::new([[0xff; 8]])), ..Sandbox::default() });
    check(&command, ErrorKind::Sandbox, 126, "sandbox");
}

#[test]
fn nul_bytes_are_located() {
    let mut command = Command::new(child());
    command.arguments(["exit", "0\0"]);
    check(&command, ErrorKind::NulByte, 126, "argument 2");
    check(&Command::new("a\0b"), ErrorKind::NulByte, 126, "name");
    let error = Environment::from_pairs([("A", "x\0y")]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NulByte);
    assert!(error.to_string().contains("'A'"), "{error}");
    assert!(
        Environment::from_pairs([("A=B", "x")]).is_err() && Environment::from_pairs([("", "x")]).is_err()
    );
}
