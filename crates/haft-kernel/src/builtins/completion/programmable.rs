//! Completion of a command line with the specifications of `complete`.

use haft_text::Bytes;

use super::candidates::{self, Candidates, Completing};
use super::line;
use crate::flow::Unwind;
use crate::options::ShellOption;
use crate::session::completion::{CompletionSpec, DEFAULT_COMMAND, EMPTY_COMMAND, INITIAL_WORD};
use crate::session::{CompletionOption, CompletionOptions, Session};

/// How often a function may ask to start again.
const MAX_RETRIES: usize = 32;
/// `COMP_TYPE` and `COMP_KEY` of the Tab key.
const TAB: u8 = b'\t';

/// A command line to complete.
#[derive(Clone, Copy, Debug)]
pub struct CompletionRequest<'a> {
    /// The text of the simple command.
    pub line: &'a [u8],
    /// The cursor in it, in bytes.
    pub cursor: usize,
    /// The name of the command, if the cursor is in a word after it.
    pub command: Option<&'a [u8]>,
}

/// The completions that a specification yields.
#[derive(Clone, Debug, Default)]
pub struct ProgrammableCompletion {
    /// The start of the text in the line that the candidates replace.
    pub start: usize,
    /// The candidates.
    pub candidates: Vec<Bytes>,
    /// The options of the specification.
    pub options: CompletionOptions,
    /// Whether the candidates are names of files, which are quoted, and get a slash if they are directories.
    pub are_files: bool,
}

impl Session {
    /// Completes a command line with the specification of its command. Returns `None` if there is none, so that the usual completion
    /// applies.
    ///
    /// # Errors
    /// A reason to unwind.
    pub fn complete_line(
        &mut self,
        request: &CompletionRequest<'_>,
    ) -> Result<Option<ProgrammableCompletion>, Unwind> {
        if self.definitions.completions().is_empty()
            || !self.options.shell(ShellOption::ProgrammableCompletion)
        {
            return Ok(None);
        }
        let status = self.parameters.status();
        let completing = self.completing_of(request);
        let found = self.complete_with_specs(request, &completing);
        *self.interactive.completing_mut() = None;
        self.parameters.set_status(status);
        let _ = self.flush();
        let Some((found, options)) = found? else { return Ok(None) };
        self.finish_completion(request, &completing, found, options).map(Some)
    }

    fn completing_of(&self, request: &CompletionRequest<'_>) -> Completing {
        let breaks = self.value(b"COMP_WORDBREAKS").unwrap_or_default();
        let before = request.line.get(..request.cursor).unwrap_or_default();
        let words = line::split(request.line, &breaks, request.cursor);
        Completing {
            command: request.command.unwrap_or_default().into(),
            word: before[line::completed_start(before, &breaks)..].into(),
            line: request.line.into(),
            cursor: request.cursor,
            words: words.words,
            number: words.number,
            kind: TAB,
            key: TAB,
        }
    }

    /// Tries the specifications that apply, in order, until one exists and does not ask to start again.
    fn complete_with_specs(
        &mut self,
        request: &CompletionRequest<'_>,
        completing: &Completing,
    ) -> Result<Option<(Candidates, CompletionOptions)>, Unwind> {
        for _ in 0..MAX_RETRIES {
            let Some((name, spec)) = self.spec_for(request) else { return Ok(None) };
            *self.interactive.completing_mut() = Some((name, spec.clone()));
            let found = candidates::candidates(self, &spec, completing)?;
            let now = self.interactive.completing().map_or(spec.options, |(_, spec)| spec.options);
            if !found.retry {
                return Ok(Some((found, now)));
            }
        }
        self.report(format_args!("programmable_completion: {}: possible retry loop", completing.command));
        Ok(None)
    }

    /// The specification for a command line: of the command, of its base name, or the default one.
    fn spec_for(&self, request: &CompletionRequest<'_>) -> Option<(Bytes, CompletionSpec)> {
        let is_empty = request.line.trim_ascii().is_empty();
        let names: Vec<&[u8]> = match request.command {
            Some(command) => {
                let base = command.rsplit(|byte| *byte == b'/').next().filter(|base| !base.is_empty());
                [Some(command), base, Some(DEFAULT_COMMAND.as_bytes())].into_iter().flatten().collect()
            }
            None if is_empty => vec![EMPTY_COMMAND.as_bytes()],
            None => vec![INITIAL_WORD.as_bytes()],
        };
        let table = self.definitions.completions();
        let spec = names.into_iter().find_map(|name| table.get(name))?;
        Some((request.command.unwrap_or_default().into(), CompletionSpec::clone(spec)))
    }

    fn finish_completion(
        &mut self,
        request: &CompletionRequest<'_>,
        completing: &Completing,
        mut found: Candidates,
        options: CompletionOptions,
    ) -> Result<ProgrammableCompletion, Unwind> {
        if found.names.is_empty() {
            found.names = candidates::default_candidates(self, options, &completing.word)?;
            found.are_files = !found.names.is_empty();
        }
        if !options.has(CompletionOption::NoSort) {
            found.names.sort();
            found.names.dedup();
        }
        Ok(ProgrammableCompletion {
            start: request.cursor - completing.word.len(),
            candidates: found.names,
            options,
            are_files: found.are_files || options.has(CompletionOption::Filenames),
        })
    }

    /// Whether a completion is under way.
    pub(super) fn is_completing(&self) -> bool {
        self.interactive.completing().is_some()
    }

    /// The command whose argument is being completed, and its specification.
    pub(in super::super) fn current_completion(&mut self) -> Option<(&Bytes, &mut CompletionSpec)> {
        self.interactive.completing_mut().as_mut().map(|(command, spec)| (&*command, spec))
    }
}
