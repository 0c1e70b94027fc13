//! Checks of the engines that run items of `scatter` on other machines.

use std::time::Duration;

use haft_process::capture::OutputView;
use haft_process::{Command, Host, JobOutcome, Task};

use super::finding::{DoctorFindings, FindingLevel};
use crate::process_context::ProcessContext;

/// How long a program may take to print its version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(5);
/// The longest version.
const MAX_VERSION_BYTES: usize = 200;

/// Whether the client programs of the engines are there.
pub(super) fn engines(host: &Host, process: &ProcessContext) -> DoctorFindings {
    let mut findings = DoctorFindings::default();
    let mut command = Command::new("ssh");
    command.argument("-V").environment(process.environment.clone());
    match Task::new(command).timeout(VERSION_TIMEOUT).run(host) {
        Ok(outcome) if outcome.code() == 0 => {
            let version = printed(&outcome);
            findings.add(FindingLevel::Ok, format!("'scatter on=ssh:HOST' can use {}", version.trim()));
        }
        Ok(outcome) => {
            let status = outcome.code();
            findings.add(FindingLevel::Note, format!("'ssh -V' failed with status {status}"));
        }
        Err(error) => {
            let message = format!("no items of 'scatter' on other machines: {error}");
            findings.add(FindingLevel::Note, message).hint =
                Some("install OpenSSH's client, such as the package 'openssh-client'".to_owned());
        }
    }
    findings
}

/// The output of a program, on either stream.
fn printed(outcome: &JobOutcome) -> String {
    let view = OutputView::HeadAndTail;
    let slices = outcome.captured.all().filter_map(|output| output.slice(&view, MAX_VERSION_BYTES).ok());
    slices.map(|slice| slice.to_text().text).collect()
}
