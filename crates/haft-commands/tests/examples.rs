//! The programs in `examples/` run.

#[path = "../examples/add_a_command.rs"]
mod add_a_command;

#[test]
fn a_command_of_an_embedder_runs_next_to_the_others() {
    add_a_command::main();
}
