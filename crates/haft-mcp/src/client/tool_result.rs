//! Converts the result of a remote tool to JSON.

use haft_tools::{CallContext, CallError, exact};
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::Value;

/// The structured content if there is any. Otherwise a single text, parsed as JSON if it is an object or array, or a
/// list of all content blocks. Blocks that are not plain text, such as images, are passed on as they are, too.
///
/// # Errors
/// Fails if the server marked the result as an error.
pub(super) fn to_value(result: CallToolResult, call: &CallContext<'_>) -> Result<Value, CallError> {
    let is_plain =
        |part: &ContentBlock| matches!(part, ContentBlock::Text(text) if text.annotations.is_none());
    if !result.content.iter().all(is_plain) {
        call.pass_content(serde_json::to_value(&result.content).unwrap_or_default());
    }
    convert(result)
}

fn convert(result: CallToolResult) -> Result<Value, CallError> {
    let texts = result.content.iter().filter_map(|part| match part {
        ContentBlock::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    if result.is_error == Some(true) {
        let text = texts.collect::<Vec<_>>().join("\n");
        return Err(CallError::failed(if text.is_empty() {
            "the tool failed without a message".to_owned()
        } else {
            text
        }));
    }
    if let Some(structured) = result.structured_content {
        return Ok(structured);
    }
    match result.content.as_slice() {
        [] => Ok(Value::Null),
        [ContentBlock::Text(text)] => Ok(parse_text(&text.text)),
        parts => Ok(serde_json::to_value(parts).unwrap_or_default()),
    }
}

/// Parses a text as JSON if it is an object or array.
fn parse_text(text: &str) -> Value {
    let structured = exact::parse(text).ok().filter(|value| value.is_object() || value.is_array());
    structured.unwrap_or_else(|| Value::String(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text(text: &str) -> ContentBlock {
        ContentBlock::text(text)
    }

    #[test]
    fn results_become_values() {
        let cases = [
            (CallToolResult::success(vec![]), json!(null)),
            (CallToolResult::success(vec![text("plain")]), json!("plain")),
            (CallToolResult::success(vec![text("12")]), json!("12")),
            (CallToolResult::success(vec![text("{\"a\": [1]}")]), json!({ "a": [1] })),
            (CallToolResult::structured(json!({ "b": 2 })), json!({ "b": 2 })),
        ];
        for (result, expected) in cases {
            assert_eq!(convert(result).unwrap(), expected);
        }
        let two = convert(CallToolResult::success(vec![text("a"), text("b")])).unwrap();
        assert_eq!(two[1]["text"], "b");
        let failed = convert(CallToolResult::error(vec![text("no such file")])).unwrap_err();
        assert_eq!((failed.message.as_str(), failed.exit_status()), ("no such file", 1));
    }
}
