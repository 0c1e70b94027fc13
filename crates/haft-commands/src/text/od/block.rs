//! The lines of `od`.

use super::super::streams::{Stop, TextRun};
use super::format::{OutputFormat, common_size};
use super::input::JoinedInput;

/// How addresses are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Addresses {
    Octal,
    Decimal,
    Hexadecimal,
    None,
}

impl Addresses {
    fn show(self, address: u64) -> String {
        match self {
            Self::Octal => format!("{address:07o}"),
            Self::Decimal => format!("{address:07}"),
            Self::Hexadecimal => format!("{address:06x}"),
            Self::None => String::new(),
        }
    }

    fn width(self) -> usize {
        match self {
            Self::Octal | Self::Decimal => 7,
            Self::Hexadecimal => 6,
            Self::None => 0,
        }
    }
}

/// Writes blocks of data, each in one line per format.
pub(super) struct BlockWriter {
    formats: Vec<OutputFormat>,
    /// The bytes of a block.
    size: usize,
    addresses: Addresses,
    is_big_endian: bool,
    pub(super) shows_duplicates: bool,
    /// The width of the widest line, without its address.
    line_width: usize,
    previous: Vec<u8>,
    /// Whether the lines before are shown as `*`.
    is_repeating: bool,
}

impl BlockWriter {
    pub(super) fn new(
        formats: Vec<OutputFormat>,
        size: usize,
        addresses: Addresses,
        is_big_endian: bool,
    ) -> Self {
        let widths = formats.iter().map(|format| (format.width() + 1) * (size / format.size));
        let line_width = widths.max().unwrap_or(0);
        Self {
            formats,
            size,
            addresses,
            is_big_endian,
            shows_duplicates: false,
            line_width,
            previous: Vec::new(),
            is_repeating: false,
        }
    }

    /// Writes the input from this address up to `end`.
    pub(super) fn dump(
        &mut self,
        run: &mut TextRun<'_, '_>,
        input: &mut JoinedInput,
        mut address: u64,
        end: Option<u64>,
    ) -> Result<(), Stop> {
        let mut block = Vec::new();
        loop {
            let left = end.map_or(u64::MAX, |end| end - address);
            let wanted = self.size.min(usize::try_from(left).unwrap_or(usize::MAX));
            input.read(run, wanted, end.is_some(), &mut block)?;
            let length = block.len();
            if length > 0 {
                let unit = common_size(&self.formats);
                block.resize(length.next_multiple_of(unit), 0);
                self.write(run, address, &block, length)?;
                address += length as u64;
            }
            if length < self.size {
                break;
            }
        }
        if self.addresses != Addresses::None {
            run.write(format!("{}\n", self.addresses.show(address)).as_bytes())?;
        }
        Ok(())
    }

    /// Writes a block, whose first `length` bytes are data.
    fn write(
        &mut self,
        run: &mut TextRun<'_, '_>,
        address: u64,
        block: &[u8],
        length: usize,
    ) -> Result<(), Stop> {
        if !self.shows_duplicates && length == self.size && self.previous == block {
            if !self.is_repeating {
                run.write(b"*\n")?;
            }
            self.is_repeating = true;
            return Ok(());
        }
        self.is_repeating = false;
        let mut prefix = self.addresses.show(address);
        for format in &self.formats {
            let line = self.line(format, block, length);
            run.write(format!("{prefix}{line}\n").as_bytes())?;
            prefix = " ".repeat(self.addresses.width());
        }
        self.previous.clear();
        self.previous.extend_from_slice(block);
        Ok(())
    }

    /// The fields of a block in one format.
    fn line(&self, format: &OutputFormat, block: &[u8], length: usize) -> String {
        let fields = self.size / format.size;
        let blank = (self.size - length) / format.size;
        let (width, pad) = (format.width(), self.line_width - format.width() * fields);
        let mut line = String::new();
        let mut left = pad;
        for (index, bytes) in block.chunks(format.size).take(fields - blank).enumerate() {
            let next = pad * (fields - index - 1) / fields;
            let field_width = left - next + width;
            left = next;
            let shown = match self.is_big_endian {
                true => format.show(&bytes.iter().rev().copied().collect::<Vec<u8>>()),
                false => format.show(bytes),
            };
            line.push_str(&format!("{shown:>field_width$}"));
        }
        if format.has_trailer {
            line.push_str(&" ".repeat(blank * width + pad * blank / fields));
            let is_shown = |byte: &u8| (b' '..=b'~').contains(byte);
            let characters =
                block[..length].iter().map(|byte| if is_shown(byte) { char::from(*byte) } else { '.' });
            line.push_str(&format!("  >{}<", characters.collect::<String>()));
        }
        line
    }
}
