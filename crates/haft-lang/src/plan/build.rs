//! Creates the steps of a program, for every kind of command.

use std::collections::BTreeSet;

use crate::ParseOptions;
use crate::ast::{
    Bytes, Case, Command, CommandKind, Conditional, Connector, For, Function, If, List, PartKind, Pipeline,
    Program, Select, SimpleCommand, Span, Statement, Word, WordPart,
};
use crate::resolve::{Resolution, Resolver};
use crate::walk::SyntaxNode;

use super::constant::Constants;
use super::directory::{TrackedDirectory, is_change};
use super::numeric::NumericVariables;
use super::step::{
    CommandTarget, Opaque, OpaqueReason, PipelineStage, PlanStep, PlannedWord, StepAction, StepConditions,
    StepRole,
};
use super::{file, fork, words};

/// Maximum nesting of scripts in arguments and of commands run by wrappers.
const MAX_NESTED_SCRIPTS: u8 = 12;

pub(super) struct PlanBuilder<'r> {
    resolver: &'r dyn Resolver,
    pub(super) options: ParseOptions,
    functions: BTreeSet<Bytes>,
    pub(super) values: NumericVariables,
    pub(super) constants: Constants,
    /// The working directory of the current step.
    pub(super) directory: TrackedDirectory,
    /// Whether the program changes its working directory at all.
    pub(super) moves: bool,
    pub(super) steps: Vec<PlanStep>,
}

/// The context in which steps are created.
#[derive(Clone, Copy)]
pub(super) struct StepContext<'s> {
    /// The text that spans refer to.
    pub(super) source: &'s [u8],
    /// The location of that text in the program, if it is a nested script.
    origin: Option<(Span, u32)>,
    parent: Option<usize>,
    role: StepRole,
    followed: u8,
    pub(super) conditions: StepConditions,
    stage: Option<PipelineStage>,
}

impl<'s> StepContext<'s> {
    pub(super) fn top(source: &'s [u8]) -> Self {
        Self {
            source,
            origin: None,
            parent: None,
            role: StepRole::Statement,
            followed: 0,
            conditions: StepConditions::default(),
            stage: None,
        }
    }

    /// Returns the context for children of the step at `parent`.
    pub(super) fn below(self, parent: usize, role: StepRole) -> Self {
        Self { parent: Some(parent), role, stage: None, ..self }
    }

    /// Returns the context one nesting level deeper; `None` at the limit.
    pub(super) fn followed(self) -> Option<Self> {
        (self.followed < MAX_NESTED_SCRIPTS).then_some(Self { followed: self.followed + 1, ..self })
    }

    /// Returns the context for a nested script in a step.
    pub(super) fn within<'t>(self, source: &'t [u8], step: &PlanStep) -> StepContext<'t> {
        StepContext {
            source,
            origin: Some((step.span, step.line)),
            parent: self.parent,
            role: self.role,
            followed: self.followed,
            conditions: self.conditions,
            stage: self.stage,
        }
    }

    fn with(mut self, change: impl FnOnce(&mut StepConditions)) -> Self {
        change(&mut self.conditions);
        self
    }

    /// Returns the context for commands that may not run.
    pub(super) fn conditional(self) -> Self {
        self.with(|conditions| conditions.conditional = true)
    }

    /// Returns the context for commands that run any number of times, possibly never.
    pub(super) fn repeated(self) -> Self {
        self.conditional().with(|conditions| conditions.repeated = true)
    }

    /// Returns the context for commands in a subshell.
    pub(super) fn subshell(self) -> Self {
        self.with(|conditions| conditions.subshell = true)
    }

    /// Returns the context for commands that run later, any number of times or never.
    pub(super) fn deferred(self) -> Self {
        self.repeated().with(|conditions| conditions.deferred = true)
    }
}

