//! Facts about a whole script, collected before the rules run.

use std::collections::{BTreeMap, BTreeSet};

use crate::ast::{
    Argument, Arithmetic, ArithmeticForm, ArithmeticNode, Assignment, AssignmentValue, Bytes, Command,
    CommandKind, ConditionalKind, List, Parameter, ParameterOperator, PartKind, Program, RedirectDescriptor,
    SimpleCommand, Span, SpecialParameter, Word, WordPart,
};
use crate::walk::SyntaxNode;

/// Commands that assign to variables named by their arguments.
const ASSIGNING_COMMANDS: &[&[u8]] = &[
    b"read",
    b"mapfile",
    b"readarray",
    b"getopts",
    b"printf",
    b"wait",
    b"declare",
    b"typeset",
    b"local",
    b"readonly",
    b"export",
    b"let",
    b"unset",
];

/// Commands that test whether a command exists.
const PROBING_COMMANDS: &[&[u8]] =
    &[b"command", b"type", b"which", b"hash", b"whence", b"alias", b"unalias", b"unset"];

/// Facts about a script.
#[derive(Debug, Default)]
pub(super) struct Facts {
    pub(super) functions: BTreeMap<Bytes, Span>,
    pub(super) aliases: BTreeSet<Bytes>,
    /// The assignments to each variable, in source order.
    pub(super) assigned: BTreeMap<Bytes, Vec<Span>>,
    /// All assignments, in source order.
    pub(super) assignments: Vec<(Span, Bytes)>,
    /// Variables that the script tests for being set: `${name:-}`, `-v name`.
    pub(super) probed_variables: BTreeSet<Bytes>,
    /// The uses of each variable, in source order.
    pub(super) used: BTreeMap<Bytes, Vec<Span>>,
    /// Variables that may hold a value other than exactly one word.
    pub(super) not_one_word: BTreeSet<Bytes>,
    /// The variables used in the values of each variable.
    parts: BTreeMap<Bytes, Vec<Bytes>>,
    /// Command names that the script tests for, for example with `command -v`.
    pub(super) probed_commands: BTreeSet<Bytes>,
    /// Whether the script runs code that is not in its text: `source`, `eval`, a dynamic command name.
    pub(super) runs_unknown_code: bool,
    /// Whether a nameref refers to an unknown variable, so any variable may be assigned.
    pub(super) unknown_nameref: bool,
    /// Whether the script sources files, which may define functions.
    pub(super) sourced: bool,
    /// Whether the script changes how commands are looked up.
    pub(super) changes_lookup: bool,
    pub(super) errexit: bool,
    pub(super) nounset: bool,
    pub(super) pipefail: bool,
    pub(super) lastpipe: bool,
}

impl Facts {
    pub(super) fn of(program: &Program, source: &[u8]) -> Self {
        let mut facts = Self::default();
        if let Some(line) = source.split(|byte| *byte == b'\n').next().filter(|line| line.starts_with(b"#!"))
        {
            facts.shebang(line);
        }
        SyntaxNode::List(&program.body).descend(&mut |node| facts.visit(node));
        for places in facts.assigned.values_mut().chain(facts.used.values_mut()) {
            places.sort_by_key(|span| span.start);
        }
        facts.assignments.sort_by_key(|(span, _)| span.start);
        facts
    }

    /// Whether the variable always holds exactly one word that is not a pattern.
    pub(super) fn is_one_word(&self, name: &[u8]) -> bool {
        self.is_one_word_within(name, 4)
    }

    fn is_one_word_within(&self, name: &[u8], steps: u32) -> bool {
        let known = self.assigned.contains_key(name) && !self.not_one_word.contains(name);
        let parts = self.parts.get(name).map(Vec::as_slice).unwrap_or_default();
        known
            && parts.len() <= 8
            && parts.iter().all(|part| steps > 0 && self.is_one_word_within(part, steps - 1))
    }

    /// Reads the shell options on the `#!` line.
    fn shebang(&mut self, line: &[u8]) {
        for word in line.split(|byte| *byte == b' ').skip(1).filter(|word| word.starts_with(b"-")) {
            self.letters(&word[1..], true);
        }
    }

    fn letters(&mut self, letters: &[u8], on: bool) {
        self.errexit |= on && letters.contains(&b'e');
        self.nounset |= on && letters.contains(&b'u');
    }

