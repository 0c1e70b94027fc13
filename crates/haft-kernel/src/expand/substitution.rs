//! Command substitution, `$(…)`, and process substitution, `<(…)` and `>(…)`.

use std::sync::Arc;

use haft_lang::ParseOptions;
use haft_lang::ast::{
    CommandKind, CommandSubstitution, List, ProcessSubstitution, Program, RedirectKind, Span,
    SubstitutionDirection, Word,
};
use haft_text::Bytes;

use crate::flow::Unwind;
use crate::io::{Capture, OpenFile};
use crate::options::{SetOption, ShellOption};
use crate::session::Session;

impl Session {
    /// Returns the output of `$(…)` without trailing newlines.
    #[inline(never)]
    pub(super) fn substitute(
        &mut self,
        substitution: &CommandSubstitution,
        span: Span,
    ) -> Result<Vec<u8>, Unwind> {
        if let Some(error) = &substitution.error {
            self.report(format_args!("command substitution: {}", error.error));
            self.parameters.set_substitution_status(2);
            return Ok(Vec::new());
        }
        if let Some(word) = file_only(&substitution.body) {
            return self.substitute_file(word);
        }
        let lines = if substitution.backquoted { self.count_lines(span) } else { 0 };
        let outer = self.calls.set_line_offset(0);
        self.calls.set_line_offset(outer + lines);
        let captured = self.capture_substitution(substitution);
        self.calls.set_line_offset(outer);
        let (output, status) = captured?;
        self.parameters.set_substitution_status(status);
        self.parameters.set_status(status);
        if memchr::memchr(0, &output).is_some() {
            self.report("warning: command substitution: ignored null byte in input");
        }
        Ok(trimmed(output))
    }

    /// The number of newlines in a part of the running text.
    fn count_lines(&self, span: Span) -> u32 {
        let text = self.calls.source_text().map_or(&[][..], |text| span.of(text));
        u32::try_from(memchr::memchr_iter(b'\n', text).count()).unwrap_or(0)
    }

    fn capture_substitution(&mut self, substitution: &CommandSubstitution) -> Result<(Vec<u8>, i32), Unwind> {
        let has_backslashes = substitution.backquoted && {
            let text = self.calls.source_text().map(|text| substitution.body.span.of(text));
            text.is_some_and(|text| text.contains(&b'\\'))
        };
        // Within backquotes, backslashes are removed before the text is parsed.
        let again = match has_backslashes {
            true => None,
            false => self.parse_again(&substitution.body, substitution.aliased),
        };
        match again {
            Some((text, program)) => {
                let before = self.calls.set_source_text(Some(text));
                let result = self.capture_list(&program.body);
                self.calls.set_source_text(before);
                result
            }
            None => self.capture_list(&substitution.body),
        }
    }

    /// Parses the text of a substitution again if aliases affect it: they are expanded when it runs, not when the command around it was
    /// parsed. Returns `None` if the parsed body is right.
    fn parse_again(&self, body: &List, aliased: bool) -> Option<(Arc<[u8]>, Program)> {
        if !aliased && self.expanded_aliases().is_none() {
            return None;
        }
        let text = body.span.of(self.calls.source_text()?);
        if text.is_empty() {
            return None;
        }
        let lines_before = self.calls.text_line().saturating_sub(1);
        let options = ParseOptions { lines_before, ..self.parse_options() };
        let program = haft_lang::parse(text, &options).ok()?;
        Some((text.into(), program))
    }

    /// Runs a list in a subshell, and returns its standard output and its exit status. Starts no process unless the list starts one.
    #[inline(never)]
    pub(crate) fn capture_list(&mut self, body: &List) -> Result<(Vec<u8>, i32), Unwind> {
        let capture = Arc::new(Capture::default());
        let mut child = self.fork();
        child.open_files.set(1, Arc::new(OpenFile::capture(capture.clone())));
        child.processes.add_capture(capture.clone());
        child.processes.set_group(None);
        child.calls.deepen_trace();
        // `break` in a substitution within a loop ends the substitution.
        child.calls.set_loops(self.calls.loops());
        if !self.options.shell(ShellOption::InheritErrorExit) {
            child.options.put(SetOption::ErrorExit, false);
        }
        let status = child.nested(25, |child| child.run_subshell(body));
        self.adopt_output(&mut child);
        drop(child);
        let status = status?;
        self.drain_to_end(&capture)?;
        self.raise_child_signal();
        Ok((capture.take(), status))
    }

    /// Returns the content of the file in `$(<file)`.
    fn substitute_file(&mut self, word: &Word) -> Result<Vec<u8>, Unwind> {
        let names = self.expand_target(word)?;
        let [name] = names.as_slice() else { return Err(self.fail("ambiguous redirect")) };
        match self.read_file(name)? {
            Ok(bytes) => {
                self.parameters.set_substitution_status(0);
                Ok(trimmed(bytes))
            }
            Err(error) => {
                self.report(format_args!("{name}: {}", haft_fs::message(&error)));
                self.parameters.set_substitution_status(1);
                Ok(Vec::new())
            }
        }
    }

    /// Starts a process substitution, and returns the path of its pipe.
    pub(super) fn substitute_process(&mut self, substitution: &ProcessSubstitution) -> Result<Bytes, Unwind> {
        let (reader, writer) = match rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC) {
            Ok(ends) => ends,
            Err(error) => {
                return Err(self.fail(format_args!("cannot make pipe for process substitution: {error}")));
            }
        };
        let (reader, writer) = (Arc::new(OpenFile::real(reader)), Arc::new(OpenFile::real(writer)));
        let (inner, inner_number, outer) = match substitution.direction {
            SubstitutionDirection::Read => (writer, 1, reader),
            SubstitutionDirection::Write => (reader, 0, writer),
        };
        let mut child = self.fork();
        let reads = self.processes.is_supervised() && substitution.direction == SubstitutionDirection::Read;
        let ended = reads.then(|| child.processes.enter_substitution(inner.clone()));
        child.open_files.set(inner_number, inner);
        child.processes.set_group(None);
        let body = match self.parse_again(&substitution.body, substitution.aliased) {
            Some((text, program)) => {
                child.calls.set_source_text(Some(text));
                program.body
            }
            None => substitution.body.clone(),
        };
        self.start_detached(child, body, ended);
        let number = self.open_files.open_substitution(outer);
        Ok(format!("/dev/fd/{number}").into())
    }
}

/// Returns the file of `$(<file)`: of a list that consists of one input redirection.
fn file_only(list: &List) -> Option<&Word> {
    let [statement] = &*list.statements else { return None };
    let [command] = &*statement.first.stages else { return None };
    let plain = statement.rest.is_empty()
        && !statement.background
        && !statement.first.negated
        && statement.first.time.is_none();
    let CommandKind::Simple(simple) = &command.kind else { return None };
    let empty = simple.arguments.is_empty() && simple.assignments.is_empty();
    match &*command.redirects {
        [redirect] if plain && empty => match (&redirect.kind, &redirect.descriptor) {
            (RedirectKind::Read(word), haft_lang::ast::RedirectDescriptor::Default) => Some(word),
            _ => None,
        },
        _ => None,
    }
}

/// Removes NUL bytes and trailing newlines from the output of a substitution.
fn trimmed(mut output: Vec<u8>) -> Vec<u8> {
    if memchr::memchr(0, &output).is_some() {
        output.retain(|byte| *byte != 0);
    }
    let end = output.iter().rposition(|byte| *byte != b'\n').map_or(0, |last| last + 1);
    output.truncate(end);
    output
}
