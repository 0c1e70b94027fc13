//! The results of checks.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

/// The result of one check.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct DoctorFinding {
    level: FindingLevel,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hint: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FindingLevel {
    Ok,
    Note,
    Problem,
}

/// The results so far.
#[derive(Default)]
pub(crate) struct DoctorFindings(pub(crate) Vec<DoctorFinding>);

impl DoctorFindings {
    pub(crate) fn add(&mut self, level: FindingLevel, message: impl Into<String>) -> &mut DoctorFinding {
        self.0.push(DoctorFinding { level, message: message.into(), hint: None });
        let last = self.0.len() - 1;
        &mut self.0[last]
    }

    /// Adds a problem with an error's hint.
    pub(crate) fn problem(&mut self, message: impl Into<String>, hint: Option<&str>) {
        self.add(FindingLevel::Problem, message).hint = hint.map(str::to_owned);
    }

    pub(crate) fn has_problem(&self) -> bool {
        self.0.iter().any(|finding| finding.level == FindingLevel::Problem)
    }

    /// The findings, one per line, with hints below.
    pub(crate) fn shown(&self) -> String {
        let mut text = String::new();
        for finding in &self.0 {
            let level = match finding.level {
                FindingLevel::Ok => "ok",
                FindingLevel::Note => "note",
                FindingLevel::Problem => "problem",
            };
            let message = finding.message.replace('\n', "\n         ");
            let _ = writeln!(text, "{level:7}  {message}");
            if let Some(hint) = &finding.hint {
                let _ = writeln!(text, "         hint: {hint}");
            }
        }
        text
    }
}
