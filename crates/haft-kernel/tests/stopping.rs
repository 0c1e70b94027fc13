//! A script whose time is up: its traps run within the grace, and no longer.

use std::time::Duration;

use haft_kernel::run::{Outcome, Run, Status};
use haft_kernel::{Kernel, Session};
use haft_process::{Exit, Host};

const TIMEOUT: Duration = Duration::from_millis(300);

fn ended(script: &str, grace: Duration) -> Outcome {
    let mut session = Session::with_environment(Kernel::builder().build(), [("PATH", "/usr/bin:/bin")], "/");
    let run = Run::new(script).timeout(TIMEOUT).grace(grace);
    let outcome = run.run(&Host::plain(), &mut session).expect(script);
    assert_eq!(outcome.status, Status::TimedOut, "{script}");
    assert_eq!(outcome.tree.survivors.pids(), [0; 0], "{script}");
    outcome
}

/// Scripts, and what they write when they are asked to end.
const SAID: &[(&str, &str)] = &[
    ("trap 'echo bye' EXIT; sleep 1000", "bye\n"),
    ("trap 'echo bye' EXIT; while :; do :; done", "bye\n"),
    ("trap 'echo $(echo bye | cat)' EXIT; sleep 1000 | cat", "bye\n"),
    ("trap 'echo bye' EXIT; x=$(sleep 1000)", "bye\n"),
    ("trap 'echo bye' EXIT; read x < <(sleep 1000)", "bye\n"),
    ("f() { local x=5; trap 'echo bye $x' EXIT; while :; do :; done; }; f", "bye 5\n"),
    ("trap 'echo exit $?' EXIT; trap 'echo asked; exit 7' TERM; sleep 1000", "asked\nexit 7\n"),
    ("trap 'echo asked; exit' TERM; x=$(while :; do :; done); echo not reached", "asked\n"),
    ("trap stop=1 TERM; while ((!stop)); do sleep 0.01; done; echo clean; cat <<< up", "clean\nup\n"),
    ("(trap 'echo bye' EXIT; sleep 1000); echo not reached", "bye\n"),
    ("(trap 'echo asked; exit' TERM; while :; do :; done) & wait", "asked\n"),
    ("(trap 'echo bye' EXIT; while :; do :; done) & wait", "bye\n"),
    ("exec 3>&1; { trap 'echo bye >&3' EXIT; while :; do :; done; } | cat", "bye\n"),
];

#[test]
fn traps_run_when_the_time_is_up() {
    for (script, said) in SAID {
        let outcome = ended(script, Duration::from_secs(60));
        assert_eq!(String::from_utf8_lossy(&outcome.stdout()), *said, "{script}");
        assert!(outcome.duration < Duration::from_secs(30), "{script} took {:?}", outcome.duration);
    }
}

#[test]
fn traps_that_do_not_end_are_stopped_when_the_grace_is_over() {
    for script in [
        "trap 'while :; do :; done' EXIT; sleep 1000",
        "trap 'sleep 1000' EXIT; while :; do :; done",
        "trap 'while :; do :; done' TERM; sleep 1000",
        "trap '' TERM; while :; do sleep 1000; done",
        "(trap 'sleep 1000' EXIT; sleep 1000) & wait",
    ] {
        let outcome = ended(script, Duration::from_millis(400));
        assert!(outcome.duration >= TIMEOUT + Duration::from_millis(400), "{script}");
        assert!(outcome.duration < Duration::from_secs(20), "{script} took {:?}", outcome.duration);
    }
}

#[test]
fn a_script_can_be_signalled_by_its_own_subshells() {
    let mut session = Session::with_environment(Kernel::builder().build(), [("PATH", "/usr/bin:/bin")], "/");
    let mut run = |script| Run::new(script).run(&Host::plain(), &mut session).expect(script);
    let outcome = run("trap 'echo got it; exit 5' USR1; (kill -USR1 $$) & while :; do :; done");
    assert_eq!((outcome.stdout(), outcome.status), (b"got it\n".to_vec(), Status::Code(5)));
    let outcome = run("trap 'echo bye' EXIT; (kill $$) & while :; do :; done");
    assert_eq!((outcome.stdout(), outcome.status), (b"bye\n".to_vec(), Status::Signal(15)));
}

#[test]
fn a_job_that_only_computes_ends_with_its_session() {
    let mut session = Session::with_environment(Kernel::builder().build(), [("PATH", "/usr/bin:/bin")], "/");
    let script = "(trap 'echo bye' EXIT; while :; do :; done) & { while :; do :; done; } > /dev/null 2>&1 &";
    let outcome = Run::new(script).run(&Host::plain(), &mut session).expect("it runs");
    assert_eq!(outcome.jobs.len(), 2);
    session.end_jobs(Duration::ZERO, Duration::from_secs(60));
    assert_eq!(session.running_jobs().len(), 0);
    assert_eq!(outcome.stdout(), b"bye\n");
}

#[test]
fn what_is_ended_is_told_how() {
    let outcome = ended("trap : EXIT; sleep 1000 | sleep 1000", Duration::from_secs(60));
    let told: Vec<_> = outcome.stages.iter().filter(|stage| stage.argv[0] == "sleep").collect();
    assert!(told.len() == 2 && told.iter().all(|stage| stage.exit == Exit::Signal(15)), "{told:?}");
    let outcome = ended("sleep 1000", Duration::from_secs(60));
    assert_eq!(outcome.stages[0].exit, Exit::Signal(15));
}
