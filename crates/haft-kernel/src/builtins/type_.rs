//! `type`.

use haft_text::Bytes;

use super::name_lookup::{Meaning, Search, meanings, sentence};
use super::{Context, options};
use crate::flow::Flow;

/// How an answer is given.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Sentence,
    /// `-t`: one word.
    Word,
    /// `-p` and `-P`: the path of a program.
    Path,
}

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let (flags, operands) = match options::parse(context, arguments, "afptP") {
        Ok(parsed) => parsed,
        Err(end) => return end,
    };
    let has = |letter| options::has(&flags, letter);
    let form = flags.iter().rev().find_map(|flag| match flag.letter {
        b't' => Some(Form::Word),
        b'p' | b'P' => Some(Form::Path),
        _ => None,
    });
    let form = form.unwrap_or(Form::Sentence);
    let search =
        Search { all: has(b'a'), no_functions: has(b'f'), files_only: has(b'P'), ..Search::default() };
    let mut status = 0;
    for name in operands {
        let found = meanings(context.session, name, search);
        if found.is_empty() {
            if form == Form::Sentence {
                context.error(format_args!("{name}: not found"));
            }
            status = 1;
        }
        for meaning in &found {
            let text = match form {
                Form::Sentence => sentence(context, name, meaning),
                Form::Word => word(meaning),
                Form::Path => match meaning {
                    Meaning::File { path, .. } => [&path[..], b"\n"].concat(),
                    _ => Vec::new(),
                },
            };
            context.print(&text)?;
        }
    }
    Ok(status)
}

fn word(meaning: &Meaning) -> Vec<u8> {
    let word = match meaning {
        Meaning::Alias(_) => "alias\n",
        Meaning::Keyword => "keyword\n",
        Meaning::Function(_) => "function\n",
        Meaning::Builtin { .. } => "builtin\n",
        Meaning::File { .. } => "file\n",
        Meaning::Added => "command\n",
        Meaning::Script(_) => "script\n",
        Meaning::Tool => "tool\n",
    };
    word.into()
}
