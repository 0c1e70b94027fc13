//! `set -x`.

use haft_lang::ast::{Arithmetic, Assignment, Span, Word};
use haft_text::Bytes;
use haft_text::quote;

use super::arguments::CommandArguments;
use crate::command::Operand;
use crate::flow::Unwind;
use crate::jobs::canonical;
use crate::options::SetOption;
use crate::session::Session;
use crate::variables::{Assigned, AssignedElement, AssignedValue};

impl Session {
    pub(crate) fn traces(&self) -> bool {
        self.options.has(SetOption::Trace)
    }

    /// Writes a line of the trace after the expanded `PS4`.
    fn trace_line(&mut self, line: &[u8]) -> Result<(), Unwind> {
        let prefix = self.value(b"PS4").unwrap_or_default();
        self.options.put(SetOption::Trace, false);
        let status = self.parameters.status();
        let expanded = self.prompt(&prefix);
        self.parameters.set_status(status);
        self.options.put(SetOption::Trace, true);
        let mut expanded = expanded?.into_vec();
        // The first character is repeated for each level.
        if let Some(first) = expanded.first().copied() {
            let more = usize::try_from(self.calls.trace_depth()).unwrap_or(0);
            expanded.splice(0..0, std::iter::repeat_n(first, more));
        }
        expanded.extend_from_slice(line);
        expanded.push(b'\n');
        let number = self.value(b"BASH_XTRACEFD").and_then(|value| value.lossy().parse().ok()).unwrap_or(2);
        let _ = self.write(number, &expanded);
        let _ = self.flush();
        Ok(())
    }

    /// Traces a command. An array that it assigns gets a line of its own before it.
    pub(crate) fn trace_arguments(&mut self, arguments: &CommandArguments) -> Result<(), Unwind> {
        let Some(operands) = &arguments.operands else { return self.trace_words(&arguments.words) };
        let mut words = arguments.words.clone();
        for (word, operand) in words.iter_mut().skip(1).zip(operands) {
            if let Operand::Assignment(assigned) = operand
                && let AssignedValue::List(elements) = &assigned.value
            {
                self.trace_line(&traced_list(assigned, elements))?;
                *word = assigned.name.clone();
            }
        }
        self.trace_words(&words)
    }

    /// Traces a command of plain words.
    pub(crate) fn trace_words(&mut self, words: &[Bytes]) -> Result<(), Unwind> {
        self.reserve_memory(
            "the trace of a command",
            2 * words.iter().map(|word| word.len()).sum::<usize>(),
        )?;
        let quoted: Vec<Vec<u8>> =
            words.iter().map(|word| quote::traced(word, self.encoding_of(word))).collect();
        self.trace_line(&quoted.join(&b' '))
    }

    /// Traces an assignment with its expanded subscript, and its expanded value unless it is an array.
    pub(crate) fn trace_assignment(
        &mut self,
        assignment: &Assignment,
        subscript: Option<&[u8]>,
        value: Option<&[u8]>,
    ) -> Result<(), Unwind> {
        if !self.traces() {
            return Ok(());
        }
        let mut line = assignment.name.to_vec();
        if let Some(subscript) = subscript {
            line.push(b'[');
            line.extend_from_slice(subscript);
            line.push(b']');
        }
        line.extend_from_slice(if assignment.append { b"+=" } else { b"=" });
        match value {
            Some(value) => line.extend(quote::traced_value(value, self.encoding_of(value))),
            None => {
                let text = self.text_of(assignment.span);
                let from = memchr::memchr(b'(', &text).unwrap_or(0);
                line.extend_from_slice(&text[from..]);
            }
        }
        self.trace_line(&line)
    }

    /// Traces `name=value`.
    pub(crate) fn trace_value(&mut self, name: &[u8], value: &[u8]) -> Result<(), Unwind> {
        if !self.traces() {
            return Ok(());
        }
        let quoted = quote::traced_value(value, self.encoding_of(value));
        self.trace_line(&[name, b"=", &*quoted].concat())
    }

    pub(crate) fn trace_case(&mut self, subject: &Word) -> Result<(), Unwind> {
        if !self.traces() {
            return Ok(());
        }
        let text = self.text_of(subject.span);
        self.trace_line(&[b"case ", text.as_bytes(), b" in"].concat())
    }

    /// Traces the head of `for` or `select`.
    pub(crate) fn trace_loop(
        &mut self,
        keyword: &str,
        name: &[u8],
        words: Option<&[Word]>,
    ) -> Result<(), Unwind> {
        if !self.traces() {
            return Ok(());
        }
        let words: Vec<u8> = match words {
            None => b"\"$@\"".to_vec(),
            Some(words) => {
                words.iter().map(|word| self.text_of(word.span).into_vec()).collect::<Vec<_>>().join(&b' ')
            }
        };
        self.trace_line(&[keyword.as_bytes(), b" ", name, b" in ", &words].concat())
    }

    pub(crate) fn trace_arithmetic(&mut self, expression: &Arithmetic) -> Result<(), Unwind> {
        if !self.traces() {
            return Ok(());
        }
        let text = self.text_of(expression.span);
        self.trace_line(&[b"(( ", text.as_bytes(), b" ))"].concat())
    }

    /// Traces an expression of `for ((`, without leading blanks.
    pub(crate) fn trace_loop_expression(&mut self, expression: &Arithmetic) -> Result<(), Unwind> {
        if !self.traces() {
            return Ok(());
        }
        let text = self.text_of(expression.span);
        self.trace_line(&[b"(( ", text.trim_ascii_start(), b" ))"].concat())
    }

    pub(crate) fn trace_text(&mut self, text: &[u8]) -> Result<(), Unwind> {
        match self.traces() {
            true => self.trace_line(text),
            false => Ok(()),
        }
    }

    /// The source text of a span of the running program.
    pub(crate) fn text_of(&self, span: Span) -> Bytes {
        self.calls.source_text().map_or_else(Bytes::new, |text| span.of(text).into())
    }

    /// `BASH_COMMAND`: the command that runs, or that ran when the current trap was triggered.
    pub(crate) fn command_text(&self) -> Bytes {
        match self.calls.trapped_command() {
            Some(command) => command.clone(),
            None => canonical(self.text_of(self.calls.command_span())),
        }
    }
}

/// An assignment of an array with quoted values.
fn traced_list(assigned: &Assigned, elements: &[AssignedElement]) -> Vec<u8> {
    let shown: Vec<Vec<u8>> = elements
        .iter()
        .map(|element| {
            let operator: &[u8] = if element.append { b"]+=" } else { b"]=" };
            let key = element.subscript.as_ref().map(|key| [b"[", &*quote::single(key), operator].concat());
            [key.unwrap_or_default(), quote::single(&element.value)].concat()
        })
        .collect();
    let operator: &[u8] = if assigned.append { b"+=(" } else { b"=(" };
    [&assigned.name, operator, &shown.join(&b' '), b")"].concat()
}
