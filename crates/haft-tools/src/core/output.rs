//! `output`: shows any part of an output that a result has truncated.

use haft_process::capture::{LineSearch, OutputView};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{describe, read_arguments};
use crate::access::ToolAccess;
use crate::envelope::CallError;
use crate::native::{CallContext, NativeTool};
use crate::tool::ToolDescriptor;

#[derive(Debug)]
pub(super) struct OutputTool;

#[derive(Deserialize)]
struct OutputArguments {
    id: String,
    head: Option<u64>,
    tail: Option<u64>,
    first: Option<u64>,
    last: Option<u64>,
    grep: Option<String>,
    context: u64,
    limit: usize,
}

impl NativeTool for OutputTool {
    fn descriptor(&self) -> ToolDescriptor {
        describe(
            "output",
            "Show a part of an output that an earlier result truncated, without running anything again: the first or last lines, a range of lines, or matching lines.",
            ToolAccess::None,
            json!({
                "properties": {
                    "id": {"type": "string", "description": "Id of the output from the truncated result"},
                    "head": {"type": "integer", "minimum": 1, "description": "Number of first lines"},
                    "tail": {"type": "integer", "minimum": 1, "description": "Number of last lines"},
                    "first": {"type": "integer", "minimum": 1, "description": "First line of a range"},
                    "last": {"type": "integer", "minimum": 1, "description": "Last line of a range"},
                    "grep": {"type": "string", "minLength": 1, "description": "Return numbered lines that match this regular expression"},
                    "context": {"type": "integer", "minimum": 0, "default": 0, "description": "With grep: number of context lines around each match"},
                    "limit": {"type": "integer", "minimum": 1, "maximum": 1_048_576, "default": 32768, "description": "Maximum number of bytes"},
                },
                "required": ["id"],
            }),
        )
    }

    fn call(&self, arguments: &Value, call: &CallContext<'_>) -> Result<Value, CallError> {
        let arguments: OutputArguments = read_arguments(arguments)?;
        let view = view(&arguments)?;
        let id = &arguments.id;
        let output = call.output(id).ok_or_else(|| {
            let error = format!("parameter 'id': unknown output '{id}'; outputs are kept for at most a day");
            CallError::invalid(error)
        })?;
        let shown =
            output.summary(&view, arguments.limit).map_err(|error| CallError::failed(error.to_string()))?;
        let mut result = json!({
            "id": id,
            "text": shown.text,
            "truncated": shown.truncated,
            "total_bytes": shown.total_bytes,
            "total_lines": shown.total_lines,
        });
        if let Some(lost) = shown.omitted.map(|omitted| omitted.lost_bytes).filter(|lost| *lost > 0) {
            result["lost_bytes"] = lost.into();
        }
        if shown.lossy {
            result["lossy"] = true.into();
        }
        Ok(result)
    }
}

fn view(arguments: &OutputArguments) -> Result<OutputView, CallError> {
    let wrong = |error: String| CallError::invalid(error);
    let lines = arguments.first.is_some() || arguments.last.is_some();
    let asked = [arguments.head.is_some(), arguments.tail.is_some(), lines, arguments.grep.is_some()];
    if asked.into_iter().filter(|asked| *asked).count() > 1 {
        return Err(wrong("use only one of 'head', 'tail', 'first'/'last' and 'grep'".to_owned()));
    }
    Ok(match arguments {
        OutputArguments { head: Some(count), .. } => OutputView::HeadLines(*count),
        OutputArguments { tail: Some(count), .. } => OutputView::TailLines(*count),
        OutputArguments { grep: Some(pattern), context, .. } => {
            let search =
                LineSearch::new(pattern).map_err(|error| wrong(format!("parameter 'grep': {error}")))?;
            OutputView::Matches(search.context(*context, *context))
        }
        OutputArguments { first, last, .. } if lines => {
            OutputView::Lines { first: first.unwrap_or(1), last: last.unwrap_or(u64::MAX - 1) }
        }
        _ => OutputView::HeadAndTail,
    })
}
