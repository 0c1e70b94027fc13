//! Checks of the process layer, the sandbox and overlays: each is tried, because kernels and containers differ.

use std::path::Path;
use std::time::Duration;

use haft_policy::{Policy, Preset};
use haft_process::{Command, EnforcedBy, Error, Host, JobOutcome, LimitState, ScopeLimits, Task};
use haft_sandbox::Machine;

use super::finding::{DoctorFindings, FindingLevel};
use crate::commands::changes;
use crate::enforcement;
use crate::policy;
use crate::process_context::ProcessContext;

/// Ends a shell and a detached process by a deadline, and looks at how limits are enforced.
pub(super) fn processes(host: &Host) -> DoctorFindings {
    let mut findings = DoctorFindings::default();
    match end_tree(host) {
        Ok(outcome) if outcome.timed_out && outcome.tree.survivors == 0 => {
            let milliseconds = outcome.duration.as_millis();
            let message = format!("a deadline ends a detached process too (in {milliseconds} ms)");
            findings.add(FindingLevel::Ok, message);
            limits(&outcome, &mut findings);
        }
        Ok(outcome) => {
            let survivors = &outcome.tree.survivors;
            findings.problem(format!("a deadline did not end all processes: {survivors:?}"), None);
        }
        Err(error) => findings.problem(format!("cannot run '/bin/sh': {error}"), error.hint()),
    }
    for warning in host.warnings() {
        findings.add(FindingLevel::Note, warning);
    }
    findings
}

/// Runs a shell and a process in a session of its own that ignores `SIGTERM`, with limits that they do not reach.
fn end_tree(host: &Host) -> Result<JobOutcome, Error> {
    let mut command = Command::new("/bin/sh");
    command.arguments(["-c", "(trap '' TERM HUP; exec setsid sleep 60) & sleep 60"]);
    let limits = ScopeLimits { processes: Some(4096), memory: Some(1 << 33), ..ScopeLimits::default() };
    let task = Task::new(command).scope_limits(limits);
    task.timeout(Duration::from_millis(100)).grace(Duration::from_millis(50)).run(host)
}

fn limits(outcome: &JobOutcome, findings: &mut DoctorFindings) {
    let limits = [("memory", &outcome.limits.memory), ("processes", &outcome.limits.processes)];
    for (name, limit) in limits {
        let Some(LimitState { enforced_by, .. }) = limit else { continue };
        let (level, how) = match enforced_by {
            EnforcedBy::Cgroup => (FindingLevel::Ok, "the kernel, with a control group"),
            EnforcedBy::Rlimit => (FindingLevel::Note, "the kernel, for each process on its own"),
            EnforcedBy::Sampling => (FindingLevel::Note, "haft, which checks every few milliseconds"),
            _ => (FindingLevel::Problem, "nobody"),
        };
        let finding = findings.add(level, format!("limits on {name} are enforced by {how}"));
        if level != FindingLevel::Ok {
            let hint = "run haft where it may create control groups, as in a user's systemd session";
            finding.hint = Some(hint.to_owned());
        }
    }
}

/// How far policies bind programs.
pub(super) fn sandbox(process: &ProcessContext) -> DoctorFindings {
    let mut findings = DoctorFindings::default();
    let machine = Machine::probe();
    match machine.landlock_abi {
        0 => {
            findings
                .add(
                    FindingLevel::Note,
                    "the kernel has no Landlock; rules on files bind only haft's commands",
                )
                .hint = Some("add 'landlock' to the kernel's parameter 'lsm'".to_owned());
        }
        version => {
            findings.add(FindingLevel::Ok, format!("Landlock, version {version} of its interface"));
        }
    }
    let (level, has) =
        if machine.seccomp { (FindingLevel::Ok, "has") } else { (FindingLevel::Note, "has no") };
    findings.add(level, format!("the kernel {has} seccomp filters"));
    match haft_process::PrivateNetwork::create() {
        Ok(_) => findings.add(FindingLevel::Ok, "programs can get a network of their own"),
        Err(error) => findings.add(FindingLevel::Note, error.to_string()),
    };
    let context = policy::context(process);
    for preset in [Preset::ReadOnly, Preset::Workspace, Preset::Offline] {
        let enforced = Policy::preset(preset, &context).map_err(Into::into);
        match enforced.and_then(|policy| enforcement::enforceable(&policy)) {
            Ok(enforced) if enforced.unenforced.is_empty() => {
                let level = enforced.level.as_str();
                findings.add(FindingLevel::Ok, format!("policy '{preset}' binds programs (level '{level}')"));
            }
            Ok(enforced) => {
                let rules = enforced.unenforced.join("; ");
                findings
                    .add(FindingLevel::Note, format!("policy '{preset}' binds programs in part: {rules}"));
            }
            Err(failure) => findings.problem(failure.message, failure.hint.as_deref()),
        }
    }
    findings
}

/// Makes an overlay of an empty directory.
pub(super) fn overlays(process: &ProcessContext) -> DoctorFindings {
    let mut findings = DoctorFindings::default();
    let store = changes::store(process);
    let tried = tempfile::tempdir().map_err(|error| (error.to_string(), None)).and_then(|directory| {
        try_overlay(&store, directory.path()).map_err(|error| (error.to_string(), error.hint()))
    });
    match tried {
        Ok(()) => findings.add(FindingLevel::Ok, "'haft run --overlay' works"),
        Err((message, hint)) => {
            let finding = findings.add(FindingLevel::Note, format!("no overlays: {message}"));
            finding.hint = hint;
            finding
        }
    };
    findings
}

fn try_overlay(store: &haft_overlay::OverlayStore, directory: &Path) -> Result<(), haft_overlay::Error> {
    let mut overlay = store.create(&[directory.to_path_buf()], None)?;
    drop(overlay.namespaces()?);
    overlay.discard()
}
