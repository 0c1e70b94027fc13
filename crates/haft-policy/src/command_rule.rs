//! Rules on commands.
//!
//! An `allow` rule is strict: its words must match in order. A `deny` or `ask` rule is wide: options may stand in any
//! order and grouping, options before a subcommand are skipped, and every path to a program of the name matches.

use std::os::unix::ffi::OsStrExt as _;

use crate::command::{DispatchKind, JudgedCommand, JudgedWord, base_name};
use crate::context::PolicyContext;
use crate::decision::{Decision, PolicyVerdict, RulePlace};
use crate::options::{OptionPattern, skip_options};
use crate::path_pattern::PathPattern;
use crate::wildcard;

/// A rule on commands.
#[derive(Clone, Debug)]
pub(crate) struct CommandRule {
    pub(crate) verdict: PolicyVerdict,
    pub(crate) name: CommandNamePattern,
    /// The words after the name; for wide rules, without options.
    pub(crate) words: Vec<Vec<u8>>,
    /// The options of a wide rule.
    pub(crate) options: Vec<OptionPattern>,
    /// Whether further words are refused.
    pub(crate) exact: bool,
    pub(crate) kinds: Vec<DispatchKind>,
    pub(crate) paths: Option<Vec<PathPattern>>,
    pub(crate) reason: Option<String>,
    pub(crate) instead: Option<String>,
    /// The rule as it is written.
    pub(crate) text: String,
    pub(crate) place: RulePlace,
}

/// A pattern on the name of a command.
#[derive(Clone, Debug)]
pub(crate) enum CommandNamePattern {
    /// Any command: the rule has no `argv`.
    Any,
    Name(Vec<u8>),
    Path(Vec<PathPattern>),
}

/// Whether a rule applies to a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RuleMatch {
    No,
    /// It depends on words that are not known yet.
    Maybe,
    Yes,
}

impl RuleMatch {
    fn certain(matched: bool) -> RuleMatch {
        if matched { RuleMatch::Yes } else { RuleMatch::No }
    }
}

impl CommandRule {
    /// Whether the rule applies to more than its exact spelling.
    fn is_wide(&self) -> bool {
        self.verdict != PolicyVerdict::Allow
    }

    /// Whether the rule applies to a command.
    pub(crate) fn matches(&self, command: &JudgedCommand<'_>, context: &PolicyContext) -> RuleMatch {
        let is_kind = match self.kinds.as_slice() {
            // A function is judged by the commands in it.
            [] => command.kind != DispatchKind::Function,
            kinds => kinds.contains(&command.kind),
        };
        let has_path = self.paths.as_ref().is_none_or(|patterns| {
            command.path.as_ref().is_some_and(|path| patterns.iter().any(|pattern| pattern.matches(path)))
        });
        if !is_kind || !has_path {
            return RuleMatch::No;
        }
        let Some((name, words)) = command.words.split_first() else { return RuleMatch::No };
        let name = self.match_name(*name, command, context);
        if name == RuleMatch::No {
            return RuleMatch::No;
        }
        let words =
            if self.is_wide() { self.match_wide(words) } else { match_words(&self.words, words, self.exact) };
        name.min(words)
    }

    fn match_name(
        &self,
        name: JudgedWord<'_>,
        command: &JudgedCommand<'_>,
        context: &PolicyContext,
    ) -> RuleMatch {
        let pattern = match &self.name {
            CommandNamePattern::Any => return RuleMatch::Yes,
            CommandNamePattern::Path(patterns) => {
                let matched =
                    |path: &std::path::PathBuf| patterns.iter().any(|pattern| pattern.matches(path));
                return RuleMatch::certain(command.path.as_ref().is_some_and(matched));
            }
            CommandNamePattern::Name(pattern) => pattern,
        };
        let JudgedWord::Known(name) = name else {
            return match_word(pattern, name);
        };
        let path = command.path.as_deref();
        let file = || path.and_then(|path| path.file_name()).map(|name| name.as_bytes());
        let is_named = wildcard::matches(pattern, base_name(name));
        if self.is_wide() {
            return RuleMatch::certain(
                is_named || file().is_some_and(|file| wildcard::matches(pattern, file)),
            );
        }
        // A name stands for a program of the machine, not for one that a run could have put in its place.
        let is_replaced = path.is_some_and(|path| context.is_changeable(path));
        let is_relative = name.contains(&b'/') && !name.starts_with(b"/");
        RuleMatch::certain(is_named && !is_replaced && (!is_relative || path.is_some()))
    }

