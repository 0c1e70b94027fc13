//! The types of `od -t`.

/// How the data of a line is shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct OutputFormat {
    pub(super) kind: FormatKind,
    /// The bytes of one field.
    pub(super) size: usize,
    /// Whether the printable characters follow at the end of the line.
    pub(super) has_trailer: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FormatKind {
    /// `a`
    Named,
    /// `c`
    Character,
    /// `d`
    Signed,
    /// `u`
    Unsigned,
    /// `o`
    Octal,
    /// `x`
    Hexadecimal,
    /// `f`
    Float,
}

/// Why a type string is not valid.
pub(super) enum FormatError {
    Letter(u8),
    /// There is no type of this size and kind.
    Size(u64, &'static str),
    /// A number is too large.
    Number,
}

/// Names of the characters up to the space.
const NAMES: [&str; 33] = [
    "nul", "soh", "stx", "etx", "eot", "enq", "ack", "bel", "bs", "ht", "nl", "vt", "ff", "cr", "so", "si",
    "dle", "dc1", "dc2", "dc3", "dc4", "nak", "syn", "etb", "can", "em", "sub", "esc", "fs", "gs", "rs",
    "us", "sp",
];

/// The least common multiple of the sizes of all formats.
pub(super) fn common_size(formats: &[OutputFormat]) -> usize {
    // All sizes are powers of two.
    formats.iter().map(|format| format.size).max().unwrap_or(1)
}

impl OutputFormat {
    /// Parses a type string such as `x1z` or `d2c`.
    pub(super) fn parse_all(mut text: &[u8]) -> Result<Vec<Self>, FormatError> {
        let mut formats = Vec::new();
        while !text.is_empty() {
            let (format, rest) = Self::parse(text)?;
            formats.push(format);
            text = rest;
        }
        Ok(formats)
    }

    /// Parses the first type. Returns it and the rest of the text.
    fn parse(text: &[u8]) -> Result<(Self, &[u8]), FormatError> {
        let (letter, rest) = (text[0], &text[1..]);
        let kind = match letter {
            b'a' => FormatKind::Named,
            b'c' => FormatKind::Character,
            b'd' => FormatKind::Signed,
            b'u' => FormatKind::Unsigned,
            b'o' => FormatKind::Octal,
            b'x' => FormatKind::Hexadecimal,
            b'f' => FormatKind::Float,
            _ => return Err(FormatError::Letter(letter)),
        };
        let (size, rest) = match kind {
            FormatKind::Named | FormatKind::Character => (1, rest),
            FormatKind::Float => size(rest, &[(b'F', 4), (b'D', 8)], &[4, 8], 8, "floating point")?,
            _ => {
                let letters = [(b'C', 1), (b'S', 2), (b'I', 4), (b'L', 8)];
                size(rest, &letters, &[1, 2, 4, 8], 4, "integral")?
            }
        };
        let (has_trailer, rest) = match rest.strip_prefix(b"z") {
            Some(rest) => (true, rest),
            None => (false, rest),
        };
        Ok((Self { kind, size, has_trailer }, rest))
    }

    /// The width of a field without the space before it.
    pub(super) fn width(&self) -> usize {
        let of = |widths: [usize; 4]| widths[self.size.trailing_zeros() as usize];
        match self.kind {
            FormatKind::Named | FormatKind::Character => 3,
            FormatKind::Signed => of([4, 6, 11, 20]),
            FormatKind::Unsigned => of([3, 5, 10, 20]),
            FormatKind::Octal => of([3, 6, 11, 22]),
            FormatKind::Hexadecimal => self.size * 2,
            FormatKind::Float => of([0, 0, 15, 24]),
        }
    }

