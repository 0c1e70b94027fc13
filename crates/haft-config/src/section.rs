//! The sections there are.

use crate::tree::TomlValue;

/// A section that a configuration may have.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// Its name.
    pub name: &'static str,
    /// How it is written.
    pub form: SectionShape,
    /// What it is about.
    pub summary: &'static str,
}

/// How a section is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SectionShape {
    /// `[name]`: settings, merged field by field.
    Table,
    /// `[[name]]`, once for every item, each with a `name` of its own.
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

/// All sections. What each of them holds is declared by the crate that reads it, as a type.
pub const SECTIONS: &[Section] = &[
    Section { name: "settings", form: SectionShape::Table, summary: "how agents are launched" },
    Section { name: "agent", form: SectionShape::List, summary: "agents to launch" },
    Section { name: "role", form: SectionShape::List, summary: "who an agent is" },
    Section { name: "context", form: SectionShape::List, summary: "what an agent should know" },
    Section { name: "task", form: SectionShape::List, summary: "what an agent is often asked to do" },
    Section { name: "mcp", form: SectionShape::List, summary: "MCP servers whose tools are used" },
    Section { name: "tools", form: SectionShape::Table, summary: "how tools are found and run" },
    Section { name: "toolset", form: SectionShape::List, summary: "tools that go together" },
    Section {
        name: "env",
        form: SectionShape::Table,
        summary: "variables that the scripts of agents may have",
    },
    Section { name: "repl", form: SectionShape::Table, summary: "the interactive shell" },
];
