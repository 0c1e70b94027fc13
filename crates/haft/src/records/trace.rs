//! The traces that runs belong to.

use std::sync::atomic::{AtomicBool, Ordering};

use haft_records::{RunEnd, RunKind, RunStart, StageEnd};
use haft_telemetry::{Attribute, AttributeValue, Span, SpanKind, TraceContext};
use serde_json::{Map, Value, json};

use super::COMMAND_LINE_SESSION;
use super::settings::TelemetrySettings;
use super::span_sink::SpanSink;
use crate::process_context::ProcessContext;

/// The variable with the trace context.
const TRACE_VARIABLE: &str = "TRACEPARENT";
/// The variable with the context of the systems that took part in a trace.
const STATE_VARIABLE: &str = "TRACESTATE";
/// The longest state that is passed on.
const MAX_STATE_BYTES: usize = 512;
const NANOSECONDS: f64 = 1e9;

/// Makes spans of the runs of this process. Without a collector, it only passes trace contexts on.
#[derive(Debug)]
pub(super) struct RunTracer {
    sink: Option<SpanSink>,
    /// Whether spans have scripts and arguments.
    has_content: bool,
    /// The span that this process was started in.
    caller: Option<TraceContext>,
    /// The span of the first run, which the programs of this process are started in.
    first: TraceContext,
    is_first_taken: AtomicBool,
}

/// The ids of a run's span, known before it starts.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunTrace {
    context: TraceContext,
    parent: Option<u64>,
}

/// The span of a run that has started.
#[derive(Debug)]
pub(super) struct RunSpan {
    trace: RunTrace,
    kind: SpanKind,
    name: String,
    start: u64,
    attributes: Vec<Attribute>,
}

impl RunTracer {
    pub(super) fn new(settings: &TelemetrySettings, process: &ProcessContext) -> RunTracer {
        let text = process.variable(TRACE_VARIABLE).and_then(|text| text.to_str());
        let caller = text.and_then(TraceContext::parse);
        RunTracer {
            sink: SpanSink::open(settings, process),
            has_content: settings.content,
            caller,
            first: caller.map_or_else(TraceContext::root, TraceContext::child),
            is_first_taken: AtomicBool::new(false),
        }
    }

    /// Whether spans are made.
    pub(super) fn is_active(&self) -> bool {
        self.sink.is_some()
    }

    /// Returns the ids of the next run of this process.
    pub(super) fn next_run(&self) -> RunTrace {
        let is_first = !self.is_first_taken.swap(true, Ordering::Relaxed);
        let context = if is_first { self.first } else { self.first.child() };
        RunTrace { context, parent: self.caller.map(|caller| caller.span) }
    }

    /// Returns the ids of a run that is a part of another span.
    pub(super) fn run_of(&self, caller: Option<TraceContext>) -> RunTrace {
        match caller.or(self.caller) {
            Some(caller) => RunTrace { context: caller.child(), parent: Some(caller.span) },
            None => RunTrace { context: TraceContext::root(), parent: None },
        }
    }

    /// Returns the variables for the programs of this process, if they differ from those it was started with.
    pub(super) fn variables(&self) -> Vec<(String, String)> {
        self.sink.iter().map(|_| variable(self.first)).collect()
    }

    /// Begins the span of a run. Secrets are masked already.
    pub(super) fn begin(&self, trace: RunTrace, start: &RunStart) -> Option<RunSpan> {
        self.sink.as_ref().filter(|_| trace.context.is_sampled())?;
        let tool = start.tool.clone().unwrap_or_else(|| start.kind.name().to_owned());
        let (kind, tool, name) = match start.kind {
            RunKind::Mcp => {
                let tool = start.tool.clone().unwrap_or_else(|| RunKind::Run.name().to_owned());
                (SpanKind::Server, tool.clone(), format!("tools/call {tool}"))
            }
            _ => (SpanKind::Internal, tool.clone(), format!("execute_tool {tool}")),
        };
        let mut attributes = vec![
            text("gen_ai.operation.name", "execute_tool"),
            text("gen_ai.tool.name", tool),
            text("gen_ai.tool.type", "function"),
            text("haft.run.id", &*start.run),
            text("process.working_directory", &*start.cwd),
        ];
        if start.kind == RunKind::Mcp {
            attributes.push(text("mcp.method.name", "tools/call"));
        }
        let agent = start.agent.clone().or_else(|| start.client.as_ref().map(|client| client.name.clone()));
        attributes.extend(agent.map(|agent| text("gen_ai.agent.name", agent)));
        if start.session != COMMAND_LINE_SESSION {
            attributes.push(text("gen_ai.conversation.id", &*start.session));
        }
        if self.has_content {
            attributes.push(text("gen_ai.tool.call.arguments", content(start).to_string()));
        }
        Some(RunSpan { trace, kind, name, start: now(), attributes })
    }

