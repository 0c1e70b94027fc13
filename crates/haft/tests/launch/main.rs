//! `haft launch` from end to end, with a stub that records what the agent gets.

mod agents;
mod assembly;
mod becoming;
mod command_line;
mod foreign;
mod refusals;
mod share;
mod supervised;
mod world;
