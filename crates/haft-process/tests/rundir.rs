//! Run directories, and those of dead owners.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use haft_process::capture::{CaptureLimits, Output};
use haft_process::rundir::{ErrorKind, RunDirectory, RunId, stale};

fn base() -> (tempfile::TempDir, PathBuf) {
    let place = tempfile::tempdir().expect("a directory");
    let base = place.path().join("haft");
    (place, base)
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).expect("a file").mode() & 0o7777
}

/// Makes a run directory as a dead owner leaves it, without a lock.
fn abandon(base: &Path, name: &str) -> PathBuf {
    let path = base.join(name);
    fs::create_dir_all(path.join("sub/sub")).expect("a directory");
    fs::write(path.join("owner"), "").expect("a file");
    fs::write(path.join("o123.out"), "spilled").expect("a file");
    fs::write(path.join("sub/sub/file"), "").expect("a file");
    symlink("/etc", path.join("link")).expect("a link");
    fs::set_permissions(base, fs::Permissions::from_mode(0o700)).expect("own directory");
    path
}

#[test]
fn run_directories_are_private_and_removed_with_their_owner() {
    let (_place, base) = base();
    let run = RunDirectory::create(&base).expect("a run directory");
    assert_eq!((mode(&base), mode(run.path()), mode(&run.path().join("owner"))), (0o700, 0o700, 0o600));
    assert_eq!(run.path(), base.join(run.id().as_str()));
    assert!(run.id().as_str().contains(&std::process::id().to_string()));
    run.record_cgroup(Path::new("/sys/fs/cgroup/haft")).expect("a note");
    assert_eq!(mode(&run.path().join("cgroups")), 0o600);
    let path = run.path().to_owned();
    fs::create_dir(path.join("more")).expect("a directory");
    drop(run);
    assert!(!path.exists() && base.exists());
}

#[test]
fn spilled_outputs_stay_readable_after_removal() {
    let (_place, base) = base();
    let run = RunDirectory::create(&base).expect("a run directory");
    let output = Output::new(
        CaptureLimits { head: 1, tail: 1, spill: 100 },
        Some(run.spill_directory().expect("a place to spill to")),
    );
    output.append(b"0123456789");
    let file = output.spill_path().expect("a spill file");
    assert_eq!((file.parent(), mode(&file)), (Some(run.path()), 0o600));
    drop(run);
    assert!(!file.exists());
    assert_eq!(output.read_since(0, 100).expect("a readable output").bytes, b"0");
    assert_eq!(output.read_since(1, 100).expect("a readable output").bytes, b"123456789");
}

#[test]
fn only_runs_of_dead_owners_are_stale() {
    let (_place, base) = base();
    assert!(stale(&base).expect("a base that is not there").is_empty());
    let run = RunDirectory::create(&base).expect("a run directory");
    let dead = abandon(&base, "run-4194304-abc");
    fs::write(dead.join("cgroups"), b"/a b\0/c\nd\0/unfinished").expect("a file");
    fs::create_dir(base.join("run-1-empty")).expect("a directory");
    fs::create_dir(base.join("something-else")).expect("a directory");

    let runs = stale(&base).expect("a readable base");
    assert_eq!(runs.len(), 1);
    let found = &runs[0];
    assert_eq!(
        (found.id(), found.path()),
        (&RunId::parse("run-4194304-abc").expect("a name"), dead.as_path())
    );
    assert_eq!(found.id().process(), 4_194_304);
    assert_eq!(found.cgroups().expect("a list"), [PathBuf::from("/a b"), PathBuf::from("/c\nd")]);
    assert!(stale(&base).expect("a readable base").is_empty(), "another cleaner has it");
    assert!(!base.join("run-1-empty").exists() && base.join("something-else").exists());

    for run in runs {
        run.remove().expect("removed");
    }
    assert!(!dead.exists() && run.path().exists());
    assert!(Path::new("/etc").exists());
}

#[test]
fn stale_runs_that_were_not_removed_are_found_again() {
    let (_place, base) = base();
    abandon(&base, "run-5-x");
    drop(stale(&base).expect("a readable base"));
    assert_eq!(stale(&base).expect("a readable base").len(), 1);
}

