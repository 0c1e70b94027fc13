//! Turns a descriptor and a function into a command of the kernel.

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Command, FanOut, Flow, Role, Session};

use crate::arguments::CommandArguments;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, ParameterKind};
use crate::error::Error;
use crate::rows::JSON;
use crate::status::USAGE_ERROR;

/// Runs a command: its context, its parsed arguments, and all its words.
pub(crate) type RunFunction = fn(&mut Context<'_>, &CommandArguments, &[Bytes]) -> Flow;

/// Decides from parsed options and operands whether the program of the same name must run instead.
type StepsAside = fn(&mut Session, &CommandArguments, &[Bytes]) -> bool;

/// Rewrites arguments.
type Rewrite = fn(&[Bytes]) -> Option<Vec<Bytes>>;

/// A descriptor with the functions that implement the command.
#[derive(Debug)]
pub(crate) struct CommandDefinition {
    pub(crate) descriptor: &'static CommandDescriptor,
    pub(crate) run: RunFunction,
    /// The exit status for wrong usage.
    pub(crate) usage_status: i32,
    pub(crate) role: Role,
    pub(crate) fan_out: Option<fn(&mut Context<'_>, &FanOut<'_>) -> Flow>,
    /// The index, among the operands, of the command that this one runs.
    pub(crate) command_at: fn(&[Bytes]) -> usize,
    /// `None` if the command never defers to a program.
    pub(crate) steps_aside: Option<StepsAside>,
    /// The text before "Try …" in a message about usage.
    pub(crate) usage_line: &'static str,
    /// The name in messages about usage, if not that of the command.
    pub(crate) usage_name: Option<&'static str>,
    /// Whether errors in the arguments are worded as by GNU's programs.
    pub(crate) gnu_errors: bool,
    /// The programs that it can stand in for, if not that of the same name.
    pub(crate) programs: &'static [&'static str],
    /// Rewrites arguments in an old form, such as `head -5`. Returns `None` if they are not in that form.
    pub(crate) rewrite: Option<Rewrite>,
}

impl CommandDefinition {
    /// A command that never steps aside and takes no part in a fan-out.
    pub(crate) const fn new(descriptor: &'static CommandDescriptor, run: RunFunction) -> Self {
        Self {
            descriptor,
            run,
            usage_status: USAGE_ERROR,
            role: Role::Stage,
            fan_out: None,
            command_at: |_| 0,
            steps_aside: None,
            usage_line: "",
            usage_name: None,
            gnu_errors: false,
            programs: &[],
            rewrite: None,
        }
    }
}

impl CommandDefinition {
    fn run_parsed(
        &self,
        context: &mut Context<'_>,
        parsed: Result<CommandArguments, Error>,
        words: &[Bytes],
    ) -> Flow {
        match parsed {
            Ok(parsed) if parsed.wants_help => context.print(crate::help(self.descriptor).as_bytes()),
            Ok(parsed) if parsed.wants_version => context.print(self.version().as_bytes()),
            Ok(parsed) => (self.run)(context, &parsed, words),
            Err(error) if self.gnu_errors => {
                let (name, message) = (self.usage_name.unwrap_or(self.descriptor.name), error.gnu_message());
                let line = self.usage_line;
                let text = format!("{name}: {message}\n{line}Try '{name} --help' for more information.\n");
                context.print_error(text.as_bytes());
                context.flush();
                Ok(self.usage_status)
            }
            Err(error) => {
                report_usage_error(context, &error);
                Ok(self.usage_status)
            }
        }
    }

    fn version(&self) -> String {
        format!("{} (haft) {}\n", self.descriptor.name, env!("CARGO_PKG_VERSION"))
    }
}

/// Writes an argument error and its hint to standard error.
pub(crate) fn report_usage_error(context: &mut Context<'_>, error: &Error) {
    context.error(error);
    if let Some(hint) = error.advice() {
        context.print_error(format!("hint: {hint}\n").as_bytes());
        context.flush();
    }
}

impl Command for CommandDefinition {
    fn name(&self) -> &str {
        self.descriptor.name
    }

    fn run(&self, context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
        if let Some(words) = self.rewrite.and_then(|rewrite| rewrite(arguments)) {
            return self.run_parsed(context, CommandArguments::of_words(self.descriptor, &words), &words);
        }
        let parsed = CommandArguments::parse(self.descriptor, context.typed(arguments));
        self.run_parsed(context, parsed, arguments)
    }

    fn takes_values(&self, session: &mut Session, before: &[Bytes]) -> bool {
        match self.descriptor.style {
            ArgumentStyle::Typed => return true,
            ArgumentStyle::TypedCommand(_) => {
                return !CommandArguments::reach_command(self.descriptor, before);
            }
            ArgumentStyle::Gnu(_) | ArgumentStyle::GnuMixed(_) => {}
        }
        let parsed = CommandArguments::of_words(self.descriptor, before);
        let Ok(parsed) = parsed else { return false };
        let operands = &before[parsed.option_words..];
        match operands.get((self.command_at)(operands)..) {
            Some(words) if !words.is_empty() => session.takes_values(words),
            _ => false,
        }
    }

    fn steps_aside(&self, session: &mut Session, arguments: &[Bytes]) -> bool {
        let Some(steps_aside) = self.steps_aside else { return false };
        let rewritten = self.rewrite.and_then(|rewrite| rewrite(arguments));
        let arguments = rewritten.as_deref().unwrap_or(arguments);
        // Programs do not have the option. A plain shell shows their error.
        if arguments.iter().any(|word| *word == "--json")
            && CommandArguments::of_words(self.descriptor, arguments).is_ok_and(|parsed| parsed.flag(JSON))
        {
            return session.is_plain_shell();
        }
        match CommandArguments::of_words(self.descriptor, arguments) {
            Ok(parsed) => {
                parsed.wants_help
                    || parsed.wants_version
                    || parsed.has_abbreviation
                    || steps_aside(session, &parsed, &arguments[parsed.option_words..])
            }
            Err(_) => true,
        }
    }

    fn programs(&self) -> &[&str] {
        self.programs
    }

    fn role(&self) -> Role {
        self.role
    }

    fn fan_out(&self, context: &mut Context<'_>, fan_out: &FanOut<'_>) -> Flow {
        self.fan_out.map_or(Ok(USAGE_ERROR), |run| run(context, fan_out))
    }

    fn parameters(&self) -> Vec<String> {
        let typed = self.descriptor.style.is_typed();
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
