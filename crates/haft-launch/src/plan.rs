//! The last step before the exec: every argument, variable and file of the agent, decided.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use haft_config::{FileRules, MAX_CONFIG_BYTES};
use haft_process::{Environment, max_argument_bytes};

use crate::agent::{Agent, PromptDelivery};
use crate::assembly::{AssembledPrompt, shell_words};
use crate::error::{Error, ErrorKind};
use crate::host_facts::HostFacts;
use crate::invocation::Invocation;
use crate::mcp_config::McpConfig;
use crate::selection::{LaunchRequest, LaunchSelection};
use crate::template::{PlaceholderValues, Template};

/// The names of the files that an agent may be given.
const ROLE_FILE: &str = "role.md";
const PROMPT_FILE: &str = "prompt.md";

/// An agent's call, complete.
#[derive(Clone, Debug)]
pub struct LaunchPlan {
    /// The program and its arguments.
    pub argv: Vec<OsString>,
    /// Its environment.
    pub environment: Environment,
    /// The variables of it that the agent's definition sets.
    pub variables: Vec<(String, OsString)>,
    /// What it gets on standard input, if that is not ours.
    pub stdin: Option<Vec<u8>>,
    /// How it gets its prompt, if there is one.
    pub delivery: Option<PromptDelivery>,
    /// LaunchFiles that must be there before it starts.
    pub files: Vec<(PathBuf, Vec<u8>)>,
}

impl LaunchPlan {
    /// Decides everything. LaunchFiles will be expected in `directory`.
    ///
    /// # Errors
    /// If the prompt or the role fits in no delivery that the agent takes it.
    pub fn new(
        selection: &LaunchSelection<'_>,
        request: &LaunchRequest,
        material: &AssembledPrompt,
        facts: &HostFacts,
        directory: &Path,
    ) -> Result<LaunchPlan, Error> {
        let agent = selection.agent;
        let mcp = match request.mcp && selection.catalogue.settings.mcp {
            true => Some(mcp_config(agent, facts)?),
            false => None,
        };
        let draft = Draft {
            agent,
            invocation: agent.invocation(request.batch),
            model: selection.model.clone().unwrap_or_default().into_bytes(),
            mcp,
            shell: shell_words(selection.catalogue.settings.shell.as_ref().map(|shell| &shell.value), facts),
            facts,
            directory,
        };
        draft.plan(material)
    }
}

/// The MCP configuration of an agent. One that is told by a variable where it is may have been told already: what it would
/// have read then is still there.
fn mcp_config(agent: &Agent, facts: &HostFacts) -> Result<McpConfig, Error> {
    let config = agent.mcp.render(&facts.haft);
    let told = |(name, template): &(String, Template)| {
        template.names().eq(["mcp_config"]).then(|| facts.environment.get(name)).flatten()
    };
    let Some(path) = agent.environment.iter().find_map(told).filter(|path| !path.is_empty()) else {
        return Ok(config);
    };
    let path = facts.working_directory.join(path);
    let merged = FileRules::up_to(MAX_CONFIG_BYTES)
        .read(&path)
        .map_err(|error| format!("cannot be read: {}", error.reason()))
        .and_then(|base| config.over(&base).map_err(|why| format!("cannot be extended: {why}")));
    merged.map_err(|why| {
        let error = Error::new(ErrorKind::File, format!("\"{}\" {why}", path.display()));
        error.with_hint(format!(
            "it is the configuration of \"{}\"; launch with --no-mcp to leave it as it is",
            agent.name
        ))
    })
}

/// What is the same however the texts are delivered.
struct Draft<'d> {
    agent: &'d Agent,
    invocation: &'d Invocation,
    model: Vec<u8>,
    mcp: Option<McpConfig>,
    shell: Vec<String>,
    facts: &'d HostFacts,
    directory: &'d Path,
}

/// How the role reaches the agent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RoleDelivery {
    Absent,
    Inline,
    File,
}

