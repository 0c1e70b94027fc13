//! The final step before `execve`: all arguments, variables and files of the agent.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use haft_config::{FileErrorKind, FileRules, MAX_CONFIG_BYTES};
use haft_process::{Environment, max_argument_bytes};

use crate::agent::{Agent, PromptDelivery};
use crate::assembly::{AssembledPrompt, shell_words};
use crate::error::{Error, ErrorKind};
use crate::host_facts::HostFacts;
use crate::invocation::Invocation;
use crate::mcp_config::{McpConfig, SERVER_NAME};
use crate::selection::{LaunchRequest, LaunchSelection};
use crate::template::{PlaceholderValues, Template};

/// Names of the files that an agent may receive.
const ROLE_FILE: &str = "role.md";
const PROMPT_FILE: &str = "prompt.md";

/// A complete plan to execute an agent.
#[derive(Clone, Debug)]
pub struct LaunchPlan {
    /// The program and its arguments.
    pub argv: Vec<OsString>,
    /// Its complete environment.
    pub environment: Environment,
    /// The environment variables that the agent's definition sets.
    pub variables: Vec<(String, OsString)>,
    /// Standard input, or `None` to inherit it.
    pub stdin: Option<Vec<u8>>,
    /// How the agent receives its prompt, if there is one.
    pub delivery: Option<PromptDelivery>,
    /// Files to write before the agent starts.
    pub files: Vec<(PathBuf, Vec<u8>)>,
}

impl LaunchPlan {
    /// Plans the launch. Paths of files are below `directory`.
    ///
    /// # Errors
    /// Fails if the prompt or the role does not fit into any accepted delivery.
    pub fn new(
        selection: &LaunchSelection<'_>,
        request: &LaunchRequest,
        assembled: &AssembledPrompt,
        facts: &HostFacts,
        directory: &Path,
    ) -> Result<LaunchPlan, Error> {
        let agent = selection.agent;
        let settings = &selection.catalogue.settings;
        let with_mcp = request.mcp && settings.mcp;
        let approved = with_mcp && request.batch && settings.approve_haft;
        let mcp = with_mcp.then(|| mcp_config(agent, facts)).transpose()?;
        let draft = Draft {
            agent,
            invocation: agent.invocation(request.batch),
            arguments: &request.arguments,
            model: selection.model.clone().unwrap_or_default().into_bytes(),
            mcp,
            approved,
            shell: shell_words(settings.shell.as_ref().map(|shell| &shell.value), facts),
            facts,
            directory,
        };
        draft.plan(assembled)
    }
}

/// The MCP configuration of an agent. If the agent finds its configuration through an environment variable
/// that is already set, haft's entry is merged into that file's content.
fn mcp_config(agent: &Agent, facts: &HostFacts) -> Result<McpConfig, Error> {
    let config = agent.mcp.render(&facts.haft);
    let existing = |(name, template): &(String, Template)| {
        template.names().eq(["mcp_config"]).then(|| facts.environment.get(name)).flatten()
    };
    let Some(path) = agent.environment.iter().find_map(existing).filter(|path| !path.is_empty()) else {
        return Ok(config);
    };
    let path = facts.working_directory.join(path);
    let merged = match FileRules::up_to(MAX_CONFIG_BYTES).read(&path) {
        // The agent ignores a missing file, too.
        Err(error) if error.kind() == FileErrorKind::NotFound => return Ok(config),
        Err(error) => Err(format!("cannot be read: {}", error.reason())),
        Ok(base) => config.over(&base).map_err(|why| format!("cannot be extended: {why}")),
    };
    merged.map_err(|why| {
        let error = Error::new(ErrorKind::File, format!("'{}' {why}", path.display()));
        error.with_hint(format!(
            "it is the configuration of '{}'; launch with --no-mcp to leave it as it is",
            agent.name
        ))
    })
}

/// The inputs that do not depend on how texts are delivered.
struct Draft<'d> {
    agent: &'d Agent,
    invocation: &'d Invocation,
    arguments: &'d [OsString],
    model: Vec<u8>,
    mcp: Option<McpConfig>,
    /// Whether haft's tools need no approval.
    approved: bool,
    shell: Vec<String>,
    facts: &'d HostFacts,
    directory: &'d Path,
}

/// How the agent receives its role.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RoleDelivery {
    Absent,
    Inline,
    File,
}

