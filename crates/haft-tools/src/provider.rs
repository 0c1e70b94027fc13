//! Tools that come from elsewhere: of servers that have to be asked which they have.

use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};

use haft_config::Layer;
use haft_process::CancelToken;

use crate::native::NativeTool;
use crate::snapshot::RejectedTool;
use crate::tool::{Tool, ToolSource};

/// A place that tools come from besides files and this process. It is asked when somebody looks for all tools, or for one
/// that only it could have.
pub trait ToolProvider: Debug + Send + Sync {
    /// The name that its tools are called under: `name.tool`.
    fn name(&self) -> &str;

    /// Who has named it.
    fn layer(&self) -> Layer;

    /// Its tools, under their full names. To ask may take a while, but no longer than somebody wants to know.
    ///
    /// # Errors
    /// Why it cannot say.
    fn tools(&self, cancel: &CancelToken) -> Result<Vec<Arc<dyn NativeTool>>, String>;

    /// Has a function called, on any thread, whenever its tools have changed. One whose tools never change needs none.
    fn on_change(&self, changed: Box<dyn Fn() + Send + Sync>) {
        drop(changed);
    }
}

/// All such places, and what they have said.
#[derive(Debug, Default)]
pub(crate) struct ToolProviders {
    places: Vec<ProviderSlot>,
}

/// A place, and what it has said last.
type ProviderSlot = (Arc<dyn ToolProvider>, Mutex<Option<ProviderAnswer>>);
type ProviderAnswer = Result<Vec<Tool>, String>;

impl ToolProviders {
    pub(crate) fn new(providers: &[Arc<dyn ToolProvider>]) -> ToolProviders {
        ToolProviders {
            places: providers.iter().map(|provider| (provider.clone(), Mutex::default())).collect(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Asks all again, at once; yields all tools, and those who cannot say which they have.
    pub(crate) fn ask_all(&self, cancel: &CancelToken) -> (Vec<Tool>, Vec<RejectedTool>) {
        std::thread::scope(|threads| {
            for place in &self.places {
                threads.spawn(move || ask_and_note(place, cancel));
            }
        });
        self.known()
    }

    /// What all have said last.
    pub(crate) fn known(&self) -> (Vec<Tool>, Vec<RejectedTool>) {
        let (mut tools, mut faults) = (Vec::new(), Vec::new());
        for (provider, answer) in &self.places {
            match lock(answer).as_ref() {
                Some(Ok(found)) => tools.extend(found.iter().cloned()),
                Some(Err(fault)) => faults.push(RejectedTool::silent(provider.as_ref(), fault)),
                None => {}
            }
        }
        (tools, faults)
    }

    /// The tool of a name: in full, or bare where only one has it. Only who could have it is asked.
    ///
    /// # Errors
    /// Why there is none, where more can be said than that.
    pub(crate) fn find(&self, name: &str, cancel: &CancelToken) -> Result<Option<Tool>, String> {
        let place = name.split_once('.').map(|(place, _)| place);
        let asked: Vec<&ProviderSlot> = self
            .places
            .iter()
            .filter(|(provider, _)| place.is_none_or(|place| place == provider.name()))
            .collect();
        let answers = answers(&asked, cancel);
        if cancel.is_cancelled() {
            return Ok(None);
        }
        let mut found = Vec::new();
        let fits = |tool: &&Tool| tool.name() == name || bare(tool.name()) == name;
        for ((_, noted), answer) in asked.into_iter().zip(answers) {
            match answer {
                Ok(tools) => found.extend(tools.iter().filter(fits).cloned()),
                Err(fault) if place.is_some() => {
                    // The next one who asks may have more luck.
                    *lock(noted) = None;
                    return Err(fault);
                }
                Err(_) => {}
            }
        }
        match found.len() {
            0 => Ok(None),
            1 => Ok(found.pop()),
            _ => {
                let names: Vec<&str> = found.iter().map(Tool::name).collect();
                Err(format!("'{name}' may be any of {}; give the full name", names.join(", ")))
            }
        }
    }

    /// Forgets what one has said, which is not so any more.
    pub(crate) fn forget(&self, name: &str) {
        for (_, answer) in self.places.iter().filter(|(provider, _)| provider.name() == name) {
            *lock(answer) = None;
        }
    }

    /// Whether a name may be one of theirs, as far as that is known without asking anybody.
    pub(crate) fn may_have(&self, name: &str) -> bool {
        self.places.iter().any(|(provider, answer)| {
            let full = name.split_once('.').is_some_and(|(place, _)| place == provider.name());
            let known = |tools: &Vec<Tool>| tools.iter().any(|tool| bare(tool.name()) == name);
            full || lock(answer).as_ref().is_some_and(|answer| answer.as_ref().is_ok_and(known))
        })
    }

    /// The names of all tools that are known by now.
    pub(crate) fn names(&self) -> Vec<String> {
        let known = |(_, answer): &ProviderSlot| match lock(answer).as_ref() {
            Some(Ok(tools)) => tools.iter().map(|tool| tool.name().to_owned()).collect(),
            _ => Vec::new(),
        };
        self.places.iter().flat_map(known).collect()
    }
}

/// What places have said, those that have not said anything yet asked now, at once. What is noted may be forgotten at any moment:
/// whoever asks gets the answer itself.
fn answers(places: &[&ProviderSlot], cancel: &CancelToken) -> Vec<ProviderAnswer> {
    std::thread::scope(|threads| {
        let begun: Vec<_> = places
            .iter()
            .map(|&place| {
                let known = lock(&place.1).clone();
                known.ok_or_else(|| threads.spawn(move || ask_and_note(place, cancel)))
            })
            .collect();
        let said = begun.into_iter().map(|known| known.or_else(std::thread::ScopedJoinHandle::join));
        said.map(|said| said.unwrap_or_else(|_| Err("could not be asked".to_owned()))).collect()
    })
}

/// Asks a place, and notes what it says unless that was not waited for. Not asked under the lock: whoever else wants to know need
/// not wait as long.
fn ask_and_note((provider, noted): &ProviderSlot, cancel: &CancelToken) -> ProviderAnswer {
    let said = ask(provider, cancel);
    if !cancel.is_cancelled() {
        *lock(noted) = Some(said.clone());
    }
    said
}

fn ask(provider: &Arc<dyn ToolProvider>, cancel: &CancelToken) -> ProviderAnswer {
    let (by, layer): (Arc<str>, Layer) = (provider.name().into(), provider.layer());
    let tool = |native: Arc<dyn NativeTool>| {
        Tool::new(native.descriptor(), ToolSource::Provided { by: by.clone(), layer, native })
    };
    Ok(provider.tools(cancel)?.into_iter().map(tool).collect())
}

/// A name without that of its place.
fn bare(name: &str) -> &str {
    name.split_once('.').map_or(name, |(_, bare)| bare)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
