//! Running source text: scripts, `-c`, `eval`, `source`, traps.

use std::sync::Arc;

use haft_lang::ast::{Program, WarningKind};
use haft_lang::{AliasTable, CancelCheck, ParseOptions, Script, SyntaxError};
use haft_text::Bytes;

use super::input::LineSource;
use super::parameters::ExecutionParameters;
use crate::discard::discard;
use crate::flow::{CANNOT_EXECUTE, Flow, Unwind};
use crate::options::{SetOption, ShellOption};
use crate::session::{ErrexitContext, Frame, Session};
use crate::traps::Trap;

/// How a source text is run.
#[derive(Clone, Copy)]
struct TextOptions {
    /// The number of lines before it, for line numbers.
    lines_before: u32,
    /// Whether the text goes on after an error that ends a command.
    resume: bool,
    /// Whether the session runs nothing else, so that the process may become the last command.
    whole: bool,
    /// The name of the text in messages about syntax errors; empty for files, which have a name of their own.
    label: &'static str,
    /// Whether its lines become part of the history while `set -o history` is on.
    is_remembered: bool,
    /// Whether it is not part of the program: `eval`, `source`, a trap.
    is_inner: bool,
}

/// The length from which parsing a text checks for cancellation.
const LONG_TEXT_BYTES: usize = 256 * 1024;

impl Session {
    /// Parses a script and checks it for syntax errors, before any of it runs. It runs as it was parsed: see
    /// [`Session::run_script`].
    ///
    /// # Errors
    /// If the script has a syntax error.
    pub fn prepare(&self, source: &[u8]) -> Result<Script, SyntaxError> {
        Script::parse(source, &ParseOptions { cancel: self.parse_cancel(source), ..self.parse_options() })
            .checked()
    }

    /// Runs a text as the program of this session, and then the `EXIT` trap. Commands before a syntax error run.
    /// Returns the status.
    pub fn run_main(&mut self, source: &[u8]) -> Flow {
        self.run_script(&Script::new(source))
    }

    /// Runs a script as the program of this session, and then the `EXIT` trap. Returns the status.
    pub fn run_script(&mut self, script: &Script) -> Flow {
        let before = self.save_calls();
        let text = self.calls.source_text().cloned();
        let result = self.run_program(script);
        let result = self.end_program(result);
        self.restore_calls(before);
        self.calls.set_source_text(text);
        result
    }

    /// Runs the `EXIT` trap after the program of this session. Returns the status.
    pub(super) fn end_program(&mut self, result: Flow) -> Flow {
        self.report_memory_hit();
        let status = match self.serve_last_signals(result) {
            Ok(status) => status,
            Err(Unwind::Cancelled) => {
                let killed = self.limits.cancel().killed_by();
                self.run_last_trap();
                let _ = self.flush();
                return Err(killed.map_or(Unwind::Cancelled, Unwind::Signal));
            }
            Err(Unwind::Signal(signal)) => {
                let _ = self.run_exit_trap(self.parameters.status());
                let _ = self.flush();
                return Err(Unwind::Signal(signal));
            }
            Err(Unwind::Break(_) | Unwind::Continue(_)) => self.parameters.status(),
            Err(unwind) => unwind.status(),
        };
        let status = self.run_exit_trap(status);
        self.save_history();
        let _ = self.flush();
        status.map(|status| status & 0xff)
    }

    /// Runs a script command by command. It goes on after an error that ends a command.
    pub(super) fn run_program(&mut self, script: &Script) -> Flow {
        let label = if self.identity.is_command_string() { "-c" } else { "" };
        self.run_as(
            script,
            TextOptions {
                lines_before: 0,
                resume: true,
                whole: true,
                label,
                is_remembered: true,
                is_inner: false,
            },
        )
    }

    /// Runs a text as `eval` does. An error that ends a command ends the text only in a subshell. Messages about syntax
    /// errors contain `label`.
    pub(crate) fn run_text(&mut self, source: &[u8], label: &'static str) -> Flow {
        let line = self.calls.text_line().saturating_sub(1);
        self.run_within(source, line, label)
    }

