//! History expansion: `!!`, `!$`, `!git:2`, `^old^new`.
//!
//! A line is expanded before it runs and before it enters the history. Single quotes and backslashes protect a `!`. A `!` of
//! the shell's own syntax is left alone: `$!`, `${!name}`, `[!a]`, `!(…)`, `! command`, `!=`.

use super::history::History;

/// The result of history expansion.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ExpandedLine {
    /// The line has no history reference.
    Same,
    /// The expanded line, to run.
    Text(String),
    /// The expanded line, to print and remember only: `:p`.
    Shown(String),
}

/// Expands the history references of a line.
///
/// # Errors
/// A message, if an event or a word does not exist.
pub(super) fn recall(text: &str, history: &History) -> Result<ExpandedLine, String> {
    if let Some(change) = text.strip_prefix('^') {
        return quick_change(text, change, history).map(ExpandedLine::Text);
    }
    let mut result = String::with_capacity(text.len());
    let mut quote = None;
    let (mut changed, mut shown) = (false, false);
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let after = &rest[character.len_utf8()..];
        if character == '!' && quote != Some('\'') && calls(&text[..text.len() - rest.len()], after, quote) {
            let called = call(rest, history)?;
            result.push_str(&called.text);
            (changed, shown) = (true, shown || called.shown);
            rest = called.rest;
            continue;
        }
        quote = match (character, quote) {
            ('\'' | '"', None) => Some(character),
            (_, Some(open)) if open == character => None,
            _ => quote,
        };
        result.push(character);
        rest = after;
        if character == '\\'
            && quote != Some('\'')
            && let Some(next) = rest.chars().next()
        {
            result.push(next);
            rest = &rest[next.len_utf8()..];
        }
    }
    Ok(match (changed, shown) {
        (false, _) => ExpandedLine::Same,
        (true, false) => ExpandedLine::Text(result),
        (true, true) => ExpandedLine::Shown(result),
    })
}

/// Whether the `!` between two texts starts a history reference.
fn calls(before: &str, after: &str, quote: Option<char>) -> bool {
    let used =
        before.ends_with('$') || before.ends_with("${") || before.ends_with('[') && after.contains(']');
    match after.chars().next() {
        None => false,
        Some('"') if quote == Some('"') => false,
        Some(next) => !used && !next.is_whitespace() && !"=;&|()<>".contains(next),
    }
}

/// `^old^new^`: the last entry with a substitution.
fn quick_change(whole: &str, change: &str, history: &History) -> Result<String, String> {
    let mut pieces = change.splitn(3, '^');
    let (old, new, more) =
        (pieces.next().unwrap_or_default(), pieces.next().unwrap_or_default(), pieces.next());
    let last = history.entries().last().filter(|last| !old.is_empty() && last.contains(old));
    let last = last.ok_or_else(|| format!("'{}': substitution failed", whole.trim_end()))?;
    Ok(last.replacen(old, new, 1) + more.unwrap_or_default())
}

struct HistoryReference<'a> {
    text: String,
    rest: &'a str,
    shown: bool,
}

/// Expands the reference at the beginning of a text.
fn call<'a>(text: &'a str, history: &History) -> Result<HistoryReference<'a>, String> {
    let (entry, rest) = event(&text[1..], history);
    let named = &text[..text.len() - rest.len()];
    let entry = entry.ok_or_else(|| format!("'{named}': event not found"))?;
    let (mut chosen, mut rest) = match designator(rest) {
        Some((range, rest)) => {
            let named = &text[..text.len() - rest.len()];
            (select(entry, &range).ok_or_else(|| format!("'{named}': bad word specifier"))?, rest)
        }
        None => (entry.to_owned(), rest),
    };
    let mut shown = false;
    while let Some(after) = rest.strip_prefix(':') {
        let Some((modified, after)) = modify(&chosen, after) else { break };
        shown |= rest.starts_with(":p");
        (chosen, rest) = (modified, after);
    }
    Ok(HistoryReference { text: chosen, rest, shown })
}

