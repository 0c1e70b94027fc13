//! Commands that run scripts, files or their arguments.

use crate::script::Script;

use super::build::{PlanBuilder, StepContext};
use super::directory::TrackedDirectory;
use super::show;
use super::step::{
    Expansion, FileUse, FileUseMode, OpaqueReason, PlanStep, PlannedWord, StepRole, UsedBy, WordPiece,
};
use super::{words, wrapper};

/// Shells that run `-c TEXT`, a file or standard input.
const SHELLS: &[&[u8]] = &[b"sh", b"bash", b"dash", b"ash", b"ksh", b"mksh", b"zsh", b"rbash", b"busybox"];

/// Options of these shells that take a value.
const SHELL_VALUES: &[&[u8]] = &[b"-o", b"+o", b"-O", b"+O", b"--rcfile", b"--init-file"];

/// Maximum number of steps between two stages of a pipeline.
const MAX_STEPS_BETWEEN_STAGES: usize = 64;

/// Whether a program with this name is a shell.
pub(crate) fn is_shell(name: &[u8]) -> bool {
    SHELLS.contains(&name)
}

/// Whether the command is `uv run`, which runs arbitrary programs.
fn is_uv_run(name: &[u8], arguments: &[PlannedWord]) -> bool {
    name == b"uv" && arguments.iter().any(|argument| argument.literal() == Some(b"run"))
}

