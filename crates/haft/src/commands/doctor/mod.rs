//! `haft doctor`: check what works on this machine, and print the version with what the kernel offers.

pub(crate) mod finding;
mod machine;
mod scale;
mod setup;
pub(crate) mod version;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use self::finding::{DoctorFinding, DoctorFindings};
use crate::commands::print::{print_json, print_text};
use crate::failure::Failure;
use crate::host;
use crate::process_context::ProcessContext;

const EXAMPLES: &str = "Examples:
  haft doctor                     # what works here, what does not, and what to do
  haft doctor --json | jq '.sections[].findings[] | select(.level != \"ok\")'

The exit status is 1 if there is a problem. A note is about something that haft can do without.";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DoctorArguments {
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// The state of the machine, the configuration, the tools and the agents.
#[derive(JsonSchema, Serialize)]
pub(crate) struct MachineDoctorReport {
    /// Whether no problem was found.
    ok: bool,
    sections: Vec<DoctorSection>,
}

/// The findings on one subject.
#[derive(JsonSchema, Serialize)]
struct DoctorSection {
    name: &'static str,
    findings: Vec<DoctorFinding>,
}

/// Runs all checks and prints the results. Returns 1 if there is a problem.
#[expect(clippy::unnecessary_wraps, reason = "all commands return a result")]
pub(crate) fn run(arguments: &DoctorArguments, process: &ProcessContext) -> Result<i32, Failure> {
    let host = host::set_up(process);
    let sections = [
        ("processes", machine::processes(&host)),
        ("sandbox", machine::sandbox(process)),
        ("overlays", machine::overlays(process)),
        ("other machines", scale::engines(&host, process)),
        ("storage", setup::storage(&host, process)),
        ("configuration and agents", setup::agents(process)),
        ("policy", setup::policy(process)),
        ("tools and MCP servers", setup::tools(process, host)),
    ];
    let status = i32::from(sections.iter().any(|(_, findings)| findings.has_problem()));
    if arguments.json {
        let section = |(name, findings): (_, DoctorFindings)| DoctorSection { name, findings: findings.0 };
        let sections = sections.into_iter().map(section).collect();
        return Ok(print_json(&MachineDoctorReport { ok: status == 0, sections }, status));
    }
    let text: Vec<String> =
        sections.iter().map(|(name, findings)| format!("{name}\n{}", findings.shown())).collect();
    Ok(print_text(&text.join("\n"), status))
}
