//! `for`, `while`, `until`, `select`.

use haft_lang::ast::{Arithmetic, ArithmeticFor, For, List, Loop, Select, Span, Word};
use haft_text::Bytes;

use crate::flow::{Flow, Unwind};
use crate::session::Session;
use crate::variables::{VariableError, is_name};

/// How an iteration of a loop ended.
enum Iteration {
    /// The loop may go on.
    Next(i32),
    /// `continue` ended it; the loop may go on.
    Continued,
    /// It was the last.
    Last(i32),
}

impl Session {
    /// Runs the body of a loop once, and handles `break` and `continue`.
    #[inline]
    fn run_iteration(&mut self, body: &List) -> Result<Iteration, Unwind> {
        self.check()?;
        self.flush_sometimes();
        match self.run_list(body) {
            Ok(status) => Ok(Iteration::Next(status)),
            Err(Unwind::Break(levels)) if levels > 1 => Err(Unwind::Break(levels - 1)),
            Err(Unwind::Break(_)) => Ok(Iteration::Last(self.parameters.status())),
            Err(Unwind::Continue(levels)) if levels > 1 => Err(Unwind::Continue(levels - 1)),
            Err(Unwind::Continue(_)) => Ok(Iteration::Continued),
            Err(unwind) => Err(unwind),
        }
    }

    /// Counts a loop for `break` while it runs.
    fn looping(&mut self, run: impl FnOnce(&mut Self) -> Flow) -> Flow {
        self.calls.set_loops(self.calls.loops() + 1);
        let result = run(self);
        // A shell that ends within a call has left the loops around it already.
        self.calls.set_loops(self.calls.loops().saturating_sub(1));
        result
    }

    #[inline(never)]
    pub(crate) fn run_for(&mut self, each: &For) -> Flow {
        if !is_name(&each.name) {
            self.report(format_args!("`{}': not a valid identifier", each.name));
            return Ok(1);
        }
        let line = self.calls.text_line();
        let values = self.loop_values(each.words.as_deref())?;
        let header = header_span(each.name_span, each.words.as_deref(), "for ");
        self.looping(|session| {
            let mut status = 0;
            for value in values {
                session.calls.set_line(line);
                session.calls.set_command_span(header);
                session.run_debug_trap()?;
                session.trace_loop("for", &each.name, each.words.as_deref())?;
                if let Err(error) = session.assign_loop_variable(&each.name, value) {
                    session.report(error);
                    return session.unless_posix(1);
                }
                match session.run_iteration(&each.body)? {
                    Iteration::Next(ended) => status = ended,
                    Iteration::Continued => status = 0,
                    Iteration::Last(ended) => return Ok(ended),
                }
            }
            Ok(status)
        })
    }

    #[inline(never)]
    fn loop_values(&mut self, words: Option<&[Word]>) -> Result<Vec<Bytes>, Unwind> {
        match words {
            None => Ok(self.parameters.positional().to_vec()),
            Some(words) => {
                let mut values = Vec::new();
                self.expand_words(words, &mut values)?;
                Ok(values)
            }
        }
    }

    #[inline(never)]
    fn assign_loop_variable(&mut self, name: &[u8], value: Bytes) -> Result<(), VariableError> {
        use crate::variables::{Attributes, VariableValue};
        if let Some(variable) = self.plain_mut(name)
            && let VariableValue::Scalar(old) = &mut variable.value
        {
            *old = value;
            variable.attributes = variable.attributes.without(Attributes::UNSET);
            return Ok(());
        }
        // A name reference as loop variable refers to each value in turn.
        if self.variables.get(name).is_some_and(|variable| variable.is(Attributes::NAMEREF)) {
            if let Some(variable) = self.variables.get_mut(name) {
                variable.value = VariableValue::Scalar(value);
                variable.attributes = variable.attributes.without(Attributes::UNSET);
            }
            return Ok(());
        }
        self.assign(name, value, false)
    }

    #[inline(never)]
    pub(crate) fn run_arithmetic_for(&mut self, each: &ArithmeticFor) -> Flow {
        let line = self.calls.text_line();
        if self.evaluate_in_loop(each.initial.as_ref())?.is_none() {
            return Ok(1);
        }
        self.looping(|session| {
            let mut status = 0;
            loop {
                session.calls.set_line(line);
                match session.evaluate_in_loop(each.condition.as_ref())? {
                    None => return Ok(1),
                    Some(0) => return Ok(status),
                    Some(_) => {}
                }
                match session.run_iteration(&each.body)? {
                    Iteration::Next(ended) => status = ended,
                    Iteration::Continued => status = 0,
                    Iteration::Last(ended) => return Ok(ended),
                }
                session.calls.set_line(line);
                if session.evaluate_in_loop(each.update.as_ref())?.is_none() {
                    return Ok(1);
                }
            }
        })
    }

