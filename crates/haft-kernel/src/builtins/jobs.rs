//! `jobs`.

use haft_text::Bytes;

use super::{Context, options};
use crate::execute::signal_description;
use crate::flow::Flow;
use crate::jobs::{Job, JobState, Jobs, shown_text};

/// The format of a job in the list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum JobFormat {
    Line,
    /// `-l`: with process IDs.
    Long,
    /// `-p`: process IDs only.
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
        (true, _) => JobFormat::Pids,
        (false, true) => JobFormat::Long,
        (false, false) => JobFormat::Line,
    };
    context.session.jobs.update();
    let known = all(context);
    let (wanted, status) = select(context, &known, operands);
    let current = current(&context.session.jobs, &known);
    // A `-c` script and a command substitution do not list jobs that have ended, as in bash. Scripts poll `$(jobs)` in loops.
    let session = &context.session;
    let forgets_ended = !session.is_interactive()
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
            text.extend_from_slice(&shown(job, form, &current));
            context
                .session
                .jobs
                .iter_mut()
                .filter(|own| own.id == job.id)
                .for_each(|own| own.told = Some(job.state));
        }
        if ended {
            context.session.jobs.remove(job.id);
        }
    }
    context.print(&text)?;
    Ok(status)
}

/// `jobs --json`: all jobs, with the IDs of the jobs and of their outputs.
fn as_data(context: &mut Context<'_>) -> Flow {
    let known = context.session.known_jobs();
    let reports: Vec<_> = known.iter().map(crate::run::JobInfo::report).collect();
    for ended in known.iter().filter(|job| job.status.is_some()).filter_map(|job| job.number) {
        context.session.jobs.remove(ended);
    }
    let data = serde_json::to_value(reports).unwrap_or_default();
    let text = format!("{data}\n");
    context.set_data(data);
    context.print(text.as_bytes())
}

/// Returns the line that reports the state of a job.
pub(crate) fn job_line(jobs: &Jobs, id: u32) -> Option<Vec<u8>> {
    let job = jobs.get(id)?;
    Some(shown(&ListedJob::of(job), JobFormat::Line, &jobs.ranked()))
}

/// Returns the IDs of the current and the previous job, if there are any.
fn current(jobs: &Jobs, known: &[ListedJob]) -> Vec<u32> {
    match jobs.is_empty() {
        true => known.iter().rev().take(2).map(|job| job.id).collect(),
        false => jobs.ranked(),
    }
}

/// A job in the list.
struct ListedJob {
    id: u32,
    pids: Vec<i32>,
    text: Bytes,
    stages: Vec<Bytes>,
    state: JobState,
    died: Option<i32>,
    told: Option<JobState>,
}

impl ListedJob {
    fn of(job: &Job) -> Self {
        Self {
            id: job.id,
            pids: job.members.iter().map(|member| member.pid).collect(),
            text: job.text.clone(),
            stages: job.stages.clone(),
            state: job.state(),
            died: job.died(),
            told: job.told,
        }
    }
}

/// Returns the jobs of the session, or those of the parent shell if a subshell has none.
fn all(context: &Context<'_>) -> Vec<ListedJob> {
    let jobs = &context.session.jobs;
    if jobs.is_empty() {
        let shown = jobs.inherited().filter(|job| job.shown).map(|job| ListedJob {
            id: job.id,
            pids: job.members.iter().map(|member| member.pid).collect(),
            text: job.text.clone(),
            stages: job.stages.clone(),
            state: job.state,
            died: None,
            told: None,
        });
        return shown.collect();
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
        match context.session.jobs.find(operand) {
            Ok(job) => wanted.push(job.id),
            Err(missing) => {
                context.error(missing.message(operand));
                status = 1;
            }
        }
    }
    (wanted, status)
}

fn shown(job: &ListedJob, form: JobFormat, current: &[u32]) -> Vec<u8> {
    if form == JobFormat::Pids {
        return format!("{}\n", job.pids.first().unwrap_or(&0)).into_bytes();
    }
    let mark = match current.iter().position(|id| *id == job.id) {
        Some(0) => '+',
        Some(1) => '-',
        _ => ' ',
    };
    let head = match form {
        JobFormat::Long => format!("[{}]{mark} {:>5} ", job.id, job.pids.first().unwrap_or(&0)),
        _ => format!("[{}]{mark}  ", job.id),
    };
    let state_text = match job.died.and_then(signal_description) {
        Some(words) => format!("{words:<24}"),
        None => format!("{:<24}", state(job.state, form)),
    };
    let tail: &[u8] = if job.state == JobState::Running { b" &\n" } else { b"\n" };
    let text = match form {
        JobFormat::Long if job.stages.len() == job.pids.len() && job.pids.len() > 1 => by_stage(job),
        _ => shown_text(&job.text).into_vec(),
    };
    [head.as_bytes(), state_text.as_bytes(), &text, tail].concat()
}

/// Returns the stages of a pipeline, each on a line with its process ID.
fn by_stage(job: &ListedJob) -> Vec<u8> {
    let mut text = shown_text(&job.stages[0]).into_vec();
    for (pid, stage) in job.pids.iter().zip(&job.stages).skip(1) {
        text.extend_from_slice(format!("\n     {pid:>5} {:<22}| ", "").as_bytes());
        text.extend_from_slice(&shown_text(stage));
    }
    text
}

/// Returns the state of a job in words.
fn state(state: JobState, form: JobFormat) -> String {
    match state {
        JobState::Running => "Running".to_owned(),
        JobState::Stopped(_) if form != JobFormat::Long => "Stopped".to_owned(),
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

/// `jobs -x`: runs a command after replacing job specifications with process group IDs.
fn substitute(context: &mut Context<'_>, words: &[Bytes]) -> Flow {
    let shared = haft_process::own_group().filter(|_| context.session.owns_process());
    let words: Vec<Bytes> = words
        .iter()
        .map(|word| {
            leader(&context.session.jobs, word, shared)
                .map_or_else(|| word.clone(), |pid| pid.to_string().into())
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
