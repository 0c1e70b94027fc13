//! `haft launch doctor`: what would go wrong, before it does.

use std::fmt::Write as _;

use haft_config::trust::Standing;
use haft_config::{Layer, Source};
use haft_launch::{Catalogue, clean, standing};
use serde::Serialize;
use serde_json::json;

use super::catalogue::World;
use crate::commands::output::{print_json, print_text};
use crate::failure::Failure;
use crate::host;
use crate::surroundings::Surroundings;

/// Something that was looked at.
#[derive(Debug, Serialize)]
struct Finding {
    level: Level,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Level {
    Ok,
    Note,
    Problem,
}

/// What was found so far.
#[derive(Default)]
struct Findings(Vec<Finding>);

impl Findings {
    fn add(&mut self, level: Level, message: impl Into<String>) -> &mut Finding {
        self.0.push(Finding { level, message: message.into(), hint: None });
        let last = self.0.len() - 1;
        &mut self.0[last]
    }
}

/// Looks at everything; the status is 1 if there is a problem.
pub(super) fn run(as_json: bool, surroundings: &Surroundings) -> Result<i32, Failure> {
    let world = World::look(surroundings)?;
    let mut findings = Findings::default();
    let (sources, unreadable): (Vec<_>, Vec<_>) = world.layers().partition(Result::is_ok);
    let sources: Vec<Source> = sources.into_iter().flatten().collect();
    let unreadable: Vec<haft_config::Error> = unreadable.into_iter().filter_map(Result::err).collect();
    look_at_sources(&sources, unreadable.is_empty(), &mut findings);
    let (catalogue, errors) = Catalogue::survey(sources);
    unreadable.iter().chain(&errors).for_each(|error| look_at_error(error, &mut findings));
    look_at_catalogue(&catalogue, &world, &mut findings);
    match clean(&host::run_base(surroundings)) {
        0 => findings.add(Level::Ok, "no files are left of launches that are over"),
        1 => findings.add(Level::Ok, "the files of 1 launch that is over were removed"),
        count => findings.add(Level::Ok, format!("the files of {count} launches that are over were removed")),
    };
    let status = i32::from(findings.0.iter().any(|finding| finding.level == Level::Problem));
    if as_json {
        return Ok(print_json(&json!({"ok": status == 0, "findings": findings.0}), status));
    }
    Ok(print_text(&shown(&findings), status))
}

fn shown(findings: &Findings) -> String {
    let mut text = String::new();
    for finding in &findings.0 {
        let level = match finding.level {
            Level::Ok => "ok",
            Level::Note => "note",
            Level::Problem => "problem",
        };
        let message = finding.message.replace('\n', "\n         ");
        let _ = writeln!(text, "{level:7}  {message}");
        if let Some(hint) = &finding.hint {
            let _ = writeln!(text, "         hint: {hint}");
        }
    }
    text
}

fn look_at_error(error: &haft_config::Error, findings: &mut Findings) {
    findings.add(Level::Problem, error.to_string()).hint = error.hint().map(str::to_owned);
}

fn look_at_sources(sources: &[Source], all: bool, findings: &mut Findings) {
    if sources.is_empty() && all {
        findings.add(Level::Ok, "no configuration, so haft's defaults are used").hint =
            Some("`haft launch init` writes one to start from".to_owned());
    }
    for source in sources {
        findings.add(Level::Ok, format!("{} configuration: {}", source.layer, source.name));
    }
}

fn look_at_catalogue(catalogue: &Catalogue, world: &World, findings: &mut Findings) {
    look_at_trust(catalogue, world, findings);
    look_at_agents(catalogue, world, findings);
    let roles = catalogue.roles().iter().map(|role| ("role", &role.name, &role.recipe, !role.optional));
    let contexts = catalogue
        .contexts()
        .iter()
        .map(|context| ("context", &context.name, &context.recipe, context.required));
    let tasks = catalogue.tasks().iter().map(|task| ("task", &task.name, &task.recipe, true));
    for (kind, name, recipe, required) in roles.chain(contexts).chain(tasks) {
        let Some(path) = recipe.locate(&world.launch).filter(|path| !path.exists()) else { continue };
        if recipe.layer() != Layer::Embedded {
            let level = if required { Level::Problem } else { Level::Note };
            let path = world.shown(&path);
            findings.add(level, format!("the file of {kind} \"{name}\" is not there: {}", path.display()));
        }
    }
}

fn look_at_trust(catalogue: &Catalogue, world: &World, findings: &mut Findings) {
    let Some(source) = catalogue.config().sources().find(|source| source.layer == Layer::Project) else {
        return;
    };
    if catalogue.project_powers().is_empty() {
        findings.add(
            Level::Ok,
            format!("{} runs nothing, says nothing to agents and needs no trust", source.name),
        );
    } else if standing(source, &world.trust) == Standing::Trusted {
        findings.add(Level::Ok, format!("{} is trusted", source.name));
    } else if let Err(error) = catalogue.check_trust(&world.trust) {
        findings.add(Level::Problem, error.to_string()).hint = error.hint().map(str::to_owned);
    }
}

fn look_at_agents(catalogue: &Catalogue, world: &World, findings: &mut Findings) {
    let mut installed = 0;
    for agent in catalogue.agents() {
        if let Some(path) = world.launch.find(agent.bin()) {
            installed += 1;
            findings.add(Level::Ok, format!("agent \"{}\" is {}", agent.name(), path.display()));
        } else if agent.place().layer() != Layer::Embedded || catalogue.default_agent() == Some(agent.name())
        {
            findings
                .add(Level::Problem, format!("agent \"{}\": no program \"{}\"", agent.name(), agent.bin()));
        }
    }
    if installed == 0 {
        findings.add(Level::Problem, "no agent is installed");
    } else if installed > 1 && catalogue.default_agent().is_none() {
        findings.add(Level::Note, "several agents are installed, and none is the default").hint =
            Some("set default_agent in [settings]".to_owned());
    }
}
