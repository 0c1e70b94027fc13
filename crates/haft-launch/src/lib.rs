//! Assembles the context of an agent and becomes it.
