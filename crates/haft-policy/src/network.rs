//! Rules on the network.

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::decision::{Decision, PolicyVerdict, RulePlace};
use crate::wildcard;

/// How far a run may reach. The widest is the greatest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NetworkLevel {
    /// No network at all.
    None,
    /// This machine only.
    Loopback,
    /// This machine, and the listed hosts and ports.
    Listed,
    /// Everything.
    #[default]
    All,
}

impl NetworkLevel {
    /// The name in configuration files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            NetworkLevel::None => "none",
            NetworkLevel::Loopback => "loopback",
            NetworkLevel::Listed => "listed",
            NetworkLevel::All => "all",
        }
    }
}

/// The rules of one layer on the network.
#[derive(Clone, Debug, Default)]
pub(crate) struct NetworkLimits {
    pub(crate) level: NetworkLevel,
    /// Patterns of host names; empty for any host.
    pub(crate) hosts: Vec<String>,
    /// Ports; empty for any port.
    pub(crate) ports: Vec<u16>,
    pub(crate) place: Option<RulePlace>,
}

impl NetworkLimits {
    pub(crate) fn decide(&self, host: &str, port: u16) -> Decision {
        let allowed = match self.level {
            NetworkLevel::None => false,
            NetworkLevel::Loopback => is_loopback(host),
            NetworkLevel::Listed => is_loopback(host) || self.is_listed(host, port),
            NetworkLevel::All => true,
        };
        let rule = self.place.is_some().then(|| format!("network '{}'", self.level.as_str()));
        if allowed {
            return Decision { rule, place: self.place.clone(), ..Decision::allowed() };
        }
        Decision {
            verdict: PolicyVerdict::Deny,
            rule,
            place: self.place.clone(),
            reason: format!("no rule allows a connection to '{host}' port {port}"),
            allowed_instead: self.instead(),
        }
    }

    fn is_listed(&self, host: &str, port: u16) -> bool {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        let is_host =
            |pattern: &String| wildcard::matches(pattern.to_ascii_lowercase().as_bytes(), host.as_bytes());
        (self.hosts.is_empty() || self.hosts.iter().any(is_host))
            && (self.ports.is_empty() || self.ports.contains(&port))
    }

    fn instead(&self) -> Option<String> {
        let ports: Vec<String> = self.ports.iter().map(u16::to_string).collect();
        let listed = [("hosts", self.hosts.join(", ")), ("ports", ports.join(", "))];
        let listed: Vec<String> = listed
            .into_iter()
            .filter(|(_, names)| !names.is_empty())
            .map(|(what, names)| format!("{what} {names}"))
            .collect();
        match self.level {
            NetworkLevel::Listed => Some(listed.join("; ")),
            NetworkLevel::Loopback => Some("connections to this machine".to_owned()),
            NetworkLevel::None | NetworkLevel::All => None,
        }
    }
}

/// Whether a host name or address is this machine.
pub(crate) fn is_loopback(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.');
    match host.parse::<IpAddr>() {
        Ok(address) => address.to_canonical().is_loopback(),
        Err(_) => {
            let host = host.to_ascii_lowercase();
            host == "localhost" || host.ends_with(".localhost")
        }
    }
}
