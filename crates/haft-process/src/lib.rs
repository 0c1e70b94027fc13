//! Processes for agents.
pub mod capture;
pub mod rundir;
