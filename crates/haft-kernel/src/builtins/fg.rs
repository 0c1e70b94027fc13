//! `fg`.

use haft_process::Signals;
use haft_text::Bytes;

use super::{Context, options};
use crate::flow::Flow;
use crate::jobs::{Job, JobState};
use crate::options::SetOption;

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let (_, operands) = match options::parse(context, arguments, "") {
        Ok(parsed) => parsed,
        Err(end) => return end,
    };
    let Some(id) = controlled_job(context, operands.first()) else { return Ok(1) };
    let shown = context.jobs().get(id).map(Job::shown_text).unwrap_or_default();
    context.print(&[&shown, b"\n".as_slice()].concat())?;
    if context.jobs().get(id).is_some_and(|job| job.group.is_some()) {
        context.flush();
        return context.session_mut().continue_in_foreground(id);
    }
    if let Some(job) = context.jobs().get(id) {
        job.signal(Signals::CONT);
    }
    context.session_mut().wait_job(id).map(|result| result.status())
}

/// Returns the number of the job that the operand names, or the current job. Prints an error and returns `None` if there is no
/// such job, it has ended, or job control is off.
pub(super) fn controlled_job(context: &mut Context<'_>, operand: Option<&Bytes>) -> Option<u32> {
    if !context.options().has(SetOption::Monitor) {
        context.error("no job control");
        return None;
    }
    context.jobs_mut().update();
    let is_current = operand.is_none_or(|operand| matches!(operand.as_bytes(), b"%%" | b"%+" | b"%"));
    if is_current && context.jobs().is_empty() && context.jobs().inherited().next().is_some() {
        context.error("no current jobs");
        return None;
    }
    let shown = operand.cloned().unwrap_or_else(|| "current".into());
    let found = context.jobs().find(operand.map_or(b"%%", |operand| operand.as_bytes()));
    match found.map(|job| (job.id, job.state())) {
        Ok((id, _)) if context.jobs().get(id).is_some_and(|job| job.group.is_none()) => {
            context.error(format_args!("job {id} started without job control"));
        }
        Ok((id, JobState::Running | JobState::Stopped(_))) => return Some(id),
        Ok((_, JobState::Done(_))) => context.error("job has terminated"),
        Err(missing) => context.error(missing.message(&shown)),
    }
    None
}
