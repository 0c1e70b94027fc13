//! The shell session that a script runs in.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use haft_kernel::{Script, Session};

use super::jobs::ScriptJob;
use super::run_tool::RunArguments;
use super::script_tools::format_syntax_error;
use super::server_state::ServerState;
use super::sessions::SessionGuard;
use super::tool_request::ToolRequest;

/// The session that a script runs in: a new one, or a named one.
#[derive(Debug)]
pub(crate) struct RunSession {
    /// The session and the script, taken when the script starts.
    pub(crate) started: Option<(Session, Script)>,
    /// The working directory in which the script starts.
    pub(crate) directory: PathBuf,
    /// The lock of the named session, and a copy of the session from before the script. The copy becomes the session
    /// if the script continues as a job.
    named: Option<(SessionGuard<Session>, Session)>,
}

impl RunSession {
    /// Creates a session, or waits until the named one is free and takes it.
    ///
    /// # Errors
    /// Fails if the script of a new session has a syntax error, the named session stays busy until the deadline, or
    /// the directory cannot be entered.
    pub(crate) async fn enter(
        state: &ServerState,
        arguments: &RunArguments,
        request: &ToolRequest,
        deadline: Instant,
    ) -> Result<RunSession, String> {
        let mut guard = match &arguments.session {
            Some(name) => Some(claim(state, name, request, deadline).await?),
            None => None,
        };
        let existing = guard.as_mut().and_then(|guard| guard.take());
        let is_new = existing.is_none();
        let mut session = existing.unwrap_or_else(|| (state.setup.session)());
        let script = prepare(&session, &arguments.script, is_new)?;
        if let Some(directory) = &arguments.cwd
            && let Err(message) = change_directory(&mut session, directory)
        {
            if let Some(guard) = &mut guard {
                **guard = Some(session);
            }
            return Err(message);
        }
        let directory = session.directory().to_owned();
        let named = guard.map(|guard| (guard, session.fork()));
        Ok(RunSession { started: Some((session, script)), directory, named })
    }

    /// Stores the session under its name again, because the script was not started.
    pub(crate) fn put_back(self) {
        if let (Some((mut guard, _)), Some((session, _))) = (self.named, self.started) {
            *guard = Some(session);
        }
    }

    /// Stores the resulting session under its name, or the copy if the script still runs.
    pub(crate) fn store(self, job: &ScriptJob) {
        let Some((mut guard, before)) = self.named else { return };
        let after = job.ended().and_then(|ended| ended.take_session());
        *guard = Some(after.unwrap_or(before));
    }
}

/// Waits until the named session is free.
async fn claim(
    state: &ServerState,
    name: &str,
    request: &ToolRequest,
    deadline: Instant,
) -> Result<SessionGuard<Session>, String> {
    let cell = state.sessions.claim(name, request.owner.id, Instant::now())?;
    tokio::select! {
        guard = cell.lock_owned() => Ok(guard),
        () = tokio::time::sleep_until(deadline.into()) => Err(format!(
            "session \"{name}\" is busy with another script\nhint: wait longer, or use another session"
        )),
        () = request.cancelled() => Err("cancelled".to_owned()),
    }
}

/// Parses a script. Rejects it if it has a syntax error, before anything of it runs. Only for new sessions: functions
/// of an existing one can change the syntax.
fn prepare(session: &Session, script: &str, is_new: bool) -> Result<Script, String> {
    match session.prepare(script.as_bytes()) {
        Err(error) if is_new => Err(format_syntax_error(&error, script)),
        Err(_) => Ok(Script::new(script.as_bytes())),
        Ok(prepared) => Ok(prepared),
    }
}

fn change_directory(session: &mut Session, directory: &Path) -> Result<(), String> {
    let path = session.directory().join(directory);
    match path.metadata() {
        Ok(metadata) if metadata.is_dir() => {
            session.set_directory(path);
            Ok(())
        }
        Ok(_) => Err(format!("\"cwd\" is not a directory: \"{}\"", path.display())),
        Err(error) => {
            let reason = haft_process::reason(&error);
            Err(format!("cannot change to \"cwd\" \"{}\": {reason}", path.display()))
        }
    }
}

/// Ends a session and its background processes. `grace` replaces the time between `SIGTERM` and `SIGKILL`.
pub(crate) fn end_session(mut session: Session, grace: Option<Duration>) {
    if let Some(grace) = grace {
        session.end_jobs(Duration::ZERO, grace);
    }
}
