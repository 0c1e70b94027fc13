//! haft on a terminal, with keys that are pressed and a screen that is looked at.

mod editing;
mod ending;
mod jobs;
mod shell;
mod starting;
mod tools;
