//! haft's own commands that run other commands: `spawn`, `tool bash` and `haft` itself.

use super::build::{PlanBuilder, StepContext};
use super::step::{OpaqueReason, PlannedWord, StepRole};
use super::{show, words};

/// Tools that run their `command` argument.
const RUNNING_TOOLS: [&[u8]; 2] = [b"bash", b"process_start"];

/// Returns the value of `name=value`, `--name value` or `--name=value`; an error if it is not literal.
fn parameter(arguments: &[PlannedWord], name: &str) -> Option<Result<PlannedWord, PlannedWord>> {
    let long = format!("--{name}");
    let assigned = [format!("{name}="), format!("{long}=")];
    for (at, argument) in arguments.iter().enumerate() {
        if argument.literal() == Some(long.as_bytes()) {
            return arguments.get(at + 1).cloned().map(Ok);
        }
        let Some(start) = assigned.iter().find(|start| argument.prefix().starts_with(start.as_bytes()))
        else {
            continue;
        };
        return Some(match argument.literal() {
            Some(text) => Ok(words::known(&text[start.len()..])),
            None => Err(argument.clone()),
        });
    }
    None
}

impl PlanBuilder<'_> {
    /// Plans one of these commands. Returns false for any other command.
    pub(super) fn haft_command(
        &mut self,
        index: usize,
        name: &[u8],
        arguments: &[PlannedWord],
        context: &StepContext<'_>,
    ) -> bool {
        match name {
            b"spawn" => self.spawn(index, arguments, context),
            b"tool" => self.tool(index, arguments, context),
            b"haft" => self.haft(index, arguments, context),
            _ => return false,
        }
        true
    }

    /// Plans the program of `spawn command=PROGRAM argv=[…]`. Its arguments are not examined.
    fn spawn(&mut self, index: usize, arguments: &[PlannedWord], context: &StepContext<'_>) {
        match parameter(arguments, "command") {
            Some(Ok(program)) => {
                self.run_arguments(index, vec![program], StepRole::Wrapped, &context.subshell());
                if arguments.iter().any(|argument| argument.prefix().starts_with(b"argv")) {
                    self.opaque(index, OpaqueReason::WrapperOptions, show::sources(arguments).as_bytes());
                }
            }
            _ => self.opaque(index, OpaqueReason::WrapperOptions, show::sources(arguments).as_bytes()),
        }
    }

    /// Plans `tool NAME …`. Some tools run a script.
    fn tool(&mut self, index: usize, arguments: &[PlannedWord], context: &StepContext<'_>) {
        let Some((name, arguments)) = arguments.split_first() else { return };
        match name.literal() {
            None => self.opaque(index, OpaqueReason::CommandName, show::source(name).as_bytes()),
            Some(name) if !RUNNING_TOOLS.contains(&name) => {}
            Some(_) => match parameter(arguments, "command") {
                Some(Ok(text)) => self.run_text(index, &text, StepRole::Script, &context.subshell()),
                _ => self.opaque(index, OpaqueReason::ScriptText, show::sources(arguments).as_bytes()),
            },
        }
    }

    /// Plans `haft run -c TEXT`, `haft spawn -- COMMAND` and similar commands. `haft -c TEXT` and `haft FILE`
    /// are shells.
    fn haft(&mut self, index: usize, arguments: &[PlannedWord], context: &StepContext<'_>) {
        let Some((first, rest)) = arguments.split_first() else {
            return self.shell(index, b"bash", arguments, context);
        };
        let literal = |item: &PlannedWord, text: &[u8]| item.literal() == Some(text);
        let after = |text: &[u8]| rest.iter().position(|item| literal(item, text)).map(|at| &rest[at + 1..]);
        let unsure = |builder: &mut Self| {
            builder.opaque(index, OpaqueReason::WrapperOptions, show::sources(arguments).as_bytes());
        };
        match first.literal() {
            Some(b"run") => match after(b"-c").and_then(<[PlannedWord]>::first) {
                Some(text) => self.run_text(index, text, StepRole::Script, &context.subshell()),
                None => unsure(self),
            },
            Some(b"spawn" | b"exec") => match after(b"--") {
                Some(command) => {
                    self.run_arguments(index, command.to_vec(), StepRole::Wrapped, &context.subshell());
                }
                None => unsure(self),
            },
            Some(b"tool") => match rest.split_first() {
                Some((call, rest)) if literal(call, b"call") => self.tool(index, rest, context),
                Some((batch, _)) if literal(batch, b"batch") => unsure(self),
                _ => {}
            },
            Some(b"launch") | None => unsure(self),
            Some(b"check" | b"plan" | b"trust" | b"mcp" | b"help" | b"--help" | b"--version") => {}
            Some(_) => self.shell(index, b"bash", arguments, context),
        }
    }
}
