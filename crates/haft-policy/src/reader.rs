//! Compiles the section `[policy]` into rules.

use haft_config::{Config, ConfigSpan, Error, ErrorKind, Spanned};

use crate::budget::Budgets;
use crate::command_rule::{CommandNamePattern, CommandRule};
use crate::context::PolicyContext;
use crate::decision::{PolicyVerdict, RulePlace};
use crate::example::RuleExample;
use crate::file_limit::{FileException, PathRule};
use crate::layer::PolicyLayer;
use crate::network::NetworkLevel;
use crate::options::OptionPattern;
use crate::path_pattern::PathPattern;
use crate::secrets::{GIT_CAPABILITIES, SECRET_FILES};
use crate::section::{
    BudgetSection, CommandRuleSection, CommandSection, FileSection, GitSection, NetworkSection,
    PolicySection, SecretHandling, VariableSection,
};
use crate::variable::VariableRule;

/// Adds a section to the layer of its preset. Lists are added to those of the preset, other values replace them.
pub(crate) struct LayerReader<'c> {
    config: &'c Config,
    context: &'c PolicyContext,
    layer: PolicyLayer,
}

impl<'c> LayerReader<'c> {
    pub(crate) fn new(config: &'c Config, context: &'c PolicyContext, layer: PolicyLayer) -> LayerReader<'c> {
        LayerReader { config, context, layer }
    }

    pub(crate) fn read(mut self, section: PolicySection) -> Result<PolicyLayer, Error> {
        self.commands(section.commands.unwrap_or_default())?;
        self.files(section.files.unwrap_or_default())?;
        self.network(section.network.unwrap_or_default())?;
        self.variables(section.environment.unwrap_or_default());
        self.budgets(&section.budgets.unwrap_or_default())?;
        self.git(&section.git.unwrap_or_default())?;
        Ok(self.layer)
    }

    fn place(&self, span: ConfigSpan) -> RulePlace {
        RulePlace::from(&self.config.locate(span))
    }

    fn wrong(&self, span: ConfigSpan, message: impl Into<String>) -> Error {
        Error::at(ErrorKind::WrongValue, &self.config.locate(span), message)
    }

    fn commands(&mut self, section: CommandSection) -> Result<(), Error> {
        if let Some(default) = section.default {
            self.layer.default = default.value;
            self.layer.default_place = Some(self.place(default.span));
        }
        let lists = [
            (PolicyVerdict::Deny, section.deny),
            (PolicyVerdict::Ask, section.ask),
            (PolicyVerdict::Allow, section.allow),
        ];
        for (verdict, list) in lists {
            for argv in list.into_iter().flatten() {
                let span = argv.span;
                let section = CommandRuleSection {
                    decision: verdict,
                    argv: Some(argv),
                    exact: None,
                    kinds: None,
                    path: None,
                    reason: None,
                    instead: None,
                    matches: None,
                    not_match: None,
                };
                self.command_rule(Spanned { value: section, span })?;
            }
        }
        section.rules.into_iter().flatten().try_for_each(|rule| self.command_rule(rule))?;
        let exec = self.path_rules("exec", section.exec)?;
        extend(&mut self.layer.exec, exec);
        Ok(())
    }

    fn command_rule(&mut self, section: Spanned<CommandRuleSection>) -> Result<(), Error> {
        let Spanned { value: section, span } = section;
        let text = describe(&section);
        if section.argv.is_none() && section.kinds.is_none() && section.path.is_none() {
            return Err(self.wrong(span, "a rule needs 'argv', 'kinds' or 'path'"));
        }
        let argv_span = section.argv.as_ref().map_or(span, |argv| argv.span);
        let argv: Vec<Vec<u8>> =
            section.argv.iter().flat_map(|argv| &argv.value).map(|word| word.clone().into_bytes()).collect();
        if section.argv.is_some() && argv.first().is_none_or(Vec::is_empty) {
            return Err(self.wrong(argv_span, "a rule needs the name of a command"));
        }
        let is_wide = section.decision != PolicyVerdict::Allow;
        let (options, words): (Vec<_>, Vec<_>) =
            argv.iter().skip(1).cloned().partition(|word| is_wide && OptionPattern::read(word).is_some());
        let rule = CommandRule {
            verdict: section.decision,
            name: self.name_pattern(argv.first(), argv_span)?,
            words,
            options: options.iter().filter_map(|word| OptionPattern::read(word)).collect(),
            exact: section.exact.unwrap_or(false),
            kinds: section.kinds.unwrap_or_default(),
            paths: section.path.map(|path| self.path_patterns(&path)).transpose()?,
            reason: section.reason,
            instead: section.instead,
            text,
            place: self.place(span),
        };
        let rule_index = self.layer.commands.len();
        for (expected, list) in [(true, section.matches), (false, section.not_match)] {
            let example = |written: Spanned<String>| RuleExample {
                rule_index,
                expected,
                place: RulePlace::from(&self.config.locate(written.span)),
                text: written.value,
            };
            self.layer.examples.extend(list.into_iter().flatten().map(example));
        }
        self.layer.commands.push(rule);
        Ok(())
    }

    fn name_pattern(&self, name: Option<&Vec<u8>>, span: ConfigSpan) -> Result<CommandNamePattern, Error> {
        match name {
            None => Ok(CommandNamePattern::Any),
            Some(name) if name.contains(&b'/') => {
                let value = String::from_utf8_lossy(name).into_owned();
                Ok(CommandNamePattern::Path(self.path_patterns(&Spanned { value, span })?))
            }
            Some(name) => Ok(CommandNamePattern::Name(name.clone())),
        }
    }

    fn path_patterns(&self, written: &Spanned<String>) -> Result<Vec<PathPattern>, Error> {
        PathPattern::read(&written.value, self.context).map_err(|(message, hint)| {
            let error = self.wrong(written.span, message);
            hint.into_iter().fold(error, Error::with_hint)
        })
    }

    fn path_rule(&self, key: &str, written: &Spanned<String>) -> Result<PathRule, Error> {
        Ok(PathRule {
            patterns: self.path_patterns(written)?,
            text: format!("{key} \"{}\"", written.value),
            shown: written.value.clone(),
            place: self.place(written.span),
        })
    }

    fn path_rules(
        &self,
        key: &str,
        written: Option<Vec<Spanned<String>>>,
    ) -> Result<Option<Vec<PathRule>>, Error> {
        written.map(|list| list.iter().map(|written| self.path_rule(key, written)).collect()).transpose()
    }

    fn files(&mut self, section: FileSection) -> Result<(), Error> {
        let read = self.path_rules("read", section.read)?;
        let write = self.path_rules("write", section.write)?;
        let create = self.path_rules("create", section.create)?;
        let delete = self.path_rules("delete", section.delete)?;
        extend(&mut self.layer.files.read, read);
        extend(&mut self.layer.files.write, write);
        extend(&mut self.layer.files.create, create);
        extend(&mut self.layer.files.delete, delete);
        let lists = [
            ("deny", section.deny, PolicyVerdict::Deny, true, true),
            ("deny_read", section.deny_read, PolicyVerdict::Deny, true, false),
            ("deny_write", section.deny_write, PolicyVerdict::Deny, false, true),
            ("ask_read", section.ask_read, PolicyVerdict::Ask, true, false),
            ("ask_write", section.ask_write, PolicyVerdict::Ask, false, true),
        ];
        for (key, list, verdict, reads, changes) in lists {
            let rules = self.path_rules(key, list)?.unwrap_or_default();
            let exception = |rule| FileException { verdict, reads, changes, rule };
            self.layer.files.exceptions.extend(rules.into_iter().map(exception));
        }
        if let Some(secrets) = section.secrets {
            self.layer.files.exceptions.retain(|exception| !exception.rule.text.starts_with("secrets "));
            if secrets.value != PolicyVerdict::Allow {
                self.except("secrets", SECRET_FILES, secrets.value, (true, true), secrets.span)?;
            }
        }
        Ok(())
    }

    /// Adds exceptions for paths that a key stands for.
    fn except(
        &mut self,
        key: &str,
        paths: &[&str],
        verdict: PolicyVerdict,
        (reads, changes): (bool, bool),
        span: ConfigSpan,
    ) -> Result<(), Error> {
        for path in paths {
            let rule = self.path_rule(key, &Spanned { value: (*path).to_owned(), span })?;
            self.layer.files.exceptions.push(FileException { verdict, reads, changes, rule });
        }
        Ok(())
    }

    fn network(&mut self, section: NetworkSection) -> Result<(), Error> {
        let first = section.hosts.iter().flatten().map(|host| host.span);
        let listed = first.chain(section.ports.iter().flatten().map(|port| port.span)).next();
        let level = section.level.as_ref().map(|level| level.value).or(listed.map(|_| NetworkLevel::Listed));
        let Some(level) = level else { return Ok(()) };
        if let Some(span) = listed.filter(|_| level != NetworkLevel::Listed) {
            let message = format!("hosts and ports have no effect with the level '{}'", level.as_str());
            return Err(self.wrong(span, message).with_hint("remove 'level', or set it to \"listed\""));
        }
        let place = section.level.as_ref().map(|level| level.span).or(listed).map(|span| self.place(span));
        let network = &mut self.layer.network;
        (network.level, network.place) = (level, place);
        network.hosts.extend(section.hosts.into_iter().flatten().map(|host| host.value));
        network.ports.extend(section.ports.into_iter().flatten().map(|port| port.value));
        Ok(())
    }

    fn variables(&mut self, section: VariableSection) {
        let pass = self.variable_rules("pass", section.pass);
        let withhold = self.variable_rules("withhold", section.withhold);
        let secrets = section.secrets.map(|secrets| (secrets.value, self.place(secrets.span)));
        let variables = &mut self.layer.variables;
        variables.pass.extend(pass);
        variables.withhold.extend(withhold);
        if let Some((handling, place)) = secrets {
            variables.withhold_secrets = Some(place).filter(|_| handling == SecretHandling::Withhold);
        }
    }

    fn variable_rules(&self, key: &str, written: Option<Vec<Spanned<String>>>) -> Vec<VariableRule> {
        let rule = |written: Spanned<String>| VariableRule {
            text: format!("{key} \"{}\"", written.value),
            place: self.place(written.span),
            pattern: written.value,
        };
        written.into_iter().flatten().map(rule).collect()
    }

    fn budgets(&mut self, section: &BudgetSection) -> Result<(), Error> {
        let budgets = Budgets {
            wall: self.unit(section.wall.as_ref(), haft_config::duration)?,
            cpu: self.unit(section.cpu.as_ref(), haft_config::duration)?,
            memory: self.unit(section.memory.as_ref(), haft_config::size)?,
            disk: self.unit(section.disk.as_ref(), haft_config::size)?,
            output: self.unit(section.output.as_ref(), haft_config::size)?,
            processes: section.processes,
            calls: section.calls,
        };
        self.layer.budgets = self.layer.budgets.overridden(budgets);
        Ok(())
    }

    fn unit<T>(
        &self,
        written: Option<&Spanned<String>>,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Option<T>, Error> {
        let parsed =
            written.map(|written| parse(&written.value).map_err(|message| self.wrong(written.span, message)));
        parsed.transpose()
    }

    fn git(&mut self, section: &GitSection) -> Result<(), Error> {
        let written = [&section.hooks, &section.ssh_agent, &section.gpg, &section.credentials];
        for (capability, written) in GIT_CAPABILITIES.iter().zip(written) {
            let Some(written) = written else { continue };
            let key = format!("git.{}", capability.name);
            self.layer
                .files
                .exceptions
                .retain(|exception| !exception.rule.text.starts_with(&format!("{key} ")));
            self.layer.variables.withhold.retain(|rule| !rule.text.starts_with(&format!("{key} ")));
            if !written.value {
                self.except(&key, capability.changes, PolicyVerdict::Deny, (false, true), written.span)?;
                self.except(&key, capability.files, PolicyVerdict::Deny, (true, true), written.span)?;
                let place = self.place(written.span);
                let rule = |name: &&str| VariableRule {
                    pattern: (*name).to_owned(),
                    text: format!("{key} \"{name}\""),
                    place: place.clone(),
                };
                self.layer.variables.withhold.extend(capability.variables.iter().map(rule));
            }
        }
        let git = &mut self.layer.git;
        let fields = [&mut git.hooks, &mut git.ssh_agent, &mut git.gpg, &mut git.credentials];
        for (field, written) in fields.into_iter().zip(written) {
            *field = written.as_ref().map_or(*field, |written| written.value);
        }
        Ok(())
    }
}

fn extend<T>(list: &mut Option<Vec<T>>, more: Option<Vec<T>>) {
    if let Some(more) = more {
        list.get_or_insert_default().extend(more);
    }
}

/// The rule as it is shown: its decision and words, or its other conditions.
fn describe(section: &CommandRuleSection) -> String {
    let quoted =
        |words: &[String]| words.iter().map(|word| format!("{word:?}")).collect::<Vec<_>>().join(", ");
    let mut text = section.decision.to_string();
    if let Some(argv) = &section.argv {
        text += &format!(" [{}]", quoted(&argv.value));
    }
    if let Some(path) = &section.path {
        text += &format!(" path {:?}", path.value);
    }
    if let Some(kinds) = &section.kinds {
        let names: Vec<&str> = kinds.iter().map(|kind| kind.as_str()).collect();
        text += &format!(" kinds {}", names.join(", "));
    }
    text
}
