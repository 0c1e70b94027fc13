//! Prints a tree as text.
//!
//! The layout is that of bash's `declare -f`, which scripts can observe. There are two styles.
//! [`PrintStyle::Exact`] preserves the tree: the output parses to an equal one. [`PrintStyle::Bash`] rewrites
//! the tree where bash does: `elif` to a nested `if`, `for x` to `for x in "$@"`, and so on.

mod command;
mod compound;
mod parameter;
mod redirect;
mod word;

use crate::ast::{Command, Function, HereDocument, Program, Word};

/// How closely the output follows the tree.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PrintStyle {
    /// The output parses to an equal tree.
    Exact,
    /// The output equals that of bash.
    Bash,
}

/// Prints a program as text that parses to an equal program.
#[must_use]
pub fn print(program: &Program) -> Vec<u8> {
    let mut printer = Printer::new(PrintStyle::Exact);
    if !program.body.statements.is_empty() {
        printer.statements(&program.body, false);
        printer.newline();
    }
    printer.out
}

/// Prints a function like `declare -f`, without a newline at the end.
#[must_use]
pub fn print_function(function: &Function) -> Vec<u8> {
    let mut printer = Printer::new(PrintStyle::Bash);
    printer.out.extend_from_slice(&function.name);
    printer.function_body(function);
    printer.finish()
}

/// Prints a command like bash's `jobs`, without a newline at the end.
#[must_use]
pub fn print_command(command: &Command) -> Vec<u8> {
    let mut printer = Printer { flat: true, ..Printer::new(PrintStyle::Bash) };
    printer.command(command);
    printer.finish()
}

/// Prints a word as written in the source.
#[must_use]
pub fn print_word(word: &Word) -> Vec<u8> {
    let mut printer = Printer::new(PrintStyle::Exact);
    printer.word(word);
    printer.finish()
}

/// The output and its state.
struct Printer<'a> {
    style: PrintStyle,
    out: Vec<u8>,
    indent: usize,
    /// Here-documents whose bodies follow at the end of the line.
    pending: Vec<&'a HereDocument>,
    /// Whether here-document bodies were written since the last redirection. bash then omits the next
    /// separator.
    documents: bool,
    /// Whether to print statements on one line, as bash does outside functions.
    flat: bool,
}

/// Indentation per nesting level.
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

    /// Ends the line and writes the bodies of pending here-documents.
    fn newline(&mut self) {
        self.out.push(b'\n');
        self.documents |= !self.pending.is_empty();
        for document in std::mem::take(&mut self.pending) {
            self.quoted_word(document.body());
            self.out.extend_from_slice(&document.delimiter);
            self.out.push(b'\n');
        }
    }

    /// Writes the bodies of pending here-documents where bash does not wait for the end of the line.
    fn flush_here_documents(&mut self) {
        if self.style == PrintStyle::Bash && !self.pending.is_empty() {
            self.newline();
        }
    }

    /// Writes a semicolon between statements. bash omits it after here-documents.
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

    /// Writes nested text on separate, indented lines.
    fn indented(&mut self, write: impl FnOnce(&mut Self)) {
        self.indent += INDENT_WIDTH;
        self.next_line();
        write(self);
        self.indent -= INDENT_WIDTH;
        self.next_line();
    }
}
