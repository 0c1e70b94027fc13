use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;

use super::*;

struct FileFixture {
    directory: tempfile::TempDir,
}

impl FileFixture {
    fn new() -> FileFixture {
        let directory = tempfile::tempdir().expect("a directory");
        std::fs::create_dir(directory.path().join("project")).expect("a directory");
        std::fs::write(directory.path().join("secret"), "s").expect("a file");
        FileFixture { directory }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn refused(&self, name: &str) -> (FileErrorKind, String) {
        let rules = FileRules::up_to(100).beneath(&self.path("project")).owned_by(&Owners::of_process());
        let error = rules.read(&self.path(name)).expect_err(name);
        (error.kind(), error.reason().to_owned())
    }
}

#[test]
fn only_small_regular_files_within_the_project_are_read() {
    let fixture = FileFixture::new();
    let at = |name: &str| fixture.path(&format!("project/{name}"));
    for (name, target) in [
        ("zero", "/dev/zero"),
        ("key", "../secret"),
        ("absolute", "/etc/passwd"),
        ("broken", "nowhere"),
        ("loop", "loop"),
    ] {
        symlink(target, at(name)).expect("a link");
    }
    rustix::fs::mkfifoat(CWD, at("fifo"), Mode::from_raw_mode(0o600)).expect("a FIFO");
    symlink("fifo", at("to-fifo")).expect("a link");
    std::fs::create_dir(at("directory")).expect("a directory");
    std::fs::write(at("file"), "").expect("a file");
    std::fs::write(at("large"), [b'x'; 101]).expect("a file");
    File::create(at("sparse")).and_then(|file| file.set_len(50 << 30)).expect("a sparse file");
    for (name, kind, reason) in [
        ("zero", FileErrorKind::OutsideDirectory, "it points outside the project, to '/dev/zero'"),
        ("key", FileErrorKind::OutsideDirectory, "it points outside the project"),
        ("absolute", FileErrorKind::OutsideDirectory, "it points outside the project"),
        ("../secret", FileErrorKind::OutsideDirectory, "it points outside the project"),
        ("broken", FileErrorKind::Unreadable, "it is a symbolic link to a file that does not exist"),
        ("loop", FileErrorKind::Unreadable, "too many levels of symbolic links"),
        ("fifo", FileErrorKind::NotRegular, "it is a FIFO, not a regular file"),
        ("to-fifo", FileErrorKind::NotRegular, "it is a FIFO, not a regular file"),
        ("directory", FileErrorKind::NotRegular, "it is a directory, not a regular file"),
        ("large", FileErrorKind::TooLarge, "it is larger than 100 bytes"),
        ("sparse", FileErrorKind::TooLarge, "it is larger than 100 bytes"),
        ("none", FileErrorKind::NotFound, "no such file or directory"),
        ("file/below", FileErrorKind::NotFound, "not a directory"),
    ] {
        let found = fixture.refused(&format!("project/{name}"));
        assert!(found.0 == kind && found.1.starts_with(reason), "{name}: {found:?}");
    }
    std::fs::write(at("good"), "text").expect("a file");
    symlink("good", at("link")).expect("a link");
    let rules = FileRules::up_to(4).beneath(&fixture.path("project"));
    assert_eq!(rules.read(&at("link")).expect("a link within the project"), b"text");
    let device = FileRules::up_to(4).read(Path::new("/dev/zero")).expect_err("a device");
    assert_eq!(device.reason(), "it is a device, not a regular file");
}

#[test]
fn files_that_others_may_write_are_refused_with_the_path() {
    let fixture = FileFixture::new();
    let file = fixture.path("project/file");
    std::fs::write(&file, "").expect("a file");
    let mode = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("a mode");
    };
    let check = || Owners::of_process().check(&file).map_err(|error| error.reason().to_owned());
    let project = fixture.path("project").canonicalize().expect("a path");
    for (file_mode, directory_mode, wrong) in [
        (0o644, 0o755, None),
        (0o666, 0o755, Some("other users may write to it (mode 0666)".to_owned())),
        (0o644, 0o777, Some(format!("other users may write to '{}' (mode 0777)", project.display()))),
        // The sticky bit keeps other users from replacing the file.
        (0o644, 0o1777, None),
        (0o600, 0o700, None),
    ] {
        mode(&file, file_mode);
        mode(&fixture.path("project"), directory_mode);
        assert_eq!(check().err(), wrong, "{file_mode:o} in {directory_mode:o}");
    }
    mode(&fixture.path("project"), 0o777);
    let exempt = Owners::of_process().except(move || vec![project.clone()]);
    exempt.check(&file).expect("exempt");
}

#[test]
fn a_secret_must_be_readable_by_its_owner_only() {
    let fixture = FileFixture::new();
    let file = fixture.path("secret");
    for (mode, good) in [(0o600, true), (0o400, true), (0o640, false), (0o604, false), (0o666, false)] {
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).expect("a mode");
        assert_eq!(Owners::of_process().check_secret(&file).is_ok(), good, "{mode:o}");
    }
}

/// Only root can change the owner of a file.
#[test]
fn files_of_another_user_are_refused() {
    let fixture = FileFixture::new();
    let file = fixture.path("project/file");
    std::fs::write(&file, "").expect("a file");
    let given_away = std::os::unix::fs::chown(fixture.path("project"), Some(65533), None).is_ok();
    assert_eq!(given_away, rustix::process::geteuid().is_root());
    if given_away {
        let error = Owners::of_process().check(&file).expect_err("foreign");
        let project = fixture.path("project").canonicalize().expect("a path");
        assert_eq!(error.reason(), format!("'{}' belongs to another user (65533)", project.display()));
        let hint = error.hint().expect("a hint");
        assert!(hint.ends_with(&format!("run `haft trust --owner '{}'`", project.display())), "{hint}");
    }
}

#[test]
fn reading_from_an_unresponsive_file_system_times_out() {
    let (_keep, wait) = mpsc::channel::<()>();
    let hang = move || {
        let _ = wait.recv();
        Ok(())
    };
    let error = run_with_timeout(Duration::from_millis(20), Path::new("x"), hang)
        .expect("a thread")
        .expect_err("late");
    assert_eq!(error.kind(), FileErrorKind::TimedOut);
}
