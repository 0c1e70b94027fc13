//! Reports a job as text and structured content: output first, then one line of facts.

use haft_process::capture::OutputSummary;
use serde_json::{Map, Value, json};

use super::finished_run::FinishedRun;
use super::jobs::ScriptJob;
use super::reply::{ToolReply, facts_line, format_duration};
use super::view::ReplyView;
use super::wait::WaitResult;

/// Builds the reply for a job. With `since`, it contains the output after these offsets.
pub(crate) fn report_job(
    job: &ScriptJob,
    shown: &ReplyView,
    since: Option<&[u64]>,
    stop: &WaitResult,
    expired: bool,
) -> ToolReply {
    let mut parts = Vec::new();
    let mut seen = Vec::new();
    for (index, (name, output)) in job.streams().into_iter().enumerate() {
        let cursor = since.and_then(|since| since.get(index)).copied();
        seen.push(output.total_bytes());
        let view = cursor.map_or_else(|| shown.clone(), |cursor| shown.since(cursor));
        if let Ok(mut summary) = view.summarize(&output) {
            if let Some(cursor) = cursor {
                exclude_earlier(&mut summary, cursor);
            }
            parts.push((name, summary));
        }
    }
    job.set_seen(seen);
    let ended = job.ended();
    let mut text = body(&parts);
    text.push_str(&facts_line(&facts(job, ended.as_deref(), &parts, stop, expired)));
    let data = data(job, ended.as_deref(), &parts, stop, expired);
    ToolReply { text, data: Some(data), failed: expired }
}

/// Output that was returned earlier does not count as omitted.
fn exclude_earlier(summary: &mut OutputSummary, cursor: u64) {
    if let Some(omitted) = &mut summary.omitted {
        omitted.bytes = omitted.bytes.saturating_sub(cursor);
        if omitted.bytes == 0 {
            summary.truncated = false;
            summary.omitted = None;
        }
    }
}

/// The text of all streams.
fn body(parts: &[(&str, OutputSummary)]) -> String {
    let mut text = String::new();
    for (name, summary) in parts.iter().filter(|(_, summary)| !summary.text.is_empty()) {
        if *name == "stderr" {
            text.push_str("[stderr]\n");
        }
        text.push_str(&summary.text);
        if !text.ends_with('\n') {
            text.push('\n');
        }
    }
    text
}

fn facts(
    job: &ScriptJob,
    ended: Option<&FinishedRun>,
    parts: &[(&str, OutputSummary)],
    stop: &WaitResult,
    expired: bool,
) -> Vec<String> {
    let mut facts = match ended {
        Some(ended) => ended.facts(expired, &job.redactor),
        None => vec![format!("still running as job {}", job.id), format_duration(job.started.elapsed())],
    };
    let left = ended.map_or_else(Vec::new, FinishedRun::left_running);
    if !left.is_empty() {
        facts.push(format!("{} still running in the background as job {}", left.len(), job.id));
    }
    match stop {
        WaitResult::ConditionMet(met) => facts.push(met.to_string()),
        WaitResult::TimedOut if ended.is_none() => facts.push("the timeout expired".to_owned()),
        _ => {}
    }
    if ended.is_none()
        && !matches!(stop, WaitResult::ConditionMet(super::until::MetCondition::Input(_)))
        && let Some(pid) = job.controller.needs_input()
    {
        facts.push(format!("process {pid} is waiting for input"));
    }
    facts.extend(parts.iter().filter_map(|(name, summary)| omission(name, summary)));
    facts.iter_mut().for_each(|fact| job.redactor.redact(fact));
    facts
}

/// Which part of an output is omitted, and how to get it.
fn omission(name: &str, summary: &OutputSummary) -> Option<String> {
    let id = &summary.id;
    let Some(omitted) = summary.omitted else {
        return summary.truncated.then(|| format!("{name} in output {id}"));
    };
    let lost =
        if omitted.lost_bytes > 0 { format!(", {} of them lost", omitted.lost_bytes) } else { String::new() };
    let whole = if omitted.lost_bytes > 0 { "the rest" } else { "all" };
    Some(format!(
        "{name}: {} of {} bytes omitted{lost}, {whole} in output {id}",
        omitted.bytes, summary.total_bytes
    ))
}

/// The structured content.
fn data(
    job: &ScriptJob,
    ended: Option<&FinishedRun>,
    parts: &[(&str, OutputSummary)],
    stop: &WaitResult,
    expired: bool,
) -> Value {
    let mut data = match ended.map(|ended| ended.data(expired, &job.redactor)) {
        Some(Value::Object(data)) => data,
        _ => Map::from_iter([("duration".to_owned(), json!(job.started.elapsed().as_secs_f64()))]),
    };
    data.insert("state".to_owned(), json!(if ended.is_some() { "ended" } else { "running" }));
    if job.is_alive() {
        data.insert("job".to_owned(), json!(job.id));
        data.insert("pids".to_owned(), json!(job.processes()));
        data.insert("needs_input".to_owned(), json!(job.controller.needs_input()));
    }
    if let WaitResult::ConditionMet(met) = stop {
        data.insert("met".to_owned(), json!(met.to_string()));
    }
    for (name, summary) in parts {
        data.insert((*name).to_owned(), serde_json::to_value(summary).unwrap_or_default());
    }
    Value::Object(data)
}
