//! Execution: walks the syntax tree and runs commands.
//!
//! Every function here returns a [`Flow`](crate::Flow): the status of the command, or a reason to leave the commands around
//! it.

mod arguments;
mod background;
mod blocking_open;
mod command;
mod compound;
mod conditional;
mod controlled;
mod dispatch;
mod errors;
mod external;
mod fan;
mod files;
mod function;
mod history;
mod input;
mod interactive;
mod interrupt;
mod killed;
mod list;
mod loops;
mod network;
mod opening;
mod panics;
mod parameters;
mod pipeline;
mod process_copy;
mod programs;
mod recording;
mod redirect;
mod regex;
mod script;
mod simple;
mod stack;
mod stand_in;
mod subshell;
mod substitution_drain;
mod time;
mod trace;
mod trap;
mod waiting;

pub(crate) use dispatch::CommandTarget;
pub(crate) use external::Started;
pub use interactive::NameKind;
pub(crate) use parameters::ExecutionParameters;
pub use programs::StartedCommand;
pub(crate) use simple::exported;
