//! The format of `-printf`.

use haft_fs::{FileType, Metadata, Timestamp};
use haft_text::printf::time_zone::LocalZone;

use super::super::mode::{mode_text, type_letter};
use super::super::run::last_component;
use super::super::time::format_time;
use super::expression::FileTime;
use crate::system::accounts::Accounts;
use crate::text::streams::{Stop, TextRun};

/// Digits after the point of seconds.
const SECOND_DIGITS: usize = 10;
const BLOCK_BYTES: u64 = 512;

/// A format, parsed.
pub(super) struct PrintFormat {
    pieces: Vec<FormatPiece>,
    zone: LocalZone,
    accounts: Accounts,
}

enum FormatPiece {
    Text(Vec<u8>),
    Field {
        left: bool,
        width: usize,
        zero: bool,
        precision: Option<usize>,
        letter: u8,
    },
    Time {
        left: bool,
        width: usize,
        time: FileTime,
        letter: u8,
    },
    /// `\c`
    Stop,
}

/// A file that was found.
pub(super) struct PrintedFile<'a> {
    pub(super) path: &'a [u8],
    /// The length of the operand in the path.
    pub(super) operand_length: usize,
    pub(super) depth: u64,
    pub(super) kind: FileType,
    /// `None` if the format does not need it.
    pub(super) metadata: Option<Metadata>,
    pub(super) target: Option<Vec<u8>>,
    /// The type after following a link.
    pub(super) followed: char,
}

impl PrintFormat {
    /// Whether the format shows more of a file than its name and type.
    pub(super) fn needs_metadata(&self) -> bool {
        self.pieces.iter().any(|piece| match piece {
            FormatPiece::Field { letter, .. } => !b"pfhPHdlyY".contains(letter),
            FormatPiece::Time { .. } => true,
            FormatPiece::Text(_) | FormatPiece::Stop => false,
        })
    }

    pub(super) fn parse(run: &mut TextRun<'_, '_>, format: &[u8]) -> Result<Self, Stop> {
        let session = run.context.session();
        let (zone, accounts) = (session.time_zone(), Accounts::read(session));
        let mut pieces = Vec::new();
        let mut text = Vec::new();
        let mut rest = format;
        while let Some((&byte, after)) = rest.split_first() {
            rest = match byte {
                b'\\' => match escape(after, &mut text) {
                    Escaped::Text(rest) => rest,
                    Escaped::Stop => {
                        pieces.push(FormatPiece::Text(std::mem::take(&mut text)));
                        pieces.push(FormatPiece::Stop);
                        break;
                    }
                },
                b'%' => {
                    pieces.push(FormatPiece::Text(std::mem::take(&mut text)));
                    let (piece, rest) = parse_directive(run, after)?;
                    pieces.push(piece);
                    rest
                }
                _ => {
                    text.push(byte);
                    after
                }
            };
        }
        pieces.push(FormatPiece::Text(text));
        Ok(Self { pieces, zone, accounts })
    }

    /// The text for a file.
    pub(super) fn format(&self, file: &PrintedFile<'_>) -> Vec<u8> {
        let mut output = Vec::new();
        for piece in &self.pieces {
            match piece {
                FormatPiece::Text(text) => output.extend_from_slice(text),
                FormatPiece::Field { left, width, zero, precision, letter } => {
                    let mut value = self.field(file, *letter);
                    let is_number = b"sbkniUGdDm".contains(letter);
                    if let Some(precision) = precision.filter(|_| !is_number) {
                        value.truncate(precision);
                    }
                    pad(value, *width, *left, *zero && is_number, &mut output);
                }
                FormatPiece::Time { left, width, time, letter } => {
                    let Some(metadata) = file.metadata else { continue };
                    let time = match time {
                        FileTime::Accessed => metadata.accessed,
                        FileTime::Modified => metadata.modified,
                        FileTime::Changed => metadata.changed,
                    };
                    pad(self.time(time, *letter), *width, *left, false, &mut output);
                }
                FormatPiece::Stop => break,
            }
        }
        output
    }

    fn field(&self, file: &PrintedFile<'_>, letter: u8) -> Vec<u8> {
        match letter {
            b'p' => file.path.to_vec(),
            b'f' => last_component(file.path).to_vec(),
            b'h' => directory(file.path).to_vec(),
            b'P' => {
                let below = &file.path[file.operand_length.min(file.path.len())..];
                below.strip_prefix(b"/").unwrap_or(below).to_vec()
            }
            b'H' => file.path[..file.operand_length.min(file.path.len())].to_vec(),
            b'd' => file.depth.to_string().into_bytes(),
            b'l' => file.target.clone().unwrap_or_default(),
            b'y' => vec![find_type(file.kind)],
            b'Y' => file.followed.to_string().into_bytes(),
            _ => file.metadata.map(|metadata| self.metadata_field(&metadata, letter)).unwrap_or_default(),
        }
    }

    fn metadata_field(&self, it: &Metadata, letter: u8) -> Vec<u8> {
        let account = |name: Option<&str>, id: u32| name.map_or_else(|| id.to_string(), str::to_owned);
        match letter {
            b's' => it.size.to_string().into_bytes(),
            b'b' => it.blocks.to_string().into_bytes(),
            b'k' => (it.blocks * BLOCK_BYTES).div_ceil(1024).to_string().into_bytes(),
            b'm' => format!("{:o}", it.mode).into_bytes(),
            b'M' => mode_text(it.kind, it.mode).into_bytes(),
            b'n' => it.links.to_string().into_bytes(),
            b'i' => it.inode.to_string().into_bytes(),
            b'D' => it.device.to_string().into_bytes(),
            b'u' => account(self.accounts.user_name(it.uid), it.uid).into_bytes(),
            b'g' => account(self.accounts.group_name(it.gid), it.gid).into_bytes(),
            b'U' => it.uid.to_string().into_bytes(),
            b'G' => it.gid.to_string().into_bytes(),
            b'a' => self.time(it.accessed, 0),
            b't' => self.time(it.modified, 0),
            _ => self.time(it.changed, 0),
        }
    }