    /// Matches words of a wide rule: options anywhere, the rest in order.
    fn match_wide(&self, words: &[JudgedWord<'_>]) -> RuleMatch {
        let options = self.options.iter().map(|option| option.find(words));
        let options = options.min().unwrap_or(RuleMatch::Yes);
        if options == RuleMatch::No {
            return RuleMatch::No;
        }
        if self.words.is_empty() && !self.exact {
            return options;
        }
        let name: &[u8] = if let CommandNamePattern::Name(name) = &self.name { name } else { b"" };
        let starts = skip_options(name, words);
        let rest = starts.map(|start| match_operands(&self.words, &words[start..], self.exact));
        options.min(rest.max().unwrap_or(RuleMatch::No))
    }

    /// The decision of this rule about a command that it matches.
    pub(crate) fn decision(&self, matched: RuleMatch) -> Decision {
        let verdict =
            if matched == RuleMatch::Yes { self.verdict } else { self.verdict.min(PolicyVerdict::Ask) };
        let reason = match (&self.reason, matched) {
            (_, RuleMatch::Maybe) => "a rule may match, depending on words that are not known yet".to_owned(),
            (Some(reason), _) => reason.clone(),
            (None, _) => String::new(),
        };
        Decision {
            verdict,
            rule: Some(self.text.clone()),
            place: Some(self.place.clone()),
            reason,
            allowed_instead: self.instead.clone(),
        }
    }
}

fn match_word(pattern: &[u8], word: JudgedWord<'_>) -> RuleMatch {
    match word {
        JudgedWord::Known(text) => RuleMatch::certain(wildcard::matches(pattern, text)),
        JudgedWord::Unknown { several: false, .. } if pattern == b"*" => RuleMatch::Yes,
        JudgedWord::Unknown { several: true, .. } => RuleMatch::Maybe,
        JudgedWord::Unknown { prefix, .. } if wildcard::may_match(pattern, prefix) => RuleMatch::Maybe,
        JudgedWord::Unknown { .. } => RuleMatch::No,
    }
}

/// Matches patterns with the words at the beginning. A last `*` stands for any number of words.
fn match_words(patterns: &[Vec<u8>], words: &[JudgedWord<'_>], exact: bool) -> RuleMatch {
    let mut matched = RuleMatch::Yes;
    for (at, pattern) in patterns.iter().enumerate() {
        if pattern == b"*" && at + 1 == patterns.len() {
            return matched;
        }
        let Some(word) = words.get(at) else { return RuleMatch::No };
        if word.is_several() {
            return RuleMatch::Maybe;
        }
        matched = matched.min(match_word(pattern, *word));
        if matched == RuleMatch::No {
            return RuleMatch::No;
        }
    }
    match words.get(patterns.len()) {
        Some(word) if exact => {
            if word.is_several() {
                RuleMatch::Maybe
            } else {
                RuleMatch::No
            }
        }
        _ => matched,
    }
}

/// Matches patterns of a wide rule, between whose words options may stand.
fn match_operands(patterns: &[Vec<u8>], words: &[JudgedWord<'_>], exact: bool) -> RuleMatch {
    let is_operand =
        |word: &&JudgedWord<'_>| word.prefix().first() != Some(&b'-') || word.prefix().len() == 1;
    let (first, rest) = words.split_at(words.len().min(1));
    let operands: Vec<JudgedWord<'_>> = first.iter().chain(rest.iter().filter(is_operand)).copied().collect();
    match_words(patterns, &operands, exact).max(match_words(patterns, words, exact))
}
