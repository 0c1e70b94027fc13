//! One ladder for all: whoever ends a job, and however its processes try to get away, none is left when the call returns.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use haft_process::{CancelToken, Command, Host, Job, JobOutcome, ScopeLimits, Task, UnknownSurvivors};
use haft_test_support::own::{holdings, quarantine};
use haft_test_support::{Marker, Scratch, child, eventually, measure, process};

const GRACE: Duration = Duration::from_millis(150);
const SOON: Duration = Duration::from_secs(20);

/// The ways to hold processes together.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Hold {
    /// By descent and marker alone.
    Plain,
    /// As the one who inherits orphans.
    Subreaper,
    /// By a control group.
    Cgroup,
}

impl Hold {
    fn host(self, base: &Path) -> Option<Host> {
        let host = match self {
            Hold::Plain => Host::plain(),
            Hold::Subreaper => Host::builder().subreaper().build(),
            Hold::Cgroup => Host::builder().run_directory(base.join("runs")).cgroups().build(),
        };
        let sealed = host.scope(ScopeLimits::default()).is_sealed();
        if sealed != (self == Hold::Cgroup) {
            println!("skipped: no control group can be made here");
            return None;
        }
        Some(host)
    }

    /// Whom it can hold, how many lines they write when they are there, and how many they are with the first one.
    fn family(self) -> (&'static str, usize, usize) {
        match self {
            Hold::Plain => ("descent", 10, 13),
            Hold::Subreaper | Hold::Cgroup => ("all", 11, 14),
        }
    }
}

/// A family in place, in a job.
struct Family {
    scratch: Scratch,
    marker: Marker,
    hold: Hold,
}

impl Family {
    fn start(hold: Hold, change: impl FnOnce(Task) -> Task) -> Option<(Family, Job)> {
        let family = Family { scratch: Scratch::new(), marker: Marker::new(), hold };
        let host = hold.host(family.scratch.path())?;
        let (reach, lines, count) = hold.family();
        let mut command = Command::new(child());
        command.arguments(["tree", family.marker.as_str(), &family.scratch.text("ready"), reach]);
        let job = change(Task::new(command).grace(GRACE)).start(&host).unwrap();
        family.scratch.await_lines("ready", lines);
        // The restless one may be between two generations.
        assert!(
            eventually(SOON, || family.marker.count() >= count - 1),
            "{} are there",
            family.marker.count()
        );
        Some((family, job))
    }

    fn is_gone(&self) {
        assert_eq!(self.marker.pids(), [0; 0], "left behind");
    }

    fn check(&self, outcome: &JobOutcome) {
        self.is_gone();
        let (_, _, count) = self.hold.family();
        // By descent and marker alone nothing is proven.
        assert_eq!(outcome.tree.survivors.unknown().is_some(), self.hold == Hold::Plain);
        assert_eq!(outcome.tree.survivors.pids(), [0; 0]);
        assert_eq!(outcome.tree.started, 1);
        assert!(outcome.tree.killed >= count - 1, "{:?} of {count}", outcome.tree);
        assert!(outcome.tree.killed < count + 40, "{:?} of {count}", outcome.tree);
    }
}

fn by_timeout(hold: Hold) {
    let timeout = Duration::from_millis(1500);
    let Some((family, job)) = Family::start(hold, |task| task.timeout(timeout)) else { return };
    let (outcome, _) = measure(|| job.wait());
    assert!(outcome.timed_out && !outcome.cancelled);
    assert_eq!(outcome.code(), 124);
    assert!(outcome.duration < timeout + Duration::from_secs(3), "{:?}", outcome.duration);
    family.check(&outcome);
}

fn by_cancel(hold: Hold) {
    let token = CancelToken::new();
    let Some((family, job)) = Family::start(hold, |task| task.cancel(&token)) else { return };
    let handle = job.background().unwrap();
    token.cancel();
    let (outcome, time) = measure(|| handle.wait().unwrap());
    assert!(outcome.cancelled && !outcome.timed_out);
    assert_eq!(outcome.code(), 130);
    assert!(time < Duration::from_secs(3), "{time:?}");
    family.check(&outcome);
}

