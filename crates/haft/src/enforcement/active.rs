//! A policy in force.

use std::net::SocketAddr;
use std::sync::Arc;

use haft_kernel::KernelBuilder;
use haft_mcp::ClientQuestions;
use haft_policy::{Budgets, NetworkLevel, Policy, SandboxPaths, SandboxRules};
use haft_process::{Namespaces, PrivateNetwork, ProtectedPaths, Sandbox, StartPermission};
use haft_sandbox::{Access, KernelRules, Machine, NetworkRule, ProtectedPath};

use super::approval::Approvals;
use super::enforced::{Enforced, EnforcementLevel, EnforcementReport};
use super::guard::PolicyGuard;
use super::network::ProgramNetwork;
use super::options::PolicyOptions;
use super::prompt::TerminalPrompt;
use super::proxy;
use crate::failure::{CANNOT_RUN_STATUS, Failure};

/// Variables by which programs find a proxy.
const PROXY_VARIABLES: [&str; 6] =
    ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];

/// A policy, with the sandbox of all programs.
#[derive(Clone, Debug)]
pub(crate) struct ActivePolicy {
    guard: Arc<PolicyGuard>,
    sandbox: Option<Arc<Sandbox>>,
    permission: StartPermission,
    enforced: Arc<Enforced>,
    /// The address of the proxy to listed hosts.
    proxy: Option<SocketAddr>,
}

impl ActivePolicy {
    /// Builds the sandbox.
    ///
    /// # Errors
    /// If this machine cannot enforce the policy, unless the options accept that.
    pub(super) fn new(policy: Policy, options: &PolicyOptions) -> Result<ActivePolicy, Failure> {
        let machine = Machine::probe();
        let rules = policy.sandbox();
        let mut network = ProgramNetwork::new(&rules);
        let listener = network.listener.take();
        let (sandbox, enforced) = build(&rules, network, &machine)?;
        if !options.best_effort {
            require(&rules, &enforced)?;
        }
        let prompt = if options.asks { TerminalPrompt::open() } else { None };
        let guard = Arc::new(PolicyGuard::new(policy, prompt.map(Approvals::by)));
        let proxy = listener.map(|listener| proxy::serve(listener, guard.clone())).transpose();
        let proxy = proxy.map_err(|error| {
            Failure::new(format_args!("cannot start the proxy: {error}"), CANNOT_RUN_STATUS)
        })?;
        let sandbox = sandbox.map(Arc::new);
        let permission = permission(&guard, sandbox.as_ref());
        Ok(ActivePolicy { guard, sandbox, permission, enforced: Arc::new(enforced), proxy })
    }

    /// The same policy for a session whose client can ask a person.
    pub(crate) fn asking(&self, questions: &Arc<ClientQuestions>) -> ActivePolicy {
        let guard = Arc::new(self.guard.asking(questions));
        let permission = permission(&guard, self.sandbox.as_ref());
        ActivePolicy { guard, permission, ..self.clone() }
    }

    /// Which programs may start, and their sandbox.
    pub(crate) fn permission(&self) -> &StartPermission {
        &self.permission
    }

    /// Limits the sessions of a kernel.
    pub(crate) fn limit(&self, kernel: KernelBuilder) -> KernelBuilder {
        let kernel = kernel.permission(&self.permission).gate(self.guard.clone());
        // The root directory of a process can always be opened.
        kernel.file_rules(self.guard.clone()).expect("the root directory")
    }

    /// Whether programs reach other hosts only through this process.
    pub(crate) fn has_proxy(&self) -> bool {
        self.proxy.is_some()
    }

    /// Variables that lead programs to the proxy.
    pub(super) fn proxy_variables(&self) -> Vec<(&'static str, String)> {
        let Some(address) = self.proxy else { return Vec::new() };
        PROXY_VARIABLES.iter().map(|name| (*name, format!("http://{address}"))).collect()
    }

    /// How much a run may use.
    pub(crate) fn budgets(&self) -> Budgets {
        self.guard.policy().budgets()
    }

    /// The decisions so far, as text.
    pub(crate) fn decisions(&self) -> Vec<String> {
        self.guard.decisions().iter().map(ToString::to_string).collect()
    }

    /// Enforcement and decisions so far.
    pub(crate) fn report(&self) -> EnforcementReport {
        EnforcementReport { enforced: Enforced::clone(&self.enforced), decisions: self.guard.decisions() }
    }
}

/// Allows the programs that a policy allows, in its sandbox.
fn permission(guard: &Arc<PolicyGuard>, sandbox: Option<&Arc<Sandbox>>) -> StartPermission {
    let allowed = StartPermission::by(guard.clone());
    sandbox.cloned().map(StartPermission::in_sandbox).iter().fold(allowed, |one, other| one.and(other))
}

