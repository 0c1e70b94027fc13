//! Ending a job ends all its processes, whatever they do to escape.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use haft_process::{
    CancelToken, Command, Host, Job, JobOutcome, ScopeLimits, Signals, Task, UnknownSurvivors,
};
use haft_test_support::own::{quarantine, resources};
use haft_test_support::{Marker, Scratch, child, eventually, measure, process};

const SHORT_GRACE: Duration = Duration::from_millis(150);
const LONG_TIMEOUT: Duration = Duration::from_secs(20);

/// How the processes of a job are found.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Tracking {
    /// By descent and marker only.
    Plain,
    /// As a subreaper.
    Subreaper,
    /// By a control group.
    Cgroup,
}

impl Tracking {
    fn host(self, base: &Path) -> Option<Host> {
        let host = match self {
            Tracking::Plain => Host::plain(),
            Tracking::Subreaper => Host::builder().subreaper().build(),
            Tracking::Cgroup => Host::builder().run_directory(base.join("runs")).cgroups().build(),
        };
        let sealed = host.scope(ScopeLimits::default()).is_sealed();
        if sealed != (self == Tracking::Cgroup) {
            println!("skipped: control groups are not available");
            return None;
        }
        Some(host)
    }

    /// The kinds of processes that can be found, the number of lines they write when they are ready, and their number.
    fn tree(self) -> (&'static str, usize, usize) {
        match self {
            Tracking::Plain => ("descent", 10, 13),
            Tracking::Subreaper | Tracking::Cgroup => ("all", 11, 14),
        }
    }
}

/// A running job with a tree of processes.
struct ProcessTree {
    scratch: Scratch,
    marker: Marker,
    tracking: Tracking,
}

impl ProcessTree {
    fn start(tracking: Tracking, change: impl FnOnce(Task) -> Task) -> Option<(ProcessTree, Job)> {
        let tree = ProcessTree { scratch: Scratch::new(), marker: Marker::new(), tracking };
        let host = tracking.host(tree.scratch.path())?;
        let (reach, lines, count) = tracking.tree();
        let mut command = Command::new(child());
        command.arguments(["tree", tree.marker.as_str(), &tree.scratch.text("ready"), reach]);
        let job = change(Task::new(command).grace(SHORT_GRACE)).start(&host).unwrap();
        tree.scratch.await_lines("ready", lines);
        // One process forks repeatedly and may be between two generations.
        assert!(
            eventually(LONG_TIMEOUT, || tree.marker.count() >= count - 1),
            "{} processes are running",
            tree.marker.count()
        );
        Some((tree, job))
    }

    fn assert_gone(&self) {
        assert_eq!(self.marker.pids(), [0; 0], "processes are left");
    }

    fn check(&self, outcome: &JobOutcome) {
        self.assert_gone();
        let (_, _, count) = self.tracking.tree();
        // Descent and marker alone prove nothing.
        assert_eq!(outcome.tree.survivors.unknown().is_some(), self.tracking == Tracking::Plain);
        assert_eq!(outcome.tree.survivors.pids(), [0; 0]);
        assert_eq!(outcome.tree.started, 1);
        assert!(outcome.tree.killed >= count - 1, "{:?} of {count}", outcome.tree);
        assert!(outcome.tree.killed < count + 40, "{:?} of {count}", outcome.tree);
    }
}

fn by_timeout(tracking: Tracking) {
    let timeout = Duration::from_secs(3);
    let Some((tree, job)) = ProcessTree::start(tracking, |task| task.timeout(timeout)) else { return };
    let (outcome, _) = measure(|| job.wait());
    assert!(outcome.timed_out && !outcome.cancelled);
    assert_eq!(outcome.code(), 124);
    assert!(outcome.duration < timeout + LONG_TIMEOUT, "{:?}", outcome.duration);
    tree.check(&outcome);
}

fn by_cancel(tracking: Tracking) {
    let token = CancelToken::new();
    let Some((tree, job)) = ProcessTree::start(tracking, |task| task.cancel(&token)) else { return };
    let handle = job.background().unwrap();
    token.cancel();
    let (outcome, time) = measure(|| handle.wait().unwrap());
    assert!(outcome.cancelled && !outcome.timed_out);
    assert_eq!(outcome.code(), 130);
    assert!(time < LONG_TIMEOUT, "{time:?}");
    tree.check(&outcome);
}

