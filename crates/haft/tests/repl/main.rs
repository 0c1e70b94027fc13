//! haft on a terminal: tests press keys and read the screen.

mod completion;
mod editing;
mod ending;
mod jobs;
mod shell;
mod starting;
mod tools;
