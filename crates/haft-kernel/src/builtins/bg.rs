//! `bg`.

use haft_process::Signals;
use haft_text::Bytes;

use super::Context;
use super::fg::controlled_job;
use crate::flow::Flow;

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let operands: Vec<Option<&Bytes>> =
        if arguments.is_empty() { vec![None] } else { arguments.iter().map(Some).collect() };
    let mut status = 0;
    for operand in operands {
        let Some(id) = controlled_job(context, operand) else {
            status = 1;
            continue;
        };
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
