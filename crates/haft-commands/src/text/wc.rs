//! `wc`: counts lines, words and bytes.

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow};
use haft_text::encoding::Encoding;

use super::name::quoted;
use super::streams::{FileSize, Stop, TextInput, TextRun, run_text};
use super::text_command;
use crate::arguments::CommandArguments;
use crate::definition::CommandDefinition;
use crate::descriptor::{
    ArgumentStyle, CommandDescriptor, CommandParameter, Example, JsonKind, ParameterKind,
};
use crate::rows::{JSON, JsonCell, column, json_option};

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "wc",
    summary: "Count the lines, words and bytes of files.",
    style: ArgumentStyle::GnuMixed(&["[FILE]..."]),
    parameters: &[
        CommandParameter::new("bytes", ParameterKind::Flag, "Write the number of bytes.").letter('c'),
        CommandParameter::new("chars", ParameterKind::Flag, "Write the number of characters.").letter('m'),
        CommandParameter::new("lines", ParameterKind::Flag, "Write the number of newlines.").letter('l'),
        CommandParameter::new("max-line-length", ParameterKind::Flag, "Write the width of the longest line.")
            .letter('L'),
        CommandParameter::new("words", ParameterKind::Flag, "Write the number of words.").letter('w'),
        json_option(&[
            column("file", JsonKind::Text, "The operand, or null for standard input without one."),
            column("lines", JsonKind::Number, "The number of newlines."),
            column("words", JsonKind::Number, "The number of words."),
            column("chars", JsonKind::Number, "The number of characters."),
            column("bytes", JsonKind::Number, "The number of bytes."),
            column("width", JsonKind::Number, "The width of the longest line."),
        ]),
    ],
    details: &[
        "Counts are always in this order: lines, words, characters, bytes, width.",
        "In a UTF-8 locale, the program counts words and widths, because they depend on tables of the system. If programs cannot run, \
         every character that is not a blank belongs to a word and has one column.",
    ],
    statuses: &[("0", "success"), ("1", "a file could not be read")],
    examples: &[Example {
        summary: "Count lines",
        script: "printf 'a\\nb\\n' | wc -l",
        output: "2\n",
        status: 0,
    }],
};

pub(crate) static COMMAND: CommandDefinition = CommandDefinition {
    steps_aside: Some(|session, arguments, _| {
        let columns = Columns::new(arguments);
        session.encoding() == Encoding::Utf8 && (columns.words || columns.width)
    }),
    ..text_command(&DESCRIPTOR, run)
};

/// The numbers of a file.
#[derive(Clone, Copy, Default)]
struct Counts {
    lines: u64,
    words: u64,
    chars: u64,
    bytes: u64,
    width: u64,
}

/// The state between two pieces of a file.
#[derive(Default)]
struct Position {
    in_word: bool,
    column: u64,
    /// The first bytes of a character whose rest is in the next piece.
    incomplete: Vec<u8>,
}

impl Counts {
    /// Counts a piece of a file.
    fn add(&mut self, piece: &[u8], position: &mut Position, needs: CountNeeds) {
        self.bytes += piece.len() as u64;
        match needs {
            CountNeeds::Lines => self.lines += memchr::memchr_iter(b'\n', piece).count() as u64,
            CountNeeds::Bytes => {
                self.chars += piece.len() as u64;
                self.add_bytes(piece, position);
            }
            CountNeeds::Characters => self.add_characters(piece, position),
        }
    }

    /// Counts characters of UTF-8. A byte that is not part of one does not count.
    fn add_characters(&mut self, piece: &[u8], position: &mut Position) {
        let held = std::mem::take(&mut position.incomplete);
        let joined: Vec<u8>;
        let mut rest = match held.is_empty() {
            true => piece,
            false => {
                joined = [held.as_slice(), piece].concat();
                &joined
            }
        };
        while !rest.is_empty() {
            let (text, after) = match std::str::from_utf8(rest) {
                Ok(text) => (text, &[][..]),
                Err(error) => {
                    let (valid, invalid) = rest.split_at(error.valid_up_to());
                    if error.error_len().is_none() {
                        position.incomplete = invalid.to_vec();
                    }
                    let skipped = error.error_len().map_or(invalid.len(), |_| 1);
                    (std::str::from_utf8(valid).unwrap_or_default(), &invalid[skipped..])
                }
            };
            self.add_text(text, position);
            rest = after;
        }
    }

    fn add_text(&mut self, text: &str, position: &mut Position) {
        self.chars += text.chars().count() as u64;
        for character in text.chars() {
            match u8::try_from(character).ok().filter(u8::is_ascii) {
                Some(byte) => self.add_bytes(&[byte], position),
                None if character.is_whitespace() => position.in_word = false,
                None => self.add_bytes(b"x", position),
            }
        }
    }

    fn add_bytes(&mut self, piece: &[u8], position: &mut Position) {
        for &byte in piece {
            match byte {
                b'\n' | b'\r' | b'\x0c' => {
                    self.lines += u64::from(byte == b'\n');
                    self.width = self.width.max(position.column);
                    position.column = 0;
                    position.in_word = false;
                }
                b'\t' => {
                    position.column += 8 - position.column % 8;
                    position.in_word = false;
                }
                b' ' | b'\x0b' => {
                    position.column += u64::from(byte == b' ');
                    position.in_word = false;
                }
                0x21..=0x7e => {
                    position.column += 1;
                    self.words += u64::from(!position.in_word);
                    position.in_word = true;
                }
                // Other bytes belong to no word and start none.
                _ => {}
            }
        }
    }

