use std::path::PathBuf;

use super::*;

struct TrustFixture {
    _directory: tempfile::TempDir,
    state: PathBuf,
    file: PathBuf,
}

fn fixture() -> TrustFixture {
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
fn trust_lapses_when_the_content_changes_and_returns_with_it() {
    let fixture = fixture();
    let trust = fixture.trust();
    assert_eq!(trust.status(&fixture.file, &fixture.hash()), TrustStatus::New);
    trust.trust([(fixture.file.as_path(), fixture.hash())]).expect("trusted");
    assert_eq!(trust.status(&fixture.file, &fixture.hash()), TrustStatus::Trusted);
    std::fs::write(&fixture.file, "two").expect("a file");
    assert_eq!(trust.status(&fixture.file, &fixture.hash()), TrustStatus::Changed);
    std::fs::write(&fixture.file, "one").expect("a file");
    assert!(trust.is_trusted(&fixture.file, &fixture.hash()));
}

#[test]
fn the_same_content_under_another_path_is_not_trusted() {
    let fixture = fixture();
    fixture.trust().trust([(fixture.file.as_path(), fixture.hash())]).expect("trusted");
    let other = fixture.file.with_file_name("y-tool");
    std::fs::copy(&fixture.file, &other).expect("a copy");
    assert!(!fixture.trust().is_trusted(&other, &fixture.hash()));
}

#[test]
fn a_file_has_one_key_regardless_of_links_to_its_directory() {
    let fixture = fixture();
    let directory = fixture.file.parent().expect("a parent");
    let link = directory.join("link");
    std::os::unix::fs::symlink(directory, &link).expect("a link");
    fixture.trust().trust([(link.join("x-tool").as_path(), fixture.hash())]).expect("trusted");
    assert!(fixture.trust().is_trusted(&fixture.file, &fixture.hash()));
}

#[test]
fn revoking_a_directory_revokes_everything_beneath_it_and_nothing_else() {
    let fixture = fixture();
    let directory = fixture.file.parent().expect("a parent").to_path_buf();
    std::fs::create_dir(directory.join("sub")).expect("a directory");
    let (inside, sibling) = (directory.join("sub/a"), directory.join("subordinate"));
    let hash = fixture.hash();
    let trust = fixture.trust();
    trust.trust([(inside.as_path(), hash.clone()), (sibling.as_path(), hash.clone())]).expect("trusted");
    let revoked = trust.revoke(&directory.join("sub")).expect("revoked");
    assert_eq!(revoked.len(), 1);
    assert!(!trust.is_trusted(&inside, &hash) && trust.is_trusted(&sibling, &hash));
}

#[test]
fn concurrent_writers_lose_nothing() {
    let fixture = fixture();
    let hash = fixture.hash();
    let directory = fixture.file.parent().expect("a parent");
    std::thread::scope(|threads| {
        for writer in 0..8 {
            let (trust, hash) = (fixture.trust(), &hash);
            threads.spawn(move || {
                for number in 0..5 {
                    let path = directory.join(format!("{writer}-{number}"));
                    trust.trust([(path.as_path(), hash.clone())]).expect("trusted");
                }
            });
        }
    });
    assert_eq!(fixture.trust().list().expect("a list").len(), 40);
    let left: Vec<_> = std::fs::read_dir(&fixture.state).expect("a directory").flatten().collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn a_corrupt_store_trusts_nothing_and_is_not_overwritten() {
    let fixture = fixture();
    let trust = fixture.trust();
    trust.trust([(fixture.file.as_path(), fixture.hash())]).expect("trusted");
    let store = fixture.state.join("trust.json");
    std::fs::write(&store, "{\"trusted\": [").expect("a file");
    assert!(!trust.is_trusted(&fixture.file, &fixture.hash()));
    let error = trust.trust([(fixture.file.as_path(), fixture.hash())]).expect_err("corrupt");
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert_eq!(std::fs::read(&store).expect("a file"), b"{\"trusted\": [");
}

#[test]
fn without_a_state_directory_nothing_is_or_can_be_trusted() {
    let fixture = fixture();
    let trust = TrustStore::open(None);
    assert!(!trust.is_trusted(&fixture.file, &fixture.hash()));
    let error = trust.trust([(fixture.file.as_path(), fixture.hash())]).expect_err("no state directory");
    assert_eq!(error.kind(), ErrorKind::NoStateDirectory);
    assert_eq!(trust.list().expect("a list"), []);
}