#[test]
fn bases_writable_by_others_are_rejected() {
    let (_place, base) = base();
    fs::create_dir(&base).expect("a directory");
    for open in [0o777, 0o1777, 0o770, 0o702] {
        fs::set_permissions(&base, fs::Permissions::from_mode(open)).expect("own directory");
        let error = RunDirectory::create(&base).expect_err("an open base");
        assert!(matches!(error.kind(), ErrorKind::OpenBase { mode, .. } if *mode == open), "{error}");
        assert!(stale(&base).is_err());
        assert_eq!(fs::read_dir(&base).expect("a directory").count(), 0);
    }
}

#[test]
fn bases_that_are_links_files_or_foreign_are_rejected() {
    let (place, base) = base();
    fs::create_dir(place.path().join("target")).expect("a directory");
    symlink("target", &base).expect("a link");
    let error = RunDirectory::create(&base).expect_err("a link");
    assert!(matches!(error.kind(), ErrorKind::Base { .. }), "{error}");
    assert!(error.to_string().starts_with(&format!("cannot use '{}' as a run directory: ", base.display())));

    let file = place.path().join("file");
    fs::write(&file, "").expect("a file");
    assert!(RunDirectory::create(&file).is_err());
    assert!(RunDirectory::create(&place.path().join("missing/parent")).is_err());

    let foreign = if rustix::process::geteuid().is_root() {
        let foreign = place.path().join("foreign");
        fs::create_dir(&foreign).expect("a directory");
        std::os::unix::fs::chown(&foreign, Some(1), None).expect("root may give it away");
        foreign
    } else {
        PathBuf::from("/")
    };
    let error = RunDirectory::create(&foreign).expect_err("a foreign base");
    assert!(matches!(error.kind(), ErrorKind::ForeignBase { .. }), "{error}");
}

#[test]
fn each_stale_run_is_cleaned_once() {
    let (_place, base) = base();
    for number in 0..200 {
        abandon(&base, &format!("run-{number}-x"));
    }
    let cleaned = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for run in stale(&base).expect("a readable base") {
                    run.remove().expect("removed");
                    cleaned.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
    });
    for run in stale(&base).expect("a readable base") {
        run.remove().expect("removed");
        cleaned.fetch_add(1, Ordering::SeqCst);
    }
    assert_eq!(cleaned.into_inner(), 200);
    assert_eq!(fs::read_dir(&base).expect("a directory").count(), 0);
}

#[test]
fn owners_can_start_while_cleaners_run() {
    let (_place, base) = base();
    drop(RunDirectory::create(&base).expect("a run directory"));
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !done.load(Ordering::SeqCst) {
                    for run in stale(&base).expect("a readable base") {
                        run.remove().expect("removed");
                    }
                }
            });
        }
        let end = Instant::now() + Duration::from_millis(500);
        while Instant::now() < end {
            let run = RunDirectory::create(&base).expect("a run directory");
            fs::write(run.path().join("mine"), "").expect("still there");
            assert!(run.path().join("owner").exists());
            run.remove().expect("removed");
        }
        done.store(true, Ordering::SeqCst);
    });
    for run in stale(&base).expect("a readable base") {
        run.remove().expect("removed");
    }
    assert_eq!(fs::read_dir(&base).expect("a directory").count(), 0);
}

#[test]
fn the_lock_is_close_on_exec() {
    let (_place, base) = base();
    let run = RunDirectory::create(&base).expect("a run directory");
    let owner = run.path().join("owner").canonicalize().expect("the owner file");
    let own = fs::read_dir("/proc/self/fdinfo").expect("descriptors").flatten().filter(|entry| {
        let target = fs::read_link(Path::new("/proc/self/fd").join(entry.file_name()));
        target.is_ok_and(|target| target == owner)
    });
    let flags: Vec<String> = own
        .map(|entry| fs::read_to_string(entry.path()).expect("flags"))
        .filter_map(|info| {
            info.lines().find_map(|line| line.strip_prefix("flags:")).map(|flags| flags.trim().to_owned())
        })
        .collect();
    assert_eq!(flags.len(), 1);
    assert_ne!(u32::from_str_radix(&flags[0], 8).expect("octal") & 0o2_000_000, 0);
}
