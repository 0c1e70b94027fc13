//! Reports a job as text and structured content: output first, then one line of facts.

use haft_process::capture::{Output, OutputSummary};
use serde_json::{Map, Value, json};

use super::finished_run::{FinishedRun, count_processes};
use super::jobs::ScriptJob;
use super::reply::{ToolReply, facts_line, format_duration, output_call};
use super::resources;
use super::until::MetCondition;
use super::view::{ReplyView, ShownOutput};
use super::wait::WaitResult;

/// The longest beginning of a character of UTF-8.
const MAX_INCOMPLETE_BYTES: u64 = 3;

/// The reply for a job.
#[derive(Debug)]
pub(crate) struct JobReport {
    pub(crate) reply: ToolReply,
    /// Whether the reply says that the job continues. A job that ends later must still be found.
    pub(crate) continues: bool,
}

/// Builds the reply for a job. With `since`, it contains the output after these offsets.
pub(crate) fn report_job(
    job: &ScriptJob,
    shown: &ReplyView,
    since: Option<&[u64]>,
    stop: &WaitResult,
    expired: bool,
) -> JobReport {
    // Before the output is read: that of a script that has ended is complete.
    let ended = job.ended();
    let continues = ended.as_ref().is_none_or(|ended| !ended.left_running().is_empty());
    let mut parts = Vec::new();
    let mut seen = Vec::new();
    for (index, (name, output)) in job.streams().into_iter().enumerate() {
        let cursor = since.and_then(|since| since.get(index)).copied();
        let mut end = if ended.is_some() { output.total_bytes() } else { end_of_characters(&output) };
        let view = cursor.map_or_else(|| shown.clone(), |cursor| shown.between(cursor, end));
        if let Ok(mut shown) = view.summarize(&output) {
            match cursor {
                Some(cursor) => exclude_others(&mut shown.summary, cursor, end),
                // More may have been written since.
                None => end = shown.summary.total_bytes,
            }
            parts.push((name, shown));
        }
        seen.push(end);
    }
    job.set_seen(seen);
    let mut text = body(&parts);
    text.push_str(&facts_line(&facts(job, ended.as_deref(), &parts, stop, expired)));
    let mut data = data(job, ended.as_deref(), &parts, stop, expired);
    if continues {
        add_job(&mut data, job);
    }
    let data = Some(Value::Object(data));
    JobReport { reply: ToolReply { text, data, failed: expired, ..ToolReply::default() }, continues }
}

/// The number of bytes up to the last complete character of UTF-8. The rest of a character may follow.
fn end_of_characters(output: &Output) -> u64 {
    let total = output.total_bytes();
    let start = total.saturating_sub(MAX_INCOMPLETE_BYTES);
    let last =
        output.read_since(start, (total - start) as usize).map_or_else(|_| Vec::new(), |last| last.bytes);
    for (length, byte) in (1..).zip(last.iter().rev()) {
        let needed = match byte {
            0x80..=0xbf => continue,
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            _ => 1,
        };
        return if needed > length { total - length } else { total };
    }
    total
}

/// Output that was returned earlier, or that the next reply returns, does not count as omitted.
fn exclude_others(summary: &mut OutputSummary, start: u64, end: u64) {
    if let Some(omitted) = &mut summary.omitted {
        let later = summary.total_bytes.saturating_sub(end);
        omitted.bytes = omitted.bytes.saturating_sub(start + later);
        if omitted.bytes == 0 {
            summary.truncated = false;
            summary.omitted = None;
        }
    }
}

/// The text of all streams.
fn body(parts: &[(&str, ShownOutput)]) -> String {
    let mut text = String::new();
    for (name, shown) in parts.iter().filter(|(_, shown)| !shown.summary.text.is_empty()) {
        if *name == "stderr" {
            text.push_str("[stderr]\n");
        }
        text.push_str(&shown.summary.text);
        if !text.ends_with('\n') {
            text.push('\n');
        }
    }
    text
}

