//! Job control: `set -m`, Ctrl-Z, `fg`, `bg`.
//!
//! Every job of a shell with job control has a process group of its own, which all its programs join, so that a signal
//! reaches the whole job and nothing else. If the shell has a [`Terminal`], it lends it to the job in the foreground: Ctrl-C
//! and Ctrl-Z are for that job alone, and the shell takes the terminal back when the job ends or is stopped.
//!
//! What runs in this process, on a thread, cannot be stopped: while a job is stopped, its functions and builtins go on until
//! they wait for one of its programs, or for a pipe that nobody fills or empties. They take part in the job as its
//! programs do: `fg` lets both go on, and when Ctrl-C has ended a program, it ends them too.

mod foreground;
mod group;
mod notice;
mod terminal;

pub(crate) use group::JobGroup;
pub use terminal::Terminal;
