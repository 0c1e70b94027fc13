//! `haft ps`: list what haft runs now.

use std::collections::HashMap;
use std::fmt::Write as _;

use clap::Args;
use haft_config::printable_text;
use haft_fs::ByteSize;
use haft_process::live::LiveClient;
use haft_records::{RunDetail, RunFilter, RunKind};
use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::log::{cannot_read, table};
use crate::commands::print::{print_json, print_text};
use crate::failure::Failure;
use crate::process_context::ProcessContext;
use crate::records;
use haft_process::{ProcessTable, RunProcesses};

const EXAMPLES: &str = "Examples:
  haft ps                     # everything that haft runs for you now, as a tree
  haft ps --json | jq -r '.runs[].id'

A run that an agent started is listed below the agent. 'haft kill ID' ends a run.";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PsArguments {
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Everything that haft runs now.
#[derive(JsonSchema, Serialize)]
pub(crate) struct RunningListReport {
    /// The runs, each after the run that it was started in.
    runs: Vec<RunningReport>,
}

/// A run that has not ended.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub(crate) struct RunningReport {
    /// Its id.
    id: String,
    /// The run that it was started in, if that is listed too.
    parent: Option<String>,
    /// The command that started it.
    kind: RunKind,
    /// The session.
    session: String,
    /// The agent or MCP client that asked for it.
    agent: Option<String>,
    /// The pid of the haft process that supervises it, or of the launched agent.
    pid: i32,
    /// The pids of its processes.
    pids: Vec<i32>,
    /// Seconds since its start.
    age: f64,
    /// CPU time of the processes that run now, in seconds.
    cpu: f64,
    /// Bytes of their resident sets.
    memory: u64,
    /// Whether one of them waits for input from a terminal.
    waits_for_input: bool,
    /// The last line of its output, if haft captures it.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_line: Option<String>,
    /// The script, the command line, or the tool with its arguments.
    text: String,
}

/// Lists the runs that have not ended.
pub(crate) fn run(arguments: &PsArguments, process: &ProcessContext) -> Result<i32, Failure> {
    let running = RunFilter { running: true, ..RunFilter::default() };
    let details = records::store(process)?.details(&running).map_err(|error| cannot_read(&error))?;
    let table = ProcessTable::read();
    let own = process.variable(haft_process::MARKER).map(|marker| marker.to_string_lossy().into_owned());
    let is_own = |detail: &RunDetail| own.as_deref().is_some_and(|own| innermost(own) == detail.start.run);
    let runs = details.iter().filter(|detail| !is_own(detail)).map(|detail| report(detail, &table)).collect();
    let (runs, depths): (Vec<RunningReport>, Vec<usize>) = as_tree(runs).into_iter().unzip();
    Ok(match arguments.json {
        true => print_json(&RunningListReport { runs }, 0),
        false => print_text(&text(&runs, &depths), 0),
    })
}

/// The innermost run of a marker.
fn innermost(marker: &str) -> &str {
    marker.rsplit(':').next().unwrap_or_default()
}

fn report(detail: &RunDetail, table: &ProcessTable) -> RunningReport {
    let start = &detail.start;
    let RunProcesses { pids, cpu, memory, waits_for_input } = table.of_run(&start.run);
    let status = LiveClient::new(start.process.pid, start.process.started).status(&start.run).ok();
    let streams = status.iter().flat_map(|status| &status.streams);
    let client = || start.client.as_ref().map(|client| client.name.clone());
    RunningReport {
        id: start.run.clone(),
        parent: start.parent.as_deref().map(|parent| innermost(parent).to_owned()),
        kind: start.kind,
        session: start.session.clone(),
        agent: start.agent.clone().or_else(client),
        pid: start.process.pid,
        pids,
        age: records::now().saturating_sub(start.time) as f64 / 1e3,
        cpu,
        memory,
        waits_for_input: waits_for_input || status.as_ref().is_some_and(|status| status.needs_input),
        last_line: streams.map(|stream| stream.last_line.clone()).rfind(|line| !line.is_empty()),
        text: start.text(),
    }
}