impl Draft<'_> {
    /// Tries the deliveries there are, the preferred first, until everything fits.
    fn plan(&self, material: &AssembledPrompt) -> Result<LaunchPlan, Error> {
        let (roles, prompt) = self.split(material);
        let role = material.role.as_deref().unwrap_or_default();
        let deliveries = self.deliveries(&prompt);
        let mut first_fault = None;
        for &role_delivery in &roles {
            for &delivery in &deliveries {
                let values = self.values(role, role_delivery, &prompt, delivery);
                match self.try_plan(&values, role, &prompt) {
                    Ok(plan) => return Ok(plan),
                    Err(fault) => first_fault = first_fault.or(Some(fault)),
                }
            }
        }
        let agent = self.agent.name();
        let fault = first_fault.unwrap_or_default();
        let error =
            Error::new(ErrorKind::Size, format!("agent \"{agent}\" cannot be given its texts: {fault}"));
        Err(error.with_hint("leave out contexts, or give the agent a delivery by file or standard input"))
    }

    /// The deliveries the role may take, and the prompt: an agent that takes no role finds it at the top of its prompt.
    fn split(&self, material: &AssembledPrompt) -> (Vec<RoleDelivery>, Vec<u8>) {
        let Some(role) = &material.role else { return (vec![RoleDelivery::Absent], material.prompt.clone()) };
        let deliveries: Vec<RoleDelivery> =
            [("role", RoleDelivery::Inline), ("role_file", RoleDelivery::File)]
                .into_iter()
                .filter(|(name, _)| self.uses(name))
                .map(|(_, delivery)| delivery)
                .collect();
        if !deliveries.is_empty() {
            return (deliveries, material.prompt.clone());
        }
        let between: &[u8] = match (material.prompt.is_empty(), role.ends_with(b"\n")) {
            (true, _) => b"",
            (false, true) => b"\n",
            (false, false) => b"\n\n",
        };
        (vec![RoleDelivery::Absent], [role, between, &material.prompt].concat())
    }

    /// The deliveries the prompt may take: those that are configured and that the command has a location for, or those that it
    /// shows.
    fn deliveries(&self, prompt: &[u8]) -> Vec<Option<PromptDelivery>> {
        if prompt.is_empty() {
            return vec![None];
        }
        let possible = |delivery: &PromptDelivery| match delivery {
            PromptDelivery::Argv => self.invocation.uses("prompt"),
            PromptDelivery::Env => self.agent.environment_uses("prompt"),
            PromptDelivery::File => self.uses("prompt_file"),
            PromptDelivery::Stdin => true,
        };
        let shown = [PromptDelivery::Argv, PromptDelivery::Env, PromptDelivery::File];
        let configured: &[PromptDelivery] =
            if self.agent.deliveries.is_empty() { &shown } else { &self.agent.deliveries };
        let deliveries: Vec<Option<PromptDelivery>> =
            configured.iter().copied().filter(possible).map(Some).collect();
        if deliveries.is_empty() { vec![Some(PromptDelivery::Stdin)] } else { deliveries }
    }

    fn uses(&self, name: &str) -> bool {
        self.invocation.uses(name) || self.agent.environment_uses(name)
    }

    fn values(
        &self,
        role: &[u8],
        role_delivery: RoleDelivery,
        prompt: &[u8],
        delivery: Option<PromptDelivery>,
    ) -> AgentValues {
        let path = |name: &str| self.directory.join(name).into_os_string().into_vec();
        let mcp = self.mcp.as_ref();
        AgentValues {
            bin: self.agent.bin.clone().into_bytes(),
            model: self.model.clone(),
            role: if role_delivery == RoleDelivery::Inline { role.to_vec() } else { Vec::new() },
            role_file: if role_delivery == RoleDelivery::File { path(ROLE_FILE) } else { Vec::new() },
            argument: if delivery == Some(PromptDelivery::Argv) { prompt.to_vec() } else { Vec::new() },
            variable: if delivery == Some(PromptDelivery::Env) { prompt.to_vec() } else { Vec::new() },
            prompt_file: if delivery == Some(PromptDelivery::File) { path(PROMPT_FILE) } else { Vec::new() },
            mcp_config: mcp.map(|config| path(&config.file_name)).unwrap_or_default(),
            mcp_command: mcp.map(|_| self.facts.haft.as_os_str().as_bytes().to_vec()).unwrap_or_default(),
            cwd: self.facts.working_directory.as_os_str().as_bytes().to_vec(),
            date: self.facts.date.clone().into_bytes(),
            datetime: self.facts.datetime.clone().into_bytes(),
            delivery,
        }
    }

    /// The plan for one delivery, or in a few words why it cannot be.
    fn try_plan(&self, values: &AgentValues, role: &[u8], prompt: &[u8]) -> Result<LaunchPlan, String> {
        let argv = self.invocation.expand(values, &self.shell);
        for (index, argument) in argv.iter().enumerate() {
            check(&format!("argument {index}"), argument.as_bytes())?;
        }
        let mut environment = self.facts.environment.clone();
        let variables = self.variables(values);
        for (name, value) in &variables {
            let entry = [name.as_bytes(), b"=", value.as_bytes()].concat();
            check(&format!("variable {name}"), &entry)?;
            environment.set(name, value).map_err(|error| error.to_string())?;
        }
        let mut files = Vec::new();
        let mut file = |path: &[u8], bytes: &[u8]| {
            if !path.is_empty() {
                files.push((PathBuf::from(OsString::from_vec(path.to_vec())), bytes.to_vec()));
            }
        };
        file(&values.role_file, role);
        file(&values.prompt_file, prompt);
        if let Some(config) = self.mcp.as_ref().filter(|_| self.uses("mcp_config")) {
            file(&values.mcp_config, config.text.as_bytes());
        }
        let stdin = (values.delivery == Some(PromptDelivery::Stdin)).then(|| prompt.to_vec());
        Ok(LaunchPlan { argv, environment, variables, stdin, delivery: values.delivery, files })
    }

    /// The variables that the definition sets; those whose placeholders have no value are not set.
    fn variables(&self, values: &AgentValues) -> Vec<(String, OsString)> {
        let values = AgentValues { argument: values.variable.clone(), ..values.clone() };
        let set = self
            .agent
            .environment
            .iter()
            .filter(|(_, template)| template.names().all(|name| !values.value(name).is_empty()));
        set.map(|(name, template)| (name.clone(), OsString::from_vec(template.fill(&values)))).collect()
    }
}

