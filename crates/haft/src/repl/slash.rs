//! Slash commands of the interactive shell, such as `/help`.
//!
//! A line is a slash command only if its first word is one of the names below and no file has that path.

use std::path::Path;

use haft_kernel::Session;

use super::tool_commands;
use crate::tools::SessionTools;

/// A slash command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlashCommand {
    Help,
    Jobs,
    History,
    Keys,
    Tool,
    Refresh,
    Toolset,
}

impl SlashCommand {
    /// Whether it takes an argument.
    fn takes_word(self) -> bool {
        matches!(self, SlashCommand::Tool | SlashCommand::Toolset)
    }
}

/// Names and summaries.
const SLASH_COMMANDS: [(&str, SlashCommand, &str); 7] = [
    ("/help", SlashCommand::Help, "show this help"),
    ("/keys", SlashCommand::Keys, "show the keys"),
    ("/jobs", SlashCommand::Jobs, "show background and stopped jobs"),
    ("/history", SlashCommand::History, "show the history"),
    ("/tool", SlashCommand::Tool, "list all tools, or describe one"),
    ("/refresh", SlashCommand::Refresh, "read the schemas of changed tools again, and list all tools"),
    ("/toolset", SlashCommand::Toolset, "show or choose the toolset"),
];

const KEY_HELP: &str = "\
Enter          run; start another line while the text is incomplete
Alt-Enter      start another line
Tab            complete; press again to cycle through the candidates
Up, Down       earlier and later entries, or lines of this entry
Ctrl-R         search the history; again for the next match, Ctrl-G to cancel
Ctrl-C         discard the line, or interrupt the running command
Ctrl-Z         stop the running command; continue it with fg or bg
Ctrl-D         leave, on an empty line
Ctrl-A, E      start and end of the line
Ctrl-W, U, K   cut the word before, the line before, the line after the cursor
Ctrl-Y         paste the cut text
Ctrl-_         undo
Alt-B, F, D    word back, word forward, cut the word after the cursor
Alt-.          last argument of the previous entry
Ctrl-L         clear the screen
";

/// The slash command of a line, if it is one.
pub(crate) fn parse(line: &str) -> Option<SlashCommand> {
    let (word, rest) = split(line);
    let (name, slash, _) = SLASH_COMMANDS.iter().find(|(name, ..)| *name == word)?;
    let fits = rest.is_empty() || (slash.takes_word() && !rest.contains(char::is_whitespace));
    (fits && !Path::new(name).exists()).then_some(*slash)
}

/// Splits a line into its first word and the rest.
fn split(line: &str) -> (&str, &str) {
    let line = line.trim();
    line.split_once(char::is_whitespace).map_or((line, ""), |(word, rest)| (word, rest.trim()))
}

/// Runs a slash command. Returns the text to print.
pub(crate) fn run(slash: SlashCommand, line: &str, session: &mut Session, tools: &SessionTools) -> String {
    match slash {
        SlashCommand::Help => help(),
        SlashCommand::Keys => KEY_HELP.to_owned(),
        SlashCommand::Jobs => {
            let _ = session.run_between_lines(b"jobs -l");
            String::new()
        }
        SlashCommand::History => {
            let _ = session.run_between_lines(b"history");
            String::new()
        }
        SlashCommand::Tool => tool_commands::tool(tools, split(line).1),
        SlashCommand::Refresh => tool_commands::refresh(tools),
        SlashCommand::Toolset => tool_commands::toolset(tools, split(line).1),
    }
}

fn help() -> String {
    let mut text =
        String::from("This shell runs bash. 'help' lists its builtins, 'help NAME' describes one.\n\n");
    for (name, _, summary) in SLASH_COMMANDS {
        text.push_str(&format!("{name:<10} {summary}\n"));
    }
    text
}

/// The names of all slash commands.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    SLASH_COMMANDS.iter().map(|(name, ..)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_not_slash_commands() {
        assert_eq!(parse(" /help "), Some(SlashCommand::Help));
        assert_eq!(parse("/tool file_read"), Some(SlashCommand::Tool));
        for line in ["/bin/ls", "/help me", "/tool a b", "/", "/tmp", "help"] {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
