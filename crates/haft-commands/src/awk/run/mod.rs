//! Runs programs.

mod arrays;
mod commands;
mod expression;
mod files;
mod functions;
mod input;
mod place;
mod statement;
mod strings;
mod substitute;
mod times;

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use haft_kernel::Bytes;
use haft_text::encoding::Encoding;
use haft_text::regex::gnu::{GnuRegex, GnuRegexOptions, GnuSyntax};

use super::array::AwkArray;
use super::record::{AwkRecord, FieldSplitter};
use super::tree::{AwkPattern, AwkProgram, AwkRegex, AwkStatement};
use super::value::AwkValue;
use crate::text::streams::{Stop, TextRun};
use files::AwkFiles;
use input::{AwkInput, RecordSeparator};
use statement::StatementFlow;

/// Compiled dynamic regular expressions that are kept.
const MAX_CACHED_REGEXES: usize = 200;

/// The stack that calls of functions may use.
const MAX_STACK_BYTES: usize = 3 << 20;

/// Why the current statement does not go on.
#[derive(Debug)]
pub(super) enum AwkStop {
    Next,
    NextFile,
    Exit,
    /// An error of the program.
    Fatal(String),
    Stop(Stop),
}

impl From<Stop> for AwkStop {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

impl From<haft_kernel::Unwind> for AwkStop {
    fn from(unwind: haft_kernel::Unwind) -> Self {
        Self::Stop(Stop::Unwind(unwind))
    }
}

type Evaluated<T> = Result<T, AwkStop>;

/// An array that variables share.
type SharedArray = Rc<RefCell<AwkArray>>;

/// A parameter of a function that runs.
#[derive(Debug)]
enum FrameSlot {
    Scalar(AwkValue),
    Array(SharedArray),
}

/// The variable that decides how records are split.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FieldMode {
    Separator,
    Pattern,
    Widths,
}

/// The variables that the interpreter reads and sets.
struct SpecialValues {
    fs: Bytes,
    rs: Bytes,
    ofs: Bytes,
    ors: Bytes,
    subsep: Bytes,
    convfmt: Bytes,
    ofmt: Bytes,
    rt: Bytes,
    filename: AwkValue,
    /// How records are split: by the variable that was assigned last.
    field_mode: FieldMode,
    fpat: Bytes,
    fieldwidths: Bytes,
    ignorecase: AwkValue,
    nr: f64,
    fnr: f64,
    rstart: f64,
    rlength: f64,
}

/// A running program.
pub(super) struct AwkRun<'r, 'c, 's> {
    run: &'r mut TextRun<'c, 's>,
    program: Rc<AwkProgram>,
    globals: Vec<AwkValue>,
    arrays: Vec<SharedArray>,
    /// The parameters of the functions that run.
    frames: Vec<FrameSlot>,
    /// The index of the first one of the current function.
    base: usize,
    record: AwkRecord,
    special: SpecialValues,
    separator: RecordSeparator,
    input: AwkInput,
    files: AwkFiles,
    ranges: Vec<bool>,
    regexes: HashMap<Bytes, Rc<GnuRegex>>,
    encoding: Encoding,
    random: times::AwkRandom,
    status: i32,
    /// The current line of the program, for messages.
    line: usize,
    stack_start: usize,
}

impl<'r, 'c, 's> AwkRun<'r, 'c, 's> {
    pub(super) fn new(run: &'r mut TextRun<'c, 's>, program: AwkProgram, operands: Vec<Bytes>) -> Self {
        let encoding = run.context.session().encoding();
        let count = program.globals.len();
        let marker = 0u8;
        let mut made = Self {
            run,
            globals: vec![AwkValue::Unset; count],
            arrays: (0..count).map(|_| SharedArray::default()).collect(),
            program: Rc::new(program),
            frames: Vec::new(),
            base: 0,
            record: AwkRecord::default(),
            special: SpecialValues {
                fs: " ".into(),
                rs: "\n".into(),
                ofs: " ".into(),
                ors: "\n".into(),
                subsep: "\u{1c}".into(),
                convfmt: "%.6g".into(),
                ofmt: "%.6g".into(),
                rt: Bytes::new(),
                filename: AwkValue::Unset,
                field_mode: FieldMode::Separator,
                fpat: "[^[:space:]]+".into(),
                fieldwidths: Bytes::new(),
                ignorecase: AwkValue::Number(0.0),
                nr: 0.0,
                fnr: 0.0,
                rstart: 0.0,
                rlength: -1.0,
            },
            separator: RecordSeparator::Byte(b'\n'),
            input: AwkInput::default(),
            files: AwkFiles::default(),
            ranges: Vec::new(),
            regexes: HashMap::new(),
            encoding,
            random: times::AwkRandom::default(),
            status: 0,
            line: 1,
            stack_start: std::ptr::from_ref(&marker).addr(),
        };
        made.set_arguments(operands);
        made
    }

    /// Sets `ARGV`, `ARGC` and `ENVIRON`.
    fn set_arguments(&mut self, operands: Vec<Bytes>) {
        let name = Bytes::from(self.run.context.name);
        if let Some(argc) = self.global_index("ARGC") {
            #[expect(clippy::cast_precision_loss, reason = "the count is small")]
            let count = (operands.len() + 1) as f64;
            self.globals[argc] = AwkValue::Number(count);
        }
        if let Some(argv) = self.global_index("ARGV") {
            let mut array = self.arrays[argv].borrow_mut();
            for (index, word) in std::iter::once(name).chain(operands).enumerate() {
                array.set(Bytes::from(index.to_string()), AwkValue::Input(word));
            }
        }
        if let Some(environ) = self.global_index("ENVIRON") {
            use std::os::unix::ffi::OsStrExt as _;
            let environment = self.run.context.session_mut().environment();
            let mut array = self.arrays[environ].borrow_mut();
            for (name, value) in environment.iter() {
                array.set(name.as_bytes().into(), AwkValue::Input(value.as_bytes().into()));
            }
        }
    }

