//! The layouts of `ls`: columns, rows and long listings.

use haft_fs::FileType;
use haft_kernel::Bytes;
use haft_text::encoding::Encoding;
use haft_text::printf::time_zone::LocalZone;
use unicode_width::UnicodeWidthChar;

use super::super::human::format_size;
use super::super::mode::mode_text;
use super::super::quote::{QuotingStyle, quote};
use super::super::time::{format_time, now};
use super::entry::{ListedFile, indicator};
use super::options::{Layout, ListOptions};
use crate::system::accounts::Accounts;

const BLOCK_BYTES: u64 = 512;
const TAB_WIDTH: usize = 8;
/// The least width of a column: a character and two blanks.
const MIN_COLUMN_WIDTH: usize = 3;
/// Blanks between columns.
const GAP: usize = 2;

/// The layout of a listing.
pub(super) struct Lister<'a> {
    pub(super) options: &'a ListOptions,
    pub(super) encoding: Encoding,
    pub(super) zone: Option<LocalZone>,
    pub(super) accounts: Option<Accounts>,
    /// Widths of other files than those that are listed, and whether a name is quoted.
    pub(super) measured: Option<(Widths, bool)>,
}

/// A file as text, without what depends on the other files.
struct Cells {
    inode: String,
    blocks: String,
    links: String,
    owner: (String, bool),
    group: (String, bool),
    size: String,
    device: Option<(String, String)>,
}

/// The widths of the columns.
#[derive(Clone, Copy, Default)]
pub(super) struct Widths {
    inode: usize,
    blocks: usize,
    links: usize,
    owner: usize,
    group: usize,
    size: usize,
    major: usize,
    minor: usize,
}

