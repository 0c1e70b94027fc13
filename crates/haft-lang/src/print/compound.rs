//! Compound commands.

use crate::ast::{
    Arithmetic, ArithmeticFor, Case, CaseEnd, Command, CommandKind, Conditional, ConditionalKind, Function,
    If, List, Word,
};

use super::command::ends_bare;
use super::{PrintStyle, Printer};

impl<'a> Printer<'a> {
    pub(super) fn compound(&mut self, kind: &'a CommandKind) {
        match kind {
            CommandKind::Simple(_) => {}
            CommandKind::Group(list) => self.group(list),
            CommandKind::Subshell(list) => {
                self.text("( ");
                self.statements(list, false);
                if !self.pending.is_empty() {
                    self.newline();
                }
                self.text(if ends_bare(list) { "; )" } else { " )" });
            }
            CommandKind::If(command) => self.if_command(command, 0),
            CommandKind::For(command) => {
                self.text("for ");
                self.loop_head(&command.name, command.words.as_deref());
                self.do_lines(&command.body);
            }
            CommandKind::Select(command) => {
                self.text("select ");
                self.loop_head(&command.name, command.words.as_deref());
                self.do_lines(&command.body);
            }
            CommandKind::ArithmeticFor(command) => self.arithmetic_for(command),
            CommandKind::Loop(command) => {
                self.text(if command.until { "until " } else { "while " });
                self.condition(&command.condition, "do");
                self.indented(|printer| printer.statements(&command.body, true));
                self.text("done");
            }
            CommandKind::Case(command) => self.case_command(command),
            CommandKind::Conditional(expression) => {
                self.text("[[ ");
                self.conditional(expression);
                self.text(" ]]");
            }
            CommandKind::Arithmetic(arithmetic) => {
                self.text("((");
                self.quoted_word(&arithmetic.text);
                self.text("))");
            }
            CommandKind::Function(function) => self.function(function),
            CommandKind::Coprocess(coprocess) => {
                self.text("coproc ");
                match &coprocess.name {
                    Some(name) => self.out.extend_from_slice(name),
                    None if self.style == PrintStyle::Bash => self.text("COPROC"),
                    None => {}
                }
                if coprocess.name.is_some() || self.style == PrintStyle::Bash {
                    self.text(" ");
                }
                self.command(&coprocess.body);
            }
        }
    }

    fn group(&mut self, list: &'a List) {
        self.text("{ ");
        if self.flat {
            self.statements(list, true);
            return self.text(if self.out.ends_with(b"\n") { "}" } else { " }" });
        }
        self.indented(|printer| printer.statements(list, false));
        self.text("}");
    }

    fn function(&mut self, function: &'a Function) {
        self.text("function ");
        self.name(&function.name);
        self.function_body(function);
        self.documents = false;
    }

    pub(super) fn function_body(&mut self, function: &'a Function) {
        let flat = std::mem::take(&mut self.flat);
        self.function_lines(function);
        self.flat = flat;
    }

    fn function_lines(&mut self, function: &'a Function) {
        self.text(" () ");
        self.next_line();
        let body: &Command = &function.body;
        if self.style == PrintStyle::Exact || matches!(body.kind, CommandKind::Group(_)) {
            return self.command(body);
        }
        self.text("{ ");
        self.indented(|printer| printer.command(body));
        self.text("}");
    }

    /// Prints the branches from `first` on.
    fn if_command(&mut self, command: &'a If, first: usize) {
        let Some(branch) = command.branches.get(first) else { return };
        self.text("if ");
        self.condition(&branch.condition, "then");
        self.indented(|printer| printer.statements(&branch.body, true));
        if self.style == PrintStyle::Exact {
            for branch in command.branches.iter().skip(first + 1) {
                self.text("elif ");
                self.condition(&branch.condition, "then");
                self.indented(|printer| printer.statements(&branch.body, true));
            }
        } else if command.branches.len() > first + 1 {
            self.text("else");
            self.indented(|printer| {
                printer.if_command(command, first + 1);
                printer.text(";");
            });
            return self.text("fi");
        }
        if let Some(list) = &command.otherwise {
            self.text("else");
            self.indented(|printer| printer.statements(list, true));
        }
        self.text("fi");
    }

