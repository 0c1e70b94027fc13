//! Replacing the process by another program.

use std::fs;
use std::os::fd::{AsRawFd as _, OwnedFd};

use haft_process::{
    Command, DescriptorSource, Disposition, Environment, ErrorKind, Signals, StartPermission, set_disposition,
};
use haft_test_support::own::{alone, elsewhere, resources};
use haft_test_support::{ChildReport, child, hold_signals};

/// Runs the test again in another process, which replaces itself by `command`. Returns its pid and report.
fn become_and_report(name: &str, command: impl FnOnce() -> Command) -> Option<(i32, ChildReport)> {
    let (pid, output) = elsewhere(name, "", |_| {
        let error = hold_signals(|| command().replace(&StartPermission::all()));
        panic!("{error}");
    })?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let start = text.find('{').unwrap_or_else(|| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)));
    Some((pid, ChildReport::parse(text[start..].trim_end())))
}

#[test]
fn the_program_keeps_the_pid_and_gets_only_what_was_passed() {
    let name = "the_program_keeps_the_pid_and_gets_only_what_was_passed";
    let become_child = || {
        let stray =
            rustix::fs::open("/dev/null", rustix::fs::OFlags::RDWR, rustix::fs::Mode::empty()).unwrap();
        let given: OwnedFd = fs::File::open("/dev/zero").unwrap().into();
        std::mem::forget(stray);
        for signal in [Signals::HUP, Signals::PIPE] {
            set_disposition(signal, Disposition::Ignore).unwrap();
        }
        let mut command = Command::new(child());
        command.arguments(["report", "and more"]).working_directory("/usr").argument_zero("another");
        command.environment(Environment::from_pairs([("ONLY", "this")]).unwrap());
        command.descriptor(30, DescriptorSource::from(given));
        command.ignore_signals(Signals::none().with(Signals::HUP));
        command
    };
    let Some((pid, seen)) = become_and_report(name, become_child) else { return };
    assert_eq!(seen.number("pid"), i64::from(pid));
    assert_eq!(seen.texts("argv"), ["another", "report", "and more"]);
    assert_eq!(seen.texts("env"), ["ONLY=this"]);
    assert_eq!(seen.directory(), std::path::Path::new("/usr"));
    assert_eq!(seen.descriptor_numbers(), [0, 1, 2, 30]);
    assert_eq!(seen.descriptors()[3].1, "/dev/zero");
    assert!(seen.numbers("blocked").is_empty(), "the program has a signal mask");
    assert_eq!(seen.numbers("ignored"), [i64::from(Signals::HUP)]);
    assert!(seen.numbers("caught").is_empty());
}

#[test]
fn failures_leave_the_process_unchanged() {
    alone("failures_leave_the_process_unchanged", || {
        let file: OwnedFd = fs::File::open("/dev/zero").unwrap().into();
        let number = file.as_raw_fd();
        set_disposition(Signals::HUP, Disposition::Ignore).unwrap();
        let before = (resources(), fs::read_link("/proc/self/cwd").unwrap(), Signals::ignored_now());
        let mut command = Command::new("/etc/passwd");
        command.working_directory("/usr").descriptor(0, DescriptorSource::Inherit(number));
        command.descriptor(number, DescriptorSource::Inherit(1)).descriptor(77, DescriptorSource::Inherit(2));
        let error = command.replace(&StartPermission::all());
        assert_eq!((error.kind(), error.exit_code()), (ErrorKind::NotExecutable, 126));
        assert_eq!((resources(), fs::read_link("/proc/self/cwd").unwrap(), Signals::ignored_now()), before);
        assert_eq!(
            fs::read_link(format!("/proc/self/fd/{number}")).unwrap(),
            std::path::Path::new("/dev/zero")
        );
        assert_eq!(fs::read_link("/proc/self/fd/0").unwrap(), std::path::Path::new("/dev/null"));
        assert!(fs::read_link("/proc/self/fd/77").is_err());
    });
}

#[test]
fn each_failure_has_its_error_kind() {
    let kind = |command: &mut Command| command.replace(&StartPermission::all()).kind();
    assert_eq!(kind(&mut Command::new("no-such-program")), ErrorKind::NotFound);
    assert_eq!(kind(&mut Command::new("/no/such/program")), ErrorKind::NotFound);
    assert_eq!(kind(&mut Command::new("/etc/passwd")), ErrorKind::NotExecutable);
    assert_eq!(kind(Command::new(child()).working_directory("/no/where")), ErrorKind::WorkingDirectory);
    assert_eq!(
        kind(Command::new(child()).descriptor(5, DescriptorSource::Inherit(19_997))),
        ErrorKind::Descriptor
    );
    assert_eq!(kind(Command::new(child()).argument("x".repeat(200 << 10))), ErrorKind::ArgumentTooLong);
    assert_eq!(kind(Command::new(child()).argument("a\0b")), ErrorKind::NulByte);
}
