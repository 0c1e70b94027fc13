//! The format of `seq -f`.

use haft_kernel::Bytes;
use haft_text::encoding::Encoding;
use haft_text::printf::time_zone::LocalZone;
use haft_text::printf::{LocalTime, PrintfHost, PrintfTime, print};

/// The most significant digits of a `long double` that are exact.
const EXACT_DIGITS: usize = 18;

/// A format with one directive for a number.
pub(super) struct NumberFormat {
    text: Vec<u8>,
    precision: usize,
    conversion: u8,
}

/// Why a format is not valid, or not supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FormatProblem {
    NoDirective,
    /// The directive has no letter.
    Incomplete,
    TooMany,
    Unknown(u8),
    NotSupported,
}

impl NumberFormat {
    pub(super) fn parse(text: &[u8]) -> Result<Self, FormatProblem> {
        let start = next_directive(text, 0).ok_or(FormatProblem::NoDirective)?;
        let count =
            |from: usize, is_part: fn(&u8) -> bool| text[from..].iter().take_while(|it| is_part(it)).count();
        let mut at = start + 1;
        let flags = count(at, |byte| b"-+#0 '".contains(byte));
        let has_grouping = text[at..at + flags].contains(&b'\'');
        at += flags;
        at += count(at, u8::is_ascii_digit);
        let mut precision = None;
        if text.get(at) == Some(&b'.') {
            let digits = count(at + 1, u8::is_ascii_digit);
            precision = Some(&text[at + 1..at + 1 + digits]);
            at += 1 + digits;
        }
        let modifier = at;
        at += usize::from(text.get(at) == Some(&b'L'));
        let conversion = *text.get(at).ok_or(FormatProblem::Incomplete)?;
        if !b"efgaEFGA".contains(&conversion) {
            return Err(FormatProblem::Unknown(conversion));
        }
        if next_directive(text, at + 1).is_some() {
            return Err(FormatProblem::TooMany);
        }
        if has_grouping || b"aA".contains(&conversion) || at - start > EXACT_DIGITS {
            return Err(FormatProblem::NotSupported);
        }
        let precision = precision
            .map_or(6, |digits| digits.iter().fold(0, |n, digit| n * 10 + usize::from(digit - b'0')));
        Ok(Self { text: escaped(&[&text[..modifier], &text[at..]].concat()), precision, conversion })
    }

    /// Whether all digits of numbers with so many digits before and after the point are shown, and no others.
    pub(super) fn is_exact(&self, whole: usize, places: usize) -> bool {
        let digits = whole + places;
        let shown = match self.conversion.to_ascii_lowercase() {
            b'f' => {
                return self.precision >= places && (places == 0 || whole + self.precision <= EXACT_DIGITS);
            }
            b'e' => self.precision.saturating_add(1),
            _ => self.precision,
        };
        digits <= shown && (places == 0 || shown <= EXACT_DIGITS) && digits <= EXACT_DIGITS
    }

    /// Formats `value / 10^places`.
    pub(super) fn show(&self, value: i128, places: usize, mut host: FormatHost) -> Vec<u8> {
        let number = super::shown(value, places, 0);
        print(&self.text, &[Bytes::from(number.as_str())], &mut host).output
    }
}

/// The position of the next `%` that starts a directive.
fn next_directive(text: &[u8], mut from: usize) -> Option<usize> {
    loop {
        let at = from + memchr::memchr(b'%', text.get(from..)?)?;
        if text.get(at + 1) != Some(&b'%') {
            return Some(at);
        }
        from = at + 2;
    }
}

/// The text without escape sequences, which `printf` would replace.
fn escaped(text: &[u8]) -> Vec<u8> {
    text.iter().flat_map(|byte| if *byte == b'\\' { b"\\\\".to_vec() } else { vec![*byte] }).collect()
}

/// The services that formatting a number needs.
#[derive(Clone, Copy)]
pub(super) struct FormatHost {
    pub(super) encoding: Encoding,
}

impl PrintfHost for FormatHost {
    fn local_time(&mut self, _: PrintfTime) -> LocalTime {
        LocalZone::utc().local_time(0)
    }

    fn encoding(&self) -> Encoding {
        self.encoding
    }

    fn is_cancelled(&mut self) -> bool {
        false
    }

    fn reserve(&mut self, _: usize) -> bool {
        true
    }
}
