//! Nothing leads out of a confined directory.

use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use haft_fs::{
    AccessMode, FileSystem, FileTimes, Memory, Mounts, OpenOptions, Rooted, TimeChange, Timestamp, message,
};

const READ: OpenOptions = OpenOptions::new().read(true);
const WRITE: OpenOptions = OpenOptions::new().write(true).create(true);

/// How often another thread replaces a directory while paths through it are used.
const RACES: usize = 3000;

/// A directory `root`, and beside it a directory `outside` with a file `secret`.
struct Enclosure {
    scratch: tempfile::TempDir,
    files: Rooted,
}

impl Enclosure {
    fn new() -> Self {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        for name in ["root", "outside"] {
            std::fs::create_dir(scratch.path().join(name)).expect("a directory");
        }
        std::fs::write(scratch.path().join("outside/secret"), "secret").expect("a file");
        let files = Rooted::open_confined(&scratch.path().join("root")).expect("the root");
        Self { scratch, files }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().canonicalize().expect("its path").join(name)
    }

    /// The state of everything outside.
    fn outside(&self) -> Vec<(PathBuf, u32, i64, Vec<u8>)> {
        let mut found: Vec<_> = std::fs::read_dir(self.path("outside"))
            .expect("lists")
            .map(|entry| {
                let path = entry.expect("an entry").path();
                let metadata = path.symlink_metadata().expect("is there");
                let content = std::fs::read(&path).unwrap_or_default();
                (path, metadata.permissions().mode(), metadata.mtime(), content)
            })
            .collect();
        found.sort();
        found
    }
}

/// Tries to reach the secret, and to change anything outside, through a path.
fn attack(files: &dyn FileSystem, directory: &str) {
    let secret = PathBuf::from(format!("{directory}/secret"));
    let new = PathBuf::from(format!("{directory}/new"));
    let mut text = String::new();
    if let Ok(mut file) = files.open(&secret, &READ) {
        let _ = file.read_to_string(&mut text);
    }
    assert_ne!(text, "secret", "{}", secret.display());
    for path in [&secret, &new, &PathBuf::from(directory)] {
        if let Ok(mut file) = files.open(path, &WRITE) {
            let _ = file.write_all(b"changed");
        }
        let _ = files.create_dir(path, 0o777);
        let _ = files.create_symlink(Path::new("x"), path);
        let _ = files.set_permissions(path, 0o777);
        let past = TimeChange::At(Timestamp::default());
        for keep_link in [false, true] {
            let _ = files.set_times(path, &FileTimes { accessed: past, modified: past, keep_link });
        }
        let _ = files.hard_link(path, Path::new("/taken"));
        assert!(files.open(Path::new("/taken"), &READ).is_err() || !is_secret(files, "/taken"));
        let _ = files.remove(Path::new("/taken"));
        let _ = files.rename(path, Path::new("/moved"));
        assert!(!is_secret(files, "/moved/secret") && !is_secret(files, "/moved"));
        let _ = files.rename(Path::new("/moved"), path);
    }
    let listed = files.read_dir(Path::new(directory)).map(Iterator::count).unwrap_or_default();
    let _ = (listed, files.access(&secret, AccessMode::READ), files.canonicalize(&secret));
}

fn is_secret(files: &dyn FileSystem, path: &str) -> bool {
    let mut text = String::new();
    files.open(Path::new(path), &READ).is_ok_and(|mut file| file.read_to_string(&mut text).is_ok())
        && text == "secret"
}

#[test]
fn symbolic_links_and_parents_do_not_lead_out() {
    let enclosure = Enclosure::new();
    let outside = enclosure.path("outside");
    symlink(&outside, enclosure.path("root/absolute")).expect("links");
    symlink("../outside", enclosure.path("root/relative")).expect("links");
    symlink("/proc/self/root", enclosure.path("root/process")).expect("links");
    symlink("../../../../../../../../../..", enclosure.path("root/top")).expect("links");
    std::fs::create_dir_all(enclosure.path("root/d/e")).expect("directories");
    let before = enclosure.outside();
    let below_root = outside.to_string_lossy().into_owned();
    let directories = [
        "/absolute".to_owned(),
        "/relative".to_owned(),
        "/../outside".to_owned(),
        "/d/e/../../../outside".to_owned(),
        "/d/../relative/../outside".to_owned(),
        format!("/process{below_root}"),
        format!("/top{below_root}"),
        format!("/proc/self/root{below_root}"),
        format!("/proc/self/cwd/../../../../../../../..{below_root}"),
        below_root.clone(),
        "/..".to_owned(),
        "/".to_owned(),
    ];
    let mounted = Rooted::open_confined(&enclosure.path("root")).expect("the root");
    let mounts =
        Mounts::new(Arc::new(Memory::with_standard_files(1 << 20))).mount("/work", Arc::new(mounted), "/");
    for directory in directories {
        attack(&enclosure.files, &directory);
        attack(&mounts, &format!("/work{directory}"));
        assert_eq!(enclosure.outside(), before, "{directory}");
    }
    assert_eq!(enclosure.files.real_path(Path::new("/d")), None);
    let found = enclosure.files.canonicalize(Path::new("/d/e/..")).expect("is there");
    assert_eq!(found, Path::new("/d"));
}

#[test]
fn a_directory_that_is_replaced_while_it_is_used_does_not_lead_out() {
    let enclosure = Enclosure::new();
    let (swapped, link) = (enclosure.path("root/swapped"), enclosure.path("root/link"));
    std::fs::create_dir(&swapped).expect("a directory");
    symlink(enclosure.path("outside"), &link).expect("links");
    let before = enclosure.outside();
    let done = AtomicBool::new(false);
    let exchange = rustix::fs::RenameFlags::EXCHANGE;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let _ =
                    rustix::fs::renameat_with(rustix::fs::CWD, &swapped, rustix::fs::CWD, &link, exchange);
            }
        });
        for _ in 0..RACES {
            let files = &enclosure.files;
            assert!(!is_secret(files, "/swapped/secret"));
            let _ = files.open(Path::new("/swapped/new"), &WRITE);
            let _ = files.create_dir(Path::new("/swapped/dir"), 0o777);
            let _ = files.set_permissions(Path::new("/swapped/secret"), 0o777);
            let _ = files.remove(Path::new("/swapped/dir"));
            let _ = files.remove(Path::new("/swapped/secret"));
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(enclosure.outside(), before);
}

#[test]
fn devices_and_sockets_cannot_be_opened() {
    let enclosure = Enclosure::new();
    let _listener = UnixListener::bind(enclosure.path("root/socket")).expect("a socket");
    let error = enclosure.files.open(Path::new("/socket"), &READ).expect_err("is refused");
    assert_eq!(message(&error), "Permission denied");
    let devices = Rooted::open_confined(Path::new("/dev")).expect("the devices");
    for options in [READ, WRITE] {
        let error = devices.open(Path::new("/null"), &options).expect_err("is refused");
        assert_eq!(message(&error), "Permission denied");
    }
}

#[test]
fn a_moved_root_stays_the_root() {
    let enclosure = Enclosure::new();
    std::fs::write(enclosure.path("root/f"), "inside").expect("a file");
    std::fs::rename(enclosure.path("root"), enclosure.path("outside/root")).expect("moves");
    assert!(!is_secret(&enclosure.files, "/../secret"));
    assert_eq!(enclosure.files.canonicalize(Path::new("/../f")).expect("is there"), Path::new("/f"));
}
