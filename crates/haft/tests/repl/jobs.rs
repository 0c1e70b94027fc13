//! Ctrl-C, Ctrl-Z, and jobs.

use std::time::Duration;

use haft_test_support::{Marker, child, eventually};

use crate::shell::{Home, Shell};

const SOON: Duration = Duration::from_secs(30);

/// Presses Enter until a message appears before the prompt.
#[track_caller]
fn until_told(shell: &Shell, text: &str) {
    let told = || {
        shell.enter("").prompt();
        shell.screen().contains(text)
    };
    assert!(eventually(SOON, told), "{}", shell.screen());
}

#[test]
fn ctrl_c_interrupts_only_the_running_command() {
    let home = Home::new();
    let shell = home.shell();
    let marker = Marker::new();
    shell.enter(&format!("kept=variable; {} sleep {} &", child(), marker.as_str())).see("[1] ");
    let lines = [
        "sleep 1000; echo not reached",
        "while :; do :; done",
        "for x in 1 2 3; do sleep 1000; done",
        "while :; do :; done | sleep 1000",
        "sleep 1000 | cat | cat",
        "x=$(sleep 1000)",
        "(sleep 1000; echo not reached)",
        "f() { sleep 1000; echo not reached; }; f | cat",
        "read line",
        "echo {1..100000000}",
        "wait",
    ];
    for (number, line) in lines.into_iter().enumerate() {
        shell.run(line).press("\x03").enter(&format!("echo status-{number} $?"));
        shell.see(&format!("status-{number} 130"));
        assert!(!shell.screen().lines().any(|shown| shown == "not reached"), "{line}: {}", shell.screen());
    }
    shell.enter("echo $kept; jobs").see("variable\n[1]+  Running");
    assert_eq!(marker.count(), 1, "what is in the background goes on");
}

#[test]
fn ctrl_c_at_the_prompt_discards_the_line() {
    let home = Home::new();
    let shell = home.shell();
    shell.prompt().press("echo never\x03").see("% echo never\n%").enter("echo $?").see("\n130");
    shell.prompt().press("if true\rthen\r\x03").see("% if true\n> then\n>\n%");
}

#[test]
fn ctrl_z_stops_and_fg_and_bg_continue() {
    let home = Home::new();
    let shell = home.shell();
    shell.enter("sleep 1000");
    shell.until_in_foreground();
    shell.press("\x1a").see("[1]+  Stopped                 sleep 1000");
    shell.enter("jobs").see("% jobs\n[1]+  Stopped                 sleep 1000\n%");
    shell.enter("bg").see("[1]+ sleep 1000 &");
    shell.enter("jobs -r").see("% jobs -r\n[1]+  Running                 sleep 1000 &");
    shell.enter("fg %1").see("% fg %1\nsleep 1000");
    shell.until_in_foreground();
    shell.press("\x03").enter("jobs; echo $? none").see("\n0 none");
}

#[test]
fn a_pipeline_and_a_subshell_are_stopped_as_a_whole() {
    let home = Home::new();
    let shell = home.shell();
    shell.enter("sleep 1000 | cat");
    shell.until_in_foreground();
    shell.press("\x1a").see("[1]+  Stopped                 sleep 1000 | cat");
    shell.enter("(sleep 1000; echo no)");
    shell.until_in_foreground();
    shell.press("\x1a").see("[2]+  Stopped                 ( sleep 1000; echo no )").enter("fg %2");
    shell.until_in_foreground();
    shell.press("\x1a").shows(|screen| screen.matches("[2]+  Stopped").count() == 2);
    shell.enter("kill %1 %2").enter("wait; jobs; echo gone").see("\ngone");
}

