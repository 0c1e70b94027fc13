//! Expectations that hold for all file systems.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft_fs::{
    AccessMode, FileSystem, FileTimes, FileType, Local, Memory, Mounts, OpenOptions, Rooted, TimeChange,
    Timestamp, message,
};

/// Runs a check in a new directory of every file system.
fn on_all_file_systems(check: impl Fn(&dyn FileSystem, &Path)) {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let real = scratch.path().canonicalize().expect("its path");
    for name in ["local", "mounted", "rooted"] {
        Local.create_dir(&real.join(name), 0o755).expect("a directory");
    }
    check(&Local, &real.join("local"));
    let root = std::fs::File::open("/").expect("the root directory");
    check(&Rooted::new(root.into()), &real.join("rooted"));

    let confined = Rooted::open_confined(&real).expect("the scratch directory");
    confined.create_dir(Path::new("/confined"), 0o755).expect("a directory");
    check(&confined, Path::new("/confined"));

    let memory = Memory::new(1 << 20);
    memory.create_dir(Path::new("/work"), 0o755).expect("a directory");
    check(&memory, Path::new("/work"));

    let mounts = Mounts::new(Arc::new(Memory::new(1 << 20))).mount(
        "/real/here",
        Arc::new(Local),
        real.join("mounted"),
    );
    check(&mounts, Path::new("/real/here"));

    let inner = Memory::new(1 << 20);
    inner.create_dir(Path::new("/deep"), 0o755).expect("a directory");
    check(
        &Mounts::new(Arc::new(Local)).mount("/in/memory", Arc::new(inner), "/deep"),
        Path::new("/in/memory"),
    );
}

fn write(files: &dyn FileSystem, path: &Path, text: &[u8]) {
    let options = OpenOptions::new().write(true).create(true).truncate(true);
    files.open(path, &options).expect("opens").write_all(text).expect("writes");
}

fn read(files: &dyn FileSystem, path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut file = files.open(path, &OpenOptions::new().read(true)).expect("opens");
    file.read_to_end(&mut bytes).expect("reads");
    bytes
}

fn names(files: &dyn FileSystem, path: &Path) -> Vec<String> {
    let entries = files.read_dir(path).expect("lists");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").name.to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn failure<T: std::fmt::Debug>(result: io::Result<T>) -> String {
    message(&result.expect_err("fails"))
}

#[test]
fn written_bytes_can_be_read() {
    on_all_file_systems(|files, root| {
        let path = root.join("a");
        write(files, &path, b"one\ntwo\n");
        assert_eq!(read(files, &path), b"one\ntwo\n");
        let metadata = files.metadata(&path).expect("is there");
        assert_eq!((metadata.kind, metadata.size, metadata.links), (FileType::File, 8, 1));
        write(files, &path, b"x");
        assert_eq!(read(files, &path), b"x");
    });
}

#[test]
fn append_writes_at_the_end() {
    on_all_file_systems(|files, root| {
        let path = root.join("a");
        write(files, &path, b"one");
        let mut file = files.open(&path, &OpenOptions::new().read(true).append(true)).expect("opens");
        file.seek(SeekFrom::Start(0)).expect("seeks");
        file.write_all(b"two").expect("writes");
        assert_eq!(read(files, &path), b"onetwo");
    });
}

#[test]
fn clones_share_the_position() {
    on_all_file_systems(|files, root| {
        write(files, &root.join("a"), b"abcd");
        let mut file = files.open(&root.join("a"), &OpenOptions::new().read(true)).expect("opens");
        let mut again = file.try_clone().expect("clones");
        let mut two = [0; 2];
        file.read_exact(&mut two).expect("reads");
        again.read_exact(&mut two).expect("reads");
        assert_eq!(&two, b"cd");
    });
}

#[test]
fn gaps_are_filled_with_zeros() {
    on_all_file_systems(|files, root| {
        let path = root.join("a");
        let mut file = files.open(&path, &OpenOptions::new().write(true).create(true)).expect("opens");
        file.seek(SeekFrom::Start(3)).expect("seeks");
        file.write_all(b"x").expect("writes");
        assert_eq!(read(files, &path), b"\0\0\0x");
    });
}

