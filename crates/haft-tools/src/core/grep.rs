//! `grep`: finds lines by content.

use std::path::Path;

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkMatch,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::walk::{self, FileFilter};
use super::{describe, read_arguments, reads};
use crate::envelope::CallError;
use crate::native::{CallContext, NativeTool};
use crate::text;
use crate::tool::ToolDescriptor;

/// Maximum length of a displayed line, in characters.
const MAX_LINE_CHARS: usize = 500;

#[derive(Debug)]
pub(super) struct GrepTool;

#[derive(Deserialize)]
struct GrepArguments {
    pattern: String,
    path: String,
    glob: Option<String>,
    output: GrepOutput,
    ignore_case: bool,
    fixed: bool,
    multiline: bool,
    context: usize,
    before: Option<usize>,
    after: Option<usize>,
    limit: usize,
    hidden: bool,
    ignored: bool,
}

#[derive(Clone, Copy, Default, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum GrepOutput {
    #[default]
    Lines,
    Files,
    Counts,
}

impl NativeTool for GrepTool {
    fn descriptor(&self) -> ToolDescriptor {
        describe(
            "grep",
            "Search files recursively by regular expression, in ripgrep syntax. Respects .gitignore.",
            reads("path"),
            json!({
                "properties": {
                    "pattern": {"type": "string", "minLength": 1, "description": "Regular expression"},
                    "path": {"type": "string", "default": ".", "description": "Directory or file to search"},
                    "glob": {"type": "string", "description": "Only files that match, such as `*.rs`, or `!*.md`"},
                    "output": {"enum": ["lines", "files", "counts"], "default": "lines", "description": "Matching lines, names of files, or matches per file"},
                    "ignore_case": {"type": "boolean", "default": false, "description": "Ignore case"},
                    "fixed": {"type": "boolean", "default": false, "description": "The pattern is literal text"},
                    "multiline": {"type": "boolean", "default": false, "description": "Match across lines"},
                    "context": {"type": "integer", "minimum": 0, "default": 0, "description": "Lines around each match"},
                    "before": {"type": "integer", "minimum": 0, "description": "Lines before"},
                    "after": {"type": "integer", "minimum": 0, "description": "Lines after"},
                    "limit": {"type": "integer", "minimum": 1, "default": 200, "description": "Maximum results"},
                    "hidden": {"type": "boolean", "default": false, "description": "Include hidden files"},
                    "ignored": {"type": "boolean", "default": false, "description": "Include ignored files"},
                },
                "required": ["pattern"],
            }),
        )
    }

    fn call(&self, arguments: &Value, call: &CallContext<'_>) -> Result<Value, CallError> {
        let arguments: GrepArguments = read_arguments(arguments)?;
        let matcher = matcher(&arguments)?;
        let mut searcher = searcher(&arguments);
        let root = walk::clean(&call.path(&arguments.path));
        let filter = FileFilter {
            hidden: arguments.hidden,
            ignored: arguments.ignored,
            matching: arguments.glob.as_deref(),
        };
        let mut found =
            GrepResults { mode: arguments.output, limit: arguments.limit, ..GrepResults::default() };
        let unreadable = walk::files(&root, filter, call, |entry| {
            found.search(&mut searcher, &matcher, entry.path(), call)?;
            Ok(!found.is_full())
        })?;
        found.unreadable += unreadable;
        Ok(found.result())
    }

    /// Lines as `grep -n` prints them, names of files, or counts.
    fn text(&self, result: &Value) -> Option<String> {
        let entries = ["matches", "files", "counts"].iter().find_map(|name| result[name].as_array())?;
        let mut text = String::new();
        entries.iter().for_each(|entry| write_entry(&mut text, entry));
        let mut facts = Vec::new();
        if entries.is_empty() {
            facts.push("no matches".to_owned());
        }
        if result["truncated"] == true {
            facts.push(format!("only the first {}; narrow the search or set limit", entries.len()));
        }
        facts.extend(text::unreadable(result));
        text::push_facts(&mut text, &facts);
        Some(text)
    }
}

/// Writes a match with its context lines, the name of a file, or a count.
fn write_entry(text: &mut String, entry: &Value) {
    let path = entry["path"].as_str().or(entry.as_str()).unwrap_or_default();
    let context = |name: &str| entry[name].as_array().cloned().unwrap_or_default();
    let (before, after) = (context("before"), context("after"));
    if let Some(line) = entry["line"].as_u64() {
        let has_context = !before.is_empty() || !after.is_empty();
        if has_context && !text.is_empty() {
            text.push_str("--\n");
        }
        let first = line.saturating_sub(before.len() as u64);
        let lines = before.iter().map(|line| (line, '-'));
        let lines = lines.chain([(&entry["text"], ':')]).chain(after.iter().map(|line| (line, '-')));
        for (number, (line, mark)) in (first..).zip(lines) {
            let line = line.as_str().unwrap_or_default();
            text.push_str(&format!("{path}{mark}{number}{mark}{line}\n"));
        }
    } else if let Some(count) = entry["count"].as_u64() {
        text.push_str(&format!("{path}:{count}\n"));
    } else {
        text.push_str(&format!("{path}\n"));
    }
}

