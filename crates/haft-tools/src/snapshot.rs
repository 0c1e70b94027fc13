//! All tools at one moment.

use std::collections::BTreeMap;
use std::path::PathBuf;

use haft_config::Layer;
use serde::Serialize;

use crate::discover::{Inspection, ToolCandidate};
use crate::provider::ToolProvider;
use crate::tool::Tool;

/// All tools at one moment. It does not change; a call keeps the tool that it started with.
#[derive(Clone, Debug, Default)]
pub struct ToolSnapshot {
    tools: BTreeMap<String, Tool>,
    shadowed: Vec<ShadowedTool>,
    rejected: Vec<RejectedTool>,
    complete: bool,
}

/// A tool that another one of its name has taken the place of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ShadowedTool {
    /// The name.
    pub name: String,
    /// Whose it is.
    pub layer: Layer,
    /// Where it is, if it is a file.
    pub path: Option<PathBuf>,
    /// Whose tool is called in its place.
    pub by: Layer,
}

/// What would be a tool, or have tools, but is none and has none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RejectedTool {
    /// The name it would have.
    pub name: String,
    /// Whose it is.
    pub layer: Layer,
    /// Where it is, if it is a file.
    pub path: Option<PathBuf>,
    /// Whether it only lacks the user's trust.
    pub untrusted: bool,
    /// Why it is none.
    pub reason: String,
    /// Whose tool of this name is called in its place, if there is one.
    pub instead: Option<Layer>,
}

impl RejectedTool {
    pub(crate) fn new(candidate: &ToolCandidate, probe: &Inspection) -> Option<RejectedTool> {
        let (untrusted, reason) = match probe {
            Inspection::Accepted(_) => return None,
            Inspection::Untrusted => (true, "not trusted; run `haft trust`".to_owned()),
            Inspection::Rejected(reason) => (false, reason.clone()),
        };
        let (name, layer) = (candidate.name.clone(), candidate.layer);
        Some(RejectedTool {
            name,
            layer,
            path: Some(candidate.path.clone()),
            untrusted,
            reason,
            instead: None,
        })
    }

    /// A provider that cannot say which tools it has.
    pub(crate) fn silent(provider: &dyn ToolProvider, reason: &str) -> RejectedTool {
        let (name, layer) = (provider.name().to_owned(), provider.layer());
        RejectedTool { name, layer, path: None, untrusted: false, reason: reason.to_owned(), instead: None }
    }
}

impl ToolSnapshot {
    /// The tools that run in this process, before anything else was looked for.
    pub(crate) fn of_natives(natives: &[Tool]) -> ToolSnapshot {
        let mut snapshot = ToolSnapshot::default();
        natives.iter().for_each(|tool| snapshot.add(tool.clone()));
        snapshot
    }

    /// Those, and what was found; later ones win.
    pub(crate) fn of_probes(natives: &[Tool], probes: Vec<(ToolCandidate, Inspection)>) -> ToolSnapshot {
        let mut snapshot = ToolSnapshot::of_natives(natives);
        for (candidate, probe) in probes {
            snapshot.rejected.extend(RejectedTool::new(&candidate, &probe));
            if let Inspection::Accepted(tool) = probe {
                snapshot.add(tool);
            }
        }
        for rejected in &mut snapshot.rejected {
            rejected.instead = snapshot.tools.get(&rejected.name).map(Tool::layer);
        }
        snapshot.complete = true;
        snapshot
    }

    /// The same, while others are still waited for.
    pub(crate) fn incomplete(mut self) -> ToolSnapshot {
        self.complete = false;
        self
    }

    /// The same, with more that has no tools.
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

    /// The tools, by name.
    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.tools.values()
    }

    /// The tool of a name.
    pub fn get(&self, name: &str) -> Option<&Tool> {
        self.tools.get(name)
    }

    /// What others have taken the place of.
    pub fn shadowed(&self) -> &[ShadowedTool] {
        &self.shadowed
    }

    /// What would be a tool but is none, with reasons.
    pub fn rejected(&self) -> &[RejectedTool] {
        &self.rejected
    }

    /// Whether all places were looked at; before that, only the tools in this process are here.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// Whether an agent would see a difference.
    pub(crate) fn differs(&self, other: &ToolSnapshot) -> bool {
        self.tools.len() != other.tools.len()
            || self.tools.iter().zip(&other.tools).any(|((name, tool), (other_name, other))| {
                name != other_name || tool.descriptor() != other.descriptor()
            })
    }
}
