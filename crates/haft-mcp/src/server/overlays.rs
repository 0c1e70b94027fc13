//! Overlays in which scripts run.
//!
//! An overlay is mounted while a script, a job or a session uses it, and can be committed or discarded at any other time.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use haft_overlay::{Change, ChangeCounts, Error, Overlay, OverlayState, OverlayStore, default_tree};
use haft_process::{Command, DiskMeter, Namespaces};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::json;

use super::owner::STATELESS;
use super::reply::{ToolReply, facts_line};

/// How many changed paths a reply of `run` names.
const LISTED_PATHS: usize = 10;
/// How long an overlay is waited for after the script that used it has ended.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(2);
const RELEASE_POLL_INTERVAL: Duration = Duration::from_millis(5);

/// The overlays of a server.
#[derive(Debug)]
pub enum OverlaySetup {
    /// Scripts run in an overlay if the client asks for it.
    OnRequest {
        /// The store that keeps the overlays.
        store: OverlayStore,
        /// The home directory, which is not overlaid unless it is named.
        home: Option<PathBuf>,
        /// The party that may commit.
        committer: Committer,
        /// File tools run as this program in overlays.
        tool_program: ToolProgram,
    },
    /// The server has entered this overlay, so everything runs in it. It can be committed when the server has ended.
    Always(Arc<Mutex<Overlay>>),
}

/// A program that calls a tool.
#[derive(Clone, Debug)]
pub struct ToolProgram {
    /// The program and its arguments, to which the tool's name and `-` are appended. It reads the arguments of the tool from
    /// standard input and prints an envelope.
    pub words: Vec<OsString>,
    /// Its working directory.
    pub directory: PathBuf,
}

/// The party that may commit an overlay, or take a commit back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Committer {
    /// The agent, with the tool `changes`.
    #[default]
    Agent,
    /// Only the person, with `haft changes`.
    Person,
}

/// The argument `overlay` of the tool `run`: whether to use one, or which one.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(untagged)]
pub(crate) enum OverlayArgument {
    Wanted(bool),
    Id(String),
}

impl JsonSchema for OverlayArgument {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "OverlayArgument".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["boolean", "string"] })
    }
}

/// An overlay that something uses.
#[derive(Debug)]
pub(crate) struct OpenOverlay {
    pub(crate) id: String,
    overlay: Mutex<Overlay>,
}

impl OpenOverlay {
    /// The namespaces in which programs see the overlay.
    pub(crate) fn namespaces(&self) -> Result<Arc<Namespaces>, Error> {
        self.overlay().namespaces()
    }

    pub(crate) fn overlay(&self) -> MutexGuard<'_, Overlay> {
        lock(&self.overlay)
    }
}

/// The overlays that clients of this server have opened.
#[derive(Debug)]
pub(crate) struct OverlayTable {
    pub(crate) setup: Option<OverlaySetup>,
    opened: Mutex<BTreeMap<String, OpenedOverlay>>,
}

#[derive(Debug)]
struct OpenedOverlay {
    owner: u64,
    opened: Instant,
    /// While something uses it.
    open: Weak<OpenOverlay>,
}

impl OverlayTable {
    pub(crate) fn new(setup: Option<OverlaySetup>) -> OverlayTable {
        OverlayTable { setup, opened: Mutex::default() }
    }

    /// The overlay for a script: a new one of the project around `directory`, or one that this client has opened.
    ///
    /// # Errors
    /// If the overlay is unknown, cannot be opened, or overlays are not possible.
    pub(crate) fn open(
        &self,
        which: &OverlayArgument,
        owner: u64,
        directory: &Path,
    ) -> Result<Option<Arc<OpenOverlay>>, String> {
        let mut overlay = match which {
            OverlayArgument::Wanted(false) => return Ok(None),
            OverlayArgument::Wanted(true) => {
                let Some((store, home)) = self.store()? else { return Ok(None) };
                let tree = default_tree(directory, home.as_deref()).map_err(|error| explain(&error))?;
                store.create(&[tree], None).map_err(|error| explain(&error))?
            }
            OverlayArgument::Id(id) => {
                let id = self.own_id(id, owner)?;
                if let Some(open) = self.in_use(&id) {
                    return Ok(Some(open));
                }
                self.find(&id)?
            }
        };
        overlay.watch();
        let id = overlay.id().to_owned();
        let open = Arc::new(OpenOverlay { id: id.clone(), overlay: Mutex::new(overlay) });
        let entry = OpenedOverlay { owner, opened: Instant::now(), open: Arc::downgrade(&open) };
        lock(&self.opened).insert(id, entry);
        Ok(Some(open))
    }

