//! Fan-outs within a pipeline.

use std::sync::Arc;

use haft_lang::ast::{Command, CommandKind, Pipeline};
use haft_text::Bytes;

use super::parameters::ExecutionParameters;
use crate::command::Context;
use crate::fan::{FanOut, Role};
use crate::flow::Flow;
use crate::options::SetOption;
use crate::session::Session;
use crate::supervision::{StageKind, StageRecorder};

/// Checks that fan-outs are complete. The error is the index of the first wrong stage, and a message.
fn check(roles: &[Role]) -> Result<(), (usize, String)> {
    let mut open: Option<(usize, &'static str)> = None;
    for (index, role) in roles.iter().enumerate() {
        match (*role, open) {
            (Role::Stage, _) => {}
            (Role::Opens(closer), None) => open = Some((index, closer)),
            (Role::Opens(_), Some((_, closer))) => {
                return Err((index, format!("starts a fan-out before the '{closer}' of the previous one")));
            }
            (Role::Closes(_), Some((first, _))) if index > first + 1 => open = None,
            (Role::Closes(opener), Some(_)) => {
                return Err((index, format!("needs a stage after '{opener}'")));
            }
            (Role::Closes(opener), None) => {
                return Err((index, format!("needs '{opener}' before it in the pipeline")));
            }
        }
    }
    match open {
        Some((index, closer)) => Err((index, format!("needs '{closer}' after it in the pipeline"))),
        None => Ok(()),
    }
}

impl Session {
    /// The role of a command in a fan-out, as far as its name tells before it is expanded.
    pub(crate) fn role(&self, command: &Command) -> Role {
        let CommandKind::Simple(simple) = &command.kind else { return Role::Stage };
        let Some(name) = simple.name() else { return Role::Stage };
        match self.kernel.added(name) {
            Some(added) if self.function(name).is_none() && self.find_builtin(name).is_none() => added.role(),
            _ => Role::Stage,
        }
    }

    /// The last stage of the fan-out that the stage at `index` opens, or `index` if it opens none.
    pub(crate) fn fan_end(&self, stages: &[Command], index: usize) -> usize {
        if !matches!(self.role(&stages[index]), Role::Opens(_)) {
            return index;
        }
        let closes = |stage| matches!(self.role(stage), Role::Closes(_));
        stages[index..].iter().position(closes).map_or(index, |distance| index + distance)
    }

    /// Whether the fan-outs of a pipeline are complete. Reports the error if not; the pipeline must not run then.
    pub(crate) fn has_whole_fans(&mut self, stages: &[Command]) -> bool {
        let roles: Vec<Role> = stages.iter().map(|stage| self.role(stage)).collect();
        let Err((index, problem)) = check(&roles) else { return true };
        let name = match &stages[index].kind {
            CommandKind::Simple(simple) => Bytes::from(simple.name().unwrap_or_default()),
            _ => Bytes::new(),
        };
        self.calls.set_line(stages[index].line);
        self.report(format_args!("{name}: {problem}"));
        false
    }

    /// Runs a fan-out, which the first of the stages opens and the last one closes.
    pub(crate) fn run_fan(&mut self, stages: &[Command], record: Option<&mut StageRecorder>) -> Flow {
        let [first, between @ .., last] = stages else { return Ok(2) };
        let (CommandKind::Simple(opens), CommandKind::Simple(closes)) = (&first.kind, &last.kind) else {
            return Ok(2);
        };
        self.calls.set_line(first.line);
        let opening = self.expand_arguments(opens)?;
        let closing = self.expand_arguments(closes)?;
        let Some(command) = opening.words.first().and_then(|name| self.kernel.added(name)) else {
            return Ok(2);
        };
        if let Some(record) = record {
            record.identify(StageKind::Command, &closing.words);
        }
        let base = self.fork();
        let mut source = self.fork();
        if source.redirect(&first.redirects)?.is_none() || self.redirect(&last.redirects)?.is_none() {
            return Ok(1);
        }
        if self.options.has(SetOption::Trace) {
            self.trace_words(&opening.words)?;
            self.trace_words(&closing.words)?;
        }
        let body = Pipeline { span: first.span, negated: false, time: None, stages: between.to_vec().into() };
        let fan = FanOut {
            opening: &opening.words[1..],
            closing: &closing.words[1..],
            input: source.open_files.get(0).cloned(),
            base,
            body: Arc::new(body),
        };
        drop(source);
        let mut context = Context::of(self, command.name().as_bytes());
        command.fan_out(&mut context, &fan)
    }

    /// Runs the stages of a branch.
    pub(crate) fn run_branch(&mut self, body: &Pipeline) -> Flow {
        match &*body.stages {
            [only] => self.run_command(only, ExecutionParameters::default(), None),
            _ => self.run_piped(body, false),
        }
    }
}
