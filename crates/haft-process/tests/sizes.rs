//! Arguments and environments that are too large are rejected before exec, and no others are.

use std::sync::Arc;

use haft_process::{
    Command, Environment, ErrorKind, Exit, Resource, ResourceLimit, StartPermission, max_argument_bytes,
};
use haft_test_support::child;

/// Runs `exit 0` with these additional arguments.
fn try_arguments(arguments: impl IntoIterator<Item = String>) -> Result<Exit, haft_process::Error> {
    let mut command = Command::new(child());
    command.arguments(["exit", "0"]).arguments(arguments);
    Ok(command.spawn(&StartPermission::all())?.wait()?.0)
}

#[test]
fn too_long_arguments_are_rejected_with_index_and_beginning() {
    let error = try_arguments(["fine".to_owned(), "looong".repeat(200 << 10)]).unwrap_err();
    assert_eq!((error.kind(), error.exit_code()), (ErrorKind::ArgumentTooLong, 126));
    let text = error.to_string();
    assert!(text.contains("argument 4") && text.contains("'looong"), "{text}");
    assert!(text.contains("131071"), "the limit is missing in '{text}'");
    assert!(error.hint().unwrap().contains("standard input"));
}

#[test]
fn the_maximum_argument_size_is_exact() {
    let longest = max_argument_bytes() as usize - 1;
    assert_eq!(try_arguments(["x".repeat(longest)]).unwrap(), Exit::Code(0));
    assert_eq!(try_arguments(["x".repeat(longest + 1)]).unwrap_err().kind(), ErrorKind::ArgumentTooLong);
}

#[test]
fn too_long_variables_are_rejected_by_name() {
    let mut command = Command::new(child());
    command.environment(Environment::from_pairs([("HUGE", "x".repeat(200 << 10))]).unwrap());
    let error = command.spawn(&StartPermission::all()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ArgumentTooLong);
    assert!(error.to_string().contains("'HUGE'"), "{error}");
}

#[test]
fn too_long_argument_lists_are_rejected_before_exec() {
    let error = try_arguments((0..100).map(|_| "x".repeat(100 << 10))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ArgumentsTooLong);
    assert!(
        error.to_string().contains("102 arguments") || error.to_string().contains("103 arguments"),
        "{error}"
    );
    let error = try_arguments((0..2_000_000).map(|_| String::new())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ArgumentsTooLong, "pointers are counted too");
}

#[test]
fn the_total_limit_matches_the_kernel() {
    // Bisection finds the largest list that the check accepts. The kernel must accept it, and reject no smaller one.
    let list = |count: usize| (0..count).map(|_| "x".repeat(1023)).collect::<Vec<_>>();
    let (mut accepted, mut refused) = (1, 20_000);
    while refused - accepted > 1 {
        let middle = usize::midpoint(accepted, refused);
        match try_arguments(list(middle)) {
            Ok(exit) => {
                assert_eq!(exit, Exit::Code(0));
                accepted = middle;
            }
            Err(error) => {
                // Only an error of the check contains the number of arguments.
                assert!(error.to_string().contains("environment variables take"), "{error}");
                refused = middle;
            }
        }
    }
    assert!(accepted > 1000, "{accepted} arguments of a kilobyte are too few");
}

#[test]
fn a_smaller_stack_lowers_the_total_limit() {
    let mut command = Command::new(child());
    command.arguments(["exit", "0"]).arguments((0..10).map(|_| "x".repeat(100 << 10)));
    assert_eq!(command.spawn(&StartPermission::all()).unwrap().wait().unwrap().0, Exit::Code(0));
    command.limit(ResourceLimit::fixed(Resource::StackSize, 1 << 20));
    assert_eq!(command.spawn(&StartPermission::all()).unwrap_err().kind(), ErrorKind::ArgumentsTooLong);
}

#[test]
fn environments_are_shared_between_commands() {
    let environment = Arc::new(Environment::from_pairs([("A", "1")]).unwrap());
    let mut command = Command::new(child());
    command.environment(environment.clone());
    let _other = command.clone();
    assert_eq!(Arc::strong_count(&environment), 3);
}
