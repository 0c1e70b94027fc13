//! What is too large for an exec is refused before it, by name; what is not, is not.

use std::sync::Arc;

use haft_process::{
    Command, Environment, ErrorKind, Exit, Resource, ResourceLimit, StartPermission, max_argument_bytes,
};
use haft_test_support::child;

/// The status of `exit 0` with these arguments after it.
fn try_arguments(arguments: impl IntoIterator<Item = String>) -> Result<Exit, haft_process::Error> {
    let mut command = Command::new(child());
    command.arguments(["exit", "0"]).arguments(arguments);
    Ok(command.spawn(&StartPermission::all())?.wait()?.0)
}

#[test]
fn an_argument_of_200_kib_is_refused_by_its_number_and_beginning() {
    let error = try_arguments(["fine".to_owned(), "looong".repeat(200 << 10)]).unwrap_err();
    assert_eq!((error.kind(), error.exit_code()), (ErrorKind::ArgumentTooLong, 126));
    let text = error.to_string();
    assert!(text.contains("argument 4") && text.contains("'looong"), "{text}");
    assert!(text.contains("131071"), "the limit is missing in '{text}'");
    assert!(error.hint().unwrap().contains("standard input"));
}

#[test]
fn the_longest_argument_of_all_is_accepted_and_one_byte_more_is_not() {
    let longest = max_argument_bytes() as usize - 1;
    assert_eq!(try_arguments(["x".repeat(longest)]).unwrap(), Exit::Code(0));
    assert_eq!(try_arguments(["x".repeat(longest + 1)]).unwrap_err().kind(), ErrorKind::ArgumentTooLong);
}

#[test]
fn a_variable_that_is_too_long_is_refused_by_its_name() {
    let mut command = Command::new(child());
    command.environment(Environment::from_pairs([("HUGE", "x".repeat(200 << 10))]).unwrap());
    let error = command.spawn(&StartPermission::all()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ArgumentTooLong);
    assert!(error.to_string().contains("'HUGE'"), "{error}");
}

#[test]
fn a_list_of_arguments_that_is_too_long_is_refused_before_the_call() {
    let error = try_arguments((0..100).map(|_| "x".repeat(100 << 10))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ArgumentsTooLong);
    assert!(
        error.to_string().contains("102 arguments") || error.to_string().contains("103 arguments"),
        "{error}"
    );
    let error = try_arguments((0..2_000_000).map(|_| String::new())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ArgumentsTooLong, "pointers count as well");
}

#[test]
fn the_border_is_the_kernels_own() {
    // Halving finds the largest list that is accepted here; the kernel must take it, and refuse no smaller one.
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
                // An error of the check names the number of arguments; one of the kernel could not.
                assert!(error.to_string().contains("environment variables take"), "{error}");
                refused = middle;
            }
        }
    }
    assert!(accepted > 1000, "{accepted} arguments of a kilobyte are too few");
}

#[test]
fn a_smaller_stack_leaves_less_room() {
    let mut command = Command::new(child());
    command.arguments(["exit", "0"]).arguments((0..10).map(|_| "x".repeat(100 << 10)));
    assert_eq!(command.spawn(&StartPermission::all()).unwrap().wait().unwrap().0, Exit::Code(0));
    command.limit(ResourceLimit::fixed(Resource::StackSize, 1 << 20));
    assert_eq!(command.spawn(&StartPermission::all()).unwrap_err().kind(), ErrorKind::ArgumentsTooLong);
}

#[test]
fn an_environment_is_shared_between_commands_not_copied() {
    let environment = Arc::new(Environment::from_pairs([("A", "1")]).unwrap());
    let mut command = Command::new(child());
    command.environment(environment.clone());
    let _other = command.clone();
    assert_eq!(Arc::strong_count(&environment), 3);
}
