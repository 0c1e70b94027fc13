//! The sections there are.

use crate::value::Value;

/// A section that a configuration may have.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// Its name.
    pub name: &'static str,
    /// How it is written.
    pub form: Form,
    /// What it is about.
    pub summary: &'static str,
}

/// How a section is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `[name]`: settings, merged field by field.
    Table,
    /// `[[name]]`, once for every item, each with a `name` of its own.
    List,
}

impl Form {
    pub(crate) fn fits(self, value: &Value) -> bool {
        match self {
            Form::Table => matches!(value, Value::Table(_)),
            Form::List => matches!(value, Value::List(_)),
        }
    }
}

/// All sections. What each of them holds is declared by the crate that reads it, as a type.
pub const SECTIONS: &[Section] = &[
    Section { name: "settings", form: Form::Table, summary: "how agents are launched" },
    Section { name: "agent", form: Form::List, summary: "agents to launch" },
    Section { name: "role", form: Form::List, summary: "who an agent is" },
    Section { name: "context", form: Form::List, summary: "what an agent should know" },
    Section { name: "task", form: Form::List, summary: "what an agent is often asked to do" },
    Section { name: "mcp", form: Form::List, summary: "MCP servers whose tools are used" },
    Section { name: "tools", form: Form::Table, summary: "how tools are found and run" },
    Section { name: "toolset", form: Form::List, summary: "tools that go together" },
    Section { name: "env", form: Form::Table, summary: "variables that the scripts of agents may have" },
    Section { name: "repl", form: Form::Table, summary: "the interactive shell" },
];
