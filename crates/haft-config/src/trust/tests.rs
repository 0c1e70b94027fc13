use std::path::PathBuf;

use super::*;

struct TrustFixture {
    _directory: tempfile::TempDir,
    state: PathBuf,
    file: PathBuf,
}

fn scene() -> TrustFixture {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("x-tool");
    std::fs::write(&file, "one").expect("a file");
    TrustFixture { state: directory.path().join("state/haft"), file, _directory: directory }
}

impl TrustFixture {
    fn trust(&self) -> TrustStore {
        TrustStore::open(Some(&self.state))
    }

    fn hash(&self) -> ContentHash {
        ContentHash::of_file(&self.file).expect("a file")
    }
}

#[test]
fn trust_lapses_when_the_content_changes_and_comes_back_with_it() {
    let scene = scene();
    let trust = scene.trust();
    assert_eq!(trust.status(&scene.file, &scene.hash()), TrustStatus::New);
    trust.trust([(scene.file.as_path(), scene.hash())]).expect("trusted");
    assert_eq!(trust.status(&scene.file, &scene.hash()), TrustStatus::Trusted);
    std::fs::write(&scene.file, "two").expect("a file");
    assert_eq!(trust.status(&scene.file, &scene.hash()), TrustStatus::Changed);
    std::fs::write(&scene.file, "one").expect("a file");
    assert!(trust.is_trusted(&scene.file, &scene.hash()));
}

#[test]
fn the_same_content_elsewhere_is_not_trusted() {
    let scene = scene();
    scene.trust().trust([(scene.file.as_path(), scene.hash())]).expect("trusted");
    let other = scene.file.with_file_name("y-tool");
    std::fs::copy(&scene.file, &other).expect("a copy");
    assert!(!scene.trust().is_trusted(&other, &scene.hash()));
}

#[test]
fn a_file_has_one_name_however_its_directory_is_reached() {
    let scene = scene();
    let directory = scene.file.parent().expect("a parent");
    let link = directory.join("link");
    std::os::unix::fs::symlink(directory, &link).expect("a link");
    scene.trust().trust([(link.join("x-tool").as_path(), scene.hash())]).expect("trusted");
    assert!(scene.trust().is_trusted(&scene.file, &scene.hash()));
}

#[test]
fn a_directory_is_revoked_with_all_that_is_below_and_nothing_beside() {
    let scene = scene();
    let directory = scene.file.parent().expect("a parent").to_path_buf();
    std::fs::create_dir(directory.join("sub")).expect("a directory");
    let (inside, beside) = (directory.join("sub/a"), directory.join("subordinate"));
    let hash = scene.hash();
    let trust = scene.trust();
    trust.trust([(inside.as_path(), hash.clone()), (beside.as_path(), hash.clone())]).expect("trusted");
    let revoked = trust.revoke(&directory.join("sub")).expect("revoked");
    assert_eq!(revoked.len(), 1);
    assert!(!trust.is_trusted(&inside, &hash) && trust.is_trusted(&beside, &hash));
}

#[test]
fn writers_take_turns_and_lose_nothing() {
    let scene = scene();
    let hash = scene.hash();
    let directory = scene.file.parent().expect("a parent");
    std::thread::scope(|threads| {
        for writer in 0..8 {
            let (trust, hash) = (scene.trust(), &hash);
            threads.spawn(move || {
                for number in 0..5 {
                    let path = directory.join(format!("{writer}-{number}"));
                    trust.trust([(path.as_path(), hash.clone())]).expect("trusted");
                }
            });
        }
    });
    assert_eq!(scene.trust().list().expect("a list").len(), 40);
    let left: Vec<_> = std::fs::read_dir(&scene.state).expect("a directory").flatten().collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn a_damaged_store_trusts_nothing_and_is_not_overwritten() {
    let scene = scene();
    let trust = scene.trust();
    trust.trust([(scene.file.as_path(), scene.hash())]).expect("trusted");
    let store = scene.state.join("trust.json");
    std::fs::write(&store, "{\"trusted\": [").expect("a file");
    assert!(!trust.is_trusted(&scene.file, &scene.hash()));
    let error = trust.trust([(scene.file.as_path(), scene.hash())]).expect_err("damaged");
    assert_eq!(error.kind(), ErrorKind::Damaged);
    assert_eq!(std::fs::read(&store).expect("a file"), b"{\"trusted\": [");
}

#[test]
fn without_a_home_nothing_is_trusted_and_nothing_can_be() {
    let scene = scene();
    let trust = TrustStore::open(None);
    assert!(!trust.is_trusted(&scene.file, &scene.hash()));
    let error = trust.trust([(scene.file.as_path(), scene.hash())]).expect_err("no_state_directory");
    assert_eq!(error.kind(), ErrorKind::NoStateDirectory);
    assert_eq!(trust.list().expect("a list"), []);
}
