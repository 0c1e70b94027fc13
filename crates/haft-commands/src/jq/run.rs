//! Runs a filter on its inputs.

use haft_text::printf::strftime;

use super::builtin::{Failure, Services};
use super::code::Program;
use super::inputs::{Inputs, NextInput};
use super::machine::{Ended, Machine};
use super::options::OutputOptions;
use super::print::{PrintStyle, to_json, write_value};
use super::value::{Fields, Value};
use crate::text::streams::{Stop, TextRun};

/// The status after an error of a filter.
const FILTER_ERROR: i32 = 5;

/// The status of `--exit-status` if the last output was false or null, and if there was none.
const FALSE_OUTPUT: i32 = 1;
const NO_OUTPUT: i32 = 4;

/// The result of running a filter on one input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RunStatus {
    NoOutput,
    False,
    True,
    Failed(i32),
}

/// A filter with its inputs and its output.
pub(super) struct JqRun<'r, 'c, 's> {
    pub(super) run: &'r mut TextRun<'c, 's>,
    pub(super) inputs: Inputs,
    pub(super) output: OutputOptions,
    pub(super) style: PrintStyle,
}

impl JqRun<'_, '_, '_> {
    /// Runs the filter on all inputs, or on null. Returns the exit status.
    pub(super) fn execute(
        &mut self,
        program: &Program,
        null_input: bool,
        by_output: bool,
    ) -> Result<i32, Stop> {
        let (mut status, mut last) = (RunStatus::NoOutput, None);
        if null_input {
            status = self.process(program, Value::Null)?.0;
        } else {
            while self.inputs.failures == 0 {
                match self.inputs.next(self.run)? {
                    NextInput::End => break,
                    NextInput::Value(value) => {
                        let has_halted;
                        (status, has_halted) = self.process(program, value)?;
                        match status {
                            RunStatus::False => last = Some(false),
                            RunStatus::True => last = Some(true),
                            _ => {}
                        }
                        if has_halted {
                            break;
                        }
                    }
                    NextInput::Invalid(message) if self.output.sequence => {
                        self.run.complain(format_args!("ignoring parse error: {message}"));
                    }
                    NextInput::Invalid(message) => {
                        self.run.complain(format_args!("parse error: {message}"));
                        status = RunStatus::Failed(FILTER_ERROR);
                        break;
                    }
                }
            }
        }
        if self.inputs.failures > 0 {
            status = RunStatus::Failed(2);
        }
        Ok(match status {
            RunStatus::Failed(status) => status,
            _ if !by_output => 0,
            RunStatus::False => FALSE_OUTPUT,
            RunStatus::True => 0,
            RunStatus::NoOutput => match last {
                None => NO_OUTPUT,
                Some(false) => FALSE_OUTPUT,
                Some(true) => 0,
            },
        })
    }

    /// Runs the filter on one input. The flag says whether it has halted.
    fn process(&mut self, program: &Program, input: Value) -> Result<(RunStatus, bool), Stop> {
        let mut machine = Machine::new(program, input);
        let mut status = RunStatus::NoOutput;
        loop {
            match machine.next(self) {
                Ok(None) => return Ok((status, false)),
                Ok(Some(value)) => match self.print(&value)? {
                    Some(printed) => status = printed,
                    None => {
                        let message = "Cannot dump a string containing NUL with --raw-output0 option";
                        self.report(&message.into());
                        return Ok((RunStatus::Failed(FILTER_ERROR), false));
                    }
                },
                Err(Ended::Error(error)) => {
                    self.report(&error);
                    return Ok((RunStatus::Failed(FILTER_ERROR), false));
                }
                Err(Ended::Failure(Failure::Stop(stop))) => return Err(stop),
                Err(Ended::Failure(Failure::Halt { status, message })) => {
                    return Ok((self.halt(status, message), true));
                }
                Err(Ended::Failure(Failure::Error(error))) => {
                    self.report(&error);
                    return Ok((RunStatus::Failed(FILTER_ERROR), false));
                }
            }
        }
    }

    /// Prints an output. `None` if it cannot be printed.
    fn print(&mut self, value: &Value) -> Result<Option<RunStatus>, Stop> {
        let mut text = String::new();
        let mut status = RunStatus::True;
        match value {
            Value::String(string) if self.output.raw && !self.output.ascii => {
                if self.output.nul && string.contains('\0') {
                    return Ok(None);
                }
                text.push_str(string);
            }
            value => {
                let is_raw = self.output.raw && matches!(value, Value::String(_));
                if !value.is_true() {
                    status = RunStatus::False;
                }
                if self.output.sequence && !is_raw {
                    text.push('\u{1e}');
                }
                write_value(&mut text, value, &self.style);
            }
        }
        if !self.output.joined {
            text.push('\n');
        }
        if self.output.nul {
            text.push('\0');
        }
        self.run.write(text.as_bytes())?;
        if self.output.unbuffered {
            self.run.flush()?;
        }
        Ok(Some(status))
    }

    /// Prints an error of the filter.
    fn report(&mut self, error: &Value) {
        let position = self.inputs.position();
        match error {
            Value::String(message) => self.run.complain(format_args!("error (at {position}): {message}")),
            other => {
                let shown = to_json(other);
                self.run.complain(format_args!("error (at {position}) (not a string): {shown}"));
            }
        }
    }

    fn halt(&mut self, status: Option<Value>, message: Option<Value>) -> RunStatus {
        match message {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) => self.write_error(text.as_bytes()),
            Some(other) => self.write_error(format!("{}\n", to_json(&other)).as_bytes()),
        }
        let status = status.and_then(|status| status.as_number()).unwrap_or(0.0);
        // The exit status of a process has eight bits.
        RunStatus::Failed(if status > 0.0 { status as i32 & 0xff } else { 0 })
    }

    fn write_error(&mut self, text: &[u8]) {
        let _ = self.run.flush();
        self.run.context.print_error(text);
        self.run.context.flush();
    }
}

