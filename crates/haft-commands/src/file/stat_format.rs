//! The formats of `stat`.

use haft_fs::{FileType, Metadata, Timestamp};
use haft_text::encoding::Encoding;
use haft_text::printf::time_zone::LocalZone;

use super::mode::{mode_text, raw_mode};
use super::quote::{QuotingStyle, quote};
use super::time::format_time;
use crate::system::accounts::Accounts;

/// The largest width and precision.
const MAX_FIELD: usize = 4096;
const BLOCK_BYTES: u64 = 512;
const NANOSECOND_DIGITS: usize = 9;

/// The settings for all files.
pub(crate) struct StatFormatter {
    pub(crate) accounts: Accounts,
    pub(crate) zone: LocalZone,
    pub(crate) encoding: Encoding,
    /// How `%N` quotes names.
    pub(crate) style: QuotingStyle,
    /// Whether backslashes are special.
    pub(crate) escapes: bool,
}

/// A file.
pub(crate) struct StatSubject<'a> {
    pub(crate) name: &'a [u8],
    pub(crate) metadata: Metadata,
    pub(crate) target: Option<Vec<u8>>,
    pub(crate) birth: Option<Timestamp>,
}

/// Flags, width and precision of a directive.
#[derive(Default)]
struct FieldSpec {
    left: bool,
    zero: bool,
    alternate: bool,
    plus: bool,
    blank: bool,
    width: usize,
    /// `Some(None)` is a precision without digits.
    precision: Option<Option<usize>>,
}

/// The value of a directive.
enum FieldValue {
    Text(Vec<u8>),
    Unsigned(u64),
    Signed(u64),
    Octal(u64),
    Hexadecimal(u64),
    Epoch(Option<Timestamp>),
    /// Unknown directives are shown as `?`.
    Unknown,
}

impl StatFormatter {
    /// Appends the text of a format.
    pub(crate) fn format(
        &self,
        format: &[u8],
        subject: &StatSubject<'_>,
        output: &mut Vec<u8>,
    ) -> Result<(), String> {
        let mut rest = format;
        while let Some((&byte, after)) = rest.split_first() {
            rest = match byte {
                b'%' => self.directive(after, subject, output)?,
                b'\\' if self.escapes => escape(after, output),
                _ => {
                    output.push(byte);
                    after
                }
            };
        }
        Ok(())
    }

