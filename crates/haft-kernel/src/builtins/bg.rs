//! `bg`.

use haft_process::Signals;
use haft_text::Bytes;

use super::fg::controlled_job;
use super::{Context, options};
use crate::flow::Flow;
use crate::jobs::JobState;

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let (_, words) = match options::parse(context, arguments, "") {
        Ok(parsed) => parsed,
        Err(end) => return end,
    };
    let operands: Vec<Option<&Bytes>> =
        if words.is_empty() { vec![None] } else { words.iter().map(Some).collect() };
    let mut status = 0;
    for operand in operands {
        let Some(id) = controlled_job(context, operand) else {
            status = 1;
            continue;
        };
        if context.jobs().get(id).is_some_and(|job| job.state() == JobState::Running) {
            context.error(format_args!("job {id} already in background"));
            continue;
        }
        if let Some(job) = context.jobs().get(id) {
            match &job.group {
                Some(group) => group.resume(false),
                None => job.signal(Signals::CONT),
            }
            let line = [format!("[{id}]+ ").as_bytes(), &job.shown_text(), b" &\n"].concat();
            context.print(&line)?;
        }
    }
    Ok(status)
}
