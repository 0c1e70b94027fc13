//! `complete`, `compopt`, `bind` and `set -o vi`.

use crate::shell::Home;

#[test]
fn tab_uses_word_lists() {
    let home = Home::new();
    let shell = home.shell();
    shell.enter("greet() { echo \"hello $*\"; }; complete -W 'world moon' greet");
    shell.prompt().press("greet wo\t").see("% greet world").press("\r").see("\nhello world\n%");
    shell.prompt().press("greet x=wo\t\r").see("\nhello x=world\n%");
    // No candidate of the word list fits, so nothing is inserted.
    home.write("nothing-else", "");
    shell.prompt().press("greet noth\t\r").see("\nhello noth\n%");
    shell.enter("complete -o default -W 'world' greet");
    shell.prompt().press("greet noth\t\r").see("\nhello nothing-else\n%");
}

#[test]
fn tab_calls_completion_functions() {
    let home = Home::new();
    let shell = home.shell();
    shell.enter(
        "_f() { said=\"$1|$2|$3|${COMP_WORDS[*]}|$COMP_CWORD|$COMP_POINT\"; COMPREPLY=($(compgen -W 'start stop' -- \"$2\")); }",
    );
    shell.enter("complete -F _f svc; svc() { echo \"ran $*\"; }");
    shell.prompt().press("svc --name sta\t\r").see("\nran --name start\n%");
    shell.enter("echo \"$said\"").see("\nsvc|sta|--name|svc --name sta|2|14\n%");
    shell.prompt().press("true; ./svc st\t").see("start  stop").press("\x15\r");
    // The status of the last command stays as it was.
    shell.enter("false").prompt().press("svc sta\t\x15echo $?\r").see("\n1\n%");
    shell.enter("_g() { compopt -o nospace; COMPREPLY=(key=); }; complete -F _g kv; kv() { echo \"<$*>\"; }");
    shell.prompt().press("kv k\tvalue\r").see("\n<key=value>\n%");
}

#[test]
fn functions_load_specifications_on_demand() {
    let home = Home::new();
    let shell = home.shell();
    shell.enter(
        "_load() { complete -W 'loaded' \"$1\"; return 124; }; complete -D -F _load; late() { echo \"$@\"; }",
    );
    shell.prompt().press("late lo\t\r").see("\nloaded\n%");
    shell.enter("complete -p late").see("\ncomplete -W 'loaded' late\n%");
}

#[test]
fn file_candidates_are_quoted() {
    let home = Home::new();
    home.write("two words.txt", "inside\n");
    home.write("deep down/file", "deeper\n");
    let shell = home.shell();
    shell.enter(
        "complete -f -X '!*.txt' show; complete -d into; show() { cat \"$@\"; }; into() { ls \"$@\"; }",
    );
    shell.prompt().press("show tw\t\r").see("\ninside\n%");
    shell.prompt().press("show 'tw\t\r").see("\ninside\n%");
    shell.prompt().press("into de\t").see("% into deep\\ down/").press("\r").see("\nfile\n%");
}

#[test]
fn a_completion_function_can_be_interrupted() {
    let home = Home::new();
    let shell = home.shell();
    shell.enter("_f() { echo wai''ting; while :; do :; done; }; complete -F _f slow");
    shell.prompt().press("slow x\t").see("waiting").press("\x03");
    shell.press("\x15echo alive\r").see("\nalive\n%");
}

#[test]
fn keys_can_be_bound() {
    let home = Home::new();
    let shell = home.shell();
    shell.enter("bind '\"\\C-o\": \"echo macro\\C-m\"'").prompt().press("\x0f").see("\nmacro\n%");
    shell.enter("bind '\"\\C-xh\": beginning-of-line' '\"zz\": \"echo \"'");
    shell.prompt().press("bound\x18hzz\r").see("\nbound\n%");
    shell.prompt().press("echo az bz\r").see("\naz bz\n%");
    shell.enter("bind -x '\"\\C-t\": READLINE_LINE=\"echo [$READLINE_LINE]\"; READLINE_POINT=5'");
    shell.prompt().press("text\x14'\x05'\r").see("\n[text]\n%");
    shell.enter("bind -r '\\C-t'").prompt().press("echo ab\x14\r").see("\nab\n%");
    // A macro that calls itself ends.
    shell.enter("bind '\"\\C-y\": \"\\C-y\"'").prompt().press("\x19echo ends\r").see("\nends\n%");
}

#[test]
fn the_inputrc_file_is_read() {
    let home = Home::new();
    home.write("rc", "$if Bash\n\"\\C-o\": \"echo from file\\n\"\n$endif\n");
    let rc = home.scratch.text("rc");
    let shell = home.start(&[], &[("PS1", "% "), ("INPUTRC", &rc)]);
    shell.prompt().press("\x0f").see("\nfrom file\n%");
}

#[test]
fn vi_mode_edits_with_commands() {
    let home = Home::new();
    let shell = home.shell();
    shell.enter("set -o vi").prompt().press("xecho one two\x1b0x\r").see("\none two\n%");
    shell.prompt().press("echo one two\x1bbcwthree\r").see("\none three\n%");
    shell.prompt().press("\x1bk0wcwFOUR\r").see("\nFOUR three\n%");
    shell
        .enter("set -o | grep -e '^vi ' -e '^emacs '")
        .see("emacs          \toff\nvi             \ton".replace('\t', " ").as_str());
    shell.enter("set -o emacs").prompt().press("ho x\x01ec\r").see("\nx\n%");
}