    /// Appends a directive, and returns what follows it.
    fn directive<'f>(
        &self,
        text: &'f [u8],
        subject: &StatSubject<'_>,
        output: &mut Vec<u8>,
    ) -> Result<&'f [u8], String> {
        let (spec, rest) = parse_spec(text);
        let (part, rest) = match rest {
            [part @ (b'H' | b'L'), b'd' | b'r', ..] => (Some(*part), &rest[1..]),
            _ => (None, rest),
        };
        let Some((&letter, after)) = rest.split_first() else {
            output.push(b'%');
            return Ok(rest);
        };
        // A newline that `-c` added is not a directive.
        if letter == b'\n' && after.is_empty() && !self.escapes {
            output.push(b'%');
            return Ok(rest);
        }
        if letter == b'%' {
            output.push(b'%');
            return Ok(after);
        }
        if matches!(letter, b'm' | b'C') {
            return Err(format!("directive '%{}' is not supported", char::from(letter)));
        }
        output.extend(self.value(letter, part, subject).render(&spec));
        Ok(after)
    }

    fn value(&self, letter: u8, part: Option<u8>, subject: &StatSubject<'_>) -> FieldValue {
        let it = &subject.metadata;
        let time = |time| FieldValue::Text(format_time(&self.zone, b"%Y-%m-%d %H:%M:%S.%N %z", time));
        let name = |name: Option<&str>| FieldValue::Text(name.unwrap_or("UNKNOWN").as_bytes().to_vec());
        let device = |id: u64| match part {
            Some(b'H') => u64::from(rustix::fs::major(id)),
            Some(_) => u64::from(rustix::fs::minor(id)),
            None => id,
        };
        match letter {
            b'n' => FieldValue::Text(subject.name.to_vec()),
            b'N' => FieldValue::Text(self.quoted_name(subject)),
            b'a' => FieldValue::Octal(u64::from(it.mode)),
            b'A' => FieldValue::Text(mode_text(it.kind, it.mode).into_bytes()),
            b'b' => FieldValue::Unsigned(it.blocks),
            b'B' => FieldValue::Unsigned(BLOCK_BYTES),
            b'd' => FieldValue::Unsigned(device(it.device)),
            b'D' => FieldValue::Hexadecimal(it.device),
            b'f' => FieldValue::Hexadecimal(u64::from(raw_mode(it.kind, it.mode))),
            b'F' => FieldValue::Text(type_name(it).as_bytes().to_vec()),
            b'g' => FieldValue::Unsigned(u64::from(it.gid)),
            b'G' => name(self.accounts.group_name(it.gid)),
            b'h' => FieldValue::Unsigned(it.links),
            b'i' => FieldValue::Unsigned(it.inode),
            b'o' => FieldValue::Unsigned(it.block_size),
            b'r' => FieldValue::Unsigned(device(it.special_device)),
            b'R' => FieldValue::Hexadecimal(it.special_device),
            b's' => FieldValue::Signed(it.size),
            b't' => FieldValue::Hexadecimal(u64::from(rustix::fs::major(it.special_device))),
            b'T' => FieldValue::Hexadecimal(u64::from(rustix::fs::minor(it.special_device))),
            b'u' => FieldValue::Unsigned(u64::from(it.uid)),
            b'U' => name(self.accounts.user_name(it.uid)),
            b'w' => subject.birth.map_or_else(|| FieldValue::Text(b"-".to_vec()), time),
            b'W' => FieldValue::Epoch(subject.birth),
            b'x' => time(it.accessed),
            b'X' => FieldValue::Epoch(Some(it.accessed)),
            b'y' => time(it.modified),
            b'Y' => FieldValue::Epoch(Some(it.modified)),
            b'z' => time(it.changed),
            b'Z' => FieldValue::Epoch(Some(it.changed)),
            _ => FieldValue::Unknown,
        }
    }

    fn quoted_name(&self, subject: &StatSubject<'_>) -> Vec<u8> {
        let quoted = |name: &[u8]| quote(name, self.style, self.encoding, b"");
        match &subject.target {
            Some(target) => [quoted(subject.name).as_slice(), b" -> ", &quoted(target)].concat(),
            None => quoted(subject.name),
        }
    }
}

fn type_name(metadata: &Metadata) -> &'static str {
    match metadata.kind {
        FileType::File if metadata.size == 0 => "regular empty file",
        FileType::File => "regular file",
        FileType::Directory => "directory",
        FileType::Symlink => "symbolic link",
        FileType::Fifo => "fifo",
        FileType::Socket => "socket",
        FileType::CharacterDevice => "character special file",
        FileType::BlockDevice => "block special file",
    }
}

fn parse_spec(text: &[u8]) -> (FieldSpec, &[u8]) {
    let mut spec = FieldSpec::default();
    let mut rest = text;
    while let [flag @ (b'-' | b'0' | b'#' | b'+' | b' ' | b'\''), after @ ..] = rest {
        match flag {
            b'-' => spec.left = true,
            b'0' => spec.zero = true,
            b'#' => spec.alternate = true,
            b'+' => spec.plus = true,
            b' ' => spec.blank = true,
            _ => {}
        }
        rest = after;
    }
    let (width, after) = digits(rest);
    spec.width = width.unwrap_or(0);
    rest = after;
    if let [b'.', after @ ..] = rest {
        let (precision, after) = digits(after);
        spec.precision = Some(precision);
        rest = after;
    }
    (spec, rest)
}

fn digits(text: &[u8]) -> (Option<usize>, &[u8]) {
    let (number, rest) = text.split_at(text.iter().take_while(|byte| byte.is_ascii_digit()).count());
    let number = str::from_utf8(number).ok().filter(|text| !text.is_empty());
    (number.map(|text| text.parse().unwrap_or(MAX_FIELD).min(MAX_FIELD)), rest)
}

