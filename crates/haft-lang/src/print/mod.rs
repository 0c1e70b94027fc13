//! The printer: from the tree back to text.
//!
//! It writes the layout of bash's `declare -f`, which scripts can observe. In two ways: [`PrintStyle::Exact`] keeps the tree, so
//! what is printed parses to an equal one; [`PrintStyle::Bash`] rewrites it where bash does (`elif` to a nested `if`, `for x` to
//! `for x in "$@"`, and the like).

mod command;
mod compound;
mod parameter;
mod redirect;
mod word;

use crate::ast::{Command, Function, HereDocument, Program, Word};

/// How much of the tree printing keeps.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PrintStyle {
    /// All of it.
    Exact,
    /// What bash keeps.
    Bash,
}

/// The text of a program, which parses to an equal program.
#[must_use]
pub fn print(program: &Program) -> Vec<u8> {
    let mut printer = Printer::new(PrintStyle::Exact);
    if !program.body.statements.is_empty() {
        printer.statements(&program.body, false);
        printer.newline();
    }
    printer.out
}

/// A function as `declare -f` shows it, without a newline at the end.
#[must_use]
pub fn print_function(function: &Function) -> Vec<u8> {
    let mut printer = Printer::new(PrintStyle::Bash);
    printer.out.extend_from_slice(&function.name);
    printer.function_body(function);
    printer.finish()
}

/// A command as bash shows it in a list of jobs, without a newline at the end.
#[must_use]
pub fn print_command(command: &Command) -> Vec<u8> {
    let mut printer = Printer { flat: true, ..Printer::new(PrintStyle::Bash) };
    printer.command(command);
    printer.finish()
}

/// A word as it was written.
#[must_use]
pub fn print_word(word: &Word) -> Vec<u8> {
    let mut printer = Printer::new(PrintStyle::Exact);
    printer.word(word);
    printer.finish()
}

/// Text being written.
struct Printer<'a> {
    style: PrintStyle,
    out: Vec<u8>,
    indent: usize,
    /// Here-documents whose bodies are due at the end of the line.
    pending: Vec<&'a HereDocument>,
    /// Whether here-documents were written since the last redirection. bash leaves out the next separator then.
    documents: bool,
    /// Whether statements follow one another on a line, as bash has them outside of functions.
    flat: bool,
}

/// By how much what is nested is moved to the right.
const INDENT_WIDTH: usize = 4;

impl<'a> Printer<'a> {
    fn new(style: PrintStyle) -> Self {
        Self { style, out: Vec::new(), indent: 0, pending: Vec::new(), documents: false, flat: false }
    }

    fn finish(mut self) -> Vec<u8> {
        if !self.pending.is_empty() {
            self.newline();
        }
        self.out
    }

    fn text(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    /// Ends the line, and writes the here-documents that it makes due.
    fn newline(&mut self) {
        self.out.push(b'\n');
        self.documents |= !self.pending.is_empty();
        for document in std::mem::take(&mut self.pending) {
            self.quoted_word(document.body());
            self.out.extend_from_slice(&document.delimiter);
            self.out.push(b'\n');
        }
    }

    /// Writes the here-documents that are due where bash does not wait for the end of the line.
    fn hurry(&mut self) {
        if self.style == PrintStyle::Bash && !self.pending.is_empty() {
            self.newline();
        }
    }

    /// A semicolon between statements. bash forgets it after here-documents.
    fn separator(&mut self) {
        let forgotten = self.style == PrintStyle::Bash && std::mem::take(&mut self.documents);
        self.text(if forgotten { "" } else { ";" });
    }

    /// Ends the line and indents the next.
    fn next_line(&mut self) {
        self.newline();
        self.indentation();
    }

    fn indentation(&mut self) {
        self.out.resize(self.out.len() + self.indent, b' ');
    }

    /// Writes something nested, on lines of its own.
    fn indented(&mut self, write: impl FnOnce(&mut Self)) {
        self.indent += INDENT_WIDTH;
        self.next_line();
        write(self);
        self.indent -= INDENT_WIDTH;
        self.next_line();
    }
}
