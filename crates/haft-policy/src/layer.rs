//! One layer of a policy, read from one source.

use haft_config::{Config, ConfigSource, Error};

use crate::budget::Budgets;
use crate::command::JudgedCommand;
use crate::command_rule::{CommandRule, RuleMatch};
use crate::context::PolicyContext;
use crate::decision::{Decision, PolicyVerdict, RulePlace};
use crate::example::RuleExample;
use crate::file_limit::{FileLimits, PathRule};
use crate::git::GitCapabilities;
use crate::network::NetworkLimits;
use crate::preset::Preset;
use crate::reader::LayerReader;
use crate::section::PolicySection;
use crate::variable::VariableLimits;

/// The rules of one source, on top of those of its preset.
#[derive(Clone, Debug, Default)]
pub(crate) struct PolicyLayer {
    pub(crate) preset: Option<Preset>,
    pub(crate) commands: Vec<CommandRule>,
    pub(crate) default: PolicyVerdict,
    pub(crate) default_place: Option<RulePlace>,
    /// Directories of programs that may be executed; `None` for all.
    pub(crate) exec: Option<Vec<PathRule>>,
    pub(crate) files: FileLimits,
    pub(crate) network: NetworkLimits,
    pub(crate) variables: VariableLimits,
    pub(crate) budgets: Budgets,
    pub(crate) git: GitCapabilities,
    pub(crate) examples: Vec<RuleExample>,
}

impl PolicyLayer {
    /// Reads the section `[policy]` of a source; `None` if it has none.
    pub(crate) fn read(source: ConfigSource, context: &PolicyContext) -> Result<Option<PolicyLayer>, Error> {
        let mut config = Config::new();
        config.add(source)?;
        let Some(section) = config.settings::<PolicySection>("policy")? else { return Ok(None) };
        let base = match section.preset {
            Some(preset) => PolicyLayer { preset: Some(preset), ..PolicyLayer::of_preset(preset, context)? },
            None => PolicyLayer::default(),
        };
        LayerReader::new(&config, context, base).read(section).map(Some)
    }

    /// The layer of a preset.
    pub(crate) fn of_preset(preset: Preset, context: &PolicyContext) -> Result<PolicyLayer, Error> {
        let layer = PolicyLayer::read(preset.source(), context)?.unwrap_or_default();
        Ok(PolicyLayer { preset: Some(preset), ..layer })
    }

    /// Whether some commands are asked about or denied.
    pub(crate) fn limits_commands(&self) -> bool {
        self.default != PolicyVerdict::Allow
            || self.commands.iter().any(|rule| rule.verdict != PolicyVerdict::Allow)
    }

    /// Decides about one command, without those that it runs.
    pub(crate) fn decide(&self, command: &JudgedCommand<'_>, context: &PolicyContext) -> Decision {
        let matching = self.commands.iter().filter_map(|rule| match rule.matches(command, context) {
            RuleMatch::No => None,
            // An allow rule must match for certain.
            RuleMatch::Maybe if rule.verdict == PolicyVerdict::Allow => None,
            matched => Some((matched, rule)),
        });
        // Certainly denied, then asked or perhaps denied, then allowed.
        let rank = |(matched, rule): &(RuleMatch, &CommandRule)| match matched {
            RuleMatch::Yes => (rule.verdict, *matched),
            _ => (rule.verdict.min(PolicyVerdict::Ask), *matched),
        };
        match matching.max_by_key(rank) {
            Some((matched, rule)) => rule.decision(matched),
            None if command.kind.is_shell() => Decision::allowed(),
            None => self.by_default(),
        }
    }

    fn by_default(&self) -> Decision {
        if self.default == PolicyVerdict::Allow {
            return Decision::allowed();
        }
        Decision {
            verdict: self.default,
            rule: Some(format!("default = \"{}\"", self.default)),
            place: self.default_place.clone(),
            reason: "no rule allows this command".to_owned(),
            allowed_instead: None,
        }
    }
}