impl Lister<'_> {
    /// The files as text.
    pub(super) fn render(&self, files: &[ListedFile]) -> Vec<u8> {
        let cells: Vec<Cells> = files.iter().map(|file| self.cells(file)).collect();
        let (widths, is_quoted) = match self.measured {
            Some(measured) => measured,
            None => (widths(&cells), files.iter().any(|file| self.is_quoted(&file.name))),
        };
        let pads = is_quoted && self.may_pad();
        match self.options.layout {
            Layout::Long => {
                let lines =
                    files.iter().zip(&cells).map(|(file, cells)| self.long_line(file, cells, &widths, pads));
                lines.collect::<Vec<_>>().concat()
            }
            Layout::OnePerLine => {
                let items = self.items(files, &cells, &widths, false);
                items.into_iter().flat_map(|(item, _)| [item, b"\n".to_vec()].concat()).collect()
            }
            Layout::Commas => self.commas(&self.items(files, &cells, &Widths::default(), false)),
            Layout::Columns => self.columns(&self.items(files, &cells, &widths, pads)),
            Layout::Across => self.rows(&self.items(files, &cells, &widths, pads)),
        }
    }

    /// The line with the number of blocks of all files.
    pub(super) fn total(&self, files: &[ListedFile]) -> String {
        let blocks: u64 = files.iter().filter_map(|file| file.metadata).map(|metadata| metadata.blocks).sum();
        format!("total {}\n", format_size(blocks * BLOCK_BYTES, self.options.block_unit))
    }

    /// Uses the widths of these files for the next listing.
    pub(super) fn measure(&mut self, files: &[ListedFile], names: &[Bytes]) {
        let cells: Vec<Cells> = files.iter().map(|file| self.cells(file)).collect();
        self.measured = Some((widths(&cells), names.iter().any(|name| self.is_quoted(name))));
    }

    /// Uses the widths of the files that are listed.
    pub(super) fn forget_measures(&mut self) {
        self.measured = None;
    }

    /// Whether names without quotes are moved below those with quotes.
    fn may_pad(&self) -> bool {
        let style = self.options.quoting;
        let varies = matches!(style, QuotingStyle::Shell | QuotingStyle::ShellEscape);
        let in_columns = matches!(self.options.layout, Layout::Columns | Layout::Across);
        let aligned = self.options.layout == Layout::Long || in_columns && self.options.width > 0;
        varies && aligned
    }

    fn is_quoted(&self, name: &[u8]) -> bool {
        quote(name, self.options.quoting, self.encoding, b"").first() != name.first()
    }

    /// A name as it is shown.
    pub(super) fn name(&self, name: &[u8], special: &[u8]) -> Vec<u8> {
        let style = self.options.quoting;
        let special = if style == QuotingStyle::Escape { [b" ", special].concat() } else { Vec::new() };
        let shown = quote(name, style, self.encoding, &special);
        let escapes =
            matches!(style, QuotingStyle::Literal | QuotingStyle::Shell | QuotingStyle::ShellAlways);
        if !self.options.hide_controls || !escapes {
            return shown;
        }
        let mut hidden = Vec::new();
        let mut rest = shown.as_slice();
        while !rest.is_empty() {
            let (character, after) = rest.split_at(self.encoding.character_length(rest).max(1));
            let text = str::from_utf8(character).ok().filter(|text| text.is_ascii() || character.len() > 1);
            match text.is_some_and(|text| !text.contains(char::is_control)) {
                true => hidden.extend_from_slice(character),
                false => hidden.push(b'?'),
            }
            rest = after;
        }
        hidden
    }

    fn cells(&self, file: &ListedFile) -> Cells {
        let unknown = || "?".to_owned();
        let metadata = file.metadata;
        let account = |name: Option<&str>, id: u32| match name {
            Some(name) if !self.options.columns.numeric => (name.to_owned(), true),
            _ => (id.to_string(), false),
        };
        let accounts = self.accounts.as_ref();
        let owner = metadata.map_or_else(
            || (unknown(), true),
            |it| account(accounts.and_then(|all| all.user_name(it.uid)), it.uid),
        );
        let group = metadata.map_or_else(
            || (unknown(), true),
            |it| account(accounts.and_then(|all| all.group_name(it.gid)), it.gid),
        );
        let is_device = matches!(file.kind(), Some(FileType::CharacterDevice | FileType::BlockDevice))
            && metadata.is_some();
        let device = is_device.then(|| {
            let id = metadata.map_or(0, |it| it.special_device);
            (rustix::fs::major(id).to_string(), rustix::fs::minor(id).to_string())
        });
        Cells {
            inode: metadata.map_or_else(unknown, |it| it.inode.to_string()),
            blocks: metadata
                .map_or_else(unknown, |it| format_size(it.blocks * BLOCK_BYTES, self.options.block_unit)),
            links: metadata.map_or_else(unknown, |it| it.links.to_string()),
            owner,
            group,
            size: metadata.map_or_else(unknown, |it| format_size(it.size, self.options.size_unit)),
            device,
        }
    }

    fn prefix(&self, cells: &Cells, widths: &Widths) -> String {
        let mut text = String::new();
        if self.options.inode {
            text += &format!("{:>1$} ", cells.inode, widths.inode);
        }
        if self.options.blocks {
            text += &format!("{:>1$} ", cells.blocks, widths.blocks);
        }
        text
    }

    fn long_line(&self, file: &ListedFile, cells: &Cells, widths: &Widths, pads: bool) -> Vec<u8> {
        let mut line = self.prefix(cells, widths).into_bytes();
        let mode = match (file.metadata, file.kind()) {
            (Some(metadata), _) => mode_text(metadata.kind, metadata.mode),
            (None, kind) => {
                let letter = kind.map_or('?', |kind| char::from(super::super::mode::type_letter(kind)));
                format!("{letter}?????????")
            }
        };
        line.extend(format!("{mode} {:>1$} ", cells.links, widths.links).bytes());
        for (shown, cell, width) in [
            (self.options.columns.owner, &cells.owner, widths.owner),
            (self.options.columns.group, &cells.group, widths.group),
        ] {
            match (shown, cell) {
                (false, _) => {}
                (true, (name, true)) => line.extend(format!("{name:<width$} ").bytes()),
                (true, (id, false)) => line.extend(format!("{id:>width$} ").bytes()),
            }
        }
        match &cells.device {
            Some((major, minor)) => {
                let width = widths.major.max(widths.size.saturating_sub(GAP + widths.minor));
                line.extend(format!("{major:>width$}, {minor:>0$} ", widths.minor).bytes());
            }
            None => line.extend(format!("{:>1$} ", cells.size, widths.size).bytes()),
        }
        line.extend(self.time(file));
        line.push(b' ');
        if pads && !self.is_quoted(&file.name) {
            line.push(b' ');
        }
        line.extend(self.name(&file.name, b""));
        self.finish_long_line(file, &mut line);
        line
    }

    /// Adds the target of a link, or the indicator.
    fn finish_long_line(&self, file: &ListedFile, line: &mut Vec<u8>) {
        match &file.target {
            Some(target) if file.kind() == Some(FileType::Symlink) => {
                line.extend_from_slice(b" -> ");
                line.extend(self.name(target, b""));
                let found = file.target_metadata;
                line.extend(found.and_then(|it| indicator(it.kind, it.mode, self.options.indicator)));
            }
            _ if file.kind() == Some(FileType::Symlink) => {}
            _ => line.extend(file.indicator(self.options.indicator)),
        }
        line.push(b'\n');
    }

    fn time(&self, file: &ListedFile) -> Vec<u8> {
        let Some(zone) = self.zone.as_ref() else { return Vec::new() };
        let (time, formats) = (file.time(self.options.time), &self.options.formats);
        let is_recent = ListOptions::is_recent(time, now());
        let shown = format_time(zone, if is_recent { &formats.recent } else { &formats.other }, time);
        match file.metadata {
            Some(_) => shown,
            // As wide as a real time.
            None => format!("{:>1$}", "?", shown.len()).into_bytes(),
        }
    }

    /// Each file as it is shown in columns, with its width.
    fn items(
        &self,
        files: &[ListedFile],
        cells: &[Cells],
        widths: &Widths,
        pads: bool,
    ) -> Vec<(Vec<u8>, usize)> {
        let item = |(file, cells): (&ListedFile, &Cells)| {
            let mut text = self.prefix(cells, widths).into_bytes();
            if pads && !self.is_quoted(&file.name) {
                text.push(b' ');
            }
            text.extend(self.name(&file.name, b""));
            text.extend(file.indicator(self.options.indicator));
            let width = self.width(&text);
            (text, width)
        };
        files.iter().zip(cells).map(item).collect()
    }

    fn width(&self, text: &[u8]) -> usize {
        match (self.encoding, str::from_utf8(text)) {
            (Encoding::Utf8, Ok(text)) => text.chars().filter_map(UnicodeWidthChar::width).sum(),
            _ => text.iter().filter(|byte| (b' '..=b'~').contains(byte)).count(),
        }
    }

    fn commas(&self, items: &[(Vec<u8>, usize)]) -> Vec<u8> {
        let mut output = Vec::new();
        let mut position = 0;
        for (index, (text, width)) in items.iter().enumerate() {
            if index > 0 {
                let fits = self.options.width == 0 || position + width + GAP < self.options.width;
                output.extend_from_slice(if fits { b", " } else { b",\n" });
                position = if fits { position + GAP } else { 0 };
            }
            output.extend_from_slice(text);
            position += width;
        }
        if !items.is_empty() {
            output.push(b'\n');
        }
        output
    }

    fn columns(&self, items: &[(Vec<u8>, usize)]) -> Vec<u8> {
        let widths = self.column_widths(items, false);
        let rows = items.len().div_ceil(widths.len().max(1));
        let mut output = Vec::new();
        for row in 0..rows {
            let in_row = (row..items.len()).step_by(rows).map(|index| &items[index]);
            write_row(in_row, &widths, &mut output);
        }
        output
    }

    fn rows(&self, items: &[(Vec<u8>, usize)]) -> Vec<u8> {
        let widths = self.column_widths(items, true);
        let mut output = Vec::new();
        for row in items.chunks(widths.len().max(1)) {
            write_row(row.iter(), &widths, &mut output);
        }
        output
    }

    /// The widths of as many columns as fit into a line.
    fn column_widths(&self, items: &[(Vec<u8>, usize)], across: bool) -> Vec<usize> {
        let limit = self.options.width;
        let most = match limit {
            0 => items.len(),
            _ => items.len().min((limit / MIN_COLUMN_WIDTH).max(1)),
        };
        for count in (2..=most).rev() {
            let rows = items.len().div_ceil(count);
            let mut widths = vec![MIN_COLUMN_WIDTH; count];
            for (index, (_, width)) in items.iter().enumerate() {
                let column = if across { index % count } else { index / rows };
                let gap = if column == count - 1 { 0 } else { GAP };
                widths[column] = widths[column].max(width + gap);
            }
            if limit == 0 || widths.iter().sum::<usize>() < limit {
                return widths;
            }
        }
        vec![usize::MAX]
    }
}

