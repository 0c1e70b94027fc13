//! End-to-end tests with real files and processes.

mod calls;
mod concurrency;
mod core_files;
mod core_search;
mod discovery;
mod examples;
mod fixture;
mod processes;
mod replaced_files;
