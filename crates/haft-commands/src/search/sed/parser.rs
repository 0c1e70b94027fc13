//! Parses scripts of `sed`.

use std::collections::HashMap;
use std::sync::Arc;

use haft_kernel::Bytes;
use haft_text::encoding::Encoding;
use haft_text::regex::gnu::{GnuRegex, GnuRegexOptions, GnuSyntax};

use super::escape::{EscapeContext, check_controls, convert, plain_text};
use super::reader::{PartReader, ScriptPart};
use super::script::{
    Address, Addresses, BranchKind, CopyMode, SedAction, SedCommand, SedDialect, SedRegex, SedScript,
};
use super::substitute;

/// The largest version that a script may ask for with `v`.
const VERSION: [u64; 2] = [4, 9];

/// Why a script is invalid: a message and the exit status.
pub(super) type ScriptError = (String, i32);

/// The status of an invalid script.
const BAD_SCRIPT: i32 = 1;

/// The status of a script with a label that does not exist.
const BAD_LABEL: i32 = 4;

/// Parses all parts of a script. The error comes with the script up to it, because its output files are opened even so.
pub(super) fn parse(
    parts: &[ScriptPart],
    dialect: SedDialect,
) -> Result<SedScript, (SedScript, ScriptError)> {
    let mut parser = ScriptParser {
        script: SedScript::default(),
        blocks: Vec::new(),
        labels: HashMap::new(),
        jumps: Vec::new(),
        pending_text: None,
        dialect,
    };
    match parser.parts(parts) {
        Ok(()) => Ok(parser.script),
        Err(error) => Err((parser.script, error)),
    }
}

pub(super) struct ScriptParser {
    pub(super) script: SedScript,
    /// The indices of open blocks, and the parts of the script that they start in.
    blocks: Vec<(usize, String)>,
    labels: HashMap<Bytes, usize>,
    /// Branches whose labels are not yet known.
    jumps: Vec<(usize, Bytes)>,
    /// The text of `a`, `i` or `c` that goes on in the next part.
    pending_text: Option<(usize, Vec<u8>)>,
    dialect: SedDialect,
}

type Parsed<T> = Result<T, String>;

impl ScriptParser {
    fn parts(&mut self, parts: &[ScriptPart]) -> Result<(), ScriptError> {
        for (index, part) in parts.iter().enumerate() {
            let mut reader = PartReader::new(part);
            reader.is_first = index == 0;
            self.script.place = reader.place();
            self.part(&mut reader).map_err(|problem| (reader.message(&problem), BAD_SCRIPT))?;
        }
        // GNU's `sed` keeps the backslashes of a text that is not complete.
        self.script.is_inexact |= self.pending_text.is_some();
        if let Some((_, place)) = self.blocks.last() {
            return Err((format!("{place}: unmatched `{{'"), BAD_SCRIPT));
        }
        self.resolve_labels()
    }

    fn part(&mut self, reader: &mut PartReader<'_>) -> Parsed<()> {
        self.continue_text(reader);
        loop {
            let mut next = reader.next();
            while next.is_some_and(|byte| byte == b';' || byte.is_ascii_whitespace()) {
                next = reader.next();
            }
            let Some(first) = next else { return Ok(()) };
            self.command(reader, first)?;
        }
    }

    fn command(&mut self, reader: &mut PartReader<'_>, first: u8) -> Parsed<()> {
        let (mut addresses, mut letter) = self.addresses(reader, first)?;
        if letter == Some(b'!') {
            addresses.is_negated = true;
            letter = reader.next_nonblank();
            if letter == Some(b'!') {
                return Err("multiple `!'s".to_owned());
            }
        }
        let Some(letter) = letter else { return Err("missing command".to_owned()) };
        if letter == b'#' {
            return self.comment(reader, &addresses);
        }
        if letter == b'v' {
            return check_version(&reader.label());
        }
        let index = self.script.commands.len();
        self.script.commands.push(SedCommand { addresses, action: SedAction::Nothing });
        let action = self.action(reader, letter, index)?;
        self.script.commands[index].action = action;
        Ok(())
    }

