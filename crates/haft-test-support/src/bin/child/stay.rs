//! Modes that stay, end, or resist ending.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use crate::sys;

/// Kills itself with a signal.
pub(crate) fn die(signal: i32) -> i32 {
    sys::no_core_file();
    sys::send_to_self(signal);
    99
}

/// Sleeps until it is killed.
pub(crate) fn sleep() -> i32 {
    loop {
        std::thread::sleep(Duration::from_secs(3600));
    }
}

/// Announces that it is ready, and sleeps.
pub(crate) fn pause(ready: &str) -> i32 {
    announce(ready);
    sleep()
}

/// Ignores all signals that can be ignored, and sleeps.
pub(crate) fn stubborn(ready: &str) -> i32 {
    for signal in (1..=31).filter(|signal| ![sys::SIGKILL, sys::SIGSTOP, sys::SIGALRM].contains(signal)) {
        sys::ignore(signal);
    }
    pause(ready)
}

/// On `SIGTERM`, prints a message and exits with a given status.
pub(crate) fn polite(ready: &str, status: i32) -> i32 {
    sys::block([sys::SIGTERM]);
    announce(ready);
    sys::wait_signal(sys::SIGTERM);
    println!("goodbye");
    status
}

/// Waits until a file exists.
pub(crate) fn wait_for(file: &str) -> i32 {
    while !Path::new(file).exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    0
}

/// Starts a daemon in its own session that keeps standard output open. For each file, the daemon waits until it exists and
/// prints its name.
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

/// Starts a daemon that has closed the standard descriptors.
pub(crate) fn bystander(ready: &str) -> i32 {
    sys::in_fork(|| {
        sys::new_session();
        (0..3).for_each(sys::close_descriptor);
        pause(ready)
    });
    wait_for(ready);
    0
}

/// Appends a line to a file, so that the test knows that this process is ready.
pub(crate) fn announce(ready: &str) {
    let mut file = OpenOptions::new().create(true).append(true).open(ready).expect("the file can be written");
    file.write_all(b"ready\n").expect("the file can be written");
}

/// Ends its main thread. A second thread ignores signals and sleeps.
pub(crate) fn headless(ready: &str) -> i32 {
    let ready = ready.to_owned();
    std::thread::spawn(move || stubborn(&ready));
    sys::end_thread()
}

/// Ends its main thread. A second thread sleeps.
pub(crate) fn end_first_thread() -> i32 {
    std::thread::spawn(sleep);
    sys::end_thread()
}

/// Takes the identity of the file's owner, if the file is set-user-ID, so that other users cannot signal it, and sleeps.
pub(crate) fn as_owner(ready: &str) -> i32 {
    sys::become_effective_user();
    pause(ready)
}