/// Finds the event that the text after `!` designates. Returns it with the rest of the text.
fn event<'a, 'b>(text: &'a str, history: &'b History) -> (Option<&'b str>, &'a str) {
    let last = history.entries().last().map(String::as_str);
    if let Some(rest) = text.strip_prefix('!') {
        return (last, rest);
    }
    if text.starts_with(['$', '^', '*', ':']) {
        return (last, text);
    }
    if let Some(inner) = text.strip_prefix('?') {
        let end = inner.find(['?', '\n']).unwrap_or(inner.len());
        let rest = inner[end..].strip_prefix('?').unwrap_or(&inner[end..]);
        return (latest(history, |entry| entry.contains(&inner[..end])), rest);
    }
    let negative = text.starts_with('-');
    let digits = &text[usize::from(negative)..];
    let length = digits.find(|digit: char| !digit.is_ascii_digit()).unwrap_or(digits.len());
    if let Ok(number) = digits[..length].parse::<usize>() {
        let mut numbered = history.numbered();
        let found = match negative {
            true => numbered.rev().nth(number.wrapping_sub(1)),
            false => numbered.find(|(own, _)| *own == number),
        };
        return (found.map(|(_, entry)| entry), &digits[length..]);
    }
    let ends = |end: char| end.is_whitespace() || ":;&|()<>\"'".contains(end);
    let end = text.find(ends).unwrap_or(text.len());
    (latest(history, |entry| entry.starts_with(&text[..end])), &text[end..])
}

fn latest(history: &History, is: impl Fn(&str) -> bool) -> Option<&str> {
    history.entries().iter().rev().map(String::as_str).find(|entry| is(entry))
}

/// A range of words; `None` is the last word.
struct WordRange {
    first: Option<usize>,
    last: Option<usize>,
    /// Whether the range can be empty.
    any: bool,
}

/// Parses a word designator: `:2`, `:^`, `:$`, `:*`, `:2-4`, `:2*`. The colon is optional before a symbol. Returns it with the
/// rest of the text.
fn designator(text: &str) -> Option<(WordRange, &str)> {
    let inner = text.strip_prefix(':').unwrap_or(text);
    let colon = inner.len() < text.len();
    if let Some(rest) = inner.strip_prefix('*') {
        return Some((WordRange { first: Some(1), last: None, any: true }, rest));
    }
    let (first, rest) = match inner.chars().next()? {
        '^' => (Some(1), &inner[1..]),
        '$' => return Some((WordRange { first: None, last: None, any: false }, &inner[1..])),
        '-' if colon => (Some(0), inner),
        digit if colon && digit.is_ascii_digit() => {
            let (number, rest) = number(inner)?;
            (Some(number), rest)
        }
        _ => return None,
    };
    if let Some(rest) = rest.strip_prefix('*') {
        return Some((WordRange { first, last: None, any: true }, rest));
    }
    let Some(after) = rest.strip_prefix('-') else {
        return Some((WordRange { first, last: first, any: false }, rest));
    };
    match (after.strip_prefix('$'), number(after)) {
        (Some(rest), _) => Some((WordRange { first, last: None, any: false }, rest)),
        (None, Some((last, rest))) => Some((WordRange { first, last: Some(last), any: false }, rest)),
        (None, None) => Some((WordRange { first, last: Some(usize::MAX), any: true }, after)),
    }
}

fn number(text: &str) -> Option<(usize, &str)> {
    let length = text.find(|digit: char| !digit.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..length].parse().ok()?, &text[length..]))
}

fn select(entry: &str, range: &WordRange) -> Option<String> {
    let words = words(entry);
    let end = words.len().checked_sub(1)?;
    let first = range.first.unwrap_or(end);
    // `2-` excludes the last word.
    let last = match range.last {
        Some(usize::MAX) => end.checked_sub(1)?,
        Some(last) => last,
        None => end,
    };
    match words.get(first..=last) {
        Some(chosen) if first <= last => Some(chosen.join(" ")),
        _ => range.any.then(String::new),
    }
}

/// Splits an entry into words. Operators are words of their own; quoted text is not split.
fn words(entry: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = entry.trim_start();
    while let Some(first) = rest.chars().next() {
        let operator = |character: char| ";&|<>()".contains(character);
        let length = match operator(first) {
            true => rest.find(|character| !operator(character)).unwrap_or(rest.len()),
            false => word_length(rest, operator),
        };
        words.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    words
}

fn word_length(text: &str, is_operator: impl Fn(char) -> bool) -> usize {
    let mut quote = None;
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match (character, quote) {
            ('\\', None | Some('"')) => drop(characters.next()),
            (_, Some(open)) if open == character => quote = None,
            (_, Some(_)) => {}
            ('\'' | '"' | '`', None) => quote = Some(character),
            (other, None) if other.is_whitespace() || is_operator(other) => return at,
            _ => {}
        }
    }
    text.len()
}

