//! The findings of a check, as text and as JSON.

use serde::Serialize;

use crate::SyntaxError;
use crate::ast::{LineIndex, Span};
use crate::excerpt::SourceExcerpt;

/// The severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing, and often intended.
    Note,
    /// Probably a mistake.
    Warning,
    /// Certainly a mistake.
    Error,
}

impl Severity {
    /// Returns the severity as a word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// A problem found in a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The code of the rule that found it, or `syntax`.
    pub code: &'static str,
    /// The severity.
    pub severity: Severity,
    /// Source range.
    pub span: Span,
    /// The message: lower case, no period.
    pub message: String,
    /// A suggestion for fixing the problem.
    pub hint: Option<String>,
    /// Related source ranges, each with a note.
    pub related: Vec<(Span, String)>,
    /// Whether it is a syntax error that more input could fix.
    pub incomplete: bool,
}

/// A diagnostic with line and column numbers, for JSON.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct LocatedDiagnostic<'a> {
    /// The code of the rule, or `syntax`.
    code: &'a str,
    severity: Severity,
    message: &'a str,
    #[serde(flatten)]
    range: TextRange,
    /// How to fix it.
    hint: Option<&'a str>,
    /// Other positions that belong to the finding.
    related: Vec<Related<'a>>,
    /// Whether more input could complete the script.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    incomplete: bool,
}

/// A source range. Lines and columns start at 1; columns and offsets count bytes. The end is exclusive.
#[derive(Clone, Copy, Debug, Serialize, schemars::JsonSchema)]
struct TextRange {
    line: u32,
    column: u32,
    end_line: u32,
    end_column: u32,
    start: u32,
    end: u32,
}

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
struct Related<'a> {
    message: &'a str,
    #[serde(flatten)]
    range: TextRange,
}

fn text_range(span: Span, lines: &LineIndex) -> TextRange {
    let (line, column) = lines.position(span.start);
    let (end_line, end_column) = lines.position(span.end.max(span.start));
    TextRange { line, column, end_line, end_column, start: span.start, end: span.end }
}

impl Diagnostic {
    /// Returns the full report: the message, the location, the source line with a caret, related locations,
    /// and the hint. It ends with a newline.
    ///
    /// `name` is the file name to show, `source` the text that was checked, `lines` its line index.
    #[must_use]
    pub fn render(&self, name: &str, source: &[u8], lines: &LineIndex) -> String {
        let mut report = format!("{}: {} [{}]\n", self.severity.word(), self.message, self.code);
        let excerpt = SourceExcerpt { name, source, lines };
        excerpt.append_to(&mut report, self.span, "");
        self.related.iter().for_each(|(span, note)| excerpt.append_to(&mut report, *span, note));
        if let Some(hint) = &self.hint {
            report.push_str(&format!("hint: {hint}\n"));
        }
        report
    }

    /// Returns the diagnostic with line and column numbers.
    #[must_use]
    pub fn locate(&self, lines: &LineIndex) -> LocatedDiagnostic<'_> {
        let related = self.related.iter();
        LocatedDiagnostic {
            code: self.code,
            severity: self.severity,
            message: &self.message,
            range: text_range(self.span, lines),
            hint: self.hint.as_deref(),
            related: related
                .map(|(span, message)| Related { message, range: text_range(*span, lines) })
                .collect(),
            incomplete: self.incomplete,
        }
    }
}

impl From<&SyntaxError> for Diagnostic {
    fn from(error: &SyntaxError) -> Self {
        let opened = error.opened.iter();
        Self {
            code: "syntax",
            severity: Severity::Error,
            span: error.span,
            message: error.message(),
            hint: error.hint.clone(),
            related: opened
                .map(|opened| (opened.span, format!("\"{}\" was opened here", opened.what)))
                .collect(),
            incomplete: error.incomplete,
        }
    }
}