/// Orders runs so that each follows the run that it was started in. Returns each with its depth. A run whose parent has the
/// same session as a launched agent, but no marker, is listed below that agent.
fn as_tree(mut runs: Vec<RunningReport>) -> Vec<(RunningReport, usize)> {
    let agents: HashMap<String, String> = runs
        .iter()
        .filter(|run| run.kind == RunKind::Launch)
        .map(|run| (run.session.clone(), run.id.clone()))
        .collect();
    let known: Vec<String> = runs.iter().map(|run| run.id.clone()).collect();
    for run in &mut runs {
        let agent = agents.get(&run.session).filter(|agent| **agent != run.id).cloned();
        run.parent = run.parent.take().filter(|parent| known.contains(parent) && *parent != run.id).or(agent);
    }
    let mut ordered = Vec::new();
    let roots: Vec<RunningReport> = runs.extract_if(.., |run| run.parent.is_none()).collect();
    roots.into_iter().for_each(|root| add(root, 0, &mut runs, &mut ordered));
    // Records that name each other as parents.
    ordered.extend(runs.into_iter().map(|run| (run, 0)));
    ordered
}

fn add(
    run: RunningReport,
    depth: usize,
    left: &mut Vec<RunningReport>,
    ordered: &mut Vec<(RunningReport, usize)>,
) {
    let children: Vec<RunningReport> =
        left.extract_if(.., |other| other.parent.as_deref() == Some(&run.id)).collect();
    ordered.push((run, depth));
    children.into_iter().for_each(|child| add(child, depth + 1, left, ordered));
}

fn text(runs: &[RunningReport], depths: &[usize]) -> String {
    let width = runs.iter().map(|run| run.id.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (run, depth) in runs.iter().zip(depths) {
        let RunningReport { id, pid, .. } = run;
        let (age, cpu) = (table::seconds(run.age), table::seconds(run.cpu));
        let memory = format!("{:.0}", ByteSize(run.memory));
        let agent = run.agent.as_deref().map_or_else(|| "-".to_owned(), printable_text);
        let input = if run.waits_for_input { "  (waits for input)" } else { "" };
        let title = "  ".repeat(*depth) + &table::title(&run.text);
        let _ = writeln!(
            text,
            "{id:width$}  {pid:>7}  {age:>7}  cpu {cpu:>7}  {memory:>8}  {agent}  {title}{input}"
        );
        if let Some(line) = &run.last_line {
            let _ = writeln!(text, "{:width$}  > {}", "", table::title(line));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(id: &str, parent: Option<&str>, session: &str, kind: RunKind) -> RunningReport {
        RunningReport {
            id: id.to_owned(),
            parent: parent.map(str::to_owned),
            kind,
            session: session.to_owned(),
            agent: None,
            pid: 1,
            pids: Vec::new(),
            age: 0.0,
            cpu: 0.0,
            memory: 0,
            waits_for_input: false,
            last_line: None,
            text: String::new(),
        }
    }

    #[test]
    fn runs_follow_the_run_that_started_them() {
        let runs = vec![
            run("inner", Some("outer"), "cli", RunKind::Run),
            run("outer", Some("gone"), "cli", RunKind::Run),
            run("agent", None, "s1", RunKind::Launch),
            run("call", None, "s1", RunKind::Mcp),
            run("one", Some("two"), "cli", RunKind::Run),
            run("two", Some("one"), "cli", RunKind::Run),
        ];
        let ordered: Vec<(String, usize)> =
            as_tree(runs).into_iter().map(|(run, depth)| (run.id, depth)).collect();
        let expected = [("outer", 0), ("inner", 1), ("agent", 0), ("call", 1), ("one", 0), ("two", 0)];
        assert_eq!(ordered, expected.map(|(id, depth)| (id.to_owned(), depth)));
    }
}
