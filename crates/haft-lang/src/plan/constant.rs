//! Resolves variables that the program sets once to a known text, and brace expansions of plain text.

use std::collections::BTreeMap;

use crate::ast::{
    Argument, Assignment, AssignmentValue, Bytes, Command, CommandKind, Program, SimpleCommand, Word,
};
use crate::walk::SyntaxNode;

use super::files::path::{concat, literal};
use super::step::{Expansion, PlannedWord, WordPiece};
use super::words;

/// Maximum number of words that one word expands to.
const MAX_WORDS: usize = 64;

/// Maximum depth of variables in the values of other variables.
const MAX_VARIABLE_DEPTH: u8 = 4;

/// Variables with a known value, or a few known values, at every use.
#[derive(Debug, Default)]
pub(super) struct Constants {
    /// The possible values of each variable.
    values: BTreeMap<Bytes, Vec<PlannedWord>>,
}

impl Constants {
    /// Collects the constants of a program. `source` is its text.
    pub(super) fn of(program: &Program, source: &[u8]) -> Self {
        let mut collector = ConstantCollector { source, values: BTreeMap::new(), runs_unknown_code: false };
        for statement in &*program.body.statements {
            let pipelines =
                std::iter::once(&statement.first).chain(statement.rest.iter().map(|(_, rest)| rest));
            for pipeline in pipelines {
                if let [command] = &*pipeline.stages
                    && !statement.background
                {
                    collector.top(command);
                }
            }
        }
        SyntaxNode::List(&program.body).descend(&mut |node| collector.visit(node));
        match collector.runs_unknown_code {
            true => Self::default(),
            false => Self {
                values: collector
                    .values
                    .into_iter()
                    .filter(|(_, seen)| seen.assigned == 1 && seen.constant == 1)
                    .map(|(name, seen)| (name, seen.values))
                    .collect(),
            },
        }
    }

    /// Replaces constants by their values and expands braces.
    pub(super) fn resolve(&self, items: &[PlannedWord]) -> Vec<PlannedWord> {
        items.iter().flat_map(|item| self.resolve_item(item, MAX_VARIABLE_DEPTH)).collect()
    }

    fn resolve_item(&self, item: &PlannedWord, depth: u8) -> Vec<PlannedWord> {
        let mut made: Vec<Vec<WordPiece>> = vec![Vec::new()];
        let mut changed = false;
        for piece in &item.pieces {
            let choices = self.choices(piece, depth);
            changed |= choices.is_some();
            let choices = choices.unwrap_or_else(|| vec![vec![piece.clone()]]);
            if made.len() * choices.len() > MAX_WORDS {
                return vec![item.clone()];
            }
            made = made
                .iter()
                .flat_map(|before| choices.iter().map(|choice| [before.as_slice(), choice].concat()))
                .collect();
        }
        if !changed {
            return vec![item.clone()];
        }
        let alone = item.pieces.len() == 1 && item.several;
        made.into_iter().flat_map(|pieces| finish(pieces, item.several, alone)).collect()
    }

    /// Returns the possible expansions of a piece.
    fn choices(&self, piece: &WordPiece, depth: u8) -> Option<Vec<Vec<WordPiece>>> {
        match piece {
            WordPiece::Dynamic { by: Expansion::Parameter, source } => {
                let values = self.values.get(variable(source)?)?;
                let depth = depth.checked_sub(1)?;
                let resolved = values.iter().flat_map(|value| self.resolve_item(value, depth));
                Some(resolved.map(|item| item.pieces).collect())
            }
            WordPiece::Dynamic { by: Expansion::Braces, source } => {
                let words = alternatives(source)?;
                Some(words.into_iter().map(|word| vec![literal(word)]).collect())
            }
            _ => None,
        }
    }
}

/// Converts pieces into words. A single unquoted variable undergoes word splitting.
fn finish(pieces: Vec<WordPiece>, several: bool, alone: bool) -> Vec<PlannedWord> {
    let item = concat(pieces);
    match item.literal() {
        Some(text) if alone => text
            .split(|byte| byte.is_ascii_whitespace())
            .filter(|word| !word.is_empty())
            .map(words::known)
            .collect(),
        Some(_) => vec![item],
        None => vec![PlannedWord { several, ..item }],
    }
}

/// Returns the name in `$name` or `${name}`.
pub(crate) fn variable(source: &[u8]) -> Option<&[u8]> {
    let name = source.strip_prefix(b"$")?;
    let name = name.strip_prefix(b"{").and_then(|name| name.strip_suffix(b"}")).unwrap_or(name);
    let plain = name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    (plain && !name.is_empty()).then_some(name)
}