impl PlanBuilder<'_> {
    /// Plans the commands that a command with these arguments runs.
    pub(super) fn invoke(&mut self, index: usize, argv: &[PlannedWord], context: &StepContext<'_>) {
        self.command_files(index, argv);
        let Some((first, arguments)) = argv.split_first() else { return };
        if self.moves && self.steps[index].is_function_call() {
            self.directory = TrackedDirectory::unknown();
        }
        let Some(name) = first.literal() else {
            return self.opaque(index, OpaqueReason::CommandName, show::source(first).as_bytes());
        };
        let base = name.rsplit(|byte| *byte == b'/').next().unwrap_or(name);
        if self.haft_command(index, base, arguments, context) {
            return;
        }
        if let Some(wrapper) = wrapper::find(base) {
            self.wrapped(index, wrapper, arguments, context);
        } else if SHELLS.contains(&base) {
            self.in_subshell(|builder| builder.shell(index, base, arguments, context));
        } else if base == b"find" {
            self.find_actions(index, arguments, context);
        } else if matches!(base, b"parallel" | b"run-parts" | b"start-stop-daemon")
            || is_uv_run(base, arguments)
        {
            self.opaque(index, OpaqueReason::WrapperOptions, show::sources(arguments).as_bytes());
        } else if matches!(base, b"at" | b"batch") {
            self.opaque(index, OpaqueReason::ScriptInput, b"");
        } else if base == name && crate::resolve::is_builtin(name) {
            self.builtin(index, name, arguments, context);
        } else {
            self.program(index, base, arguments, context);
        }
    }

    /// Adds a step for a command in the arguments of the step at `index`.
    pub(super) fn run_arguments(
        &mut self,
        index: usize,
        argv: Vec<PlannedWord>,
        role: StepRole,
        context: &StepContext<'_>,
    ) {
        let Some(context) = context.below(index, role).followed() else {
            return self.opaque(index, OpaqueReason::UnreadableText, show::sources(&argv).as_bytes());
        };
        let action = self.action(&argv);
        let (span, line) = (self.steps[index].span, self.steps[index].line);
        let inner = self.add(action, Vec::new(), span, line, &context);
        self.invoke(inner, &argv, &context);
        self.steps[inner].argv = argv;
    }

    /// Plans a text that is run as a script.
    pub(super) fn run_text(
        &mut self,
        index: usize,
        text: &PlannedWord,
        role: StepRole,
        context: &StepContext<'_>,
    ) {
        let Some(literal) = text.literal() else {
            return self.opaque(index, OpaqueReason::ScriptText, show::source(text).as_bytes());
        };
        let Some(context) = context.below(index, role).followed() else {
            return self.opaque(index, OpaqueReason::UnreadableText, literal);
        };
        let script = Script::parse(literal, &self.options);
        if script.error().is_some() {
            self.opaque(index, OpaqueReason::UnreadableText, literal);
        }
        let context = context.within(literal, &self.steps[index]);
        self.list(&script.program().body, &context);
    }

    /// Plans the arguments of `eval`, joined with blanks.
    pub(super) fn run_joined(
        &mut self,
        index: usize,
        arguments: &[PlannedWord],
        role: StepRole,
        context: &StepContext<'_>,
    ) {
        let arguments = match arguments {
            [] => return,
            [only] => return self.run_text(index, only, role, context),
            _ => arguments,
        };
        let known: Option<Vec<&[u8]>> = arguments.iter().map(PlannedWord::literal).collect();
        let text = match known {
            Some(texts) => words::known(&texts.join(&b' ')),
            None => PlannedWord { pieces: vec![dynamic(Expansion::Parameter, arguments)], several: true },
        };
        self.run_text(index, &text, role, context);
    }

    /// Plans `sh -c TEXT`, `sh FILE` and `sh`.
    pub(super) fn shell(
        &mut self,
        index: usize,
        name: &[u8],
        arguments: &[PlannedWord],
        context: &StepContext<'_>,
    ) {
        let arguments = match (name, arguments) {
            (b"busybox", [applet, rest @ ..])
                if applet.literal().is_some_and(|name| SHELLS.contains(&name)) =>
            {
                rest
            }
            (b"busybox", _) => {
                return self.run_arguments(index, arguments.to_vec(), StepRole::Wrapped, context);
            }
            _ => arguments,
        };
        let context = context.subshell();
        let mut rest = arguments.iter();
        let mut from_text = false;
        while let Some(argument) = rest.next() {
            let Some(option) = argument.literal() else {
                if from_text && !argument.several {
                    return self.run_text(index, argument, StepRole::Script, &context);
                }
                // An unknown argument may be an option or an operand.
                return self.opaque(index, OpaqueReason::ScriptText, show::sources(arguments).as_bytes());
            };
            let is_option = option.len() > 1 && matches!(option[0], b'-' | b'+') && option != b"--";
            if SHELL_VALUES.contains(&option) {
                rest.next();
            } else if is_option && option == b"--version" || option == b"--help" {
                return;
            } else if is_option {
                from_text |= option[0] == b'-' && option[1] != b'-' && option.contains(&b'c');
                if option.contains(&b's') && option[1] != b'-' {
                    return self.run_input(index, &context);
                }
            } else {
                let operand = if matches!(option, b"--" | b"-") { rest.next() } else { Some(argument) };
                return self.shell_operand(index, operand, from_text, &context);
            }
        }
        self.shell_operand(index, None, from_text, &context);
    }

    fn shell_operand(
        &mut self,
        index: usize,
        operand: Option<&PlannedWord>,
        from_text: bool,
        context: &StepContext<'_>,
    ) {
        match operand {
            Some(text) if from_text => self.run_text(index, text, StepRole::Script, context),
            Some(file) => self.opaque(index, OpaqueReason::ScriptFile, show::source(file).as_bytes()),
            None => self.run_input(index, context),
        }
    }

    /// Plans the script that a shell reads from standard input, if it is a here-document, a here-string or known output.
    fn run_input(&mut self, index: usize, context: &StepContext<'_>) {
        match self.input(index).or_else(|| self.piped(index)) {
            Some(text) => self.run_text(index, &text, StepRole::Script, context),
            None => self.opaque(index, OpaqueReason::ScriptInput, b""),
        }
    }

    /// Returns the here-document or here-string that is the standard input of a step or of its wrapper.
    fn input(&self, index: usize) -> Option<PlannedWord> {
        let step = &self.steps[index];
        let is_input = |file: &&FileUse| match file.descriptor.as_deref() {
            _ if file.by == UsedBy::Command => false,
            None => !matches!(file.mode, FileUseMode::Write | FileUseMode::Append),
            Some(descriptor) => descriptor == "0",
        };
        match step.files.iter().rev().find(is_input) {
            Some(file) if matches!(file.mode, FileUseMode::HereDocument | FileUseMode::HereString) => {
                file.target.literal().map(super::words::known)
            }
            None if step.role == StepRole::Wrapped => self.input(step.parent?),
            _ => None,
        }
    }

    /// Returns the output of the previous stage if it is known, as in `echo TEXT | sh`.
    fn piped(&self, index: usize) -> Option<PlannedWord> {
        let step = &self.steps[index];
        if step.files.iter().any(|file| file.by == UsedBy::Redirection) {
            return None;
        }
        match step.stage {
            Some(stage) if stage.number > 1 => {
                let is_before = |before: &&PlanStep| {
                    before.parent == step.parent
                        && before.stage.is_some_and(|other| other.number + 1 == stage.number)
                };
                let nearest = self.steps[..index].iter().rev().take(MAX_STEPS_BETWEEN_STAGES);
                printed_text(nearest.into_iter().find(is_before)?).map(|text| words::known(&text))
            }
            _ if step.role == StepRole::Wrapped => self.piped(step.parent?),
            _ => None,
        }
    }

    /// Plans `find … -exec COMMAND … ;`.
    fn find_actions(&mut self, index: usize, arguments: &[PlannedWord], context: &StepContext<'_>) {
        const ACTIONS: [&[u8]; 4] = [b"-exec", b"-execdir", b"-ok", b"-okdir"];
        let mut rest = arguments;
        while let Some((argument, after)) = rest.split_first() {
            rest = after;
            if !argument.literal().is_some_and(|word| ACTIONS.contains(&word)) {
                continue;
            }
            let end = |item: &PlannedWord| matches!(item.literal(), Some(b";" | b"+"));
            let length = after.iter().position(end).unwrap_or(after.len());
            let argv = after[..length].iter().map(|item| placeholders(item, b"{}")).collect();
            self.run_arguments(index, argv, StepRole::Wrapped, &context.repeated());
            rest = &after[length..];
        }
        // A word that may expand to another action.
        let open = |item: &&PlannedWord| item.several && item.prefix().is_empty();
        if let Some(argument) = arguments.iter().find(open) {
            self.opaque(index, OpaqueReason::WrapperOptions, show::source(argument).as_bytes());
        }
    }
}

