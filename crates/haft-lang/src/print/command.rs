//! Lists, pipelines, simple commands.

use crate::ast::{
    Argument, Assignment, AssignmentValue, Command, CommandKind, Connector, List, Pipeline, SimpleCommand,
    Statement, TimeFormat,
};
use crate::parse::is_reserved;

use super::{PrintStyle, Printer};

impl<'a> Printer<'a> {
    /// Prints statements on separate lines. With `closed`, a separator also follows the last one.
    pub(super) fn statements(&mut self, list: &'a List, closed: bool) {
        self.lines(list, closed, false);
    }

    /// Like `statements`. With `tested`, a reserved word follows on the same line.
    fn lines(&mut self, list: &'a List, closed: bool, tested: bool) {
        let last = list.statements.len().saturating_sub(1);
        for (index, statement) in list.statements.iter().enumerate() {
            self.statement(statement);
            if (index > 0 || index == last && !tested) && !statement.background {
                self.flush_here_documents();
            }
            match (index == last, statement.background, self.pending.is_empty()) {
                (true, false, true) if closed && !self.out.ends_with(b"\n") => self.text(";"),
                (true, ..) => {}
                (false, true, true) => self.text(" "),
                (false, true, false) => {
                    self.newline();
                    self.text("  ");
                }
                (false, false, true) if self.flat => self.text("; "),
                (false, false, true) => {
                    self.separator();
                    self.next_line();
                }
                (false, false, false) => {
                    self.newline();
                    self.next_line();
                }
            }
        }
    }

    /// Prints statements on one line, unless a here-document requires a newline.
    pub(super) fn inline_statements(&mut self, list: &'a List) {
        let last = list.statements.len().saturating_sub(1);
        for (index, statement) in list.statements.iter().enumerate() {
            self.statement(statement);
            match (index == last, statement.background) {
                (true, _) => {}
                _ if !self.pending.is_empty() => self.newline(),
                (false, true) => self.text(" "),
                (false, false) => self.text("; "),
            }
        }
        if !self.pending.is_empty() {
            self.newline();
        }
    }

    /// Prints a condition and the reserved word after it.
    pub(super) fn condition(&mut self, list: &'a List, word: &str) {
        self.lines(list, true, true);
        let separated =
            self.out.last() == Some(&b';') || list.statements.last().is_some_and(|last| last.background);
        self.text(if separated { " " } else { "; " });
        self.text(word);
    }

    fn statement(&mut self, statement: &'a Statement) {
        self.pipeline(&statement.first);
        for (connector, pipeline) in &statement.rest {
            self.text(if *connector == Connector::And { " && " } else { " || " });
            if !self.pending.is_empty() {
                self.newline();
                self.text(" ");
            }
            self.pipeline(pipeline);
            self.flush_here_documents();
        }
        if statement.background {
            self.text(" &");
        }
    }

    fn pipeline(&mut self, pipeline: &'a Pipeline) {
        match pipeline.time {
            Some(TimeFormat::Posix) => self.text("time -p "),
            Some(TimeFormat::Default) => self.text("time "),
            None => {}
        }
        if pipeline.negated {
            self.text("! ");
        } else if pipeline.time.is_none() && pipeline.stages.is_empty() {
            self.text("! !");
        }
        for (index, stage) in pipeline.stages.iter().enumerate() {
            if let Some(previous) = index.checked_sub(1).map(|previous| &pipeline.stages[previous]) {
                self.text(if merges_stderr(previous) { " |&" } else { " |" });
                if self.pending.is_empty() {
                    self.text(" ");
                } else {
                    self.newline();
                    self.text("  ");
                }
            }
            self.command(stage);
        }
    }

    pub(super) fn command(&mut self, command: &'a Command) {
        let start = self.out.len();
        let mut redirects = command.redirects.iter().filter(|_| !merges_stderr(command));
        match &command.kind {
            CommandKind::Simple(simple) => {
                if self.style == PrintStyle::Exact
                    && begins_with_reserved(simple)
                    && let Some(first) = redirects.next()
                {
                    self.redirect(first);
                    self.text(" ");
                }
                self.simple(simple);
            }
            kind => self.compound(kind),
        }
        for redirect in redirects {
            self.documents = false;
            if self.out.len() > start {
                self.text(" ");
            }
            self.redirect(redirect);
        }
    }

    fn simple(&mut self, simple: &'a SimpleCommand) {
        let start = self.out.len();
        for assignment in &simple.assignments {
            self.separate(start);
            self.assignment(assignment);
        }
        for argument in &simple.arguments {
            self.separate(start);
            match argument {
                Argument::Word(word) => self.word(word),
                Argument::Assignment(assignment) => self.assignment(assignment),
                Argument::Json(json) => self.words(&json.words),
            }
        }
    }

    /// Writes a blank unless nothing was written since `start`.
    fn separate(&mut self, start: usize) {
        if self.out.len() > start {
            self.text(" ");
        }
    }

    fn assignment(&mut self, assignment: &'a Assignment) {
        self.out.extend_from_slice(&assignment.name);
        self.subscript(assignment.subscript.as_deref());
        self.text(if assignment.append { "+=" } else { "=" });
        match &assignment.value {
            AssignmentValue::Word(word) => self.word(word),
            AssignmentValue::Array(elements) => {
                self.text("(");
                for (index, element) in elements.iter().enumerate() {
                    if index > 0 {
                        self.text(" ");
                    }
                    if element.subscript.is_some() {
                        self.subscript(element.subscript.as_deref());
                        self.text(if element.append { "+=" } else { "=" });
                    }
                    self.word(&element.value);
                }
                self.text(")");
            }
        }
    }
}

/// Whether the redirection of a stage must be written as `|&`. After a function definition or `coproc`, any
/// other redirection would belong to its body.
fn merges_stderr(stage: &Command) -> bool {
    let holds = matches!(stage.kind, CommandKind::Function(_) | CommandKind::Coprocess(_));
    holds && !stage.redirects.is_empty()
}

/// Whether the first word would be a reserved word at the start of the command, or the second one after
/// `coproc`.
fn begins_with_reserved(simple: &SimpleCommand) -> bool {
    let mut first = simple.arguments.iter().take(2).filter_map(|argument| argument.word()?.plain());
    simple.assignments.is_empty() && first.any(is_reserved)
}

/// Whether the list ends with `!` or `time` alone, after which a parenthesis is not allowed.
pub(super) fn ends_bare(list: &List) -> bool {
    list.statements.last().is_some_and(|statement| {
        let last = statement.rest.last().map_or(&statement.first, |(_, pipeline)| pipeline);
        !statement.background && last.stages.is_empty()
    })
}
