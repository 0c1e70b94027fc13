//! Records of the calls of MCP clients.

use std::ffi::OsStr;
use std::sync::Arc;

use haft_kernel::run::Outcome;
use haft_mcp::{CallObserver, CallRecord, ObservedCall};
use haft_overlay::Change;
use haft_process::Redactor;
use haft_records::{ClientIdentity, RunEnd, RunKind, RunStart};
use serde_json::{Map, Value};

use super::{Recorder, RunRecord, changed_files, trace};

/// The tool that runs scripts. Its record has the script and its stages.
const SCRIPT_TOOL: &str = "run";

impl CallObserver for Recorder {
    fn called(&self, call: ObservedCall<'_>) -> Arc<dyn CallRecord> {
        let argument = |name: &str| call.arguments.and_then(|arguments| arguments.get(name)?.as_str());
        let is_script = call.tool == SCRIPT_TOOL;
        let script = argument("script").or_else(|| argument("command")).filter(|_| is_script);
        let start = RunStart {
            kind: RunKind::Mcp,
            client: call
                .client
                .map(|client| ClientIdentity { name: client.name.clone(), version: client.version.clone() }),
            tool: (!is_script).then(|| call.tool.to_owned()),
            arguments: call.arguments.filter(|_| !is_script).cloned().map(Value::Object),
            cwd: argument("cwd").unwrap_or_default().to_owned(),
            script: script.map(str::to_owned),
            ..RunStart::default()
        };
        let caller = trace::caller_of(call.meta);
        let redactor = self.call_redactor(call.arguments);
        let mut record = self.prepare_as(start, redactor, |tracer| tracer.run_of(caller));
        record.variables = match record.state.as_ref().filter(|state| state.recorder.tracer.is_active()) {
            Some(state) => state.trace.variables(),
            None => trace::variables_of(call.meta),
        };
        if !is_script {
            record.begin(None);
        }
        Arc::new(record)
    }
}

impl Recorder {
    /// Masks the secrets among the variables of a call, too.
    fn call_redactor(&self, arguments: Option<&Map<String, Value>>) -> Option<Redactor> {
        let variables = arguments?.get("env")?.as_object()?;
        let mut redactor = Redactor::clone(&self.0.as_ref()?.redactor);
        let text = |(name, value): (&'_ String, &'_ Value)| Some((name.clone(), value.as_str()?.to_owned()));
        let variables: Vec<(String, String)> = variables.iter().filter_map(text).collect();
        redactor.add(variables.iter().map(|(name, value)| (OsStr::new(name), OsStr::new(value))));
        Some(redactor)
    }
}

impl CallRecord for RunRecord {
    fn variables(&self) -> Vec<(String, String)> {
        self.variables.clone()
    }

    fn decided(&self, decision: &str) {
        self.add_decision(decision);
    }

    fn script_ended(&self, outcome: &Outcome, changes: Option<(&str, &[Change])>) {
        self.end_script(outcome, changes.map(|(overlay, changes)| changed_files(overlay, changes)));
    }

    fn replied(&self, error: Option<&str>) {
        if !self.is_supervised() {
            self.end(|| RunEnd {
                code: i32::from(error.is_some()),
                error: error.map(str::to_owned),
                ..RunEnd::default()
            });
        }
    }
}