    /// A field as text. The bytes are in little-endian order.
    pub(super) fn show(&self, bytes: &[u8]) -> String {
        let mut all = [0; size_of::<u64>()];
        all[..self.size].copy_from_slice(&bytes[..self.size]);
        let number = u64::from_le_bytes(all);
        let (digits, shift) = (self.width(), 64 - 8 * self.size);
        match self.kind {
            FormatKind::Named => named(all[0]),
            FormatKind::Character => character(all[0]),
            FormatKind::Signed => (((number << shift).cast_signed()) >> shift).to_string(),
            FormatKind::Unsigned => number.to_string(),
            FormatKind::Octal => format!("{number:0digits$o}"),
            FormatKind::Hexadecimal => format!("{number:0digits$x}"),
            FormatKind::Float if self.size == 4 => {
                let [a, b, c, d, ..] = all;
                single(f32::from_le_bytes([a, b, c, d]))
            }
            FormatKind::Float => double(f64::from_le_bytes(all)),
        }
    }
}

/// Parses the size of a type: a letter, a number, or nothing.
fn size<'a>(
    text: &'a [u8],
    letters: &[(u8, usize)],
    sizes: &[u64],
    default: usize,
    kind: &'static str,
) -> Result<(usize, &'a [u8]), FormatError> {
    if let Some((_, size)) = letters.iter().find(|(letter, _)| text.first() == Some(letter)) {
        return Ok((*size, &text[1..]));
    }
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if digits == 0 {
        return Ok((default, text));
    }
    let number: Option<u64> = str::from_utf8(&text[..digits]).ok().and_then(|text| text.parse().ok());
    let number = number.ok_or(FormatError::Number)?;
    match sizes.contains(&number) {
        true => Ok((usize::try_from(number).unwrap_or(default), &text[digits..])),
        false => Err(FormatError::Size(number, kind)),
    }
}

fn named(byte: u8) -> String {
    let masked = byte & 0x7f;
    match NAMES.get(usize::from(masked)) {
        Some(name) => (*name).to_owned(),
        None if masked == 0x7f => "del".to_owned(),
        None => char::from(masked).to_string(),
    }
}

fn character(byte: u8) -> String {
    match byte {
        0 => "\\0".to_owned(),
        0x07 => "\\a".to_owned(),
        0x08 => "\\b".to_owned(),
        0x0c => "\\f".to_owned(),
        b'\n' => "\\n".to_owned(),
        b'\r' => "\\r".to_owned(),
        b'\t' => "\\t".to_owned(),
        0x0b => "\\v".to_owned(),
        b' '..=b'~' => char::from(byte).to_string(),
        _ => format!("{byte:03o}"),
    }
}

/// The shortest text of at least 6 digits that is read back as the same number. A subnormal number may have fewer digits.
fn single(number: f32) -> String {
    let least = if number.abs() < f32::MIN_POSITIVE { 1 } else { 6 };
    shortest(f64::from(number), least, 9, |text| text.parse() == Ok(number))
}

/// The same with at least 15 digits.
fn double(number: f64) -> String {
    let least = if number.abs() < f64::MIN_POSITIVE { 1 } else { 15 };
    shortest(number, least, 17, |text| text.parse() == Ok(number))
}

fn shortest(number: f64, least: usize, most: usize, is_same: impl Fn(&str) -> bool) -> String {
    let sign = if number.is_sign_negative() { "-" } else { "" };
    if number.is_nan() || number.is_infinite() {
        return format!("{sign}{}", if number.is_nan() { "nan" } else { "inf" });
    }
    let scientific = (least..=most)
        .map(|digits| format!("{:.*e}", digits - 1, number))
        .enumerate()
        .find(|(index, text)| least + index == most || is_same(text));
    let (index, text) = scientific.unwrap_or_default();
    general(&text, least + index)
}

/// Converts a number such as `-1.50e-7` to the form of `%g` with this precision.
fn general(scientific: &str, precision: usize) -> String {
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", mantissa),
    };
    let all: String = mantissa.chars().filter(|letter| *letter != '.').collect();
    let digits = all.trim_end_matches('0');
    let digits = if digits.is_empty() { "0" } else { digits };
    let with_point = |whole: &str, fraction: &str| match fraction {
        "" => whole.to_owned(),
        _ => format!("{whole}.{fraction}"),
    };
    match usize::try_from(exponent) {
        Ok(exponent) if exponent < precision => {
            let padded = format!("{digits:0<0$}", exponent + 1);
            let (whole, fraction) = padded.split_at(exponent + 1);
            format!("{sign}{}", with_point(whole, fraction))
        }
        Err(_) if exponent >= -4 => {
            let zeros = "0".repeat(usize::try_from(-exponent - 1).unwrap_or_default());
            format!("{sign}0.{zeros}{digits}")
        }
        _ => {
            let (whole, fraction) = digits.split_at(1);
            let exponent_sign = if exponent < 0 { '-' } else { '+' };
            format!("{sign}{}e{exponent_sign}{:02}", with_point(whole, fraction), exponent.abs())
        }
    }
}
