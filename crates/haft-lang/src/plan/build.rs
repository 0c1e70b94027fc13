//! The steps of a program: every kind of command, and every list that one holds.

use std::collections::BTreeSet;

use crate::Options;
use crate::ast::{
    Case, Command, CommandKind, Conditional, Connector, For, Function, If, List, PartKind, Pipeline, Program,
    Select, SimpleCommand, Span, Statement, Text, Word, WordPart,
};
use crate::resolve::{Resolution, Resolver};
use crate::walk::Node;

use super::constant::Constants;
use super::directory::{Directory, is_change};
use super::step::{Action, Circumstances, Item, Opaque, Reason, Role, Stage, Step, Target};
use super::value::Values;
use super::{file, fork, words};

/// How deep text within text, and commands within arguments, are followed.
const FOLLOWED: u8 = 12;

pub(super) struct Builder<'r> {
    resolver: &'r dyn Resolver,
    pub(super) options: Options,
    functions: BTreeSet<Text>,
    pub(super) values: Values,
    pub(super) constants: Constants,
    /// Where the shell is at the step that is planned.
    pub(super) directory: Directory,
    /// Whether the program changes its working directory anywhere.
    pub(super) moves: bool,
    pub(super) steps: Vec<Step>,
}

/// Where a step is made.
#[derive(Clone, Copy)]
pub(super) struct Place<'s> {
    /// The text that spans are of.
    pub(super) source: &'s [u8],
    /// Where that text stands, if it is not the program's own.
    origin: Option<(Span, u32)>,
    parent: Option<usize>,
    role: Role,
    followed: u8,
    pub(super) circumstances: Circumstances,
    stage: Option<Stage>,
}

impl<'s> Place<'s> {
    pub(super) fn top(source: &'s [u8]) -> Self {
        Self {
            source,
            origin: None,
            parent: None,
            role: Role::Statement,
            followed: 0,
            circumstances: Circumstances::default(),
            stage: None,
        }
    }

    /// Below the step at `parent`.
    pub(super) fn below(self, parent: usize, role: Role) -> Self {
        Self { parent: Some(parent), role, stage: None, ..self }
    }

    /// One level of text or arguments further in; `None` at the bound.
    pub(super) fn followed(self) -> Option<Self> {
        (self.followed < FOLLOWED).then_some(Self { followed: self.followed + 1, ..self })
    }

    /// In a text of its own that stands in a step.
    pub(super) fn within<'t>(self, source: &'t [u8], step: &Step) -> Place<'t> {
        Place {
            source,
            origin: Some((step.span, step.line)),
            parent: self.parent,
            role: self.role,
            followed: self.followed,
            circumstances: self.circumstances,
            stage: self.stage,
        }
    }

    fn with(mut self, change: impl FnOnce(&mut Circumstances)) -> Self {
        change(&mut self.circumstances);
        self
    }

    /// Where it may not run.
    pub(super) fn conditional(self) -> Self {
        self.with(|circumstances| circumstances.conditional = true)
    }

    /// Where it may run any number of times, or never.
    pub(super) fn repeated(self) -> Self {
        self.conditional().with(|circumstances| circumstances.repeated = true)
    }

    /// Where it runs in a copy of the shell.
    pub(super) fn subshell(self) -> Self {
        self.with(|circumstances| circumstances.subshell = true)
    }

    /// Where it runs later, any number of times, or never.
    pub(super) fn deferred(self) -> Self {
        self.repeated().with(|circumstances| circumstances.deferred = true)
    }
}

impl<'r> Builder<'r> {
    pub(super) fn new(
        program: &Program,
        source: &[u8],
        resolver: &'r dyn Resolver,
        options: Options,
    ) -> Self {
        let mut functions = BTreeSet::new();
        Node::List(&program.body).descend(&mut |node| {
            if let Node::Command(Command { kind: CommandKind::Function(function), .. }) = node {
                functions.insert(function.name.clone());
            }
        });
        Self {
            resolver,
            options,
            functions,
            values: Values::of(program),
            constants: Constants::of(program, source),
            directory: Directory::default(),
            moves: changes_directory(Node::List(&program.body)),
            steps: Vec::new(),
        }
    }

    pub(super) fn list(&mut self, list: &List, place: &Place<'_>) {
        list.statements.iter().for_each(|statement| self.statement(statement, place));
    }

    fn statement(&mut self, statement: &Statement, place: &Place<'_>) {
        if statement.background {
            let place = place.subshell().with(|circumstances| circumstances.background = true);
            return self.apart(|builder| builder.pipelines(statement, &place));
        }
        self.pipelines(statement, place);
    }

