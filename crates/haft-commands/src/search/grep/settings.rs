//! The options of `grep`.

use std::sync::Arc;

use haft_kernel::Bytes;
use haft_text::encoding::Encoding;
use haft_text::regex::gnu::GnuRegex;

use super::file_filter::FileFilter;
use super::patterns::{PatternOptions, PatternSyntax};
use super::{TROUBLE, USAGE, complain};
use crate::arguments::{ArgumentValue, CommandArguments};
use crate::rows::JSON;
use crate::text::number::{IntegerError, parse_integer};
use crate::text::streams::{Stop, TextRun};

/// How binary files are treated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BinaryFiles {
    Binary,
    Text,
    WithoutMatch,
}

/// How directories are treated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum DirectoryAction {
    Read,
    Recurse,
    Skip,
}

/// Whether only names of files are written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FileListing {
    None,
    Matching,
    WithoutMatch,
}

/// All options.
pub(super) struct GrepSettings {
    /// `None` if there are no patterns.
    pub(super) matcher: Option<Arc<GnuRegex>>,
    pub(super) encoding: Encoding,
    pub(super) is_inverted: bool,
    /// The byte at the end of a line.
    pub(super) end: u8,
    pub(super) binary: BinaryFiles,
    pub(super) directories: DirectoryAction,
    /// `None` reads devices that are operands.
    pub(super) reads_devices: Option<bool>,
    pub(super) follows_links: bool,
    pub(super) filter: FileFilter,
    pub(super) is_quiet: bool,
    pub(super) is_silent: bool,
    pub(super) is_count: bool,
    pub(super) listing: FileListing,
    /// `None` if there is no limit.
    pub(super) max_count: Option<u64>,
    pub(super) label: Bytes,
    pub(super) has_operands: bool,
    pub(super) print: PrintSettings,
}

/// How lines are written.
pub(super) struct PrintSettings {
    /// Whether the names of files are written. `None` if that depends on the operands.
    pub(super) names: Option<bool>,
    pub(super) number: bool,
    pub(super) offset: bool,
    pub(super) tab: bool,
    pub(super) null: bool,
    pub(super) only_matching: bool,
    before: Option<u64>,
    after: Option<u64>,
    around: Option<u64>,
    pub(super) separator: Option<Bytes>,
    pub(super) color: bool,
    pub(super) line_buffered: bool,
}

impl GrepSettings {
    pub(super) fn is_recursive(&self) -> bool {
        self.directories == DirectoryAction::Recurse
    }

    /// Whether a file is done after its first match.
    pub(super) fn stops_at_first(&self) -> bool {
        self.is_quiet || self.listing != FileListing::None
    }

    /// Reads the options. Returns them with the files.
    pub(super) fn parse(
        run: &mut TextRun<'_, '_>,
        arguments: &CommandArguments,
        syntax: PatternSyntax,
    ) -> Result<(Self, Vec<Bytes>), Stop> {
        let mut patterns = PatternOptions::new(syntax);
        let mut settings = Self {
            matcher: None,
            encoding: run.context.session().encoding(),
            is_inverted: arguments.flag("invert-match"),
            end: if arguments.flag("null-data") { 0 } else { b'\n' },
            binary: BinaryFiles::Binary,
            directories: DirectoryAction::Read,
            reads_devices: None,
            follows_links: false,
            filter: FileFilter::default(),
            is_quiet: arguments.flag("quiet") || arguments.flag("silent"),
            is_silent: arguments.flag("no-messages"),
            is_count: arguments.flag("count"),
            listing: FileListing::None,
            max_count: None,
            label: Bytes::from("(standard input)"),
            has_operands: false,
            print: PrintSettings::new(arguments),
        };
        for (name, value) in arguments.in_order() {
            let text: &[u8] = if let ArgumentValue::Text(text) = value { text } else { &[] };
            let is_done = patterns.option(run, name, text)? || settings.choice(name);
            if !is_done && !settings.print.option(run, name, text)? {
                settings.option(run, name, text)?;
            }
        }
        let mut operands = arguments.operands.clone();
        if !patterns.is_given {
            if operands.is_empty() {
                return usage(run);
            }
            patterns.add(&operands.remove(0));
        }
        if settings.is_quiet {
            settings.listing = FileListing::None;
        }
        settings.has_operands = !operands.is_empty();
        let selects_nothing = match settings.is_inverted {
            true => patterns.match_every_line(),
            false => patterns.patterns.is_empty(),
        };
        if (settings.max_count == Some(0) || selects_nothing) && settings.listing != FileListing::WithoutMatch
        {
            return Err(Stop::Exit(super::NOT_SELECTED));
        }
        settings.matcher = patterns.compile(run, settings.encoding)?;
        if settings.print.names.is_none() {
            settings.print.names =
                (operands.len() > 1 || !settings.is_recursive()).then_some(operands.len() > 1);
        }
        Ok((settings, operands))
    }

