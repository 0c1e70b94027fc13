//! A tool put through the whole contract, for its author.

use std::path::Path;
use std::time::{Duration, Instant};

use haft_process::{Command, Environment, Exit, Input, Task};
use serde::Serialize;
use serde_json::Value;

use crate::call::CallOptions;
use crate::call::PreparedCall;
use crate::discover::{end_rest, is_executable};
use crate::environment::for_tool;
use crate::registry::Registry;
use crate::text;
use crate::tool::{Tool, ToolDescriptor, tool_name_of_file};

/// A schema that takes longer than this share of its time will miss it on a busy machine.
const HURRY: f64 = 0.5;

/// What was found out about one part of the contract.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToolFinding {
    /// Which part.
    pub part: &'static str,
    /// How it stands.
    pub verdict: ToolVerdict,
    /// What was seen, and what to do.
    pub detail: String,
}

/// How a part of the contract stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolVerdict {
    /// It is kept.
    Good,
    /// It is kept, but callers would be better off with more.
    Advice,
    /// It is broken.
    Wrong,
}

/// The findings so far.
struct ToolFindings(Vec<ToolFinding>);

impl ToolFindings {
    fn add(&mut self, part: &'static str, verdict: ToolVerdict, detail: impl Into<String>) {
        self.0.push(ToolFinding { part, verdict, detail: detail.into() });
    }
}

impl Registry {
    /// Looks at a file, asks it for its schema, gives it garbage, and calls it with the `examples` of its parameters.
    /// It need not be in any place where tools are looked for, nor trusted: whoever asks for this runs it.
    pub fn check_tool(&self, path: &Path) -> Vec<ToolFinding> {
        let mut findings = ToolFindings(Vec::new());
        let name = path.file_name().and_then(|name| tool_name_of_file(name.to_str()?));
        if !path.exists() {
            findings.add("file", ToolVerdict::Wrong, "there is no such file");
        } else if !is_executable(path) {
            findings.add(
                "file",
                ToolVerdict::Wrong,
                format!("it is not executable: chmod +x '{}'", path.display()),
            );
        } else if let Some(name) = name {
            findings.add(
                "file",
                ToolVerdict::Good,
                format!("an executable file; its name makes it the tool '{name}'"),
            );
            self.check_schema(path, &name, &mut findings);
        } else {
            findings.add("file", ToolVerdict::Wrong, "the name of its file does not end in '-tool', or has other characters than letters, digits, '-' and '_'");
        }
        findings.0
    }

    fn check_schema(&self, path: &Path, name: &str, findings: &mut ToolFindings) {
        let started = Instant::now();
        let tool = match self.inner().ask(path, name) {
            Ok(tool) => tool,
            Err(reason) => return findings.add("schema", ToolVerdict::Wrong, reason),
        };
        let (took, allowed) = (started.elapsed(), self.inner().options.schema_timeout);
        let detail = format!("answered in {} ms", took.as_millis());
        if took > allowed.mul_f64(HURRY) {
            let detail = format!("{detail} of the {} ms it has: be quicker", allowed.as_millis());
            findings.add("schema", ToolVerdict::Advice, detail);
        } else {
            findings.add("schema", ToolVerdict::Good, detail);
        }
        describe(tool.descriptor(), findings);
        self.check_garbage(path, name, findings);
        self.check_examples(&tool, findings);
    }

    /// What is no JSON has to be refused.
    fn check_garbage(&self, path: &Path, name: &str, findings: &mut ToolFindings) {
        let inner = self.inner();
        let mut command = Command::new(path);
        let own = &inner.options.environment;
        command.environment(for_tool(own, &Environment::new(), own, name, &[]));
        command.working_directory(&inner.options.directory);
        let task = Task::new(command)
            .input(Input::Bytes((*b"this is { no JSON").into()))
            .timeout(inner.options.timeout.min(Duration::from_secs(10)));
        let mut outcome = match task.run(&inner.host) {
            Ok(outcome) => outcome,
            Err(error) => return findings.add("garbage", ToolVerdict::Wrong, error.to_string()),
        };
        end_rest(&mut outcome);
        match outcome.exit {
            _ if outcome.timed_out => findings.add("garbage", ToolVerdict::Wrong, "given what is no JSON, it hangs"),
            Exit::Code(0) => findings.add(
                "garbage",
                ToolVerdict::Advice,
                "given what is no JSON, it exits with 0; an exit status other than 0 tells that a call failed",
            ),
            _ => findings.add("garbage", ToolVerdict::Good, "given what is no JSON, it fails as it should"),
        }
    }

    fn check_examples(&self, tool: &Tool, findings: &mut ToolFindings) {
        let examples = tool.descriptor().parameters["examples"].as_array().cloned().unwrap_or_default();
        if examples.is_empty() {
            let detail =
                "there are none: put arguments under \"examples\" in the parameters, and they are tried here";
            return findings.add("examples", ToolVerdict::Advice, detail);
        }
        for mut arguments in examples {
            let shown = text::short(&arguments);
            tool.parameters().fill_defaults(&mut arguments);
            if let Err(error) = tool.parameters().validate(&arguments) {
                findings.add(
                    "examples",
                    ToolVerdict::Wrong,
                    format!("{shown} does not fit the parameters: {error}"),
                );
                continue;
            }
            let ready = PreparedCall { tool: tool.clone(), arguments, note: None };
            let envelope = self.run(&ready, &CallOptions::default(), &|_| ());
            match &envelope.outcome {
                Ok(result) => {
                    findings.add(
                        "examples",
                        ToolVerdict::Good,
                        format!("{shown} gives {}", text::short(result)),
                    );
                }
                Err(fault) => {
                    let detail = format!("{shown} gives {}: {}", fault.code.as_str(), fault.message);
                    findings.add("examples", ToolVerdict::Wrong, detail);
                }
            }
        }
    }
}

/// Whether callers can know what it is for.
fn describe(descriptor: &ToolDescriptor, findings: &mut ToolFindings) {
    if descriptor.description.trim().is_empty() {
        findings.add("description", ToolVerdict::Wrong, "it is empty: nobody can know what the tool is for");
    }
    let nothing = serde_json::Map::new();
    let properties = descriptor.parameters["properties"].as_object().unwrap_or(&nothing);
    let lacking = |key: &str| -> Vec<&str> {
        properties
            .iter()
            .filter(|(_, schema)| schema.get(key).is_none())
            .map(|(name, _)| name.as_str())
            .collect()
    };
    let undescribed = lacking("description");
    let untyped = |name: &&str| {
        !["enum", "const", "$ref", "anyOf", "oneOf"].iter().any(|key| properties[*name].get(key).is_some())
    };
    let untyped: Vec<&str> = lacking("type").into_iter().filter(untyped).collect();
    if !undescribed.is_empty() {
        findings.add(
            "parameters",
            ToolVerdict::Advice,
            format!("without a description: {}", undescribed.join(", ")),
        );
    }
    if !untyped.is_empty() {
        findings.add("parameters", ToolVerdict::Advice, format!("without a type: {}", untyped.join(", ")));
    }
    if descriptor.access.is_unknown() {
        let detail = "not said: calls of it run alone; say \"none\", or which parameters name paths it reads or writes";
        findings.add("access", ToolVerdict::Advice, detail);
    }
    if descriptor.parameters.get("additionalProperties") != Some(&Value::Bool(false)) {
        let detail = "\"additionalProperties\": false would have misspelt parameters refused";
        findings.add("parameters", ToolVerdict::Advice, detail);
    }
}
