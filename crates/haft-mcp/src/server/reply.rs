//! The result of a tool call: text for the model, and the same as structured content.

use std::time::Duration;

use haft_process::Redactor;
use serde_json::{Value, json};

use super::detail::ResultDetail;

/// The result of a tool call.
#[derive(Clone, Debug, Default)]
pub(crate) struct ToolReply {
    pub(crate) text: String,
    pub(crate) data: Option<Value>,
    /// Whether the data follow a schema of their own tool, so that nothing may be added to them.
    pub(crate) is_foreign: bool,
    /// Content blocks in place of the text, such as images of another MCP server.
    pub(crate) content: Option<Value>,
    /// Whether the call failed.
    pub(crate) failed: bool,
    /// How much of it the client asked for.
    pub(crate) detail: ResultDetail,
}

impl ToolReply {
    /// A successful result.
    pub(crate) fn new(text: impl Into<String>, data: Value) -> ToolReply {
        ToolReply { text: text.into(), data: Some(data), ..ToolReply::default() }
    }

    /// The same result with the detail that the client asked for.
    pub(crate) fn with_detail(self, detail: ResultDetail) -> ToolReply {
        ToolReply { detail, ..self }
    }

    /// Masks secrets. Must not be used for replies that contain the output of programs.
    pub(crate) fn redact(&mut self, redactor: &Redactor) {
        redactor.redact(&mut self.text);
        self.data.iter_mut().for_each(|data| redact_value(data, redactor));
    }

    /// A failed call, with a message that says what to do.
    pub(crate) fn failure(message: impl Into<String>) -> ToolReply {
        let text = message.into();
        let data = json!({ "error": text });
        ToolReply { text, data: Some(data), failed: true, ..ToolReply::default() }
    }
}

/// Masks secrets in every string of a value.
fn redact_value(value: &mut Value, redactor: &Redactor) {
    match value {
        Value::String(text) => redactor.redact(text),
        Value::Array(items) => items.iter_mut().for_each(|item| redact_value(item, redactor)),
        Value::Object(fields) => fields.values_mut().for_each(|field| redact_value(field, redactor)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Joins facts into the last line of a reply.
pub(crate) fn facts_line(facts: &[String]) -> String {
    format!("[{}]\n", facts.join(" · "))
}

/// The call of the tool `output` that returns an output, or a range of its lines.
pub(crate) fn output_call(id: &str, lines: Option<(u64, u64)>) -> String {
    match lines {
        Some((first, last)) => format!("output(id=\"{id}\", view={{\"lines\":[{first},{last}]}})"),
        None => format!("output(id=\"{id}\")"),
    }
}

/// Formats a duration for people.
pub(crate) fn format_duration(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    match seconds {
        ..1.0 => format!("{:.0} ms", seconds * 1000.0),
        ..10.0 => format!("{seconds:.1} s"),
        ..120.0 => format!("{seconds:.0} s"),
        _ => format!("{} min {} s", duration.as_secs() / 60, duration.as_secs() % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_short() {
        let cases =
            [(0.0004, "0 ms"), (0.25, "250 ms"), (1.25, "1.2 s"), (42.0, "42 s"), (125.0, "2 min 5 s")];
        for (seconds, text) in cases {
            assert_eq!(format_duration(Duration::from_secs_f64(seconds)), text);
        }
    }
}
