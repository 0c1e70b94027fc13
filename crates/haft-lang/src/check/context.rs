//! The context of a node for the rules.

use crate::ast::{
    Argument, Command, CommandKind, List, PartKind, Pipeline, Redirect, SimpleCommand, Span, Statement, Word,
    WordPart,
};
use crate::resolve::{Resolution, Resolver};
use crate::walk::SyntaxNode;

use super::facts::Facts;

/// The context of a node.
pub(super) struct CheckContext<'a> {
    pub(super) source: &'a [u8],
    pub(super) facts: &'a Facts,
    pub(super) resolver: &'a dyn Resolver,
    /// The ancestors of the node, root first.
    pub(super) parents: Vec<SyntaxNode<'a>>,
}

/// A simple command and its words.
pub(super) struct SimpleView<'a> {
    pub(super) command: &'a Command,
    pub(super) simple: &'a SimpleCommand,
    /// The name, if it is literal.
    pub(super) name: &'a [u8],
    /// The words after the name, without assignment and JSON arguments.
    pub(super) words: Vec<&'a Word>,
}

impl<'a> SimpleView<'a> {
    /// Returns the view if the command is a simple command with a name.
    pub(super) fn of(command: &'a Command) -> Option<Self> {
        let CommandKind::Simple(simple) = &command.kind else { return None };
        let first = simple.arguments.first()?;
        let name = first.word().and_then(Word::literal).unwrap_or_default();
        let words = simple.arguments.iter().skip(1).filter_map(Argument::word).collect();
        Some(Self { command, simple, name, words })
    }

    /// Returns the argument at `index` if it is literal.
    pub(super) fn literal(&self, index: usize) -> Option<&'a [u8]> {
        self.words.get(index)?.literal()
    }

    /// Returns the span of the name.
    pub(super) fn name_span(&self) -> Span {
        self.simple.arguments.first().map_or(self.command.span, Argument::span)
    }

    /// Returns the span from the name to the last argument.
    pub(super) fn words_span(&self) -> Span {
        let last = self.simple.arguments.last().map_or(self.command.span, Argument::span);
        self.name_span().to(last)
    }

    pub(super) fn redirects(&self) -> &'a [Redirect] {
        &self.command.redirects
    }

    /// Whether it has a short option, alone or bundled.
    pub(super) fn has_letter(&self, letter: u8) -> bool {
        let options = self.words.iter().filter_map(|word| word.literal());
        options
            .take_while(|word| *word != b"--")
            .any(|word| word.len() > 1 && word[0] == b'-' && word[1] != b'-' && word.contains(&letter))
    }
}

impl<'a> CheckContext<'a> {
    /// Returns the text of a span, shortened for a message.
    pub(super) fn text(&self, span: Span) -> String {
        let text = String::from_utf8_lossy(span.of(self.source)).into_owned();
        let line = text.lines().next().unwrap_or_default();
        if line.chars().count() > 40 {
            line.chars().take(40).chain("…".chars()).collect()
        } else {
            line.to_owned()
        }
    }

    /// Whether the script defines a function or alias with this name.
    pub(super) fn is_defined_here(&self, name: &[u8]) -> bool {
        self.facts.functions.contains_key(name) || self.facts.aliases.contains(name)
    }

    pub(super) fn resolve(&self, name: &[u8]) -> Resolution {
        if self.is_defined_here(name) { Resolution::Builtin } else { self.resolver.resolve(name) }
    }

