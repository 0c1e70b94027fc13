//! A policy and its evaluator.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use haft_config::{ConfigSource, Error, Layer};
use haft_lang::BuiltinsOnly;
use haft_lang::plan::{OpaqueReason, PlanStep, StepAction, plan_command};

use crate::budget::Budgets;
use crate::command::{CommandRequest, DispatchKind, JudgedCommand, JudgedWord};
use crate::context::PolicyContext;
use crate::decision::{Decision, PolicyVerdict};
use crate::file_limit::FileAccess;
use crate::git::GitCapabilities;
use crate::layer::PolicyLayer;
use crate::path_pattern::normalized;
use crate::preset::Preset;

/// Decides what a run may do. See the [crate's documentation](crate).
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// All layers must allow something.
    pub(crate) layers: Vec<PolicyLayer>,
    pub(crate) context: PolicyContext,
}

impl Policy {
    /// A policy without rules, which allows everything.
    #[must_use]
    pub fn unlimited() -> Policy {
        Policy::default()
    }

    /// The policy of a preset.
    ///
    /// # Errors
    /// Never for the presets of this crate.
    pub fn preset(preset: Preset, context: &PolicyContext) -> Result<Policy, Error> {
        let layers = vec![PolicyLayer::of_preset(preset, context)?];
        Ok(Policy { layers, context: context.clone() })
    }

    /// Reads the section `[policy]` of a configuration source; `None` if it has none.
    ///
    /// # Errors
    /// If the source is not TOML, or the section has an unknown key or a wrong value.
    pub fn read(source: ConfigSource, context: &PolicyContext) -> Result<Option<Policy>, Error> {
        let layer = PolicyLayer::read(source, context)?;
        Ok(layer.map(|layer| Policy { layers: vec![layer], context: context.clone() }))
    }

    /// Reads a policy from a text, with a name for messages.
    ///
    /// # Errors
    /// As [`Policy::read`]. A text without the section `[policy]` allows everything.
    pub fn from_text(name: &str, text: &str, context: &PolicyContext) -> Result<Policy, Error> {
        let source =
            ConfigSource { layer: Layer::User, name: name.to_owned(), path: None, text: text.to_owned() };
        Ok(Policy::read(source, context)?.unwrap_or_default())
    }

    /// Combines two policies. Both must allow something, so the second can only narrow the first.
    #[must_use]
    pub fn narrow(&self, other: &Policy) -> Policy {
        let context = if self.layers.is_empty() { &other.context } else { &self.context };
        Policy { layers: [&*self.layers, &*other.layers].concat(), context: context.clone() }
    }

    /// The presets that the layers start from.
    pub fn presets(&self) -> impl Iterator<Item = Preset> {
        self.layers.iter().filter_map(|layer| layer.preset)
    }

    /// Whether the policy has no rules at all.
    #[must_use]
    pub fn is_unlimited(&self) -> bool {
        self.layers.is_empty()
    }

    /// Whether some commands are asked about or denied. If not, [`Policy::decide_command`] always allows.
    #[must_use]
    pub fn limits_commands(&self) -> bool {
        self.layers.iter().any(PolicyLayer::limits_commands)
    }

    /// Decides about a command that is about to run. For a program, decides also about the commands that it runs because
    /// of its arguments: those of `sudo`, `env`, `xargs`, `find -exec`, `sh -c` and others that [`haft_lang::plan`]
    /// knows. Everything else runs its commands through haft, which asks about each of them when its words are known.
    #[must_use]
    pub fn decide_command(&self, request: &CommandRequest<'_>) -> Decision {
        let own = self.decide_one(&judged(request));
        let is_program = request.kind == DispatchKind::External;
        if own.verdict == PolicyVerdict::Deny || !is_program || !self.limits_commands() {
            return own;
        }
        let plan = plan_command(request.argv, &BuiltinsOnly);
        let inner = plan.steps.iter().skip(1).map(|step| self.decide_inner(step));
        let opaque = plan.steps.iter().flat_map(|step| &step.opaque);
        let unknown =
            opaque.filter(|opaque| is_unknown_at_start(opaque.reason)).map(|opaque| unknown(&opaque.source));
        inner.chain(unknown).fold(own, Decision::stricter)
    }

    /// Decides about a command that another one runs.
    fn decide_inner(&self, step: &PlanStep) -> Decision {
        match step.action {
            StepAction::Command { .. } => self.decide_one(&JudgedCommand {
                kind: inner_kind(step),
                words: step.argv.iter().map(JudgedWord::planned).collect(),
                path: None,
            }),
            _ => Decision::allowed(),
        }
    }

    /// Decides about a command alone.
    pub(crate) fn decide_one(&self, command: &JudgedCommand<'_>) -> Decision {
        self.strictest(|layer| layer.decide(command, &self.context))
    }

    /// Decides about a file. The caller resolves symbolic links and relative paths.
    #[must_use]
    pub fn decide_file(&self, access: FileAccess, path: &Path) -> Decision {
        let path = normalized(path);
        self.strictest(|layer| layer.files.decide(access, &path))
    }

    /// Decides about a connection to a host name or address.
    #[must_use]
    pub fn decide_network(&self, host: &str, port: u16) -> Decision {
        self.strictest(|layer| layer.network.decide(host, port))
    }

    /// Decides whether programs get a variable. The caller says whether it looks like a secret.
    #[must_use]
    pub fn decide_variable(&self, name: &OsStr, looks_secret: bool) -> Decision {
        self.strictest(|layer| layer.variables.decide(name.as_bytes(), looks_secret))
    }

    /// The budgets of a run.
    #[must_use]
    pub fn budgets(&self) -> Budgets {
        self.layers.iter().fold(Budgets::default(), |budgets, layer| budgets.min(layer.budgets))
    }

    /// The capabilities of git.
    #[must_use]
    pub fn git(&self) -> GitCapabilities {
        self.layers.iter().fold(GitCapabilities::default(), |git, layer| git.and(layer.git))
    }

    fn strictest(&self, decide: impl Fn(&PolicyLayer) -> Decision) -> Decision {
        self.layers.iter().map(decide).reduce(Decision::stricter).unwrap_or_default()
    }
}

fn judged<'a>(request: &CommandRequest<'a>) -> JudgedCommand<'a> {
    JudgedCommand {
        kind: request.kind,
        words: request.argv.iter().map(|word| JudgedWord::Known(word)).collect(),
        path: request.path.map(|path| normalized(&request.directory.join(path))),
    }
}

/// The kind of a command that another one runs.
fn inner_kind(step: &PlanStep) -> DispatchKind {
    let name = step.argv.first().and_then(|name| name.literal());
    match name {
        Some(name) if haft_lang::is_builtin(name) => DispatchKind::Builtin,
        _ => DispatchKind::External,
    }
}

/// Whether a command that starts runs unknown text, although its words are known. Files and standard input that it
/// runs are its own affair, as with every other program.
fn is_unknown_at_start(reason: OpaqueReason) -> bool {
    matches!(
        reason,
        OpaqueReason::CommandName
            | OpaqueReason::ScriptText
            | OpaqueReason::UnreadableText
            | OpaqueReason::WrapperOptions
    )
}

/// The decision about a command that runs unknown commands.
pub(crate) fn unknown(source: &[u8]) -> Decision {
    let source = String::from_utf8_lossy(source);
    Decision {
        verdict: PolicyVerdict::Ask,
        reason: format!("the commands in '{source}' are not known before they run"),
        ..Decision::default()
    }
}
