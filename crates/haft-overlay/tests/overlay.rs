//! Overlays as an application uses them.

mod support;

use std::fs;
use std::time::Duration;

use haft_overlay::{ChangeKind, Error, OnConflict, OverlayState, OverlayStore, Retention, Selection};

use support::{Place, assert_same, shell_in, snapshot};

macro_rules! open {
    ($place:expr, $script:expr) => {{
        let Some(mut overlay) = $place.overlay() else { return };
        shell_in(overlay.namespaces().expect("namespaces"), &$place.tree, $script);
        overlay
    }};
}

#[test]
fn changes_are_listed_with_their_kind() {
    let place = Place::new();
    let overlay = open!(
        place,
        "echo x > new; echo y >> top; rm blob; chmod 600 void; mv c/lines moved; touch -c a/one; cat link >/dev/null"
    );
    let changes = overlay.changes().expect("changes");
    let shown: Vec<(char, String)> = changes
        .iter()
        .map(|change| {
            let path = change.path.strip_prefix(&place.tree).expect("a path in the tree");
            (change.kind.letter(), path.display().to_string())
        })
        .collect();
    let expected = [('T', "a/one"), ('D', "blob"), ('R', "moved"), ('A', "new"), ('M', "top"), ('T', "void")];
    assert_eq!(shown, expected.map(|(letter, path)| (letter, path.to_owned())));
    let moved = changes.iter().find(|change| change.kind == ChangeKind::Renamed).expect("a rename");
    assert_eq!(moved.renamed_from.as_deref(), Some(place.tree.join("c/lines").as_path()));
}

#[test]
fn a_diff_can_be_applied_with_patch() {
    let place = Place::new();
    let overlay =
        open!(place, "sed -i 's/line 5/changed/' c/lines; echo new > added; rm a/one; ln -sf top link");
    let mut patch = Vec::new();
    overlay.write_diff(&overlay.changes().expect("changes"), &mut patch).expect("a diff");
    let text = String::from_utf8(patch).expect("text");
    assert!(text.contains("--- a/c/lines\n+++ b/c/lines\n"), "{text}");
    assert!(text.contains("-line 5\n+changed\n"), "{text}");
    assert!(
        text.contains("new file mode 100644\n--- /dev/null\n+++ b/added\n@@ -0,0 +1 @@\n+new\n"),
        "{text}"
    );
    assert!(text.contains("deleted file mode 100644\n--- a/a/one\n+++ /dev/null\n"), "{text}");
}

#[test]
fn a_part_is_committed_and_the_rest_stays() {
    let place = Place::new();
    let mut overlay = open!(
        place,
        "mkdir -p new/deep; echo 1 > new/deep/kept; echo 2 > new/left; rm -rf a; echo x > a; echo 3 > top; rm -rf c"
    );
    let chosen = vec![place.tree.join("new/deep"), place.tree.join("c/four")];
    let selection = Selection::new(chosen, &[]).expect("a selection");
    overlay.commit(&selection, OnConflict::Refuse).expect("a commit");
    assert!(place.tree.join("new/deep/kept").exists() && !place.tree.join("new/left").exists());
    assert!(!place.tree.join("c/four").exists() && place.tree.join("c/lines").exists());
    assert!(place.tree.join("a/one").exists());

    let namespaces = overlay.namespaces().expect("namespaces");
    shell_in(
        namespaces,
        &place.tree,
        "test -f new/deep/kept && test -f new/left && test -f a && ! test -e c || rm -rf top",
    );
    assert_eq!(overlay.summary().state, OverlayState::Open);
    overlay.commit(&Selection::all(), OnConflict::Refuse).expect("the rest");
    assert!(place.tree.join("new/left").exists() && place.tree.join("a").is_file());
    assert!(!place.tree.join("c").exists());
    assert_eq!(
        fs::read_to_string(place.tree.join("top")).expect("a file"),
        "3\n",
        "the overlay showed all changes"
    );
}