    fn loop_head(&mut self, name: &[u8], words: Option<&'a [Word]>) {
        self.name(name);
        match words {
            Some(words) => {
                self.text(" in ");
                self.words(words);
                self.text(";");
            }
            None if self.style == PrintStyle::Bash => self.text(" in \"$@\";"),
            None => {}
        }
    }

    /// Prints `do … done` on separate lines.
    fn do_lines(&mut self, body: &'a List) {
        self.next_line();
        self.text("do");
        self.indented(|printer| printer.statements(body, true));
        self.text("done");
    }

    fn arithmetic_for(&mut self, command: &'a ArithmeticFor) {
        let sections: [Option<&'a Arithmetic>; 3] =
            [command.initial.as_ref(), command.condition.as_ref(), command.update.as_ref()];
        self.text("for ((");
        for (index, section) in sections.into_iter().enumerate() {
            if index > 0 {
                self.text(if self.style == PrintStyle::Bash { "; " } else { ";" });
            }
            let start = self.out.len();
            match section {
                Some(section) => self.quoted_word(&section.text),
                None if self.style == PrintStyle::Bash => self.text("1"),
                None => {}
            }
            if self.style == PrintStyle::Bash {
                let blanks = self.out[start..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
                self.out.drain(start..start + blanks);
            }
        }
        self.text("))");
        self.do_lines(&command.body);
    }

    fn case_command(&mut self, command: &'a Case) {
        self.text("case ");
        self.word(&command.subject);
        self.text(" in ");
        self.indent += super::INDENT_WIDTH;
        for clause in &command.clauses {
            self.next_line();
            // Without the parenthesis, the pattern `esac` would end the command.
            let ends = self.style == PrintStyle::Exact
                && clause.patterns.first().and_then(Word::plain) == Some(b"esac");
            self.text(if ends { "(" } else { "" });
            for (index, pattern) in clause.patterns.iter().enumerate() {
                self.text(if index > 0 { " | " } else { "" });
                self.word(pattern);
            }
            self.text(")");
            self.indent += super::INDENT_WIDTH;
            if clause.body.statements.is_empty() {
                self.newline();
            } else {
                self.next_line();
                self.statements(&clause.body, false);
            }
            self.indent -= super::INDENT_WIDTH;
            self.next_line();
            self.text(match clause.end {
                CaseEnd::Break => ";;",
                CaseEnd::FallThrough => ";&",
                CaseEnd::Continue => ";;&",
            });
        }
        self.indent -= super::INDENT_WIDTH;
        self.next_line();
        self.text("esac");
    }

    fn conditional(&mut self, expression: &'a Conditional) {
        match &expression.kind {
            ConditionalKind::Or(all) => self.chain(all, " || "),
            ConditionalKind::And(all) => self.chain(all, " && "),
            ConditionalKind::Not(inner) => {
                self.text("! ");
                self.conditional(inner);
            }
            ConditionalKind::Group(inner) => {
                self.text("( ");
                self.conditional(inner);
                self.text(" )");
            }
            ConditionalKind::Unary { test, operand } => {
                self.out.extend_from_slice(&[b'-', test.letter(), b' ']);
                self.word(operand);
            }
            ConditionalKind::Binary { test, left, right } => {
                self.word(left);
                self.text(" ");
                self.text(test.symbol());
                self.text(" ");
                self.word(right);
            }
            ConditionalKind::Word(word) => {
                if self.style == PrintStyle::Bash {
                    self.text("-n ");
                }
                self.word(word);
            }
        }
    }

    fn chain(&mut self, all: &'a [Conditional], operator: &str) {
        for (index, expression) in all.iter().enumerate() {
            self.text(if index > 0 { operator } else { "" });
            self.conditional(expression);
        }
    }

    /// Prints a name, quoted if necessary.
    fn name(&mut self, name: &[u8]) {
        let plain = |byte: &u8| byte.is_ascii_alphanumeric() || *byte >= 0x80 || b"_-.:+@%^/,".contains(byte);
        if self.style == PrintStyle::Bash
            || (!name.is_empty() && name.iter().all(plain))
            || name.first() == Some(&b'$')
        {
            self.out.extend_from_slice(name);
        } else {
            self.single_quoted(name);
        }
    }
}
