//! `haft launch doctor`: check the configuration and the installed agents.

use std::fmt::Write as _;

use haft_config::trust::TrustStatus;
use haft_config::{ConfigSource, Layer};
use haft_launch::{Catalogue, remove_stale_files, trust_status};
use schemars::JsonSchema;
use serde::Serialize;

use super::catalogue::LaunchSetup;
use crate::commands::print::{print_json, print_text};
use crate::failure::Failure;
use crate::host;
use crate::process_context::ProcessContext;

/// The result of one check.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct DoctorFinding {
    level: FindingLevel,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FindingLevel {
    Ok,
    Note,
    Problem,
}

/// The state of configuration and agents.
#[derive(JsonSchema, Serialize)]
pub(crate) struct DoctorReport<'a> {
    /// Whether no problem was found.
    ok: bool,
    findings: &'a [DoctorFinding],
}

/// The results so far.
#[derive(Default)]
struct DoctorFindings(Vec<DoctorFinding>);

impl DoctorFindings {
    fn add(&mut self, level: FindingLevel, message: impl Into<String>) -> &mut DoctorFinding {
        self.0.push(DoctorFinding { level, message: message.into(), hint: None });
        let last = self.0.len() - 1;
        &mut self.0[last]
    }
}

/// Runs all checks and prints the results. Returns 1 if there is a problem.
pub(super) fn run(as_json: bool, process: &ProcessContext) -> Result<i32, Failure> {
    let world = LaunchSetup::load(process)?;
    let mut findings = DoctorFindings::default();
    let (sources, unreadable): (Vec<_>, Vec<_>) = world.layers().partition(Result::is_ok);
    let sources: Vec<ConfigSource> = sources.into_iter().flatten().collect();
    let unreadable: Vec<haft_config::Error> = unreadable.into_iter().filter_map(Result::err).collect();
    check_sources(&sources, unreadable.is_empty(), &mut findings);
    let (catalogue, errors) = Catalogue::read_lenient(sources);
    unreadable.iter().chain(&errors).for_each(|error| check_error(error, &mut findings));
    check_catalogue(&catalogue, &world, &mut findings);
    match remove_stale_files(&host::run_base(process)) {
        0 => findings.add(FindingLevel::Ok, "no files of ended launches"),
        1 => findings.add(FindingLevel::Ok, "removed the files of 1 ended launch"),
        count => findings.add(FindingLevel::Ok, format!("removed the files of {count} ended launches")),
    };
    let status = i32::from(findings.0.iter().any(|finding| finding.level == FindingLevel::Problem));
    if as_json {
        return Ok(print_json(&DoctorReport { ok: status == 0, findings: &findings.0 }, status));
    }
    Ok(print_text(&shown(&findings), status))
}

fn shown(findings: &DoctorFindings) -> String {
    let mut text = String::new();
    for finding in &findings.0 {
        let level = match finding.level {
            FindingLevel::Ok => "ok",
            FindingLevel::Note => "note",
            FindingLevel::Problem => "problem",
        };
        let message = finding.message.replace('\n', "\n         ");
        let _ = writeln!(text, "{level:7}  {message}");
        if let Some(hint) = &finding.hint {
            let _ = writeln!(text, "         hint: {hint}");
        }
    }
    text
}

fn check_error(error: &haft_config::Error, findings: &mut DoctorFindings) {
    findings.add(FindingLevel::Problem, error.to_string()).hint = error.hint().map(str::to_owned);
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

fn check_catalogue(catalogue: &Catalogue, world: &LaunchSetup, findings: &mut DoctorFindings) {
    check_trust(catalogue, world, findings);
    check_agents(catalogue, world, findings);
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
        findings.add(FindingLevel::Problem, error.to_string()).hint = error.hint().map(str::to_owned);
    }
}

fn check_agents(catalogue: &Catalogue, world: &LaunchSetup, findings: &mut DoctorFindings) {
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
        findings.add(FindingLevel::Problem, "no agent is installed");
    } else if installed > 1 && catalogue.default_agent().is_none() {
        findings.add(FindingLevel::Note, "several agents are installed and none is the default").hint =
            Some("set default_agent in [settings]".to_owned());
    }
}