/// Builds the sandbox for programs; `None` if the policy does not limit them.
fn build(
    rules: &SandboxRules,
    network: ProgramNetwork,
    machine: &Machine,
) -> Result<(Option<Sandbox>, Enforced), Failure> {
    let shown = network.shown;
    if !limits_files(rules) && rules.execute.paths.is_none() && network.rule == NetworkRule::All {
        let unenforced = Vec::new();
        let level = EnforcementLevel::Haft;
        return Ok((None, Enforced { level, files: true, exec: true, network: shown, unenforced }));
    }
    let kernel_rules = kernel_rules(rules, network.rule);
    let built = kernel_rules.build(machine).map_err(|error| Failure::new(error, CANNOT_RUN_STATUS))?;
    let mut unenforced = built.unenforced;
    // Without Landlock, programs could undo the mounts.
    let protected = if built.landlock.is_some() { built.protected } else { Vec::new() };
    let mounts = protect(&protected, network.private.as_deref(), &mut unenforced);
    let has_namespaces = mounts.is_some() || network.private.is_some();
    let level = match (&built.landlock, machine.seccomp) {
        (Some(_), true) if has_namespaces => EnforcementLevel::Namespaces,
        (Some(_), _) => EnforcementLevel::Landlock,
        (None, true) => EnforcementLevel::Seccomp,
        (None, false) => EnforcementLevel::Haft,
    };
    let patterns = rules.inexpressible.join(", ");
    let patterns = (!patterns.is_empty())
        .then(|| format!("rules with patterns bind only haft's own commands: {patterns}"));
    let enforced = Enforced {
        level,
        files: built.landlock.is_some(),
        exec: built.landlock.is_some(),
        network: if machine.seccomp { shown } else { "all" },
        unenforced: unenforced.into_iter().chain(network.lacking).chain(patterns).collect(),
    };
    let sandbox = Sandbox {
        no_new_privileges: true,
        network: network.private,
        mounts,
        landlock: built.landlock.map(Arc::new),
        seccomp: machine.seccomp.then(|| built.seccomp.into()),
    };
    Ok((Some(sandbox), enforced))
}

/// Makes paths read-only for programs in a mount namespace. Adds what programs may change nevertheless to `unenforced`.
fn protect(
    protected: &[ProtectedPath],
    network: Option<&PrivateNetwork>,
    unenforced: &mut Vec<String>,
) -> Option<Arc<Namespaces>> {
    let (existing, missing): (Vec<_>, Vec<_>) = protected.iter().partition(|path| path.exists);
    let may = |verb: &str, path: &ProtectedPath, why: &str| {
        format!("programs may {verb} '{}', {why}", path.path.display())
    };
    unenforced.extend(missing.iter().map(|path| may("create", path, "which does not exist")));
    if existing.is_empty() {
        return None;
    }
    let mut pinned: Vec<_> = existing.iter().flat_map(|path| path.parents.iter().cloned()).collect();
    // The outer ones first, because a mount hides those below it.
    pinned.sort();
    pinned.dedup();
    let read_only = existing.iter().map(|path| path.path.clone()).collect();
    match Namespaces::with_protected_paths(&ProtectedPaths { pinned, read_only }, network) {
        Ok(namespaces) => Some(Arc::new(namespaces)),
        Err(error) => {
            unenforced.extend(existing.iter().map(|path| may("change", path, &error.to_string())));
            None
        }
    }
}

/// Whether a policy limits which files programs access.
fn limits_files(rules: &SandboxRules) -> bool {
    let is_limited = |paths: &SandboxPaths| paths.paths.is_some() || !paths.denied.is_empty();
    [&rules.read, &rules.write, &rules.create, &rules.delete].into_iter().any(is_limited)
}

fn kernel_rules(rules: &SandboxRules, network: NetworkRule) -> KernelRules {
    let mut kernel = KernelRules { network, ..KernelRules::default() };
    for (paths, access) in [
        (&rules.read, Access::READ),
        (&rules.write, Access::WRITE),
        (&rules.create, Access::CREATE),
        (&rules.delete, Access::DELETE),
        (&rules.execute, Access::EXECUTE),
    ] {
        match &paths.paths {
            Some(paths) => paths.iter().for_each(|path| kernel.allow(path, access)),
            None => kernel.allow("/", access),
        }
        paths.denied.iter().for_each(|path| kernel.except(path, access));
    }
    kernel
}

/// Fails if the kernel does not enforce the policy.
fn require(rules: &SandboxRules, enforced: &Enforced) -> Result<(), Failure> {
    let missing = if limits_files(rules) && !enforced.files {
        "rules on files: this kernel has no Landlock"
    } else if rules.execute.paths.is_some() && !enforced.exec {
        "the directories of programs: this kernel has no Landlock"
    } else if rules.network != NetworkLevel::All && enforced.network == "all" {
        "rules on the network: this kernel has no seccomp filters"
    } else if !rules.hosts.is_empty() && rules.network == NetworkLevel::Listed && enforced.network != "hosts"
    {
        "list of hosts: this machine has no network namespaces"
    } else {
        return Ok(());
    };
    Err(Failure::new(format_args!("cannot enforce the policy's {missing}"), CANNOT_RUN_STATUS)
        .with_hint("'--best-effort' runs it with what this machine can enforce"))
}