    /// A time; the letter 0 means the form of `ctime`, with a fraction.
    fn time(&self, time: Timestamp, letter: u8) -> Vec<u8> {
        let fraction = format!(".{:09}0", time.nanoseconds);
        debug_assert_eq!(fraction.len(), SECOND_DIGITS + 1);
        let format = |format: &[u8]| format_time(&self.zone, format, time);
        match letter {
            0 => [&format(b"%a %b %e %H:%M:%S"), fraction.as_bytes(), &format(b" %Y")].concat(),
            b'@' => format!("{}{fraction}", time.seconds).into_bytes(),
            b'+' => [&format(b"%Y-%m-%d+%H:%M:%S"), fraction.as_bytes()].concat(),
            b'S' => [&format(b"%S"), fraction.as_bytes()].concat(),
            b'T' => [&format(b"%H:%M:%S"), fraction.as_bytes()].concat(),
            b'X' => [&format(b"%H:%M:%S"), fraction.as_bytes()].concat(),
            letter => format(&[b'%', letter]),
        }
    }
}

/// The letter of a type in `%y`.
pub(super) fn find_type(kind: FileType) -> u8 {
    match kind {
        FileType::File => b'f',
        kind => type_letter(kind),
    }
}

/// Everything before the last slash.
fn directory(path: &[u8]) -> &[u8] {
    match path.iter().rposition(|&byte| byte == b'/') {
        Some(slash) => &path[..slash],
        None => b".",
    }
}

fn pad(value: Vec<u8>, width: usize, left: bool, zero: bool, output: &mut Vec<u8>) {
    let missing = width.saturating_sub(value.len());
    let fill = std::iter::repeat_n(if zero && !left { b'0' } else { b' ' }, missing);
    if left {
        output.extend(value);
        output.extend(fill);
    } else {
        output.extend(fill);
        output.extend(value);
    }
}

fn parse_directive<'f>(run: &mut TextRun<'_, '_>, text: &'f [u8]) -> Result<(FormatPiece, &'f [u8]), Stop> {
    const MAX_WIDTH: usize = 4096;
    let flags = text.iter().take_while(|byte| b"-+ #0".contains(byte)).count();
    let (flags, rest) = text.split_at(flags);
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = |digits: &[u8]| str::from_utf8(digits).ok().and_then(|text| text.parse().ok());
    let width: usize = number(&rest[..digits]).unwrap_or(0).min(MAX_WIDTH);
    let mut rest = &rest[digits..];
    let mut precision = None;
    if let [b'.', after @ ..] = rest {
        let digits = after.iter().take_while(|byte| byte.is_ascii_digit()).count();
        precision = Some(number(&after[..digits]).unwrap_or(0));
        rest = &after[digits..];
    }
    let (left, zero) = (flags.contains(&b'-'), flags.contains(&b'0'));
    let Some((&letter, after)) = rest.split_first() else {
        return run.fail("error: % at end of format string");
    };
    let time = match letter {
        b'A' => Some(FileTime::Accessed),
        b'T' => Some(FileTime::Modified),
        b'C' => Some(FileTime::Changed),
        _ => None,
    };
    match (letter, time) {
        (b'%', _) => Ok((FormatPiece::Text(b"%".to_vec()), after)),
        (_, Some(time)) => match after.split_first() {
            Some((&letter, after)) => Ok((FormatPiece::Time { left, width, time, letter }, after)),
            None => run.fail("error: % at end of format string"),
        },
        _ if b"pfhPHdsbkmMniDugUGlyYatc".contains(&letter) => {
            Ok((FormatPiece::Field { left, width, zero, precision, letter }, after))
        }
        _ if b"FSZ".contains(&letter) => {
            let letter = char::from(letter);
            run.fail(format_args!("the directive `%{letter}' of -printf is not supported"))
        }
        _ => {
            let letter = char::from(letter);
            run.complain(format_args!("warning: unrecognized format directive `%{letter}'"));
            let shown = [b"%", &text[..text.len() - after.len()]].concat();
            Ok((FormatPiece::Text(shown), after))
        }
    }
}

/// The meaning of an escape sequence.
enum Escaped<'f> {
    /// Text was appended; this follows.
    Text(&'f [u8]),
    Stop,
}

fn escape<'f>(text: &'f [u8], output: &mut Vec<u8>) -> Escaped<'f> {
    let octal = text.iter().take(3).take_while(|byte| (b'0'..b'8').contains(byte)).count();
    if octal > 0 {
        let number = text[..octal].iter().fold(0u32, |sum, digit| sum * 8 + u32::from(digit - b'0'));
        output.push(u8::try_from(number & 0xff).unwrap_or_default());
        return Escaped::Text(&text[octal..]);
    }
    let Some((&letter, rest)) = text.split_first() else {
        output.push(b'\\');
        return Escaped::Text(text);
    };
    match letter {
        b'c' => return Escaped::Stop,
        b'a' => output.push(0x07),
        b'b' => output.push(0x08),
        b'f' => output.push(0x0c),
        b'n' => output.push(b'\n'),
        b'r' => output.push(b'\r'),
        b't' => output.push(b'\t'),
        b'v' => output.push(0x0b),
        b'\\' => output.push(b'\\'),
        other => output.extend_from_slice(&[b'\\', other]),
    }
    Escaped::Text(rest)
}