    /// Runs a text one level deeper in the trace.
    pub(super) fn run_within(&mut self, source: &[u8], lines_before: u32, label: &'static str) -> Flow {
        let resume = !self.identity.is_subshell();
        self.calls.deepen_trace();
        let options =
            TextOptions { lines_before, resume, whole: false, label, is_remembered: true, is_inner: true };
        let result = self.without_remembering(|session| session.run_as(&Script::new(source), options));
        if result.is_err() && self.identity.is_command_string() {
            // With `-c`, the calls are left before the `EXIT` trap runs.
            self.trap_state.set_fails_in_place(false);
        }
        self.calls.flatten_trace();
        result
    }

    /// Runs the `EXIT` trap of the main shell, which is not deeper in the trace than the script.
    pub(super) fn run_exit_text(&mut self, source: &[u8]) -> Flow {
        let label = Trap::Exit.label();
        let options = TextOptions {
            lines_before: 0,
            resume: true,
            whole: false,
            label,
            is_remembered: true,
            is_inner: true,
        };
        self.without_remembering(|session| session.run_as(&Script::new(source), options))
    }

    /// Runs a text whose lines become part of the history.
    pub(super) fn run_remembered_text(&mut self, source: &[u8]) -> Flow {
        self.history_mut().is_remembering = true;
        let options = TextOptions {
            lines_before: 0,
            resume: true,
            whole: false,
            label: "fc",
            is_remembered: true,
            is_inner: true,
        };
        self.run_as(&Script::new(source), options)
    }

    /// Runs something whose lines do not become part of the history, unless it turns `set -o history` on itself.
    fn without_remembering(&mut self, run: impl FnOnce(&mut Self) -> Flow) -> Flow {
        if !self.history().is_remembering && !self.options.has(SetOption::History) {
            return run(self);
        }
        self.history_mut().is_remembering = false;
        let result = run(self);
        self.history_mut().is_remembering = self.options.has(SetOption::History);
        result
    }

    /// Runs a script that is a part of the program, such as a line of it. Its text stays that of `BASH_COMMAND`, for an `EXIT` trap.
    pub(crate) fn run_part(&mut self, script: &Script, lines_before: u32, resume: bool) -> Flow {
        let options = TextOptions {
            lines_before,
            resume,
            whole: false,
            label: "",
            is_remembered: false,
            is_inner: false,
        };
        self.calls.set_source_text(Some(script.source().clone()));
        self.nested(3, |session| session.run_commands(script, options))
    }

    fn run_as(&mut self, script: &Script, reading: TextOptions) -> Flow {
        let text = script.source().clone();
        let (before, span) = (self.calls.set_source_text(Some(text)), self.calls.command_span());
        let result = self.nested(3, |session| session.run_commands(script, reading));
        // The `EXIT` trap of the session runs later and sees the last command.
        if before.is_some() {
            self.calls.set_source_text(before);
            self.calls.set_command_span(span);
        }
        result
    }

    /// The check for cancellation while a long text is parsed.
    pub(super) fn parse_cancel(&self, text: &[u8]) -> Option<CancelCheck> {
        let long =
            (text.len() >= LONG_TEXT_BYTES).then(|| (self.limits.cancel().clone(), self.memory.clone()));
        long.map(|(cancel, memory)| {
            CancelCheck::new(move || cancel.is_cancelled() || (memory.is_exceeded() && !memory.recheck()))
        })
    }

