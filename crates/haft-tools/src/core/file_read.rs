//! `file_read`: reads lines of a text file.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::Path;

use haft_process::capture::DecodedText;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{binary, describe, failed, read_arguments, reads};
use crate::envelope::CallError;
use crate::native::{CallContext, NativeTool};
use crate::text;
use crate::tool::ToolDescriptor;

/// Maximum size of a result.
const MAX_CONTENT_BYTES: usize = 256 << 10;
/// Number of bytes used to detect binary files.
const SAMPLE_BYTES: usize = 8 << 10;

#[derive(Debug)]
pub(super) struct FileReadTool;

#[derive(Deserialize)]
struct FileReadArguments {
    path: String,
    offset: u64,
    limit: u64,
    line_numbers: bool,
}

impl NativeTool for FileReadTool {
    fn descriptor(&self) -> ToolDescriptor {
        describe(
            "file_read",
            "Read lines of a text file. If the result is truncated, continue with offset = next_offset.",
            reads("path"),
            json!({
                "properties": {
                    "path": {"type": "string", "description": "The file"},
                    "offset": {"type": "integer", "minimum": 1, "default": 1, "description": "First line, from 1"},
                    "limit": {"type": "integer", "minimum": 1, "default": 2000, "description": "Maximum lines"},
                    "line_numbers": {"type": "boolean", "default": false, "description": "Number the lines"},
                },
                "required": ["path"],
            }),
        )
    }

    fn call(&self, arguments: &Value, call: &CallContext<'_>) -> Result<Value, CallError> {
        let arguments: FileReadArguments = read_arguments(arguments)?;
        let path = call.path(&arguments.path);
        let mut reader = open(&path)?;
        let part = read_part(&mut reader, &arguments, &path, call)?;
        Ok(part.result(&arguments.path))
    }

    /// The content, and a line that says how to read on.
    fn text(&self, result: &Value) -> Option<String> {
        let mut text = result["content"].as_str()?.to_owned();
        let mut facts = Vec::new();
        if let Some(line) = result["cut_line"].as_u64() {
            facts.push(format!("line {line} is cut"));
        }
        if let Some(next) = result["next_offset"].as_u64() {
            let (first, path) = (&result["first_line"], &result["path"]);
            facts
                .push(format!("lines {first}-{}; continue: file_read(path={path}, offset={next})", next - 1));
        }
        if result["lossy"] == true {
            facts.push("not valid UTF-8".to_owned());
        }
        if text.is_empty() && facts.is_empty() {
            facts.push(format!("no lines; the file has {}", result["total_lines"]));
        }
        text::push_facts(&mut text, &facts);
        Some(text)
    }
}

/// The requested lines.
struct FileLines {
    /// Number of the first line.
    first: u64,
    count: u64,
    content: Vec<u8>,
    /// True if the file has more lines.
    more: bool,
    /// Number of a line that was cut because it is too long.
    cut_line: Option<u64>,
}

impl FileLines {
    fn result(self, path: &str) -> Value {
        let text = DecodedText::decode(&self.content);
        let mut result = json!({
            "path": path,
            "content": text.text,
            "first_line": self.first,
            "lines": self.count,
            "truncated": self.more,
        });
        if self.more {
            result["next_offset"] = (self.first + self.count).into();
        } else {
            result["total_lines"] = (self.first + self.count - 1).into();
        }
        if let Some(line) = self.cut_line {
            result["cut_line"] = line.into();
        }
        if text.lossy {
            result["lossy"] = true.into();
        }
        result
    }
}

/// Skips to the first requested line and reads as many lines as requested and allowed.
fn read_part(
    reader: &mut BufReader<File>,
    arguments: &FileReadArguments,
    path: &Path,
    call: &CallContext<'_>,
) -> Result<FileLines, CallError> {
    let could_not = |error: io::Error| failed("read", path, &error);
    let mut lines = LineSkipper { number: 1, skipped_newline: true };
    while lines.number < arguments.offset {
        call.check()?;
        if !lines.skip(reader).map_err(could_not)? {
            break;
        }
    }
    let mut part =
        FileLines { first: lines.number, count: 0, content: Vec::new(), more: false, cut_line: None };
    let mut cut = false;
    while part.count < arguments.limit && !cut {
        if part.count.is_multiple_of(4096) {
            call.check()?;
        }
        let line = read_line(reader, MAX_CONTENT_BYTES - part.content.len()).map_err(could_not)?;
        let Some((line, whole)) = line else { break };
        if !whole && part.count > 0 {
            // The next request starts with this line and has room for it.
            part.more = true;
            return Ok(part);
        }
        if arguments.line_numbers {
            part.content.extend_from_slice(format!("{:>6}\t", part.first + part.count).as_bytes());
        }
        part.content.extend_from_slice(&line);
        part.cut_line = (!whole).then_some(part.first + part.count);
        cut = !whole || part.content.len() >= MAX_CONTENT_BYTES;
        part.count += 1;
    }
    part.more = !reader.fill_buf().map_err(could_not)?.is_empty();
    Ok(part)
}

/// Opens a regular text file.
fn open(path: &Path) -> Result<BufReader<File>, CallError> {
    let metadata = path.metadata().map_err(|error| failed("read", path, &error))?;
    if metadata.is_dir() {
        return Err(CallError::invalid(format!(
            "'{}' is a directory; list its files with glob",
            path.display()
        )));
    }
    if !metadata.is_file() {
        return Err(CallError::invalid(format!("'{}' is not a regular file", path.display())));
    }
    let file = File::open(path).map_err(|error| failed("read", path, &error))?;
    let mut reader = BufReader::with_capacity(SAMPLE_BYTES, file);
    let beginning = reader.fill_buf().map_err(|error| failed("read", path, &error))?;
    match binary::binary_type(beginning) {
        Some(kind) => Err(CallError::invalid(format!("'{}' is not text: {kind}", path.display()))),
        None => Ok(reader),
    }
}

/// Position while skipping lines.
struct LineSkipper {
    number: u64,
    skipped_newline: bool,
}

impl LineSkipper {
    /// Skips one line in chunks. Returns false at the end of the file.
    fn skip(&mut self, reader: &mut impl BufRead) -> io::Result<bool> {
        loop {
            let buffer = reader.fill_buf()?;
            if buffer.is_empty() {
                self.number += u64::from(!self.skipped_newline);
                self.skipped_newline = true;
                return Ok(false);
            }
            let newline = buffer.iter().position(|byte| *byte == b'\n');
            let taken = newline.map_or(buffer.len(), |newline| newline + 1);
            reader.consume(taken);
            self.skipped_newline = newline.is_some();
            if newline.is_some() {
                self.number += 1;
                return Ok(true);
            }
        }
    }
}

/// Reads a line with its newline, at most `budget` bytes, and whether it is complete.
fn read_line(reader: &mut impl BufRead, budget: usize) -> io::Result<Option<(Vec<u8>, bool)>> {
    let mut line = Vec::new();
    reader.take(budget.max(1) as u64).read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Ok(None);
    }
    let whole = line.ends_with(b"\n") || line.len() < budget;
    Ok(Some((line, whole)))
}
