//! Commands to the shell itself, which begin with a slash: `/help`.
//!
//! A path is never taken for one: only these very words are, and only while there is no such file.

use std::path::Path;

use haft_kernel::Session;

use super::history::History;
use super::tool_commands;
use crate::tools::SessionTools;

/// A slash command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slash {
    Help,
    Jobs,
    History,
    Keys,
    Tool,
    Refresh,
    Toolset,
}

impl Slash {
    /// Whether a word may follow it.
    fn takes_word(self) -> bool {
        matches!(self, Slash::Tool | Slash::Toolset)
    }
}

/// What each is called, and what it does.
const ALL: [(&str, Slash, &str); 7] = [
    ("/help", Slash::Help, "show this"),
    ("/keys", Slash::Keys, "show what the keys do"),
    ("/jobs", Slash::Jobs, "show what runs in the background or is stopped"),
    ("/history", Slash::History, "show what was entered before"),
    ("/tool", Slash::Tool, "show all tools, or with a name all about one"),
    ("/refresh", Slash::Refresh, "ask all tools again, and show them"),
    ("/toolset", Slash::Toolset, "show or choose the tools that may be called"),
];

const KEYS: &str = "\
Enter          run, or go on with another line while something is open
Alt-Enter      begin another line
Tab            complete; again, go through what is possible
Up, Down       earlier and later entries, or lines of this one
Ctrl-R         search earlier entries; again for the next, Ctrl-G to give up
Ctrl-C         give the line up; while something runs, stop it
Ctrl-Z         stop what runs for the moment: fg or bg lets it go on
Ctrl-D         leave, on an empty line
Ctrl-A, E      beginning and end of the line
Ctrl-W, U, K   cut the word before, the line before, the line after the cursor
Ctrl-Y         put in what was cut
Ctrl-_         undo
Alt-B, F, D    word back, word forward, cut the word after the cursor
Alt-.          last argument of the entry before
Ctrl-L         clear the screen
";

/// The slash command that a line is, if it is one.
pub(crate) fn parse(line: &str) -> Option<Slash> {
    let (word, rest) = split(line);
    let (name, slash, _) = ALL.iter().find(|(name, ..)| *name == word)?;
    let fits = rest.is_empty() || (slash.takes_word() && !rest.contains(char::is_whitespace));
    (fits && !Path::new(name).exists()).then_some(*slash)
}

/// The first word of a line, and what follows it.
fn split(line: &str) -> (&str, &str) {
    let line = line.trim();
    line.split_once(char::is_whitespace).map_or((line, ""), |(word, rest)| (word, rest.trim()))
}

/// Runs the one that a line is; yields what there is to say.
pub(crate) fn run(
    slash: Slash,
    line: &str,
    session: &mut Session,
    history: &History,
    tools: &SessionTools,
) -> String {
    match slash {
        Slash::Help => help(),
        Slash::Keys => KEYS.to_owned(),
        Slash::Jobs => {
            let _ = session.run_between_lines(b"jobs -l");
            String::new()
        }
        Slash::History => {
            history.numbered().map(|(number, entry)| format!("{number:>5}  {entry}\n")).collect()
        }
        Slash::Tool => tool_commands::tool(tools, split(line).1),
        Slash::Refresh => tool_commands::refresh(tools),
        Slash::Toolset => tool_commands::toolset(tools, split(line).1),
    }
}

fn help() -> String {
    let mut text = String::from(
        "This is a shell: it runs what bash runs. 'help' tells about its builtins, 'help NAME' about one.\n\n",
    );
    for (name, _, summary) in ALL {
        text.push_str(&format!("{name:<10} {summary}\n"));
    }
    text
}

/// The names of all.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|(name, ..)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_no_slash_commands() {
        assert_eq!(parse(" /help "), Some(Slash::Help));
        assert_eq!(parse("/tool file_read"), Some(Slash::Tool));
        for line in ["/bin/ls", "/help me", "/tool a b", "/", "/tmp", "help"] {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
