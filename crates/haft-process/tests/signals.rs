//! Signal masks and dispositions of children, and deaths by signal.

use haft_process::capture::OutputView;
use haft_process::{
    Command, Disposition, Exit, Host, Signals, Task, set_disposition, signal_name, signal_number,
};
use haft_test_support::own::alone;
use haft_test_support::{ChildReport, child, hold_signals};

fn report(change: impl FnOnce(&mut Command)) -> ChildReport {
    let mut command = Command::new(child());
    command.argument("report");
    change(&mut command);
    let outcome = Task::new(command).run(&Host::plain()).unwrap();
    ChildReport::parse(
        outcome.captured.stdout.unwrap().slice(&OutputView::HeadAndTail, 1 << 20).unwrap().to_bytes(),
    )
}

#[test]
fn children_start_with_an_empty_signal_mask() {
    let seen = hold_signals(|| report(|_| {}));
    assert!(seen.numbers("blocked").is_empty());
}

#[test]
fn children_do_not_inherit_ignored_signals() {
    alone("children_do_not_inherit_ignored_signals", || {
        for signal in [Signals::PIPE, Signals::HUP, Signals::INT] {
            set_disposition(signal, Disposition::Ignore).unwrap();
        }
        assert!(Signals::ignored_now().contains(Signals::HUP));
        let seen = report(|_| {});
        assert!(seen.numbers("ignored").is_empty() && seen.numbers("caught").is_empty());
        let seen = report(|command| {
            command.ignore_signals(Signals::none().with(Signals::HUP));
        });
        assert_eq!(seen.numbers("ignored"), [i64::from(Signals::HUP)]);
    });
}

#[test]
fn deaths_by_signal_are_reported() {
    let harmless = ["CHLD", "CONT", "URG", "WINCH", "STOP", "TSTP", "TTIN", "TTOU"].map(signal_number);
    let deadly = (1..=64).filter(|&number| number != 32 && number != 33 && !harmless.contains(&Some(number)));
    for number in deadly {
        let mut command = Command::new(child());
        command.arguments(["die".to_owned(), number.to_string()]);
        let outcome = Task::new(command).run(&Host::plain()).unwrap();
        assert_eq!((outcome.exit, outcome.code()), (Exit::Signal(number), 128 + number));
        assert!(!outcome.timed_out && !outcome.cancelled);
        let shown = outcome.report(0).status.signal.unwrap();
        assert_eq!(signal_number(&shown), Some(number), "{shown}");
    }
}

#[test]
fn all_exit_codes_are_reported() {
    for code in [0, 1, 2, 77, 124, 126, 127, 128, 130, 137, 255] {
        let mut command = Command::new(child());
        command.arguments(["exit".to_owned(), code.to_string()]);
        let outcome = Task::new(command).run(&Host::plain()).unwrap();
        assert_eq!((outcome.exit, outcome.code()), (Exit::Code(code), code));
        assert_eq!(outcome.report(0).status.signal, None);
    }
}

#[test]
fn signal_names_and_numbers_match() {
    assert_eq!(signal_number("SIGTERM"), Some(15));
    assert_eq!(signal_number("kill"), Some(9));
    assert_eq!(signal_number("RTMIN+3"), Some(37));
    assert_eq!(signal_name(64).as_deref(), Some("RTMAX"));
    assert_eq!((signal_number("NONE"), signal_name(0), signal_name(65)), (None, None, None));
    for number in (1..=64).filter(|number| *number != 32 && *number != 33) {
        assert_eq!(signal_number(&signal_name(number).unwrap()), Some(number));
    }
}