fn matcher(arguments: &GrepArguments) -> Result<RegexMatcher, CallError> {
    let mut builder = RegexMatcherBuilder::new();
    builder.case_insensitive(arguments.ignore_case).fixed_strings(arguments.fixed).multi_line(true);
    if !arguments.multiline {
        builder.line_terminator(Some(b'\n'));
    }
    builder
        .build(&arguments.pattern)
        .map_err(|error| CallError::invalid(format!("parameter 'pattern': {error}")))
}

fn searcher(arguments: &GrepArguments) -> Searcher {
    SearcherBuilder::new()
        .line_number(true)
        .multi_line(arguments.multiline)
        .before_context(arguments.before.unwrap_or(arguments.context))
        .after_context(arguments.after.unwrap_or(arguments.context))
        .binary_detection(BinaryDetection::quit(0))
        .build()
}

/// Results so far.
#[derive(Default)]
struct GrepResults {
    mode: GrepOutput,
    limit: usize,
    entries: Vec<Value>,
    files: usize,
    total: usize,
    /// Files and directories that could not be read.
    unreadable: usize,
    full: bool,
}

impl GrepResults {
    fn is_full(&self) -> bool {
        self.full
    }

    fn search(
        &mut self,
        searcher: &mut Searcher,
        matcher: &RegexMatcher,
        path: &Path,
        call: &CallContext<'_>,
    ) -> Result<(), CallError> {
        if !path.is_file() {
            return Ok(());
        }
        let shown = walk::shown(path, call);
        let before = self.total;
        let mut collector =
            MatchCollector { found: self, path: &shown, call, pending: Vec::new(), error: None, here: 0 };
        let searched = searcher.search_path(matcher, path, &mut collector);
        if let Some(error) = collector.error.take() {
            return Err(error);
        }
        self.unreadable += usize::from(searched.is_err());
        let here = self.total - before;
        if here > 0 {
            self.files += 1;
            match self.mode {
                GrepOutput::Lines => {}
                GrepOutput::Files => self.entries.push(shown.into()),
                GrepOutput::Counts => self.entries.push(json!({"path": shown, "count": here})),
            }
            self.full |= self.mode != GrepOutput::Lines && self.entries.len() >= self.limit;
        }
        Ok(())
    }

    fn result(self) -> Value {
        let name = match self.mode {
            GrepOutput::Lines => "matches",
            GrepOutput::Files => "files",
            GrepOutput::Counts => "counts",
        };
        let mut result = json!({"truncated": self.full});
        result[name] = Value::Array(self.entries);
        if self.mode != GrepOutput::Files {
            result["total"] = self.total.into();
        }
        if self.mode == GrepOutput::Lines {
            result["in_files"] = self.files.into();
        }
        if self.unreadable > 0 {
            result["unreadable"] = self.unreadable.into();
        }
        result
    }
}

/// Collects the matches of one file.
struct MatchCollector<'a, 'f> {
    found: &'f mut GrepResults,
    path: &'a str,
    call: &'a CallContext<'a>,
    /// Lines before the next match.
    pending: Vec<Value>,
    error: Option<CallError>,
    here: usize,
}

impl Sink for MatchCollector<'_, '_> {
    type Error = std::io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, std::io::Error> {
        self.error = self.call.check().err();
        self.found.total += 1;
        self.here += 1;
        match self.found.mode {
            GrepOutput::Files => return Ok(false),
            GrepOutput::Counts => return Ok(self.error.is_none()),
            GrepOutput::Lines => {}
        }
        if self.found.entries.len() >= self.found.limit {
            self.found.total -= 1;
            self.found.full = true;
            return Ok(false);
        }
        let mut entry = json!({"path": self.path, "line": found.line_number(), "text": shown(found.bytes())});
        let before = std::mem::take(&mut self.pending);
        if !before.is_empty() {
            entry["before"] = Value::Array(before);
        }
        self.found.entries.push(entry);
        Ok(self.error.is_none())
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> Result<bool, std::io::Error> {
        let line = Value::String(shown(context.bytes()));
        match (context.kind(), self.found.entries.last_mut()) {
            (SinkContextKind::After, Some(entry)) if self.here > 0 => {
                if let Some(after) = entry.get_mut("after").and_then(Value::as_array_mut) {
                    after.push(line);
                } else {
                    entry["after"] = json!([line]);
                }
            }
            _ => self.pending.push(line),
        }
        Ok(true)
    }
}

fn shown(bytes: &[u8]) -> String {
    let text = text::decode(bytes);
    text::shorten(text.trim_end_matches(['\n', '\r']), MAX_LINE_CHARS)
}
