//! Runs scripts of `sed`.

use std::collections::HashMap;
use std::sync::Arc;

use haft_kernel::Bytes;
use haft_text::encoding::Encoding;
use haft_text::regex::gnu::GnuRegex;

use super::address::RangeState;
use super::files::SedFiles;
use super::list::listed;
use super::output::{SedOutput, open_all};
use super::script::{Address, BranchKind, CopyMode, SedAction, SedRegex, SedScript, Substitution};
use super::{BAD_USAGE, PANIC, SedSettings};
use crate::text::streams::{Stop, TextInput, TextRun};

/// The pattern space or the hold space.
#[derive(Clone, Default)]
pub(super) struct Space {
    pub(super) text: Vec<u8>,
    /// Whether the line had its end.
    is_complete: bool,
}

impl Space {
    /// The first line, and whether it has an end.
    fn first_line(&self, end: u8) -> (&[u8], bool) {
        match memchr::memchr(end, &self.text) {
            Some(at) => (&self.text[..at], true),
            None => (&self.text, self.is_complete),
        }
    }
}

/// Text that is written at the end of the cycle.
enum Appended {
    Text(Vec<u8>),
    File(Bytes),
}

/// How a cycle ends.
enum CycleEnd {
    /// The pattern space is written, unless `-n` was given.
    Print,
    /// The pattern space is not written.
    Silent,
    /// The next cycle reads no line.
    Restart,
    Quit {
        status: i32,
        prints: bool,
    },
}

/// The next step after a command.
enum Step {
    Next,
    Jump(usize),
    End(CycleEnd),
}

/// A running script.
pub(super) struct Executor<'s> {
    script: &'s SedScript,
    pub(super) settings: SedSettings,
    encoding: Encoding,
    pub(super) files: SedFiles,
    pub(super) pattern: Space,
    hold: Space,
    pub(super) line_number: u64,
    is_replaced: bool,
    appended: Vec<Appended>,
    /// The states of the ranges, by command.
    pub(super) ranges: Vec<RangeState>,
    last_regex: SedRegex,
    main: SedOutput,
    outputs: Vec<SedOutput>,
    /// The files of the command `R`. `None` if a file cannot be read.
    line_files: HashMap<Bytes, Option<TextInput>>,
}

impl<'s> Executor<'s> {
    pub(super) fn new(
        run: &mut TextRun<'_, '_>,
        script: &'s SedScript,
        settings: SedSettings,
        encoding: Encoding,
        files: SedFiles,
    ) -> Result<Self, Stop> {
        Ok(Self {
            script,
            settings,
            encoding,
            files,
            pattern: Space::default(),
            hold: Space { text: Vec::new(), is_complete: true },
            line_number: 0,
            is_replaced: false,
            appended: Vec::new(),
            ranges: initial_ranges(script),
            last_regex: None,
            main: SedOutput::standard(),
            outputs: open_all(run, &script.outputs)?,
            line_files: HashMap::new(),
        })
    }

