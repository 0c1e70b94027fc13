//! The word list of `-W`.

use haft_lang::ast::CommandKind;
use haft_text::Bytes;

use crate::flow::Unwind;
use crate::options::SetOption;
use crate::session::Session;

/// Splits a word list at the characters of `IFS` that are not quoted, and expands the words; no pathname expansion.
pub(super) fn expand(session: &mut Session, list: &[u8]) -> Result<Vec<Bytes>, Unwind> {
    let separators = session.value(b"IFS").unwrap_or_else(|| " \t\n".into());
    let command = as_command(list, &separators);
    let mut options = session.parse_options();
    options.aliases = None;
    options.extglob = false;
    let program = match haft_lang::parse(&command, &options) {
        Ok(program) => program,
        Err(error) => return Err(session.fail(error.message())),
    };
    let mut words = Vec::new();
    let noglob = session.options.has(SetOption::NoGlob);
    session.options.put(SetOption::NoGlob, true);
    let statements = program.body.statements.iter();
    let commands = statements.flat_map(|statement| statement.first.stages.iter());
    let expanded = commands.into_iter().try_for_each(|command| match &command.kind {
        CommandKind::Simple(simple) => {
            let arguments = simple.arguments.iter().skip(1).filter_map(|argument| argument.word());
            arguments.into_iter().try_for_each(|word| session.expand_fields(word, &mut words))
        }
        _ => Ok(()),
    });
    session.options.put(SetOption::NoGlob, noglob);
    expanded.map(|()| words)
}

/// Writes the words of a list as arguments of a command: operators of the shell are quoted, separators become blanks.
fn as_command(list: &[u8], separators: &[u8]) -> Vec<u8> {
    let mut command = b":".to_vec();
    let mut is_between = true;
    let mut rest = list;
    while let Some(&byte) = rest.first() {
        if separators.contains(&byte) {
            is_between = true;
            rest = &rest[1..];
            continue;
        }
        if std::mem::take(&mut is_between) {
            command.push(b' ');
        }
        let length = part_length(rest);
        match byte {
            b'\\' | b'\'' | b'"' | b'`' | b'$' => command.extend_from_slice(&rest[..length]),
            b'\n' => command.extend_from_slice(b"$'\\n'"),
            b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')' | b'#' | b' ' | b'\t' => {
                command.extend_from_slice(&[b'\\', byte]);
            }
            byte => command.push(byte),
        }
        rest = &rest[length..];
    }
    close_quote(&mut command, list);
    command
}

/// The length of the quoted text, the expansion or the character at the start of a text.
pub(super) fn part_length(text: &[u8]) -> usize {
    let end = match text {
        [b'\\', _, ..] => Some(2),
        [quote @ (b'\'' | b'`'), rest @ ..] => rest.iter().position(|byte| byte == quote).map(|at| at + 2),
        [b'"', rest @ ..] => closing(rest, b'"').map(|at| at + 2),
        [b'$', open @ (b'(' | b'{'), rest @ ..] => {
            closing(rest, if *open == b'(' { b')' } else { b'}' }).map(|at| at + 3)
        }
        [b'$', b'\'' | b'"', ..] => Some(1 + part_length(&text[1..])),
        _ => Some(1),
    };
    end.unwrap_or(text.len()).min(text.len())
}

/// The position of a closing character that is not within quotes or another expansion.
fn closing(text: &[u8], close: u8) -> Option<usize> {
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        at += match byte {
            byte if byte == close => return Some(at),
            b'(' if close == b')' => closing(&text[at + 1..], b')')? + 2,
            b'\'' if close == b'"' => 1,
            _ => part_length(&text[at..]),
        };
    }
    None
}

/// Closes the quote that the list leaves open.
fn close_quote(command: &mut Vec<u8>, list: &[u8]) {
    let mut rest = list;
    while !rest.is_empty() {
        let part = &rest[..part_length(rest)];
        rest = &rest[part.len()..];
        if let [quote @ (b'\'' | b'"'), inner @ ..] = part
            && rest.is_empty()
            && (inner.is_empty() || inner.last() != Some(quote))
        {
            command.push(*quote);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_are_quoted_and_quotes_stay() {
        for (list, command) in [
            ("a b", ": a b"),
            ("a;b 'c d' e\\ f", ": a\\;b 'c d' e\\ f"),
            ("$(echo x; echo y) z", ": $(echo x; echo y) z"),
            ("\"a $(b \")\" c)\" d", ": \"a $(b \")\" c)\" d"),
            ("'a", ": 'a'"),
            ("", ":"),
        ] {
            assert_eq!(as_command(list.as_bytes(), b" \t\n"), command.as_bytes(), "{list}");
        }
    }
}
