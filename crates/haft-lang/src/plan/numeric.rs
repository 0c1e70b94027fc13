//! Finds variables that can only contain numbers.
//!
//! In arithmetic, bash evaluates the value of a variable as an expression, and a subscript in it may contain
//! a command substitution. A variable that the program itself sets, and only to numbers, is harmless.

use std::collections::{BTreeMap, BTreeSet};

use crate::ast::{
    Argument, Arithmetic, ArithmeticForm, ArithmeticNode, Assignment, AssignmentValue, BraceRange, Braces,
    Bytes, Command, CommandKind, PartKind, Program, SimpleCommand, Word,
};
use crate::walk::SyntaxNode;

use super::words::is_number;

/// Shell variables that are numbers unless the program assigns to them.
const NUMERIC_SHELL_VARIABLES: &[&str] = &[
    "BASHPID",
    "BASH_SUBSHELL",
    "EPOCHSECONDS",
    "EUID",
    "HISTCMD",
    "LINENO",
    "OPTIND",
    "PPID",
    "RANDOM",
    "SECONDS",
    "SHLVL",
    "SRANDOM",
    "UID",
];

/// Commands that assign to variables named by their arguments.
const ASSIGNING_COMMANDS: &[&[u8]] =
    &[b"read", b"mapfile", b"readarray", b"getopts", b"printf", b"wait", b"select"];

/// The variables of a program, and whether they are numeric.
#[derive(Debug, Default)]
pub(super) struct NumericVariables {
    /// For each assigned variable, whether all its values are numbers.
    numeric: BTreeMap<Bytes, bool>,
    associative: BTreeSet<Bytes>,
    /// Whether the program runs code that is not in its text.
    runs_unknown_code: bool,
}

impl NumericVariables {
    pub(super) fn of(program: &Program) -> Self {
        let mut values = Self::default();
        SyntaxNode::List(&program.body).descend(&mut |node| values.visit(node));
        values
    }

    /// Whether an array is associative, so its subscripts are keys and not arithmetic.
    pub(super) fn is_associative(&self, name: &[u8]) -> bool {
        self.associative.contains(name)
    }

    /// Whether a variable can only contain a number.
    pub(super) fn is_numeric(&self, name: &[u8]) -> bool {
        if self.runs_unknown_code {
            return false;
        }
        match self.numeric.get(name) {
            Some(numeric) => *numeric,
            None => NUMERIC_SHELL_VARIABLES.iter().any(|known| known.as_bytes() == name),
        }
    }

    /// Whether a word can only expand to a number.
    pub(super) fn is_number(&self, word: &Word) -> bool {
        match word.literal() {
            Some(text) => is_integer(text),
            None => word.parts().iter().all(|part| self.part_is_number(&part.kind)),
        }
    }

    fn part_is_number(&self, part: &PartKind) -> bool {
        match part {
            PartKind::Literal(text) => is_integer(text),
            PartKind::DoubleQuoted(parts) => parts.iter().all(|part| self.part_is_number(&part.kind)),
            PartKind::Variable(name) => self.is_numeric(name),
            other => is_number(other),
        }
    }

    /// Whether evaluating the expression only involves numbers.
    pub(super) fn is_harmless(&self, arithmetic: &Arithmetic) -> bool {
        let (ArithmeticForm::Tree(tree) | ArithmeticForm::Guess(tree)) = &arithmetic.form else {
            return arithmetic.text.literal().is_some_and(is_integer);
        };
        let names = tree.nodes().iter().all(|node| match node {
            ArithmeticNode::Variable(name) | ArithmeticNode::Element { name, .. } => self.is_numeric(name),
            _ => true,
        });
        names && arithmetic.text.parts().iter().all(|part| self.expands_harmlessly(&part.kind))
    }

    fn expands_harmlessly(&self, part: &PartKind) -> bool {
        match part {
            PartKind::Literal(_) | PartKind::Escaped(_) => true,
            PartKind::SingleQuoted(text) | PartKind::AnsiQuoted(text) => {
                !text.contains(&b'$') && !text.contains(&b'`')
            }
            PartKind::DoubleQuoted(parts) => parts.iter().all(|part| self.expands_harmlessly(&part.kind)),
            PartKind::Variable(name) => self.is_numeric(name),
            other => is_number(other),
        }
    }

