//! `haft launch doctor`: check the configuration and the installed agents.

use haft_config::trust::TrustStatus;
use haft_config::{ConfigSource, Layer};
use haft_launch::{Catalogue, remove_stale_files, trust_status};
use schemars::JsonSchema;
use serde::Serialize;

use super::catalogue::LaunchSetup;
use crate::commands::doctor::finding::{DoctorFinding, DoctorFindings, FindingLevel};
use crate::commands::print::{print_json, print_text};
use crate::failure::Failure;
use crate::host;
use crate::process_context::ProcessContext;

/// The state of configuration and agents.
#[derive(JsonSchema, Serialize)]
pub(crate) struct DoctorReport<'a> {
    /// Whether no problem was found.
    ok: bool,
    findings: &'a [DoctorFinding],
}

/// Runs all checks and prints the results. Returns 1 if there is a problem.
pub(super) fn run(as_json: bool, process: &ProcessContext) -> Result<i32, Failure> {
    let findings = check(FindingLevel::Problem, process)?;
    let status = i32::from(findings.has_problem());
    if as_json {
        return Ok(print_json(&DoctorReport { ok: status == 0, findings: &findings.0 }, status));
    }
    Ok(print_text(&findings.shown(), status))
}

/// Checks the configuration and the agents. `without_agents` is the level of having no agent.
pub(crate) fn check(
    without_agents: FindingLevel,
    process: &ProcessContext,
) -> Result<DoctorFindings, Failure> {
    let world = LaunchSetup::load(process)?;
    let mut findings = DoctorFindings::default();
    let (sources, unreadable): (Vec<_>, Vec<_>) = world.layers().partition(Result::is_ok);
    let sources: Vec<ConfigSource> = sources.into_iter().flatten().collect();
    let unreadable: Vec<haft_config::Error> = unreadable.into_iter().filter_map(Result::err).collect();
    check_sources(&sources, unreadable.is_empty(), &mut findings);
    let (catalogue, errors) = Catalogue::read_lenient(sources);
    unreadable.iter().chain(&errors).for_each(|error| check_error(error, &mut findings));
    check_catalogue(&catalogue, &world, without_agents, &mut findings);
    match remove_stale_files(&host::run_base(process)) {
        0 => findings.add(FindingLevel::Ok, "no files of ended launches"),
        1 => findings.add(FindingLevel::Ok, "removed the files of 1 ended launch"),
        count => findings.add(FindingLevel::Ok, format!("removed the files of {count} ended launches")),
    };
    Ok(findings)
}

fn check_error(error: &haft_config::Error, findings: &mut DoctorFindings) {
    findings.problem(error.to_string(), error.hint());
}

fn check_sources(sources: &[ConfigSource], all: bool, findings: &mut DoctorFindings) {
    if sources.is_empty() && all {
        findings.add(FindingLevel::Ok, "no configuration; the defaults are used").hint =
            Some("`haft launch init` creates one".to_owned());
    }
    for source in sources {
        findings.add(FindingLevel::Ok, format!("{} configuration: {}", source.layer, source.name));
    }
}

fn check_catalogue(
    catalogue: &Catalogue,
    world: &LaunchSetup,
    without_agents: FindingLevel,
    findings: &mut DoctorFindings,
) {
    check_trust(catalogue, world, findings);
    check_agents(catalogue, world, without_agents, findings);
    let roles = catalogue.roles().iter().map(|role| ("role", &role.name, &role.source, !role.optional));
    let contexts = catalogue
        .contexts()
        .iter()
        .map(|context| ("context", &context.name, &context.source, context.required));
    let tasks = catalogue.tasks().iter().map(|task| ("task", &task.name, &task.source, true));
    for (kind, name, recipe, required) in roles.chain(contexts).chain(tasks) {
        let Some(path) = recipe.locate(&world.launch).filter(|path| !path.exists()) else { continue };
        if recipe.layer() != Layer::Embedded {
            let level = if required { FindingLevel::Problem } else { FindingLevel::Note };
            let path = world.shown(&path);
            findings.add(level, format!("the file of {kind} '{name}' does not exist: {}", path.display()));
        }
    }
}

fn check_trust(catalogue: &Catalogue, world: &LaunchSetup, findings: &mut DoctorFindings) {
    let Some(source) = catalogue.config().sources().find(|source| source.layer == Layer::Project) else {
        return;
    };
    if catalogue.items_needing_trust().is_empty() {
        findings.add(
            FindingLevel::Ok,
            format!("{} needs no trust: it runs no commands and adds nothing to prompts", source.name),
        );
    } else if trust_status(source, &world.trust) == TrustStatus::Trusted {
        findings.add(FindingLevel::Ok, format!("{} is trusted", source.name));
    } else if let Err(error) = catalogue.check_trust(&world.trust) {
        findings.problem(error.to_string(), error.hint());
    }
}

fn check_agents(
    catalogue: &Catalogue,
    world: &LaunchSetup,
    without_agents: FindingLevel,
    findings: &mut DoctorFindings,
) {
    let mut installed = 0;
    for agent in catalogue.agents() {
        if let Some(path) = world.launch.find(agent.bin()) {
            installed += 1;
            findings.add(FindingLevel::Ok, format!("agent '{}' is {}", agent.name(), path.display()));
        } else if agent.location().layer() != Layer::Embedded
            || catalogue.default_agent() == Some(agent.name())
        {
            findings.add(
                FindingLevel::Problem,
                format!("agent '{}': no program '{}'", agent.name(), agent.bin()),
            );
        }
    }
    if installed == 0 {
        findings.add(without_agents, "no agent is installed");
    } else if installed > 1 && catalogue.default_agent().is_none() {
        findings.add(FindingLevel::Note, "several agents are installed and none is the default").hint =
            Some("set default_agent in [settings]".to_owned());
    }
}
