//! The `haft` command.

fn main() {}
