//! The section `[policy]` as it is written.

use haft_config::Spanned;
use serde::Deserialize;

use crate::command::DispatchKind;
use crate::decision::PolicyVerdict;
use crate::network::NetworkLevel;
use crate::preset::Preset;

/// The section `[policy]`.
#[derive(Default, Deserialize)]
pub(crate) struct PolicySection {
    pub(crate) preset: Option<Preset>,
    pub(crate) commands: Option<CommandSection>,
    pub(crate) files: Option<FileSection>,
    pub(crate) network: Option<NetworkSection>,
    pub(crate) environment: Option<VariableSection>,
    pub(crate) budgets: Option<BudgetSection>,
    pub(crate) git: Option<GitSection>,
}

/// `[policy.commands]`.
#[derive(Default, Deserialize)]
pub(crate) struct CommandSection {
    pub(crate) default: Option<Spanned<PolicyVerdict>>,
    pub(crate) allow: Option<Vec<Spanned<Vec<String>>>>,
    pub(crate) ask: Option<Vec<Spanned<Vec<String>>>>,
    pub(crate) deny: Option<Vec<Spanned<Vec<String>>>>,
    pub(crate) rules: Option<Vec<Spanned<CommandRuleSection>>>,
    pub(crate) exec: Option<Vec<Spanned<String>>>,
}

/// An item of `[[policy.commands.rules]]`.
#[derive(Clone, Deserialize)]
pub(crate) struct CommandRuleSection {
    pub(crate) decision: PolicyVerdict,
    pub(crate) argv: Option<Spanned<Vec<String>>>,
    pub(crate) exact: Option<bool>,
    pub(crate) kinds: Option<Vec<DispatchKind>>,
    pub(crate) path: Option<Spanned<String>>,
    pub(crate) reason: Option<String>,
    pub(crate) instead: Option<String>,
    #[serde(rename = "match")]
    pub(crate) matches: Option<Vec<Spanned<String>>>,
    pub(crate) not_match: Option<Vec<Spanned<String>>>,
}

/// `[policy.files]`.
#[derive(Default, Deserialize)]
pub(crate) struct FileSection {
    pub(crate) read: Option<Vec<Spanned<String>>>,
    pub(crate) write: Option<Vec<Spanned<String>>>,
    pub(crate) create: Option<Vec<Spanned<String>>>,
    pub(crate) delete: Option<Vec<Spanned<String>>>,
    pub(crate) deny: Option<Vec<Spanned<String>>>,
    pub(crate) deny_read: Option<Vec<Spanned<String>>>,
    pub(crate) deny_write: Option<Vec<Spanned<String>>>,
    pub(crate) ask_read: Option<Vec<Spanned<String>>>,
    pub(crate) ask_write: Option<Vec<Spanned<String>>>,
    pub(crate) secrets: Option<Spanned<PolicyVerdict>>,
}

/// `[policy.network]`.
#[derive(Default, Deserialize)]
pub(crate) struct NetworkSection {
    pub(crate) level: Option<Spanned<NetworkLevel>>,
    pub(crate) hosts: Option<Vec<Spanned<String>>>,
    pub(crate) ports: Option<Vec<Spanned<u16>>>,
}

/// `[policy.environment]`.
#[derive(Default, Deserialize)]
pub(crate) struct VariableSection {
    pub(crate) pass: Option<Vec<Spanned<String>>>,
    pub(crate) withhold: Option<Vec<Spanned<String>>>,
    pub(crate) secrets: Option<Spanned<SecretHandling>>,
}

/// The treatment of variables whose names look like those of secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SecretHandling {
    Pass,
    Withhold,
}

/// `[policy.budgets]`.
#[derive(Default, Deserialize)]
pub(crate) struct BudgetSection {
    pub(crate) wall: Option<Spanned<String>>,
    pub(crate) cpu: Option<Spanned<String>>,
    pub(crate) memory: Option<Spanned<String>>,
    pub(crate) disk: Option<Spanned<String>>,
    pub(crate) output: Option<Spanned<String>>,
    pub(crate) processes: Option<u64>,
    pub(crate) calls: Option<u64>,
}

/// `[policy.git]`.
#[derive(Default, Deserialize)]
pub(crate) struct GitSection {
    pub(crate) hooks: Option<Spanned<bool>>,
    pub(crate) ssh_agent: Option<Spanned<bool>>,
    pub(crate) gpg: Option<Spanned<bool>>,
    pub(crate) credentials: Option<Spanned<bool>>,
}