fn facts(
    job: &ScriptJob,
    ended: Option<&FinishedRun>,
    parts: &[(&str, ShownOutput)],
    stop: &WaitResult,
    expired: bool,
) -> Vec<String> {
    let mut facts = match ended {
        Some(ended) => ended.facts(expired, &job.redactor),
        None => running_facts(job, stop),
    };
    let left = ended.map_or_else(Vec::new, FinishedRun::left_running);
    if !left.is_empty() {
        let left = count_processes(left.len());
        facts
            .push(format!("{left} still running in the background: job(action=\"kill\", id=\"{}\")", job.id));
    }
    facts.extend(parts.iter().filter_map(|(name, shown)| omission(name, shown)));
    facts.iter_mut().for_each(|fact| job.redactor.redact(fact));
    facts
}

/// The activity of a running job, and the next call.
fn running_facts(job: &ScriptJob, stop: &WaitResult) -> Vec<String> {
    let cause = if matches!(stop, WaitResult::TimedOut) { " (timeout)" } else { "" };
    let mut facts = vec![format!("still running after {}{cause}", format_duration(job.started.elapsed()))];
    let waiting = match stop {
        WaitResult::ConditionMet(MetCondition::Input(pid)) => Some(*pid),
        WaitResult::ConditionMet(met) => {
            facts.push(met.to_string());
            job.controller.needs_input()
        }
        _ => job.controller.needs_input(),
    };
    let id = &job.id;
    facts.push(match waiting {
        Some(pid) => {
            let name = program_name(pid).map_or_else(String::new, |name| format!("{name} is "));
            format!("{name}waiting for input: job(action=\"write\", id=\"{id}\", text=\"…\\n\")")
        }
        None => format!("continue: job(action=\"wait\", id=\"{id}\")"),
    });
    facts
}

/// The name of a program that waits for input. `None` if a builtin of the script waits, which is this process.
fn program_name(pid: i32) -> Option<String> {
    let is_builtin = u32::try_from(pid).is_ok_and(|pid| pid == std::process::id());
    let name = (!is_builtin).then(|| std::fs::read_to_string(format!("/proc/{pid}/comm")).ok());
    name.flatten().map(|name| name.trim_end().to_owned())
}

/// Which part of an output is omitted, and how to get it.
fn omission(name: &str, shown: &ShownOutput) -> Option<String> {
    let summary = &shown.summary;
    let id = summary.id.as_str();
    let Some(omitted) = summary.omitted else {
        return summary.truncated.then(|| format!("{name}: resource {}", resources::output_uri(id)));
    };
    let lost =
        if omitted.lost_bytes > 0 { format!(", {} of them lost", omitted.lost_bytes) } else { String::new() };
    Some(format!(
        "{name}: {} of {} bytes omitted{lost}; full output: {}",
        omitted.bytes,
        summary.total_bytes,
        output_call(id, shown.omitted_lines)
    ))
}

/// The structured content.
fn data(
    job: &ScriptJob,
    ended: Option<&FinishedRun>,
    parts: &[(&str, ShownOutput)],
    stop: &WaitResult,
    expired: bool,
) -> Map<String, Value> {
    let mut data = match ended.map(|ended| ended.data(expired, &job.redactor)) {
        Some(Value::Object(data)) => data,
        _ => Map::from_iter([("duration".to_owned(), json!(job.started.elapsed().as_secs_f64()))]),
    };
    data.insert("state".to_owned(), json!(if ended.is_some() { "ended" } else { "running" }));
    if let WaitResult::ConditionMet(met) = stop {
        data.insert("met".to_owned(), json!(met.to_string()));
    }
    for (name, shown) in parts {
        data.insert((*name).to_owned(), serde_json::to_value(&shown.summary).unwrap_or_default());
    }
    data
}

/// Adds what a client needs to use a job that continues.
fn add_job(data: &mut Map<String, Value>, job: &ScriptJob) {
    data.insert("job".to_owned(), json!(job.id));
    data.insert("pids".to_owned(), json!(job.processes()));
    data.insert("needs_input".to_owned(), json!(job.controller.needs_input().is_some()));
}
