//! Answers the editor's questions from the parser and the session.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;

use haft_kernel::{Script, Session};
use haft_lang::ParseOptions;

use super::editor::{Assistant, CompletionCandidate, CompletionList, TextStyle};
use super::signals::TerminalEvents;
use super::{complete, highlight, run_cancellable, slash, syntax};

/// The assistant for one entry.
pub(crate) struct SessionAssistant<'a> {
    session: RefCell<&'a mut Session>,
    events: &'a TerminalEvents,
    options: ParseOptions,
    /// The options without aliases, since highlighting is about the text as typed.
    literal: ParseOptions,
    colours: bool,
    /// Cached answers: whether a command exists.
    known: RefCell<HashMap<Vec<u8>, bool>>,
    /// The last text that was complete.
    parsed: RefCell<Option<Script>>,
}

impl<'a> SessionAssistant<'a> {
    pub(crate) fn new(session: &'a mut Session, events: &'a TerminalEvents, colours: bool) -> Self {
        let options = session.parse_options();
        let mut literal = options.clone();
        literal.aliases = None;
        Self {
            session: RefCell::new(session),
            events,
            options,
            literal,
            colours,
            known: RefCell::default(),
            parsed: RefCell::default(),
        }
    }

    /// Returns the parsed script of the text that was entered.
    pub(crate) fn into_script(self, text: &str) -> Script {
        let parsed = self.parsed.into_inner();
        let entered = parsed.filter(|script| script.source().strip_suffix(b"\n") == Some(text.as_bytes()));
        entered.unwrap_or_else(|| Script::new(text.as_bytes()))
    }

    fn is_known(&self, name: &[u8]) -> bool {
        if let Some(known) = self.known.borrow().get(name) {
            return *known;
        }
        let slash = || std::str::from_utf8(name).is_ok_and(|name| slash::parse(name).is_some());
        let known = self.session.borrow().kind_of(name).is_some() || slash();
        self.known.borrow_mut().insert(name.to_vec(), known);
        known
    }
}

impl Assistant for SessionAssistant<'_> {
    fn is_complete(&self, text: &str) -> bool {
        if slash::parse(text).is_some() {
            return true;
        }
        let script = syntax::parse_complete(text, &self.options);
        let is_complete = script.is_some();
        *self.parsed.borrow_mut() = script;
        is_complete
    }

    fn highlight(&self, text: &str) -> Vec<(Range<usize>, TextStyle)> {
        match self.colours {
            true => highlight::highlight(text, &self.literal, &|name| self.is_known(name)),
            false => Vec::new(),
        }
    }

    fn complete(&self, text: &str, cursor: usize) -> CompletionList {
        let mut session = self.session.borrow_mut();
        let found = run_cancellable(&mut session, self.events, |session| {
            complete::programmable(session, text, cursor)
        });
        if let Some(completion) = found {
            return completion;
        }
        let mut completion = complete::complete(&session, text, cursor);
        let typed = text.get(..cursor).unwrap_or_default();
        if typed.starts_with('/') && !typed[1..].contains('/') {
            let behind = typed.len() - completion.start;
            for name in slash::names().filter(|name| name.starts_with(typed) && slash::parse(name).is_some())
            {
                let rest = name.get(name.len().min(typed.len() - behind)..).unwrap_or_default();
                completion.candidates.push(CompletionCandidate {
                    shown: name.to_owned(),
                    text: rest.to_owned(),
                    tail: " ",
                });
            }
        }
        completion
    }

    fn run_command(&self, command: &str, text: &str, cursor: usize) -> (String, usize) {
        let mut session = self.session.borrow_mut();
        let point = text.get(..cursor).unwrap_or_default().chars().count();
        let _ = session.set(b"READLINE_LINE", text);
        let _ = session.set(b"READLINE_POINT", point.to_string());
        run_cancellable(&mut session, self.events, |session| {
            // `exit` ends only the command.
            let _ = session.run_between_lines(command.as_bytes());
        });
        let value = |name: &[u8]| session.value(name).map(|value| value.lossy().into_owned());
        let line = value(b"READLINE_LINE").unwrap_or_default();
        let point = value(b"READLINE_POINT").and_then(|point| point.parse().ok()).unwrap_or(point);
        for name in [b"READLINE_LINE".as_slice(), b"READLINE_POINT"] {
            session.unset_variable(name);
        }
        let cursor = line.char_indices().nth(point).map_or(line.len(), |(at, _)| at);
        (line, cursor)
    }
}