#[test]
fn the_end_of_a_background_job_is_reported_before_the_prompt() {
    let home = Home::new();
    let shell = home.shell();
    shell.enter("(exit 3) &");
    until_told(&shell, "[1]+  Exit 3");
    let marker = Marker::new();
    shell.enter(&format!("{} sleep {} &", child(), marker.as_str())).prompt();
    assert!(eventually(SOON, || marker.count() == 1));
    shell.enter("kill %%");
    until_told(&shell, "Terminated");
    assert_eq!(marker.count(), 0);
}

#[test]
fn a_background_reader_is_stopped() {
    let home = Home::new();
    let shell = home.shell();
    shell.enter("cat &").see("[1] ");
    until_told(&shell, "Stopped                 cat");
    shell.enter("fg").see("% fg\ncat");
    shell.until_in_foreground();
    shell.press("hello\r").see("hello\nhello").press("\x04").prompt();
}

#[test]
fn builtins_in_a_pipeline_can_read_from_the_terminal() {
    let home = Home::new();
    let shell = home.shell();
    shell.enter("{ read -r x; echo \"<$x>\"; } | cat").see("cat").press("typed\r").see("<typed>").prompt();
}

#[test]
fn the_terminal_is_usable_after_a_program_died_in_raw_mode() {
    let home = Home::new();
    let shell = home.shell();
    shell
        .enter("sh -c 'stty raw -echo; kill -9 $$'")
        .see("Killed")
        .enter("stty -a | grep -ow -e -icanon -e icanon");
    shell.see("\nicanon\n");
}

#[test]
fn the_shell_keeps_the_terminal_after_a_failed_start() {
    let home = Home::new();
    home.write("data", "no program");
    let shell = home.shell();
    for line in [
        "./nope",
        "./data",
        "/tmp",
        "(./nope)",
        "f() { ./nope; }; f",
        "./nope || true",
        "./nope | cat",
        "echo x | ./nope",
    ] {
        shell.enter(line).prompt();
        shell.enter("clear").prompt();
        shell.enter("echo still $((40 + 2))").see("still 42");
        shell.enter("clear").prompt();
    }
}

#[test]
fn leaving_with_stopped_jobs_takes_two_attempts() {
    let home = Home::new();
    let shell = home.shell();
    let marker = Marker::new();
    shell.enter(&format!("{} sleep {}", child(), marker.as_str()));
    assert!(eventually(SOON, || marker.count() == 1));
    shell
        .press("\x1a")
        .see("Stopped")
        .prompt()
        .press("\x04")
        .see("stopped jobs will end with the shell")
        .prompt()
        .press("\x04");
    shell.finish();
    assert!(eventually(SOON, || marker.count() == 0), "it ends with the shell");
}

#[test]
fn ctrl_c_ends_a_whole_fan_out() {
    let home = Home::new();
    let shell = home.shell();
    for (number, stages) in ["sleep 1000", "sleep 1000 | cat", "{ sleep 1000; :; }"].into_iter().enumerate() {
        shell.enter(&format!("printf '%s\\n' 1 2 3 4 5 6 7 | scatter limit=2 | {stages} | gather --text"));
        shell.until_in_foreground();
        shell.see("0 done, 2 running").press("\x03").enter(&format!("echo status-{number} $?"));
        shell.see(&format!("status-{number} 130"));
    }
}

#[test]
fn ctrl_z_stops_the_progress_line_of_a_fan_out() {
    let home = Home::new();
    let shell = home.shell();
    shell.enter("printf '%s\\n' 1 2 3 | scatter limit=1 | sleep 1000 | gather --text");
    shell.until_in_foreground();
    shell.see("0 done, 1 running");
    shell.press("\x1a").see("[1]+  Stopped");
    shell.enter("clear").prompt();
    // Longer than the time between two updates of the line.
    shell.enter("sleep 1; echo quiet").see("\nquiet");
    assert!(!shell.screen().contains("0 done, 1 running"), "{}", shell.screen());
    shell.enter("fg").see("0 done, 1 running");
    shell.press("\x03").enter("echo status $?").see("status 130");
}