#[test]
fn commits_are_taken_back_one_by_one() {
    let place = Place::new();
    let before = snapshot(&place.tree, true);
    let mut overlay = open!(place, "rm -rf a; mkdir a; echo 1 > a/new; echo 2 > top; rm -rf 'with space'");
    let first = Selection::new(vec![place.tree.join("a")], &["x*".to_owned()]).expect("a selection");
    overlay.commit(&first, OnConflict::Refuse).expect("a commit");
    overlay.commit(&Selection::all(), OnConflict::Refuse).expect("a commit");
    let id = overlay.id().to_owned();
    drop(overlay);
    let mut overlay = place.store.find(&id).expect("the overlay, as another process finds it");
    overlay.undo(OnConflict::Refuse).expect("an undo");
    overlay.undo(OnConflict::Refuse).expect("an undo");
    assert!(matches!(overlay.undo(OnConflict::Refuse), Err(Error::State { .. })));
    assert_same(&snapshot(&place.tree, true), &before, "after both");
}

#[test]
fn a_file_that_changed_outside_is_a_conflict() {
    let place = Place::new();
    let mut overlay = open!(place, "echo mine > top; echo mine > new; rm -rf a; echo fine > c/four");
    // Later than the tick of the clock in which the overlay was opened.
    std::thread::sleep(Duration::from_millis(50));
    fs::write(place.tree.join("top"), "theirs").expect("a file");
    fs::write(place.tree.join("new"), "theirs").expect("a file");
    fs::write(place.tree.join("a/b/two"), "theirs").expect("a file");
    let before = snapshot(&place.tree, true);
    let Err(Error::Conflicts(conflicts)) = overlay.commit(&Selection::all(), OnConflict::Refuse) else {
        panic!("a conflict")
    };
    let paths: Vec<_> =
        conflicts.iter().map(|conflict| conflict.path.strip_prefix(&place.tree).expect("a path")).collect();
    assert_eq!(paths, ["a/b/two", "new", "top"].map(std::path::Path::new));
    assert_same(&snapshot(&place.tree, true), &before, "nothing is half committed");

    let except = ["a".to_owned(), "new".to_owned(), "top".to_owned()];
    let rest = Selection::new(Vec::new(), &except).expect("a selection");
    overlay.commit(&rest, OnConflict::Refuse).expect("the rest");
    assert_eq!(fs::read_to_string(place.tree.join("c/four")).expect("a file"), "fine\n");
    overlay.commit(&Selection::all(), OnConflict::Overwrite).expect("the others, by force");
    assert_eq!(fs::read_to_string(place.tree.join("top")).expect("a file"), "mine\n");
}

#[test]
fn an_undo_refuses_files_that_changed_after_the_commit() {
    let place = Place::new();
    let mut overlay = open!(place, "echo mine > top");
    overlay.commit(&Selection::all(), OnConflict::Refuse).expect("a commit");
    std::thread::sleep(Duration::from_millis(50));
    fs::write(place.tree.join("top"), "later").expect("a file");
    assert!(matches!(overlay.undo(OnConflict::Refuse), Err(Error::Conflicts(_))));
    overlay.undo(OnConflict::Overwrite).expect("by force");
    assert_eq!(fs::read_to_string(place.tree.join("top")).expect("a file"), "no newline");
}

#[test]
fn an_overlay_in_use_is_left_alone() {
    let place = Place::new();
    let overlay = open!(place, "echo x > new");
    assert!(matches!(place.store.find(overlay.id()), Err(Error::InUse(_))));
    let nothing = Retention { age: Some(Duration::ZERO), bytes: None };
    assert_eq!(place.store.prune(nothing).expect("a prune"), Vec::<String>::new());
    let id = overlay.id().to_owned();
    drop(overlay);
    assert_eq!(place.store.prune(nothing).expect("a prune"), [id]);
    assert!(place.store.list().is_empty());
}

#[test]
fn a_removed_overlay_is_gone_before_its_files() {
    let place = Place::new();
    let overlay =
        open!(place, "mkdir -p new/inner; echo x > new/inner/file; chmod 0 new/inner; chmod 500 new");
    let id = overlay.id().to_owned();
    drop(overlay);
    assert_eq!(place.store.set_aside(&id).expect("removed"), id);
    assert!(place.store.list().is_empty());
    assert!(matches!(place.store.find(&id), Err(Error::Unknown(_))));
    assert_eq!(fs::read_dir(place.state()).expect("the state").count(), 1, "its files are still there");
    assert!(!place.store.sweep_for(Duration::ZERO), "there was no time");
    place.store.sweep();
    assert_eq!(fs::read_dir(place.state()).expect("the state").count(), 0);
}