    #[inline(never)]
    fn run_commands(&mut self, script: &Script, reading: TextOptions) -> Flow {
        let TextOptions { lines_before, resume, whole, .. } = reading;
        let text = &**script.source();
        let cancel = self.parse_cancel(text);
        let mut reader = script.reader(ParseOptions { lines_before, cancel, ..self.parse_options() });
        let mut status = 0;
        loop {
            self.update_parse_options(reader.options_mut());
            self.check_cancelled()?;
            let from = reader.offset();
            if reading.is_remembered && self.history().is_remembering && from < text.len() {
                let lines = LineSource::Text { text, offset: from };
                let (next, ended) = self.run_remembered_lines(lines, lines_before, resume)?;
                self.calls.set_source_text(Some(script.source().clone()));
                status = ended.unwrap_or(status);
                reader.continue_at(next);
                continue;
            }
            let program = match reader.next_command() {
                Ok(Some(program)) => program,
                Ok(None) if self.has_pending_signals() => {
                    self.run_signal_traps()?;
                    return Ok(status);
                }
                Ok(None) => return Ok(status),
                Err(error) if error.skips_line() => {
                    self.report_syntax_error(&error, text, reading);
                    self.parameters.set_status(1);
                    self.parameters.set_pipe_status(1);
                    status = 1;
                    reader.skip_line(error.span.start as usize);
                    continue;
                }
                Err(error) => {
                    self.check_cancelled()?;
                    return self.syntax_error(&error, text, reading);
                }
            };
            self.warn(&program, text, lines_before);
            if self.options.has(SetOption::Verbose) {
                let read = text.get(from..reader.offset()).unwrap_or_default().to_vec();
                let _ = self.write(2, &read);
            }
            if self.options.has(SetOption::NoExecute) {
                continue;
            }
            let (ignored, substituted) = (self.calls.errexit(), self.open_files.substitution_count());
            let rest = text.get(reader.offset()..).unwrap_or_default();
            let may_replace_process =
                whole && self.identity.is_command_string() && rest.trim_ascii().is_empty();
            let parameters = ExecutionParameters { may_replace_process, ..Default::default() };
            // The reader does not share the aliases while commands run, so that `alias` changes the table in place.
            reader.options_mut().aliases = None;
            match self.run_list_with(&program.body, parameters) {
                Ok(ended) if self.is_one_command(reading) => return Err(Unwind::Exit(ended)),
                Ok(ended) => status = ended,
                Err(Unwind::Abort(ended)) if resume => {
                    self.parameters.set_status(ended);
                    self.parameters.set_pipe_status(ended);
                    self.open_files.close_substitutions(substituted);
                    self.calls.set_errexit(ignored);
                    status = ended;
                }
                Err(unwind) => {
                    if text.len() >= LONG_TEXT_BYTES {
                        discard(program, &self.memory);
                    }
                    return Err(unwind);
                }
            }
        }
    }

    /// Whether the shell ends after this command: `set -t`.
    fn is_one_command(&self, reading: TextOptions) -> bool {
        self.options.has(SetOption::OneCommand) && !reading.is_inner && !self.identity.is_command_string()
    }

    fn warn(&mut self, program: &Program, text: &[u8], lines_before: u32) {
        for warning in &program.warnings {
            let (delimiter, end) = match &warning.kind {
                WarningKind::UnterminatedHereDocument { delimiter } => (delimiter, u32::MAX),
                WarningKind::HereDocumentBeforeParenthesis { delimiter, end } => (delimiter, *end),
                _ => continue,
            };
            self.warn_of_document(delimiter, warning.span.start, end, text, lines_before);
        }
    }

    /// Warns of a here-document that its delimiter does not end. `start` and `end` are offsets in the text.
    fn warn_of_document(&mut self, delimiter: &Bytes, start: u32, end: u32, text: &[u8], lines_before: u32) {
        let lines = haft_lang::ast::LineIndex::new(text);
        let last = u32::try_from(text.len().saturating_sub(1)).unwrap_or(u32::MAX);
        let line = lines.line(start) + lines_before;
        self.calls.set_line(lines.line(end.min(last)) + lines_before);
        self.report(format_args!(
            "warning: here-document at line {line} delimited by end-of-file (wanted `{delimiter}')"
        ));
    }

    /// The aliases that are expanded.
    pub(crate) fn expanded_aliases(&self) -> Option<&Arc<AliasTable>> {
        let expanded = self.options.shell(ShellOption::ExpandAliases);
        Some(self.definitions.aliases()).filter(|aliases| expanded && !aliases.is_empty())
    }