fn by_drop(tracking: Tracking) {
    let Some((tree, job)) = ProcessTree::start(tracking, |task| task) else { return };
    drop(job);
    tree.assert_gone();
    let Some((tree, job)) = ProcessTree::start(tracking, |task| task) else { return };
    drop(job.background().unwrap());
    tree.assert_gone();
}

#[test]
fn timeout_ends_all_processes_by_descent_and_marker() {
    quarantine("timeout_ends_all_processes_by_descent_and_marker", || by_timeout(Tracking::Plain));
}

#[test]
fn cancel_ends_all_processes_by_descent_and_marker() {
    quarantine("cancel_ends_all_processes_by_descent_and_marker", || by_cancel(Tracking::Plain));
}

#[test]
fn drop_ends_all_processes_by_descent_and_marker() {
    quarantine("drop_ends_all_processes_by_descent_and_marker", || by_drop(Tracking::Plain));
}

#[test]
fn timeout_ends_all_processes_with_a_subreaper() {
    quarantine("timeout_ends_all_processes_with_a_subreaper", || by_timeout(Tracking::Subreaper));
}

#[test]
fn cancel_ends_all_processes_with_a_subreaper() {
    quarantine("cancel_ends_all_processes_with_a_subreaper", || by_cancel(Tracking::Subreaper));
}

#[test]
fn drop_ends_all_processes_with_a_subreaper() {
    quarantine("drop_ends_all_processes_with_a_subreaper", || {
        by_drop(Tracking::Subreaper);
        assert_eq!(resources().children, 0, "zombies are left");
    });
}

#[test]
fn timeout_ends_all_processes_with_a_control_group() {
    quarantine("timeout_ends_all_processes_with_a_control_group", || by_timeout(Tracking::Cgroup));
}

#[test]
fn cancel_ends_all_processes_with_a_control_group() {
    quarantine("cancel_ends_all_processes_with_a_control_group", || by_cancel(Tracking::Cgroup));
}

#[test]
fn drop_ends_all_processes_with_a_control_group() {
    quarantine("drop_ends_all_processes_with_a_control_group", || by_drop(Tracking::Cgroup));
}

#[test]
fn adopted_processes_of_a_killed_root_can_be_ended() {
    quarantine("adopted_processes_of_a_killed_root_can_be_ended", || {
        let Some((tree, job)) = ProcessTree::start(Tracking::Subreaper, |task| task) else { return };
        let root = job.controller().pid();
        let handle = job.background().unwrap();
        haft_test_support::signal(root, Signals::KILL);
        let mut outcome = handle.wait().unwrap();
        assert_eq!(outcome.exit, haft_process::Exit::Signal(Signals::KILL));
        assert_eq!((outcome.cancelled, outcome.tree.killed), (false, 0));
        let left = outcome.adopted.take().expect("the processes have the output open");
        let end = left.end().unwrap();
        assert_eq!(end.tree.survivors.pids(), [0; 0]);
        tree.assert_gone();
    });
}

#[test]
fn processes_that_ignore_sigterm_are_killed_after_the_grace_period() {
    quarantine("processes_that_ignore_sigterm_are_killed_after_the_grace_period", || {
        let scratch = Scratch::new();
        let mut command = Command::new(child());
        command.arguments(["stubborn", &scratch.text("ready")]);
        let grace = Duration::from_millis(400);
        let handle = Task::new(command).grace(grace).start(&Host::plain()).unwrap().background().unwrap();
        scratch.await_lines("ready", 1);
        let pid = handle.controller().pid();
        let (outcome, time) = measure(|| handle.end().unwrap());
        assert_eq!(outcome.exit, haft_process::Exit::Signal(Signals::KILL));
        assert_eq!((outcome.tree.killed, outcome.tree.survivors.pids()), (1, [].as_slice()));
        assert!(time >= grace && time < grace + Duration::from_secs(2), "{time:?}");
        assert_eq!(process::state(pid), None);
    });
}