    /// The pipelines of a statement, as if each succeeded: what follows `||` leaves the directory as it is.
    fn pipelines(&mut self, statement: &Statement, place: &Place<'_>) {
        self.pipeline(&statement.first, place);
        for (connector, pipeline) in &statement.rest {
            let place = place.conditional();
            match connector {
                Connector::And => self.pipeline(pipeline, &place),
                Connector::Or => self.apart(|builder| builder.pipeline(pipeline, &place)),
            }
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline, place: &Place<'_>) {
        let of = pipeline.stages.len();
        for (index, command) in pipeline.stages.iter().enumerate() {
            if of == 1 {
                return self.command(command, place);
            }
            let place = Place { stage: Some(Stage { number: index + 1, of }), ..place.subshell() };
            self.apart(|builder| builder.command(command, &place));
        }
    }

    fn command(&mut self, command: &Command, place: &Place<'_>) {
        match &command.kind {
            CommandKind::Simple(simple) => self.simple(command, simple, place),
            CommandKind::Group(list) => {
                let index = self.compound("{", Vec::new(), command, place);
                self.list(list, &place.below(index, Role::Body));
            }
            CommandKind::Subshell(list) => {
                let index = self.compound("(", Vec::new(), command, place);
                self.apart(|builder| builder.list(list, &place.below(index, Role::Body).subshell()));
            }
            CommandKind::If(branches) => self.branches(branches, command, place),
            CommandKind::For(each) => self.each(each, command, place),
            CommandKind::ArithmeticFor(each) => {
                let index = self.compound("for ((", Vec::new(), command, place);
                self.body(&each.body, &place.below(index, Role::Body).repeated());
            }
            CommandKind::Loop(repeated) => {
                let keyword = if repeated.until { "until" } else { "while" };
                let index = self.compound(keyword, Vec::new(), command, place);
                let condition = place.below(index, Role::Condition);
                let condition = condition.with(|circumstances| circumstances.repeated = true);
                let changes = changes_directory(Node::Command(command));
                self.again(changes, |builder| {
                    builder.list(&repeated.condition, &condition);
                    builder.list(&repeated.body, &place.below(index, Role::Body).repeated());
                });
            }
            CommandKind::Case(case) => self.case(case, command, place),
            CommandKind::Select(select) => self.select(select, command, place),
            CommandKind::Conditional(test) => self.test(test, command, place),
            CommandKind::Arithmetic(_) => {
                self.compound("((", Vec::new(), command, place);
            }
            CommandKind::Function(function) => self.function(function, command, place),
            CommandKind::Coprocess(coprocess) => {
                let index = self.compound("coproc", Vec::new(), command, place);
                let place = place.below(index, Role::Body).subshell();
                let place = place.with(|circumstances| circumstances.background = true);
                self.apart(|builder| builder.command(&coprocess.body, &place));
            }
        }
    }

    fn branches(&mut self, branches: &If, command: &Command, place: &Place<'_>) {
        let index = self.compound("if", Vec::new(), command, place);
        for (number, branch) in branches.branches.iter().enumerate() {
            let condition = place.below(index, Role::Condition);
            self.perhaps(|builder| {
                let condition = if number == 0 { condition } else { condition.conditional() };
                builder.list(&branch.condition, &condition);
                builder.list(&branch.body, &place.below(index, Role::Body).conditional());
            });
        }
        let otherwise = place.below(index, Role::Else).conditional();
        branches.otherwise.iter().for_each(|list| self.perhaps(|builder| builder.list(list, &otherwise)));
    }

    /// The body of a loop.
    fn body(&mut self, body: &List, place: &Place<'_>) {
        let changes = changes_directory(Node::List(body));
        self.again(changes, |builder| builder.list(body, place));
    }

    fn each(&mut self, each: &For, command: &Command, place: &Place<'_>) {
        let index = self.compound("for", items(each.words.as_deref(), place), command, place);
        self.body(&each.body, &place.below(index, Role::Body).repeated());
    }

    fn select(&mut self, select: &Select, command: &Command, place: &Place<'_>) {
        let index = self.compound("select", items(select.words.as_deref(), place), command, place);
        self.body(&select.body, &place.below(index, Role::Body).repeated());
    }

    fn case(&mut self, case: &Case, command: &Command, place: &Place<'_>) {
        let subject = vec![words::single(&case.subject, place.source)];
        let index = self.compound("case", subject, command, place);
        for clause in &case.clauses {
            let place = place.below(index, Role::Body).conditional();
            self.perhaps(|builder| builder.list(&clause.body, &place));
        }
    }

    fn test(&mut self, test: &Conditional, command: &Command, place: &Place<'_>) {
        let text = words::known(test.span.of(place.source));
        self.compound("[[", vec![text], command, place);
    }

    fn function(&mut self, function: &Function, command: &Command, place: &Place<'_>) {
        let forks_itself = fork::forks_itself(function);
        let action = Action::Define { name: function.name.clone(), forks_itself };
        let index = self.push(action, Vec::new(), command, place);
        let place = place.below(index, Role::FunctionBody).deferred();
        self.later(|builder| builder.command(&function.body, &place));
    }

    fn compound(
        &mut self,
        keyword: &'static str,
        argv: Vec<Item>,
        command: &Command,
        place: &Place<'_>,
    ) -> usize {
        self.push(Action::Compound { keyword }, argv, command, place)
    }

    fn simple(&mut self, command: &Command, simple: &SimpleCommand, place: &Place<'_>) {
        let argv: Vec<Item> =
            simple.arguments.iter().flat_map(|argument| words::arguments(argument, place.source)).collect();
        let action = self.action(&argv);
        let index = self.push(action, argv.clone(), command, place);
        self.steps[index].assignments =
            simple.assignments.iter().map(|assignment| words::binding(assignment, place.source)).collect();
        self.bindings(index, place);
        self.invoke(index, &argv, place);
    }

    /// What a command of these arguments does.
    pub(super) fn action(&self, argv: &[Item]) -> Action {
        let Some(first) = argv.first() else { return Action::Assign };
        let Some(name) = first.literal() else { return Action::Command { target: Target::Unknown } };
        let target = match self.resolver.resolve(name) {
            Resolution::Builtin => Target::Builtin,
            Resolution::Script(path) => Target::Script(path),
            Resolution::External(path) => Target::External(path),
            Resolution::Tool => Target::Tool,
            Resolution::Missing => Target::Missing,
            Resolution::Unknown => Target::Unknown,
        };
        if self.functions.contains(name) {
            return Action::Function { otherwise: Some(target).filter(|target| *target != Target::Missing) };
        }
        Action::Command { target }
    }

    /// Adds a step for a command, and what its words and redirections run.
    fn push(&mut self, action: Action, argv: Vec<Item>, command: &Command, place: &Place<'_>) -> usize {
        let index = self.add(action, argv, command.span, command.line, place);
        self.steps[index].files =
            command.redirects.iter().map(|redirect| file::file_use(redirect, place.source)).collect();
        let inside = place.below(index, Role::Substitution);
        Node::Command(command).children(&mut |child| match child {
            // The lists that a compound command holds are planned where its keyword is.
            Node::List(_) | Node::Statement(_) | Node::Pipeline(_) | Node::Command(_) => {}
            Node::Argument(_)
            | Node::Assignment(_)
            | Node::Element(_)
            | Node::Word(_)
            | Node::Part(_)
            | Node::Redirect(_)
            | Node::Conditional(_)
            | Node::Arithmetic(_)
            | Node::Subscript(_) => self.expand(child, index, &inside),
        });
        index
    }

    /// Adds a step that stands at a place.
    pub(super) fn add(
        &mut self,
        action: Action,
        argv: Vec<Item>,
        span: Span,
        line: u32,
        place: &Place<'_>,
    ) -> usize {
        let (span, line) = place.origin.unwrap_or((span, line));
        self.steps.push(Step {
            parent: place.parent,
            role: place.role,
            line,
            span,
            action,
            argv,
            assignments: Vec::new(),
            files: Vec::new(),
            files_complete: true,
            directory: self.directory.path().cloned(),
            circumstances: place.circumstances,
            stage: place.stage,
            opaque: Vec::new(),
        });
        self.steps.len() - 1
    }

    /// Plans what the expansion of anything in a command runs.
    pub(super) fn expand(&mut self, node: Node<'_>, index: usize, place: &Place<'_>) {
        self.hazards(node, index, place);
        match node {
            Node::List(list) => self.apart(|builder| builder.list(list, &place.subshell())),
            Node::Part(WordPart { kind: PartKind::Process(_), .. }) => {
                let place = Place { role: Role::ProcessSubstitution, ..*place };
                self.children(node, index, &place);
            }
            _ => self.children(node, index, place),
        }
    }

    /// Says that the text of the step at `index` cannot tell everything.
    pub(super) fn opaque(&mut self, index: usize, reason: Reason, source: &[u8]) {
        let opaque = Opaque { reason, source: source.into() };
        let step = &mut self.steps[index];
        if !step.opaque.contains(&opaque) {
            step.opaque.push(opaque);
        }
    }
}

fn items(words: Option<&[Word]>, place: &Place<'_>) -> Vec<Item> {
    words.unwrap_or_default().iter().map(|word| words::item(word, place.source)).collect()
}

/// Whether anything below a node changes the working directory.
fn changes_directory(node: Node<'_>) -> bool {
    let mut changes = false;
    node.descend(&mut |node| {
        if let Node::Command(Command { kind: CommandKind::Simple(simple), .. }) = node {
            changes |= simple.name().is_some_and(is_change);
        }
    });
    changes
}