    fn addresses(&mut self, reader: &mut PartReader<'_>, first: u8) -> Parsed<(Addresses, Option<u8>)> {
        let mut addresses = Addresses::default();
        let Some(address) = self.address(reader, Some(first))? else { return Ok((addresses, Some(first))) };
        if matches!(address, Address::Plus(_) | Address::Multiple(_)) {
            return Err("invalid usage of +N or ~N as first address".to_owned());
        }
        let mut next = reader.next_nonblank();
        if next == Some(b',') {
            let start = reader.next_nonblank();
            let Some(second) = self.address(reader, start)? else { return Err("unexpected `,'".to_owned()) };
            // GNU's `sed` ends it elsewhere if the first line was skipped.
            self.script.is_inexact |= matches!(second, Address::Multiple(_));
            addresses.second = Some(second);
            next = reader.next_nonblank();
        }
        let reads_before = addresses.second.is_none() && next == Some(b'r');
        if matches!(address, Address::Line(0))
            && !matches!(addresses.second, Some(Address::Regex(_)))
            && !reads_before
        {
            return Err("invalid usage of line address 0".to_owned());
        }
        addresses.first = Some(address);
        Ok((addresses, next))
    }

    /// An address whose first character was read. `None` if there is none.
    fn address(&mut self, reader: &mut PartReader<'_>, first: Option<u8>) -> Parsed<Option<Address>> {
        Ok(Some(match first {
            Some(b'/') => self.regex_address(reader, b'/')?,
            Some(b'\\') => match reader.next() {
                Some(delimiter) => {
                    reader.check_delimiter(self.dialect.encoding)?;
                    self.regex_address(reader, delimiter)?
                }
                None => return Err("unterminated address regex".to_owned()),
            },
            Some(b'0'..=b'9') => {
                let number = reader.number(first);
                let next = reader.next_nonblank();
                if next != Some(b'~') {
                    reader.back(next);
                    return Ok(Some(Address::Line(number)));
                }
                let start = reader.next_nonblank();
                match reader.number(start) {
                    0 => Address::Line(number),
                    step => Address::Step(number, step),
                }
            }
            Some(sign @ (b'+' | b'~')) => {
                let start = reader.next_nonblank();
                let number = reader.number(start);
                if sign == b'+' { Address::Plus(number) } else { Address::Multiple(number) }
            }
            Some(b'$') => Address::Last,
            _ => return Ok(None),
        }))
    }

    fn regex_address(&mut self, reader: &mut PartReader<'_>, delimiter: u8) -> Parsed<Address> {
        let Some(text) = reader.delimited(delimiter, true) else {
            return Err("unterminated address regex".to_owned());
        };
        check_controls(&text)?;
        let (mut ignore_case, mut multi_line) = (false, false);
        loop {
            match reader.next_nonblank() {
                Some(b'I') => ignore_case = true,
                Some(b'M') => multi_line = true,
                other => {
                    reader.back(other);
                    break;
                }
            }
        }
        Ok(Address::Regex(self.regex(&text, ignore_case, multi_line)?))
    }

    pub(super) fn encoding(&self) -> Encoding {
        self.dialect.encoding
    }

    /// Compiles a regular expression. `None` if it is empty.
    pub(super) fn regex(&mut self, text: &[u8], ignore_case: bool, multi_line: bool) -> Parsed<SedRegex> {
        if text.is_empty() {
            return match ignore_case || multi_line {
                true => Err("cannot specify modifiers on empty regexp".to_owned()),
                false => Ok(None),
            };
        }
        let SedDialect { is_extended, is_null_data, encoding } = self.dialect;
        let syntax = if is_extended { GnuSyntax::SedExtended } else { GnuSyntax::SedBasic };
        let multi_line_end = multi_line && !is_null_data;
        let options = GnuRegexOptions {
            ignore_case,
            multi_line: multi_line_end,
            ..GnuRegexOptions::new(syntax, encoding)
        };
        let regex = GnuRegex::new(&convert(text, EscapeContext::Regex), options);
        let regex = regex.map_err(|error| error.to_string())?;
        // GNU's library takes some bytes that are not characters for letters, and some newlines for ends of lines.
        let is_inexact = regex.has_back_references()
            || encoding == Encoding::Utf8 && regex.has_word_assertions()
            || is_null_data && (multi_line || regex.has_line_assertions());
        self.script.is_inexact |= is_inexact;
        Ok(Some(Arc::new(regex)))
    }