    /// The parser options that follow from the options and aliases of the session.
    #[must_use]
    pub fn parse_options(&self) -> ParseOptions {
        let mut options = ParseOptions::default();
        self.update_parse_options(&mut options);
        options
    }

    /// Follows the changes that commands have made to options and aliases.
    fn update_parse_options(&self, options: &mut ParseOptions) {
        options.extglob = self.options.shell(ShellOption::ExtendedGlob);
        options.posix = self.options.has(SetOption::Posix);
        let aliases = self.expanded_aliases();
        if options.aliases.as_ref().map(Arc::as_ptr) != aliases.map(Arc::as_ptr) {
            options.aliases = aliases.cloned();
        }
    }

    #[inline(never)]
    fn syntax_error(&mut self, error: &SyntaxError, text: &[u8], reading: TextOptions) -> Flow {
        self.report_syntax_error(error, text, reading);
        if error.is_in_conditional(text) && !reading.is_inner {
            return Ok(self.parameters.status());
        }
        self.parameters.set_status(2);
        self.unless_posix(2)
    }

    /// Reports a syntax error: to a person with what was expected, else in the words of bash, which tools look for.
    fn report_syntax_error(&mut self, error: &SyntaxError, text: &[u8], reading: TextOptions) {
        let lines = haft_lang::ast::LineIndex::new(text);
        if self.interactive.is_interactive() {
            self.calls.set_line(lines.line(error.span.start) + reading.lines_before);
            return self.report(error.message());
        }
        if let Some((delimiter, span)) = error.here_document.as_deref() {
            self.warn_of_document(delimiter, span.start, u32::MAX, text, reading.lines_before);
        }
        let (message, offset) = error.bash_message(text);
        if message.is_empty() {
            return;
        }
        let line = match error.incomplete && offset as usize == text.len() {
            true => lines_with_end(text),
            false => lines.line(offset),
        };
        self.calls.set_line(line + reading.lines_before);
        self.report_labelled(reading.label, &message);
        if let Some(excerpt) = error.bash_excerpt(text, line) {
            self.report_labelled(reading.label, excerpt);
        }
    }

    /// Expands text that is not part of a program as if it were in double quotes.
    pub(crate) fn expand_text(&mut self, text: &[u8]) -> Result<Bytes, Unwind> {
        match haft_lang::parse_quoted(text, &self.parse_options()) {
            Ok(word) => match word.literal() {
                Some(literal) => Ok(literal.into()),
                None => self.expand_quoted(word.parts()),
            },
            Err(error) => Err(self.fail(error.message())),
        }
    }

    /// Expands the subscript of a name that is the value of a variable or part of an expression, and removes its quotes.
    pub(crate) fn expand_subscript_text(&mut self, text: &[u8]) -> Result<Bytes, Unwind> {
        if !text.iter().any(|byte| matches!(byte, b'$' | b'`' | b'\\' | b'\'' | b'"')) {
            return Ok(text.into());
        }
        match haft_lang::parse_subscript(text, &self.parse_options()) {
            Ok(word) => self.expand_string(&word),
            Err(_) => Ok(text.into()),
        }
    }

