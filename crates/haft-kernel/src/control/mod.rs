//! Job control: `set -m`, Ctrl-Z, `fg`, `bg`.
//!
//! With job control, every job has a process group of its own, so that a signal reaches the whole job and nothing else. A
//! shell with a [`Terminal`] gives it to the foreground job: Ctrl-C and Ctrl-Z affect only that job, and the shell takes the
//! terminal back when the job ends or is stopped.
//!
//! Work on threads of this process cannot be stopped: while a job is stopped, its functions and builtins go on until they wait
//! for one of its programs or for a pipe. Otherwise they belong to the job as its programs do: `fg` continues both, and when
//! Ctrl-C ends a program, it ends them too.

mod foreground;
mod group;
mod notice;
mod terminal;

pub(crate) use foreground::Foreground;
pub(crate) use group::JobGroup;
pub use terminal::Terminal;
