//! Children whose pidfd is opened when it is needed.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::thread;
use std::time::Duration;

use haft_process::{
    Child, Command, Environment, Error, ErrorKind, Exit, Signals, StartPermission, claim_signals,
};
use haft_test_support::{Scratch, child, eventually};
use rustix::event::{PollFd, PollFlags, poll};

const SOON: Duration = Duration::from_secs(30);

fn command(arguments: &[&str]) -> Command {
    claim_signals();
    let mut command = Command::new(child());
    command.arguments(arguments.iter().copied()).pidfd_on_demand();
    command
}

fn start(arguments: &[&str]) -> Child {
    command(arguments).spawn(&StartPermission::all()).unwrap()
}

/// How many descriptors of this process are pidfds.
fn pidfds() -> usize {
    let links =
        fs::read_dir("/proc/self/fd").unwrap().flatten().filter_map(|entry| fs::read_link(entry.path()).ok());
    links.filter(|link| link.to_string_lossy().contains("pidfd")).count()
}

#[test]
fn a_child_that_is_waited_for_needs_no_pidfd() {
    let mut child = start(&["exit", "7"]);
    assert_eq!(pidfds(), 0);
    assert_eq!(child.wait().unwrap().0, Exit::Code(7));
    assert!(child.pidfd().is_none(), "it was reaped");
    assert!(child.wait().is_err());
    assert!(!child.is_stuck());
}

#[test]
fn the_pidfd_becomes_readable_when_the_child_ends() {
    let mut child = start(&["exit", "3"]);
    let pidfd = child.pidfd().expect("a child that is not reaped has a pidfd");
    poll(&mut [PollFd::new(&pidfd, PollFlags::IN)], None).unwrap();
    assert_eq!(child.try_wait().unwrap().map(|(exit, _)| exit), Some(Exit::Code(3)));
    assert_eq!(pidfds(), 0);
}

#[test]
fn the_pidfd_of_an_ended_child_can_still_be_opened() {
    let mut child = start(&["exit", "4"]);
    let state = || fs::read_to_string(format!("/proc/{}/stat", child.pid())).unwrap();
    assert!(eventually(SOON, || state().contains(") Z ")));
    assert!(child.pidfd().is_some());
    assert_eq!(child.wait().unwrap().0, Exit::Code(4));
}

#[test]
fn signals_reach_a_child_without_a_pidfd() {
    let mut child = start(&["sleep", "60"]);
    child.signal(Signals::TERM).unwrap();
    assert_eq!(child.wait().unwrap().0, Exit::Signal(Signals::TERM));
    child.signal(Signals::TERM).unwrap();
}

#[test]
fn a_dropped_child_is_killed_and_reaped() {
    let child = start(&["sleep", "60"]);
    let pid = child.pid();
    drop(child);
    assert!(!fs::exists(format!("/proc/{pid}")).unwrap());
}

#[test]
fn a_child_that_cannot_be_executed_reports_why_and_leaves_nothing() {
    let scratch = Scratch::new();
    let file = |name: &str, text: &str, mode: u32| {
        let path = scratch.text(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    };
    let cases = [
        (scratch.text("missing"), ErrorKind::NotFound),
        (file("unexecutable", "true\n", 0o644), ErrorKind::NotExecutable),
        (file("no-interpreter-line", "true\n", 0o755), ErrorKind::ExecFormat),
    ];
    claim_signals();
    for (program, kind) in cases {
        let started = Command::new(&program).pidfd_on_demand().spawn(&StartPermission::all());
        assert_eq!(started.map_err(|error| error.kind()).unwrap_err(), kind, "{program}");
    }
    let long: Vec<String> = (0..40).map(|_| "x".repeat(120_000)).collect();
    let started = command(&["exit", "0"]).arguments(&long).spawn(&StartPermission::all());
    assert_eq!(started.unwrap_err().kind(), ErrorKind::ArgumentsTooLong);
    assert!(
        rustix::process::waitid(rustix::process::WaitId::All, rustix::process::WaitIdOptions::EXITED)
            .is_err()
    );
}

#[test]
fn many_children_of_many_threads_keep_their_statuses() {
    let run = |thread: i32| -> Result<(), Error> {
        let children: Vec<_> =
            (0..50).map(|number| (number, start(&["exit", &(number + thread).to_string()]))).collect();
        for (number, mut child) in children {
            assert_eq!(child.wait()?.0, Exit::Code(number + thread));
        }
        Ok(())
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|thread| scope.spawn(move || run(thread))).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap().unwrap());
    });
    assert_eq!(pidfds(), 0);
}

#[test]
fn a_parent_with_a_gibibyte_of_memory_starts_children() {
    let memory = vec![1u8; 1 << 30];
    for number in 0..20 {
        assert_eq!(start(&["exit", &number.to_string()]).wait().unwrap().0, Exit::Code(number));
    }
    assert_eq!(memory[memory.len() / 2], 1);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "each test has a process of its own")]
fn a_child_can_stay_in_the_directory_of_its_parent_although_it_was_renamed() {
    let scratch = Scratch::new();
    let (before, after) = (scratch.text("before"), scratch.text("after"));
    fs::create_dir(&before).unwrap();
    std::env::set_current_dir(&before).unwrap();
    fs::rename(&before, &after).unwrap();
    let environment = Environment::from_pairs([("PATH", "/bin:/usr/bin")]).unwrap();
    let mut command = Command::new("sh");
    command.arguments(["-c", "pwd -P > here"]).environment(environment);
    command.working_directory(&before).same_working_directory();
    assert_eq!(command.spawn(&StartPermission::all()).unwrap().wait().unwrap().0, Exit::Code(0));
    let seen = fs::read_to_string(format!("{after}/here")).unwrap();
    assert_eq!(seen.trim_end(), fs::canonicalize(&after).unwrap().to_str().unwrap());
}
