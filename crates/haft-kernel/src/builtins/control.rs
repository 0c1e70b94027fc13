//! `bg`, `fg` and `disown`.

use super::number::argument;
use super::{Context, options};
use crate::bytes::Bytes;
use crate::flow::Flow;
use crate::jobs::{Job, JobState, Missing, Waited};
use crate::options::SetOption;

pub(super) fn run_fg(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let Some(id) = controlled(context, arguments.first()) else { return Ok(1) };
    let shown = context.session.jobs.get(id).map(Job::shown_text).unwrap_or_default();
    context.print(&[&shown, b"\n".as_slice()].concat())?;
    if context.session.jobs.get(id).is_some_and(|job| job.group.is_some()) {
        let _ = context.session.flush();
        return context.session.continue_in_foreground(id);
    }
    if let Some(job) = context.session.jobs.get(id) {
        job.signal(18);
    }
    match context.session.wait_job(id)? {
        Waited::Ended { status, .. } => Ok(status),
        Waited::Interrupted(signal) => Ok(128 + signal),
        Waited::Nothing => Ok(127),
    }
}

pub(super) fn run_bg(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let operands: Vec<Option<&Bytes>> =
        if arguments.is_empty() { vec![None] } else { arguments.iter().map(Some).collect() };
    let mut status = 0;
    for operand in operands {
        let Some(id) = controlled(context, operand) else {
            status = 1;
            continue;
        };
        if let Some(job) = context.session.jobs.get(id) {
            match &job.group {
                Some(group) => group.resume(false),
                None => job.signal(18),
            }
            let line = [format!("[{id}]+ ").as_bytes(), &job.shown_text(), b" &\n"].concat();
            context.print(&line)?;
        }
    }
    Ok(status)
}

/// The job that is meant, if jobs can be controlled at all.
fn controlled(context: &mut Context<'_>, operand: Option<&Bytes>) -> Option<u32> {
    if !context.session.options.has(SetOption::Monitor) {
        context.error("no job control");
        return None;
    }
    context.session.jobs.update();
    let shown = operand.cloned().unwrap_or_else(|| "current".into());
    let found = context.session.jobs.find(operand.map_or(b"%%", |operand| operand.as_bytes()));
    match found.map(|job| (job.id, job.state())) {
        Ok((id, JobState::Running | JobState::Stopped(_))) => return Some(id),
        Ok((_, JobState::Done(_))) => context.error("job has terminated"),
        Err(missing) => context.error(missing.message(&shown)),
    }
    None
}

pub(super) fn run_disown(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let (flags, operands) = match options::parse(context, arguments, "ahr") {
        Ok(parsed) => parsed,
        Err(end) => return end,
    };
    let has = |letter| options::has(&flags, letter);
    context.session.jobs.update();
    let mut status = 0;
    let ids: Vec<u32> = if operands.is_empty() && (has(b'a') || has(b'r')) {
        let running = |state| !has(b'r') || state == JobState::Running;
        context.session.jobs.iter().filter(|job| running(job.state())).map(|job| job.id).collect()
    } else if operands.is_empty() {
        let current = context.session.jobs.find(b"%%").ok().map(|job| job.id);
        if current.is_none() {
            context.error("current: no such job");
            status = 1;
        }
        current.into_iter().collect()
    } else {
        let mut found = Vec::new();
        for operand in operands {
            let job = match argument(operand).and_then(|pid| i32::try_from(pid).ok()) {
                Some(pid) => context.session.jobs.of_pid(pid).ok_or(Missing::None),
                None => context.session.jobs.find(operand),
            };
            match job {
                Ok(job) => found.push(job.id),
                Err(missing) => {
                    context.error(missing.message(operand));
                    status = 1;
                }
            }
        }
        found
    };
    let all = operands.is_empty() && (has(b'a') || has(b'r'));
    for id in ids {
        release(context, id, has(b'h'), all);
    }
    Ok(status)
}

/// Lets a job go; with `-h` it stays on the list, but is not told when the session ends. `wait` knows it no more if it was let
/// go with all.
fn release(context: &mut Context<'_>, id: u32, shield: bool, with_all: bool) {
    if shield {
        for job in context.session.jobs.iter_mut().filter(|job| job.id == id) {
            job.shielded = true;
        }
        return;
    }
    let jobs = &mut context.session.jobs;
    let Some(job) = (if with_all { jobs.forget(id) } else { jobs.disown(id) }) else { return };
    match context.session.owns_process() {
        // Nobody else would see it end.
        true => context.session.orphans.adopt(job.members.into_iter()),
        false => job.members.into_iter().for_each(crate::jobs::Member::detach),
    }
}
