//! sed and awk scripts, in which only some commands run programs.

use super::build::PlanBuilder;
use super::builtin::without_prefix;
use super::show;
use super::step::{OpaqueReason, PlannedWord};

/// How a program receives its script, and how to recognize a script that runs nothing.
pub(super) struct ScriptLanguage {
    /// Short options without a value.
    flags: &'static [u8],
    /// Options with a value.
    options: &'static [(u8, &'static str, OptionValue)],
    harmless: fn(&[u8]) -> bool,
}

/// The meaning of an option's value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OptionValue {
    /// A script.
    Script,
    /// A file with a script.
    File,
    /// Something else.
    Other,
    /// Something else, only in the same word.
    Suffix,
}

pub(super) const SED: &ScriptLanguage = &ScriptLanguage {
    flags: b"bnErsuz",
    options: &[
        (b'e', "--expression", OptionValue::Script),
        (b'f', "--file", OptionValue::File),
        (b'l', "--line-length", OptionValue::Other),
        (b'i', "--in-context", OptionValue::Suffix),
    ],
    harmless: sed_is_harmless,
};

pub(super) const AWK: &ScriptLanguage = &ScriptLanguage {
    flags: b"bcCghMnNOPrsSt",
    options: &[
        (b'e', "--source", OptionValue::Script),
        (b'f', "--file", OptionValue::File),
        (b'E', "--exec", OptionValue::File),
        (b'i', "--include", OptionValue::File),
        (b'l', "--load", OptionValue::File),
        (b'F', "--field-separator", OptionValue::Other),
        (b'v', "--assign", OptionValue::Other),
    ],
    harmless: awk_is_harmless,
};

impl ScriptLanguage {
    /// Returns the meaning of an option, and its value if it is in the same word.
    fn option(&self, argument: &PlannedWord) -> Option<(OptionValue, Option<PlannedWord>)> {
        let prefix = argument.prefix();
        if prefix.starts_with(b"--") {
            let end = memchr::memchr(b'=', prefix).unwrap_or(prefix.len());
            let (_, _, given) = self.options.iter().find(|(_, long, _)| long.as_bytes() == &prefix[..end])?;
            return Some((*given, (end < prefix.len()).then(|| without_prefix(argument, end + 1))));
        }
        let flags = prefix[1..].iter().take_while(|letter| self.flags.contains(letter)).count();
        let letter = prefix.get(flags + 1)?;
        let (_, _, given) = self.options.iter().find(|(short, ..)| short == letter)?;
        let same_word = argument.literal().is_none_or(|word| word.len() > flags + 2);
        Some((*given, same_word.then(|| without_prefix(argument, flags + 2))))
    }
}

impl PlanBuilder<'_> {
    /// Examines the scripts in the arguments of sed or awk.
    pub(super) fn language(&mut self, index: usize, arguments: &[PlannedWord], language: &ScriptLanguage) {
        let mut scripts = false;
        let mut operand = None;
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let prefix = argument.prefix();
            if argument.several && prefix.is_empty() {
                self.opaque(index, OpaqueReason::WrapperOptions, show::source(argument).as_bytes());
            }
            if !prefix.starts_with(b"-") || prefix.len() == 1 {
                operand = operand.or(Some(argument));
                continue;
            }
            let Some((given, value)) = language.option(argument) else { continue };
            if given == OptionValue::Suffix {
                continue;
            }
            let Some(value) = value.or_else(|| rest.next().cloned()) else { break };
            scripts |= given != OptionValue::Other;
            match given {
                OptionValue::Script => self.script_in(index, &value, language),
                OptionValue::File => {
                    self.opaque(index, OpaqueReason::ScriptFile, show::source(&value).as_bytes());
                }
                OptionValue::Other | OptionValue::Suffix => {}
            }
        }
        if let Some(text) = operand.filter(|_| !scripts) {
            self.script_in(index, text, language);
        }
    }

    fn script_in(&mut self, index: usize, text: &PlannedWord, language: &ScriptLanguage) {
        match text.literal() {
            Some(script) if (language.harmless)(script) => {}
            Some(script) => self.opaque(index, OpaqueReason::Language, script),
            None => self.opaque(index, OpaqueReason::Language, show::source(text).as_bytes()),
        }
    }
}

/// Whether an awk program calls no `system`, uses no pipes and loads no code.
fn awk_is_harmless(script: &[u8]) -> bool {
    let has = |text: &[u8]| memchr::memmem::find(script, text).is_some();
    let alternatives = memchr::memmem::find_iter(script, b"||").count() * 2;
    let pipes = memchr::memchr_iter(b'|', script).count();
    !has(b"system") && !has(b"@") && pipes == alternatives
}