    /// The store, unless the whole server works in an overlay.
    fn store(&self) -> Result<Option<(OverlayStore, Option<PathBuf>)>, String> {
        match &self.setup {
            Some(OverlaySetup::OnRequest { store, home, .. }) => Ok(Some((store.clone(), home.clone()))),
            Some(OverlaySetup::Always(_)) => Ok(None),
            None => Err("this server has no overlays".to_owned()),
        }
    }

    /// The command that calls a tool in an overlay, and the overlay.
    ///
    /// # Errors
    /// If this client has not opened the overlay, or it cannot be used.
    pub(crate) fn tool_command(
        &self,
        id: String,
        owner: u64,
        tool: &str,
    ) -> Result<(Command, Arc<OpenOverlay>), String> {
        let Some(OverlaySetup::OnRequest { tool_program, .. }) = &self.setup else {
            return Err("this server opens no overlays".to_owned());
        };
        let open = self.open(&OverlayArgument::Id(id), owner, Path::new("/"))?;
        let open = open.ok_or("this server opens no overlays")?;
        let mut words = tool_program.words.iter();
        let mut command = Command::new(words.next().ok_or("no program calls tools")?);
        command.arguments(words).arguments([tool, "-"]).working_directory(&tool_program.directory);
        command.namespaces(open.namespaces().map_err(|error| explain(&error))?);
        Ok((command, open))
    }

    /// Opens an overlay that nothing uses. Waits until a script that has just ended has released it.
    pub(crate) fn find(&self, id: &str) -> Result<Overlay, String> {
        let (store, _) = self.store()?.ok_or("the whole server works in one overlay")?;
        let found = until_released(|| match store.find(id) {
            Err(Error::InUse(_)) => None,
            found => Some(found),
        });
        found.unwrap_or_else(|| Err(Error::InUse(id.to_owned()))).map_err(|error| explain(&error))
    }

    /// Removes an overlay that nothing uses, and its files in the background.
    pub(crate) fn discard(&self, id: &str) -> Result<(), String> {
        let (store, _) = self.store()?.ok_or("the whole server works in one overlay")?;
        store.set_aside(id).map_err(|error| explain(&error))?;
        self.forget(id);
        let sweeper = store.clone();
        let started = std::thread::Builder::new().name("sweep".to_owned()).spawn(move || sweeper.sweep());
        if started.is_err() {
            store.sweep();
        }
        Ok(())
    }

    /// Measures the overlay of a script: this one, or the one that the whole server works in.
    pub(crate) fn meter(&self, open: Option<&OpenOverlay>) -> Result<Option<DiskMeter>, String> {
        let meter = match (open, &self.setup) {
            (Some(open), _) => open.overlay().meter(),
            (None, Some(OverlaySetup::Always(overlay))) => lock(overlay).meter(),
            (None, _) => return Ok(None),
        };
        meter.map(Some).map_err(|error| explain(&error))
    }

    /// The overlay of this id, if something uses it.
    pub(crate) fn in_use(&self, id: &str) -> Option<Arc<OpenOverlay>> {
        lock(&self.opened).get(id)?.open.upgrade()
    }

    /// Whether an overlay exists and has not been committed.
    pub(crate) fn is_usable(&self, id: &str) -> bool {
        let state = match self.in_use(id) {
            Some(open) => Ok(open.overlay().state()),
            None => self.find(id).map(|overlay| overlay.state()),
        };
        state.is_ok_and(|state| state == OverlayState::Open)
    }