/// Returns the words of `{a,b}` if they are plain text.
fn alternatives(source: &[u8]) -> Option<Vec<&[u8]>> {
    let inside = source.strip_prefix(b"{")?.strip_suffix(b"}")?;
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./,:=+@%~".contains(byte);
    (inside.contains(&b',') && inside.iter().all(plain)).then(|| inside.split(|byte| *byte == b',').collect())
}

/// How often a variable is assigned, how often to a known text, and the last such text.
#[derive(Default)]
struct AssignmentCount {
    assigned: usize,
    constant: usize,
    values: Vec<PlannedWord>,
}

struct ConstantCollector<'s> {
    source: &'s [u8],
    values: BTreeMap<Bytes, AssignmentCount>,
    /// Whether the program runs code that is not in its text.
    runs_unknown_code: bool,
}

impl ConstantCollector<'_> {
    /// Handles a top-level command, which always runs before later ones.
    fn top(&mut self, command: &Command) {
        if let CommandKind::Simple(SimpleCommand { assignments, arguments, .. }) = &command.kind
            && arguments.is_empty()
        {
            assignments.iter().for_each(|assignment| self.constant(assignment));
        }
    }

    fn constant(&mut self, assignment: &Assignment) {
        let AssignmentValue::Word(word) = &assignment.value else { return };
        if !assignment.append && assignment.subscript.is_none() {
            self.value(&assignment.name, std::slice::from_ref(word));
        }
    }

    /// Records the values if they consist of text and other variables.
    fn value(&mut self, name: &Bytes, words: &[Word]) {
        let items: Vec<PlannedWord> = words.iter().map(|word| words::single(word, self.source)).collect();
        let is_known = |piece: &WordPiece| match piece {
            WordPiece::Literal(_) => true,
            WordPiece::Dynamic { by: Expansion::Parameter, source } => {
                variable(source).is_some_and(|used| used != &**name)
            }
            WordPiece::Dynamic { by, .. } => *by == Expansion::Tilde,
        };
        if items.iter().all(|item| item.pieces.iter().all(is_known)) {
            let seen = self.values.entry(name.clone()).or_default();
            seen.constant += 1;
            seen.values = items;
        }
    }

    fn assigned(&mut self, name: &[u8]) {
        self.values.entry(Bytes::from(name)).or_default().assigned += 1;
    }

    fn visit(&mut self, node: SyntaxNode<'_>) {
        match node {
            SyntaxNode::Assignment(assignment) => self.assigned(&assignment.name.clone()),
            SyntaxNode::Command(command) => self.command(command),
            SyntaxNode::Arithmetic(arithmetic) => self.arithmetic(arithmetic),
            _ => {}
        }
    }

    fn arithmetic(&mut self, arithmetic: &crate::ast::Arithmetic) {
        // Arithmetic may assign to any name in it.
        let text = arithmetic.span.of(self.source);
        let names = text.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
        names.filter(|name| !name.is_empty()).for_each(|name| self.assigned(name));
    }

    fn command(&mut self, command: &Command) {
        match &command.kind {
            CommandKind::For(each) => {
                self.assigned(&each.name.clone());
                let words = each.words.as_deref().unwrap_or_default();
                if each.words.is_some() && words.len() <= MAX_WORDS {
                    self.value(&each.name, words);
                }
            }
            CommandKind::Select(select) => self.assigned(&select.name.clone()),
            CommandKind::Simple(simple) => self.simple(simple),
            _ => {}
        }
    }

    fn simple(&mut self, simple: &SimpleCommand) {
        let Some(name) = simple.name() else { return };
        match name {
            b"eval" | b"source" | b"." | b"trap" => self.runs_unknown_code = true,
            b"local" | b"readonly" | b"declare" | b"typeset" | b"export" => self.declared(simple),
            b"read" | b"mapfile" | b"readarray" | b"getopts" | b"printf" | b"unset" | b"wait" | b"let" => {
                for argument in simple.arguments.iter().skip(1) {
                    let word = argument.word().and_then(Word::literal).unwrap_or_default();
                    let length =
                        word.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
                    self.assigned(&word[..length]);
                }
            }
            _ => {}
        }
    }

    /// Handles `local name=text`. A name without a value stays unset or keeps its value.
    fn declared(&mut self, simple: &SimpleCommand) {
        for argument in simple.arguments.iter().skip(1) {
            if let Argument::Assignment(assignment) = argument {
                self.constant(assignment);
            }
        }
    }
}
