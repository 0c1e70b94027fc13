//! The start of an interactive shell.

use haft_process::Exit;

use crate::shell::Home;

#[test]
fn the_prompt_shows_the_directory_and_the_failed_status() {
    let home = Home::new();
    let shell = home.start(&[], &[]);
    let asks = |screen: &str, ending: &str| screen.lines().next_back().is_some_and(|line| line == ending);
    let sign = if haft_test_support::is_root() { '#' } else { '$' };
    shell.shows(|screen| asks(screen, &format!("~ {sign}")));
    shell.press("(exit 3)\r").shows(|screen| asks(screen, &format!("~ 3{sign}")));
    shell.press("cd /\r").shows(|screen| asks(screen, &format!("/ {sign}")));
    shell.press("\x04");
    assert_eq!(shell.finish().exit, Exit::Code(0));
}

#[test]
fn the_rc_file_runs_unless_norc_is_given() {
    let home = Home::new();
    home.write(".config/haft/rc", "alias hi='echo hello from'; greet() { hi \"$1\"; }\nPS1='% '\n");
    home.write("other", "PS1='% '; hi() { echo other; }\n");
    let shell = home.start(&[], &[]);
    shell.enter("hi rc").see("hello from rc").enter("exit 5");
    assert_eq!(shell.finish().exit, Exit::Code(5));
    let shell = home.start(&["--rcfile", "other"], &[]);
    shell.enter("hi").see("\nother");
    let shell = home.start(&["--norc"], &[("PS1", "% ")]);
    shell.enter("hi").see("hi: command not found");
}

#[test]
fn a_login_shell_runs_its_profile_first() {
    let home = Home::new();
    home.write(".profile", "FROM=profile\n");
    home.write(".config/haft/rc", "PS1='% '; FROM=$FROM-rc\n");
    home.start(&["-l"], &[]).enter("echo $FROM").see("profile-rc");
    home.start(&[], &[]).enter("echo $FROM.").see("\n-rc.");
}

#[test]
fn scripts_can_test_for_an_interactive_shell() {
    let home = Home::new();
    let shell = home.shell();
    shell.enter("case $- in *i*m*) echo interactive;; esac").see("\ninteractive");
    shell.enter("echo $COLUMNS x $LINES").see("80 x 24");
}

#[test]
fn prompt_command_runs_before_every_prompt_and_keeps_the_status() {
    let home = Home::new();
    let shell = home.shell();
    shell.enter("PROMPT_COMMAND='count=$((count + 1)); false'");
    shell.enter("(exit 7)").enter("echo $? after $count").see("7 after 2");
}

#[test]
fn a_dumb_terminal_has_a_plain_prompt() {
    let home = Home::new();
    let shell = home.start(&[], &[("TERM", "dumb"), ("PS1", "% ")]);
    shell.enter("if true").see("\n>").press("then echo one\rfi\r").see("one\n%");
    shell.enter("sleep 100").until_in_foreground().press("\x03").enter("echo $?").see("130").prompt();
    shell.press("\x04");
    shell.finish();
}

#[test]
fn option_i_prompts_without_a_terminal() {
    let run = haft_test_support::Haft::new(env!("CARGO_BIN_EXE_haft"))
        .args(["-i", "--norc"])
        .env("PS1", "ask> ")
        .input("echo one\nfalse\necho $-\n")
        .run()
        .status(0);
    let text = run.output_text();
    assert!(text.starts_with("one\n") && text.contains('i'), "{run}");
}

#[test]
fn without_echo_only_prompts_and_output_are_printed() {
    let home = Home::new();
    let shell = home.start(&[], &[("PS1", "% ")]);
    shell.enter("stty -echo; echo ready").see("ready\n%");
    shell.press("echo one-$((1 + 1))\r").see("ready\n% one-2\n%");
    shell.press("exit\r");
    shell.finish();
}
