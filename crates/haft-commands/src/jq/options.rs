//! The command line.

use haft_kernel::Bytes;

use super::print::Indent;
use super::reader::{ReadMode, parse_text};
use super::value::{Fields, Value};
use crate::status::USAGE_ERROR;
use crate::text::streams::{Stop, TextRun};

/// The options of the command line.
#[derive(Debug)]
pub(super) struct JqOptions {
    pub(super) filter: Option<Bytes>,
    pub(super) filter_is_file: bool,
    pub(super) files: Vec<Bytes>,
    pub(super) null_input: bool,
    pub(super) raw_input: bool,
    pub(super) slurp: bool,
    pub(super) reading: ReadMode,
    pub(super) output: OutputOptions,
    pub(super) exit_status: bool,
    pub(super) named: Fields,
    pub(super) positional: Vec<Value>,
    pub(super) request: Option<Request>,
}

/// How outputs are written.
#[derive(Debug)]
pub(super) struct OutputOptions {
    pub(super) raw: bool,
    pub(super) joined: bool,
    /// Whether a NUL follows each output.
    pub(super) nul: bool,
    pub(super) ascii: bool,
    pub(super) sort_keys: bool,
    pub(super) color: Option<bool>,
    pub(super) indent: Option<Indent>,
    pub(super) sequence: bool,
    pub(super) unbuffered: bool,
}

/// Text that is printed instead of running a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Request {
    Help,
    Version,
}

impl Default for JqOptions {
    fn default() -> Self {
        Self {
            filter: None,
            filter_is_file: false,
            files: Vec::new(),
            null_input: false,
            raw_input: false,
            slurp: false,
            reading: ReadMode::default(),
            output: OutputOptions {
                raw: false,
                joined: false,
                nul: false,
                ascii: false,
                sort_keys: false,
                color: None,
                indent: Some(Indent::Spaces(2)),
                sequence: false,
                unbuffered: false,
            },
            exit_status: false,
            named: Fields::default(),
            positional: Vec::new(),
            request: None,
        }
    }
}

/// The meaning of operands after the filter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OperandKind {
    Files,
    Strings,
    Json,
}

/// Reads the files of `--slurpfile` and `--rawfile`.
pub(super) type LoadFile<'a> = dyn FnMut(&Bytes, bool) -> Result<Value, LoadProblem> + 'a;

/// Why a file for a variable cannot be loaded.
pub(super) enum LoadProblem {
    Message(String),
    Stop(Stop),
}

/// An error in the command line: a message, and whether a hint about `--help` follows.
pub(super) enum OptionProblem {
    Usage(String),
    /// A message without a hint.
    Failed(String),
    Stop(Stop),
}

/// Reads the command line.
pub(super) fn read_options(words: &[Bytes], load: &mut LoadFile<'_>) -> Result<JqOptions, OptionProblem> {
    let mut reader = OptionReader { words, next: 0, kind: OperandKind::Files, options: JqOptions::default() };
    reader.read(load)?;
    Ok(reader.options)
}

struct OptionReader<'w> {
    words: &'w [Bytes],
    next: usize,
    kind: OperandKind,
    options: JqOptions,
}

