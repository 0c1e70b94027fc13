//! `dirs`.

use haft_text::Bytes;

use super::Context;
use super::directory_stack::{NoEntry, StackFormat, entry, index, refuse, show_all, stack};
use crate::flow::Flow;

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let (mut format, mut clear, mut chosen) = (StackFormat::default(), false, None);
    for word in arguments {
        match word.as_bytes() {
            b"-l" => format.long = true,
            b"-p" => format.lines = true,
            b"-v" => (format.lines, format.numbers) = (true, true),
            b"-c" => clear = true,
            b"--" => break,
            [b'-' | b'+', _, ..] => chosen = Some(word),
            _ => return context.usage(format_args!("{word}: invalid option")),
        }
    }
    if clear {
        context.working_directory_mut().set_stack(Vec::new());
        return Ok(0);
    }
    match chosen {
        Some(word) => show_one(context, word, format),
        None => show_all(context, format),
    }
}

fn show_one(context: &mut Context<'_>, word: &Bytes, format: StackFormat) -> Flow {
    let all = stack(context);
    match index(word, all.len()) {
        Ok(place) => {
            let shown = entry(context, &all[place], format.long);
            let number = if format.numbers { format!("{place:2}  ") } else { String::new() };
            context.print(&[number.as_bytes(), &shown, b"\n"].concat())
        }
        Err(NoEntry::OutOfRange) => {
            let number = String::from_utf8_lossy(&word[1..]).into_owned();
            context.error(format_args!("{number}: directory stack index out of range"));
            Ok(1)
        }
        Err(problem) => refuse(context, word, all.len(), &problem),
    }
}
