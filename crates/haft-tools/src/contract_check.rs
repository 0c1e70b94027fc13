//! Checks a tool against the protocol, for its author.

use std::path::Path;
use std::time::{Duration, Instant};

use haft_process::{Command, Environment, Exit, Input, Task};
use serde::Serialize;
use serde_json::Value;

use crate::call::CallOptions;
use crate::call::PreparedCall;
use crate::discover::{end_leftovers, is_executable};
use crate::environment::for_tool;
use crate::registry::Registry;
use crate::text;
use crate::tool::{Tool, ToolDescriptor, tool_name_of_file};

/// Share of the time limit above which a schema counts as slow.
const SLOW_SCHEMA_SHARE: f64 = 0.5;

/// The result of checking one part of the protocol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct ToolFinding {
    /// The part that was checked.
    pub part: &'static str,
    /// The verdict.
    pub verdict: ToolVerdict,
    /// The observation, and the change to make.
    pub detail: String,
}

/// The verdict on one part of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ToolVerdict {
    /// Correct.
    Good,
    /// Correct, but could be better for callers.
    Advice,
    /// Incorrect.
    Wrong,
}

/// Findings collected so far.
struct ToolFindings(Vec<ToolFinding>);

impl ToolFindings {
    fn add(&mut self, part: &'static str, verdict: ToolVerdict, detail: impl Into<String>) {
        self.0.push(ToolFinding { part, verdict, detail: detail.into() });
    }
}

impl Registry {
    /// Checks a tool: the file, its schema, its reaction to invalid input, and the `examples` of its
    /// parameters. The file may be anywhere and need not be trusted. The check executes it.
    pub fn check_tool(&self, path: &Path) -> Vec<ToolFinding> {
        let mut findings = ToolFindings(Vec::new());
        let name = path.file_name().and_then(|name| tool_name_of_file(name.to_str()?));
        if !path.exists() {
            findings.add("file", ToolVerdict::Wrong, "no such file");
        } else if !is_executable(path) {
            findings.add(
                "file",
                ToolVerdict::Wrong,
                format!("it is not executable; run `chmod +x '{}'`", path.display()),
            );
        } else if let Some(name) = name {
            findings.add("file", ToolVerdict::Good, format!("executable, named as the tool '{name}'"));
            self.check_schema(path, &name, &mut findings);
        } else {
            findings.add(
                "file",
                ToolVerdict::Wrong,
                "the file name must end in '-tool' and contain only letters, digits, '-' and '_'",
            );
        }
        findings.0
    }

    fn check_schema(&self, path: &Path, name: &str, findings: &mut ToolFindings) {
        let started = Instant::now();
        let tool = match self.inner().probe_uncached(path, name) {
            Ok(tool) => tool,
            Err(reason) => return findings.add("schema", ToolVerdict::Wrong, reason),
        };
        let (took, allowed) = (started.elapsed(), self.inner().options.schema_timeout);
        let detail = format!("answered in {} ms", took.as_millis());
        if took > allowed.mul_f64(SLOW_SCHEMA_SHARE) {
            let detail = format!("{detail}, the limit is {} ms; make it faster", allowed.as_millis());
            findings.add("schema", ToolVerdict::Advice, detail);
        } else {
            findings.add("schema", ToolVerdict::Good, detail);
        }
        describe(tool.descriptor(), findings);
        self.check_garbage(path, name, findings);
        self.check_examples(&tool, findings);
    }

    /// A tool must reject input that is not JSON.
    fn check_garbage(&self, path: &Path, name: &str, findings: &mut ToolFindings) {
        let inner = self.inner();
        let mut command = Command::new(path);
        let own = &inner.options.environment;
        command.environment(for_tool(own, &Environment::new(), own, name, &[]));
        command.working_directory(&inner.options.directory);
        let task = Task::new(command)
            .input(Input::Bytes((*b"this is { not JSON").into()))
            .timeout(inner.options.timeout.min(Duration::from_secs(10)));
        let mut outcome = match task.run(&inner.host) {
            Ok(outcome) => outcome,
            Err(error) => return findings.add("garbage", ToolVerdict::Wrong, error.to_string()),
        };
        end_leftovers(&mut outcome);
        match outcome.exit {
            _ if outcome.timed_out => {
                findings.add("garbage", ToolVerdict::Wrong, "it hangs on input that is not JSON");
            }
            Exit::Code(0) => findings.add(
                "garbage",
                ToolVerdict::Advice,
                "it exits with 0 on input that is not JSON; use a nonzero exit status for a failed call",
            ),
            _ => {
                findings.add(
                    "garbage",
                    ToolVerdict::Good,
                    "it fails on input that is not JSON, as it should",
                );
            }
        }
    }

    fn check_examples(&self, tool: &Tool, findings: &mut ToolFindings) {
        let examples = tool.descriptor().parameters["examples"].as_array().cloned().unwrap_or_default();
        if examples.is_empty() {
            let detail = "none; add arguments under \"examples\" in the parameters to have them tried here";
            return findings.add("examples", ToolVerdict::Advice, detail);
        }
        for mut arguments in examples {
            let shown = text::short(&arguments);
            tool.parameters().fill_defaults(&mut arguments);
            if let Err(error) = tool.parameters().validate(&arguments) {
                findings.add(
                    "examples",
                    ToolVerdict::Wrong,
                    format!("{shown} does not match the parameters: {error}"),
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
                        format!("{shown} returns {}", text::short(result)),
                    );
                }
                Err(error) => {
                    let detail = format!("{shown} fails with {}: {}", error.code.as_str(), error.message);
                    findings.add("examples", ToolVerdict::Wrong, detail);
                }
            }
        }
    }
}

/// Checks descriptions and types.
fn describe(descriptor: &ToolDescriptor, findings: &mut ToolFindings) {
    if descriptor.description.trim().is_empty() {
        findings.add("description", ToolVerdict::Wrong, "it is empty; say what the tool does");
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
            format!("no description: {}", undescribed.join(", ")),
        );
    }
    if !untyped.is_empty() {
        findings.add("parameters", ToolVerdict::Advice, format!("no type: {}", untyped.join(", ")));
    }
    if descriptor.access.is_unknown() {
        let detail = "not declared, so its calls run alone; declare \"none\", or the parameters that name paths to read or write";
        findings.add("access", ToolVerdict::Advice, detail);
    }
    if descriptor.parameters.get("additionalProperties") != Some(&Value::Bool(false)) {
        let detail = "set \"additionalProperties\": false to reject misspelt parameters";
        findings.add("parameters", ToolVerdict::Advice, detail);
    }
}