impl OptionReader<'_> {
    fn read(&mut self, load: &mut LoadFile<'_>) -> Result<(), OptionProblem> {
        let mut only_operands = false;
        while let Some(word) = self.words.get(self.next).cloned() {
            self.next += 1;
            match word.as_bytes() {
                b"--" if !only_operands => only_operands = true,
                [b'-', b'-', name @ ..] if !only_operands => self.long(&word, name, load)?,
                [b'-', first, ..] if !only_operands && first.is_ascii_alphabetic() => self.short(&word)?,
                _ => self.operand(word)?,
            }
            if self.options.request.is_some() {
                break;
            }
        }
        Ok(())
    }

    fn operand(&mut self, word: Bytes) -> Result<(), OptionProblem> {
        if self.options.filter.is_none() {
            self.options.filter = Some(word);
            return Ok(());
        }
        match self.kind {
            OperandKind::Files => self.options.files.push(word),
            OperandKind::Strings => self.options.positional.push(word.lossy().into_owned().into()),
            OperandKind::Json => match parse_text(&word) {
                Ok(value) => self.options.positional.push(value),
                Err(_) => {
                    return Err(OptionProblem::Usage("invalid JSON text passed to --jsonargs".to_owned()));
                }
            },
        }
        Ok(())
    }

    fn unknown(word: &Bytes) -> OptionProblem {
        OptionProblem::Usage(format!("Unknown option {}", word.lossy()))
    }

    /// A word with one or more short options.
    fn short(&mut self, word: &Bytes) -> Result<(), OptionProblem> {
        if word.as_bytes().get(1) == Some(&b'L') {
            return Err(OptionProblem::Usage("-L is not supported: there are no modules".to_owned()));
        }
        for letter in &word.as_bytes()[1..] {
            let name: &[u8] = match letter {
                b's' => b"slurp",
                b'r' => b"raw-output",
                b'j' => b"join-output",
                b'c' => b"compact-output",
                b'C' => b"color-output",
                b'M' => b"monochrome-output",
                b'a' => b"ascii-output",
                b'S' => b"sort-keys",
                b'R' => b"raw-input",
                b'n' => b"null-input",
                b'f' => b"from-file",
                b'e' => b"exit-status",
                b'h' => b"help",
                b'V' => b"version",
                _ => return Err(Self::unknown(word)),
            };
            self.flag(name);
        }
        Ok(())
    }

    /// Sets a flag. Returns whether there is one of this name.
    fn flag(&mut self, name: &[u8]) -> bool {
        let options = &mut self.options;
        match name {
            b"slurp" => options.slurp = true,
            b"raw-output" => options.output.raw = true,
            b"raw-output0" => {
                (options.output.raw, options.output.joined, options.output.nul) = (true, true, true);
            }
            b"join-output" => (options.output.raw, options.output.joined) = (true, true),
            b"compact-output" => options.output.indent = None,
            b"color-output" => options.output.color = Some(true),
            b"monochrome-output" => options.output.color = Some(false),
            b"ascii-output" => options.output.ascii = true,
            b"unbuffered" => options.output.unbuffered = true,
            b"sort-keys" => options.output.sort_keys = true,
            b"raw-input" => options.raw_input = true,
            b"null-input" => options.null_input = true,
            b"from-file" => options.filter_is_file = true,
            b"tab" => options.output.indent = Some(Indent::Tab),
            b"seq" => (options.output.sequence, options.reading.sequence) = (true, true),
            b"stream" => options.reading.stream = true,
            b"stream-errors" => (options.reading.stream, options.reading.stream_errors) = (true, true),
            b"exit-status" => options.exit_status = true,
            b"args" => self.kind = OperandKind::Strings,
            b"jsonargs" => self.kind = OperandKind::Json,
            b"help" => options.request = Some(Request::Help),
            b"version" => options.request = Some(Request::Version),
            _ => return false,
        }
        true
    }

    fn long(&mut self, word: &Bytes, name: &[u8], load: &mut LoadFile<'_>) -> Result<(), OptionProblem> {
        if self.flag(name) {
            return Ok(());
        }
        match name {
            b"indent" => self.indent(),
            b"arg" | b"argjson" | b"slurpfile" | b"rawfile" => {
                let option = String::from_utf8_lossy(name).into_owned();
                self.variable(&option, load)
            }
            _ => Err(Self::unknown(word)),
        }
    }

    fn indent(&mut self) -> Result<(), OptionProblem> {
        let Some(word) = self.words.get(self.next) else {
            return Err(OptionProblem::Usage("--indent takes one parameter".to_owned()));
        };
        self.next += 1;
        let text = word.lossy();
        let length = text.bytes().enumerate().take_while(|(index, byte)| {
            byte.is_ascii_digit() || (*index == 0 && matches!(byte, b'-' | b'+'))
        });
        let count: i64 = text[..length.count()].parse().unwrap_or(0);
        self.options.output.indent = match count {
            0 => None,
            1..=7 => usize::try_from(count).ok().map(Indent::Spaces),
            -1 => Some(Indent::Spaces(7)),
            _ => {
                let message = "--indent takes a number between -1 and 7";
                return Err(OptionProblem::Usage(message.to_owned()));
            }
        };
        Ok(())
    }

    /// An option that sets a variable.
    fn variable(&mut self, option: &str, load: &mut LoadFile<'_>) -> Result<(), OptionProblem> {
        let what = match option {
            "arg" => "value",
            "argjson" => "text",
            _ => "filename",
        };
        let Some([name, value]) = self.words.get(self.next..self.next + 2) else {
            let example = format!("--{option} varname {what}");
            return Err(OptionProblem::Usage(format!("--{option} takes two parameters (e.g. {example})")));
        };
        self.next += 2;
        let key = name.lossy().into_owned();
        if self.options.named.contains_key(&*key) {
            return Ok(());
        }
        let value = match option {
            "arg" => value.lossy().into_owned().into(),
            "argjson" => parse_text(value)
                .map_err(|_| OptionProblem::Usage("invalid JSON text passed to --argjson".to_owned()))?,
            _ => load(value, option == "rawfile").map_err(|problem| match problem {
                LoadProblem::Stop(stop) => OptionProblem::Stop(stop),
                LoadProblem::Message(message) => OptionProblem::Failed(format!(
                    "Bad JSON in --{option} {key} {}: {message}",
                    value.lossy()
                )),
            })?,
        };
        self.options.named.insert(key.into(), value);
        Ok(())
    }
}

impl OptionProblem {
    /// Prints the error as `jq` words it.
    pub(super) fn report(self, run: &mut TextRun<'_, '_>) -> Stop {
        match self {
            Self::Usage(message) => run.complain(format_args!(
                "{message}\nUse jq --help for help with command-line options,\nor see the jq manpage, or online docs  at https://jqlang.github.io/jq"
            )),
            Self::Failed(message) => run.complain(message),
            Self::Stop(stop) => return stop,
        }
        Stop::Exit(USAGE_ERROR)
    }
}
