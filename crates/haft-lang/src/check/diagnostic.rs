//! What a check finds, as data, for people and for programs.

use serde::Serialize;

use crate::SyntaxError;
use crate::ast::{LineIndex, Span};
use crate::excerpt::SourceExcerpt;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; often meant so.
    Note,
    /// Probably wrong.
    Warning,
    /// Certainly wrong.
    Error,
}

impl Severity {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// Something that is wrong with a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The code of the rule that found it, or `syntax`.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// Where it is.
    pub span: Span,
    /// What is wrong: lower case, no period.
    pub message: String,
    /// What may help.
    pub hint: Option<String>,
    /// Other places that have to do with it, and what they are.
    pub related: Vec<(Span, String)>,
    /// Whether it is a syntax error that more input could mend.
    pub incomplete: bool,
}

/// A diagnostic with lines and columns: the form for programs.
#[derive(Clone, Debug, Serialize)]
pub struct LocatedDiagnostic<'a> {
    code: &'a str,
    severity: Severity,
    message: &'a str,
    #[serde(flatten)]
    place: TextRange,
    hint: Option<&'a str>,
    related: Vec<Related<'a>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    incomplete: bool,
}

/// Lines and columns are counted from 1, columns and offsets in bytes; the end is exclusive.
#[derive(Clone, Copy, Debug, Serialize)]
struct TextRange {
    line: u32,
    column: u32,
    end_line: u32,
    end_column: u32,
    start: u32,
    end: u32,
}

#[derive(Clone, Debug, Serialize)]
struct Related<'a> {
    message: &'a str,
    #[serde(flatten)]
    place: TextRange,
}

fn place(span: Span, lines: &LineIndex) -> TextRange {
    let (line, column) = lines.position(span.start);
    let (end_line, end_column) = lines.position(span.end.max(span.start));
    TextRange { line, column, end_line, end_column, start: span.start, end: span.end }
}

impl Diagnostic {
    /// The report: message, place, the line with a caret under it, related places, and the hint. Ends with a newline.
    ///
    /// `name` is what the source is called, `source` the text that was checked, `lines` its lines.
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

    /// The form for programs.
    #[must_use]
    pub fn locate(&self, lines: &LineIndex) -> LocatedDiagnostic<'_> {
        let related = self.related.iter();
        LocatedDiagnostic {
            code: self.code,
            severity: self.severity,
            message: &self.message,
            place: place(self.span, lines),
            hint: self.hint.as_deref(),
            related: related.map(|(span, message)| Related { message, place: place(*span, lines) }).collect(),
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