/// Applies the modifier at the beginning of `modifier`. Returns the changed text and the rest; `None` without a modifier.
fn modify<'a>(text: &str, modifier: &'a str) -> Option<(String, &'a str)> {
    let rest = modifier.get(1..)?;
    let file = |at: Option<usize>, keep_start: bool| match (at, keep_start) {
        (Some(at), true) => text[..at].to_owned(),
        (Some(at), false) => text[at..].to_owned(),
        (None, _) => text.to_owned(),
    };
    let changed = match modifier.chars().next()? {
        'h' => file(text.rfind('/'), true),
        't' => file(text.rfind('/').map(|slash| slash + 1), false),
        'r' => file(text.rfind('.'), true),
        'e' => file(text.rfind('.'), false),
        'p' => text.to_owned(),
        'q' => format!("'{}'", text.replace('\'', r"'\''")),
        's' => return substitute(text, rest, false),
        'g' => return substitute(text, rest.strip_prefix('s')?, true),
        _ => return None,
    };
    Some((changed, rest))
}

/// `/old/new/` with any delimiter; the last one is optional at the end.
fn substitute<'a>(text: &str, change: &'a str, everywhere: bool) -> Option<(String, &'a str)> {
    let mark = change.chars().next()?;
    let (old, rest) = change[mark.len_utf8()..].split_once(mark)?;
    let (new, rest) = rest.split_once(mark).unwrap_or((rest, ""));
    let new = new.replace('&', old);
    let changed = if everywhere { text.replace(old, &new) } else { text.replacen(old, &new, 1) };
    Some((changed, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repl::history::HistoryRules;

    fn history() -> History {
        let mut history = History::default();
        for entry in ["git commit -m 'a b'", "ls -l /tmp/dir/file.tar.gz", "echo one two three > out; date"] {
            history.add(entry, HistoryRules::default());
        }
        history
    }

    #[test]
    fn events_words_and_modifiers_are_expanded() {
        for (text, expected) in [
            ("sudo !!", "sudo echo one two three > out; date"),
            ("!1", "git commit -m 'a b'"),
            ("!-2 -a", "ls -l /tmp/dir/file.tar.gz -a"),
            ("!git", "git commit -m 'a b'"),
            ("!?/dir/?:1", "-l"),
            ("cat !$", "cat date"),
            ("cat !ls:$ !ls:^", "cat /tmp/dir/file.tar.gz -l"),
            ("x !git:*", "x commit -m 'a b'"),
            ("x !git:2-3", "x -m 'a b'"),
            ("x !git:2*", "x -m 'a b'"),
            ("x !git:1-", "x commit -m"),
            ("x !!:4", "x >"),
            ("x \"!ls:$\"", "x \"/tmp/dir/file.tar.gz\""),
            ("cd !ls:$:h", "cd /tmp/dir"),
            ("x !ls:$:t:r !ls:$:e", "x file.tar .gz"),
            ("!git:s/commit/add/", "git add -m 'a b'"),
            ("!!:gs/o/0", "ech0 0ne tw0 three > 0ut; date"),
            ("^three^3", "echo one two 3 > out; date"),
            ("^three^3^ x", "echo one two 3 > out; date x"),
            ("!!!", "echo one two three > out; date!"),
        ] {
            assert_eq!(recall(text, &history()), Ok(ExpandedLine::Text(expected.to_owned())), "{text}");
        }
    }

    #[test]
    fn the_print_modifier_does_not_run_the_line() {
        let expected = ExpandedLine::Shown("ls -l /tmp/dir/file.tar.gz".to_owned());
        assert_eq!(recall("!ls:p", &history()), Ok(expected));
    }

    #[test]
    fn exclamation_marks_of_the_shell_are_left_alone() {
        for text in [
            "! true",
            "[ a != b ]",
            "echo $! ${!name} \"hi!\" 'a !! b' \\!! !",
            "ls [!a]* !(x)",
            "if ! grep x; then :; fi",
            "a ^b^c",
            "say \"wow!\"; true",
        ] {
            assert_eq!(recall(text, &history()), Ok(ExpandedLine::Same), "{text}");
        }
    }

    #[test]
    fn missing_events_and_words_are_errors() {
        for (text, expected) in [
            ("!nothing x", "'!nothing': event not found"),
            ("!99", "'!99': event not found"),
            ("!!:9", "'!!:9': bad word specifier"),
            ("^missing^x", "'^missing^x': substitution failed"),
        ] {
            assert_eq!(recall(text, &history()), Err(expected.to_owned()), "{text}");
        }
    }
}