    fn visit(&mut self, node: SyntaxNode<'_>) {
        match node {
            SyntaxNode::Command(command) => self.command(command),
            SyntaxNode::Assignment(assignment) => self.assignment(assignment),
            SyntaxNode::Part(part) => self.part(part),
            SyntaxNode::Arithmetic(arithmetic) => self.arithmetic(arithmetic),
            SyntaxNode::Redirect(redirect) => {
                if let RedirectDescriptor::Variable { name, .. } = &redirect.descriptor {
                    self.assign(name, redirect.span, false);
                }
            }
            SyntaxNode::Conditional(conditional) => {
                if let ConditionalKind::Unary { test, operand } = &conditional.kind
                    && test.letter() == b'v'
                {
                    self.probed_variables.extend(operand.literal_text().cloned());
                }
            }
            _ => {}
        }
    }

    fn assign(&mut self, name: &Bytes, span: Span, wild: bool) {
        self.assigned.entry(name.clone()).or_default().push(span);
        self.assignments.push((span, name.clone()));
        if wild {
            self.not_one_word.insert(name.clone());
        }
    }

    fn assignment(&mut self, assignment: &Assignment) {
        let wild = match &assignment.value {
            AssignmentValue::Word(word) => !is_one_word(word),
            AssignmentValue::Array(_) => true,
        };
        self.assign(&assignment.name, assignment.span, wild || assignment.append);
        if let AssignmentValue::Word(word) = &assignment.value {
            let names = flattened(word).filter_map(|part| match &part.kind {
                PartKind::Variable(name) => Some(name.clone()),
                _ => None,
            });
            self.parts.entry(assignment.name.clone()).or_default().extend(names);
        }
        self.changes_lookup |= assignment.name == "PATH";
    }

