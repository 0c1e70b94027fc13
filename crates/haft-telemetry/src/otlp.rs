//! The JSON form of the OpenTelemetry protocol. Integers of 64 bits are strings, and ids are hexadecimal.

use serde_json::{Map, Value, json};

use crate::{Attribute, AttributeValue, Span, SpanKind};

/// The status code of an error.
const ERROR_CODE: u32 = 2;
/// The name of the library that made the spans.
const SCOPE: &str = "haft";

/// Returns a request to export spans of a process with these attributes.
#[must_use]
pub fn export_request(resource: &[Attribute], version: &str, spans: &[Span]) -> Value {
    json!({"resourceSpans": [{
        "resource": {"attributes": attributes(resource)},
        "scopeSpans": [{
            "scope": {"name": SCOPE, "version": version},
            "spans": spans.iter().map(span).collect::<Vec<_>>(),
        }],
    }]})
}

fn span(span: &Span) -> Value {
    let kind = match span.kind {
        SpanKind::Internal => 1,
        SpanKind::Server => 2,
    };
    let mut fields = Map::new();
    let mut add = |name: &str, value: Value| fields.insert(name.to_owned(), value);
    add("traceId", format!("{:032x}", span.context.trace).into());
    add("spanId", format!("{:016x}", span.context.span).into());
    if let Some(parent) = span.parent {
        add("parentSpanId", format!("{parent:016x}").into());
    }
    add("flags", span.context.flags.into());
    add("name", span.name.clone().into());
    add("kind", kind.into());
    add("startTimeUnixNano", span.start.to_string().into());
    add("endTimeUnixNano", span.end.to_string().into());
    add("attributes", attributes(&span.attributes));
    if let Some(message) = &span.error {
        add("status", json!({"code": ERROR_CODE, "message": message}));
    }
    Value::Object(fields)
}

fn attributes(attributes: &[Attribute]) -> Value {
    attributes.iter().map(|(name, value)| json!({"key": name, "value": attribute_value(value)})).collect()
}

fn attribute_value(value: &AttributeValue) -> Value {
    match value {
        AttributeValue::Text(text) => json!({"stringValue": text}),
        AttributeValue::Integer(number) => json!({"intValue": number.to_string()}),
        AttributeValue::Number(number) => json!({"doubleValue": number}),
        AttributeValue::Texts(texts) => {
            let values: Vec<Value> = texts.iter().map(|text| json!({"stringValue": text})).collect();
            json!({"arrayValue": {"values": values}})
        }
    }
}
