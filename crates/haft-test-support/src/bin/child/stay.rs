//! Staying, going, and going only when one has to.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use crate::sys;

/// Ends by a signal.
pub(crate) fn die(signal: i32) -> i32 {
    sys::no_core_file();
    sys::send_to_self(signal);
    99
}

/// Stays until it is ended.
pub(crate) fn sleep() -> i32 {
    loop {
        std::thread::sleep(Duration::from_secs(3600));
    }
}

/// Says that it is there, and stays.
pub(crate) fn pause(ready: &str) -> i32 {
    announce(ready);
    sleep()
}

/// Stays whatever polite signals it gets.
pub(crate) fn stubborn(ready: &str) -> i32 {
    for signal in (1..=31).filter(|signal| ![sys::SIGKILL, sys::SIGSTOP, 14].contains(signal)) {
        sys::ignore(signal);
    }
    pause(ready)
}

/// When asked to end, says goodbye and ends with a status of its own.
pub(crate) fn polite(ready: &str, status: i32) -> i32 {
    sys::block([sys::SIGTERM]);
    announce(ready);
    sys::wait_signal(sys::SIGTERM);
    println!("goodbye");
    status
}

/// Ends when a file appears.
pub(crate) fn wait_for(file: &str) -> i32 {
    while !Path::new(file).exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    0
}

/// Leaves a process behind, in a session of its own, that holds standard output open. For each file that appears it
/// writes the file's name, and then it ends.
pub(crate) fn daemon(ready: &str, files: &[&str]) -> i32 {
    sys::in_fork(|| {
        sys::new_session();
        announce(ready);
        for file in files {
            wait_for(file);
            println!("{file}");
        }
        0
    });
    wait_for(ready);
    println!("started");
    0
}

/// Leaves a process behind that holds none of the standard descriptors.
pub(crate) fn bystander(ready: &str) -> i32 {
    sys::in_fork(|| {
        sys::new_session();
        (0..3).for_each(sys::close_descriptor);
        pause(ready)
    });
    wait_for(ready);
    0
}

/// Adds a line to a file: so a test knows that all are there.
pub(crate) fn announce(ready: &str) {
    let mut file = OpenOptions::new().create(true).append(true).open(ready).expect("the file can be written");
    file.write_all(b"ready\n").expect("the file can be written");
}

/// Goes on in a second thread, immune to polite signals, after the first one has ended.
pub(crate) fn headless(ready: &str) -> i32 {
    let ready = ready.to_owned();
    std::thread::spawn(move || stubborn(&ready));
    sys::end_thread()
}

/// Stays in a second thread after the first one has ended.
pub(crate) fn end_first_thread() -> i32 {
    std::thread::spawn(sleep);
    sys::end_thread()
}

/// Stays as the owner of the program's file, whom nobody else may signal, if that is set-user-ID.
pub(crate) fn as_owner(ready: &str) -> i32 {
    sys::become_effective_user();
    pause(ready)
}
