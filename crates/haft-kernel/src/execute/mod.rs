//! Running programs.
//!
//! Every function here yields a [`Flow`](crate::Flow): the status of what ran, or a reason to leave what encloses it.

mod arguments;
mod attentive;
mod background;
mod command;
mod compound;
mod conditional;
mod copy;
mod death;
mod dispatch;
mod drain;
mod errors;
mod external;
mod fan;
mod files;
mod function;
mod input;
mod list;
mod loops;
mod network;
mod opening;
mod panics;
mod parameters;
mod pipeline;
mod programs;
mod redirect;
mod regex;
mod script;
mod simple;
mod stack;
mod subshell;
mod time;
mod trace;
mod trap;
mod waiting;

pub(crate) use arguments::Arguments;
pub(crate) use death::death;
pub(crate) use dispatch::Target;
pub(crate) use drain::SubstitutionPipe;
pub(crate) use external::Started;
pub(crate) use parameters::ExecutionParameters;
pub(crate) use pipeline::Work;
pub use programs::Beside;
pub(crate) use regex::Compiled;
pub(crate) use simple::exported;
pub(crate) use trace::canonical;
