//! Properties of memory file systems and mounts.

use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;

use haft_fs::{AccessMode, FileSystem, FileType, Local, Memory, Mounts, OpenOptions, message};

const CREATE: OpenOptions = OpenOptions::new().write(true).create(true);

#[test]
fn memory_enforces_its_budget() {
    let memory = Memory::new(1000);
    let mut file = memory.open(Path::new("/f"), &CREATE).expect("opens");
    let error = file.write_all(&[b'x'; 2000]).expect_err("is too much");
    assert_eq!(message(&error), "No space left on device");
    assert!(memory.used() <= 1000);
    let error = memory.create_dir(Path::new("/d"), 0o755).expect_err("is full");
    assert_eq!(message(&error), "No space left on device");

    drop(file);
    memory.remove(Path::new("/f")).expect("removes");
    assert_eq!(memory.used(), 0);
    memory.create_dir(Path::new("/d"), 0o755).expect("has room again");
}

#[test]
fn unlinked_files_use_memory_until_they_are_closed() {
    let memory = Memory::new(1000);
    let mut file = memory.open(Path::new("/f"), &CREATE).expect("opens");
    file.write_all(&[b'x'; 500]).expect("writes");
    memory.remove(Path::new("/f")).expect("removes");
    assert_eq!(memory.used(), 500);
    drop(file);
    assert_eq!(memory.used(), 0);
}

#[test]
fn gaps_beyond_the_budget_are_rejected() {
    use std::io::{Seek, SeekFrom};
    let memory = Memory::new(1000);
    let mut file = memory.open(Path::new("/f"), &CREATE).expect("opens");
    file.seek(SeekFrom::Start(u64::MAX - 1)).expect("seeks");
    let error = file.write(b"x").expect_err("is too far");
    assert_eq!(message(&error), "No space left on device");
}

#[test]
fn memory_checks_modes() {
    let memory = Memory::new(1 << 16);
    memory.open(Path::new("/f"), &CREATE.mode(0o444)).expect("a new file may be written whatever its mode");
    let error = memory.open(Path::new("/f"), &CREATE).expect_err("is read only");
    assert_eq!(message(&error), "Permission denied");
    memory.create_dir(Path::new("/locked"), 0o600).expect("makes");
    let error = memory.metadata(Path::new("/locked/x")).expect_err("cannot be searched");
    assert_eq!(message(&error), "Permission denied");
}

#[test]
fn standard_files_include_a_null_device() {
    let memory = Memory::with_standard_files(100);
    let mut null =
        memory.open(Path::new("/dev/null"), &OpenOptions::new().read(true).write(true)).expect("opens");
    null.write_all(&[0; 4096]).expect("takes everything");
    let mut nothing = Vec::new();
    null.read_to_end(&mut nothing).expect("reads");
    assert!(nothing.is_empty());
    assert_eq!(memory.metadata(Path::new("/dev/null")).expect("is there").kind, FileType::CharacterDevice);
    assert_eq!(memory.used(), 0);
}

#[test]
fn mount_points_and_their_parents_are_listed() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let memory = Memory::new(1 << 16);
    memory.create_dir(Path::new("/home"), 0o755).expect("makes");
    let mounts = Mounts::new(Arc::new(memory)).mount("/var/tmp", Arc::new(Local), scratch.path());
    let list = |path: &str| {
        let entries = mounts.read_dir(Path::new(path)).expect("lists");
        let mut names: Vec<_> = entries.map(|entry| entry.expect("an entry").name).collect();
        names.sort();
        names
    };
    assert_eq!(list("/"), ["home", "var"]);
    assert_eq!(list("/var"), ["tmp"]);
    assert_eq!(list("/var/tmp/../.."), ["home", "var"]);
    assert!(mounts.is_dir(Path::new("/var")));
    assert!(mounts.access(Path::new("/var"), AccessMode::READ).is_ok());
    let error = mounts.remove(Path::new("/var/tmp")).expect_err("is in use");
    assert_eq!(message(&error), "Device or resource busy");
}

