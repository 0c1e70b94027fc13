//! Translates POSIX extended regular expressions to the syntax of the `regex` crate.

use std::iter::Peekable;
use std::str::Chars;

/// The most repetitions that a count may ask for.
const REPETITIONS: u32 = 0x7fff;

/// Translates a POSIX extended expression and escapes what is special only to the `regex` crate. `None` if it is invalid.
pub(super) fn translate(text: &[u8]) -> Option<String> {
    let source = String::from_utf8_lossy(text);
    Translation {
        letters: source.chars().peekable(),
        result: String::with_capacity(source.len() + 16),
        atom: None,
        repeated: false,
        groups: Vec::new(),
    }
    .run()
}

struct Translation<'a> {
    letters: Peekable<Chars<'a>>,
    result: String,
    /// The start of the part of the result that a repetition would repeat.
    atom: Option<usize>,
    /// Whether this part is repeated already.
    repeated: bool,
    /// The starts of the open groups.
    groups: Vec<usize>,
}

impl Translation<'_> {
    fn run(mut self) -> Option<String> {
        while let Some(letter) = self.letters.next() {
            match letter {
                '(' => {
                    self.groups.push(self.result.len());
                    self.operator('(');
                }
                ')' => match self.groups.pop() {
                    Some(start) => {
                        self.result.push(')');
                        self.atom = Some(start);
                        self.repeated = false;
                    }
                    None => self.part("\\)"),
                },
                '|' | '^' | '$' => self.operator(letter),
                '*' | '+' | '?' => self.repeat(letter.encode_utf8(&mut [0; 4]))?,
                '{' => {
                    let count = count(&mut self.letters)?;
                    self.repeat(&count)?;
                }
                '[' => {
                    let set = bracket(&mut self.letters)?;
                    self.part(&set);
                }
                '\\' => self.escape()?,
                '.' => self.part("."),
                letter => self.character(letter),
            }
        }
        self.groups.is_empty().then_some(self.result)
    }

    /// Appends something that can be repeated.
    fn part(&mut self, text: &str) {
        self.atom = Some(self.result.len());
        self.repeated = false;
        self.result.push_str(text);
    }

    fn character(&mut self, letter: char) {
        self.part(&regex::escape(letter.encode_utf8(&mut [0; 4])));
    }

    /// Appends something that cannot be repeated.
    fn operator(&mut self, letter: char) {
        self.atom = None;
        self.result.push(letter);
    }

    /// Repeats the last part. A part that is repeated already becomes a group, because `a**` would mean something else.
    fn repeat(&mut self, how: &str) -> Option<()> {
        let start = self.atom?;
        if self.repeated {
            self.result.insert_str(start, "(?:");
            self.result.push(')');
        }
        self.result.push_str(how);
        self.repeated = true;
        Some(())
    }

    fn escape(&mut self) -> Option<()> {
        match self.letters.next()? {
            // The group keeps a digit after the reference separate.
            next @ '1'..='9' => self.part(&format!("(?:\\{next})")),
            next @ ('w' | 'W' | 's' | 'S') => self.part(&format!("\\{next}")),
            next @ ('b' | 'B' | '<' | '>') => {
                self.operator('\\');
                self.result.push(next);
            }
            '`' => self.anchor("\\A"),
            '\'' => self.anchor("\\z"),
            next => self.character(next),
        }
        Some(())
    }

    fn anchor(&mut self, text: &str) {
        self.atom = None;
        self.result.push_str(text);
    }
}

/// The count after `{`, to its `}`: `{2}`, `{2,}`, `{,3}`, `{2,3}`.
fn count(letters: &mut Peekable<Chars<'_>>) -> Option<String> {
    let mut number = || {
        let mut digits = String::new();
        while let Some(digit) = letters.next_if(char::is_ascii_digit) {
            digits.push(digit);
        }
        let end = letters.next()?;
        let number = match digits.is_empty() {
            true => None,
            false => Some(digits.parse::<u32>().ok().filter(|number| *number <= REPETITIONS)?),
        };
        Some((number, end))
    };
    let (low, end) = number()?;
    let low = low.or((end == ',').then_some(0))?;
    match end {
        '}' => Some(format!("{{{low}}}")),
        ',' => match number()? {
            (None, '}') => Some(format!("{{{low},}}")),
            (Some(high), '}') if high >= low => Some(format!("{{{low},{high}}}")),
            _ => None,
        },
        _ => None,
    }
}

/// The bracket expression after `[`, to its `]`. Within it a backslash is a character like any other.
fn bracket(letters: &mut Peekable<Chars<'_>>) -> Option<String> {
    let mut set = String::from("[");
    if letters.next_if_eq(&'^').is_some() {
        set.push('^');
    }
    let mut first = true;
    loop {
        let letter = letters.next()?;
        if letter == ']' && !first {
            break;
        }
        // A hyphen that is not part of a range is first or last.
        if letter == '-' && !first && *letters.peek()? != ']' {
            return None;
        }
        first = false;
        if letter == '[' && letters.next_if_eq(&':').is_some() {
            set.push_str(class(&delimited(letters, ':')?)?);
            continue;
        }
        let low = element(letter, letters)?;
        push_escaped(&mut set, low);
        let mut ahead = letters.clone();
        if ahead.next() == Some('-') && ahead.next().is_some_and(|next| next != ']') {
            letters.next();
            let next = letters.next()?;
            let high = element(next, letters)?;
            if high < low {
                return None;
            }
            set.push('-');
            push_escaped(&mut set, high);
        }
    }
    set.push(']');
    Some(set)
}

/// A character of a bracket expression: plain, `[.x.]` or `[=x=]`.
fn element(letter: char, letters: &mut Peekable<Chars<'_>>) -> Option<char> {
    if letter != '[' {
        return Some(letter);
    }
    let Some(kind) = letters.next_if(|next| matches!(next, '.' | '=')) else { return Some(letter) };
    let name = delimited(letters, kind)?;
    let mut name = name.chars();
    name.next().filter(|_| name.next().is_none())
}

/// The text up to a delimiter that `]` follows.
fn delimited(letters: &mut Peekable<Chars<'_>>, delimiter: char) -> Option<String> {
    let mut text = String::new();
    loop {
        let letter = letters.next()?;
        if letter == delimiter && letters.next_if_eq(&']').is_some() {
            return Some(text);
        }
        text.push(letter);
    }
}

/// Appends a character of a set. Only what is special in sets of the `regex` crate may be escaped: `\<` has another meaning.
fn push_escaped(set: &mut String, letter: char) {
    if matches!(letter, '\\' | '[' | ']' | '^' | '-' | '&' | '~') {
        set.push('\\');
    }
    set.push(letter);
}

/// The content of a named character class.
fn class(name: &str) -> Option<&'static str> {
    Some(match name {
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
        _ => return None,
    })
}
