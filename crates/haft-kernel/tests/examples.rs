//! Runs the examples of this crate.

#[path = "../examples/add_backend.rs"]
mod add_backend;
#[path = "../examples/add_command.rs"]
mod add_command;
#[path = "../examples/embed.rs"]
mod embed;

#[test]
fn a_session_can_be_embedded() {
    embed::main().unwrap();
}

#[test]
fn a_command_can_be_added() {
    add_command::main();
}

#[test]
fn a_backend_can_be_added() {
    add_backend::main();
}
