//! Which files a process finds open, and which not.

use std::fs::{self, File};
use std::os::fd::{AsRawFd as _, OwnedFd};

use haft_process::{Command, DescriptorSource, ErrorKind, Exit, Host, StartPermission, Task};
use haft_test_support::{Report, Scratch, child};
use rustix::fs::{Mode, OFlags};

fn report(scratch: &Scratch, change: impl FnOnce(&mut Command)) -> Report {
    let file = scratch.text("report");
    let mut command = Command::new(child());
    command.arguments(["report-to", &file]);
    change(&mut command);
    let (exit, _) = command.spawn(&StartPermission::all()).unwrap().wait().unwrap();
    assert_eq!(exit, Exit::Code(0));
    Report::parse(fs::read(&file).unwrap())
}

/// A file that every program would inherit, as it is not closed on exec.
fn inheritable(path: &str) -> OwnedFd {
    rustix::fs::open(path, OFlags::RDWR, Mode::empty()).unwrap()
}

#[test]
fn descriptors_3_to_20_are_open_here_and_not_in_the_child() {
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
    assert_eq!(Report::parse(text).descriptor_numbers(), [0, 1, 2]);
}

#[test]
fn every_number_can_be_given_and_every_permutation_made() {
    let scratch = Scratch::new();
    let names = ["a", "b", "c", "d"];
    let files: Vec<OwnedFd> = names.map(|name| File::create(scratch.file(name)).unwrap().into()).into();
    let numbers: Vec<i32> = files.iter().map(|file| file.as_raw_fd()).collect();
    let seen = report(&scratch, |command| {
        // Each of the four takes the place of the next, one goes far away, and one into two places.
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
fn standard_output_and_error_can_be_exchanged() {
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
fn a_descriptor_in_its_own_place_survives_the_exec_though_it_is_closed_on_exec_here() {
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
fn a_descriptor_that_is_not_open_is_refused_by_its_number_in_the_child() {
    let mut command = Command::new(child());
    command.arguments(["exit", "0"]).descriptor(9, DescriptorSource::Inherit(19_999));
    let error = command.spawn(&StartPermission::all()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Descriptor);
    assert!(error.to_string().contains("descriptor 9"), "{error}");
}
