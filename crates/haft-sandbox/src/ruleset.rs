//! Landlock rulesets.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, NetPort, PathBeneath,
    Ruleset, RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, Scope,
};
use rustix::fs::{Mode, OFlags};

use crate::machine::Machine;
use crate::rules::{FileRule, NetworkRule, SandboxError};

/// The newest version of the interface whose rights are used. Kernels with an older one enforce what they know.
const NEWEST_ABI: ABI = ABI::V6;

/// Rights that a rule for a file, not a directory, may have.
fn rights_of_files() -> BitFlags<AccessFs> {
    AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::Execute
}

/// Creates a ruleset. Returns `None` if the kernel has no Landlock. Adds what it does not enforce to `unenforced`.
pub(crate) fn create(
    files: &[FileRule],
    network: &NetworkRule,
    machine: &Machine,
    unenforced: &mut Vec<String>,
) -> Result<Option<OwnedFd>, SandboxError> {
    if !machine.restricts_files() {
        unenforced.push("programs may access all files: this kernel has no Landlock".to_owned());
        return Ok(None);
    }
    let mut ruleset = handled(network).map_err(|error| failed("create a Landlock ruleset", error))?;
    for rule in files {
        ruleset = add_file(ruleset, rule)?;
    }
    if let NetworkRule::Ports { connect, bind } = network {
        if !machine.restricts_ports() {
            unenforced.push(
                "programs may use all TCP ports: this kernel's Landlock has no rules for ports".to_owned(),
            );
        }
        ruleset = add_ports(ruleset, connect, AccessNet::ConnectTcp)?;
        ruleset = add_ports(ruleset, bind, AccessNet::BindTcp)?;
    }
    Ok(ruleset.into())
}

/// An empty ruleset, which denies all access that Landlock knows except for `ioctl` on devices. Abstract UNIX sockets outside
/// of the sandbox cannot be reached.
fn handled(network: &NetworkRule) -> Result<RulesetCreated, landlock::RulesetError> {
    let files = AccessFs::from_all(NEWEST_ABI) & !BitFlags::from(AccessFs::IoctlDev);
    let ruleset = Ruleset::default().set_compatibility(CompatLevel::BestEffort);
    let ruleset = ruleset.handle_access(files)?.scope(Scope::AbstractUnixSocket)?;
    match network {
        NetworkRule::Ports { .. } => ruleset.handle_access(AccessNet::from_all(NEWEST_ABI))?.create(),
        NetworkRule::All | NetworkRule::None | NetworkRule::Private => ruleset.create(),
    }
}

fn add_file(ruleset: RulesetCreated, rule: &FileRule) -> Result<RulesetCreated, SandboxError> {
    // The file may have been removed meanwhile.
    let Ok(handle) = open(&rule.path) else { return Ok(ruleset) };
    let is_directory = rustix::fs::fstat(&handle).is_ok_and(|stat| {
        rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::Directory
    });
    let rights = match is_directory {
        true => rule.access.rights(),
        false => rule.access.rights() & rights_of_files(),
    };
    if rights.is_empty() {
        return Ok(ruleset);
    }
    let added = ruleset.add_rule(PathBeneath::new(handle, rights));
    added.map_err(|error| failed("add a rule to a Landlock ruleset", error))
}

/// Opens a file for a rule. Paths have no symbolic links; one that appears at the end is not followed.
fn open(path: &Path) -> rustix::io::Result<OwnedFd> {
    rustix::fs::open(path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
}

fn add_ports(
    mut ruleset: RulesetCreated,
    ports: &[u16],
    access: AccessNet,
) -> Result<RulesetCreated, SandboxError> {
    for port in ports {
        let added = ruleset.add_rule(NetPort::new(*port, access));
        ruleset = added.map_err(|error| failed("add a port to a Landlock ruleset", error))?;
    }
    Ok(ruleset)
}

fn failed(step: &'static str, error: landlock::RulesetError) -> SandboxError {
    SandboxError { step, source: io::Error::other(error) }
}
