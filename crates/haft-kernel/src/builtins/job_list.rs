//! `jobs`.

use super::{Context, options};
use crate::bytes::Bytes;
use crate::execute::{canonical, death};
use crate::flow::Flow;
use crate::jobs::{Job, JobState, Jobs};

/// How a job is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Line,
    /// `-l`: with process numbers.
    Long,
    /// `-p`: process numbers alone.
    Pids,
}

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
        (true, _) => Form::Pids,
        (false, true) => Form::Long,
        (false, false) => Form::Line,
    };
    context.session.jobs.update();
    let known = all(context);
    let (wanted, status) = select(context, &known, operands);
    let current = current(&context.session.jobs, &known);
    let mut text = Vec::new();
    for job in known.iter().filter(|job| wanted.contains(&job.id)) {
        let is_stopped = matches!(job.state, JobState::Stopped(_));
        let hidden = (has(b'r') && job.state != JobState::Running)
            || (has(b's') && !is_stopped)
            || (has(b'n') && job.notified);
        if !hidden {
            text.extend_from_slice(&shown(job, form, &current));
        }
        if matches!(job.state, JobState::Done(_)) {
            context.session.jobs.remove(job.id);
        }
    }
    context.print(&text)?;
    Ok(status)
}

/// `jobs --json`: all jobs, with the names by which they and their outputs can be asked for.
fn as_data(context: &mut Context<'_>) -> Flow {
    let known = context.session.known_jobs();
    let reports: Vec<_> = known.iter().map(crate::run::JobState::report).collect();
    for ended in known.iter().filter(|job| job.status.is_some()).filter_map(|job| job.number) {
        context.session.jobs.remove(ended);
    }
    let data = serde_json::to_value(reports).unwrap_or_default();
    let text = format!("{data}\n");
    context.set_data(data);
    context.print(text.as_bytes())
}

/// The line that tells what became of a job.
pub(crate) fn job_line(jobs: &Jobs, id: u32) -> Option<Vec<u8>> {
    let job = jobs.get(id)?;
    Some(shown(&Shown::of(job), Form::Line, &jobs.ranked()))
}

/// The current job and the one before, as far as there are any.
fn current(jobs: &Jobs, known: &[Shown]) -> Vec<u32> {
    match jobs.is_empty() {
        true => known.iter().rev().take(2).map(|job| job.id).collect(),
        false => jobs.ranked(),
    }
}

/// A job as it is shown.
struct Shown {
    id: u32,
    first: i32,
    last: i32,
    text: Bytes,
    state: JobState,
    died: Option<i32>,
    notified: bool,
}

impl Shown {
    fn of(job: &Job) -> Self {
        Self {
            id: job.id,
            first: job.members.first().map_or(0, |member| member.pid),
            last: job.pid(),
            text: job.text.clone(),
            state: job.state(),
            died: job.died(),
            notified: job.notified,
        }
    }
}

/// All jobs of the session, or of its parent if it is a subshell without any of its own.
fn all(context: &Context<'_>) -> Vec<Shown> {
    let jobs = &context.session.jobs;
    if jobs.is_empty() {
        let shown = jobs.inherited().map(|job| Shown {
            id: job.id,
            first: job.members.first().map_or(0, |member| member.pid),
            last: job.members.last().map_or(0, |member| member.pid),
            text: job.text.clone(),
            state: job.state,
            died: None,
            notified: false,
        });
        return shown.collect();
    }
    jobs.iter().map(Shown::of).collect()
}

/// The numbers of the jobs that are meant, and the status: 1 if one is not there.
fn select(context: &mut Context<'_>, known: &[Shown], operands: &[Bytes]) -> (Vec<u32>, i32) {
    if operands.is_empty() {
        return (known.iter().map(|job| job.id).collect(), 0);
    }
    let mut status = 0;
    let mut wanted = Vec::new();
    for operand in operands {
        match context.session.jobs.find(operand) {
            Some(job) => wanted.push(job.id),
            None => {
                context.error(format_args!("{operand}: no such job"));
                status = 1;
            }
        }
    }
    (wanted, status)
}

fn shown(job: &Shown, form: Form, current: &[u32]) -> Vec<u8> {
    if form == Form::Pids {
        return format!("{}\n", job.first).into_bytes();
    }
    let mark = match current.iter().position(|id| *id == job.id) {
        Some(0) => '+',
        Some(1) => '-',
        _ => ' ',
    };
    let head = match form {
        Form::Long => format!("[{}]{mark} {:>5} ", job.id, job.last),
        _ => format!("[{}]{mark}  ", job.id),
    };
    let state_text = match job.died.and_then(death) {
        Some(words) => format!("{words:<24}"),
        None => format!("{:<24}", state(job.state)),
    };
    let tail: &[u8] = if job.state == JobState::Running { b" &\n" } else { b"\n" };
    let text = canonical(job.text.strip_suffix(b"&").unwrap_or(&job.text).trim_ascii_end().into());
    [head.as_bytes(), state_text.as_bytes(), &text, tail].concat()
}

/// What became of a job, in words.
fn state(state: JobState) -> String {
    match state {
        JobState::Running => "Running".to_owned(),
        JobState::Stopped(signal) => match haft_process::signal_name(signal).as_deref() {
            Some("TTIN") => "Stopped (tty input)".to_owned(),
            Some("TTOU") => "Stopped (tty output)".to_owned(),
            Some("STOP") => "Stopped (signal)".to_owned(),
            _ => "Stopped".to_owned(),
        },
        JobState::Done(0) => "Done".to_owned(),
        JobState::Done(status) => format!("Exit {status}"),
    }
}

/// `jobs -x`: runs a command with process numbers in the place of jobs.
fn substitute(context: &mut Context<'_>, words: &[Bytes]) -> Flow {
    let words: Vec<Bytes> = words
        .iter()
        .map(|word| match context.session.jobs.find(word) {
            Some(job) if word.starts_with(b"%") => job.pid().to_string().into(),
            _ => word.clone(),
        })
        .collect();
    context.dispatch(&words)
}