#[test]
fn modes_are_exact() {
    on_all_file_systems(|files, root| {
        for mode in [0o666, 0o600, 0o640] {
            let path = root.join(format!("{mode:o}"));
            files.open(&path, &OpenOptions::new().write(true).create(true).mode(mode)).expect("opens");
            assert_eq!(files.metadata(&path).expect("is there").mode, mode);
        }
        files.create_dir(&root.join("d"), 0o777).expect("makes");
        assert_eq!(files.metadata(&root.join("d")).expect("is there").mode, 0o777);
    });
}

#[test]
fn open_errors_have_the_systems_messages() {
    on_all_file_systems(|files, root| {
        write(files, &root.join("file"), b"");
        files.create_dir(&root.join("dir"), 0o755).expect("makes");
        let write_only = OpenOptions::new().write(true).create(true);
        let read_only = OpenOptions::new().read(true);
        assert_eq!(failure(files.open(&root.join("none"), &read_only)), "No such file or directory");
        assert_eq!(failure(files.open(&root.join("none/x"), &write_only)), "No such file or directory");
        assert_eq!(failure(files.open(&root.join("file/x"), &read_only)), "Not a directory");
        assert_eq!(failure(files.open(&root.join("file/"), &read_only)), "Not a directory");
        assert_eq!(failure(files.open(&root.join("dir"), &write_only)), "Is a directory");
        assert_eq!(failure(files.open(&root.join("new/"), &write_only)), "Is a directory");
        let new = OpenOptions::new().write(true).create_new(true);
        assert_eq!(failure(files.open(&root.join("file"), &new)), "File exists");
        assert_eq!(failure(files.open(Path::new(""), &read_only)), "No such file or directory");
        assert_eq!(failure(files.open(Path::new("file"), &read_only)), "Invalid argument");
        let mut file = files.open(&root.join("file"), &read_only).expect("opens");
        assert_eq!(failure(file.write(b"x")), "Bad file descriptor");
        let mut directory = files.open(&root.join("dir"), &read_only).expect("opens");
        assert_eq!(failure(directory.read(&mut [0; 4])), "Is a directory");
    });
}

#[test]
fn directories_list_their_entries() {
    on_all_file_systems(|files, root| {
        files.create_dir(&root.join("d"), 0o755).expect("makes");
        write(files, &root.join("f"), b"");
        files.create_symlink(Path::new("f"), &root.join("l")).expect("links");
        assert_eq!(names(files, root), ["d", "f", "l"]);
        for entry in files.read_dir(root).expect("lists") {
            let entry = entry.expect("an entry");
            let kind = files.symlink_metadata(&root.join(&entry.name)).expect("is there").kind;
            assert!(entry.kind.is_none_or(|listed| listed == kind));
        }
        assert_eq!(failure(files.create_dir(&root.join("d"), 0o755)), "File exists");
        assert_eq!(failure(files.create_dir(&root.join("x/y"), 0o755)), "No such file or directory");
        assert!(files.read_dir(&root.join("f")).is_err());
    });
}

#[test]
fn symbolic_links_are_followed_on_request() {
    on_all_file_systems(|files, root| {
        files.create_dir(&root.join("d"), 0o755).expect("makes");
        write(files, &root.join("d/f"), b"content");
        files.create_symlink(Path::new("d"), &root.join("relative")).expect("links");
        files.create_symlink(&root.join("d/f"), &root.join("absolute")).expect("links");
        files.create_symlink(Path::new("nowhere"), &root.join("dangling")).expect("links");
        files.create_symlink(Path::new("loop"), &root.join("loop")).expect("links");
        assert_eq!(read(files, &root.join("relative/f")), b"content");
        assert_eq!(read(files, &root.join("relative/../relative/f")), b"content");
        assert!(files.symlink_metadata(&root.join("relative")).expect("is there").is_symlink());
        assert!(files.symlink_metadata(&root.join("relative/")).expect("is there").is_dir());
        assert_eq!(files.read_link(&root.join("relative")).expect("reads"), Path::new("d"));
        assert_eq!(failure(files.read_link(&root.join("d"))), "Invalid argument");
        assert_eq!(failure(files.metadata(&root.join("dangling"))), "No such file or directory");
        assert_eq!(failure(files.metadata(&root.join("loop"))), "Too many levels of symbolic links");
        assert_eq!(files.canonicalize(&root.join("relative/f")).expect("is there"), root.join("d/f"));
        assert_eq!(files.canonicalize(&root.join("relative/../d/./")).expect("is there"), root.join("d"));
    });
}

