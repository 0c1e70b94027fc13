//! The lists that a sandbox of the operating system needs.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use crate::file_limit::{FileAccess, PathRule};
use crate::layer::PolicyLayer;
use crate::network::NetworkLevel;
use crate::policy::Policy;

/// Files and directories that programs may use. A directory includes everything in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SandboxPaths {
    /// The paths; `None` if every path is allowed.
    pub paths: Option<Vec<PathBuf>>,
    /// Exceptions: paths beneath them that are not allowed.
    pub denied: Vec<PathBuf>,
}

/// A policy in terms of a sandbox, which knows directories but no patterns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SandboxRules {
    /// Files that programs may read.
    pub read: SandboxPaths,
    /// Files whose content may change.
    pub write: SandboxPaths,
    /// Directories in which files may be created.
    pub create: SandboxPaths,
    /// Directories in which files may be removed.
    pub delete: SandboxPaths,
    /// Programs that may be executed.
    pub execute: SandboxPaths,
    /// How far programs may reach.
    pub network: NetworkLevel,
    /// Ports that may be connected to, if the level is `listed`; empty for any port.
    pub ports: Vec<u16>,
    /// Hosts that may be connected to, if the level is `listed`; empty for any host. A sandbox cannot enforce them.
    pub hosts: Vec<String>,
    /// Rules with patterns, which a sandbox cannot express. Haft enforces them for its own commands only.
    pub inexpressible: Vec<String>,
}

impl Policy {
    /// The policy in terms of a sandbox. Paths that are asked about are treated as denied.
    #[must_use]
    pub fn sandbox(&self) -> SandboxRules {
        let level = self.layers.iter().map(|layer| layer.network.level).min().unwrap_or_default();
        // Lists that have nothing in common leave only this machine.
        let (level, (ports, hosts)) = match self.listed() {
            Some(listed) => (level, listed),
            None => (level.min(NetworkLevel::Loopback), Default::default()),
        };
        SandboxRules {
            read: self.paths(FileAccess::Read),
            write: self.paths(FileAccess::Write),
            create: self.paths(FileAccess::Create),
            delete: self.paths(FileAccess::Delete),
            execute: SandboxPaths {
                paths: self.intersection(|layer| layer.exec.as_ref()),
                denied: Vec::new(),
            },
            network: level,
            ports,
            hosts,
            inexpressible: self.inexpressible(),
        }
    }

    fn paths(&self, access: FileAccess) -> SandboxPaths {
        let exceptions = self.layers.iter().flat_map(|layer| &layer.files.exceptions);
        let applying = exceptions.filter(|exception| exception.applies(access));
        let mut denied: Vec<PathBuf> = applying.flat_map(|exception| exception.rule.plain()).collect();
        denied.sort();
        denied.dedup();
        SandboxPaths { paths: self.intersection(|layer| layer.files.allowed(access)), denied }
    }

    /// The paths that are in the lists of all layers that have one.
    fn intersection<'p>(
        &'p self,
        list: impl Fn(&'p PolicyLayer) -> Option<&'p Vec<PathRule>>,
    ) -> Option<Vec<PathBuf>> {
        let lists = self.layers.iter().filter_map(list);
        let lists = lists.map(|rules| rules.iter().flat_map(PathRule::plain).collect::<Vec<PathBuf>>());
        let mut paths = lists.reduce(|one, other| intersect(&one, &other))?;
        paths.sort();
        paths.dedup();
        Some(paths)
    }

    /// The ports and hosts that all layers list; `None` if there are none.
    fn listed(&self) -> Option<(Vec<u16>, Vec<String>)> {
        let mut listed = self
            .layers
            .iter()
            .map(|layer| &layer.network)
            .filter(|network| network.level == NetworkLevel::Listed);
        let Some(first) = listed.next() else { return Some((Vec::new(), Vec::new())) };
        let (mut ports, mut hosts) = (first.ports.clone(), first.hosts.clone());
        for network in listed {
            narrow(&mut ports, &network.ports)?;
            narrow(&mut hosts, &network.hosts)?;
        }
        Some((ports, hosts))
    }

    fn inexpressible(&self) -> Vec<String> {
        let rules = self.layers.iter().flat_map(|layer| {
            let files = &layer.files;
            let lists = [&files.read, &files.write, &files.create, &files.delete, &layer.exec];
            let allowed = lists.into_iter().flatten().flatten();
            allowed.chain(files.exceptions.iter().map(|exception| &exception.rule))
        });
        let is_inexpressible =
            |rule: &&PathRule| rule.patterns.iter().any(|pattern| pattern.plain().is_none());
        rules.filter(is_inexpressible).map(|rule| rule.text.clone()).collect()
    }
}

/// Keeps the values that are in both lists. An empty list stands for everything, so `None` stands for nothing.
fn narrow<T: Clone + PartialEq>(list: &mut Vec<T>, other: &[T]) -> Option<()> {
    if list.is_empty() {
        list.extend_from_slice(other);
    } else if !other.is_empty() {
        list.retain(|value| other.contains(value));
        return (!list.is_empty()).then_some(());
    }
    Some(())
}

/// The parts of directories that are in both lists.
fn intersect(one: &[PathBuf], other: &[PathBuf]) -> Vec<PathBuf> {
    let within = |path: &Path, list: &[PathBuf]| list.iter().any(|directory| path.starts_with(directory));
    let from_one = one.iter().filter(|path| within(path, other));
    from_one.chain(other.iter().filter(|path| within(path, one))).cloned().collect()
}
