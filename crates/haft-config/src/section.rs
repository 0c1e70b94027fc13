//! The sections of a configuration file.

use crate::tree::TomlValue;

/// A section of a configuration file.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// Its name.
    pub name: &'static str,
    /// Table or list.
    pub shape: SectionShape,
    /// Short description.
    pub summary: &'static str,
}

/// How a section is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SectionShape {
    /// `[name]`: settings, merged field by field.
    Table,
    /// `[[name]]` for each item, with a `name` key.
    List,
}

impl SectionShape {
    pub(crate) fn fits(self, value: &TomlValue) -> bool {
        match self {
            SectionShape::Table => matches!(value, TomlValue::Table(_)),
            SectionShape::List => matches!(value, TomlValue::List(_)),
        }
    }
}

/// All sections. The crate that reads a section declares its content.
pub const SECTIONS: &[Section] = &[
    Section { name: "settings", shape: SectionShape::Table, summary: "defaults for launching agents" },
    Section { name: "agent", shape: SectionShape::List, summary: "agents that can be launched" },
    Section { name: "role", shape: SectionShape::List, summary: "roles of an agent" },
    Section { name: "context", shape: SectionShape::List, summary: "context for the prompt" },
    Section { name: "task", shape: SectionShape::List, summary: "recurring tasks" },
    Section { name: "mcp", shape: SectionShape::List, summary: "MCP servers to use tools of" },
    Section { name: "tools", shape: SectionShape::Table, summary: "limits for tools" },
    Section { name: "toolset", shape: SectionShape::List, summary: "named lists of allowed tools" },
    Section {
        name: "env",
        shape: SectionShape::Table,
        summary: "environment variables for the scripts of agents",
    },
    Section { name: "commands", shape: SectionShape::Table, summary: "commands that run in-process" },
    Section { name: "hook", shape: SectionShape::Table, summary: "hooks in agents" },
    Section { name: "policy", shape: SectionShape::Table, summary: "what runs may do" },
    Section { name: "records", shape: SectionShape::Table, summary: "records of what ran" },
    Section { name: "telemetry", shape: SectionShape::Table, summary: "traces for OpenTelemetry" },
    Section { name: "repl", shape: SectionShape::Table, summary: "the interactive shell" },
];