fn by_drop(hold: Hold) {
    let Some((family, job)) = Family::start(hold, |task| task) else { return };
    drop(job);
    family.is_gone();
    let Some((family, job)) = Family::start(hold, |task| task) else { return };
    drop(job.background().unwrap());
    family.is_gone();
}

#[test]
fn by_timeout_with_descent_and_marker() {
    quarantine("by_timeout_with_descent_and_marker", || by_timeout(Hold::Plain));
}

#[test]
fn by_cancel_with_descent_and_marker() {
    quarantine("by_cancel_with_descent_and_marker", || by_cancel(Hold::Plain));
}

#[test]
fn by_drop_with_descent_and_marker() {
    quarantine("by_drop_with_descent_and_marker", || by_drop(Hold::Plain));
}

#[test]
fn by_timeout_with_a_subreaper() {
    quarantine("by_timeout_with_a_subreaper", || by_timeout(Hold::Subreaper));
}

#[test]
fn by_cancel_with_a_subreaper() {
    quarantine("by_cancel_with_a_subreaper", || by_cancel(Hold::Subreaper));
}

#[test]
fn by_drop_with_a_subreaper() {
    quarantine("by_drop_with_a_subreaper", || {
        by_drop(Hold::Subreaper);
        println!(
            "DEBUG {:?} {:?}",
            holdings(),
            haft_test_support::process::zombies(std::process::id() as i32)
        );
        assert_eq!(holdings().children, 0, "no zombies either");
    });
}

#[test]
fn by_timeout_with_a_control_group() {
    quarantine("by_timeout_with_a_control_group", || by_timeout(Hold::Cgroup));
}

#[test]
fn by_cancel_with_a_control_group() {
    quarantine("by_cancel_with_a_control_group", || by_cancel(Hold::Cgroup));
}

#[test]
fn by_drop_with_a_control_group() {
    quarantine("by_drop_with_a_control_group", || by_drop(Hold::Cgroup));
}

#[test]
fn the_family_is_ended_too_when_only_its_head_dies() {
    quarantine("the_family_is_ended_too_when_only_its_head_dies", || {
        let Some((family, job)) = Family::start(Hold::Subreaper, |task| task) else { return };
        let head = job.controller().pid();
        let handle = job.background().unwrap();
        haft_test_support::signal(head, 9);
        let mut outcome = handle.wait().unwrap();
        assert_eq!(outcome.exit, haft_process::Exit::Signal(9));
        assert_eq!((outcome.cancelled, outcome.tree.killed), (false, 0));
        let left = outcome.adopted.take().expect("they hold the output open");
        let end = left.end().unwrap();
        assert_eq!(end.tree.survivors.pids(), [0; 0]);
        family.is_gone();
    });
}

#[test]
fn a_stubborn_process_gets_its_grace_and_no_more() {
    quarantine("a_stubborn_process_gets_its_grace_and_no_more", || {
        let scratch = Scratch::new();
        let mut command = Command::new(child());
        command.arguments(["stubborn", &scratch.text("ready")]);
        let grace = Duration::from_millis(400);
        let handle = Task::new(command).grace(grace).start(&Host::plain()).unwrap().background().unwrap();
        scratch.await_lines("ready", 1);
        let pid = handle.controller().pid();
        let (outcome, time) = measure(|| handle.end().unwrap());
        assert_eq!(outcome.exit, haft_process::Exit::Signal(9));
        assert_eq!((outcome.tree.killed, outcome.tree.survivors.pids()), (1, [].as_slice()));
        assert!(time >= grace && time < grace + Duration::from_secs(2), "{time:?}");
        assert_eq!(process::state(pid), None);
    });
}