#[test]
fn processes_whose_main_thread_has_ended_are_killed() {
    quarantine("processes_whose_main_thread_has_ended_are_killed", || {
        let scratch = Scratch::new();
        let mut command = Command::new(child());
        command.arguments(["headless", &scratch.text("ready")]);
        let handle =
            Task::new(command).grace(SHORT_GRACE).start(&Host::plain()).unwrap().background().unwrap();
        scratch.await_lines("ready", 1);
        let pid = handle.controller().pid();
        assert_eq!(handle.controller().members(), [pid]);
        handle.controller().cancel();
        assert!(handle.wait_for(LONG_TIMEOUT), "the job hangs");
        let outcome = handle.wait().unwrap();
        assert_eq!((outcome.tree.killed, outcome.tree.survivors.pids()), (1, [].as_slice()));
        assert_eq!(process::state(pid), None);
    });
}

#[test]
fn other_jobs_of_the_same_host_keep_running() {
    quarantine("other_jobs_of_the_same_host_keep_running", || {
        for tracking in [Tracking::Subreaper, Tracking::Cgroup] {
            let scratch = Scratch::new();
            let Some(host) = tracking.host(scratch.path()) else { continue };
            let start = |ready: &str| {
                let mut command = Command::new(child());
                command.arguments(["daemon", &scratch.text(ready), &scratch.text("never")]);
                Task::new(command).grace(SHORT_GRACE).start(&host).unwrap().wait().adopted.unwrap()
            };
            let (one, other) = (start("one"), start("other"));
            one.end().unwrap();
            assert_eq!(other.controller().members().len(), 1, "{tracking:?}");
            assert!(!other.is_finished());
            assert_eq!(other.end().unwrap().tree.killed, 1);
        }
    });
}

#[test]
fn orphans_that_two_runs_may_own_are_reported_as_unknown() {
    quarantine("orphans_that_two_runs_may_own_are_reported_as_unknown", || {
        let (scratch, marker) = (Scratch::new(), Marker::new());
        let host = Host::builder().subreaper().build();
        let start = |arguments: &[&str]| {
            let mut command = Command::new(child());
            command.arguments(arguments);
            Task::new(command).grace(SHORT_GRACE).start(&host).unwrap().background().unwrap()
        };
        let other = start(&["sleep"]);
        let one = start(&["stray", marker.as_str(), &scratch.text("ready")]);
        scratch.await_lines("ready", 1);
        let outcome = one.end().unwrap();
        assert_eq!(outcome.tree.survivors.unknown(), Some(UnknownSurvivors::SharedOrphans));
        assert_eq!(marker.count(), 1, "processes that may belong to another run are not killed");
        let outcome = other.end().unwrap();
        assert_eq!((outcome.tree.survivors.count(), marker.count()), (Some(0), 0));
    });
}

#[test]
fn cancelling_during_a_drain_ends_remaining_processes() {
    quarantine("cancelling_during_a_drain_ends_remaining_processes", || {
        let (scratch, marker) = (Scratch::new(), Marker::new());
        let token = CancelToken::new();
        let mut command = Command::new(child());
        command.arguments(["daemon", &scratch.text("ready"), marker.as_str()]);
        let job = Task::new(command).grace(SHORT_GRACE).cancel(&token).start(&Host::plain()).unwrap();
        let pid = job.controller().pid();
        let handle = job.background().unwrap();
        assert!(eventually(LONG_TIMEOUT, || matches!(process::state(pid), Some('Z') | None)));
        token.cancel();
        let outcome = handle.wait().unwrap();
        drop(outcome.adopted);
        assert_eq!(marker.count(), 0);
    });
}

#[test]
fn ending_many_jobs_at_once_leaves_no_process() {
    quarantine("ending_many_jobs_at_once_leaves_no_process", || {
        let marker = Arc::new(Marker::new());
        let host = Host::plain();
        let start = || {
            let mut command = Command::new(child());
            command.arguments(["sleep", marker.as_str()]);
            Task::new(command).grace(SHORT_GRACE).start(&host).unwrap().background().unwrap()
        };
        let handles: Vec<_> = (0..20).map(|_| start()).collect();
        assert!(eventually(LONG_TIMEOUT, || marker.count() == 20));
        handles.iter().for_each(|handle| handle.controller().cancel());
        for handle in handles {
            let outcome = handle.wait().unwrap();
            assert_eq!((outcome.tree.killed, outcome.tree.survivors.pids()), (1, [].as_slice()));
        }
        assert_eq!(marker.count(), 0);
    });
}
