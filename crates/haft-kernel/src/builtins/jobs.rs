//! `jobs`.

use haft_text::Bytes;

use super::{Context, options};
use crate::flow::Flow;
use crate::jobs::{JobFormat, JobInfo, JobState, Jobs, ListedJob};

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    if let [first, words @ ..] = arguments
        && first.as_bytes() == b"-x"
    {
        return substitute(context, words);
    }
    if let [first] = arguments
        && first.as_bytes() == b"--json"
    {
        return as_data(context);
    }
    let (flags, operands) = match options::parse(context, arguments, "lnprs") {
        Ok(parsed) => parsed,
        Err(end) => return end,
    };
    let has = |letter| options::has(&flags, letter);
    let form = match (has(b'p'), has(b'l')) {
        (true, _) => JobFormat::Pids,
        (false, true) => JobFormat::Long,
        (false, false) => JobFormat::Line,
    };
    context.jobs_mut().update();
    let known = all(context);
    let (wanted, status) = select(context, &known, operands);
    let current = current(context.jobs(), &known);
    // A `-c` script and a command substitution do not list jobs that have ended, as in bash. Scripts poll `$(jobs)` in loops.
    let session = context.session();
    let forgets_ended = !session.conforms()
        && !session.is_interactive()
        && (session.identity.is_command_string() || session.processes.is_captured());
    let mut text = Vec::new();
    for job in known.iter().filter(|job| wanted.contains(&job.id)) {
        let is_stopped = matches!(job.state, JobState::Stopped(_));
        let ended = matches!(job.state, JobState::Done(_));
        let hidden = (ended && forgets_ended)
            || (has(b'r') && job.state != JobState::Running)
            || (has(b's') && !is_stopped)
            || (has(b'n') && job.told == Some(job.state));
        if !hidden {
            text.extend_from_slice(&job.shown(form, &current));
            context
                .jobs_mut()
                .iter_mut()
                .filter(|own| own.id == job.id)
                .for_each(|own| own.told = Some(job.state));
        }
        if ended {
            context.jobs_mut().remove(job.id);
        }
    }
    context.print(&text)?;
    Ok(status)
}

/// `jobs --json`: all jobs, with the IDs of the jobs and of their outputs.
fn as_data(context: &mut Context<'_>) -> Flow {
    let known = context.session_mut().known_jobs();
    let reports: Vec<_> = known.iter().map(JobInfo::report).collect();
    for ended in known.iter().filter(|job| job.status.is_some()).filter_map(|job| job.number) {
        context.jobs_mut().remove(ended);
    }
    let data = serde_json::to_value(reports).unwrap_or_default();
    let text = format!("{data}\n");
    context.set_data(data);
    context.print(text.as_bytes())
}

/// Returns the IDs of the current and the previous job, if there are any.
fn current(jobs: &Jobs, known: &[ListedJob]) -> Vec<u32> {
    match jobs.is_empty() {
        true => known.iter().rev().take(2).map(|job| job.id).collect(),
        false => jobs.ranked(),
    }
}

/// Returns the jobs of the session, or those of the parent shell if a subshell has none.
fn all(context: &Context<'_>) -> Vec<ListedJob> {
    let jobs = context.jobs();
    if jobs.is_empty() {
        return jobs.inherited().filter(|job| job.shown).map(ListedJob::inherited).collect();
    }
    jobs.iter().map(ListedJob::of).collect()
}

/// Returns the IDs of the selected jobs, and the exit status: 1 if a job does not exist.
fn select(context: &mut Context<'_>, known: &[ListedJob], operands: &[Bytes]) -> (Vec<u32>, i32) {
    if operands.is_empty() {
        return (known.iter().map(|job| job.id).collect(), 0);
    }
    let mut status = 0;
    let mut wanted = Vec::new();
    for operand in operands {
        match context.jobs().find(operand) {
            Ok(job) => wanted.push(job.id),
            Err(missing) => {
                context.error(missing.message(operand));
                status = 1;
            }
        }
    }
    (wanted, status)
}

/// `jobs -x`: runs a command after replacing job specifications with process group IDs.
fn substitute(context: &mut Context<'_>, words: &[Bytes]) -> Flow {
    let shared = haft_process::own_group().filter(|_| context.session().owns_process());
    let words: Vec<Bytes> = words
        .iter()
        .map(|word| {
            leader(context.jobs(), word, shared).map_or_else(|| word.clone(), |pid| pid.to_string().into())
        })
        .collect();
    context.dispatch(&words)
}

/// Returns the process group of the job that a word specifies; in a pipeline stage also of a job of the parent shell. Without job
/// control the jobs of a plain shell are in the process group of the shell, which is `shared`.
fn leader(jobs: &Jobs, word: &[u8], shared: Option<i32>) -> Option<i32> {
    let name = word.strip_prefix(b"%")?;
    if let Ok(job) = jobs.find(word) {
        let group = job.group.as_ref().and_then(|group| group.number());
        return Some(group.or(shared).unwrap_or_else(|| job.pid()));
    }
    let mut inherited = jobs.inherited().filter(|job| job.shown);
    let is_meant = |id: u32| matches!(name, b"%" | b"+" | b"") || id.to_string().as_bytes() == name;
    let found = inherited.rfind(|job| is_meant(job.id))?;
    found.group.or(shared).or_else(|| found.members.last().map(|member| member.pid))
}