    /// Returns the nearest pipeline around the node.
    pub(super) fn pipeline(&self) -> Option<&'a Pipeline> {
        self.parents.iter().rev().find_map(|node| match node {
            SyntaxNode::Pipeline(pipeline) => Some(*pipeline),
            _ => None,
        })
    }

    /// Returns the nearest statement around the node.
    pub(super) fn statement(&self) -> Option<&'a Statement> {
        self.parents.iter().rev().find_map(|node| match node {
            SyntaxNode::Statement(statement) => Some(*statement),
            _ => None,
        })
    }

    /// Returns the nearest list around the node.
    pub(super) fn list(&self) -> Option<&'a List> {
        self.parents.iter().rev().find_map(|node| match node {
            SyntaxNode::List(list) => Some(*list),
            _ => None,
        })
    }

    /// Returns the commands around the node, nearest first.
    pub(super) fn commands(&self) -> impl Iterator<Item = &'a Command> + '_ {
        self.parents.iter().rev().filter_map(|node| match node {
            SyntaxNode::Command(command) => Some(*command),
            _ => None,
        })
    }

    /// Whether the node is in the body of a function.
    pub(super) fn in_function(&self) -> bool {
        self.commands().any(|command| matches!(command.kind, CommandKind::Function(_)))
    }

    /// Whether the node is in a command or process substitution.
    pub(super) fn in_substitution(&self) -> bool {
        self.parents.iter().any(|node| match node {
            SyntaxNode::Part(part) => matches!(part.kind, PartKind::Command(_) | PartKind::Process(_)),
            _ => false,
        })
    }

    /// Whether the exit status of the node's statement is tested: by a condition, `&&`, `||` or `!`.
    pub(super) fn is_tested(&self) -> bool {
        let statement = self.statement().is_some_and(|statement| !statement.rest.is_empty());
        let negated = self.pipeline().is_some_and(|pipeline| pipeline.negated);
        statement || negated || self.in_condition()
    }

    /// Whether the nearest list is the condition of an `if` or a loop.
    pub(super) fn in_condition(&self) -> bool {
        let (Some(list), Some(command)) = (self.list(), self.commands().next()) else { return false };
        let is = |condition: &List| std::ptr::eq(condition, list);
        match &command.kind {
            CommandKind::If(branches) => branches.branches.iter().any(|branch| is(&branch.condition)),
            CommandKind::Loop(repeated) => is(&repeated.condition),
            _ => false,
        }
    }

    /// Whether the script always reaches the node, unless it exits before.
    pub(super) fn is_always_reached(&self, node: SyntaxNode<'a>) -> bool {
        let below = self.parents.iter().skip(1).copied().chain(std::iter::once(node));
        self.parents.iter().zip(below).all(|(parent, child)| match (parent, child) {
            (SyntaxNode::Statement(statement), SyntaxNode::Pipeline(pipeline)) => {
                std::ptr::eq(&statement.first, pipeline)
            }
            (SyntaxNode::Command(command), SyntaxNode::List(list)) => is_always_run(command, list),
            (SyntaxNode::Command(command), SyntaxNode::Command(_)) => {
                matches!(command.kind, CommandKind::Coprocess(_))
            }
            (SyntaxNode::Part(part), _) => !matches!(part.kind, PartKind::Parameter(_)),
            _ => true,
        })
    }

    /// Whether the node is at the top level of the script and not in a branch.
    pub(super) fn is_top_level(&self) -> bool {
        let compound = self.commands().any(|command| !matches!(command.kind, CommandKind::Group(_)));
        !compound && !self.in_substitution() && !self.is_tested()
    }
}

/// Whether a command always runs this list.
fn is_always_run(command: &Command, list: &List) -> bool {
    match &command.kind {
        CommandKind::Group(_) | CommandKind::Subshell(_) => true,
        CommandKind::If(branches) => {
            branches.branches.first().is_some_and(|branch| std::ptr::eq(&branch.condition, list))
        }
        CommandKind::Loop(repeated) => std::ptr::eq(&repeated.condition, list),
        _ => false,
    }
}

/// Returns the unquoted expansions in a word.
pub(super) fn unquoted(word: &Word) -> impl Iterator<Item = &WordPart> {
    word.parts().iter().filter(|part| {
        matches!(part.kind, PartKind::Variable(_) | PartKind::Parameter(_) | PartKind::Command(_))
    })
}

/// Whether a text is a valid variable name.
pub(super) fn is_identifier(text: &[u8]) -> bool {
    text.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
        && text.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}