    fn add_total(&mut self, other: Counts) {
        self.lines += other.lines;
        self.words += other.words;
        self.chars += other.chars;
        self.bytes += other.bytes;
        self.width = self.width.max(other.width);
    }
}

/// The way to count.
#[derive(Clone, Copy)]
enum CountNeeds {
    /// Only lines and bytes.
    Lines,
    /// Everything, and a character is a byte.
    Bytes,
    /// Everything, and characters are UTF-8.
    Characters,
}

/// Which counts are written.
struct Columns {
    lines: bool,
    words: bool,
    chars: bool,
    bytes: bool,
    width: bool,
}

impl Columns {
    const ALL: Self = Self { lines: true, words: true, chars: true, bytes: true, width: true };

    fn new(arguments: &CommandArguments) -> Self {
        let flag = |name| arguments.flag(name);
        let any = ["lines", "words", "chars", "bytes", "max-line-length"].into_iter().any(flag);
        Self {
            lines: flag("lines") || !any,
            words: flag("words") || !any,
            chars: flag("chars"),
            bytes: flag("bytes") || !any,
            width: flag("max-line-length"),
        }
    }

    fn needs(&self, encoding: Encoding) -> CountNeeds {
        match (self.words || self.chars || self.width, encoding) {
            (false, _) => CountNeeds::Lines,
            (true, Encoding::Bytes) => CountNeeds::Bytes,
            (true, Encoding::Utf8) => CountNeeds::Characters,
        }
    }

    fn count(&self) -> usize {
        [self.lines, self.words, self.chars, self.bytes, self.width]
            .into_iter()
            .filter(|shown| *shown)
            .count()
    }

    fn line(&self, counts: Counts, width: usize, name: Option<&[u8]>) -> Vec<u8> {
        let columns = [
            (self.lines, counts.lines),
            (self.words, counts.words),
            (self.chars, counts.chars),
            (self.bytes, counts.bytes),
            (self.width, counts.width),
        ];
        let shown: Vec<String> = columns
            .into_iter()
            .filter(|(shown, _)| *shown)
            .map(|(_, number)| format!("{number:width$}"))
            .collect();
        let mut line = shown.join(" ").into_bytes();
        if let Some(name) = name {
            line.push(b' ');
            line.extend_from_slice(name);
        }
        line.push(b'\n');
        line
    }
}

fn run(context: &mut Context<'_>, arguments: &CommandArguments, _: &[Bytes]) -> Flow {
    let columns = Columns::new(arguments);
    let operands = &arguments.operands;
    let encoding = context.session().encoding();
    let needs = match arguments.flag(JSON) {
        true => Columns::ALL.needs(encoding),
        false => columns.needs(encoding),
    };
    run_text(context, |run| {
        run.collect_rows(&DESCRIPTOR, arguments);
        let width = number_width(run, operands, columns.count());
        let mut total = Counts::default();
        let mut work = |run: &mut TextRun<'_, '_>, input: &mut TextInput| {
            let counts = count(run, input, needs)?;
            total.add_total(counts);
            let name = (!operands.is_empty()).then(|| shown_name(&input.name));
            run.row(|| {
                let numbers = [counts.lines, counts.words, counts.chars, counts.bytes, counts.width];
                let cells = numbers.into_iter().map(JsonCell::from);
                let name = (!operands.is_empty()).then(|| input.name.clone());
                std::iter::once(JsonCell::from(name.as_deref())).chain(cells).collect()
            });
            run.write(&columns.line(counts, width, name.as_deref()))
        };
        if operands.is_empty() {
            run.each_input(operands, &mut work)?;
        }
        for name in operands {
            match name.is_empty() {
                true => run.problem("invalid zero-length file name"),
                false => run.each_input(std::slice::from_ref(name), &mut work)?,
            }
        }
        match operands[..] {
            [_, _, ..] => run.write(&columns.line(total, width, Some(b"total"))),
            _ => Ok(()),
        }
    })
}

/// The name of a file in the output. One with a newline is quoted.
fn shown_name(name: &Bytes) -> Vec<u8> {
    if name.contains(&b'\n') { quoted(name).into_bytes() } else { name.to_vec() }
}

fn count(run: &mut TextRun<'_, '_>, input: &mut TextInput, needs: CountNeeds) -> Result<Counts, Stop> {
    let (mut counts, mut position) = (Counts::default(), Position::default());
    loop {
        let piece = input.fill(run)?;
        let length = piece.len();
        if length == 0 {
            counts.width = counts.width.max(position.column);
            return Ok(counts);
        }
        counts.add(piece, &mut position, needs);
        input.consume(length);
    }
}

/// The width of the columns: that of the sum of all sizes. Files without a size need at least seven columns. A single number
/// needs no alignment.
fn number_width(run: &mut TextRun<'_, '_>, operands: &[Bytes], columns: usize) -> usize {
    const UNKNOWN_SIZE_WIDTH: usize = 7;
    if operands.len() <= 1 && columns == 1 {
        return 1;
    }
    let standard = [Bytes::from("-")];
    let (mut sum, mut least) = (0u64, 1);
    for name in if operands.is_empty() { &standard } else { operands } {
        match run.file_size(name) {
            FileSize::Regular(size) => sum += size,
            FileSize::Unknown => least = UNKNOWN_SIZE_WIDTH,
            FileSize::Missing => {}
        }
    }
    sum.to_string().len().max(least)
}