#[test]
fn the_overlay_that_was_not_used_for_longest_goes_first_if_all_need_too_much_space() {
    let place = Place::new();
    let script = "head -c 100000 /dev/zero > zeros";
    let (first, second) = (open!(place, script), open!(place, script));
    for overlay in [&first, &second] {
        overlay.changes().expect("changes");
    }
    let old = [first.id().to_owned()];
    // The time of an overlay's directory says when it was used.
    let directory = fs::File::open(place.state().join(second.id())).expect("its directory");
    let later = std::time::SystemTime::now() + Duration::from_secs(60);
    directory.set_modified(later).expect("a time");
    drop((first, second));
    let keep = Retention { age: None, bytes: Some(150_000) };
    assert_eq!(place.store.prune_quickly(Retention::default()).expect("a prune"), Vec::<String>::new());
    assert_eq!(place.store.prune_quickly(keep).expect("a prune"), old);
    assert_eq!(place.store.prune(keep).expect("a prune"), Vec::<String>::new());
}

#[test]
fn a_store_inside_the_tree_is_refused() {
    let place = Place::new();
    let store = OverlayStore::new(vec![place.tree.join("state")]);
    let error = store.create(std::slice::from_ref(&place.tree), None).expect_err("no place");
    assert!(error.to_string().contains("no directory outside of it"), "{error}");
    assert!(!place.tree.join("state").exists());
}

#[test]
fn two_trees_are_committed_together_and_must_not_contain_each_other() {
    let (one, two) = (Place::new(), Place::new());
    let trees = [one.tree.clone(), two.tree.clone()];
    let mut overlay = match one.store.create(&trees, Some("pair")) {
        Ok(overlay) => overlay,
        Err(Error::Namespace(_)) => return,
        Err(error) => panic!("{error}"),
    };
    let script = format!("echo 1 > new; echo 2 > '{}/new'", two.tree.display());
    shell_in(overlay.namespaces().expect("namespaces"), &one.tree, &script);
    assert_eq!(overlay.changes().expect("changes").len(), 2);
    overlay.commit(&Selection::all(), OnConflict::Refuse).expect("a commit");
    assert!(one.tree.join("new").exists() && two.tree.join("new").exists());
    drop(overlay);
    one.store.find("pair").expect("by its name");

    let inner = [one.tree.clone(), one.tree.join("a")];
    assert!(matches!(one.store.create(&inner, None), Err(Error::Unsuitable { .. })));
}

#[test]
fn a_tree_on_another_file_system_is_copied() {
    let Ok(shared) = tempfile::tempdir_in("/dev/shm") else { return };
    let place = Place::new();
    let store = OverlayStore::new(vec![shared.path().join("state")]);
    let before = snapshot(&place.tree, true);
    let mut overlay = match store.create(std::slice::from_ref(&place.tree), None) {
        Ok(overlay) => overlay,
        Err(Error::Namespace(error)) => return eprintln!("skipped: {error}"),
        Err(error) => panic!("{error}"),
    };
    let script = "echo 1 > top; rm -rf a; mkdir -p new/deep; echo x > new/deep/y; ln new/deep/y new/z; mv c/lines lines";
    shell_in(overlay.namespaces().expect("namespaces"), &place.tree, script);
    overlay.commit(&Selection::all(), OnConflict::Refuse).expect("a commit");
    let plain = Place::new();
    support::shell(&plain.tree, script);
    assert_same(&snapshot(&place.tree, false), &snapshot(&plain.tree, false), "commit (left), plain (right)");
    overlay.undo(OnConflict::Refuse).expect("an undo");
    assert_same(&snapshot(&place.tree, true), &before, "undo");
}

#[test]
fn an_overlay_whose_directory_is_gone_can_be_removed() {
    let place = Place::new();
    let overlay = open!(place, "echo x > new");
    let id = overlay.id().to_owned();
    drop(overlay);
    fs::remove_dir_all(&place.tree).expect("removed");
    assert!(place.store.find(&id).is_err());
    assert_eq!(place.store.discard(&id).expect("a discard"), id);
    assert!(place.store.list().is_empty());
}
