//! What the editor is told about the text: by the parser, and by the session that will run it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;

use haft_kernel::Session;
use haft_lang::ParseOptions;

use super::editor::{Assistant, Candidate, Completion, Style};
use super::{complete, highlight, slash, syntax};

/// Answers the questions of the editor while one text is edited.
pub(crate) struct SessionAssistant<'a> {
    session: &'a Session,
    options: ParseOptions,
    /// The same without aliases: what is shown is what was typed.
    literal: ParseOptions,
    colours: bool,
    /// Which commands are there, as far as it was asked.
    known: RefCell<HashMap<Vec<u8>, bool>>,
}

impl<'a> SessionAssistant<'a> {
    pub(crate) fn new(session: &'a Session, colours: bool) -> Self {
        let options = session.parse_options();
        let mut literal = options.clone();
        literal.aliases.clear();
        Self { session, options, literal, colours, known: RefCell::default() }
    }

    fn is_known(&self, name: &[u8]) -> bool {
        if let Some(known) = self.known.borrow().get(name) {
            return *known;
        }
        let slash = || std::str::from_utf8(name).is_ok_and(|name| slash::parse(name).is_some());
        let known = self.session.kind_of(name).is_some() || slash();
        self.known.borrow_mut().insert(name.to_vec(), known);
        known
    }
}

impl Assistant for SessionAssistant<'_> {
    fn is_complete(&self, text: &str) -> bool {
        slash::parse(text).is_some() || syntax::is_complete(text, &self.options)
    }

    fn highlight(&self, text: &str) -> Vec<(Range<usize>, Style)> {
        match self.colours {
            true => highlight::highlight(text, &self.literal, &|name| self.is_known(name)),
            false => Vec::new(),
        }
    }

    fn complete(&self, text: &str, cursor: usize) -> Completion {
        let mut completion = complete::complete(self.session, text, cursor);
        let typed = text.get(..cursor).unwrap_or_default();
        if typed.starts_with('/') && !typed[1..].contains('/') {
            let behind = typed.len() - completion.start;
            for name in slash::names().filter(|name| name.starts_with(typed) && slash::parse(name).is_some())
            {
                let rest = name.get(name.len().min(typed.len() - behind)..).unwrap_or_default();
                completion.candidates.push(Candidate {
                    shown: name.to_owned(),
                    text: rest.to_owned(),
                    tail: " ",
                });
            }
        }
        completion
    }
}
