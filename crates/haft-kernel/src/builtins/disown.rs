//! `disown`.

use haft_text::Bytes;

use super::integer::parse_integer;
use super::{Context, options};
use crate::flow::Flow;
use crate::jobs::{JobNotFound, JobState};

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let (flags, operands) = match options::parse(context, arguments, "ahr") {
        Ok(parsed) => parsed,
        Err(end) => return end,
    };
    let has = |letter| options::has(&flags, letter);
    context.jobs_mut().update();
    let mut status = 0;
    let ids: Vec<u32> = if operands.is_empty() && (has(b'a') || has(b'r')) {
        let running = |state| !has(b'r') || state == JobState::Running;
        context.jobs().iter().filter(|job| running(job.state())).map(|job| job.id).collect()
    } else if operands.is_empty() {
        let current = context.jobs().find(b"%%").ok().map(|job| job.id);
        if current.is_none() {
            context.error("current: no such job");
            status = 1;
        }
        current.into_iter().collect()
    } else {
        let mut found = Vec::new();
        for operand in operands {
            let job = match parse_integer(operand).and_then(|pid| i32::try_from(pid).ok()) {
                Some(pid) => context.jobs().of_pid(pid).ok_or(JobNotFound::None),
                None => context.jobs().find(operand),
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

/// Removes a job from the job table. With `-h` the job stays, but gets no `SIGHUP` when the session ends. After `disown -a` or `-r`
/// `wait` does not know the job either.
fn release(context: &mut Context<'_>, id: u32, shield: bool, with_all: bool) {
    if shield {
        for job in context.jobs_mut().iter_mut().filter(|job| job.id == id) {
            job.shielded = true;
        }
        return;
    }
    let jobs = context.jobs_mut();
    let Some(job) = (if with_all { jobs.forget(id) } else { jobs.disown(id) }) else { return };
    match context.session().owns_process() {
        // The process must be reaped when it ends.
        true => context.session().processes.orphans().adopt(job.members.into_iter()),
        false => job.members.into_iter().for_each(crate::jobs::Member::detach),
    }
}