    pub(super) fn script(&self) -> &'s SedScript {
        self.script
    }

    /// Runs the script on all lines.
    pub(super) fn run(mut self, run: &mut TextRun<'_, '_>) -> Result<(), Stop> {
        let mut keeps_space = false;
        let mut status = None;
        while keeps_space || self.read(run, false)? {
            keeps_space = false;
            let (prints, quits) = match self.cycle(run)? {
                CycleEnd::Print => (true, None),
                CycleEnd::Silent => (false, None),
                CycleEnd::Restart => {
                    keeps_space = true;
                    (false, None)
                }
                CycleEnd::Quit { status, prints } => (prints, Some(status)),
            };
            if prints && !self.settings.is_quiet {
                self.print(run)?;
            }
            if quits.is_none() || prints {
                self.write_appended(run)?;
            }
            if quits.is_some() {
                if prints {
                    self.main.finish_line(run, self.settings.end)?;
                }
                status = quits;
                break;
            }
        }
        self.files.close(run)?;
        run.set_status(match (self.files.status, status) {
            (0, Some(status)) => status,
            (failure, _) => failure,
        });
        Ok(())
    }

    /// Reads the next line into the pattern space. Returns whether there is one.
    fn read(&mut self, run: &mut TextRun<'_, '_>, appends: bool) -> Result<bool, Stop> {
        self.write_appended(run)?;
        self.is_replaced = false;
        let spare = if appends { Vec::new() } else { std::mem::take(&mut self.pattern.text) };
        let line = match self.files.next(run, spare)? {
            Ok(line) => line,
            Err(spare) => {
                if !appends {
                    self.pattern.text = spare;
                }
                return Ok(false);
            }
        };
        if line.starts_file && self.settings.is_separate {
            self.line_number = 0;
            self.hold.text.clear();
            self.ranges = initial_ranges(self.script);
            self.line_files.clear();
        }
        if line.starts_file {
            self.main = match self.files.edited_output() {
                Some(file) => SedOutput::edited(self.files.name.clone(), file),
                None if self.settings.in_place.is_some() => SedOutput::standard(),
                None => std::mem::replace(&mut self.main, SedOutput::standard()),
            };
        }
        self.line_number += 1;
        match appends {
            true => {
                self.pattern.text.push(self.settings.end);
                self.pattern.text.extend_from_slice(&line.text);
            }
            false => self.pattern.text = line.text,
        }
        self.pattern.is_complete = line.is_complete;
        Ok(true)
    }

    fn cycle(&mut self, run: &mut TextRun<'_, '_>) -> Result<CycleEnd, Stop> {
        let mut index = 0;
        while let Some(command) = self.script.commands.get(index) {
            run.context.check()?;
            let matches = self.matches(run, index)?;
            if !matches {
                index = if let SedAction::Block(end) = command.action { end } else { index };
                index += 1;
                continue;
            }
            match self.execute(run, index, &command.action)? {
                Step::Next => index += 1,
                Step::Jump(target) => index = target,
                Step::End(end) => return Ok(end),
            }
        }
        Ok(CycleEnd::Print)
    }

    fn execute(&mut self, run: &mut TextRun<'_, '_>, index: usize, action: &SedAction) -> Result<Step, Stop> {
        match action {
            SedAction::Block(_) | SedAction::Nothing => {}
            SedAction::CopyToHold(mode) => copy(&self.pattern, &mut self.hold, *mode, self.settings.end),
            SedAction::CopyFromHold(mode) => copy(&self.hold, &mut self.pattern, *mode, self.settings.end),
            SedAction::Exchange => std::mem::swap(&mut self.pattern, &mut self.hold),
            SedAction::Clear => self.pattern.text.clear(),
            SedAction::Append(text) => self.appended.push(Appended::Text(text.clone())),
            SedAction::ReadFile(name) if self.reads_before(index) => {
                self.appended.push(Appended::File(name.clone()));
                self.write_appended(run)?;
            }
            SedAction::ReadFile(name) => self.appended.push(Appended::File(name.clone())),
            SedAction::ReadLine(name) => self.read_line(run, name)?,
            SedAction::Translate(translation) => {
                self.pattern.text = translation.apply(&self.pattern.text, self.encoding);
            }
            SedAction::Substitute(substitution) => self.substitute(run, substitution)?,
            SedAction::Branch(kind, target) => return Ok(self.branch(*kind, *target)),
            SedAction::Change(text) => {
                if !self.is_in_range(index) {
                    self.main.text(run, &with_end(text, self.settings.end), self.settings.end)?;
                }
                return Ok(Step::End(CycleEnd::Silent));
            }
            SedAction::Delete => return Ok(Step::End(CycleEnd::Silent)),
            SedAction::DeleteFirst => return Ok(Step::End(self.delete_first())),
            SedAction::Next | SedAction::NextAppend => return self.next_line(run, action),
            SedAction::Quit { status, is_silent } => {
                return Ok(Step::End(CycleEnd::Quit { status: *status, prints: !is_silent }));
            }
            _ => self.write_action(run, action)?,
        }
        Ok(Step::Next)
    }

    /// Whether a command is `0r`, which writes a file before the first line.
    fn reads_before(&self, index: usize) -> bool {
        let addresses = &self.script.commands[index].addresses;
        matches!(addresses.first, Some(Address::Line(0))) && addresses.second.is_none()
    }

    /// The commands that write something at once.
    fn write_action(&mut self, run: &mut TextRun<'_, '_>, action: &SedAction) -> Result<(), Stop> {
        let end = self.settings.end;
        match action {
            SedAction::Insert(text) => self.main.text(run, &with_end(text, end), end),
            SedAction::Print => self.print(run),
            SedAction::PrintFirst => {
                let (text, is_complete) = self.pattern.first_line(end);
                self.main.line(run, text, end, is_complete)
            }
            SedAction::List(length) => {
                let shown = listed(&self.pattern.text, length.unwrap_or(self.settings.line_length), end);
                self.main.text(run, &shown, end)
            }
            SedAction::LineNumber => {
                let number = self.line_number.to_string();
                self.main.text(run, &[number.as_bytes(), &[end]].concat(), end)
            }
            SedAction::FileName => {
                let name = [&*self.files.name, &[end]].concat();
                self.main.text(run, &name, end)
            }
            SedAction::Write { output, first_line_only } => {
                let (text, is_complete) = match first_line_only {
                    true => self.pattern.first_line(end),
                    false => (self.pattern.text.as_slice(), self.pattern.is_complete),
                };
                self.outputs[*output].line(run, text, end, is_complete)
            }
            _ => Ok(()),
        }
    }

    fn print(&mut self, run: &mut TextRun<'_, '_>) -> Result<(), Stop> {
        self.main.line(run, &self.pattern.text, self.settings.end, self.pattern.is_complete)?;
        if self.settings.is_unbuffered { run.flush() } else { Ok(()) }
    }

    fn branch(&mut self, kind: BranchKind, target: usize) -> Step {
        let jumps = match kind {
            BranchKind::Always => true,
            BranchKind::IfReplaced => std::mem::take(&mut self.is_replaced),
            BranchKind::UnlessReplaced => !std::mem::take(&mut self.is_replaced),
        };
        if jumps { Step::Jump(target) } else { Step::Next }
    }

    fn delete_first(&mut self) -> CycleEnd {
        match memchr::memchr(self.settings.end, &self.pattern.text) {
            Some(at) => {
                self.pattern.text.drain(..=at);
                CycleEnd::Restart
            }
            None => CycleEnd::Silent,
        }
    }

    /// `n` and `N`. Without a next line, the script ends.
    fn next_line(&mut self, run: &mut TextRun<'_, '_>, action: &SedAction) -> Result<Step, Stop> {
        if self.files.is_last(run)? {
            return Ok(Step::End(CycleEnd::Print));
        }
        let appends = matches!(action, SedAction::NextAppend);
        if !appends && !self.settings.is_quiet {
            self.print(run)?;
        }
        match self.read(run, appends)? {
            true => Ok(Step::Next),
            false => Ok(Step::End(CycleEnd::Print)),
        }
    }

    fn substitute(&mut self, run: &mut TextRun<'_, '_>, substitution: &Substitution) -> Result<(), Stop> {
        let regex = self.regex(run, &substitution.regex)?;
        let replaced = match substitution.apply(&regex, &self.pattern.text, self.encoding) {
            Ok(Some(replaced)) => replaced,
            Ok(None) => return Ok(()),
            Err(error) => return fail(run, &error.to_string()),
        };
        self.pattern.text = replaced;
        self.is_replaced = true;
        if substitution.flags.print {
            self.print(run)?;
        }
        if let Some(output) = substitution.flags.output {
            let (end, is_complete) = (self.settings.end, self.pattern.is_complete);
            self.outputs[output].line(run, &self.pattern.text, end, is_complete)?;
        }
        Ok(())
    }

    /// The expression itself, or the last one that was used.
    pub(super) fn regex(
        &mut self,
        run: &mut TextRun<'_, '_>,
        regex: &SedRegex,
    ) -> Result<Arc<GnuRegex>, Stop> {
        match regex.as_ref().or(self.last_regex.as_ref()).cloned() {
            Some(regex) => {
                self.last_regex = Some(regex.clone());
                Ok(regex)
            }
            None => {
                run.flush()?;
                run.complain(format_args!("{}: no previous regular expression", self.script.place));
                Err(Stop::Exit(BAD_USAGE))
            }
        }
    }

    /// `R`: appends the next line of a file.
    fn read_line(&mut self, run: &mut TextRun<'_, '_>, name: &Bytes) -> Result<(), Stop> {
        if !self.line_files.contains_key(name) {
            let input = open_text(run, name)?;
            self.line_files.insert(name.clone(), input);
        }
        let Some(Some(input)) = self.line_files.get_mut(name) else { return Ok(()) };
        let mut line = Vec::new();
        let has_line = input.read_line(run, self.settings.end, &mut line)?;
        if input.has_failed() {
            return Err(Stop::Exit(PANIC));
        }
        if has_line {
            self.appended.push(Appended::Text(line));
        }
        Ok(())
    }

    /// Writes what `a`, `r` and `R` have added.
    fn write_appended(&mut self, run: &mut TextRun<'_, '_>) -> Result<(), Stop> {
        if self.appended.is_empty() {
            return Ok(());
        }
        let end = self.settings.end;
        for appended in std::mem::take(&mut self.appended) {
            match appended {
                Appended::Text(text) => self.main.text(run, &text, end)?,
                Appended::File(name) => {
                    let text = match open_text(run, &name)? {
                        Some(mut input) => {
                            let text = input.read_all(run)?;
                            if input.has_failed() {
                                return Err(Stop::Exit(PANIC));
                            }
                            text
                        }
                        None => Vec::new(),
                    };
                    self.main.text(run, &text, end)?;
                }
            }
        }
        Ok(())
    }
}