    fn comment(&mut self, reader: &mut PartReader<'_>, addresses: &Addresses) -> Parsed<()> {
        if addresses.first.is_some() {
            return Err("comments don't accept any addresses".to_owned());
        }
        let mut next = reader.next();
        self.script.is_quiet |= next == Some(b'n') && reader.at == 2 && reader.is_first;
        while next.is_some_and(|byte| byte != b'\n') {
            next = reader.next();
        }
        Ok(())
    }

    fn action(&mut self, reader: &mut PartReader<'_>, letter: u8, index: usize) -> Parsed<SedAction> {
        let simple = match letter {
            b'=' => SedAction::LineNumber,
            b'd' => SedAction::Delete,
            b'D' => SedAction::DeleteFirst,
            b'F' => SedAction::FileName,
            b'g' => SedAction::CopyFromHold(CopyMode::Replace),
            b'G' => SedAction::CopyFromHold(CopyMode::Append),
            b'h' => SedAction::CopyToHold(CopyMode::Replace),
            b'H' => SedAction::CopyToHold(CopyMode::Append),
            b'x' => SedAction::Exchange,
            b'n' => SedAction::Next,
            b'N' => SedAction::NextAppend,
            b'p' => SedAction::Print,
            b'P' => SedAction::PrintFirst,
            b'z' => SedAction::Clear,
            _ => return self.longer_action(reader, letter, index),
        };
        end_of_command(reader)?;
        Ok(simple)
    }

    /// The commands with an argument.
    fn longer_action(&mut self, reader: &mut PartReader<'_>, letter: u8, index: usize) -> Parsed<SedAction> {
        match letter {
            b'{' => {
                self.blocks.push((index, reader.place()));
                Ok(SedAction::Block(0))
            }
            b'}' => self.close_block(reader, index),
            b'a' | b'i' | b'c' => self.text(reader, letter, index),
            b':' => self.label(reader, index),
            b'b' | b't' | b'T' => {
                let label = reader.label();
                let kind = match letter {
                    b'b' => BranchKind::Always,
                    b't' => BranchKind::IfReplaced,
                    _ => BranchKind::UnlessReplaced,
                };
                self.jumps.push((index, label));
                Ok(SedAction::Branch(kind, 0))
            }
            b'q' | b'Q' | b'l' => self.number_action(reader, letter, index),
            b'r' | b'R' | b'w' | b'W' => {
                let name = reader.file_name();
                if name.is_empty() {
                    return Err("missing filename in r/R/w/W commands".to_owned());
                }
                Ok(match letter {
                    b'r' => SedAction::ReadFile(name),
                    b'R' => SedAction::ReadLine(name),
                    _ => SedAction::Write { output: self.output(name), first_line_only: letter == b'W' },
                })
            }
            b's' => substitute::parse(self, reader),
            b'y' => substitute::parse_translation(reader, self.dialect.encoding),
            b'e' => Err("command `e' is not supported".to_owned()),
            _ => Err(format!("unknown command: `{}'", char::from(letter))),
        }
    }

    /// The index of an output file.
    pub(super) fn output(&mut self, name: Bytes) -> usize {
        let known = self.script.outputs.iter().position(|known| *known == name);
        known.unwrap_or_else(|| {
            self.script.outputs.push(name);
            self.script.outputs.len() - 1
        })
    }

    fn close_block(&mut self, reader: &mut PartReader<'_>, index: usize) -> Parsed<SedAction> {
        let Some((open, _)) = self.blocks.pop() else { return Err("unexpected `}'".to_owned()) };
        if self.script.commands[index].addresses.first.is_some() {
            return Err("} doesn't want any addresses".to_owned());
        }
        end_of_command(reader)?;
        self.script.commands[open].action = SedAction::Block(index);
        Ok(SedAction::Nothing)
    }

    fn label(&mut self, reader: &mut PartReader<'_>, index: usize) -> Parsed<SedAction> {
        if self.script.commands[index].addresses.first.is_some() {
            return Err(": doesn't want any addresses".to_owned());
        }
        let label = reader.label();
        if label.is_empty() {
            return Err("\":\" lacks a label".to_owned());
        }
        self.labels.insert(label, index);
        Ok(SedAction::Nothing)
    }