/// Whether an awk program runs no commands and opens no files.
pub(super) fn awk_writes_nothing(script: &[u8]) -> bool {
    let has = |text: &[u8]| memchr::memmem::find(script, text).is_some();
    // `>` after `print` in the same statement is a redirection; elsewhere it is a comparison.
    let redirects = script.split(|byte| b"{};\n".contains(byte)).any(|statement| {
        memchr::memmem::find(statement, b"print").is_some_and(|at| statement[at..].contains(&b'>'))
    });
    awk_is_harmless(script) && !redirects && !has(b"getline")
}

/// Whether a sed script runs no commands and writes no files.
pub(super) fn sed_is_harmless(script: &[u8]) -> bool {
    SedScanner { rest: script }.commands().is_some()
}

/// Scans a sed script. Methods return `None` for commands they do not understand.
struct SedScanner<'a> {
    rest: &'a [u8],
}

impl SedScanner<'_> {
    fn commands(&mut self) -> Option<()> {
        loop {
            self.skip(|byte| byte.is_ascii_whitespace() || byte == b';' || byte == b'}');
            if self.rest.is_empty() {
                return Some(());
            }
            self.address()?;
            self.command()?;
        }
    }

    fn skip(&mut self, skipped: impl Fn(u8) -> bool) {
        let length = self.rest.iter().take_while(|byte| skipped(**byte)).count();
        self.rest = &self.rest[length..];
    }

    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn address(&mut self) -> Option<()> {
        loop {
            match self.rest.first()? {
                b'/' => {
                    self.next();
                    self.regex(b'/')?;
                    self.skip(|byte| matches!(byte, b'I' | b'M'));
                }
                b'\\' => {
                    self.next();
                    let delimiter = self.next()?;
                    self.regex(delimiter)?;
                }
                b'0'..=b'9' | b'$' | b',' | b'~' | b'+' | b'!' | b' ' | b'\t' => {
                    self.next();
                }
                _ => return Some(()),
            }
        }
    }

    /// Skips a replacement and its delimiter.
    fn delimited(&mut self, delimiter: u8) -> Option<()> {
        loop {
            match self.next()? {
                b'\\' => drop(self.next()?),
                byte if byte == delimiter => return Some(()),
                _ => {}
            }
        }
    }

    /// Skips a regular expression and its delimiter. Delimiters in brackets do not count.
    fn regex(&mut self, delimiter: u8) -> Option<()> {
        loop {
            match self.next()? {
                b'\\' => drop(self.next()?),
                byte if byte == delimiter => return Some(()),
                b'[' => self.brackets()?,
                _ => {}
            }
        }
    }

    fn brackets(&mut self) -> Option<()> {
        self.rest = self.rest.strip_prefix(b"^").unwrap_or(self.rest);
        self.rest = self.rest.strip_prefix(b"]").unwrap_or(self.rest);
        loop {
            match (self.next()?, self.rest.first()) {
                (b']', _) => return Some(()),
                (b'[', Some(mark @ (b':' | b'.' | b'='))) => {
                    let end = [*mark, b']'];
                    let at = memchr::memmem::find(&self.rest[1..], &end)?;
                    self.rest = &self.rest[at + 3..];
                }
                _ => {}
            }
        }
    }

    fn command(&mut self) -> Option<()> {
        match self.next()? {
            // A command may follow directly.
            b'{' => return Some(()),
            b'=' | b'd' | b'D' | b'g' | b'G' | b'h' | b'H' | b'n' | b'N' | b'p' | b'P' | b'x' | b'z'
            | b'F' => {}
            b'#' | b'a' | b'i' | b'c' => {
                // Text up to the end of the line. Continued lines are not supported.
                let end = memchr::memchr(b'\n', self.rest).unwrap_or(self.rest.len());
                if self.rest[..end].ends_with(b"\\") && self.rest.len() > end {
                    return None;
                }
                self.rest = &self.rest[end..];
            }
            b'q' | b'Q' | b'l' | b'L' => self.skip(|byte| byte.is_ascii_digit() || byte == b' '),
            b':' | b'b' | b't' | b'T' => self.skip(|byte| !matches!(byte, b'\n' | b';' | b'}')),
            b's' => {
                let delimiter = self.next()?;
                self.regex(delimiter)?;
                self.delimited(delimiter)?;
                self.skip(|byte| {
                    byte.is_ascii_digit() || matches!(byte, b'g' | b'p' | b'i' | b'I' | b'm' | b'M')
                });
            }
            b'y' => {
                let delimiter = self.next()?;
                self.delimited(delimiter)?;
                self.delimited(delimiter)?;
            }
            _ => return None,
        }
        self.skip(|byte| matches!(byte, b' ' | b'\t'));
        matches!(self.rest.first(), None | Some(b';' | b'\n' | b'}' | b'#')).then_some(())
    }
}