/// Whether the system takes a string.
fn check(what: &str, bytes: &[u8]) -> Result<(), String> {
    let longest = max_argument_bytes();
    if bytes.len() as u64 >= longest {
        return Err(format!("{what} is {} bytes long, and the system takes {}", bytes.len(), longest - 1));
    }
    if bytes.contains(&0) { Err(format!("{what} holds a NUL byte")) } else { Ok(()) }
}

/// The values of an agent's placeholders.
#[derive(Clone)]
struct AgentValues {
    bin: Vec<u8>,
    model: Vec<u8>,
    role: Vec<u8>,
    role_file: Vec<u8>,
    /// The prompt, where it goes into an argument.
    argument: Vec<u8>,
    /// The prompt, where it goes into a variable.
    variable: Vec<u8>,
    prompt_file: Vec<u8>,
    mcp_config: Vec<u8>,
    mcp_command: Vec<u8>,
    cwd: Vec<u8>,
    date: Vec<u8>,
    datetime: Vec<u8>,
    delivery: Option<PromptDelivery>,
}

impl PlaceholderValues for AgentValues {
    fn value(&self, name: &str) -> &[u8] {
        match name {
            "bin" => &self.bin,
            "model" => &self.model,
            "role" => &self.role,
            "role_file" => &self.role_file,
            "prompt" => &self.argument,
            "prompt_file" => &self.prompt_file,
            "mcp_config" => &self.mcp_config,
            "mcp_command" => &self.mcp_command,
            "cwd" => &self.cwd,
            "date" => &self.date,
            "datetime" => &self.datetime,
            _ => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use haft_config::{ConfigSource, Layer};

    use super::*;
    use crate::assembly::PromptAssembly;
    use crate::catalogue::Catalogue;

    /// The plan for an agent that haft knows, with haft at a location that has a space in its name.
    fn plan(agent: &str, environment: Environment) -> Result<LaunchPlan, Error> {
        let source =
            ConfigSource { layer: Layer::User, name: "none".to_owned(), path: None, text: String::new() };
        let catalogue = Catalogue::read([source]).unwrap();
        let request = LaunchRequest {
            agent: Some(agent.to_owned()),
            instructions: Some(b"go".to_vec()),
            mcp: true,
            ..LaunchRequest::default()
        };
        let facts = HostFacts {
            working_directory: "/".into(),
            haft: "/a b/haft".into(),
            environment,
            ..HostFacts::default()
        };
        let selection = catalogue.select(&request, &facts).unwrap();
        let material = PromptAssembly::new(&selection, &request, &facts).finish(&[]).unwrap();
        LaunchPlan::new(&selection, &request, &material, &facts, "/files".as_ref())
    }

    #[test]
    fn a_command_in_an_argument_is_quoted_where_it_has_to_be() {
        let plan = plan("goose", Environment::new()).unwrap();
        let location = plan.argv.iter().position(|word| word == "--with-extension").unwrap();
        assert_eq!(plan.argv[location + 1], "'/a b/haft' mcp");
    }

    #[test]
    fn a_configuration_that_a_variable_names_already_is_extended() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("own.json");
        std::fs::write(&path, r#"{"theme": "x", "mcp": {"mine": {"command": ["y"]}}}"#).unwrap();
        let environment = Environment::from_pairs([("OPENCODE_CONFIG", &path)]).unwrap();
        let made = plan("opencode", environment.clone()).unwrap();
        let config: serde_json::Value = serde_json::from_slice(&made.files[0].1).unwrap();
        assert_eq!(config["theme"], "x");
        assert_eq!(config["mcp"]["mine"]["command"][0], "y");
        assert_eq!(config["mcp"]["haft"]["command"][0], "/a b/haft");
        std::fs::write(&path, "// no JSON").unwrap();
        let error = plan("opencode", environment).unwrap_err();
        assert!(error.to_string().contains("own.json\" cannot be extended"), "{error}");
        assert!(error.hint().unwrap().contains("--no-mcp"));
    }
}
