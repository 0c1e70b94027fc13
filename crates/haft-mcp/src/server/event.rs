//! Log events for the operator of the server.

use std::fmt;
use std::time::Duration;

use super::reply::{ToolReply, format_duration};

/// An event in a server. Its `Display` form is one short line.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ServerEvent<'a> {
    /// A client has initialized its connection.
    Connected {
        /// Its name and version.
        client: &'a str,
        /// The negotiated protocol revision.
        revision: &'a str,
    },
    /// A client has disconnected. Its sessions and jobs end.
    Disconnected {
        /// Its name and version.
        client: &'a str,
    },
    /// A tool call has returned.
    Called {
        /// The name of the tool.
        tool: &'a str,
        /// The duration of the call.
        duration: Duration,
        /// The result of a script, or the first line of an error.
        outcome: &'a str,
    },
    /// An HTTP request was rejected.
    Rejected {
        /// The reason.
        reason: &'a str,
    },
}

impl fmt::Display for ServerEvent<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServerEvent::Connected { client, revision } => {
                write!(formatter, "client {client} connected, protocol revision {revision}")
            }
            ServerEvent::Disconnected { client } => write!(formatter, "client {client} disconnected"),
            ServerEvent::Called { tool, duration, outcome } => {
                write!(formatter, "{tool}: {}, {outcome}", format_duration(*duration))
            }
            ServerEvent::Rejected { reason } => write!(formatter, "rejected an HTTP request: {reason}"),
        }
    }
}

/// A short description of the result of a call.
pub(crate) fn outcome(answer: Option<&Result<ToolReply, String>>) -> String {
    const MAX_OUTCOME_CHARS: usize = 100;
    let line = match answer {
        None => "unknown tool",
        Some(Err(message)) => message.lines().next().unwrap_or_default(),
        Some(Ok(reply)) => match reply.text.trim_end().lines().last() {
            Some(facts) if facts.starts_with('[') && facts.ends_with(']') => facts,
            _ if reply.failed => reply.text.lines().next().unwrap_or_default(),
            _ => "answered",
        },
    };
    line.chars().take(MAX_OUTCOME_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn calls_are_described_in_one_line() {
        let cases = [
            (Some(Ok(ToolReply::new("out\n[exit 0 · 3 ms]\n", json!({})))), "[exit 0 · 3 ms]"),
            (Some(Ok(ToolReply::new("words", json!({})))), "answered"),
            (Some(Ok(ToolReply::failure("no file\nat all"))), "no file"),
            (Some(Err("'id' is missing\nhint: give one".to_owned())), "'id' is missing"),
            (None, "unknown tool"),
        ];
        for (answer, expected) in cases {
            assert_eq!(outcome(answer.as_ref()), expected);
        }
        let called =
            ServerEvent::Called { tool: "run", duration: Duration::from_millis(3), outcome: "[exit 0]" };
        assert_eq!(called.to_string(), "run: 3 ms, [exit 0]");
    }
}