impl Draft<'_> {
    /// Tries all deliveries in order of preference until everything fits.
    fn plan(&self, assembled: &AssembledPrompt) -> Result<LaunchPlan, Error> {
        let (roles, prompt) = self.split(assembled);
        let role = assembled.role.as_deref().unwrap_or_default();
        let deliveries = self.deliveries(&prompt);
        let mut first_reason = None;
        for &role_delivery in &roles {
            for &delivery in &deliveries {
                let values = self.values(role, role_delivery, &prompt, delivery);
                match self.try_plan(&values, role, &prompt) {
                    Ok(plan) => return Ok(plan),
                    Err(reason) => first_reason = first_reason.or(Some(reason)),
                }
            }
        }
        let agent = self.agent.name();
        let reason = first_reason.unwrap_or_default();
        let error = Error::new(ErrorKind::Size, format!("the prompt does not fit agent '{agent}': {reason}"));
        Err(error
            .with_hint("use fewer contexts, or let the agent accept its prompt by file or standard input"))
    }

    /// Returns the possible role deliveries and the prompt. If the agent accepts no role, the role is
    /// prepended to the prompt.
    fn split(&self, assembled: &AssembledPrompt) -> (Vec<RoleDelivery>, Vec<u8>) {
        let Some(role) = &assembled.role else {
            return (vec![RoleDelivery::Absent], assembled.prompt.clone());
        };
        let deliveries: Vec<RoleDelivery> =
            [("role", RoleDelivery::Inline), ("role_file", RoleDelivery::File)]
                .into_iter()
                .filter(|(name, _)| self.uses(name))
                .map(|(_, delivery)| delivery)
                .collect();
        if !deliveries.is_empty() {
            return (deliveries, assembled.prompt.clone());
        }
        let between: &[u8] = match (assembled.prompt.is_empty(), role.ends_with(b"\n")) {
            (true, _) => b"",
            (false, true) => b"\n",
            (false, false) => b"\n\n",
        };
        (vec![RoleDelivery::Absent], [role, between, &assembled.prompt].concat())
    }

    /// Returns the possible prompt deliveries: the configured ones that the command supports, or those that
    /// follow from its placeholders.
    fn deliveries(&self, prompt: &[u8]) -> Vec<Option<PromptDelivery>> {
        if prompt.is_empty() {
            return vec![None];
        }
        let possible = |delivery: &PromptDelivery| match delivery {
            PromptDelivery::Argv => self.invocation.uses("prompt"),
            PromptDelivery::Env => self.agent.environment_uses("prompt"),
            PromptDelivery::File => self.uses("prompt_file"),
            // An agent may accept standard input in only one of its commands.
            PromptDelivery::Stdin => {
                self.invocation.uses("prompt_stdin") || !self.agent.any_command_uses("prompt_stdin")
            }
        };
        let mut shown = vec![PromptDelivery::Argv, PromptDelivery::Env, PromptDelivery::File];
        shown.extend(self.uses("prompt_stdin").then_some(PromptDelivery::Stdin));
        let configured = if self.agent.deliveries.is_empty() { &shown } else { &self.agent.deliveries };
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
            prompt_stdin: if delivery == Some(PromptDelivery::Stdin) { b"-".to_vec() } else { Vec::new() },
            approved: self.approved,
            mcp_config: mcp.map(|config| path(&config.file_name)).unwrap_or_default(),
            mcp_command: mcp.map(|_| self.facts.haft.as_os_str().as_bytes().to_vec()).unwrap_or_default(),
            cwd: self.facts.working_directory.as_os_str().as_bytes().to_vec(),
            date: self.facts.date.clone().into_bytes(),
            datetime: self.facts.datetime.clone().into_bytes(),
            delivery,
        }
    }

    /// Plans with one pair of deliveries. Returns the reason if something does not fit.
    fn try_plan(&self, values: &AgentValues, role: &[u8], prompt: &[u8]) -> Result<LaunchPlan, String> {
        let argv = self.invocation.expand(values, self.arguments, &self.shell);
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

    /// The environment variables of the definition, without those that have an empty placeholder.
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

/// Checks that the system accepts a string as an argument or variable.
fn check(what: &str, bytes: &[u8]) -> Result<(), String> {
    let longest = max_argument_bytes();
    if bytes.len() as u64 >= longest {
        return Err(format!("{what} is {} bytes long, the maximum is {}", bytes.len(), longest - 1));
    }
    if bytes.contains(&0) { Err(format!("{what} contains a NUL byte")) } else { Ok(()) }
}

/// Values of an agent's placeholders.
#[derive(Clone)]
struct AgentValues {
    bin: Vec<u8>,
    model: Vec<u8>,
    role: Vec<u8>,
    role_file: Vec<u8>,
    /// The prompt, if it is delivered as an argument.
    argument: Vec<u8>,
    /// The prompt, if it is delivered in a variable.
    variable: Vec<u8>,
    prompt_file: Vec<u8>,
    prompt_stdin: Vec<u8>,
    approved: bool,
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
            "prompt_stdin" => &self.prompt_stdin,
            "approved" if self.approved => b"true",
            "approved_server" if self.approved => SERVER_NAME.as_bytes(),
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

    /// The plan for a known agent, with a space in the path of haft.
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
        let assembled = PromptAssembly::new(&selection, &request, &facts).finish(&[]).unwrap();
        LaunchPlan::new(&selection, &request, &assembled, &facts, "/files".as_ref())
    }

    #[test]
    fn a_command_within_an_argument_is_quoted_if_necessary() {
        let plan = plan("goose", Environment::new()).unwrap();
        let location = plan.argv.iter().position(|word| word == "--with-extension").unwrap();
        assert_eq!(plan.argv[location + 1], "'/a b/haft' mcp");
    }

    #[test]
    fn an_existing_mcp_configuration_is_extended() {
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
        let error = plan("opencode", environment.clone()).unwrap_err();
        assert!(error.to_string().contains("own.json' cannot be extended"), "{error}");
        assert!(error.hint().unwrap().contains("--no-mcp"));
        std::fs::remove_file(&path).unwrap();
        assert!(plan("opencode", environment).is_ok());
    }
}