#[test]
fn the_longest_mount_point_determines_the_file_system() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let real = scratch.path().canonicalize().expect("its path");
    let mounts = Mounts::new(Arc::new(Memory::new(1 << 16))).mount("/a", Arc::new(Local), &real).mount(
        "/a/b",
        Arc::new(Memory::new(1 << 16)),
        "/",
    );
    assert_eq!(mounts.real_path(Path::new("/x")), None);
    assert_eq!(mounts.real_path(Path::new("/a/x")), Some(real.join("x")));
    assert_eq!(mounts.real_path(Path::new("/a/b/x")), None);
    assert_eq!(mounts.real_path(Path::new("/a/b/../x")), Some(real.join("x")));
    mounts.open(Path::new("/a/x"), &CREATE).expect("opens");
    assert!(real.join("x").exists());
    let error = mounts.rename(Path::new("/a/x"), Path::new("/a/b/x")).expect_err("is another file system");
    assert_eq!(error.kind(), std::io::ErrorKind::CrossesDevices);
}

#[test]
fn symbolic_links_can_cross_mounts() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let mounts = Mounts::new(Arc::new(Memory::new(1 << 16))).mount("/tmp", Arc::new(Local), scratch.path());
    mounts.create_symlink(Path::new("/tmp/f"), Path::new("/link")).expect("links");
    mounts.open(Path::new("/link"), &CREATE).expect("opens").write_all(b"real").expect("writes");
    assert_eq!(std::fs::read(scratch.path().join("f")).expect("is real"), b"real");
    assert!(mounts.real_path(Path::new("/link")).is_some());
    mounts.create_symlink(Path::new("/virtual"), Path::new("/tmp/back")).expect("links");
    mounts.open(Path::new("/tmp/back"), &CREATE).expect("opens");
    assert!(mounts.symlink_metadata(Path::new("/virtual")).is_ok());
}

#[test]
fn read_only_mounts_cannot_be_changed() {
    let inner = Memory::new(1 << 16);
    inner.open(Path::new("/f"), &CREATE).expect("opens").write_all(b"kept").expect("writes");
    inner.create_dir(Path::new("/d"), 0o755).expect("makes");
    let files = Mounts::new(Arc::new(Memory::new(1 << 16))).mount_read_only("/ro", Arc::new(inner), "/");
    let path = |name: &str| Path::new("/ro").join(name);
    let times = haft_fs::FileTimes { modified: haft_fs::TimeChange::Now, ..Default::default() };
    let results = [
        files.open(&path("f"), &CREATE).map(drop),
        files.open(&path("new"), &CREATE).map(drop),
        files.create_dir(&path("x"), 0o755),
        files.create_symlink(Path::new("f"), &path("x")),
        files.hard_link(&path("f"), &path("x")),
        files.set_permissions(&path("f"), 0o777),
        files.set_times(&path("f"), &times),
        files.set_owner(&path("f"), None, None),
        files.remove(&path("f")),
        files.remove_dir(&path("d")),
        files.rename(&path("f"), &path("g")),
        files.access(&path("f"), AccessMode::WRITE),
    ];
    for (index, result) in results.into_iter().enumerate() {
        assert_eq!(message(&result.expect_err("is read-only")), "Read-only file system", "{index}");
    }
    let error = files.create_dir(&path("d"), 0o755).expect_err("is there");
    assert_eq!(message(&error), "File exists");
    let mut text = String::new();
    files
        .open(&path("f"), &OpenOptions::new().read(true))
        .expect("opens")
        .read_to_string(&mut text)
        .expect("reads");
    assert_eq!(text, "kept");
}

#[test]
fn standard_devices_work_without_a_machine() {
    let memory = Memory::with_standard_files(1 << 16);
    let read = |name: &str| {
        let mut bytes = [7; 8];
        let mut file = memory.open(Path::new(name), &OpenOptions::new().read(true)).expect("opens");
        let count = file.read(&mut bytes).expect("reads");
        (count, bytes)
    };
    assert_eq!(read("/dev/null"), (0, [7; 8]));
    assert_eq!(read("/dev/zero"), (8, [0; 8]));
    assert_ne!(read("/dev/urandom").1, read("/dev/urandom").1);
    assert_eq!(memory.read_link(Path::new("/dev/stdin")).expect("a link"), Path::new("fd/0"));
}
