//! Commands that run what they are given: text, files, arguments.

use crate::script::read_script;

use super::build::{Builder, Place};
use super::directory::Directory;
use super::show;
use super::step::{Expansion, FileUse, Item, Mode, Piece, Reason, Role, UsedBy};
use super::{words, wrapper};

/// Shells that read `-c TEXT`, a file, or standard input.
const SHELLS: &[&[u8]] = &[b"sh", b"bash", b"dash", b"ash", b"ksh", b"mksh", b"zsh", b"rbash", b"busybox"];

/// Options of those shells that take a value of their own.
const SHELL_VALUES: &[&[u8]] = &[b"-o", b"+o", b"-O", b"+O", b"--rcfile", b"--init-file"];

/// Whether a program of this name is a shell.
pub(crate) fn is_shell(name: &[u8]) -> bool {
    SHELLS.contains(&name)
}

/// `uv run`, which runs programs of many kinds.
fn is_uv_run(name: &[u8], arguments: &[Item]) -> bool {
    name == b"uv" && arguments.iter().any(|argument| argument.literal() == Some(b"run"))
}

impl Builder<'_> {
    /// Follows what a command of these arguments runs in its turn.
    pub(super) fn invoke(&mut self, index: usize, argv: &[Item], place: &Place<'_>) {
        self.command_files(index, argv);
        let Some((first, arguments)) = argv.split_first() else { return };
        if self.moves && self.steps[index].is_function_call() {
            self.directory = Directory::unknown();
        }
        let Some(name) = first.literal() else {
            return self.opaque(index, Reason::CommandName, show::source(first).as_bytes());
        };
        let base = name.rsplit(|byte| *byte == b'/').next().unwrap_or(name);
        if self.own(index, base, arguments, place) {
            return;
        }
        if let Some(wrapper) = wrapper::find(base) {
            self.wrapped(index, wrapper, arguments, place);
        } else if SHELLS.contains(&base) {
            self.apart(|builder| builder.shell(index, base, arguments, place));
        } else if base == b"find" {
            self.found(index, arguments, place);
        } else if matches!(base, b"parallel" | b"run-parts" | b"start-stop-daemon")
            || is_uv_run(base, arguments)
        {
            self.opaque(index, Reason::WrapperOptions, show::sources(arguments).as_bytes());
        } else if matches!(base, b"at" | b"batch") {
            self.opaque(index, Reason::ScriptInput, b"");
        } else if base == name && crate::resolve::is_builtin(name) {
            self.builtin(index, name, arguments, place);
        } else {
            self.program(index, base, arguments, place);
        }
    }

    /// Adds a step for a command that stands in the arguments of the one at `index`.
    pub(super) fn run_arguments(&mut self, index: usize, argv: Vec<Item>, role: Role, place: &Place<'_>) {
        let Some(place) = place.below(index, role).followed() else {
            return self.opaque(index, Reason::UnreadableText, show::sources(&argv).as_bytes());
        };
        let action = self.action(&argv);
        let (span, line) = (self.steps[index].span, self.steps[index].line);
        let inner = self.add(action, Vec::new(), span, line, &place);
        self.invoke(inner, &argv, &place);
        self.steps[inner].argv = argv;
    }

    /// Plans text that is run as a script.
    pub(super) fn run_text(&mut self, index: usize, text: &Item, role: Role, place: &Place<'_>) {
        let Some(literal) = text.literal() else {
            return self.opaque(index, Reason::ScriptText, show::source(text).as_bytes());
        };
        let Some(place) = place.below(index, role).followed() else {
            return self.opaque(index, Reason::UnreadableText, literal);
        };
        let script = read_script(literal, &self.options);
        if script.error.is_some() {
            self.opaque(index, Reason::UnreadableText, literal);
        }
        let place = place.within(literal, &self.steps[index]);
        self.list(&script.program.body, &place);
    }

    /// `eval`, which joins its arguments.
    pub(super) fn run_joined(&mut self, index: usize, arguments: &[Item], role: Role, place: &Place<'_>) {
        let arguments = match arguments {
            [] => return,
            [only] => return self.run_text(index, only, role, place),
            _ => arguments,
        };
        let known: Option<Vec<&[u8]>> = arguments.iter().map(Item::literal).collect();
        let text = match known {
            Some(texts) => words::known(&texts.join(&b' ')),
            None => Item { pieces: vec![dynamic(Expansion::Parameter, arguments)], several: true },
        };
        self.run_text(index, &text, role, place);
    }

    /// `sh -c TEXT`, `sh FILE`, `sh`.
    pub(super) fn shell(&mut self, index: usize, name: &[u8], arguments: &[Item], place: &Place<'_>) {
        let arguments = match (name, arguments) {
            (b"busybox", [applet, rest @ ..])
                if applet.literal().is_some_and(|name| SHELLS.contains(&name)) =>
            {
                rest
            }
            (b"busybox", _) => return self.run_arguments(index, arguments.to_vec(), Role::Wrapped, place),
            _ => arguments,
        };
        let place = place.subshell();
        let mut rest = arguments.iter();
        let mut from_text = false;
        while let Some(argument) = rest.next() {
            let Some(option) = argument.literal() else {
                if from_text && !argument.several {
                    return self.run_text(index, argument, Role::Script, &place);
                }
                // What is only known later may be an option as well as what follows the options.
                return self.opaque(index, Reason::ScriptText, show::sources(arguments).as_bytes());
            };
            let is_option = option.len() > 1 && matches!(option[0], b'-' | b'+') && option != b"--";
            if SHELL_VALUES.contains(&option) {
                rest.next();
            } else if is_option && option == b"--version" || option == b"--help" {
                return;
            } else if is_option {
                from_text |= option[0] == b'-' && option[1] != b'-' && option.contains(&b'c');
                if option.contains(&b's') && option[1] != b'-' {
                    return self.run_input(index, &place);
                }
            } else {
                let operand = if matches!(option, b"--" | b"-") { rest.next() } else { Some(argument) };
                return self.shell_operand(index, operand, from_text, &place);
            }
        }
        self.shell_operand(index, None, from_text, &place);
    }

    fn shell_operand(&mut self, index: usize, operand: Option<&Item>, from_text: bool, place: &Place<'_>) {
        match operand {
            Some(text) if from_text => self.run_text(index, text, Role::Script, place),
            Some(file) => self.opaque(index, Reason::ScriptFile, show::source(file).as_bytes()),
            None => self.run_input(index, place),
        }
    }

    /// Plans what a shell reads from standard input, as far as it stands in the script.
    fn run_input(&mut self, index: usize, place: &Place<'_>) {
        match self.input(index) {
            Some(text) => self.run_text(index, &text, Role::Script, place),
            None => self.opaque(index, Reason::ScriptInput, b""),
        }
    }

    /// The here-document or here-string that is the standard input of a step, its own or that of what runs it.
    fn input(&self, index: usize) -> Option<Item> {
        let step = &self.steps[index];
        let is_input = |file: &&FileUse| match file.descriptor.as_deref() {
            _ if file.by == UsedBy::Command => false,
            None => !matches!(file.mode, Mode::Write | Mode::Append),
            Some(descriptor) => descriptor == "0",
        };
        match step.files.iter().rev().find(is_input) {
            Some(file) if matches!(file.mode, Mode::HereDocument | Mode::HereString) => {
                file.target.literal().map(super::words::known)
            }
            None if step.role == Role::Wrapped => self.input(step.parent?),
            _ => None,
        }
    }

    /// `find … -exec COMMAND … ;`.
    fn found(&mut self, index: usize, arguments: &[Item], place: &Place<'_>) {
        const ACTIONS: [&[u8]; 4] = [b"-exec", b"-execdir", b"-ok", b"-okdir"];
        let mut rest = arguments;
        while let Some((argument, after)) = rest.split_first() {
            rest = after;
            if !argument.literal().is_some_and(|word| ACTIONS.contains(&word)) {
                continue;
            }
            let end = |item: &Item| matches!(item.literal(), Some(b";" | b"+"));
            let length = after.iter().position(end).unwrap_or(after.len());
            let argv = after[..length].iter().map(|item| placeholders(item, b"{}")).collect();
            self.run_arguments(index, argv, Role::Wrapped, &place.repeated());
            rest = &after[length..];
        }
        // A word that may become an action of its own, with arguments.
        let open = |item: &&Item| item.several && item.prefix().is_empty();
        if let Some(argument) = arguments.iter().find(open) {
            self.opaque(index, Reason::WrapperOptions, show::source(argument).as_bytes());
        }
    }
}

/// A word in which a mark stands for what is found or read: then only a run can tell what it is.
pub(super) fn placeholders(item: &Item, mark: &[u8]) -> Item {
    let Some(text) = item.literal() else { return item.clone() };
    if mark.is_empty() || memchr::memmem::find(text, mark).is_none() {
        return item.clone();
    }
    let by = Expansion::Input;
    Item { pieces: vec![Piece::Dynamic { by, source: text.into() }], several: text == mark }
}

/// A piece that stands for several words.
fn dynamic(by: Expansion, items: &[Item]) -> Piece {
    Piece::Dynamic { by, source: show::sources(items).as_bytes().into() }
}

/// The words that a wrapper adds to what it runs.
pub(super) fn input(source: &[u8]) -> Item {
    Item { pieces: vec![Piece::Dynamic { by: Expansion::Input, source: source.into() }], several: true }
}
