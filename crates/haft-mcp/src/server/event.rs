//! What happens, for whoever looks after the server.

use std::fmt;
use std::time::Duration;

use super::reply::{ToolReply, format_duration};

/// Something that has happened. As text, it is one short line.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ServerEvent<'a> {
    /// A client has introduced itself.
    Connected {
        /// Its name and version.
        client: &'a str,
        /// The revision of the protocol that it speaks.
        revision: &'a str,
    },
    /// A client has gone; what it has started ends.
    Disconnected {
        /// Its name and version.
        client: &'a str,
    },
    /// A tool was called, and has answered.
    Called {
        /// Its name.
        tool: &'a str,
        /// How long it took.
        duration: Duration,
        /// What came of it: the facts of a script, or the first words of an error.
        outcome: &'a str,
    },
    /// A request over HTTP was turned away.
    Rejected {
        /// Why.
        reason: &'a str,
    },
}

impl fmt::Display for ServerEvent<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServerEvent::Connected { client, revision } => {
                write!(formatter, "client {client} has connected, revision {revision}")
            }
            ServerEvent::Disconnected { client } => write!(formatter, "client {client} has gone"),
            ServerEvent::Called { tool, duration, outcome } => {
                write!(formatter, "{tool}: {}, {outcome}", format_duration(*duration))
            }
            ServerEvent::Rejected { reason } => write!(formatter, "a request was refused: {reason}"),
        }
    }
}

/// What came of a call, in a few words.
pub(crate) fn outcome(answer: Option<&Result<ToolReply, String>>) -> String {
    const MAX_OUTCOME_CHARS: usize = 100;
    let line = match answer {
        None => "there is no such tool",
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
    fn calls_are_told_in_a_line() {
        let cases = [
            (Some(Ok(ToolReply::new("out\n[exit 0 · 3 ms]\n", json!({})))), "[exit 0 · 3 ms]"),
            (Some(Ok(ToolReply::new("words", json!({})))), "answered"),
            (Some(Ok(ToolReply::failure("no file\nat all"))), "no file"),
            (Some(Err("\"id\" is missing\nhint: give one".to_owned())), "\"id\" is missing"),
            (None, "there is no such tool"),
        ];
        for (answer, expected) in cases {
            assert_eq!(outcome(answer.as_ref()), expected);
        }
        let called =
            ServerEvent::Called { tool: "run", duration: Duration::from_millis(3), outcome: "[exit 0]" };
        assert_eq!(called.to_string(), "run: 3 ms, [exit 0]");
    }
}
