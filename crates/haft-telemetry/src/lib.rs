//! Trace context, and spans for an OpenTelemetry collector.
//!
//! A [`TraceContext`] says which span a piece of work belongs to, in the form of W3C Trace Context. It arrives in the variable
//! `TRACEPARENT` or in the `_meta` of an MCP request, and is passed on in `TRACEPARENT`.
//!
//! ```
//! use haft_telemetry::TraceContext;
//!
//! let caller = TraceContext::parse("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01").expect("it is valid");
//! let own = caller.child();
//! assert_eq!(own.trace, caller.trace);
//! assert!(own.to_string().starts_with("00-0af7651916cd43dd8448eb211c80319c-"));
//! ```
//!
//! A [`Span`] is work that has ended. [`export_request`] is the JSON form of the OpenTelemetry protocol. With the feature `otlp`,
//! `SpanExporter` sends spans to a collector.
//!
//! # Limits
//! There are only spans: no metrics, logs, events or links. Spans that a collector does not accept are lost and counted.
#![deny(missing_docs)]

mod context;
#[cfg(feature = "otlp")]
mod exporter;
mod otlp;
mod span;

pub use context::TraceContext;
#[cfg(feature = "otlp")]
pub use exporter::{CollectorSettings, SpanExporter};
pub use otlp::export_request;
pub use span::{Attribute, AttributeValue, Span, SpanKind};
