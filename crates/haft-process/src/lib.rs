//! Processes for agents.
