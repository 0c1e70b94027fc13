//! The shell session that a script runs in.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use haft_kernel::{Script, Session};

use super::jobs::ScriptJob;
use super::overlays::{OpenOverlay, OverlayArgument, explain};
use super::questions::ClientQuestions;
use super::run_tool::RunArguments;
use super::script_tools::format_syntax_error;
use super::server_state::ServerState;
use super::sessions::SessionGuard;
use super::tool_request::ToolRequest;

/// A session that lasts from one call to the next, and the overlay that it works in.
#[derive(Debug)]
pub(crate) struct NamedSession {
    pub(crate) session: Session,
    questions: Arc<ClientQuestions>,
    overlay: Option<SessionOverlay>,
}

/// The overlay of a session.
#[derive(Debug)]
struct SessionOverlay {
    id: String,
    /// Mounted while the session has background processes or open files.
    open: Option<Arc<OpenOverlay>>,
}

/// The session that a script runs in: a new one, or a named one.
#[derive(Debug)]
pub(crate) struct RunSession {
    /// The session and the script, taken when the script starts.
    pub(crate) started: Option<(Session, Script)>,
    /// The working directory in which the script starts.
    pub(crate) directory: PathBuf,
    /// Asks the person at the client for the session.
    pub(crate) questions: Arc<ClientQuestions>,
    /// The overlay in which the script runs.
    pub(crate) overlay: Option<Arc<OpenOverlay>>,
    /// The lock of the named session, and a copy of the session from before the script. The copy becomes the session
    /// if the script continues as a job.
    named: Option<(SessionGuard<NamedSession>, Session)>,
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
        let NamedSession { mut session, questions, overlay: earlier } =
            existing.unwrap_or_else(|| NamedSession::create(state));
        let entered = prepare(&session, &arguments.script, is_new)
            .and_then(|script| {
                Ok((script, enter_overlay(state, &mut session, earlier.as_ref(), arguments, request)?))
            })
            .and_then(|entered| match &arguments.cwd {
                Some(directory) => change_directory(&mut session, directory).map(|()| entered),
                None => Ok(entered),
            });
        let (script, overlay) = match entered {
            Ok(entered) => entered,
            Err(message) => {
                if let Some(guard) = guard.as_mut().filter(|_| !is_new) {
                    **guard = Some(NamedSession { session, questions, overlay: earlier });
                }
                return Err(message);
            }
        };
        let directory = session.directory().to_owned();
        let named = guard.map(|guard| (guard, session.fork()));
        Ok(RunSession { started: Some((session, script)), directory, questions, overlay, named })
    }

    /// Stores the session under its name again, because the script was not started.
    pub(crate) fn put_back(self) {
        if let (Some((mut guard, _)), Some((session, _))) = (self.named, self.started) {
            *guard = Some(NamedSession::new(session, self.questions, self.overlay));
        }
    }

    /// Stores the resulting session under its name, or the copy if the script still runs.
    pub(crate) fn store(self, job: &ScriptJob) {
        let Some((mut guard, before)) = self.named else { return };
        let after = job.ended().and_then(|ended| ended.take_session());
        *guard = Some(NamedSession::new(after.unwrap_or(before), self.questions, self.overlay));
    }
}

impl NamedSession {
    fn create(state: &ServerState) -> NamedSession {
        let questions = Arc::new(ClientQuestions::new());
        NamedSession { session: (state.setup.session)(&questions), questions, overlay: None }
    }

    /// A session between two calls. Its overlay is unmounted unless something uses it, so that it can be committed.
    fn new(
        session: Session,
        questions: Arc<ClientQuestions>,
        overlay: Option<Arc<OpenOverlay>>,
    ) -> NamedSession {
        let overlay = overlay.map(|open| SessionOverlay { id: open.id.clone(), open: Some(open) });
        let mut named = NamedSession { session, questions, overlay };
        named.release_overlay();
        named
    }

    /// Unmounts the overlay unless the session uses it.
    pub(crate) fn release_overlay(&mut self) {
        let Some(overlay) = self.overlay.as_mut().filter(|overlay| overlay.open.is_some()) else { return };
        if self.session.is_idle() {
            self.session.leave_namespaces();
            overlay.open = None;
        }
    }
}

/// Lets the session work in the wanted overlay, or in the one it worked in before. If that was committed or discarded, in a
/// new one.
fn enter_overlay(
    state: &ServerState,
    session: &mut Session,
    earlier: Option<&SessionOverlay>,
    arguments: &RunArguments,
    request: &ToolRequest,
) -> Result<Option<Arc<OpenOverlay>>, String> {
    let wanted = match (&arguments.overlay, earlier) {
        (None, None) => return Ok(None),
        (Some(OverlayArgument::Wanted(false)), Some(earlier)) => {
            return Err(format!(
                "this session works in overlay '{}'\nhint: use another session for the real files",
                earlier.id
            ));
        }
        (Some(OverlayArgument::Id(id)), Some(earlier)) if *id != earlier.id => {
            return Err(format!(
                "this session works in overlay '{}'\nhint: use another session for '{id}'",
                earlier.id
            ));
        }
        (Some(wanted), None) => wanted.clone(),
        (_, Some(earlier)) => {
            if let Some(open) = &earlier.open {
                return Ok(Some(open.clone()));
            }
            match state.overlays.is_usable(&earlier.id) {
                true => OverlayArgument::Id(earlier.id.clone()),
                false => OverlayArgument::Wanted(true),
            }
        }
    };
    let directory = match &arguments.cwd {
        Some(directory) => session.directory().join(directory),
        None => session.directory().to_owned(),
    };
    let opened = tokio::task::block_in_place(|| {
        let open = state.overlays.open(&wanted, request.owner.id, &directory)?;
        let Some(open) = open else { return Ok(None) };
        let namespaces = open.namespaces().map_err(|error| explain(&error))?;
        Ok::<_, String>(Some((open, namespaces)))
    })?;
    let Some((open, namespaces)) = opened else { return Ok(None) };
    session.enter_namespaces(namespaces).map_err(|error| format!("cannot enter the overlay: {error}"))?;
    Ok(Some(open))
}

/// Waits until the named session is free.
async fn claim(
    state: &ServerState,
    name: &str,
    request: &ToolRequest,
    deadline: Instant,
) -> Result<SessionGuard<NamedSession>, String> {
    let cell = state.sessions.claim(name, request.owner.id, Instant::now())?;
    tokio::select! {
        guard = cell.lock_owned() => Ok(guard),
        () = tokio::time::sleep_until(deadline.into()) => Err(format!(
            "session '{name}' is busy with another script\nhint: wait longer, or use another session"
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
    match session.files().metadata(&path) {
        Ok(metadata) if metadata.is_dir() => {
            session.set_directory(path);
            Ok(())
        }
        Ok(_) => Err(format!("'cwd' is not a directory: '{}'", path.display())),
        Err(error) => {
            let reason = haft_process::reason(&error);
            Err(format!("cannot change to 'cwd' '{}': {reason}", path.display()))
        }
    }
}

/// Ends a session and its background processes. `grace` replaces the time between `SIGTERM` and `SIGKILL`.
pub(crate) fn end_session(mut session: Session, grace: Option<Duration>) {
    if let Some(grace) = grace {
        session.end_jobs(Duration::ZERO, grace);
    }
}
