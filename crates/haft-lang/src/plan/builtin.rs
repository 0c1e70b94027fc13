//! Builtins and variables that run code, evaluate arithmetic or change the meaning of names.

use super::build::{PlanBuilder, StepContext};
use super::hazard::is_plain_name;
use super::show;
use super::step::{OpaqueReason, PlannedWord, StepRole};

/// Variables that affect which programs and libraries are found.
const LOOKUP_VARIABLES: &[&str] = &[
    "PATH",
    "BASH_ENV",
    "ENV",
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "LD_AUDIT",
    "SHELLOPTS",
    "BASHOPTS",
    "BASH_LOADABLES_PATH",
    "CDPATH",
    "GCONV_PATH",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_SYSTEM",
    "GIT_EXEC_PATH",
    "GIT_TEMPLATE_DIR",
    "LESSOPEN",
    "LESSCLOSE",
    "MAKEFLAGS",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PERL5DB",
    "PERL5LIB",
    "PERL5OPT",
    "PYTHONHOME",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "RUBYLIB",
    "RUBYOPT",
    "RUSTC_WRAPPER",
    "TAR_OPTIONS",
];

/// Variables whose value the shell or a program runs as a command.
const COMMAND_VARIABLES: &[&str] = &[
    "PROMPT_COMMAND",
    "BROWSER",
    "EDITOR",
    "GIT_ASKPASS",
    "GIT_EDITOR",
    "GIT_EXTERNAL_DIFF",
    "GIT_PAGER",
    "GIT_PROXY_COMMAND",
    "GIT_SEQUENCE_EDITOR",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "MANPAGER",
    "PAGER",
    "RSYNC_RSH",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "SUDO_EDITOR",
    "VISUAL",
];

/// Variables whose value the shell expands as a prompt.
const PROMPT_VARIABLES: &[&str] = &["PS0", "PS1", "PS2", "PS4"];