impl FieldValue {
    fn render(self, spec: &FieldSpec) -> Vec<u8> {
        match self {
            Self::Text(text) => {
                let end = spec.precision.map_or(text.len(), |digits| digits.unwrap_or(0).min(text.len()));
                pad(text[..end].to_vec(), spec.width, spec.left)
            }
            Self::Unsigned(number) => number_text("", &number.to_string(), spec),
            Self::Signed(number) => number_text(sign(spec), &number.to_string(), spec),
            Self::Octal(number) => {
                let prefix = if spec.alternate && number != 0 { "0" } else { "" };
                number_text("", &format!("{prefix}{number:o}"), spec)
            }
            Self::Hexadecimal(number) => {
                let prefix = if spec.alternate && number != 0 { "0x" } else { "" };
                number_text(prefix, &format!("{number:x}"), spec)
            }
            Self::Epoch(time) => epoch_text(time.unwrap_or_default(), spec),
            Self::Unknown => pad(b"?".to_vec(), spec.width, spec.left),
        }
    }
}

fn sign(spec: &FieldSpec) -> &'static str {
    match (spec.plus, spec.blank) {
        (true, _) => "+",
        (false, true) => " ",
        (false, false) => "",
    }
}

fn number_text(prefix: &str, digits: &str, spec: &FieldSpec) -> Vec<u8> {
    let least = spec.precision.map_or(0, |digits| digits.unwrap_or(0));
    let zeros = match spec.precision {
        None if spec.zero && !spec.left => spec.width.saturating_sub(prefix.len() + digits.len()),
        _ => least.saturating_sub(digits.len()),
    };
    let text = format!("{prefix}{}{digits}", "0".repeat(zeros));
    pad(text.into_bytes(), spec.width, spec.left)
}

/// Seconds since the epoch, with as many decimals as the precision says.
fn epoch_text(time: Timestamp, spec: &FieldSpec) -> Vec<u8> {
    let decimals = spec.precision.map_or(0, |digits| digits.unwrap_or(NANOSECOND_DIGITS));
    let negative = time.seconds < 0;
    let (whole, nanoseconds) = match (negative, time.nanoseconds) {
        (true, 1..) => (time.seconds + 1, 1_000_000_000 - time.nanoseconds),
        (_, nanoseconds) => (time.seconds, nanoseconds),
    };
    // Without decimals, the time is rounded down.
    let whole = if decimals == 0 { time.seconds } else { whole };
    let mut text = whole.unsigned_abs().to_string();
    if decimals > 0 {
        let fraction = format!("{nanoseconds:09}");
        let shown = &fraction[..decimals.min(NANOSECOND_DIGITS)];
        text += &format!(".{shown}{}", "0".repeat(decimals.saturating_sub(NANOSECOND_DIGITS)));
    }
    let sign = if negative { "-" } else { sign(spec) };
    let zeros = match spec.zero && !spec.left {
        true => spec.width.saturating_sub(sign.len() + text.len()),
        false => 0,
    };
    pad(format!("{sign}{}{text}", "0".repeat(zeros)).into_bytes(), spec.width, spec.left)
}

fn pad(text: Vec<u8>, width: usize, left: bool) -> Vec<u8> {
    let missing = width.saturating_sub(text.len());
    let fill = vec![b' '; missing];
    if left { [text, fill].concat() } else { [fill, text].concat() }
}

/// Appends an escape sequence, and returns what follows it.
fn escape<'f>(text: &'f [u8], output: &mut Vec<u8>) -> &'f [u8] {
    let octal = text.iter().take(3).take_while(|byte| (b'0'..b'8').contains(byte)).count();
    if octal > 0 {
        let number = text[..octal].iter().fold(0u32, |sum, digit| sum * 8 + u32::from(digit - b'0'));
        output.push(u8::try_from(number & 0xff).unwrap_or_default());
        return &text[octal..];
    }
    let Some((&letter, rest)) = text.split_first() else {
        output.push(b'\\');
        return text;
    };
    if letter == b'x' {
        let count = rest.iter().take(2).take_while(|byte| byte.is_ascii_hexdigit()).count();
        let number = str::from_utf8(&rest[..count]).ok().and_then(|text| u8::from_str_radix(text, 16).ok());
        if let Some(number) = number {
            output.push(number);
            return &rest[count..];
        }
    }
    output.push(match letter {
        b'a' => 0x07,
        b'b' => 0x08,
        b'e' => 0x1b,
        b'f' => 0x0c,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 0x0b,
        other => other,
    });
    rest
}
