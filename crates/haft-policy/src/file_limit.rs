//! Rules on files.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::decision::{Decision, PolicyVerdict, RulePlace};
use crate::path_pattern::PathPattern;

/// A use of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FileAccess {
    /// Its content is read, or a directory is listed.
    Read,
    /// Its content or attributes change.
    Write,
    /// It is created, or moved to this path.
    Create,
    /// It is removed, or moved from this path.
    Delete,
}

impl FileAccess {
    /// The name in messages and results.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            FileAccess::Read => "read",
            FileAccess::Write => "write",
            FileAccess::Create => "create",
            FileAccess::Delete => "delete",
        }
    }
}

/// A path pattern with its place.
#[derive(Clone, Debug)]
pub(crate) struct PathRule {
    pub(crate) patterns: Vec<PathPattern>,
    /// The key and the pattern as they are written.
    pub(crate) text: String,
    /// The pattern alone.
    pub(crate) shown: String,
    pub(crate) place: RulePlace,
}

impl PathRule {
    fn matches(&self, path: &Path) -> bool {
        self.patterns.iter().any(|pattern| pattern.matches(path))
    }

    pub(crate) fn plain(&self) -> impl Iterator<Item = PathBuf> {
        self.patterns.iter().filter_map(PathPattern::plain)
    }

    fn decision(&self, verdict: PolicyVerdict, reason: String) -> Decision {
        Decision {
            verdict,
            rule: Some(self.text.clone()),
            place: Some(self.place.clone()),
            reason,
            allowed_instead: None,
        }
    }
}

/// The rules of one layer on files. A missing list allows every path.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileLimits {
    pub(crate) read: Option<Vec<PathRule>>,
    pub(crate) write: Option<Vec<PathRule>>,
    pub(crate) create: Option<Vec<PathRule>>,
    pub(crate) delete: Option<Vec<PathRule>>,
    /// Exceptions, with the verdict and whether they are about reading and about changes.
    pub(crate) exceptions: Vec<FileException>,
}

/// Paths that are denied or asked about although a list allows them.
#[derive(Clone, Debug)]
pub(crate) struct FileException {
    pub(crate) verdict: PolicyVerdict,
    pub(crate) reads: bool,
    pub(crate) changes: bool,
    pub(crate) rule: PathRule,
}

impl FileException {
    pub(crate) fn applies(&self, access: FileAccess) -> bool {
        if access == FileAccess::Read { self.reads } else { self.changes }
    }
}

impl FileLimits {
    /// The list that allows an access. Creation and deletion follow the list for writing unless they have their own.
    pub(crate) fn allowed(&self, access: FileAccess) -> Option<&Vec<PathRule>> {
        match access {
            FileAccess::Read => self.read.as_ref(),
            FileAccess::Write => self.write.as_ref(),
            FileAccess::Create => self.create.as_ref().or(self.write.as_ref()),
            FileAccess::Delete => self.delete.as_ref().or(self.write.as_ref()),
        }
    }

    /// Refuses to move or remove a directory around a protected path, because then another one could take its place.
    fn decide_removal(&self, access: FileAccess, path: &Path) -> Option<Decision> {
        let is_around = |inner: &PathBuf| inner.starts_with(path) && inner != path;
        let around = |exception: &&FileException| exception.rule.plain().any(|inner| is_around(&inner));
        let exceptions = self.exceptions.iter().filter(|_| access == FileAccess::Delete);
        let exception = exceptions.filter(around).max_by_key(|found| found.verdict)?;
        let inner = exception.rule.plain().find(is_around).unwrap_or_default();
        let reason = format!("'{}' contains the protected '{}'", path.display(), inner.display());
        Some(exception.rule.decision(exception.verdict, reason))
    }

    /// Decides about a normalized path.
    pub(crate) fn decide(&self, access: FileAccess, path: &Path) -> Decision {
        let matching = |exception: &&FileException| exception.applies(access) && exception.rule.matches(path);
        if let Some(exception) = self.exceptions.iter().filter(matching).max_by_key(|found| found.verdict) {
            let reason = format!("'{}' is protected", path.display());
            return exception.rule.decision(exception.verdict, reason);
        }
        if let Some(decision) = self.decide_removal(access, path) {
            return decision;
        }
        let Some(allowed) = self.allowed(access) else { return Decision::allowed() };
        match allowed.iter().find(|rule| rule.matches(path)) {
            Some(rule) => rule.decision(PolicyVerdict::Allow, String::new()),
            None => refuse(access, path, allowed),
        }
    }
}

fn refuse(access: FileAccess, path: &Path, allowed: &[PathRule]) -> Decision {
    let reason = format!("no rule allows to {} '{}'", access.as_str(), path.display());
    let decision = Decision { verdict: PolicyVerdict::Deny, reason, ..Decision::default() };
    let Some(first) = allowed.first() else { return decision };
    let shown: Vec<&str> =
        allowed.iter().map(|rule| rule.shown.as_str()).filter(|shown| *shown != "$devices").collect();
    Decision {
        rule: Some(first.text.split(' ').next().unwrap_or_default().to_owned()),
        place: Some(first.place.clone()),
        allowed_instead: (!shown.is_empty()).then(|| format!("{} {}", access.as_str(), shown.join(", "))),
        ..decision
    }
}