#[test]
fn absolute_symbolic_links_are_resolved() {
    let memory = Memory::new(1 << 20);
    write(&memory, Path::new("/f"), b"content");
    memory.create_symlink(Path::new("/f"), Path::new("/l")).expect("links");
    assert_eq!(read(&memory, Path::new("/l")), b"content");
}

#[test]
fn writing_through_a_dangling_link_creates_its_target() {
    on_all_file_systems(|files, root| {
        files.create_symlink(Path::new("target"), &root.join("l")).expect("links");
        write(files, &root.join("l"), b"x");
        assert_eq!(read(files, &root.join("target")), b"x");
    });
}

#[test]
fn remove_deletes_files_links_and_empty_directories() {
    on_all_file_systems(|files, root| {
        files.create_dir(&root.join("d"), 0o755).expect("makes");
        write(files, &root.join("d/f"), b"kept");
        files.create_symlink(Path::new("d"), &root.join("l")).expect("links");
        assert_eq!(failure(files.remove(&root.join("d"))), "Directory not empty");
        assert_eq!(failure(files.remove(&root.join("none"))), "No such file or directory");
        let mut open = files.open(&root.join("d/f"), &OpenOptions::new().read(true)).expect("opens");
        for name in ["l", "d/f", "d"] {
            files.remove(&root.join(name)).expect("removes");
        }
        assert!(names(files, root).is_empty());
        let mut text = String::new();
        open.read_to_string(&mut text).expect("an open file outlives its name");
        assert_eq!(text, "kept");
    });
}

#[test]
fn rename_replaces_the_target() {
    on_all_file_systems(|files, root| {
        write(files, &root.join("a"), b"a");
        write(files, &root.join("b"), b"b");
        files.create_dir(&root.join("d"), 0o755).expect("makes");
        files.rename(&root.join("a"), &root.join("b")).expect("renames");
        assert_eq!(read(files, &root.join("b")), b"a");
        files.rename(&root.join("b"), &root.join("d/c")).expect("renames");
        assert_eq!(names(files, root), ["d"]);
        assert_eq!(failure(files.rename(&root.join("d"), &root.join("d/e"))), "Invalid argument");
        assert_eq!(failure(files.rename(&root.join("none"), &root.join("x"))), "No such file or directory");
        write(files, &root.join("f"), b"");
        assert_eq!(failure(files.rename(&root.join("f"), &root.join("d"))), "Is a directory");
        assert_eq!(failure(files.rename(&root.join("d"), &root.join("f"))), "Not a directory");
    });
}

#[test]
fn access_checks_the_mode() {
    on_all_file_systems(|files, root| {
        let make = |name: &str, mode| {
            let options = OpenOptions::new().write(true).create(true).mode(mode);
            files.open(&root.join(name), &options).expect("opens");
            root.join(name)
        };
        let script = make("script", 0o755);
        let plain = make("plain", 0o644);
        assert!(files.access(&script, AccessMode::EXECUTE).is_ok());
        assert_eq!(failure(files.access(&plain, AccessMode::EXECUTE)), "Permission denied");
        assert!(files.access(&plain, AccessMode::READ).is_ok());
        assert!(files.access(&plain, AccessMode::default()).is_ok());
        assert_eq!(
            failure(files.access(&root.join("none"), AccessMode::default())),
            "No such file or directory"
        );
    });
}

#[test]
fn the_parent_of_the_root_is_the_root() {
    on_all_file_systems(|files, root| {
        let path: PathBuf = Path::new("/../..").join(root.strip_prefix("/").expect("is absolute"));
        assert!(files.is_dir(&path));
        assert_eq!(files.canonicalize(&path).expect("is there"), root);
    });
}

#[test]
fn device_and_inode_identify_a_file() {
    on_all_file_systems(|files, root| {
        write(files, &root.join("a"), b"");
        write(files, &root.join("b"), b"");
        files.create_symlink(Path::new("a"), &root.join("l")).expect("links");
        let of = |name: &str| files.metadata(&root.join(name)).expect("is there");
        assert!(of("a").same_file(&of("l")));
        assert!(!of("a").same_file(&of("b")));
        let open = files.open(&root.join("a"), &OpenOptions::new().read(true)).expect("opens");
        assert!(open.metadata().expect("is open").same_file(&of("a")));
    });
}

