//! `haft launch`, from end to end: a stand-in notes what an agent would be given.

mod agents;
mod assembly;
mod becoming;
mod command_line;
mod foreign;
mod refusals;
mod supervised;
mod world;
