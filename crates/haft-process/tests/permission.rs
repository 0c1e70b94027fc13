//! Programs start only if all permissions allow them.

use std::sync::{Arc, Mutex};

use haft_process::{Command, Denial, ErrorKind, Host, StartPermission, StartPolicy, StartRequest, Task};
use haft_test_support::child;

/// Denies programs with an argument, and records all requests.
#[derive(Debug, Default)]
struct DenyArgument {
    argument: &'static str,
    asked: Mutex<Vec<String>>,
}

impl StartPolicy for DenyArgument {
    fn decide(&self, request: &StartRequest<'_>) -> Result<(), Denial> {
        let words: Vec<_> = request.argv.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        self.asked.lock().unwrap().push(format!("{} {}", request.program.display(), words.join(" ")));
        match words.iter().any(|word| word == self.argument) {
            true => Err(Denial { reason: format!("'{}' is not allowed", self.argument) }),
            false => Ok(()),
        }
    }
}

fn exits(code: &str) -> Command {
    let mut command = Command::new(child());
    command.argument_zero("child").arguments(["exit", code]);
    command
}

#[test]
fn policies_see_the_resolved_program_and_its_arguments() {
    let policy = Arc::new(DenyArgument { argument: "7", ..DenyArgument::default() });
    let permission = StartPermission::by(policy.clone());
    assert!(exits("0").spawn(&permission).unwrap().wait().is_ok());
    let error = exits("7").spawn(&permission).unwrap_err();
    assert_eq!((error.kind(), error.exit_code()), (ErrorKind::Denied, 126));
    assert_eq!(error.to_string(), "cannot start 'child': '7' is not allowed");
    let asked = policy.asked.lock().unwrap();
    assert_eq!(*asked, ["0", "7"].map(|code| format!("{} child exit {code}", child())));
}

#[test]
fn jobs_need_the_permission_of_their_host() {
    let none = StartPermission::none("nothing starts here");
    let host = Host::plain();
    assert!(Task::new(exits("0")).run(&host).is_ok());
    let error = Task::new(exits("0")).run(&host.restricted(&none)).unwrap_err();
    assert_eq!(error.to_string(), "cannot start 'child': nothing starts here");
}

#[test]
fn restrictions_of_a_command_always_apply() {
    let mut command = exits("0");
    command.restrict(&StartPermission::none("nothing starts here"));
    let all = StartPermission::all();
    assert_eq!(command.spawn(&all).unwrap_err().kind(), ErrorKind::Denied);
    assert_eq!(command.replace(&all).kind(), ErrorKind::Denied);
    assert_eq!(Task::new(command).run(&Host::plain()).unwrap_err().kind(), ErrorKind::Denied);
}

#[test]
fn permissions_cannot_be_widened() {
    let (all, none) = (StartPermission::all(), StartPermission::none("nothing"));
    assert_eq!(none.and(&all).refusal(), Some("nothing"));
    assert_eq!(all.and(&none).refusal(), Some("nothing"));
    assert_eq!(Host::plain().restricted(&none).restricted(&all).permission().refusal(), Some("nothing"));
}