    /// Runs a file in this session: `source`.
    pub(crate) fn source_file(&mut self, name: &[u8], text: &[u8], arguments: Option<&[Bytes]>) -> Flow {
        self.calls.push(Frame {
            name: "source".into(),
            source: name.into(),
            line: self.calls.line(),
            is_function: false,
            arguments: self
                .options
                .shell(ShellOption::ExtendedDebug)
                .then(|| arguments.map_or_else(|| [Bytes::from(name)].into(), Into::into)),
        });
        let line = self.calls.text_line();
        let positional = arguments.map(|arguments| self.parameters.replace_positional(arguments.to_vec()));
        let changed = self.parameters.mark_positional(false);
        let debug = self.hide_debug_trap();
        let result = match self.run_within(text, 0, "") {
            Err(Unwind::Return(status)) => Ok(status),
            other => other,
        };
        if self.keeps_calls(&result) {
            return result;
        }
        let (in_function, is_command) = (self.calls.is_in_function(), self.identity.is_command_string());
        if matches!(result, Err(Unwind::Exit(_))) && in_function && !is_command {
            self.trap_state.set_exits_in_place(true);
        }
        if self.stays_for_exit_trap(&result) && (in_function || !is_command) {
            return result;
        }
        // CommandArguments given to `source` are restored, unless the file has replaced them with `set` outside of functions.
        if let Some(positional) =
            positional.filter(|_| !self.parameters.positional_was_set() || self.in_function())
        {
            self.parameters.restore_positional(positional);
        }
        self.parameters.mark_positional(changed);
        self.calls.pop();
        self.calls.set_line(line);
        // The `DEBUG` trap does not run for the commands of the `RETURN` trap.
        let returned = match result.is_ok() && self.traps.get(Trap::Return).is_some() {
            true => self.run_trap(Trap::Return),
            false => Ok(()),
        };
        self.show_debug_trap(debug);
        returned.and(result)
    }

    /// Runs a script without `#!` in a subshell, as a separate shell would.
    #[inline(never)]
    pub(crate) fn run_without_shebang(
        &mut self,
        path: &[u8],
        words: &[Bytes],
        assigned: &[(Bytes, Bytes)],
    ) -> Flow {
        let text = match self.read_file(path)? {
            Ok(text) => text,
            Err(error) => {
                self.report(format_args!("{}: {}", words[0], haft_fs::message(&error)));
                return Ok(CANNOT_EXECUTE);
            }
        };
        let first = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
        if first.contains(&0) || text.starts_with(b"\x7fELF") {
            self.report(format_args!("{}: cannot execute binary file: Exec format error", words[0]));
            return Ok(CANNOT_EXECUTE);
        }
        let mut child = self.fork();
        child.become_script(path, &words[1..]);
        for (name, value) in assigned {
            child.variables.swap(name, Some(super::simple::exported(value.clone())));
        }
        let result = child.run_program(&Script::new(text));
        let ended = child.end_subshell(result);
        self.adopt_output(&mut child);
        ended
    }

    /// Makes a subshell a new shell: only exported variables stay.
    pub(super) fn become_script(&mut self, path: &[u8], arguments: &[Bytes]) {
        use crate::variables::Attributes;
        let names: Vec<Bytes> = self
            .variables
            .iter()
            .filter(|(_, variable)| {
                !variable.attributes.intersects(Attributes::EXPORT.union(Attributes::DYNAMIC))
            })
            .map(|(name, _)| name.clone())
            .collect();
        for name in names {
            if !matches!(&*name, b"IFS" | b"PS4" | b"OPTIND" | b"PPID" | b"UID" | b"EUID" | b"BASH_VERSION") {
                self.variables.swap(&name, None);
            }
        }
        let _ = self.set(b"IFS", " \t\n");
        self.definitions.clear_functions_and_aliases();
        // As in bash, this option is not reset.
        let skip_dots = self.options.shell(ShellOption::GlobSkipDots);
        self.options = crate::options::ShellOptions::default();
        self.options.put_shell(ShellOption::GlobSkipDots, skip_dots);
        self.traps = self.traps.for_script();
        self.calls.clear();
        self.parameters.set_zero(path.into());
        self.identity.set_script(path.into());
        self.parameters.set_positional(arguments.to_vec());
        self.calls.set_errexit(ErrexitContext::Active);
    }
}

/// The line at which bash notices the end of a text: the one after the last line. A backslash at the end joins that line to
/// another one.
fn lines_with_end(text: &[u8]) -> u32 {
    let ended = text.strip_suffix(b"\n").unwrap_or(text);
    let count = memchr::memchr_iter(b'\n', ended).count() + 2 + usize::from(ended.ends_with(b"\\"));
    u32::try_from(count).unwrap_or(u32::MAX)
}