/// Returns the output of `echo`, `printf` or `cat` if it is known.
fn printed_text(step: &PlanStep) -> Option<Vec<u8>> {
    let name = step.argv.first().filter(|_| !step.is_function_call())?.literal()?;
    let arguments: Vec<&[u8]> = step.argv[1..].iter().map(PlannedWord::literal).collect::<Option<_>>()?;
    match (name, step.files.as_slice(), arguments.as_slice()) {
        (b"echo", [], [b"-n", words @ ..] | words) if !has_options(words) => Some(words.join(&b' ')),
        (b"printf", [], [b"%s" | b"%s\\n", words @ ..]) => Some(words.join(&b'\n')),
        (b"printf", [], [format]) if !format.contains(&b'%') => plain_lines(format),
        (b"cat", [file], []) if matches!(file.mode, FileUseMode::HereDocument | FileUseMode::HereString) => {
            file.target.literal().map(<[u8]>::to_vec)
        }
        _ => None,
    }
}

fn has_options(words: &[&[u8]]) -> bool {
    words.first().is_some_and(|word| word.starts_with(b"-"))
}

/// Returns the output for a `printf` format that contains no escape but `\n`.
fn plain_lines(format: &[u8]) -> Option<Vec<u8>> {
    let mut text = Vec::with_capacity(format.len());
    let mut bytes = format.iter();
    while let Some(&byte) = bytes.next() {
        match byte {
            b'\\' if bytes.next() == Some(&b'n') => text.push(b'\n'),
            b'\\' => return None,
            byte => text.push(byte),
        }
    }
    Some(text)
}

/// Marks a word as dynamic if it contains a placeholder such as `{}`.
pub(super) fn placeholders(item: &PlannedWord, mark: &[u8]) -> PlannedWord {
    let Some(text) = item.literal() else { return item.clone() };
    if mark.is_empty() || memchr::memmem::find(text, mark).is_none() {
        return item.clone();
    }
    let by = Expansion::Input;
    PlannedWord { pieces: vec![WordPiece::Dynamic { by, source: text.into() }], several: text == mark }
}

/// Creates a piece for several words.
fn dynamic(by: Expansion, items: &[PlannedWord]) -> WordPiece {
    WordPiece::Dynamic { by, source: show::sources(items).as_bytes().into() }
}

/// Creates the word for arguments that a wrapper adds.
pub(super) fn input(source: &[u8]) -> PlannedWord {
    PlannedWord {
        pieces: vec![WordPiece::Dynamic { by: Expansion::Input, source: source.into() }],
        several: true,
    }
}
