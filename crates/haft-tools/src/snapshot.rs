//! An immutable list of all tools.

use std::collections::BTreeMap;
use std::path::PathBuf;

use haft_config::Layer;
use serde::Serialize;

use crate::discover::{Inspection, ToolCandidate};
use crate::provider::ToolProvider;
use crate::tool::Tool;

/// All tools at one point in time. It never changes, so a running call keeps its tool.
#[derive(Clone, Debug, Default)]
pub struct ToolSnapshot {
    tools: BTreeMap<String, Tool>,
    shadowed: Vec<ShadowedTool>,
    rejected: Vec<RejectedTool>,
    complete: bool,
}

/// A tool that another tool of the same name replaces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct ShadowedTool {
    /// The name.
    pub name: String,
    /// Its layer.
    pub layer: Layer,
    /// Its file, if it has one.
    pub path: Option<PathBuf>,
    /// The layer of the tool that replaces it.
    pub by: Layer,
}

/// A file that is not a valid tool, or a provider that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct RejectedTool {
    /// The name of the tool or provider.
    pub name: String,
    /// Its layer.
    pub layer: Layer,
    /// Its file, if it has one.
    pub path: Option<PathBuf>,
    /// True if only the user's trust is missing.
    pub untrusted: bool,
    /// True if it is an MCP server that has not answered yet.
    pub unanswered: bool,
    /// Why it was rejected.
    pub reason: String,
    /// The layer of the tool that is called instead, if there is one.
    pub instead: Option<Layer>,
}

impl RejectedTool {
    pub(crate) fn new(candidate: &ToolCandidate, inspection: &Inspection) -> Option<RejectedTool> {
        let (untrusted, reason) = match inspection {
            Inspection::Accepted(_) => return None,
            Inspection::Untrusted => (true, "not trusted; run `haft trust` to trust it".to_owned()),
            Inspection::Rejected(reason) => (false, reason.clone()),
        };
        let (name, layer) = (candidate.name.clone(), candidate.layer);
        Some(RejectedTool {
            name,
            layer,
            path: Some(candidate.path.clone()),
            untrusted,
            unanswered: false,
            reason,
            instead: None,
        })
    }

    /// The rejection of a provider that failed.
    pub(crate) fn failed_provider(provider: &dyn ToolProvider, reason: &str) -> RejectedTool {
        RejectedTool {
            name: provider.name().to_owned(),
            layer: provider.layer(),
            path: None,
            untrusted: false,
            unanswered: false,
            reason: reason.to_owned(),
            instead: None,
        }
    }

    /// The entry of a provider that has not answered yet.
    pub(crate) fn unanswered_provider(provider: &dyn ToolProvider) -> RejectedTool {
        RejectedTool { unanswered: true, ..RejectedTool::failed_provider(provider, &provider.unanswered()) }
    }
}

impl ToolSnapshot {
    /// A snapshot with native tools only.
    pub(crate) fn of_natives(natives: &[Tool]) -> ToolSnapshot {
        let mut snapshot = ToolSnapshot::default();
        natives.iter().for_each(|tool| snapshot.add(tool.clone()));
        snapshot
    }

    /// A snapshot of native tools and inspected files. Later ones replace earlier ones.
    pub(crate) fn of_inspections(
        natives: &[Tool],
        inspections: Vec<(ToolCandidate, Inspection)>,
    ) -> ToolSnapshot {
        let mut snapshot = ToolSnapshot::of_natives(natives);
        for (candidate, inspection) in inspections {
            snapshot.rejected.extend(RejectedTool::new(&candidate, &inspection));
            if let Inspection::Accepted(tool) = inspection {
                snapshot.add(tool);
            }
        }
        for rejected in &mut snapshot.rejected {
            rejected.instead = snapshot.tools.get(&rejected.name).map(Tool::layer);
        }
        snapshot.complete = true;
        snapshot
    }

    /// Marks the snapshot as incomplete.
    pub(crate) fn incomplete(mut self) -> ToolSnapshot {
        self.complete = false;
        self
    }

    /// Adds rejections.
    pub(crate) fn with_rejected(mut self, more: Vec<RejectedTool>) -> ToolSnapshot {
        self.rejected.extend(more);
        self
    }

    fn add(&mut self, tool: Tool) {
        let by = tool.layer();
        if let Some(old) = self.tools.insert(tool.name().to_owned(), tool) {
            let path = old.file().map(|file| file.path.clone());
            self.shadowed.push(ShadowedTool { name: old.name().to_owned(), layer: old.layer(), path, by });
        }
    }

    /// The tools, sorted by name.
    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.tools.values()
    }

    /// Finds a tool by name.
    pub fn get(&self, name: &str) -> Option<&Tool> {
        self.tools.get(name)
    }

    /// Tools that others replace.
    pub fn shadowed(&self) -> &[ShadowedTool] {
        &self.shadowed
    }

    /// Rejected candidates, with reasons.
    pub fn rejected(&self) -> &[RejectedTool] {
        &self.rejected
    }

    /// Returns true once discovery has completed. Until then tools may be missing.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// Returns true if the list of tools or a descriptor differs.
    pub(crate) fn differs(&self, other: &ToolSnapshot) -> bool {
        self.tools.len() != other.tools.len()
            || self.tools.iter().zip(&other.tools).any(|((name, tool), (other_name, other))| {
                name != other_name || tool.descriptor() != other.descriptor()
            })
    }
}
