//! Commands that git runs because of its settings or arguments.

use super::build::{PlanBuilder, StepContext};
use super::program::value;
use super::show;
use super::step::{OpaqueReason, PlannedWord, StepRole};
use super::words;

/// Prefixes of settings that run no commands.
const HARMLESS_SETTINGS: &[&str] = &[
    "advice.",
    "branch.",
    "color.",
    "column.",
    "commit.",
    "core.abbrev",
    "core.autocrlf",
    "core.eol",
    "core.filemode",
    "core.ignorecase",
    "core.quotepath",
    "core.safecrlf",
    "core.symlinks",
    "fetch.",
    "gc.",
    "http.",
    "init.defaultbranch",
    "log.",
    "pull.",
    "push.",
    "rebase.",
    "safe.",
    "status.",
    "tag.",
    "user.",
];

/// Options whose value is a shell command.
const COMMAND_OPTIONS: &[&str] =
    &["--exec", "--upload-pack", "--receive-pack", "--extcmd", "--tree-filter", "--env-filter"];

impl PlanBuilder<'_> {
    pub(super) fn git(&mut self, index: usize, arguments: &[PlannedWord], context: &StepContext<'_>) {
        let mut rest = arguments;
        while let Some((option, after)) = rest.split_first() {
            if !option.prefix().starts_with(b"-") {
                break;
            }
            rest = after;
            let takes = matches!(
                option.literal(),
                Some(b"-c" | b"-C" | b"--git-dir" | b"--work-tree" | b"--namespace" | b"--config-env")
            );
            match value("-c", option, after.first()) {
                Some(setting) if !option.prefix().starts_with(b"--") => {
                    self.git_setting(index, &setting, context);
                }
                _ if option.prefix().starts_with(b"--config-env")
                    || option.prefix().starts_with(b"--exec-path=") =>
                {
                    self.opaque(index, OpaqueReason::Lookup, show::source(option).as_bytes());
                }
                _ => {}
            }
            rest = if takes { rest.get(1..).unwrap_or_default() } else { rest };
        }
        let Some((command, arguments)) = rest.split_first() else { return };
        match command.literal() {
            Some(name) => self.git_command(index, name, arguments, context),
            None => self.opaque(index, OpaqueReason::WrapperOptions, show::source(command).as_bytes()),
        }
    }

    fn git_command(
        &mut self,
        index: usize,
        name: &[u8],
        arguments: &[PlannedWord],
        context: &StepContext<'_>,
    ) {
        let words: Vec<&[u8]> = arguments.iter().map(|item| item.literal().unwrap_or_default()).collect();
        match (name, words.as_slice()) {
            (b"bisect", [b"run", ..]) => {
                self.run_arguments(index, arguments[1..].to_vec(), StepRole::Wrapped, &context.repeated());
            }
            (b"submodule", [b"foreach", ..]) => {
                let from = 1 + words[1..].iter().take_while(|word| word.starts_with(b"-")).count();
                self.run_joined(index, &arguments[from..], StepRole::Script, &context.subshell().repeated());
            }
            (b"filter-branch" | b"difftool" | b"mergetool" | b"send-email" | b"instaweb", _) => {
                self.opaque(index, OpaqueReason::WrapperOptions, show::sources(arguments).as_bytes());
            }
            (b"config", _) => {
                let given: Vec<&PlannedWord> =
                    arguments.iter().filter(|item| !item.prefix().starts_with(b"-")).collect();
                if let [key, value] = given.as_slice() {
                    let setting =
                        [key.literal().unwrap_or(b"?"), value.literal().unwrap_or(b"?")].join(&b'=');
                    self.git_setting(index, &words::known(&setting), context);
                }
            }
            (b"clone", _) => {
                for (at, argument) in arguments.iter().enumerate() {
                    let settings = ["-c", "--config"].iter();
                    let setting =
                        settings.copied().find_map(|name| value(name, argument, arguments.get(at + 1)));
                    setting.iter().for_each(|setting| self.git_setting(index, setting, context));
                }
                self.option_texts(index, &["-u", "--upload-pack"], arguments, context);
            }
            (b"rebase", _) => self.option_texts(index, &["-x", "--exec"], arguments, context),
            _ => self.option_texts(index, COMMAND_OPTIONS, arguments, context),
        }
        if words.iter().any(|word| word.starts_with(b"ext::")) {
            self.opaque(index, OpaqueReason::WrapperOptions, show::sources(arguments).as_bytes());
        }
    }

    /// Plans a setting `name=value`. An alias that runs a command is followed; other settings that may run
    /// commands are opaque.
    fn git_setting(&mut self, index: usize, setting: &PlannedWord, context: &StepContext<'_>) {
        let name =
            setting.prefix().split(|byte| *byte == b'=').next().unwrap_or_default().to_ascii_lowercase();
        if setting.prefix().contains(&b'=')
            && HARMLESS_SETTINGS.iter().any(|known| name.starts_with(known.as_bytes()))
        {
            return;
        }
        let text = setting.literal().and_then(|setting| setting.get(name.len() + 1..));
        match text.and_then(|text| text.strip_prefix(b"!")) {
            Some(command) if name.starts_with(b"alias.") => {
                self.run_text(
                    index,
                    &words::known(command),
                    StepRole::Callback,
                    &context.subshell().deferred(),
                );
            }
            _ => self.opaque(index, OpaqueReason::Lookup, show::source(setting).as_bytes()),
        }
    }
}