    /// Applies an option without a value. Returns whether it is one.
    fn choice(&mut self, name: &str) -> bool {
        match name {
            "I" => self.binary = BinaryFiles::WithoutMatch,
            "text" => self.binary = BinaryFiles::Text,
            "files-with-matches" => self.listing = FileListing::Matching,
            "files-without-match" => self.listing = FileListing::WithoutMatch,
            "recursive" => (self.directories, self.follows_links) = (DirectoryAction::Recurse, false),
            "dereference-recursive" => {
                (self.directories, self.follows_links) = (DirectoryAction::Recurse, true);
            }
            _ => return false,
        }
        true
    }

    fn option(&mut self, run: &mut TextRun<'_, '_>, name: &str, value: &[u8]) -> Result<(), Stop> {
        match name {
            "binary-files" => {
                self.binary = match value {
                    b"binary" => BinaryFiles::Binary,
                    b"text" => BinaryFiles::Text,
                    b"without-match" => BinaryFiles::WithoutMatch,
                    _ => return run.fail("unknown binary-files type"),
                };
            }
            "directories" => self.directories = directory_action(run, value)?,
            "devices" => {
                self.reads_devices = match value {
                    b"read" => Some(true),
                    b"skip" => Some(false),
                    _ => return run.fail("unknown devices method"),
                };
            }
            "include" | "exclude" => self.filter.add_file_pattern(value, name == "include"),
            "exclude-dir" => self.filter.add_directory_pattern(value),
            "label" => self.label = Bytes::from(value),
            "max-count" => {
                self.max_count = match parse_integer(value) {
                    Ok(count) => u64::try_from(count).ok(),
                    Err(IntegerError::TooLarge) => None,
                    Err(IntegerError::Invalid) => return run.fail("invalid max count"),
                };
            }
            "unix-byte-offsets" => complain(run, b"warning: --unix-byte-offsets (-u) is obsolete"),
            _ => {}
        }
        Ok(())
    }
}

impl PrintSettings {
    fn new(arguments: &CommandArguments) -> Self {
        Self {
            names: None,
            number: arguments.flag("line-number") || arguments.flag(JSON),
            offset: arguments.flag("byte-offset"),
            tab: arguments.flag("initial-tab"),
            null: arguments.flag("null"),
            only_matching: arguments.flag("only-matching"),
            before: None,
            after: None,
            around: None,
            separator: Some(Bytes::from("--")),
            color: false,
            line_buffered: arguments.flag("line-buffered"),
        }
    }

