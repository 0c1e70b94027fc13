//! Providers of tools, such as MCP servers.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use haft_config::Layer;
use haft_process::CancelToken;

use crate::native::NativeTool;
use crate::snapshot::RejectedTool;
use crate::sync::lock;
use crate::tool::{Tool, ToolSource};

/// A source of tools besides files and this process. It is queried when all tools are requested, or a tool
/// that only it can have.
pub trait ToolProvider: Debug + Send + Sync {
    /// The prefix of its tools' names: `name.tool`.
    fn name(&self) -> &str;

    /// The configuration layer that defines it.
    fn layer(&self) -> Layer;

    /// Returns its tools with their full names. This may take a while, but returns when cancelled.
    ///
    /// # Errors
    /// Returns the reason if the tools cannot be listed.
    fn tools(&self, cancel: &CancelToken) -> Result<Vec<Arc<dyn NativeTool>>, String>;

    /// Describes the state of a provider that has not answered yet, in words that stand alone.
    fn unanswered(&self) -> String {
        format!("'{}' has not answered yet", self.name())
    }

    /// Forgets tools that were remembered from an earlier process. The default does nothing.
    fn forget_remembered(&self) {}

    /// Registers a function to call, on any thread, when the tools have changed. The default does nothing,
    /// for tools that never change.
    fn on_change(&self, changed: Box<dyn Fn() + Send + Sync>) {
        drop(changed);
    }
}

/// All providers with their last answers.
#[derive(Debug, Default)]
pub(crate) struct ToolProviders {
    slots: Vec<ProviderSlot>,
}

/// A provider and its last answer.
type ProviderSlot = (Arc<dyn ToolProvider>, Mutex<Option<ProviderAnswer>>);
type ProviderAnswer = Result<Vec<Tool>, String>;