/// Writes a row. Tabs fill the gaps where they fit.
fn write_row<'a>(items: impl Iterator<Item = &'a (Vec<u8>, usize)>, widths: &[usize], output: &mut Vec<u8>) {
    let (mut position, mut start) = (0, 0);
    for (index, (text, width)) in items.enumerate() {
        if index > 0 {
            start += widths[index - 1];
            while position < start {
                if start / TAB_WIDTH > (position + 1) / TAB_WIDTH {
                    output.push(b'\t');
                    position += TAB_WIDTH - position % TAB_WIDTH;
                } else {
                    output.push(b' ');
                    position += 1;
                }
            }
        }
        output.extend_from_slice(text);
        position += width;
    }
    output.push(b'\n');
}

fn widths(cells: &[Cells]) -> Widths {
    let most = |width: fn(&Cells) -> usize| cells.iter().map(width).max().unwrap_or(0);
    let (major, minor) = (
        most(|cells| cells.device.as_ref().map_or(0, |device| device.0.len())),
        most(|cells| cells.device.as_ref().map_or(0, |device| device.1.len())),
    );
    let size = most(|cells| if cells.device.is_some() { 0 } else { cells.size.len() });
    Widths {
        inode: most(|cells| cells.inode.len()),
        blocks: most(|cells| cells.blocks.len()),
        links: most(|cells| cells.links.len()),
        owner: most(|cells| cells.owner.0.len()),
        group: most(|cells| cells.group.0.len()),
        size: if major > 0 { size.max(major + minor + GAP) } else { size },
        major,
        minor,
    }
}