impl PlanBuilder<'_> {
    /// Examines the variables that a step assigns to.
    pub(super) fn bindings(&mut self, index: usize, context: &StepContext<'_>) {
        let bindings = self.steps[index].assignments.clone();
        for binding in &bindings {
            let value = binding.value.first();
            self.binding(index, &binding.name, value, context);
        }
    }

    fn binding(&mut self, index: usize, name: &[u8], value: Option<&PlannedWord>, context: &StepContext<'_>) {
        let name = name.split(|byte| *byte == b'[').next().unwrap_or(name);
        let among = |names: &[&str]| names.iter().any(|known| known.as_bytes() == name);
        if among(LOOKUP_VARIABLES) || name.starts_with(b"BASH_FUNC_") {
            self.opaque(index, OpaqueReason::Lookup, name);
        } else if among(COMMAND_VARIABLES) {
            value
                .into_iter()
                .for_each(|text| self.run_text(index, text, StepRole::Callback, &context.deferred()));
        } else if among(PROMPT_VARIABLES) {
            let harmless = value
                .and_then(PlannedWord::literal)
                .is_some_and(|text| !text.contains(&b'$') && !text.contains(&b'`'));
            if !harmless && value.is_some() {
                self.opaque(index, OpaqueReason::PromptValue, name);
            }
        }
    }

    /// Plans the effects of a builtin.
    pub(super) fn builtin(
        &mut self,
        index: usize,
        name: &[u8],
        arguments: &[PlannedWord],
        context: &StepContext<'_>,
    ) {
        match name {
            b"cd" | b"pushd" | b"popd" => self.change_directory(name, arguments),
            b"eval" => self.run_joined(index, arguments, StepRole::Script, context),
            b"source" | b"." => {
                self.opaque(index, OpaqueReason::ScriptFile, show::sources(arguments).as_bytes());
            }
            b"trap" => self.trap(index, arguments, context),
            b"let" => arguments.iter().for_each(|argument| self.evaluated(index, argument, context)),
            b"alias" if !arguments.is_empty() => {
                self.opaque(index, OpaqueReason::Alias, show::sources(arguments).as_bytes());
            }
            b"declare" | b"typeset" | b"local" | b"readonly" | b"export" => {
                self.declared(index, arguments, context);
            }
            b"printf" => {
                self.named_after(index, b"-v", arguments);
                self.assigned(index, arguments);
            }
            b"wait" => self.named_after(index, b"-p", arguments),
            b"test" | b"[" => self.named_after(index, b"-v", arguments),
            b"read" | b"unset" | b"getopts" => {
                self.named(index, arguments);
                self.assigned(index, arguments);
            }
            b"mapfile" | b"readarray" => {
                self.callback(index, &[b"-C"], &[], arguments, context);
                self.assigned(index, arguments);
            }
            b"complete" | b"compgen" => self.callback(index, &[b"-C", b"-F"], &[b"-W"], arguments, context),
            b"bind" => self.bind(index, arguments, context),
            b"jobs" => {
                if let [option, argv @ ..] = arguments
                    && option.literal() == Some(b"-x")
                {
                    self.run_arguments(index, argv.to_vec(), StepRole::Wrapped, context);
                }
            }
            b"fc" => self.opaque(index, OpaqueReason::ScriptText, show::sources(arguments).as_bytes()),
            b"enable" if has(arguments, b"-f") => {
                self.opaque(index, OpaqueReason::LoadedCode, show::sources(arguments).as_bytes());
            }
            b"hash" if has(arguments, b"-p") => {
                self.opaque(index, OpaqueReason::Lookup, show::sources(arguments).as_bytes());
            }
            _ => {}
        }
    }

    /// Plans `bind -x '"keys": TEXT'`. Other bindings may run any existing binding.
    fn bind(&mut self, index: usize, arguments: &[PlannedWord], context: &StepContext<'_>) {
        if let [option, binding] = arguments
            && option.literal() == Some(b"-x")
            && let Some(text) =
                binding.literal().and_then(|text| Some(&text[memchr::memchr(b':', text)? + 1..]))
        {
            let text = super::words::known(text);
            return self.run_text(index, &text, StepRole::Callback, &context.deferred());
        }
        let shows = |item: &PlannedWord| {
            item.literal()
                .is_some_and(|option| option.starts_with(b"-") && option != b"-x" && option != b"-f")
        };
        if !arguments.iter().all(shows) {
            self.opaque(index, OpaqueReason::ScriptText, show::sources(arguments).as_bytes());
        }
    }

    /// Plans `trap TEXT SIGNAL…`. A single argument, `-` or an empty text resets the trap.
    fn trap(&mut self, index: usize, arguments: &[PlannedWord], context: &StepContext<'_>) {
        let arguments = match arguments {
            [first, rest @ ..] if first.literal() == Some(b"--") => rest,
            _ => arguments,
        };
        let [text, _, ..] = arguments else {
            if let [only] = arguments
                && only.several
            {
                self.opaque(index, OpaqueReason::ScriptText, show::source(only).as_bytes());
            }
            return;
        };
        if !matches!(text.literal(), Some(b"" | b"-" | b"-p" | b"-l")) {
            self.deferred(|builder| builder.run_text(index, text, StepRole::Trap, &context.deferred()));
        }
    }

    /// Plans an argument that is evaluated as arithmetic, which runs the substitutions in it.
    fn evaluated(&mut self, index: usize, argument: &PlannedWord, context: &StepContext<'_>) {
        let Some(text) = argument.literal() else {
            return self.opaque(index, OpaqueReason::ArithmeticValue, show::source(argument).as_bytes());
        };
        match crate::parse_arithmetic_text(text, &self.options) {
            Ok(arithmetic) => {
                let context = context.below(index, StepRole::Substitution);
                let inside = context.within(text, &self.steps[index]);
                self.expand(crate::walk::SyntaxNode::Arithmetic(&arithmetic), index, &inside);
            }
            Err(_) => self.opaque(index, OpaqueReason::ArithmeticValue, text),
        }
    }

    fn declared(&mut self, index: usize, arguments: &[PlannedWord], context: &StepContext<'_>) {
        let options = arguments.iter().filter_map(PlannedWord::literal).filter(|word| word.starts_with(b"-"));
        let letters: Vec<u8> = options.flatten().copied().collect();
        for argument in arguments {
            let prefix = argument.prefix();
            let (name, value) = match memchr::memchr(b'=', prefix) {
                Some(at) => (&prefix[..at], Some(at + 1)),
                None => (prefix, None),
            };
            let known = argument.literal().is_some() || value.is_some();
            let name = name.strip_suffix(b"+").unwrap_or(name);
            if !known || (!name.starts_with(b"-") && name.contains(&b'$')) {
                self.opaque(index, OpaqueReason::VariableName, show::source(argument).as_bytes());
            }
            let Some(at) = value else { continue };
            let value = without_prefix(argument, at);
            self.binding(index, name, Some(&value), context);
            if letters.contains(&b'n') && !value.literal().is_some_and(is_plain_name) {
                self.opaque(index, OpaqueReason::VariableName, show::source(argument).as_bytes());
            }
            if letters.contains(&b'i') {
                self.evaluated(index, &value, context);
            }
        }
    }

    /// Checks the variable name after an option of a builtin.
    fn named_after(&mut self, index: usize, option: &[u8], arguments: &[PlannedWord]) {
        let at = arguments.iter().position(|argument| argument.literal() == Some(option));
        if let Some(name) = at.and_then(|at| arguments.get(at + 1)) {
            self.named(index, std::slice::from_ref(name));
        } else if let Some(joined) = arguments.first().filter(|first| first.prefix().starts_with(option)) {
            let name = without_prefix(joined, option.len());
            self.named(index, std::slice::from_ref(&name));
        }
    }

    /// Checks arguments that are variable names. A subscript in one is evaluated.
    fn named(&mut self, index: usize, arguments: &[PlannedWord]) {
        for argument in arguments {
            let harmless = match argument.literal() {
                Some(name) => is_plain_name(name) || !name.contains(&b'['),
                None => false,
            };
            if !harmless {
                self.opaque(index, OpaqueReason::VariableName, show::source(argument).as_bytes());
            }
        }
    }

    /// Examines arguments that may be names of variables which get an unknown value.
    fn assigned(&mut self, index: usize, arguments: &[PlannedWord]) {
        for name in arguments.iter().filter_map(PlannedWord::literal) {
            self.assigned_name(index, name.strip_prefix(b"-v").unwrap_or(name));
        }
    }

    /// Examines a variable that gets an unknown value.
    pub(super) fn assigned_name(&mut self, index: usize, name: &[u8]) {
        let mut names = LOOKUP_VARIABLES.iter().chain(COMMAND_VARIABLES);
        if names.any(|known| known.as_bytes() == name) {
            self.opaque(index, OpaqueReason::Lookup, name);
        }
    }

    /// Plans the commands that options of a builtin register as callbacks.
    fn callback(
        &mut self,
        index: usize,
        commands: &[&[u8]],
        expanded: &[&[u8]],
        arguments: &[PlannedWord],
        context: &StepContext<'_>,
    ) {
        for (at, argument) in arguments.iter().enumerate() {
            let next = arguments.get(at + 1);
            match (argument.literal(), next) {
                (Some(option), Some(text)) if commands.contains(&option) => {
                    self.run_text(index, text, StepRole::Callback, &context.deferred());
                }
                (Some(option), Some(text)) if expanded.contains(&option) => {
                    self.opaque(index, OpaqueReason::ScriptText, show::source(text).as_bytes());
                }
                (None, _) if argument.several => {
                    self.opaque(index, OpaqueReason::ScriptText, show::source(argument).as_bytes());
                }
                _ => {}
            }
        }
    }
}

fn has(arguments: &[PlannedWord], option: &[u8]) -> bool {
    arguments.iter().any(|argument| argument.literal().is_none_or(|word| word == option))
}

/// Removes the first bytes of a word's literal prefix.
pub(super) fn without_prefix(item: &PlannedWord, length: usize) -> PlannedWord {
    let mut pieces = item.pieces.clone();
    if let Some(super::WordPiece::Literal(text)) = pieces.first_mut() {
        *text = crate::Bytes::from(text.get(length..).unwrap_or_default());
    }
    pieces.retain(|piece| !matches!(piece, super::WordPiece::Literal(text) if text.is_empty()));
    PlannedWord { pieces, several: item.several }
}
