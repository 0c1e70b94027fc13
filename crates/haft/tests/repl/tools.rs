//! `/tool`, `/refresh` and `/toolset`, and tools at the prompt.

use std::os::unix::fs::PermissionsExt as _;

use crate::shell::Home;

fn write_tool(home: &Home, name: &str, text: &str) {
    let place = format!(".config/haft/tools/{name}-tool");
    home.write(&place, text);
    let path = home.scratch.file(&place);
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn script(name: &str, description: &str) -> String {
    format!(
        "#!/bin/sh\nif [ \"$1\" = --schema ]; then\n  echo '{{\"name\": \"{name}\", \"description\": \"{description}\", \
         \"parameters\": {{\"properties\": {{\"who\": {{\"type\": \"string\"}}}}}}}}'\nelse echo '\"hello\"'; fi\n"
    )
}

#[test]
fn slash_commands_list_refresh_and_limit_tools() {
    let home = Home::new();
    write_tool(&home, "greet", &script("greet", "Greets somebody"));
    home.write(
        ".config/haft/config.toml",
        "[tools]\nschema_timeout = 20\n[[toolset]]\nname = 'polite'\ntools = ['greet']\n",
    );
    let shell = home.shell();
    shell.enter("/tool").see("greet          user      Greets somebody").see("file_read");
    shell.enter("/tool greet").see("parameters:\n    who: string\n").see("source: user, ");
    shell.enter("/tool gret").see("unknown tool 'gret'; did you mean 'greet' or 'grep'?");
    shell.enter("greet who=you").see("\nhello\n");
    write_tool(&home, "broken", "#!/bin/sh\nexit 4\n");
    write_tool(&home, "late", &script("late", "Came later"));
    shell.enter("clear").prompt();
    shell.enter("/refresh").see("Came later").see("rejected: broken, ").see("4\n");
    shell.enter("clear").prompt();
    shell.enter("/toolset").see("all tools can be called\ntoolsets: polite");
    shell.enter("/toolset polite").see("only tools of 'polite' can be called");
    shell.enter("late").see("tool 'late' is not in the toolset 'polite'");
    shell.enter("greet").see("\nhello\n");
    shell.enter("/toolset -").see("all tools can be called");
    shell.enter("late; echo status $?").see("status 0");
    shell.enter("/toolset poli").see("unknown toolset 'poli'");
}
