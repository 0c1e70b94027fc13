//! Redirections.

use crate::ast::{Duplicate, HereDocument, Redirect, RedirectDescriptor, RedirectKind, Word};

use super::{PrintStyle, Printer};

impl<'a> Printer<'a> {
    pub(super) fn redirect(&mut self, redirect: &'a Redirect) {
        match &redirect.descriptor {
            RedirectDescriptor::Default => self.default_descriptor(&redirect.kind),
            RedirectDescriptor::Number(number) => self.text(&number.to_string()),
            RedirectDescriptor::Variable { name, subscript } => {
                self.text("{");
                self.out.extend_from_slice(name);
                self.subscript(subscript.as_deref());
                self.text("}");
            }
        }
        match &redirect.kind {
            RedirectKind::Read(word) => self.target("< ", word),
            RedirectKind::Write(word) => self.target("> ", word),
            RedirectKind::Clobber(word) => self.target(">| ", word),
            RedirectKind::Append(word) => self.target(">> ", word),
            RedirectKind::ReadWrite(word) => self.target("<> ", word),
            RedirectKind::WriteBoth(word) => self.target("&> ", word),
            RedirectKind::AppendBoth(word) => self.target("&>> ", word),
            RedirectKind::HereString(word) => self.target("<<< ", word),
            RedirectKind::HereDocument(document) => self.here_document(document),
            // bash prints every redirection that closes a descriptor this way.
            RedirectKind::DuplicateInput(Duplicate::Close) if self.style == PrintStyle::Bash => {
                self.text(">&-");
            }
            RedirectKind::DuplicateInput(duplicate) => self.duplicate("<&", duplicate),
            RedirectKind::DuplicateOutput(duplicate) => self.duplicate(">&", duplicate),
        }
    }

    /// bash prints the default file descriptor of duplications.
    fn default_descriptor(&mut self, kind: &RedirectKind) {
        if self.style == PrintStyle::Bash {
            match kind {
                RedirectKind::DuplicateInput(_) | RedirectKind::ReadWrite(_) => self.text("0"),
                RedirectKind::DuplicateOutput(Duplicate::Word(_)) => {}
                RedirectKind::DuplicateOutput(_) => self.text("1"),
                _ => {}
            }
        }
    }

    fn target(&mut self, operator: &str, word: &'a Word) {
        self.text(operator);
        self.word(word);
    }

    fn duplicate(&mut self, operator: &str, duplicate: &'a Duplicate) {
        self.text(operator);
        match duplicate {
            Duplicate::Descriptor { number, close } => {
                self.text(&number.to_string());
                self.text(if *close { "-" } else { "" });
            }
            Duplicate::Close => self.text("-"),
            Duplicate::Word(word) => self.word(word),
        }
    }

    fn here_document(&mut self, document: &'a HereDocument) {
        self.text(if document.strip_tabs { "<<-" } else { "<<" });
        if document.quoted {
            self.single_quoted(&document.delimiter);
        } else {
            self.out.extend_from_slice(&document.delimiter);
        }
        self.pending.push(document);
    }
}