    fn number_action(&mut self, reader: &mut PartReader<'_>, letter: u8, index: usize) -> Parsed<SedAction> {
        if letter != b'l' && self.script.commands[index].addresses.second.is_some() {
            return Err("command only uses one address".to_owned());
        }
        let next = reader.next_nonblank();
        let number = match next.is_some_and(|byte| byte.is_ascii_digit()) {
            true => Some(reader.number(next)),
            false => {
                reader.back(next);
                None
            }
        };
        end_of_command(reader)?;
        Ok(match letter {
            b'l' => SedAction::List(number),
            _ => {
                let status = (number.unwrap_or(0) & 0xFF) as i32;
                SedAction::Quit { status, is_silent: letter == b'Q' }
            }
        })
    }

    /// The text of `a`, `i` and `c`.
    fn text(&mut self, reader: &mut PartReader<'_>, letter: u8, index: usize) -> Parsed<SedAction> {
        let first = reader.next_nonblank();
        if first.is_none() {
            return Err("expected \\ after `a', `c' or `i'".to_owned());
        }
        let is_classic = first == Some(b'\\');
        if !is_classic {
            reader.back(first);
        }
        let start = reader.at;
        let next = if is_classic { reader.next_nonblank() } else { first };
        // `a\  text` keeps the blanks.
        if is_classic && next != Some(b'\n') {
            reader.at = start;
        }
        let text = match next {
            None => {
                self.pending_text = Some((index, Vec::new()));
                Vec::new()
            }
            Some(_) => self.read_text(reader, index, Vec::new()),
        };
        check_controls(&reader.text()[start..reader.at])?;
        Ok(match letter {
            b'a' => SedAction::Append(text),
            b'i' => SedAction::Insert(text),
            _ => SedAction::Change(text),
        })
    }

    /// Reads text up to a newline without a backslash. If the part ends with a backslash, the text goes on in the next part.
    fn read_text(&mut self, reader: &mut PartReader<'_>, command: usize, mut text: Vec<u8>) -> Vec<u8> {
        loop {
            match reader.next() {
                None | Some(b'\n') => break,
                Some(b'\\') => match reader.next() {
                    Some(next) => text.extend([b'\\', next]),
                    None => {
                        text.extend(b"\\\n");
                        self.pending_text = Some((command, text.clone()));
                        return plain_text(&text);
                    }
                },
                Some(byte) => text.push(byte),
            }
        }
        text.push(b'\n');
        plain_text(&text)
    }

    /// Goes on with the text that the part before has left open.
    fn continue_text(&mut self, reader: &mut PartReader<'_>) {
        let Some((command, start)) = self.pending_text.take() else { return };
        let text = self.read_text(reader, command, start);
        match &mut self.script.commands[command].action {
            SedAction::Append(known) | SedAction::Insert(known) | SedAction::Change(known) => *known = text,
            _ => {}
        }
    }

    fn resolve_labels(&mut self) -> Result<(), ScriptError> {
        for (index, label) in std::mem::take(&mut self.jumps) {
            let found = match label.is_empty() {
                true => Some(self.script.commands.len()),
                false => self.labels.get(&label).copied(),
            };
            let Some(found) = found else {
                let label = String::from_utf8_lossy(&label).into_owned();
                return Err((format!("can't find label for jump to `{label}'"), BAD_LABEL));
            };
            if let SedAction::Branch(_, target) = &mut self.script.commands[index].action {
                *target = found;
            }
        }
        Ok(())
    }
}

/// Reads to the end of a command.
pub(super) fn end_of_command(reader: &mut PartReader<'_>) -> Parsed<()> {
    match reader.next_nonblank() {
        next @ Some(b'}' | b'#') => reader.back(next),
        None | Some(b'\n' | b';') => {}
        Some(_) => return Err("extra characters after command".to_owned()),
    }
    Ok(())
}

/// Checks the version that the command `v` asks for.
fn check_version(version: &[u8]) -> Parsed<()> {
    let text = String::from_utf8_lossy(version);
    let numbers: Vec<u64> = text.split('.').map_while(|number| number.parse().ok()).collect();
    match numbers.as_slice() > VERSION.as_slice() {
        true => Err("expected newer version of sed".to_owned()),
        false => Ok(()),
    }
}