#[test]
fn a_process_whose_first_thread_has_ended_is_ended_like_any_other() {
    quarantine("a_process_whose_first_thread_has_ended_is_ended_like_any_other", || {
        let scratch = Scratch::new();
        let mut command = Command::new(child());
        command.arguments(["headless", &scratch.text("ready")]);
        let handle = Task::new(command).grace(GRACE).start(&Host::plain()).unwrap().background().unwrap();
        scratch.await_lines("ready", 1);
        let pid = handle.controller().pid();
        assert_eq!(handle.controller().members(), [pid]);
        handle.controller().cancel();
        assert!(handle.wait_for(SOON), "it hangs");
        let outcome = handle.wait().unwrap();
        assert_eq!((outcome.tree.killed, outcome.tree.survivors.pids()), (1, [].as_slice()));
        assert_eq!(process::state(pid), None);
    });
}

#[test]
fn another_job_of_the_same_host_is_left_alone() {
    quarantine("another_job_of_the_same_host_is_left_alone", || {
        for hold in [Hold::Subreaper, Hold::Cgroup] {
            let scratch = Scratch::new();
            let Some(host) = hold.host(scratch.path()) else { continue };
            let start = |ready: &str| {
                let mut command = Command::new(child());
                command.arguments(["daemon", &scratch.text(ready), &scratch.text("never")]);
                Task::new(command).grace(GRACE).start(&host).unwrap().wait().adopted.unwrap()
            };
            let (one, other) = (start("one"), start("other"));
            one.end().unwrap();
            assert_eq!(other.controller().members().len(), 1, "{hold:?}");
            assert!(!other.is_finished());
            assert_eq!(other.end().unwrap().tree.killed, 1);
        }
    });
}

#[test]
fn an_orphan_that_two_runs_could_own_is_unknown_to_both_and_ends_with_the_last() {
    quarantine("an_orphan_that_two_runs_could_own_is_unknown_to_both_and_ends_with_the_last", || {
        let (scratch, marker) = (Scratch::new(), Marker::new());
        let host = Host::builder().subreaper().build();
        let start = |arguments: &[&str]| {
            let mut command = Command::new(child());
            command.arguments(arguments);
            Task::new(command).grace(GRACE).start(&host).unwrap().background().unwrap()
        };
        let other = start(&["sleep"]);
        let one = start(&["stray", marker.as_str(), &scratch.text("ready")]);
        scratch.await_lines("ready", 1);
        let outcome = one.end().unwrap();
        assert_eq!(outcome.tree.survivors.unknown(), Some(UnknownSurvivors::SharedOrphans));
        assert_eq!(marker.count(), 1, "nothing is killed that may be another run's");
        let outcome = other.end().unwrap();
        assert_eq!((outcome.tree.survivors.count(), marker.count()), (Some(0), 0));
    });
}

#[test]
fn cancelling_in_the_middle_of_a_drain_ends_what_is_left() {
    quarantine("cancelling_in_the_middle_of_a_drain_ends_what_is_left", || {
        let (scratch, marker) = (Scratch::new(), Marker::new());
        let token = CancelToken::new();
        let mut command = Command::new(child());
        command.arguments(["daemon", &scratch.text("ready"), marker.as_str()]);
        let job = Task::new(command).grace(GRACE).cancel(&token).start(&Host::plain()).unwrap();
        let pid = job.controller().pid();
        let handle = job.background().unwrap();
        assert!(eventually(SOON, || matches!(process::state(pid), Some('Z') | None)));
        token.cancel();
        let outcome = handle.wait().unwrap();
        drop(outcome.adopted);
        assert_eq!(marker.count(), 0);
    });
}

#[test]
fn ending_many_at_once_leaves_none() {
    quarantine("ending_many_at_once_leaves_none", || {
        let marker = Arc::new(Marker::new());
        let host = Host::plain();
        let start = || {
            let mut command = Command::new(child());
            command.arguments(["sleep", marker.as_str()]);
            Task::new(command).grace(GRACE).start(&host).unwrap().background().unwrap()
        };
        let handles: Vec<_> = (0..20).map(|_| start()).collect();
        assert!(eventually(SOON, || marker.count() == 20));
        handles.iter().for_each(|handle| handle.controller().cancel());
        for handle in handles {
            let outcome = handle.wait().unwrap();
            assert_eq!((outcome.tree.killed, outcome.tree.survivors.pids()), (1, [].as_slice()));
        }
        assert_eq!(marker.count(), 0);
    });
}