    fn global_index(&self, name: &str) -> Option<usize> {
        self.program.globals.iter().position(|global| global == name)
    }

    /// Runs the program and returns its exit status.
    pub(super) fn execute(&mut self) -> Result<i32, Stop> {
        let program = self.program.clone();
        let result = self.run_blocks(&program.begin).and_then(|()| self.read_input(&program));
        let result = match result {
            // `exit` still runs the END rules, except inside of them.
            Err(AwkStop::Exit) if program.end.is_empty() => Ok(()),
            Ok(()) | Err(AwkStop::Exit) => match self.run_blocks(&program.end) {
                Err(AwkStop::Exit) => Ok(()),
                other => other,
            },
            other => other,
        };
        let closed = self.close_all();
        match result.and(closed) {
            Ok(()) => Ok(self.status),
            Err(AwkStop::Stop(stop)) => Err(stop),
            Err(AwkStop::Fatal(message)) => {
                self.run.flush()?;
                self.complain_fatal(&message);
                Ok(2)
            }
            Err(_) => Ok(self.status),
        }
    }

    fn complain_fatal(&mut self, message: &str) {
        let filename = self.special.filename.bytes(b"").into_owned();
        let place = match filename.is_empty() {
            true => String::new(),
            false => format!(" (FILENAME={} FNR={})", String::from_utf8_lossy(&filename), self.special.fnr),
        };
        let line = self.line;
        self.run.complain(format_args!("cmd. line:{line}:{place} fatal: {message}"));
    }

    fn run_blocks(&mut self, blocks: &[Vec<AwkStatement>]) -> Evaluated<()> {
        blocks.iter().try_for_each(|block| self.run_block(block).map(drop))
    }

    /// Reads records if the program has rules for them, and runs the rules.
    fn read_input(&mut self, program: &AwkProgram) -> Evaluated<()> {
        let reads = !program.rules.is_empty()
            || !program.end.is_empty()
            || !program.begin_file.is_empty()
            || !program.end_file.is_empty();
        while reads && self.next_record()? {
            match self.run_rules(program) {
                Ok(()) | Err(AwkStop::Next) => {}
                Err(AwkStop::NextFile) => self.end_file()?,
                Err(other) => return Err(other),
            }
        }
        Ok(())
    }

    fn run_rules(&mut self, program: &AwkProgram) -> Evaluated<()> {
        for rule in &program.rules {
            self.line = rule.line;
            let is_selected = match &rule.pattern {
                AwkPattern::Always => true,
                AwkPattern::Expression(condition) => self.is_true(condition)?,
                AwkPattern::Range(index, first, last) => {
                    if self.ranges.len() <= *index {
                        self.ranges.resize(index + 1, false);
                    }
                    if !self.ranges[*index] {
                        self.ranges[*index] = self.is_true(first)?;
                    }
                    let is_inside = self.ranges[*index];
                    if is_inside && self.is_true(last)? {
                        self.ranges[*index] = false;
                    }
                    is_inside
                }
            };
            if !is_selected {
                continue;
            }
            match &rule.action {
                Some(action) => drop(self.run_block(action)?),
                None => {
                    self.run.write(self.record.text())?;
                    self.run.write(&self.special.ors)?;
                }
            }
        }
        Ok(())
    }

    fn run_block(&mut self, block: &[AwkStatement]) -> Evaluated<StatementFlow> {
        self.statements(block)
    }

    fn fatal<T>(&self, message: impl Into<String>) -> Evaluated<T> {
        Err(AwkStop::Fatal(message.into()))
    }

    /// Compiles a dynamic regular expression.
    fn regex(&mut self, pattern: &[u8]) -> Evaluated<Rc<GnuRegex>> {
        if let Some(regex) = self.regexes.get(pattern) {
            return Ok(regex.clone());
        }
        if self.regexes.len() >= MAX_CACHED_REGEXES {
            self.regexes.clear();
        }
        let ignore_case = self.ignores_case();
        let options = GnuRegexOptions { ignore_case, ..GnuRegexOptions::new(GnuSyntax::Awk, self.encoding) };
        match GnuRegex::new(pattern, options) {
            Ok(regex) => {
                let regex = Rc::new(regex);
                self.regexes.insert(pattern.into(), regex.clone());
                Ok(regex)
            }
            Err(error) => {
                self.fatal(format!("invalid regexp: {error}: /{}/", String::from_utf8_lossy(pattern)))
            }
        }
    }

    fn ignores_case(&self) -> bool {
        self.special.ignorecase.is_true()
    }

    /// The compiled form of a constant.
    fn constant(&mut self, regex: &AwkRegex) -> Evaluated<Rc<GnuRegex>> {
        if self.ignores_case() { self.regex(&regex.pattern) } else { Ok(regex.compiled.clone()) }
    }

    /// The splitter for a value of `FS`, or for the separator of `split`.
    fn splitter(&mut self, separator: &[u8], with_newline: bool) -> Evaluated<FieldSplitter> {
        Ok(match separator {
            b" " => FieldSplitter::Blanks,
            b"" => FieldSplitter::Characters(self.encoding),
            [letter] if letter.is_ascii_alphabetic() && self.ignores_case() => {
                FieldSplitter::Regex(self.regex(separator)?)
            }
            [b'\\'] => FieldSplitter::Byte(b'\\', with_newline),
            [byte] => FieldSplitter::Byte(*byte, with_newline),
            pattern => FieldSplitter::Regex(self.regex(pattern)?),
        })
    }
}