fn initial_ranges(script: &SedScript) -> Vec<RangeState> {
    script.commands.iter().map(RangeState::initial).collect()
}

/// Opens a file of `r` or `R`. A file that cannot be opened is empty.
fn open_text(run: &mut TextRun<'_, '_>, name: &Bytes) -> Result<Option<TextInput>, Stop> {
    Ok(match *name == "/dev/stdin" {
        true => Some(run.standard_input()),
        false => run.try_open(name)?.ok(),
    })
}

/// Prints a message and ends the command.
pub(super) fn fail<T>(run: &mut TextRun<'_, '_>, message: &str) -> Result<T, Stop> {
    run.flush()?;
    run.complain(message);
    Err(Stop::Exit(PANIC))
}

/// The text of `i` or `c` with the end of lines.
fn with_end(text: &[u8], end: u8) -> Vec<u8> {
    match text.strip_suffix(b"\n") {
        Some(text) => [text, &[end]].concat(),
        None => text.to_vec(),
    }
}

fn copy(from: &Space, to: &mut Space, mode: CopyMode, end: u8) {
    match mode {
        CopyMode::Replace => to.clone_from(from),
        CopyMode::Append => {
            to.text.push(end);
            to.text.extend_from_slice(&from.text);
            to.is_complete = from.is_complete;
        }
    }
}
