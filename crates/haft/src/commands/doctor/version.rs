//! `haft version`: the version, and what the kernel offers.

use clap::Args;
use haft_process::PrivateNetwork;
use haft_sandbox::Machine;
use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::print::{print_json, print_text};

#[derive(Args, Debug)]
pub(crate) struct VersionArguments {
    /// Print one JSON object with the version and what the kernel offers
    #[arg(long)]
    pub(crate) json: bool,
}

/// The version, and what the kernel offers.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct VersionReport {
    version: &'static str,
    /// The commit that it was built from, if the build knew it.
    commit: Option<&'static str>,
    /// The architecture and operating system.
    target: String,
    /// The release of the kernel.
    kernel: String,
    capabilities: KernelCapabilities,
}

/// Kernel features available to this user.
#[derive(Debug, JsonSchema, Serialize)]
struct KernelCapabilities {
    /// Whether haft can create control groups.
    cgroup: bool,
    /// Whether processes can be named by descriptors.
    pidfd: bool,
    /// The version of Landlock's interface; 0 without Landlock.
    landlock_abi: u32,
    /// Whether the kernel has seccomp filters.
    seccomp: bool,
    /// Whether haft can create namespaces.
    namespaces: bool,
}

impl VersionReport {
    fn new() -> VersionReport {
        let machine = Machine::probe();
        let own = rustix::process::getpid();
        VersionReport {
            version: env!("CARGO_PKG_VERSION"),
            commit: option_env!("HAFT_COMMIT"),
            target: format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
            kernel: rustix::system::uname().release().to_string_lossy().into_owned(),
            capabilities: KernelCapabilities {
                cgroup: haft_process::has_control_groups(),
                pidfd: rustix::process::pidfd_open(own, rustix::process::PidfdFlags::empty()).is_ok(),
                landlock_abi: machine.landlock_abi,
                seccomp: machine.seccomp,
                namespaces: PrivateNetwork::create().is_ok(),
            },
        }
    }
}

/// Prints the version.
pub(crate) fn run(as_json: bool) -> i32 {
    match as_json {
        true => print_json(&VersionReport::new(), 0),
        false => print_text(&format!("haft {}\n", env!("CARGO_PKG_VERSION")), 0),
    }
}
