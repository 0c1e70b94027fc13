//! `haft tool`, and tools as commands in scripts, from end to end.

mod authors;
mod calls;
mod scene;
mod scripts;
mod settings;