    fn part(&mut self, part: &WordPart) {
        match &part.kind {
            PartKind::Variable(name) => self.used.entry(name.clone()).or_default().push(part.span),
            PartKind::Parameter(expansion) => {
                let Parameter::Variable(name) = &expansion.parameter else { return };
                self.used.entry(name.clone()).or_default().push(part.span);
                match expansion.operator {
                    ParameterOperator::Assign { .. } => self.assign(name, part.span, true),
                    ParameterOperator::Default { .. }
                    | ParameterOperator::Alternative { .. }
                    | ParameterOperator::Require { .. } => drop(self.probed_variables.insert(name.clone())),
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn arithmetic(&mut self, arithmetic: &Arithmetic) {
        let (ArithmeticForm::Tree(tree) | ArithmeticForm::Guess(tree)) = &arithmetic.form else { return };
        for node in tree.nodes() {
            match node {
                ArithmeticNode::Assign { target, .. } | ArithmeticNode::Increment { target, .. } => {
                    if let ArithmeticNode::Variable(name) | ArithmeticNode::Element { name, .. } =
                        tree.node(*target)
                    {
                        self.assign(name, arithmetic.span, false);
                    }
                }
                ArithmeticNode::Variable(name) | ArithmeticNode::Element { name, .. } => {
                    self.used.entry(name.clone()).or_default().push(arithmetic.span);
                }
                _ => {}
            }
        }
    }

    fn command(&mut self, command: &Command) {
        match &command.kind {
            CommandKind::Simple(simple) => self.simple(simple),
            CommandKind::Function(function) => {
                self.functions.insert(function.name.clone(), function.name_span);
            }
            CommandKind::For(each) => {
                let words = each.words.as_deref().unwrap_or_default();
                self.assign(&each.name, each.name_span, words.is_empty() || !words.iter().all(is_one_word));
            }
            CommandKind::Select(select) => self.assign(&select.name, select.name_span, true),
            CommandKind::Coprocess(coprocess) => {
                let name = coprocess.name.clone().unwrap_or_else(|| Bytes::from("COPROC"));
                self.assign(&name, command.span, true);
                self.assign(&Bytes::from(&*[&*name, b"_PID"].concat()), command.span, false);
            }
            _ => {}
        }
    }

    fn simple(&mut self, simple: &SimpleCommand) {
        let Some(first) = simple.arguments.first() else { return };
        let Some(name) = first.word().and_then(Word::literal) else {
            self.runs_unknown_code = true;
            return;
        };
        let arguments = &simple.arguments[1..];
        match name {
            b"eval" => self.runs_unknown_code = true,
            b"source" | b"." => (self.runs_unknown_code, self.sourced) = (true, true),
            b"set" => self.options(arguments),
            b"shopt" => self.lastpipe |= literals(arguments).any(|word| word == b"lastpipe"),
            b"alias" => self.aliases.extend(literals(arguments).map(alias_name)),
            b"test" | b"[" if literals(arguments).next() == Some(b"-v") => {
                self.probed_variables.extend(literals(arguments).nth(1).map(Bytes::from));
            }
            b"enable" => self.changes_lookup = true,
            _ => {}
        }
        if ASSIGNING_COMMANDS.contains(&name) {
            self.named(arguments);
        }
        if matches!(name, b"declare" | b"typeset" | b"local") {
            self.namerefs(arguments);
        }
        if PROBING_COMMANDS.contains(&name) {
            self.probed_commands.extend(literals(arguments).map(Bytes::from));
        }
    }

    /// Handles `declare -n name=variable`: assignments to `name` change `variable`.
    fn namerefs(&mut self, arguments: &[Argument]) {
        let is_option = |word: &[u8]| word.starts_with(b"-") && word.contains(&b'n');
        if !literals(arguments).any(is_option) {
            return;
        }
        for argument in arguments {
            let Argument::Assignment(assignment) = argument else { continue };
            match &assignment.value {
                AssignmentValue::Word(word) if word.literal_text().is_some() => {
                    word.literal_text().into_iter().for_each(|name| self.assign(name, word.span, true));
                }
                _ => self.unknown_nameref = true,
            }
        }
    }

    /// Handles a builtin that assigns to variables named by its arguments.
    fn named(&mut self, arguments: &[Argument]) {
        for argument in arguments {
            let Some(word) = argument.word() else { continue };
            let text = word.literal().unwrap_or_else(|| match word.parts().first().map(|part| &part.kind) {
                Some(PartKind::Literal(text)) => text,
                _ => b"",
            });
            let length =
                text.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
            if length > 0 {
                self.assign(&Bytes::from(&text[..length]), word.span, true);
            }
        }
    }

    fn options(&mut self, arguments: &[Argument]) {
        let words: Vec<&[u8]> = literals(arguments).collect();
        for (at, word) in words.iter().enumerate() {
            match word.first() {
                Some(b'-') => self.letters(&word[1..], true),
                _ if at == 0 || !words[at - 1].ends_with(b"o") || !words[at - 1].starts_with(b"-") => {}
                _ => {
                    self.errexit |= *word == b"errexit";
                    self.nounset |= *word == b"nounset";
                    self.pipefail |= *word == b"pipefail";
                }
            }
        }
    }
}

/// Returns the first of the sorted spans that starts at or after an offset.
pub(super) fn first_starting_at(places: &[Span], offset: u32) -> Option<Span> {
    places.get(places.partition_point(|span| span.start < offset)).copied()
}

/// Returns the last of the sorted spans that starts before an offset.
pub(super) fn last_starting_before(places: &[Span], offset: u32) -> Option<Span> {
    let after = places.partition_point(|span| span.start < offset);
    places.get(after.checked_sub(1)?).copied()
}

fn literals(arguments: &[Argument]) -> impl Iterator<Item = &[u8]> {
    arguments.iter().filter_map(|argument| argument.word()?.literal())
}

fn alias_name(definition: &[u8]) -> Bytes {
    Bytes::from(definition.split(|byte| *byte == b'=').next().unwrap_or(definition))
}

/// Whether a word expands to exactly one word if the variables in it do.
fn is_one_word(word: &Word) -> bool {
    match word.literal() {
        Some(text) => is_solid(text),
        None => flattened(word).all(|part| match &part.kind {
            PartKind::Literal(text) | PartKind::SingleQuoted(text) => is_solid(text),
            PartKind::Variable(_) | PartKind::Arithmetic(_) => true,
            PartKind::Parameter(expansion) => match expansion.parameter {
                Parameter::Special(special) => {
                    !matches!(special, SpecialParameter::At | SpecialParameter::Star)
                }
                Parameter::Variable(_) | Parameter::Positional(_) => {
                    expansion.operator == ParameterOperator::Length
                }
            },
            PartKind::Command(substitution) => prints_one_word(&substitution.body),
            _ => false,
        }),
    }
}

fn is_solid(text: &[u8]) -> bool {
    !text.is_empty() && !text.iter().any(|byte| b" \t\n*?[".contains(byte))
}

/// Returns the parts of a word, with double quotes flattened.
fn flattened(word: &Word) -> impl Iterator<Item = &WordPart> {
    word.parts().iter().flat_map(|part| match &part.kind {
        PartKind::DoubleQuoted(parts) => parts.iter(),
        _ => std::slice::from_ref(part).iter(),
    })
}

/// Whether the last command of a list always prints exactly one word.
pub(super) fn prints_one_word(list: &List) -> bool {
    const COMMANDS: &[&[u8]] =
        &[b"mktemp", b"wc", b"id", b"uname", b"whoami", b"nproc", b"arch", b"tempfile", b"tput"];
    let Some(statement) = list.statements.last().filter(|statement| statement.rest.is_empty()) else {
        return false;
    };
    let last = statement.first.stages.last().and_then(|command| match &command.kind {
        CommandKind::Simple(simple) => simple.name(),
        _ => None,
    });
    last.is_some_and(|name| COMMANDS.contains(&name))
}
