//! `[[ subject =~ expression ]]`.

use std::sync::Arc;

use haft_lang::ast::Word;
use regex::bytes::{Regex, RegexBuilder};

use crate::bytes::Bytes;
use crate::flow::Unwind;
use crate::options::ShellOption;
use crate::session::Session;
use crate::variables::{IndexedArray, Value, Variable};

impl Session {
    pub(super) fn test_regex(&mut self, subject: &[u8], right: &Word) -> Result<bool, Unwind> {
        let text = self.expand_regex(right)?;
        let ignore_case = self.options.shell(ShellOption::NoCaseMatch);
        let Some(regex) = self.compile_regex(&text, ignore_case) else { return Err(Unwind::Abort(2)) };
        let found = regex.captures(subject);
        let matched = found.is_some();
        let groups = found.map_or_else(IndexedArray::default, |captures| {
            let groups =
                captures.iter().map(|group| group.map_or_else(Bytes::new, |group| group.as_bytes().into()));
            IndexedArray::from_values(groups.collect())
        });
        self.variables.insert(b"BASH_REMATCH", Variable::new(Value::Indexed(Arc::new(groups))));
        Ok(matched)
    }

    /// Compiles an expression, or takes the one that was compiled last.
    fn compile_regex(&mut self, text: &[u8], ignore_case: bool) -> Option<Regex> {
        if let Some((known, case, regex)) = &self.last_regex
            && known == text
            && *case == ignore_case
        {
            return Some(regex.clone());
        }
        let translated = translate(text);
        let regex = RegexBuilder::new(&translated)
            .unicode(true)
            .case_insensitive(ignore_case)
            .dot_matches_new_line(true)
            .build()
            .ok()?;
        self.last_regex = Some((text.to_vec(), ignore_case, regex.clone()));
        Some(regex)
    }
}

/// A POSIX extended expression in the syntax of the `regex` crate. What means something only there is escaped.
fn translate(text: &[u8]) -> String {
    let source = String::from_utf8_lossy(text);
    let mut result = String::with_capacity(source.len() + 16);
    let mut letters = source.chars().peekable();
    let mut first = true;
    while let Some(letter) = letters.next() {
        match letter {
            '[' => bracket(&mut letters, &mut result),
            '\\' => match letters.next() {
                Some(next)
                    if next.is_ascii_alphanumeric()
                        && !matches!(next, 'b' | 'B' | 'w' | 'W' | 's' | 'S' | '<' | '>') =>
                {
                    result.push(next);
                }
                Some(next) => {
                    result.push('\\');
                    result.push(next);
                }
                None => result.push_str("\\\\"),
            },
            '*' | '+' | '?' if first => {
                result.push('\\');
                result.push(letter);
            }
            '{' => match interval(&letters) {
                true => result.push('{'),
                false => result.push_str("\\{"),
            },
            _ => result.push(letter),
        }
        first = matches!(letter, '(' | '|') || first && letter == '^';
    }
    result
}

/// Whether `{` begins a count such as `{2,3}`.
fn interval(rest: &std::iter::Peekable<std::str::Chars<'_>>) -> bool {
    let ahead: String = rest.clone().take_while(|letter| *letter != '}').collect();
    let digits = |text: &str| text.chars().all(|letter| letter.is_ascii_digit());
    rest.clone().any(|letter| letter == '}')
        && match ahead.split_once(',') {
            Some((low, high)) => digits(low) && digits(high) && !(low.is_empty() && high.is_empty()),
            None => !ahead.is_empty() && digits(&ahead),
        }
}

/// A bracket expression: within it a backslash is a character like any other, as are `[`, `&`, `~` without their kin.
fn bracket(letters: &mut std::iter::Peekable<std::str::Chars<'_>>, result: &mut String) {
    result.push('[');
    if letters.next_if_eq(&'^').is_some() {
        result.push('^');
    }
    if letters.next_if_eq(&']').is_some() {
        result.push_str("\\]");
    }
    while let Some(letter) = letters.next() {
        match letter {
            ']' => break,
            '[' if matches!(letters.peek(), Some(':' | '.' | '=')) => class(letters, result),
            '[' | '\\' | '&' | '~' => {
                result.push('\\');
                result.push(letter);
            }
            '-' if letters.peek() == Some(&']') => result.push_str("\\-"),
            _ => result.push(letter),
        }
    }
    result.push(']');
}

/// `[:alpha:]`, `[.x.]`, `[=x=]` within a bracket expression; the opening bracket has been read.
fn class(letters: &mut std::iter::Peekable<std::str::Chars<'_>>, result: &mut String) {
    let kind = letters.next().unwrap_or(':');
    let mut name = String::new();
    while let Some(letter) = letters.next() {
        if letter == kind && letters.peek() == Some(&']') {
            letters.next();
            break;
        }
        name.push(letter);
    }
    match kind {
        ':' => {
            let shown = match name.as_str() {
                "alpha" => "\\p{Alphabetic}",
                "digit" => "0-9",
                "alnum" => "\\p{Alphabetic}0-9",
                "upper" => "\\p{Uppercase}",
                "lower" => "\\p{Lowercase}",
                "space" => "\\s",
                "blank" => " \\t",
                "punct" => "[:punct:]",
                "print" => "[:print:]",
                "graph" => "[:graph:]",
                "cntrl" => "[:cntrl:]",
                "xdigit" => "0-9A-Fa-f",
                _ => "",
            };
            match shown.starts_with("[:") {
                true => result.push_str(&format!("[{shown}]").replace("[[", "[[").replace("]]", "]]")),
                false => result.push_str(shown),
            }
        }
        _ => result.push_str(&regex::escape(&name)),
    }
}
