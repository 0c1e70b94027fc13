//! The processes that a number given to `kill` means.
//!
//! In a plain shell, which owns its process, numbers mean what they mean to `kill(2)`. BlockingCall the shell shares its process, process
//! group and terminal with the application that runs the script. There `0`, `-1` and the process group of the application mean the
//! processes of the script, `$$` means the script, and the application and its watcher never get a signal. An isolated session can
//! only signal itself.

use std::io;

use haft_process::Signals;
use rustix::io::Errno;

use super::Context;
use crate::flow::Unwind;
use crate::jobs::ThreadControl;
use crate::session::Session;
use crate::traps::Trap;

/// Signals that a process ignores by default.
const IGNORED_BY_DEFAULT: [i32; 4] =
    [Signals::CHLD, Signals::CONT, rustix::process::Signal::URG.as_raw(), Signals::WINCH];

/// The target of a signal.
enum KillTarget {
    /// The shell that runs `kill`.
    Own,
    /// The script that this is a subshell of.
    Script,
    /// All processes of the script, and the script.
    WholeScript,
    /// A stage of a job that runs on a thread.
    Member,
    /// A process, or a group of them, by its number.
    Process,
    /// No target, for this reason.
    Refused(Errno),
}

/// Sends a signal to a process number in the sense of `kill`. The inner error says why no signal was sent.
pub(super) fn signal_number(
    context: &mut Context<'_>,
    pid: i32,
    number: i32,
) -> Result<io::Result<()>, Unwind> {
    let session = context.session_mut();
    session.jobs.reap_few();
    match target(session, pid) {
        KillTarget::Own => to_self(session, pid, number)?,
        KillTarget::Script => to_script(session, number),
        KillTarget::WholeScript => to_whole_script(session, pid, number)?,
        KillTarget::Member => to_member(session, pid, number),
        KillTarget::Process => return Ok(haft_process::send_signal(pid, number)),
        KillTarget::Refused(reason) => return Ok(Err(reason.into())),
    }
    Ok(Ok(()))
}

fn target(session: &mut Session, pid: i32) -> KillTarget {
    if pid == session.identity.own_pid() {
        return KillTarget::Own;
    }
    if has_thread(session, pid) {
        return KillTarget::Member;
    }
    if session.owns_process() {
        return KillTarget::Process;
    }
    let own = rustix::process::getpid().as_raw_pid();
    match pid {
        0 | -1 => KillTarget::WholeScript,
        _ if pid == session.identity.pid() => KillTarget::Script,
        _ if session.kernel.isolated => KillTarget::Refused(Errno::SRCH),
        _ if pid == own || haft_process::is_guardian(pid) => KillTarget::Script,
        _ if haft_process::own_group().is_some_and(|group| pid == -group) => KillTarget::WholeScript,
        _ if haft_process::is_watcher(pid.saturating_abs()) => KillTarget::Refused(Errno::PERM),
        _ => KillTarget::Process,
    }
}

/// Signals the shell itself. Its trap runs before the next command; without a trap the signal has its default effect. A shell that
/// shares its process ends alone.
fn to_self(session: &mut Session, pid: i32, number: i32) -> Result<(), Unwind> {
    match session.traps.get(Trap::Signal(number)) {
        _ if number == 0 => Ok(()),
        Some(text) if text.is_empty() => Ok(()),
        Some(_) if session.identity.leads_process() => {
            session.signals.iter().for_each(|inbox| inbox.raise(number));
            Ok(())
        }
        Some(_) => session.run_trap(Trap::Signal(number)),
        // The process ignores SIGPIPE, so that a closed pipe ends only the command that writes to it.
        None if session.owns_process() && session.identity.leads_process() && number == Signals::PIPE => {
            Err(Unwind::Signal(number))
        }
        None if session.owns_process() && session.identity.leads_process() => {
            let _ = haft_process::send_signal(pid, number);
            Ok(())
        }
        None if IGNORED_BY_DEFAULT.contains(&number) => Ok(()),
        None => Err(Unwind::Signal(number)),
    }
}

/// Signals the script from one of its subshells, without signalling the rest of the process.
fn to_script(session: &Session, number: i32) {
    match session.processes.run() {
        Some(run) => run.signal_script(number),
        None => {
            let (cancel, stop) = (session.limits.cancel().clone(), session.limits.stop().clone());
            ThreadControl { cancel, stop, signals: session.kernel.signals.clone() }.signal(number);
        }
    }
}

/// Signals everything that the script has started, and then the script itself, as if all were one process group.
fn to_whole_script(session: &mut Session, pid: i32, number: i32) -> Result<(), Unwind> {
    if number == 0 {
        return Ok(());
    }
    let run = session.processes.run().cloned();
    match &run {
        Some(run) => run.signal_all(number),
        None => session.jobs.iter().for_each(|job| job.signal(number)),
    }
    if session.identity.leads_process() {
        return to_self(session, pid, number);
    }
    // A part of a run, such as the command of `timeout`, counts as a process group of its own.
    if !run.is_some_and(|run| run.is_part()) {
        to_script(session, number);
    }
    session.check()
}

/// Tells whether a number belongs to a job stage that runs on a thread, in this shell or in its parent shell.
fn has_thread(session: &mut Session, pid: i32) -> bool {
    session.jobs.update();
    let mut inherited = session.jobs.inherited().flat_map(|job| &job.members);
    if inherited.any(|member| member.pid == pid && member.control.is_some()) {
        return true;
    }
    let members = session.jobs.of_pid(pid).into_iter().flat_map(|job| &job.members);
    members.into_iter().any(|member| member.pid == pid && member.status.is_none() && member.is_thread())
}

fn to_member(session: &Session, pid: i32, number: i32) {
    let inherited = session.jobs.inherited().flat_map(|job| &job.members);
    let inherited = inherited.filter(|member| member.pid == pid).find_map(|member| member.control.as_ref());
    let own = session.jobs.of_pid(pid).into_iter().flat_map(|job| &job.members);
    match inherited {
        Some(control) => control.signal(number),
        None => own.filter(|member| member.pid == pid).for_each(|member| member.signal(number)),
    }
}