    /// Sends the span of a stage that has just ended.
    pub(super) fn end_stage(&self, run: &RunSpan, stage: &StageEnd) {
        let Some(sink) = &self.sink else { return };
        let end = now();
        let program = stage.argv.first().map_or(stage.kind.as_str(), String::as_str);
        let name = program.rsplit('/').next().unwrap_or(program);
        let mut attributes = vec![
            text("haft.stage.kind", &*stage.kind),
            (
                "haft.stage.pipeline",
                AttributeValue::Integer(i64::try_from(stage.pipeline).unwrap_or(i64::MAX)),
            ),
            ("process.exit.code", AttributeValue::Integer(stage.code.into())),
            text("process.executable.name", name),
        ];
        attributes.extend(stage.cpu.map(|cpu| ("haft.cpu_time", AttributeValue::Number(cpu))));
        if self.has_content {
            attributes.push(("process.command_args", AttributeValue::Texts(stage.argv.clone())));
        }
        let error = error_type(stage.code, stage.signal.as_deref());
        attributes.extend(error.iter().map(|error| text("error.type", &**error)));
        sink.send(Span {
            context: run.trace.context.child(),
            parent: Some(run.trace.context.span),
            name: name.to_owned(),
            kind: SpanKind::Internal,
            start: end.saturating_sub((stage.wall * NANOSECONDS) as u64),
            end,
            attributes,
            error,
        });
    }

    /// Sends the span of a run that has just ended.
    pub(super) fn end(&self, run: RunSpan, end: &RunEnd) {
        let Some(sink) = &self.sink else { return };
        let mut attributes = run.attributes;
        attributes.push(("process.exit.code", AttributeValue::Integer(end.code.into())));
        attributes.push(("haft.cpu_time", AttributeValue::Number(end.cpu)));
        let error = match end {
            RunEnd { timed_out: true, .. } => Some("timeout".to_owned()),
            RunEnd { limit: Some(limit), .. } => Some(format!("{limit} limit")),
            RunEnd { cancelled: true, .. } => Some("cancelled".to_owned()),
            _ => error_type(end.code, end.signal.as_deref()),
        };
        attributes.extend(error.iter().map(|error| text("error.type", &**error)));
        sink.send(Span {
            context: run.trace.context,
            parent: run.trace.parent,
            name: run.name,
            kind: run.kind,
            start: run.start,
            end: now(),
            attributes,
            error: error.map(|error| end.error.clone().unwrap_or(error)),
        });
    }

    /// Waits until all spans are sent, and prints whether some were lost.
    pub(super) fn finish(&self) {
        self.sink.iter().for_each(SpanSink::finish);
    }
}

impl RunTrace {
    /// Returns the variables for the programs of the run.
    pub(super) fn variables(self) -> Vec<(String, String)> {
        vec![variable(self.context)]
    }
}

/// Returns the trace context in the `_meta` of a request.
pub(super) fn caller_of(meta: &Map<String, Value>) -> Option<TraceContext> {
    TraceContext::parse(meta.get("traceparent")?.as_str()?)
}

/// Returns the variables for the trace context in the `_meta` of a request.
pub(super) fn variables_of(meta: &Map<String, Value>) -> Vec<(String, String)> {
    let Some(caller) = caller_of(meta) else { return Vec::new() };
    let is_valid = |state: &&str| {
        state.len() <= MAX_STATE_BYTES && state.bytes().all(|byte| (b' '..=b'~').contains(&byte))
    };
    let state = meta.get("tracestate").and_then(Value::as_str).filter(is_valid);
    let state = state.map(|state| (STATE_VARIABLE.to_owned(), state.to_owned()));
    [variable(caller)].into_iter().chain(state).collect()
}

fn variable(context: TraceContext) -> (String, String) {
    (TRACE_VARIABLE.to_owned(), context.to_string())
}

fn text(name: &'static str, value: impl Into<String>) -> Attribute {
    (name, AttributeValue::Text(value.into()))
}

/// The arguments of a call: those of a tool, or script and words.
fn content(start: &RunStart) -> Value {
    start.arguments.clone().unwrap_or_else(|| json!({"script": start.script, "argv": start.argv}))
}

fn error_type(code: i32, signal: Option<&str>) -> Option<String> {
    signal.map(str::to_owned).or_else(|| (code != 0).then(|| format!("exit {code}")))
}

/// Nanoseconds since 1970.
fn now() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_nanos()).unwrap_or(u64::MAX)
}