impl ToolProviders {
    pub(crate) fn new(providers: &[Arc<dyn ToolProvider>]) -> ToolProviders {
        ToolProviders {
            slots: providers.iter().map(|provider| (provider.clone(), Mutex::default())).collect(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Queries all providers in parallel, and calls `answered` after each answer but the last. Returns their tools, and a
    /// rejection for each provider that failed.
    pub(crate) fn query_all(
        &self,
        cancel: &CancelToken,
        answered: impl Fn(),
    ) -> (Vec<Tool>, Vec<RejectedTool>) {
        let (sender, answers) = std::sync::mpsc::channel();
        std::thread::scope(|threads| {
            for slot in &self.slots {
                let sender = sender.clone();
                threads.spawn(move || {
                    let _ = query_and_store(slot, cancel);
                    let _ = sender.send(());
                });
            }
            drop(sender);
            for count in 1..=self.slots.len() {
                if answers.recv().is_ok() && count < self.slots.len() {
                    answered();
                }
            }
        });
        self.known()
    }

    /// The last answers of the providers that have answered.
    pub(crate) fn known(&self) -> (Vec<Tool>, Vec<RejectedTool>) {
        let (mut tools, mut failures) = (Vec::new(), Vec::new());
        for (provider, answer) in &self.slots {
            match lock(answer).as_ref() {
                Some(Ok(found)) => tools.extend(found.iter().cloned()),
                Some(Err(reason)) => failures.push(RejectedTool::failed_provider(provider.as_ref(), reason)),
                None => {}
            }
        }
        (tools, failures)
    }

    /// A rejection for each provider that has not answered yet.
    pub(crate) fn unanswered(&self) -> Vec<RejectedTool> {
        let silent = self.slots.iter().filter(|(_, answer)| lock(answer).is_none());
        silent.map(|(provider, _)| RejectedTool::unanswered_provider(provider.as_ref())).collect()
    }

    /// Finds a tool by its full name, or by its bare name if that is unique. Queries only providers that may
    /// have it.
    ///
    /// # Errors
    /// Returns the reason if a provider failed or the name is ambiguous.
    pub(crate) fn find(&self, name: &str, cancel: &CancelToken) -> Result<Option<Tool>, String> {
        let slot = name.split_once('.').map(|(slot, _)| slot);
        let asked: Vec<&ProviderSlot> = self
            .slots
            .iter()
            .filter(|(provider, _)| slot.is_none_or(|slot| slot == provider.name()))
            .collect();
        let answers = answers(&asked, slot.is_some(), cancel);
        if cancel.is_cancelled() {
            return Ok(None);
        }
        let mut found = Vec::new();
        let fits = |tool: &&Tool| tool.name() == name || bare(tool.name()) == name;
        for ((_, stored), answer) in asked.into_iter().zip(answers) {
            match answer {
                Ok(tools) => found.extend(tools.iter().filter(fits).cloned()),
                Err(reason) if slot.is_some() => {
                    // A later call may succeed.
                    *lock(stored) = None;
                    return Err(reason);
                }
                Err(_) => {}
            }
        }
        match found.len() {
            0 => Ok(None),
            1 => Ok(found.pop()),
            _ => {
                let names: Vec<&str> = found.iter().map(Tool::name).collect();
                Err(format!("'{name}' is ambiguous: {}; use the full name", names.join(", ")))
            }
        }
    }

    /// Queries one provider. Its last answer stays until then.
    pub(crate) fn query_again(&self, name: &str, cancel: &CancelToken) {
        for slot in self.slots.iter().filter(|(provider, _)| provider.name() == name) {
            let _ = query_and_store(slot, cancel);
        }
    }

    /// Forgets the last answer of a provider.
    pub(crate) fn forget(&self, name: &str) {
        for (_, answer) in self.slots.iter().filter(|(provider, _)| provider.name() == name) {
            *lock(answer) = None;
        }
    }

    /// Returns true if a provider may have the tool, without querying it.
    pub(crate) fn may_have(&self, name: &str) -> bool {
        self.slots.iter().any(|(provider, answer)| {
            let full = name.split_once('.').is_some_and(|(slot, _)| slot == provider.name());
            let known = |tools: &Vec<Tool>| tools.iter().any(|tool| bare(tool.name()) == name);
            full || lock(answer).as_ref().is_some_and(|answer| answer.as_ref().is_ok_and(known))
        })
    }

    /// The names of all tools known so far.
    pub(crate) fn names(&self) -> Vec<String> {
        let known = |(_, answer): &ProviderSlot| match lock(answer).as_ref() {
            Some(Ok(tools)) => tools.iter().map(|tool| tool.name().to_owned()).collect(),
            _ => Vec::new(),
        };
        self.slots.iter().flat_map(known).collect()
    }
}

/// The answers of these providers. Those without an answer are queried now, in parallel, and with `retries` those that
/// failed too: a server may have exited while it was asked in the background. The answer is returned directly because the
/// stored one may be forgotten at any time.
fn answers(slots: &[&ProviderSlot], retries: bool, cancel: &CancelToken) -> Vec<ProviderAnswer> {
    std::thread::scope(|threads| {
        let begun: Vec<_> = slots
            .iter()
            .map(|&slot| {
                let known = lock(&slot.1).clone().filter(|answer| answer.is_ok() || !retries);
                known.ok_or_else(|| threads.spawn(move || query_and_store(slot, cancel)))
            })
            .collect();
        let answer = begun.into_iter().map(|known| known.or_else(std::thread::ScopedJoinHandle::join));
        answer.map(|answer| answer.unwrap_or_else(|_| Err("the query failed".to_owned()))).collect()
    })
}

/// Queries a provider and stores the answer unless the query was cancelled. The lock is not held meanwhile,
/// so other callers do not wait.
fn query_and_store((provider, stored): &ProviderSlot, cancel: &CancelToken) -> ProviderAnswer {
    let answer = query(provider, cancel);
    if !cancel.is_cancelled() {
        *lock(stored) = Some(answer.clone());
    }
    answer
}

fn query(provider: &Arc<dyn ToolProvider>, cancel: &CancelToken) -> ProviderAnswer {
    let (by, layer): (Arc<str>, Layer) = (provider.name().into(), provider.layer());
    let tool = |native: Arc<dyn NativeTool>| {
        Tool::new(native.descriptor(), ToolSource::Provided { by: by.clone(), layer, native })
    };
    Ok(provider.tools(cancel)?.into_iter().map(tool).collect())
}

/// A tool's name without the name of its provider.
fn bare(name: &str) -> &str {
    name.split_once('.').map_or(name, |(_, bare)| bare)
}