    fn visit(&mut self, node: SyntaxNode<'_>) {
        match node {
            SyntaxNode::Assignment(assignment) => self.assignment(assignment),
            SyntaxNode::Command(command) => self.command(command),
            SyntaxNode::Arithmetic(arithmetic) => self.assigned_in(arithmetic),
            _ => {}
        }
    }

    fn note(&mut self, name: &Bytes, number: bool) {
        let known = self.numeric.entry(name.clone()).or_insert(true);
        *known &= number;
    }

    fn assignment(&mut self, assignment: &Assignment) {
        // Not all assignments are known yet, so variables in the value do not count as numbers.
        let number = match &assignment.value {
            AssignmentValue::Word(word) => word_is_number(word),
            AssignmentValue::Array(elements) => elements.iter().all(|element| word_is_number(&element.value)),
        };
        self.note(&assignment.name, number);
    }

    fn assigned_in(&mut self, arithmetic: &Arithmetic) {
        let (ArithmeticForm::Tree(tree) | ArithmeticForm::Guess(tree)) = &arithmetic.form else { return };
        for node in tree.nodes() {
            let (ArithmeticNode::Assign { target, .. } | ArithmeticNode::Increment { target, .. }) = node
            else {
                continue;
            };
            if let ArithmeticNode::Variable(name) | ArithmeticNode::Element { name, .. } = tree.node(*target)
            {
                self.note(name, true);
            }
        }
    }

    fn command(&mut self, command: &Command) {
        match &command.kind {
            CommandKind::Simple(simple) => self.simple(simple),
            CommandKind::For(each) => {
                let numbers = each.words.as_deref().is_some_and(|words| words.iter().all(word_is_number));
                self.note(&each.name, numbers);
            }
            CommandKind::Select(select) => self.note(&select.name, false),
            _ => {}
        }
    }

    fn simple(&mut self, simple: &SimpleCommand) {
        let Some(first) = simple.arguments.first() else { return };
        let Some(name) = first.word().and_then(Word::literal) else {
            self.runs_unknown_code = true;
            return;
        };
        if matches!(name, b"eval" | b"source" | b"." | b"trap" | b"builtin" | b"command") {
            self.runs_unknown_code = true;
        } else if ASSIGNING_COMMANDS.contains(&name) {
            self.named(&simple.arguments[1..]);
        } else if matches!(name, b"declare" | b"typeset" | b"local" | b"readonly" | b"export") {
            self.declared(&simple.arguments[1..]);
        }
    }

    /// Handles a command that assigns to variables named by its arguments.
    fn named(&mut self, arguments: &[Argument]) {
        for argument in arguments {
            match argument.word().and_then(Word::literal_text) {
                Some(text) => {
                    let length =
                        text.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
                    self.note(&Bytes::from(&text[..length]), false);
                }
                None => self.runs_unknown_code |= argument.word().is_none(),
            }
        }
    }

    fn declared(&mut self, arguments: &[Argument]) {
        let options = arguments.iter().filter_map(|argument| argument.word()?.literal());
        let letters: Vec<u8> = options.filter(|word| word.starts_with(b"-")).flatten().copied().collect();
        if letters.contains(&b'n') {
            self.runs_unknown_code = true;
        }
        if !letters.contains(&b'A') {
            return;
        }
        for argument in arguments {
            match argument {
                Argument::Assignment(assignment) => drop(self.associative.insert(assignment.name.clone())),
                Argument::Word(word) => self.associative.extend(word.literal_text().cloned()),
                Argument::Json(_) => {}
            }
        }
    }
}

/// Whether a word is a number for any values of variables.
fn word_is_number(word: &Word) -> bool {
    match word.literal() {
        Some(text) => is_integer(text),
        None => word.parts().iter().all(|part| part_is_number(&part.kind)),
    }
}

fn part_is_number(part: &PartKind) -> bool {
    match part {
        PartKind::Literal(text) => is_integer(text),
        PartKind::DoubleQuoted(parts) => parts.iter().all(|part| part_is_number(&part.kind)),
        PartKind::Braces(braces) => matches!(**braces, Braces::Range(BraceRange::Numbers { .. })),
        other => is_number(other),
    }
}

fn is_integer(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    digits.iter().all(u8::is_ascii_digit)
}
