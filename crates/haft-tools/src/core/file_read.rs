//! `file_read`: lines of a text file.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::Path;

use haft_process::capture::DecodedText;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{binary, describe, failed, read_arguments, reads};
use crate::envelope::CallError;
use crate::native::{CallContext, NativeTool};
use crate::tool::ToolDescriptor;

/// So many bytes are shown at once.
const BUDGET: usize = 256 << 10;
/// So many bytes tell whether it is text.
const SAMPLE: usize = 8 << 10;

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
            "Read lines of a text file. Says how to go on where there is more.",
            reads("path"),
            json!({
                "properties": {
                    "path": {"type": "string", "description": "The file"},
                    "offset": {"type": "integer", "minimum": 1, "default": 1, "description": "The first line, counted from 1"},
                    "limit": {"type": "integer", "minimum": 1, "default": 2000, "description": "At most so many lines"},
                    "line_numbers": {"type": "boolean", "default": false, "description": "Put its number before each line"},
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
}

/// The lines that were asked for.
struct FileLines {
    /// The number of the first of them.
    first: u64,
    count: u64,
    content: Vec<u8>,
    /// Whether there is something after them.
    more: bool,
    /// The number of a line that is too long to be shown whole.
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

/// Skips to the first line and takes lines from there, as many as are wanted and fit.
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
        let line = read_line(reader, BUDGET - part.content.len()).map_err(could_not)?;
        let Some((line, whole)) = line else { break };
        if !whole && part.count > 0 {
            // It will be the first of the next part, where there is more room for it.
            part.more = true;
            return Ok(part);
        }
        if arguments.line_numbers {
            part.content.extend_from_slice(format!("{:>6}\t", part.first + part.count).as_bytes());
        }
        part.content.extend_from_slice(&line);
        part.cut_line = (!whole).then_some(part.first + part.count);
        cut = !whole || part.content.len() >= BUDGET;
        part.count += 1;
    }
    part.more = !reader.fill_buf().map_err(could_not)?.is_empty();
    Ok(part)
}

/// Opens a regular file that is text.
fn open(path: &Path) -> Result<BufReader<File>, CallError> {
    let metadata = path.metadata().map_err(|error| failed("read", path, &error))?;
    if metadata.is_dir() {
        return Err(CallError::invalid(format!(
            "'{}' is a directory; see what is in it with glob",
            path.display()
        )));
    }
    if !metadata.is_file() {
        return Err(CallError::invalid(format!("'{}' is no regular file", path.display())));
    }
    let file = File::open(path).map_err(|error| failed("read", path, &error))?;
    let mut reader = BufReader::with_capacity(SAMPLE, file);
    let beginning = reader.fill_buf().map_err(|error| failed("read", path, &error))?;
    match binary::kind(beginning) {
        Some(kind) => Err(CallError::invalid(format!("'{}' is no text but {kind}", path.display()))),
        None => Ok(reader),
    }
}

/// Where in the lines of a file a reader is.
struct LineSkipper {
    number: u64,
    skipped_newline: bool,
}

impl LineSkipper {
    /// Skips one line, in pieces; says whether there was one.
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

/// A line with its newline, and whether it is whole; at most so many bytes of it.
fn read_line(reader: &mut impl BufRead, budget: usize) -> io::Result<Option<(Vec<u8>, bool)>> {
    let mut line = Vec::new();
    reader.take(budget.max(1) as u64).read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Ok(None);
    }
    let whole = line.ends_with(b"\n") || line.len() < budget;
    Ok(Some((line, whole)))
}
