//! Visits every node of the tree, in source order.
//!
//! Every `match` here names every kind of node, so a new kind does not compile until it is handled here. A
//! visitor that uses [`SyntaxNode::children`] therefore misses nothing that a script can contain.

use crate::ast::{
    Argument, Arithmetic, ArrayElement, Assignment, AssignmentValue, Braces, Case, Command, CommandKind,
    Conditional, ConditionalKind, Duplicate, For, If, List, ParameterExpansion, ParameterOperator, PartKind,
    Pipeline, Redirect, RedirectDescriptor, RedirectKind, Select, SimpleCommand, Statement, Subscript,
    SubscriptKind, Word, WordPart,
};

/// A node of the tree.
#[derive(Clone, Copy, Debug)]
pub enum SyntaxNode<'a> {
    /// A sequence of statements.
    List(&'a List),
    /// Pipelines joined by `&&` and `||`.
    Statement(&'a Statement),
    /// Commands joined by `|`.
    Pipeline(&'a Pipeline),
    /// A command of any kind.
    Command(&'a Command),
    /// A command's name or argument.
    Argument(&'a Argument),
    /// An assignment.
    Assignment(&'a Assignment),
    /// An element of a compound array assignment.
    Element(&'a ArrayElement),
    /// A word.
    Word(&'a Word),
    /// A part of a word.
    Part(&'a WordPart),
    /// A redirection.
    Redirect(&'a Redirect),
    /// An expression of `[[ ]]`.
    Conditional(&'a Conditional),
    /// An arithmetic expression.
    Arithmetic(&'a Arithmetic),
    /// The subscript of an array.
    Subscript(&'a Subscript),
}

/// The callback for each child.
pub type Visit<'v, 'a> = &'v mut dyn FnMut(SyntaxNode<'a>);

impl<'a> SyntaxNode<'a> {
    /// Calls `visit` for each direct child, in source order.
    ///
    /// Some nodes hold two parses of the same text. Only one of them is visited: the index of a subscript,
    /// and the words that bash would see of a JSON word.
    pub fn children(self, visit: Visit<'_, 'a>) {
        match self {
            Self::List(list) => {
                list.statements.iter().for_each(|statement| visit(Self::Statement(statement)));
            }
            Self::Statement(statement) => {
                visit(Self::Pipeline(&statement.first));
                statement.rest.iter().for_each(|(_, pipeline)| visit(Self::Pipeline(pipeline)));
            }
            Self::Pipeline(pipeline) => pipeline.stages.iter().for_each(|stage| visit(Self::Command(stage))),
            Self::Command(command) => {
                command_children(&command.kind, visit);
                command.redirects.iter().for_each(|redirect| visit(Self::Redirect(redirect)));
            }
            Self::Argument(argument) => argument_children(argument, visit),
            Self::Assignment(assignment) => assignment_children(assignment, visit),
            Self::Element(element) => {
                subscript(element.subscript.as_deref(), visit);
                visit(Self::Word(&element.value));
            }
            Self::Word(word) => parts(word.parts(), visit),
            Self::Part(part) => part_children(&part.kind, visit),
            Self::Redirect(redirect) => redirect_children(redirect, visit),
            Self::Conditional(conditional) => conditional_children(&conditional.kind, visit),
            Self::Arithmetic(arithmetic) => visit(Self::Word(&arithmetic.text)),
            Self::Subscript(subscript) => match &subscript.kind {
                SubscriptKind::At | SubscriptKind::Star => {}
                SubscriptKind::Element { key: _, index } => visit(Self::Arithmetic(index)),
            },
        }
    }

    /// Calls `visit` for this node and all its descendants, parents first.
    pub fn descend(self, visit: Visit<'_, 'a>) {
        visit(self);
        self.children(&mut |child| child.descend(visit));
    }
}

fn parts<'a>(parts: &'a [WordPart], visit: Visit<'_, 'a>) {
    parts.iter().for_each(|part| visit(SyntaxNode::Part(part)));
}

fn words<'a>(words: &'a [Word], visit: Visit<'_, 'a>) {
    words.iter().for_each(|word| visit(SyntaxNode::Word(word)));
}

fn subscript<'a>(subscript: Option<&'a Subscript>, visit: Visit<'_, 'a>) {
    subscript.into_iter().for_each(|subscript| visit(SyntaxNode::Subscript(subscript)));
}

fn optional<'a>(arithmetic: Option<&'a Arithmetic>, visit: Visit<'_, 'a>) {
    arithmetic.into_iter().for_each(|arithmetic| visit(SyntaxNode::Arithmetic(arithmetic)));
}

fn command_children<'a>(kind: &'a CommandKind, visit: Visit<'_, 'a>) {
    match kind {
        CommandKind::Simple(SimpleCommand { assignments, arguments, literal: _, slot: _ }) => {
            assignments.iter().for_each(|assignment| visit(SyntaxNode::Assignment(assignment)));
            arguments.iter().for_each(|argument| visit(SyntaxNode::Argument(argument)));
        }
        CommandKind::Group(list) | CommandKind::Subshell(list) => visit(SyntaxNode::List(list)),
        CommandKind::If(branches) => if_children(branches, visit),
        CommandKind::For(each) => {
            let For { name: _, name_span: _, words: list, body } = &**each;
            words(list.as_deref().unwrap_or_default(), visit);
            visit(SyntaxNode::List(body));
        }
        CommandKind::ArithmeticFor(each) => {
            optional(each.initial.as_ref(), visit);
            optional(each.condition.as_ref(), visit);
            optional(each.update.as_ref(), visit);
            visit(SyntaxNode::List(&each.body));
        }
        CommandKind::Loop(repeated) => {
            visit(SyntaxNode::List(&repeated.condition));
            visit(SyntaxNode::List(&repeated.body));
        }
        CommandKind::Case(case) => case_children(case, visit),
        CommandKind::Select(select) => {
            let Select { name: _, name_span: _, words: list, body } = &**select;
            words(list.as_deref().unwrap_or_default(), visit);
            visit(SyntaxNode::List(body));
        }
        CommandKind::Conditional(conditional) => visit(SyntaxNode::Conditional(conditional)),
        CommandKind::Arithmetic(arithmetic) => visit(SyntaxNode::Arithmetic(arithmetic)),
        CommandKind::Function(function) => visit(SyntaxNode::Command(&function.body)),
        CommandKind::Coprocess(coprocess) => visit(SyntaxNode::Command(&coprocess.body)),
    }
}

fn if_children<'a>(branches: &'a If, visit: Visit<'_, 'a>) {
    let If { branches, otherwise } = branches;
    for branch in branches {
        visit(SyntaxNode::List(&branch.condition));
        visit(SyntaxNode::List(&branch.body));
    }
    otherwise.iter().for_each(|list| visit(SyntaxNode::List(list)));
}

fn case_children<'a>(case: &'a Case, visit: Visit<'_, 'a>) {
    visit(SyntaxNode::Word(&case.subject));
    for clause in &case.clauses {
        words(&clause.patterns, visit);
        visit(SyntaxNode::List(&clause.body));
    }
}

fn argument_children<'a>(argument: &'a Argument, visit: Visit<'_, 'a>) {
    match argument {
        Argument::Word(word) => visit(SyntaxNode::Word(word)),
        Argument::Assignment(assignment) => visit(SyntaxNode::Assignment(assignment)),
        Argument::Json(json) => words(&json.words, visit),
    }
}

fn assignment_children<'a>(assignment: &'a Assignment, visit: Visit<'_, 'a>) {
    let Assignment { span: _, name: _, subscript: element, append: _, value } = assignment;
    subscript(element.as_deref(), visit);
    match value {
        AssignmentValue::Word(word) => visit(SyntaxNode::Word(word)),
        AssignmentValue::Array(elements) => {
            elements.iter().for_each(|element| visit(SyntaxNode::Element(element)));
        }
    }
}

fn part_children<'a>(kind: &'a PartKind, visit: Visit<'_, 'a>) {
    match kind {
        PartKind::Literal(_)
        | PartKind::Escaped(_)
        | PartKind::SingleQuoted(_)
        | PartKind::AnsiQuoted(_)
        | PartKind::Variable(_)
        | PartKind::Tilde(_)
        | PartKind::Glob(_) => {}
        PartKind::DoubleQuoted(inner) | PartKind::LocaleQuoted(inner) => parts(inner, visit),
        PartKind::Parameter(expansion) => parameter_children(expansion, visit),
        PartKind::Command(substitution) => visit(SyntaxNode::List(&substitution.body)),
        PartKind::Arithmetic(arithmetic) => visit(SyntaxNode::Arithmetic(arithmetic)),
        PartKind::Process(substitution) => visit(SyntaxNode::List(&substitution.body)),
        PartKind::Braces(braces) => match &**braces {
            Braces::List(alternatives) => alternatives.iter().for_each(|inner| parts(inner, visit)),
            Braces::Range(_) => {}
        },
        PartKind::ExtendedGlob(glob) => glob.alternatives.iter().for_each(|inner| parts(inner, visit)),
    }
}

fn parameter_children<'a>(expansion: &'a ParameterExpansion, visit: Visit<'_, 'a>) {
    use ParameterOperator as Operator;
    subscript(expansion.subscript.as_deref(), visit);
    match &expansion.operator {
        Operator::Value
        | Operator::Length
        | Operator::Names { .. }
        | Operator::Keys { .. }
        | Operator::Transform(_)
        | Operator::Invalid { .. } => {}
        Operator::Default { word, .. }
        | Operator::Assign { word, .. }
        | Operator::Require { word, .. }
        | Operator::Alternative { word, .. } => visit(SyntaxNode::Word(word)),
        Operator::RemovePrefix { pattern, .. } | Operator::RemoveSuffix { pattern, .. } => {
            visit(SyntaxNode::Word(pattern));
        }
        Operator::Replace { pattern, replacement, .. } => {
            visit(SyntaxNode::Word(pattern));
            replacement.iter().for_each(|word| visit(SyntaxNode::Word(word)));
        }
        Operator::ChangeCase { pattern, .. } => pattern.iter().for_each(|word| visit(SyntaxNode::Word(word))),
        Operator::Substring { offset, length } => {
            visit(SyntaxNode::Arithmetic(offset));
            optional(length.as_deref(), visit);
        }
    }
}

