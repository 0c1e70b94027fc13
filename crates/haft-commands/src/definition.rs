//! A descriptor and a function, as a command of the kernel.

use haft_kernel::builtins::Context;
use haft_kernel::{Argument, Bytes, Command, FanOut, Flow, Role, Session};

use crate::arguments::CommandArguments;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, ParameterKind};
use crate::error::Error;

/// What runs, with arguments that are right: the words, and how many of them were options.
type RunFunction = fn(&mut Context<'_>, &CommandArguments, &[Bytes]) -> Flow;

/// Whether, with these operands, a program is to run instead.
type StepsAside = fn(&mut Session, &CommandArguments, &[Bytes]) -> bool;

/// A command: its descriptor and what it does.
#[derive(Debug)]
pub(crate) struct CommandDefinition {
    pub(crate) descriptor: &'static CommandDescriptor,
    pub(crate) run: RunFunction,
    /// The status of wrong usage.
    pub(crate) usage: i32,
    pub(crate) role: Role,
    pub(crate) fan_out: Option<fn(&mut Context<'_>, &FanOut<'_>) -> Flow>,
    /// Where among the operands the command that it runs begins.
    pub(crate) command_at: fn(&[Bytes]) -> usize,
    /// Whether, given operands, a program of its name is to run in its place.
    pub(crate) steps_aside: Option<StepsAside>,
}

impl CommandDefinition {
    /// A command that stands alone.
    pub(crate) const fn new(descriptor: &'static CommandDescriptor, run: RunFunction) -> Self {
        Self {
            descriptor,
            run,
            usage: 2,
            role: Role::Stage,
            fan_out: None,
            command_at: |_| 0,
            steps_aside: None,
        }
    }
}

/// Says what is wrong with the arguments of the command that runs.
pub(crate) fn report_usage_error(context: &mut Context<'_>, error: &Error) {
    context.error(error);
    if let Some(hint) = error.advice() {
        let _ = context.session.write(2, format!("hint: {hint}\n").as_bytes());
        let _ = context.session.flush();
    }
}

impl Command for CommandDefinition {
    fn name(&self) -> &str {
        self.descriptor.name
    }

    fn run(&self, context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
        let parsed = CommandArguments::parse(self.descriptor, context.typed(arguments));
        match parsed {
            Ok(parsed) if parsed.wants_help => context.print(crate::help(self.descriptor).as_bytes()),
            Ok(parsed) => (self.run)(context, &parsed, arguments),
            Err(error) => {
                report_usage_error(context, &error);
                Ok(self.usage)
            }
        }
    }

    fn takes_values(&self, session: &mut Session, before: &[Bytes]) -> bool {
        if self.descriptor.style == ArgumentStyle::Typed {
            return true;
        }
        let parsed = CommandArguments::parse(self.descriptor, before.iter().map(Argument::Word));
        let Ok(parsed) = parsed else { return false };
        let operands = &before[parsed.options..];
        match operands.get((self.command_at)(operands)..) {
            Some(words) if !words.is_empty() => session.takes_values(words),
            _ => false,
        }
    }

    fn steps_aside(&self, session: &mut Session, arguments: &[Bytes]) -> bool {
        let Some(steps_aside) = self.steps_aside else { return false };
        match CommandArguments::parse(self.descriptor, arguments.iter().map(Argument::Word)) {
            Ok(parsed) => parsed.wants_help || steps_aside(session, &parsed, &arguments[parsed.options..]),
            Err(_) => true,
        }
    }

    fn role(&self) -> Role {
        self.role
    }

    fn fan_out(&self, context: &mut Context<'_>, fan: &FanOut<'_>) -> Flow {
        self.fan_out.map_or(Ok(2), |fan_out| fan_out(context, fan))
    }

    fn parameters(&self) -> Vec<String> {
        let typed = self.descriptor.style == ArgumentStyle::Typed;
        let word = |parameter: &CommandParameter| match typed && parameter.kind != ParameterKind::Flag {
            true => format!("{}=", parameter.name),
            false => format!("--{}", parameter.name),
        };
        self.descriptor.parameters.iter().map(word).collect()
    }

    fn synopsis(&self) -> String {
        crate::synopsis(self.descriptor)
    }

    fn summary(&self) -> &str {
        self.descriptor.summary
    }

    fn help(&self) -> String {
        crate::help(self.descriptor)
    }
}
