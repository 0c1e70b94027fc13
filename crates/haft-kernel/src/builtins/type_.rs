//! `type`.

use haft_text::Bytes;

use super::name_lookup::{NameMeaning, NameQuery, meanings, sentence};
use super::{Context, options};
use crate::flow::Flow;

/// The output format.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TypeFormat {
    Sentence,
    /// `-t`: one word.
    Word,
    /// `-p` and `-P`: the path of a program.
    Path,
}

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    if let [first, names @ ..] = arguments
        && first.as_bytes() == b"--json"
        && !context.session().is_plain_shell()
    {
        return as_data(context, names);
    }
    let (flags, operands) = match options::parse(context, arguments, "afptP") {
        Ok(parsed) => parsed,
        Err(end) => return end,
    };
    let has = |letter| options::has(&flags, letter);
    let form = flags.iter().rev().find_map(|flag| match flag.letter {
        b't' => Some(TypeFormat::Word),
        b'p' | b'P' => Some(TypeFormat::Path),
        _ => None,
    });
    let form = form.unwrap_or(TypeFormat::Sentence);
    let search =
        NameQuery { all: has(b'a'), no_functions: has(b'f'), files_only: has(b'P'), ..NameQuery::default() };
    let mut status = 0;
    for name in operands {
        let found = meanings(context.session_mut(), name, search);
        if found.is_empty() {
            if form == TypeFormat::Sentence {
                context.error(format_args!("{name}: not found"));
            }
            status = 1;
        }
        for meaning in &found {
            let text = match form {
                TypeFormat::Sentence => sentence(context, name, meaning),
                TypeFormat::Word => word(meaning),
                TypeFormat::Path => match meaning {
                    NameMeaning::File { path, .. } => [&path[..], b"\n"].concat(),
                    _ => Vec::new(),
                },
            };
            context.print(&text)?;
        }
    }
    Ok(status)
}

/// `type --json NAME…`: all meanings of the names, with the one that runs first.
fn as_data(context: &mut Context<'_>, names: &[Bytes]) -> Flow {
    let search = NameQuery { all: true, ..NameQuery::default() };
    let mut status = 0;
    let mut rows = Vec::new();
    for name in names {
        let found = meanings(context.session_mut(), name, search);
        if found.is_empty() {
            status = 1;
        }
        for meaning in &found {
            let kind = String::from_utf8_lossy(&word(meaning)).trim_end().to_owned();
            let path = match meaning {
                NameMeaning::File { path, .. } => Some(String::from_utf8_lossy(path)),
                _ => None,
            };
            rows.push(serde_json::json!({ "name": name.lossy(), "kind": kind, "path": path }));
        }
    }
    let data = serde_json::Value::Array(rows);
    let text = format!("{data}\n");
    context.set_data(data);
    context.print(text.as_bytes())?;
    Ok(status)
}

fn word(meaning: &NameMeaning) -> Vec<u8> {
    let word = match meaning {
        NameMeaning::Alias(_) => "alias\n",
        NameMeaning::Keyword => "keyword\n",
        NameMeaning::Function(_) => "function\n",
        NameMeaning::Builtin { .. } => "builtin\n",
        NameMeaning::File { .. } => "file\n",
        NameMeaning::Added => "command\n",
        NameMeaning::Script(_) => "script\n",
        NameMeaning::Tool => "tool\n",
    };
    word.into()
}