    /// Evaluates an expression of `for ((…))`; 1 if it is empty. `None` after an error, which ends only the loop.
    fn evaluate_in_loop(&mut self, expression: Option<&Arithmetic>) -> Result<Option<i64>, Unwind> {
        let Some(expression) = expression else { return Ok(Some(1)) };
        self.run_debug_trap_of_expression(expression)?;
        self.trace_loop_expression(expression)?;
        match self.evaluate(expression) {
            Err(Unwind::Abort(_)) => Ok(None),
            value => value.map(Some),
        }
    }

    #[inline(never)]
    pub(crate) fn run_loop(&mut self, body: &Loop) -> Flow {
        self.looping(|session| {
            let mut status = 0;
            loop {
                match session.as_condition(|session| session.run_iteration(&body.condition))? {
                    Iteration::Next(condition) if (condition == 0) == body.until => return Ok(status),
                    Iteration::Next(_) => {}
                    Iteration::Continued if body.until => return Ok(status),
                    Iteration::Continued => continue,
                    Iteration::Last(_) => return Ok(0),
                }
                match session.run_iteration(&body.body)? {
                    Iteration::Next(ended) => status = ended,
                    Iteration::Continued => status = 0,
                    Iteration::Last(ended) => return Ok(ended),
                }
            }
        })
    }

    #[inline(never)]
    pub(crate) fn run_select(&mut self, select: &Select) -> Flow {
        let values = self.loop_values(select.words.as_deref())?;
        if values.is_empty() {
            return Ok(0);
        }
        self.calls.set_command_span(header_span(select.name_span, select.words.as_deref(), "select "));
        self.run_debug_trap()?;
        self.trace_loop("select", &select.name, select.words.as_deref())?;
        self.looping(|session| {
            let mut show = true;
            loop {
                if show {
                    let menu = menu(&values, session.columns());
                    let _ = session.write(2, &menu);
                }
                let prompt = session.value(b"PS3").unwrap_or_else(|| "#? ".into());
                let _ = session.write(2, &prompt);
                let _ = session.flush();
                let Some(reply) = session.read_line()? else {
                    let _ = session.write(1, b"\n");
                    return Ok(1);
                };
                show = reply.is_empty();
                session.set(b"REPLY", reply.clone()).map_err(|error| session.fail(error))?;
                if show {
                    continue;
                }
                let number =
                    std::str::from_utf8(&reply).ok().and_then(|text| text.trim().parse::<usize>().ok());
                let chosen = number.and_then(|number| values.get(number.checked_sub(1)?)).cloned();
                if let Err(error) = session.assign_loop_variable(&select.name, chosen.unwrap_or_default()) {
                    session.report(error);
                    return Ok(1);
                }
                match session.run_iteration(&select.body)? {
                    Iteration::Next(_) | Iteration::Continued => {}
                    Iteration::Last(ended) => return Ok(ended),
                }
                show = session.value(b"REPLY").is_none_or(|reply| reply.is_empty());
            }
        })
    }

    fn columns(&self) -> usize {
        let columns = self.value(b"COLUMNS").and_then(|value| value.lossy().parse().ok());
        columns.filter(|columns| *columns > 0).unwrap_or(80)
    }
}

/// The part of a loop that `BASH_COMMAND` shows: `for name in words`.
fn header_span(name: Span, words: Option<&[Word]>, keyword: &str) -> Span {
    let end = match words {
        Some([.., last]) => last.span.end,
        _ => name.end,
    };
    let before = u32::try_from(keyword.len()).unwrap_or(0);
    Span::new(name.start.saturating_sub(before), end)
}

/// The numbered list that `select` shows, in as many columns as fit, separated by tabs where possible.
fn menu(values: &[Bytes], width: usize) -> Vec<u8> {
    let digits = values.len().to_string().len();
    let longest = values.iter().map(|value| haft_text::encoding::character_count(value)).max().unwrap_or(0);
    let cell = longest + digits + 4;
    let rows = values.len().div_ceil((width / cell).max(1)).max(1);
    let rows = if rows == 1 { values.len() } else { rows };
    let first = rows.to_string().len();
    let mut text = Vec::new();
    for row in 0..rows {
        for index in (row..values.len()).step_by(rows) {
            let (column, value) = (index / rows, &values[index]);
            let digits = if column == 0 { first } else { digits };
            text.extend_from_slice(format!("{:>digits$}) ", index + 1).as_bytes());
            text.extend_from_slice(value);
            if index + rows < values.len() {
                let used = digits + 2 + haft_text::encoding::character_count(value);
                indent(&mut text, column * cell + used, (column + 1) * cell);
            }
        }
        text.push(b'\n');
    }
    text
}

/// Fills a line with tabs and spaces from one column to another.
fn indent(text: &mut Vec<u8>, mut from: usize, to: usize) {
    const TAB: usize = 8;
    while from < to {
        match to / TAB > from / TAB {
            true => {
                text.push(b'\t');
                from += TAB - from % TAB;
            }
            false => {
                text.push(b' ');
                from += 1;
            }
        }
    }
}