fn redirect_children<'a>(redirect: &'a Redirect, visit: Visit<'_, 'a>) {
    match &redirect.descriptor {
        RedirectDescriptor::Default | RedirectDescriptor::Number(_) => {}
        RedirectDescriptor::Variable { name: _, subscript: element } => subscript(element.as_deref(), visit),
    }
    match &redirect.kind {
        RedirectKind::Read(word)
        | RedirectKind::Write(word)
        | RedirectKind::Clobber(word)
        | RedirectKind::Append(word)
        | RedirectKind::ReadWrite(word)
        | RedirectKind::WriteBoth(word)
        | RedirectKind::AppendBoth(word)
        | RedirectKind::HereString(word) => visit(SyntaxNode::Word(word)),
        RedirectKind::HereDocument(document) => visit(SyntaxNode::Word(document.body())),
        RedirectKind::DuplicateInput(duplicate) | RedirectKind::DuplicateOutput(duplicate) => match duplicate
        {
            Duplicate::Descriptor { .. } | Duplicate::Close => {}
            Duplicate::Word(word) => visit(SyntaxNode::Word(word)),
        },
    }
}

fn conditional_children<'a>(kind: &'a ConditionalKind, visit: Visit<'_, 'a>) {
    match kind {
        ConditionalKind::Or(operands) | ConditionalKind::And(operands) => {
            operands.iter().for_each(|operand| visit(SyntaxNode::Conditional(operand)));
        }
        ConditionalKind::Not(operand) | ConditionalKind::Group(operand) => {
            visit(SyntaxNode::Conditional(operand));
        }
        ConditionalKind::Unary { test: _, operand } => visit(SyntaxNode::Word(operand)),
        ConditionalKind::Binary { test: _, left, right } => {
            visit(SyntaxNode::Word(left));
            visit(SyntaxNode::Word(right));
        }
        ConditionalKind::Word(word) => visit(SyntaxNode::Word(word)),
    }
}
