//! Editing, history and completion.

use crate::shell::Home;

#[test]
fn lines_can_be_edited() {
    let home = Home::new();
    let shell = home.shell();
    // Cuts and pastes a word, moves the cursor, deletes a character.
    shell.prompt().press("one two echo\x17\x01\x19 \x05\x7fx\r").see("\none twox");
    // Ctrl-_ undoes the last word, and the cut before it.
    shell
        .prompt()
        .press("echo abc def\x1f\r")
        .see("\nabc\n%")
        .prompt()
        .press("echo kept\x15\x1f\r")
        .see("\nkept\n%");
}

#[test]
fn enter_continues_an_incomplete_entry() {
    let home = Home::new();
    let shell = home.shell();
    shell.enter("for x in a b").press("do\recho \"<$x\r").see("> echo \"<$x\n>").press(">\"\rdone\r");
    shell.see("<a\n>\n<b\n>").prompt();
    shell.press("cat <<END\r  body\rEND\r").see("\n  body\n%");
    // The history has one entry, and the arrow keys move between its lines.
    shell.prompt().press("\x1b[A").see("% cat <<END\n>   body\n> END");
}

#[test]
fn history_lasts_between_sessions() {
    let home = Home::new();
    let first = home.shell();
    first.enter("echo first").enter("echo second").enter("echo second").enter("HISTCONTROL=ignorespace");
    first.enter(" echo secret").see("\nsecret").prompt().press("\x04");
    first.finish();
    let second = home.shell();
    second
        .enter("history")
        .see("1  echo first\n    2  echo second\n    3  HISTCONTROL=ignorespace\n    4  history\n%");
    second.press("\x12fir").see("(search: fir) echo first").press("\r").see("\nfirst\n");
    second.prompt().press("\x1b[A\x1b[A\x1b[A").see("% HISTCONTROL").press("\x03").see("ignorespace\n%");
    let text = std::fs::read_to_string(home.scratch.file(".local/state/haft/history")).unwrap();
    // A line with the time precedes each entry.
    let entries: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(entries, ["echo first", "echo second", "HISTCONTROL=ignorespace", "history", "echo first"]);
    assert_eq!(text.lines().count(), 2 * entries.len());
}

#[test]
fn history_expansion_works() {
    let home = Home::new();
    let shell = home.shell();
    shell.enter("echo one two").see("\none two\n").prompt();
    shell.press("!!\r").see("% !!\necho one two\none two\n").prompt();
    shell.press("echo <!$>\r").see("\necho <two>").prompt();
    shell.press("!nothing\r").see("\nhaft: !nothing: event not found\n").prompt();
    shell.press("^one^1\r").see("substitution failed").prompt();
    shell.press("!echo:p\r").see("\necho <two>\n%");
    shell.prompt().press("echo 'a!!' \"b!\" $((1 + 1))!\r").see("\na!! b! 2!\n").prompt();
    shell.press("set +H\r").prompt().press("echo !!\r").see("\n!!\n");
}

#[test]
fn prompt_escapes_count_entries() {
    let home = Home::new();
    let shell = home.shell();
    shell.enter("echo first").enter("PS1='%[\\!:\\#] '").see("%[3:3]").press("PS0='<\\!>'\r").see("%[4:4]");
    shell.press("echo x\r").see("\n<4>x\n%[5:5]").press("\r").see("%[5:5]");
}

#[test]
fn the_prompt_works_after_a_program_left_raw_mode() {
    let home = Home::new();
    let shell = home.shell();
    // Within one line the setting stays.
    shell
        .prompt()
        .press("stty raw -echo; stty -a | grep -o -e -icanon; stty sane; echo after\r")
        .see("-icanon")
        .see("after\n%");
    shell.prompt().press("stty raw -echo\r").prompt();
    shell.press("stty -a | grep -o -w -e '-*icanon' -e '-*opost'\r").see("\nopost\nicanon\n%");
    shell.prompt().press("read x\r").press("typed\r").prompt().press("echo \"<$x>\"\r").see("\n<typed>\n");
}

#[test]
fn tab_quotes_completed_file_names() {
    let home = Home::new();
    home.write("two words.txt", "inside\n");
    home.write("deep down/file", "deeper\n");
    home.write("only-one", "");
    let shell = home.shell();
    shell.prompt().press("cat tw\t").see("% cat two\\ words.txt").press("\r").see("\ninside\n");
    shell.prompt().press("cat \"dee\t\t\r").see("% cat \"deep down/file\"\ndeeper");
    shell.prompt().press("cd \t").see("% cd deep\\ down/").press("\x03");
    shell
        .prompt()
        .press("unali\t")
        .see("% unalias")
        .press("\x15echo $HOM\t\r")
        .see(&format!("\n{}", home.scratch.path().display()));
}

#[test]
fn tab_cycles_through_candidates() {
    let home = Home::new();
    for name in ["alpha-one", "alpha-two"] {
        home.write(name, &format!("this is {name}\n"));
    }
    let shell = home.shell();
    shell.prompt().press("cat al\t").see("% cat alpha-\nalpha-one  alpha-two");
    shell.press("\t\t").see("% cat alpha-two").press("\r").see("\nthis is alpha-two\n%");
}

#[test]
fn pasted_text_waits_for_enter() {
    let home = Home::new();
    let shell = home.shell();
    let lines: String = (1..=12).map(|number| format!("echo line $(({number} * 2))\n")).collect();
    shell.prompt().press(&format!("\x1b[200~{lines}\x1b[201~")).see("echo line $((12 * 2))\n>");
    assert!(!shell.screen().contains("line 24"), "nothing runs by itself");
    shell.press("\r").see("line 22\nline 24\n%");
}

#[test]
fn input_typed_ahead_reaches_the_program() {
    let home = Home::new();
    let shell = home.shell();
    shell.prompt().press("read -r line; echo \"<$line>\"\rtyped ahead\recho then\r");
    shell.see("<typed ahead>").see("\nthen\n%");
}

#[test]
fn output_without_an_end_of_line_is_not_overwritten() {
    let home = Home::new();
    let shell = home.shell();
    shell.enter("printf unended").see("\nunended").prompt();
    assert!(shell.screen().contains("unended"), "{}", shell.screen());
}

#[test]
fn a_narrower_window_shows_the_whole_line() {
    let home = Home::new();
    let mut shell = home.shell();
    shell.prompt().press("echo a line that is longer than a narrow window is wide").see("is wide");
    shell.resize(10, 20);
    // A real terminal would have wrapped the line; the next key redraws it.
    shell.press("x\r").see("window is widex");
    shell.press("echo $COLUMNS\r").see("\n20\n");
}

#[test]
fn the_shell_survives_errors() {
    let home = Home::new();
    let shell = home.shell();
    shell.enter("nonesuch").see("haft: nonesuch: command not found");
    shell.enter("echo ) x").see("unexpected \")\"");
    shell.enter("echo ${unset:?missing}").see("unset: missing");
    shell.enter("set -u; echo $nothing").see("nothing: unbound variable");
    shell.enter("/help").see("/keys");
    shell.enter("echo alive").see("\nalive");
}