    /// Returns the id if this client has opened the overlay.
    pub(crate) fn own_id(&self, id: &str, owner: u64) -> Result<String, String> {
        if lock(&self.opened).get(id).is_some_and(|entry| entry.owner == owner) {
            return Ok(id.to_owned());
        }
        let ids = self.ids(owner);
        let known = if ids.is_empty() { String::new() } else { format!("; known: {}", ids.join(", ")) };
        Err(format!("unknown overlay '{id}'{known}"))
    }

    /// The overlays that this client has opened, oldest first. Those of stateless clients are not listed, because nothing
    /// tells these clients apart.
    pub(crate) fn ids(&self, owner: u64) -> Vec<String> {
        if owner == STATELESS {
            return Vec::new();
        }
        let opened = lock(&self.opened);
        let mut own: Vec<_> = opened.iter().filter(|(_, entry)| entry.owner == owner).collect();
        own.sort_by_key(|(_, entry)| entry.opened);
        own.into_iter().map(|(id, _)| id.clone()).collect()
    }

    /// Forgets an overlay that does not exist any more.
    pub(crate) fn forget(&self, id: &str) {
        lock(&self.opened).remove(id);
    }

    /// Forgets an overlay that someone else has removed.
    pub(crate) fn forget_missing(&self, id: &str) {
        let Ok(Some((store, _))) = self.store() else { return };
        if matches!(store.find(id), Err(Error::Unknown(_))) {
            self.forget(id);
        }
    }

    /// Removes an overlay if it is empty.
    pub(crate) fn discard_if_empty(&self, id: &str) {
        let Ok(overlay) = self.find(id) else { return };
        if overlay.changes().is_ok_and(|changes| changes.is_empty()) && overlay.discard().is_ok() {
            self.forget(id);
        }
    }
}

/// Repeats an attempt until it returns a value. Returns `None` if it takes too long for an overlay to be released.
pub(crate) fn until_released<T>(attempt: impl Fn() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + RELEASE_TIMEOUT;
    loop {
        match attempt() {
            None if Instant::now() < deadline => std::thread::sleep(RELEASE_POLL_INTERVAL),
            result => return result,
        }
    }
}

/// Adds the changes so far to the reply of a script. Returns whether there are any.
pub(crate) fn mention(reply: &mut ToolReply, open: &OpenOverlay) -> bool {
    let overlay = open.overlay();
    let changes = match overlay.changes() {
        Ok(changes) => changes,
        Err(error) => {
            reply.text.push_str(&facts_line(&[format!("overlay '{}': {error}", open.id)]));
            return true;
        }
    };
    reply.text.push_str(&summary(&overlay, &changes));
    if let Some(data) = &mut reply.data {
        let first: Vec<&Change> = changes.iter().take(LISTED_PATHS).collect();
        data["overlay"] = json!({
            "id": open.id,
            "level": overlay.level(),
            "counts": ChangeCounts::new(&changes),
            "first": first,
        });
    }
    !changes.is_empty()
}

/// The counts, the first paths, and the next calls.
fn summary(overlay: &Overlay, changes: &[Change]) -> String {
    let id = overlay.id();
    let counts = ChangeCounts::new(changes);
    if changes.is_empty() {
        return facts_line(&[format!("overlay: {counts}")]);
    }
    let mut facts = vec![format!("overlay '{id}': {counts}")];
    if changes.len() > LISTED_PATHS {
        facts.push(format!("all: changes(action=\"show\", id=\"{id}\")"));
    }
    facts.push(format!("the real files are unchanged until changes(action=\"commit\", id=\"{id}\")"));
    overlay.describe(&changes[..changes.len().min(LISTED_PATHS)]) + &facts_line(&facts)
}

/// An error with its hint.
pub(crate) fn explain(error: &Error) -> String {
    let hint = error.hint().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
    format!("{error}{hint}")
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
