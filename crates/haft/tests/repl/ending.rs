//! The end of an interactive shell.

use std::time::Duration;

use haft_process::Exit;
use haft_test_support::{Marker, child, eventually};

use crate::shell::{Home, Shell};

const SOON: Duration = Duration::from_secs(30);

/// A shell with a foreground and a background program.
fn busy(home: &Home, foreground: &Marker, background: &Marker) -> Shell {
    let shell = home.shell();
    shell.enter(&format!("{} sleep {} &", child(), background.as_str())).see("[1] ");
    shell.enter(&format!("{} sleep {}", child(), foreground.as_str()));
    assert!(eventually(SOON, || foreground.count() == 1 && background.count() == 1));
    shell
}

#[test]
fn a_killed_shell_leaves_nothing_in_the_foreground() {
    let (home, foreground, background) = (Home::new(), Marker::new(), Marker::new());
    let shell = busy(&home, &foreground, &background);
    shell.signal(9);
    assert!(eventually(SOON, || foreground.count() == 0));
}

#[test]
fn a_hangup_ends_everything() {
    let (home, foreground, background) = (Home::new(), Marker::new(), Marker::new());
    let shell = busy(&home, &foreground, &background);
    shell.signal(1);
    assert_eq!(shell.finish().exit, Exit::Code(129));
    assert!(eventually(SOON, || foreground.count() + background.count() == 0));
    let history = std::fs::read_to_string(home.scratch.file(".local/state/haft/history")).unwrap();
    assert!(history.contains(foreground.as_str()), "what was entered is kept: {history}");
}

#[test]
fn exit_leaves_background_programs_running() {
    let (home, marker) = (Home::new(), Marker::new());
    let shell = home.shell();
    shell.enter("trap 'echo good bye' EXIT");
    shell.enter(&format!("{} sleep {} >/dev/null 2>&1 &", child(), marker.as_str())).see("[1] ");
    assert!(eventually(SOON, || marker.count() == 1));
    shell.enter("exit 4").see("good bye");
    assert!(eventually(SOON, || shell.screen().contains("good bye")));
    assert_eq!(marker.count(), 1);
}

#[test]
fn terminating_signals_do_not_end_the_shell() {
    let home = Home::new();
    let shell = home.shell();
    shell.prompt();
    for signal in [3, 15, 20, 2] {
        shell.signal(signal);
    }
    // The last signal discards the line and prompts again, so wait for the prompt first.
    assert!(eventually(SOON, || shell.screen().matches('%').count() == 2));
    shell.enter("echo alive").see("\nalive");
}
