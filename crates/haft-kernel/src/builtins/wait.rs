//! `wait`.

use std::ops::ControlFlow;

use haft_text::Bytes;

use super::integer::parse_integer;
use super::{Context, options};
use crate::flow::{Flow, NOT_FOUND, Unwind};
use crate::jobs::WaitResult;

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let (flags, operands) = match options::parse(context, arguments, "fnp:") {
        Ok(parsed) => parsed,
        Err(end) => return end,
    };
    let variable = flags.iter().rev().find(|flag| flag.letter == b'p').map(super::options::OptionFlag::text);
    if let Some(name) = variable {
        if !crate::variables::is_name(name) && crate::session::split_reference(name).is_none() {
            let shown = String::from_utf8_lossy(name).into_owned();
            context.error(format_args!("`{shown}': not a valid identifier"));
            return Ok(1);
        }
        let _ = context.variables_mut().unset(name, false);
    }
    if options::has(&flags, b'n') {
        return next(context, operands, variable);
    }
    if operands.is_empty() {
        return all(context);
    }
    let mut status = 0;
    for operand in operands {
        status = match one(context, operand)? {
            ControlFlow::Continue(status) => status,
            ControlFlow::Break(status) => return Ok(status),
        };
        if let (Some(name), Some(pid)) = (variable, parse_integer(operand)) {
            let _ = context.session_mut().assign_reference(name, pid.to_string().into());
        }
    }
    Ok(status)
}

/// Waits for all background jobs.
fn all(context: &mut Context<'_>) -> Flow {
    let ids: Vec<u32> = context.jobs().iter().map(|job| job.id).collect();
    for id in ids {
        let result = context.session_mut().wait_job(id)?;
        if matches!(result, WaitResult::Interrupted(_)) {
            return Ok(result.status());
        }
    }
    if let Some(last) = context.parameters().last_background() {
        process_substitution(context, last)?;
    }
    Ok(0)
}

/// Waits for a process substitution, and returns its status. Returns `None` if the process is none.
fn process_substitution(context: &mut Context<'_>, pid: i32) -> Result<Option<i32>, Unwind> {
    let mut members = std::mem::take(context.session_mut().processes.substitutions_mut());
    let mut result = Ok(None);
    if let Some(member) = members.iter_mut().find(|member| member.pid == pid) {
        result = context.session_mut().wait_member(member).map(Some);
    }
    members.append(context.session_mut().processes.substitutions_mut());
    *context.session_mut().processes.substitutions_mut() = members;
    result
}

/// Waits for one process or job and returns its status. A trapped signal breaks off the wait with the status of `wait`.
fn one(context: &mut Context<'_>, operand: &Bytes) -> Result<ControlFlow<i32, i32>, Unwind> {
    if operand.starts_with(b"%") {
        let id = match context.jobs().find(operand).map(|job| job.id) {
            Ok(id) => id,
            Err(missing) => {
                context.error(missing.message(operand));
                return Ok(ControlFlow::Continue(NOT_FOUND));
            }
        };
        return context.session_mut().wait_job(id).map(|result| waited(&result));
    }
    let Some(pid) = parse_integer(operand).and_then(|pid| i32::try_from(pid).ok()).filter(|pid| *pid >= 0)
    else {
        context.error(format_args!("`{operand}': not a pid or valid job spec"));
        return Ok(ControlFlow::Continue(1));
    };
    if let Some(status) = process_substitution(context, pid)? {
        return Ok(ControlFlow::Continue(status));
    }
    let result = context.session_mut().wait_pid(pid)?;
    if matches!(result, WaitResult::Nothing) {
        context.error(format_args!("pid {pid} is not a child of this shell"));
    }
    Ok(waited(&result))
}

fn waited(result: &WaitResult) -> ControlFlow<i32, i32> {
    match result {
        WaitResult::Interrupted(_) => ControlFlow::Break(result.status()),
        _ => ControlFlow::Continue(result.status()),
    }
}

/// `wait -n`: waits for the next job that ends.
fn next(context: &mut Context<'_>, operands: &[Bytes], variable: Option<&[u8]>) -> Flow {
    let mut ids = Vec::new();
    let mut failed = false;
    for operand in operands {
        let found = match parse_integer(operand).and_then(|pid| i32::try_from(pid).ok()) {
            Some(pid) if !operand.starts_with(b"%") => context.jobs().of_pid(pid),
            _ => context.jobs().find(operand).ok(),
        };
        match found {
            Some(job) => ids.push(job.id),
            None => {
                context.error(format_args!("{operand}: no such job"));
                failed = true;
            }
        }
    }
    if failed && ids.is_empty() {
        return Ok(NOT_FOUND);
    }
    let result = context.session_mut().wait_next(&ids)?;
    if let (WaitResult::Ended { pid, .. }, Some(name)) = (&result, variable) {
        let _ = context.session_mut().assign_reference(name, pid.to_string().into());
    }
    Ok(result.status())
}