impl Services for JqRun<'_, '_, '_> {
    fn check(&mut self) -> Result<(), Failure> {
        self.run.context.check().map_err(|unwind| Failure::Stop(unwind.into()))
    }

    fn input(&mut self) -> Result<Option<Value>, Failure> {
        match self.inputs.next(self.run) {
            Ok(NextInput::Value(value)) => Ok(Some(value)),
            Ok(NextInput::Invalid(message)) => Err(message.into()),
            Ok(NextInput::End) => Ok(None),
            Err(stop) => Err(Failure::Stop(stop)),
        }
    }

    fn debug(&mut self, value: &Value) {
        let mut text = String::new();
        let style = PrintStyle { indent: None, ..self.style.clone() };
        write_value(&mut text, &vec!["DEBUG:".into(), value.clone()].into(), &style);
        text.push('\n');
        self.write_error(text.as_bytes());
    }

    fn stderr(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.write_error(text.as_bytes()),
            other => self.write_error(to_json(other).as_bytes()),
        }
    }

    fn environment(&mut self) -> Value {
        environment(self.run)
    }

    fn input_name(&self) -> Value {
        match self.inputs.name() {
            None => Value::Null,
            Some(name) if *name == "-" => "<stdin>".into(),
            Some(name) => name.lossy().into_owned().into(),
        }
    }

    fn input_line(&self) -> usize {
        self.inputs.lines()
    }

    fn local_time(&mut self, seconds: i64) -> Option<[i64; 8]> {
        let zone = self.run.context.session().time_zone();
        let text = strftime::format(b"%Y %m %d %H %M %S %w %j", &zone.local_time(seconds));
        let numbers =
            String::from_utf8_lossy(&text).split(' ').map(str::parse).collect::<Result<Vec<i64>, _>>();
        let mut parts: [i64; 8] = numbers.ok()?.try_into().ok()?;
        parts[1] -= 1;
        parts[7] -= 1;
        Some(parts)
    }

    fn zone(&mut self, seconds: i64) -> (String, i64) {
        let zone = self.run.context.session().time_zone();
        let text = strftime::format(b"%z %Z", &zone.local_time(seconds));
        let text = String::from_utf8_lossy(&text).into_owned();
        let (offset, name) = text.split_once(' ').unwrap_or(("+0000", "UTC"));
        let digits: i64 = offset.get(1..).and_then(|digits| digits.parse().ok()).unwrap_or(0);
        let distance = digits / 100 * 3600 + digits % 100 * 60;
        (name.to_owned(), if offset.starts_with('-') { -distance } else { distance })
    }
}

/// The exported variables as an object.
pub(super) fn environment(run: &mut TextRun<'_, '_>) -> Value {
    let exported = run.context.session_mut().environment();
    let members = exported.iter().map(|(name, value)| {
        let value = value.to_string_lossy().into_owned();
        (std::rc::Rc::from(name.to_string_lossy()), Value::from(value))
    });
    members.collect::<Fields>().into()
}
