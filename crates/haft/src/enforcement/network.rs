//! The network of programs under a policy.

use std::net::TcpListener;
use std::sync::Arc;

use haft_policy::{NetworkLevel, SandboxRules};
use haft_process::PrivateNetwork;
use haft_sandbox::NetworkRule;

/// The network that programs get.
#[derive(Debug)]
pub(super) struct ProgramNetwork {
    /// Its name in results.
    pub(super) shown: &'static str,
    pub(super) rule: NetworkRule,
    pub(super) private: Option<Arc<PrivateNetwork>>,
    /// The listener for a proxy, if programs may reach listed hosts.
    pub(super) listener: Option<TcpListener>,
    /// The reason if programs get less than the policy allows.
    pub(super) lacking: Option<String>,
}

impl ProgramNetwork {
    /// The network for a policy. A machine without namespaces gives programs no network instead of a private one.
    pub(super) fn new(rules: &SandboxRules) -> ProgramNetwork {
        match rules.network {
            NetworkLevel::All => ProgramNetwork::plain("all", NetworkRule::All),
            NetworkLevel::None => ProgramNetwork::plain("none", NetworkRule::None),
            NetworkLevel::Listed if rules.hosts.is_empty() => {
                let (connect, bind) = (rules.ports.clone(), rules.ports.clone());
                ProgramNetwork::plain("ports", NetworkRule::Ports { connect, bind })
            }
            NetworkLevel::Listed => ProgramNetwork::private("hosts", true),
            NetworkLevel::Loopback => ProgramNetwork::private("loopback", false),
        }
    }

    fn plain(shown: &'static str, rule: NetworkRule) -> ProgramNetwork {
        ProgramNetwork { shown, rule, private: None, listener: None, lacking: None }
    }

    fn private(shown: &'static str, proxied: bool) -> ProgramNetwork {
        match PrivateNetwork::create() {
            Ok((network, listener)) => ProgramNetwork {
                private: Some(Arc::new(network)),
                listener: proxied.then_some(listener),
                ..ProgramNetwork::plain(shown, NetworkRule::Private)
            },
            Err(error) => ProgramNetwork {
                lacking: Some(format!("programs have no network: {error}")),
                ..ProgramNetwork::plain("none", NetworkRule::None)
            },
        }
    }
}
