//! Tools from end to end: real files, real processes.

mod calls;
mod core_files;
mod core_search;
mod discovery;
mod many;
mod processes;
mod scene;
mod swapped;