    /// Applies an option. Returns whether it is about the output.
    fn option(&mut self, run: &mut TextRun<'_, '_>, name: &str, value: &[u8]) -> Result<bool, Stop> {
        match name {
            "after-context" => self.after = Some(context_length(run, value)?),
            "before-context" => self.before = Some(context_length(run, value)?),
            "context" => self.around = Some(context_length(run, value)?),
            "with-filename" => self.names = Some(true),
            "no-filename" => self.names = Some(false),
            "group-separator" => self.separator = Some(Bytes::from(value)),
            "no-group-separator" => self.separator = None,
            "color" | "colour" => self.color = super::color::is_wanted(run, value)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The lines of context before a match.
    pub(super) fn before(&self) -> Option<u64> {
        self.before.or(self.around)
    }

    /// The lines of context after a match.
    pub(super) fn after(&self) -> Option<u64> {
        self.after.or(self.around)
    }

    pub(super) fn has_context(&self) -> bool {
        self.before().is_some() || self.after().is_some()
    }
}

fn usage<T>(run: &mut TextRun<'_, '_>) -> Result<T, Stop> {
    run.context.print_error(format!("{USAGE}Try 'grep --help' for more information.\n").as_bytes());
    run.context.flush();
    Err(Stop::Exit(TROUBLE))
}

fn context_length(run: &mut TextRun<'_, '_>, text: &[u8]) -> Result<u64, Stop> {
    let invalid = match parse_integer(text) {
        Ok(length) => u64::try_from(length).ok(),
        Err(IntegerError::TooLarge) if !text.contains(&b'-') => Some(u64::MAX),
        Err(_) => None,
    };
    match invalid {
        Some(length) => Ok(length),
        None => {
            complain(run, &[text, b": invalid context length argument"].concat());
            Err(Stop::Exit(TROUBLE))
        }
    }
}

fn directory_action(run: &mut TextRun<'_, '_>, value: &[u8]) -> Result<DirectoryAction, Stop> {
    let choices = [
        ("read", DirectoryAction::Read),
        ("recurse", DirectoryAction::Recurse),
        ("skip", DirectoryAction::Skip),
    ];
    let matching: Vec<_> = choices.iter().filter(|(name, _)| name.as_bytes().starts_with(value)).collect();
    let kind = match matching[..] {
        [(_, action)] => return Ok(*action),
        [] => "invalid",
        _ => "ambiguous",
    };
    if let Some((_, action)) = choices.iter().find(|(name, _)| name.as_bytes() == value) {
        return Ok(*action);
    }
    let (shown, option) = (run.quote(value), run.quote(b"--directories"));
    let valid: String =
        choices.iter().map(|(name, _)| format!("  - {}\n", run.quote(name.as_bytes()))).collect();
    run.complain(format_args!(
        "{kind} argument {shown} for {option}\nValid arguments are:\n{valid}{USAGE}Try 'grep --help' for more information."
    ));
    Err(Stop::Exit(1))
}

/// The short options with a value.
const WITH_VALUE: &[u8] = b"ABCDdefm";

/// Long options with a value.
const LONG_WITH_VALUE: [&str; 14] = [
    "after-context",
    "before-context",
    "context",
    "directories",
    "devices",
    "regexp",
    "file",
    "max-count",
    "binary-files",
    "exclude",
    "exclude-dir",
    "include",
    "group-separator",
    "label",
];

/// Rewrites `-NUM` as `-C NUM`. Returns `None` if there are no such options.
pub(super) fn expand_digits(words: &[Bytes]) -> Option<Vec<Bytes>> {
    let mut result = Vec::with_capacity(words.len());
    let mut has_digits = false;
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if *word == "--" {
            result.push(word.clone());
            break;
        }
        let takes_next = match &**word {
            [b'-', b'-', long @ ..] => {
                result.push(word.clone());
                !long.contains(&b'=') && LONG_WITH_VALUE.iter().any(|name| name.as_bytes().starts_with(long))
            }
            [b'-', letters @ ..] if !letters.is_empty() => expand_word(letters, &mut result, &mut has_digits),
            _ => {
                result.push(word.clone());
                false
            }
        };
        if takes_next {
            result.extend(words.next().cloned());
        }
    }
    result.extend(words.cloned());
    has_digits.then_some(result)
}

/// Splits a word of short options at digits. Returns whether the next word is the value of the last option.
fn expand_word(letters: &[u8], result: &mut Vec<Bytes>, has_digits: &mut bool) -> bool {
    let mut flags = vec![b'-'];
    let mut index = 0;
    let flush = |flags: &mut Vec<u8>, result: &mut Vec<Bytes>| {
        if flags.len() > 1 {
            result.push(Bytes::from(flags.as_slice()));
        }
        flags.truncate(1);
    };
    while let Some(&letter) = letters.get(index) {
        if letter.is_ascii_digit() {
            let digits = letters[index..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            flush(&mut flags, result);
            result.extend([Bytes::from("-C"), Bytes::from(&letters[index..index + digits])]);
            *has_digits = true;
            index += digits;
            continue;
        }
        flags.push(letter);
        if WITH_VALUE.contains(&letter) {
            flags.extend_from_slice(&letters[index + 1..]);
            result.push(Bytes::from(flags.as_slice()));
            return index + 1 == letters.len();
        }
        index += 1;
    }
    flush(&mut flags, result);
    false
}