#[test]
fn hard_links_are_names_of_the_same_file() {
    on_all_file_systems(|files, root| {
        write(files, &root.join("a"), b"one");
        files.create_dir(&root.join("d"), 0o755).expect("makes");
        files.create_symlink(Path::new("a"), &root.join("s")).expect("links");
        files.hard_link(&root.join("a"), &root.join("b")).expect("links");
        files.hard_link(&root.join("s"), &root.join("t")).expect("links a symbolic link itself");
        let of = |name: &str| files.symlink_metadata(&root.join(name)).expect("is there");
        assert!(of("a").same_file(&of("b")) && of("s").same_file(&of("t")) && of("t").is_symlink());
        assert_eq!((of("a").links, of("t").links), (2, 2));
        write(files, &root.join("b"), b"two");
        files.remove(&root.join("b")).expect("removes");
        assert_eq!((read(files, &root.join("a")).as_slice(), of("a").links), (b"two".as_slice(), 1));
        assert_eq!(failure(files.hard_link(&root.join("a"), &root.join("s"))), "File exists");
        assert_eq!(failure(files.hard_link(&root.join("x"), &root.join("y"))), "No such file or directory");
        assert_eq!(failure(files.hard_link(&root.join("d"), &root.join("e"))), "Operation not permitted");
    });
}

#[test]
fn permissions_and_times_can_be_set() {
    on_all_file_systems(|files, root| {
        write(files, &root.join("a"), b"");
        files.create_symlink(Path::new("a"), &root.join("s")).expect("links");
        files.set_permissions(&root.join("s"), 0o4751).expect("follows the link");
        assert_eq!(files.metadata(&root.join("a")).expect("is there").mode, 0o4751);
        let time = |seconds| Timestamp { seconds, nanoseconds: 5 };
        let times = FileTimes {
            accessed: TimeChange::At(time(1000)),
            modified: TimeChange::At(time(-2000)),
            keep_link: false,
        };
        files.set_times(&root.join("s"), &times).expect("follows the link");
        let link = FileTimes { modified: TimeChange::At(time(3000)), keep_link: true, ..Default::default() };
        files.set_times(&root.join("s"), &link).expect("changes the link");
        let of = |name: &str| files.symlink_metadata(&root.join(name)).expect("is there");
        assert_eq!((of("a").accessed, of("a").modified), (time(1000), time(-2000)));
        assert_eq!(of("s").modified, time(3000));
        let now = FileTimes { modified: TimeChange::Now, ..Default::default() };
        files.set_times(&root.join("a"), &now).expect("changes");
        assert!(of("a").modified > time(4000) && of("a").accessed == time(1000));
        let metadata = of("a");
        files.set_owner(&root.join("a"), Some(metadata.uid), Some(metadata.gid)).expect("changes nothing");
        assert_eq!(failure(files.set_permissions(&root.join("x"), 0)), "No such file or directory");
    });
}

#[test]
fn files_can_be_cut_off_and_continued() {
    on_all_file_systems(|files, root| {
        let path = root.join("a");
        write(files, &path, b"12345");
        let file = files.open(&path, &OpenOptions::new().write(true)).expect("opens");
        file.set_size(2).expect("cuts off");
        assert_eq!(read(files, &path), b"12");
        file.set_size(4).expect("continues");
        assert_eq!(read(files, &path), b"12\0\0");
        let read_only = files.open(&path, &OpenOptions::new().read(true)).expect("opens");
        assert_eq!(failure(read_only.set_size(0)), "Invalid argument");
    });
}

#[test]
fn only_empty_directories_are_removed_as_directories() {
    on_all_file_systems(|files, root| {
        files.create_dir(&root.join("d"), 0o755).expect("makes");
        write(files, &root.join("d/f"), b"");
        assert_eq!(failure(files.remove_dir(&root.join("d"))), "Directory not empty");
        assert_eq!(failure(files.remove_dir(&root.join("d/f"))), "Not a directory");
        assert_eq!(failure(files.remove_dir(&root.join("x"))), "No such file or directory");
        files.remove(&root.join("d/f")).expect("removes");
        files.remove_dir(&root.join("d")).expect("removes");
        assert!(names(files, root).is_empty());
    });
}
