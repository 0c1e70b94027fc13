//! Descriptors of a child.

use std::fs::{self, File};
use std::os::fd::{AsRawFd as _, OwnedFd};

use haft_process::{Command, DescriptorSource, ErrorKind, Exit, Host, StartPermission, Task};
use haft_test_support::{ChildReport, Scratch, child};
use rustix::fs::{Mode, OFlags};

fn report(scratch: &Scratch, change: impl FnOnce(&mut Command)) -> ChildReport {
    let file = scratch.text("report");
    let mut command = Command::new(child());
    command.arguments(["report-to", &file]);
    change(&mut command);
    let (exit, _) = command.spawn(&StartPermission::all()).unwrap().wait().unwrap();
    assert_eq!(exit, Exit::Code(0));
    ChildReport::parse(fs::read(&file).unwrap())
}

/// Opens a file without close-on-exec, which every program would inherit.
fn inheritable(path: &str) -> OwnedFd {
    rustix::fs::open(path, OFlags::RDWR, Mode::empty()).unwrap()
}

#[test]
fn children_do_not_inherit_descriptors_of_the_parent() {
    let mut held = Vec::new();
    while held.last().is_none_or(|file: &OwnedFd| file.as_raw_fd() < 20) {
        held.push(inheritable("/dev/null"));
    }
    assert_eq!(report(&Scratch::new(), |_| {}).descriptor_numbers(), [0, 1, 2]);
    let outcome = Task::new({
        let mut command = Command::new(child());
        command.argument("report");
        command
    })
    .run(&Host::plain())
    .unwrap();
    let output = outcome.captured.stdout.unwrap();
    let text = output.slice(&haft_process::capture::OutputView::HeadAndTail, 1 << 20).unwrap().to_bytes();
    assert_eq!(ChildReport::parse(text).descriptor_numbers(), [0, 1, 2]);
}

#[test]
fn descriptors_can_be_permuted() {
    let scratch = Scratch::new();
    let names = ["a", "b", "c", "d"];
    let files: Vec<OwnedFd> = names.map(|name| File::create(scratch.file(name)).unwrap().into()).into();
    let numbers: Vec<i32> = files.iter().map(|file| file.as_raw_fd()).collect();
    let seen = report(&scratch, |command| {
        // Four descriptors rotate, one gets a high number, and one gets two numbers.
        for (index, from) in numbers.iter().enumerate() {
            command.descriptor(numbers[(index + 1) % 4], DescriptorSource::Inherit(*from));
        }
        command.descriptor(200, DescriptorSource::Inherit(numbers[0]));
        command.descriptor(0, DescriptorSource::Inherit(numbers[3])).close(1).close(2);
    });
    let target = |number: i32| {
        let found = seen.descriptors().into_iter().find(|(open, _)| *open == number);
        found.map(|(_, target)| target.rsplit('/').next().unwrap().to_owned())
    };
    for (index, name) in names.iter().enumerate() {
        assert_eq!(target(numbers[(index + 1) % 4]).as_deref(), Some(*name));
    }
    assert_eq!(target(200).as_deref(), Some("a"));
    assert_eq!(target(0).as_deref(), Some("d"));
    assert_eq!(seen.descriptors().len(), 6);
}

#[test]
fn stdout_and_stderr_can_be_swapped() {
    let scratch = Scratch::new();
    let [first, second] =
        ["first", "second"].map(|name| OwnedFd::from(File::create(scratch.file(name)).unwrap()));
    let mut command = Command::new(child());
    command.arguments(["interleave", "1"]);
    command.descriptor(1, DescriptorSource::from(second)).descriptor(2, DescriptorSource::from(first));
    command.spawn(&StartPermission::all()).unwrap().wait().unwrap();
    assert_eq!(fs::read(scratch.file("first")).unwrap(), b"err 0\n");
    assert_eq!(fs::read(scratch.file("second")).unwrap(), b"out 0\n");
}

#[test]
fn close_on_exec_descriptors_can_be_passed_under_their_own_number() {
    let file: OwnedFd = File::open("/dev/zero").unwrap().into();
    let number = file.as_raw_fd();
    let seen = report(&Scratch::new(), |command| {
        command.descriptor(number, DescriptorSource::Inherit(number));
    });
    assert_eq!(seen.descriptors().last().unwrap(), &(number, "/dev/zero".to_owned()));
    assert!(rustix::io::fcntl_getfd(&file).unwrap().contains(rustix::io::FdFlags::CLOEXEC));
}

#[test]
fn all_descriptors_can_be_closed() {
    let seen = report(&Scratch::new(), |command| {
        command.close(0).close(1).close(2);
    });
    assert!(seen.descriptors().is_empty());
}

#[test]
fn closed_descriptors_are_rejected_with_their_number_in_the_child() {
    let mut command = Command::new(child());
    command.arguments(["exit", "0"]).descriptor(9, DescriptorSource::Inherit(19_999));
    let error = command.spawn(&StartPermission::all()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Descriptor);
    assert!(error.to_string().contains("descriptor 9"), "{error}");
}
