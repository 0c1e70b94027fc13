//! Observing the calls of clients, for example to record them.

use std::fmt;
use std::sync::Arc;

use haft_kernel::run::{Outcome, RunObserver};
use haft_overlay::Change;
use serde_json::{Map, Value};

/// An MCP client, as it has introduced itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientName {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

impl fmt::Display for ClientName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.name, self.version)
    }
}

/// A call of a tool that is about to begin.
#[derive(Clone, Copy, Debug)]
pub struct ObservedCall<'a> {
    /// The client, if it has initialized a connection.
    pub client: Option<&'a ClientName>,
    /// The name of the tool.
    pub tool: &'a str,
    /// The arguments as the client has sent them, with all secrets.
    pub arguments: Option<&'a Map<String, Value>>,
    /// The `_meta` of the request.
    pub meta: &'a Map<String, Value>,
}

/// Is told about every call.
pub trait CallObserver: Send + Sync {
    /// A call is about to begin. The result is told about its course.
    fn called(&self, call: ObservedCall<'_>) -> Arc<dyn CallRecord>;
}

/// Is told about the course of one call. For a script, also about its start and its stages.
pub trait CallRecord: RunObserver {
    /// Variables for the script of the call.
    fn variables(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    /// A policy has decided about something that the script of the call does.
    fn decided(&self, _decision: &str) {}

    /// The script of the call has ended, perhaps long after the reply. `changes` has the overlay's id and the files that
    /// differ in it.
    fn script_ended(&self, outcome: &Outcome, changes: Option<(&str, &[Change])>);

    /// The call has been answered: with an error message, or without.
    fn replied(&self, error: Option<&str>);
}
