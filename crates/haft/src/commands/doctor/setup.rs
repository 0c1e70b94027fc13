//! Checks of directories, configuration, policy and tools.

use std::path::Path;
use std::time::Duration;

use haft_config::printable;
use haft_process::{CancelToken, Host};
use rustix::fs::{Access, access};

use super::finding::{DoctorFindings, FindingLevel};
use crate::commands::launch::doctor;
use crate::failure::Failure;
use crate::process_context::ProcessContext;
use crate::tools::{self, ToolSettings};
use crate::{places, policy};

/// How long MCP servers are waited for.
const SERVER_WAIT: Duration = Duration::from_secs(5);

/// The directories for records, overlays and outputs.
pub(super) fn storage(host: &Host, process: &ProcessContext) -> DoctorFindings {
    let mut findings = DoctorFindings::default();
    match places::unchecked(process).state {
        None => {
            let message = "no state directory: runs are not recorded, and no project can be trusted";
            findings.add(FindingLevel::Note, message).hint = Some("set HOME or XDG_STATE_HOME".to_owned());
        }
        Some(state) if is_writable(&state) => {
            findings.add(FindingLevel::Ok, format!("records and overlays: '{}'", printable(&state)));
        }
        Some(state) => {
            let message = format!("the state directory '{}' is not writable", printable(&state));
            findings.problem(message, Some("change its permissions, or set XDG_STATE_HOME"));
        }
    }
    if host.warnings().is_empty() {
        findings.add(FindingLevel::Ok, "long outputs are stored on disk");
    }
    findings
}

/// Whether a directory can be written or created.
fn is_writable(directory: &Path) -> bool {
    let existing = directory.ancestors().find(|above| above.exists());
    existing.is_some_and(|path| access(path, Access::WRITE_OK | Access::EXEC_OK).is_ok())
}

/// The configuration files and the agents.
pub(super) fn agents(process: &ProcessContext) -> DoctorFindings {
    doctor::check(FindingLevel::Note, process).unwrap_or_else(|failure| failed(&failure))
}

/// The policy of the configuration.
pub(super) fn policy(process: &ProcessContext) -> DoctorFindings {
    let mut findings = DoctorFindings::default();
    match policy::load(None, process) {
        Ok(policy) if policy.is_unlimited() => {
            findings.add(FindingLevel::Note, "no policy: commands may do what you may do").hint =
                Some("'haft policy show workspace' prints one to start from".to_owned());
        }
        Ok(_) => {
            findings.add(FindingLevel::Ok, "a policy is in force; 'haft policy explain' shows it");
        }
        Err(failure) => return failed(&failure),
    }
    findings
}

/// The tools, and the MCP servers that provide some.
pub(super) fn tools(process: &ProcessContext, host: Host) -> DoctorFindings {
    let settings = match ToolSettings::read(process) {
        Ok(settings) => settings,
        Err(failure) => return failed(&failure),
    };
    let mut findings = DoctorFindings::default();
    let registry = tools::open(process, host, &settings, CancelToken::new());
    let snapshot = registry.wait_for_all_within(SERVER_WAIT);
    let servers: std::collections::BTreeSet<&str> =
        snapshot.tools().filter_map(|tool| tool.provider()).collect();
    findings.add(FindingLevel::Ok, format!("{} tools can be called", snapshot.tools().count()));
    for server in servers {
        findings.add(FindingLevel::Ok, format!("MCP server '{server}' answers"));
    }
    for rejected in snapshot.rejected() {
        let (level, hint) = match rejected {
            rejected if rejected.untrusted => (FindingLevel::Note, Some("'haft trust' shows and trusts it")),
            rejected if rejected.unanswered => {
                (FindingLevel::Problem, Some("'haft tool list --wait 60s' waits longer"))
            }
            _ => (FindingLevel::Problem, None),
        };
        let place = rejected.path.as_ref().map_or(String::new(), |path| format!(" ('{}')", printable(path)));
        let message = format!("'{}'{place} cannot be used: {}", rejected.name, rejected.reason);
        findings.add(level, message).hint = hint.map(str::to_owned);
    }
    findings
}

fn failed(failure: &Failure) -> DoctorFindings {
    let mut findings = DoctorFindings::default();
    findings.problem(failure.message.clone(), failure.hint.as_deref());
    findings
}