impl<'r> PlanBuilder<'r> {
    pub(super) fn new(
        program: &Program,
        source: &[u8],
        resolver: &'r dyn Resolver,
        options: ParseOptions,
    ) -> Self {
        let mut functions = BTreeSet::new();
        SyntaxNode::List(&program.body).descend(&mut |node| {
            if let SyntaxNode::Command(Command { kind: CommandKind::Function(function), .. }) = node {
                functions.insert(function.name.clone());
            }
        });
        Self {
            resolver,
            options,
            functions,
            values: NumericVariables::of(program),
            constants: Constants::of(program, source),
            directory: TrackedDirectory::default(),
            moves: changes_directory(SyntaxNode::List(&program.body)),
            steps: Vec::new(),
        }
    }

    pub(super) fn list(&mut self, list: &List, context: &StepContext<'_>) {
        list.statements.iter().for_each(|statement| self.statement(statement, context));
    }

    fn statement(&mut self, statement: &Statement, context: &StepContext<'_>) {
        if statement.background {
            let context = context.subshell().with(|conditions| conditions.background = true);
            return self.in_subshell(|builder| builder.pipelines(statement, &context));
        }
        self.pipelines(statement, context);
    }

    /// Plans the pipelines of a statement, assuming that each succeeds. Commands after `||` do not change the
    /// working directory.
    fn pipelines(&mut self, statement: &Statement, context: &StepContext<'_>) {
        self.pipeline(&statement.first, context);
        for (connector, pipeline) in &statement.rest {
            let context = context.conditional();
            match connector {
                Connector::And => self.pipeline(pipeline, &context),
                Connector::Or => self.in_subshell(|builder| builder.pipeline(pipeline, &context)),
            }
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline, context: &StepContext<'_>) {
        let of = pipeline.stages.len();
        for (index, command) in pipeline.stages.iter().enumerate() {
            if of == 1 {
                return self.command(command, context);
            }
            let context =
                StepContext { stage: Some(PipelineStage { number: index + 1, of }), ..context.subshell() };
            self.in_subshell(|builder| builder.command(command, &context));
        }
    }

    fn command(&mut self, command: &Command, context: &StepContext<'_>) {
        match &command.kind {
            CommandKind::Simple(simple) => self.simple(command, simple, context),
            CommandKind::Group(list) => {
                let index = self.compound("{", Vec::new(), command, context);
                self.list(list, &context.below(index, StepRole::Body));
            }
            CommandKind::Subshell(list) => {
                let index = self.compound("(", Vec::new(), command, context);
                self.in_subshell(|builder| {
                    builder.list(list, &context.below(index, StepRole::Body).subshell());
                });
            }
            CommandKind::If(branches) => self.branches(branches, command, context),
            CommandKind::For(each) => self.each(each, command, context),
            CommandKind::ArithmeticFor(each) => {
                let index = self.compound("for ((", Vec::new(), command, context);
                self.body(&each.body, &context.below(index, StepRole::Body).repeated());
            }
            CommandKind::Loop(repeated) => {
                let keyword = if repeated.until { "until" } else { "while" };
                let index = self.compound(keyword, Vec::new(), command, context);
                let condition = context.below(index, StepRole::Condition);
                let condition = condition.with(|conditions| conditions.repeated = true);
                let changes = changes_directory(SyntaxNode::Command(command));
                self.repeatedly(changes, |builder| {
                    builder.list(&repeated.condition, &condition);
                    builder.list(&repeated.body, &context.below(index, StepRole::Body).repeated());
                });
            }
            CommandKind::Case(case) => self.case(case, command, context),
            CommandKind::Select(select) => self.select(select, command, context),
            CommandKind::Conditional(test) => self.test(test, command, context),
            CommandKind::Arithmetic(_) => {
                self.compound("((", Vec::new(), command, context);
            }
            CommandKind::Function(function) => self.function(function, command, context),
            CommandKind::Coprocess(coprocess) => {
                let index = self.compound("coproc", Vec::new(), command, context);
                let context = context.below(index, StepRole::Body).subshell();
                let context = context.with(|conditions| conditions.background = true);
                self.in_subshell(|builder| builder.command(&coprocess.body, &context));
            }
        }
    }

    fn branches(&mut self, branches: &If, command: &Command, context: &StepContext<'_>) {
        let index = self.compound("if", Vec::new(), command, context);
        for (number, branch) in branches.branches.iter().enumerate() {
            let condition = context.below(index, StepRole::Condition);
            self.conditionally(|builder| {
                let condition = if number == 0 { condition } else { condition.conditional() };
                builder.list(&branch.condition, &condition);
                builder.list(&branch.body, &context.below(index, StepRole::Body).conditional());
            });
        }
        let otherwise = context.below(index, StepRole::Else).conditional();
        branches
            .otherwise
            .iter()
            .for_each(|list| self.conditionally(|builder| builder.list(list, &otherwise)));
    }

    /// Plans the body of a loop.
    fn body(&mut self, body: &List, context: &StepContext<'_>) {
        let changes = changes_directory(SyntaxNode::List(body));
        self.repeatedly(changes, |builder| builder.list(body, context));
    }

    fn each(&mut self, each: &For, command: &Command, context: &StepContext<'_>) {
        let index = self.compound("for", items(each.words.as_deref(), context), command, context);
        self.assigned_name(index, &each.name);
        self.body(&each.body, &context.below(index, StepRole::Body).repeated());
    }

    fn select(&mut self, select: &Select, command: &Command, context: &StepContext<'_>) {
        let index = self.compound("select", items(select.words.as_deref(), context), command, context);
        self.assigned_name(index, &select.name);
        self.body(&select.body, &context.below(index, StepRole::Body).repeated());
    }

    fn case(&mut self, case: &Case, command: &Command, context: &StepContext<'_>) {
        let subject = vec![words::single(&case.subject, context.source)];
        let index = self.compound("case", subject, command, context);
        for clause in &case.clauses {
            let context = context.below(index, StepRole::Body).conditional();
            self.conditionally(|builder| builder.list(&clause.body, &context));
        }
    }

    fn test(&mut self, test: &Conditional, command: &Command, context: &StepContext<'_>) {
        let text = words::known(test.span.of(context.source));
        self.compound("[[", vec![text], command, context);
    }

    fn function(&mut self, function: &Function, command: &Command, context: &StepContext<'_>) {
        let forks_itself = fork::forks_itself(function);
        let action = StepAction::Define { name: function.name.clone(), forks_itself };
        let index = self.push(action, Vec::new(), command, context);
        let context = context.below(index, StepRole::FunctionBody).deferred();
        self.deferred(|builder| builder.command(&function.body, &context));
    }

    fn compound(
        &mut self,
        keyword: &'static str,
        argv: Vec<PlannedWord>,
        command: &Command,
        context: &StepContext<'_>,
    ) -> usize {
        self.push(StepAction::Compound { keyword }, argv, command, context)
    }

    fn simple(&mut self, command: &Command, simple: &SimpleCommand, context: &StepContext<'_>) {
        let argv: Vec<PlannedWord> =
            simple.arguments.iter().flat_map(|argument| words::arguments(argument, context.source)).collect();
        let action = self.action(&argv);
        let index = self.push(action, argv.clone(), command, context);
        self.steps[index].assignments =
            simple.assignments.iter().map(|assignment| words::binding(assignment, context.source)).collect();
        self.bindings(index, context);
        self.invoke(index, &argv, context);
    }

    /// Plans a command whose words are already expanded.
    pub(super) fn expanded(&mut self, argv: &[PlannedWord], context: &StepContext<'_>) {
        let action = self.action(argv);
        let index = self.add(action, argv.to_vec(), Span::default(), 1, context);
        self.invoke(index, argv, context);
    }

    /// Returns the action of a command with these arguments.
    pub(super) fn action(&self, argv: &[PlannedWord]) -> StepAction {
        let Some(first) = argv.first() else { return StepAction::Assign };
        let Some(name) = first.literal() else {
            return StepAction::Command { target: CommandTarget::Unknown };
        };
        let target = match self.resolver.resolve(name) {
            Resolution::Builtin => CommandTarget::Builtin,
            Resolution::Script(path) => CommandTarget::Script(path),
            Resolution::External(path) => CommandTarget::External(path),
            Resolution::Tool => CommandTarget::Tool,
            Resolution::Missing => CommandTarget::Missing,
            Resolution::Unknown => CommandTarget::Unknown,
        };
        if self.functions.contains(name) {
            return StepAction::Function {
                otherwise: Some(target).filter(|target| *target != CommandTarget::Missing),
            };
        }
        StepAction::Command { target }
    }

    /// Adds a step for a command, and steps for the substitutions in its words and redirections.
    fn push(
        &mut self,
        action: StepAction,
        argv: Vec<PlannedWord>,
        command: &Command,
        context: &StepContext<'_>,
    ) -> usize {
        let index = self.add(action, argv, command.span, command.line, context);
        self.steps[index].files =
            command.redirects.iter().map(|redirect| file::file_use(redirect, context.source)).collect();
        let inside = context.below(index, StepRole::Substitution);
        SyntaxNode::Command(command).children(&mut |child| match child {
            // The caller plans the lists of a compound command.
            SyntaxNode::List(_)
            | SyntaxNode::Statement(_)
            | SyntaxNode::Pipeline(_)
            | SyntaxNode::Command(_) => {}
            SyntaxNode::Argument(_)
            | SyntaxNode::Assignment(_)
            | SyntaxNode::Element(_)
            | SyntaxNode::Word(_)
            | SyntaxNode::Part(_)
            | SyntaxNode::Redirect(_)
            | SyntaxNode::Conditional(_)
            | SyntaxNode::Arithmetic(_)
            | SyntaxNode::Subscript(_) => self.expand(child, index, &inside),
        });
        index
    }

    /// Adds a step in a context.
    pub(super) fn add(
        &mut self,
        action: StepAction,
        argv: Vec<PlannedWord>,
        span: Span,
        line: u32,
        context: &StepContext<'_>,
    ) -> usize {
        let (span, line) = context.origin.unwrap_or((span, line));
        self.steps.push(PlanStep {
            parent: context.parent,
            role: context.role,
            line,
            span,
            action,
            argv,
            assignments: Vec::new(),
            files: Vec::new(),
            files_complete: true,
            directory: self.directory.path().cloned(),
            conditions: context.conditions,
            stage: context.stage,
            opaque: Vec::new(),
        });
        self.steps.len() - 1
    }

    /// Plans the commands that run when a node is expanded.
    pub(super) fn expand(&mut self, node: SyntaxNode<'_>, index: usize, context: &StepContext<'_>) {
        self.hazards(node, index, context);
        match node {
            SyntaxNode::List(list) => self.in_subshell(|builder| builder.list(list, &context.subshell())),
            SyntaxNode::Part(WordPart { kind: PartKind::Process(_), .. }) => {
                let context = StepContext { role: StepRole::ProcessSubstitution, ..*context };
                self.children(node, index, &context);
            }
            _ => self.children(node, index, context),
        }
    }

    /// Marks the step at `index` as opaque.
    pub(super) fn opaque(&mut self, index: usize, reason: OpaqueReason, source: &[u8]) {
        let opaque = Opaque { reason, source: source.into() };
        let step = &mut self.steps[index];
        if !step.opaque.contains(&opaque) {
            step.opaque.push(opaque);
        }
    }
}

fn items(words: Option<&[Word]>, context: &StepContext<'_>) -> Vec<PlannedWord> {
    words.unwrap_or_default().iter().map(|word| words::item(word, context.source)).collect()
}

/// Whether a node contains a command that changes the working directory.
fn changes_directory(node: SyntaxNode<'_>) -> bool {
    let mut changes = false;
    node.descend(&mut |node| {
        if let SyntaxNode::Command(Command { kind: CommandKind::Simple(simple), .. }) = node {
            changes |= simple.name().is_some_and(is_change);
        }
    });
    changes
}
