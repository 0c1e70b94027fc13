//! Hosts: their resources, and cleaning up after a killed host.

use std::time::Duration;

use haft_process::{Command, Exit, Host, HostBuilder, ScopeLimits, Signals, Task, clean_stale};
use haft_test_support::own::elsewhere;
use haft_test_support::{Marker, Scratch, child, eventually};

const LONG_TIMEOUT: Duration = Duration::from_secs(20);

fn sleeper(marker: &str) -> Task {
    let mut command = Command::new(child());
    command.arguments(["sleep", marker]);
    Task::new(command)
}

/// Runs a job in another process, kills that process with `SIGKILL`, and cleans up in this one.
fn clean_up_after_a_killed_host(name: &str, settings: fn(HostBuilder) -> HostBuilder) {
    let (scratch, marker) = (Scratch::new(), Marker::new());
    let base = scratch.file("runs");
    let text = format!("{} {}", base.display(), marker.as_str());
    let run_and_die = |text: &str| {
        let (base, marker) = text.split_once(' ').unwrap();
        let host = settings(Host::builder().run_directory(base)).build();
        let _job = sleeper(marker).start(&host).unwrap();
        haft_test_support::signal(std::process::id() as i32, 9);
        std::thread::sleep(LONG_TIMEOUT);
    };
    let Some((_, output)) = elsewhere(name, &text, run_and_die) else { return };
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&output.status), Some(9));
    assert!(
        eventually(LONG_TIMEOUT, || marker.count() == 1),
        "without a watcher, the process keeps running: {}",
        marker.count()
    );
    let listing = scratch.listing();
    let id =
        listing.iter().find_map(|path| path.strip_prefix("runs/run-")).expect("the directory of the run");
    let id = id.split('/').next().unwrap();
    assert_eq!(clean_stale(&base).unwrap(), 1);
    assert_eq!(marker.count(), 0);
    assert_eq!(scratch.listing(), ["runs"]);
    assert_eq!(clean_stale(&base).unwrap(), 0);
    assert_eq!(groups_named(&format!("haft-run-{id}")), [""; 0]);
}

#[test]
fn the_next_start_ends_processes_of_a_killed_host() {
    clean_up_after_a_killed_host("the_next_start_ends_processes_of_a_killed_host", |host| host);
}

#[test]
fn the_next_start_removes_control_groups_of_a_killed_host() {
    clean_up_after_a_killed_host(
        "the_next_start_removes_control_groups_of_a_killed_host",
        HostBuilder::cgroups,
    );
}

/// Returns the control groups whose names start with `prefix`.
fn groups_named(prefix: &str) -> Vec<String> {
    let roots = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/pids", "/sys/fs/cgroup/memory"];
    let entries = roots.iter().filter_map(|root| std::fs::read_dir(root).ok()).flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with(prefix)).collect()
}

#[test]
fn control_groups_are_removed_with_the_last_job() {
    let scratch = Scratch::new();
    let host = Host::builder().run_directory(scratch.file("runs")).cgroups().build();
    let prefix = format!("haft-{}", host.id());
    let handle = sleeper("x").start(&host).unwrap().background().unwrap();
    drop(host);
    assert_ne!(scratch.listing(), ["runs"], "the job still needs it");
    drop(handle);
    assert_eq!(groups_named(&prefix), [""; 0]);
    assert_eq!(scratch.listing(), ["runs"]);
}

#[test]
fn cleaning_does_not_affect_active_hosts() {
    let (scratch, marker) = (Scratch::new(), Marker::new());
    let base = scratch.file("runs");
    let host = Host::builder().run_directory(&base).build();
    let handle = sleeper(marker.as_str()).start(&host).unwrap().background().unwrap();
    assert_eq!(clean_stale(&base).unwrap(), 0);
    assert!(eventually(LONG_TIMEOUT, || marker.count() == 1));
    handle.end().unwrap();
    drop(host);
    assert_eq!(scratch.listing(), ["runs"]);
}

#[test]
fn run_directory_bases_writable_by_others_are_rejected() {
    let scratch = Scratch::new();
    let base = scratch.file("open");
    std::fs::create_dir(&base).unwrap();
    std::fs::set_permissions(&base, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    let host = Host::builder().run_directory(&base).build();
    assert_eq!(host.warnings().len(), 1, "{:?}", host.warnings());
    assert!(clean_stale(&base).is_err());
}

#[test]
fn each_job_has_its_own_marker() {
    let host = Host::plain();
    let (one, other) = (host.scope(ScopeLimits::default()), host.scope(ScopeLimits::default()));
    assert!(one.id() != other.id() && one.id().starts_with(host.id()) && other.id().starts_with(host.id()));
    let handle = sleeper("x").start(&host).unwrap().background().unwrap();
    let environment = format!("/proc/{}/environ", handle.controller().pid());
    let expected = format!("HAFT_RUN={}\0", handle.id());
    assert!(eventually(LONG_TIMEOUT, || std::fs::read(&environment).unwrap() == expected.as_bytes()));
    handle.end().unwrap();
}

#[test]
fn limits_apply_to_all_processes_of_a_job_together() {
    let scratch = Scratch::new();
    let host = Host::builder().run_directory(scratch.file("runs")).cgroups().build();
    if !host.scope(ScopeLimits::default()).is_sealed() {
        println!("skipped: control groups are not available");
        return;
    }
    let run = |arguments: [&str; 2], limits| {
        let mut command = Command::new(child());
        command.arguments(arguments);
        let outcome = Task::new(command).scope_limits(limits).run(&host).unwrap();
        let text = outcome.report(100).outputs.stdout.unwrap().text;
        drop(outcome.adopted);
        (outcome.exit, text)
    };
    let few = ScopeLimits { processes: Some(5), ..ScopeLimits::default() };
    let (_, started) = run(["fork", "20"], few);
    assert_eq!(started, "4\n", "five processes, including the first");
    let little = ScopeLimits { memory: Some(64 << 20), ..ScopeLimits::default() };
    let (exit, text) = run(["allocate", "16777216"], little);
    assert_eq!((exit, text.as_str()), (Exit::Code(0), "allocated 16777216\n"));
    let (exit, text) = run(["allocate", "268435456"], little);
    assert!(exit == Exit::Code(3) || exit == Exit::Signal(Signals::KILL), "{exit:?} {text}");
}

#[test]
fn a_job_whose_meter_exceeds_the_disk_limit_is_ended() {
    let host = Host::builder().build();
    let meter = haft_process::DiskMeter::default();
    meter.set(11);
    let mut command = Command::new("/bin/sleep");
    command.arguments(["1000"]);
    let limits = ScopeLimits { disk: Some(10), ..ScopeLimits::default() };
    let outcome = Task::new(command).scope_limits(limits).disk_meter(meter).start(&host).unwrap().wait();
    assert_eq!(outcome.limits.ended_by, Some(haft_process::LimitKind::Disk));
    assert!(outcome.limits.disk.is_some_and(|disk| disk.hit && disk.asked == 10));
}
