//! `jobs`.

use super::{Context, options};
use crate::bytes::Bytes;
use crate::flow::Flow;
use crate::jobs::{Job, JobState};

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
    let mut status = 0;
    let mut wanted: Vec<u32> = Vec::new();
    for operand in operands {
        match context.session.jobs.find(operand) {
            Some(job) => wanted.push(job.id),
            None => {
                context.error(format_args!("{operand}: no such job"));
                status = 1;
            }
        }
    }
    if operands.is_empty() {
        wanted = context.session.jobs.iter().map(|job| job.id).collect();
    }
    let all: Vec<u32> = context.session.jobs.iter().map(|job| job.id).collect();
    let current: Vec<u32> = all.iter().rev().take(2).copied().collect();
    let mut text = Vec::new();
    for job in context.session.jobs.iter().filter(|job| wanted.contains(&job.id)) {
        let running = job.state() == JobState::Running;
        if (has(b'r') && !running) || (has(b's')) || (has(b'n') && job.notified) {
            continue;
        }
        text.extend_from_slice(&shown(job, form, &current));
    }
    let ended: Vec<u32> = context
        .session
        .jobs
        .iter()
        .filter(|job| wanted.contains(&job.id) && job.state() != JobState::Running)
        .map(|job| job.id)
        .collect();
    for id in ended {
        context.session.jobs.remove(id);
    }
    context.print(&text)?;
    Ok(status)
}

fn shown(job: &Job, form: Form, current: &[u32]) -> Vec<u8> {
    if form == Form::Pids {
        return format!("{}\n", job.members.first().map_or(0, |member| member.pid)).into_bytes();
    }
    let mark = match current.iter().position(|id| *id == job.id) {
        Some(0) => '+',
        Some(_) => '-',
        None => ' ',
    };
    let running = job.state() == JobState::Running;
    let head = match form {
        Form::Long => format!("[{}]{mark} {:>5} ", job.id, job.pid()),
        _ => format!("[{}]{mark}  ", job.id),
    };
    let state = format!("{:<24}", state(job.state()));
    let tail: &[u8] = if running { b" &\n" } else { b"\n" };
    let text = job.text.strip_suffix(b"&").unwrap_or(&job.text).trim_ascii_end();
    [head.as_bytes(), state.as_bytes(), text, tail].concat()
}

/// What became of a job, in words.
fn state(state: JobState) -> String {
    match state {
        JobState::Running => "Running".to_owned(),
        JobState::Done(0) => "Done".to_owned(),
        JobState::Done(status) if status > 128 => match haft_process::signal_name(status - 128).as_deref() {
            Some("HUP") => "Hangup".to_owned(),
            Some("INT") => "Interrupt".to_owned(),
            Some("QUIT") => "Quit".to_owned(),
            Some("ABRT") => "Aborted".to_owned(),
            Some("KILL") => "Killed".to_owned(),
            Some("SEGV") => "Segmentation fault".to_owned(),
            Some("PIPE") => "Broken pipe".to_owned(),
            Some("ALRM") => "Alarm clock".to_owned(),
            Some("TERM") => "Terminated".to_owned(),
            Some("USR1") => "User defined signal 1".to_owned(),
            Some("USR2") => "User defined signal 2".to_owned(),
            _ => format!("Exit {status}"),
        },
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
    context.session.dispatch(&words)
}
