//! Changes that others make in the real tree while an overlay is open.

mod support;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::time::Duration;

use haft_overlay::{ConflictKind, Error, OnConflict, Overlay, Selection};

use support::{Place, assert_same, shell, shell_in, snapshot};

/// An action on the entry `x` of a directory, as a script. `$o` holds other entries to move in.
type Action = (&'static str, &'static str);

const FILE: &str = "echo old > x";
const LINK: &str = "ln -s old x";
const FOLDER: &str = "mkdir x; echo old > x/c; mkdir x/s; echo old > x/s/t";

const FILE_ACTIONS: &[Action] = &[
    ("write", "echo $who >> x"),
    ("replace", "echo $who > y; mv -T y x"),
    ("delete", "rm x"),
    ("mode", "chmod 6$mode x"),
    ("to-link", "ln -sfn $who x"),
    ("to-folder", "rm x; mkdir x; echo $who > x/c"),
    ("move-in", "mv -T $o/file x"),
];
const LINK_ACTIONS: &[Action] = &[
    ("relink", "ln -sfn $who x"),
    ("delete", "rm x"),
    ("to-file", "rm x; echo $who > x"),
    ("to-folder", "rm x; mkdir x; echo $who > x/c"),
];
const NEW_ACTIONS: &[Action] = &[
    ("file", "echo $who > x"),
    ("link", "ln -s $who x"),
    ("move-in", "mv -T $o/file x"),
    ("folder", "mkdir -m 7$mode x; echo $who > x/c"),
];
const FOLDER_ACTIONS: &[Action] = &[
    ("write", "echo $who > x/c"),
    ("delete-inner", "rm x/c"),
    ("delete", "rm -r x"),
    ("mode", "chmod 7$mode x"),
    ("to-file", "rm -r x; echo $who > x"),
    ("anew", "rm -r x; mkdir x; echo $who > x/c; echo $who > x/$who"),
    ("move-in", "mv -T x $o/away; mv -T $o/folder x"),
    ("deep", "echo $who > x/s/t"),
];

/// Every pair of an action inside and one outside, each in a directory of its own.
struct Cases {
    names: Vec<(String, bool)>,
    start: String,
    inside: String,
    outside: String,
}

impl Cases {
    fn new() -> Cases {
        let mut cases =
            Cases { names: Vec::new(), start: String::new(), inside: String::new(), outside: String::new() };
        cases.inside.push_str("set -e; who=mine; mode=50; umask 022\n");
        cases.outside.push_str("set -e; who=theirs; mode=11; umask 022\n");
        cases.start.push_str("umask 022\n");
        for (kind, start, actions) in [
            ("file", FILE, FILE_ACTIONS),
            ("link", LINK, LINK_ACTIONS),
            ("new", ":", NEW_ACTIONS),
            ("folder", FOLDER, FOLDER_ACTIONS),
        ] {
            for inside in actions {
                for outside in actions {
                    cases.add(kind, start, inside, outside);
                }
            }
        }
        cases
    }

    fn add(&mut self, kind: &str, start: &str, inside: &Action, outside: &Action) {
        let name = format!("{kind}-{}-{}", inside.0, outside.0);
        let other = format!("{name}-others");
        let _ = writeln!(
            self.start,
            "mkdir {name} {other}; echo moved > {other}/file; mkdir -p {other}/folder/s; echo old > {other}/folder/c; \
             echo old > {other}/folder/s/t; (cd {name}; {start})"
        );
        let _ = writeln!(self.inside, "o=../{other}; cd {name}; {}; cd ..", inside.1);
        let _ = writeln!(self.outside, "o=../{other}; cd {name}; {}; cd ..", outside.1);
        let independent = [
            ("write", "deep"),
            ("delete-inner", "deep"),
            ("deep", "write"),
            ("deep", "delete-inner"),
            ("mode", "write"),
            ("mode", "deep"),
        ];
        let is_conflict = match (kind, inside.0, outside.0) {
            // The same was done on both sides.
            (_, "delete", "delete") | ("file" | "new", "move-in", "move-in") => false,
            ("folder", "delete-inner", "delete-inner") => false,
            ("folder", one, other) => !independent.contains(&(one, other)),
            _ => true,
        };
        self.names.push((name, is_conflict));
    }

    /// Fails unless the cases with a conflict are the expected ones.
    fn check(&self, overlay: &mut Overlay, place: &Place) {
        let before = snapshot(&place.tree, true);
        let Err(Error::Conflicts(conflicts)) = overlay.commit(&Selection::all(), OnConflict::Refuse) else {
            panic!("conflicts")
        };
        let found: BTreeSet<&str> = conflicts
            .iter()
            .filter_map(|conflict| conflict.path.strip_prefix(&place.tree).ok()?.iter().next()?.to_str())
            .filter(|name| !name.ends_with("-others"))
            .collect();
        let mut wrong = String::new();
        for (name, is_conflict) in &self.names {
            if found.contains(name.as_str()) != *is_conflict {
                let _ = writeln!(wrong, "{name}: a conflict is {is_conflict}");
            }
        }
        assert!(wrong.is_empty(), "{wrong}");
        assert_same(&snapshot(&place.tree, true), &before, "nothing is half committed");
    }
}

/// Waits until the clock of the file system shows another time than when the overlay was opened.
fn wait_for_the_next_tick(place: &Place) {
    let probe = place.state().join("probe");
    let time = || {
        fs::write(&probe, "x").expect("a file");
        fs::metadata(&probe).expect("its time").modified().expect("its time")
    };
    let first = time();
    while time() == first {
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn every_change_of_others_at_a_changed_path_is_a_conflict() {
    let cases = Cases::new();
    for is_listed in [false, true] {
        let place = Place::new();
        shell(&place.tree, &cases.start);
        let Some(mut overlay) = place.overlay() else { return };
        shell_in(overlay.namespaces().expect("namespaces"), &place.tree, &cases.inside);
        if is_listed {
            overlay.changes().expect("changes");
        }
        wait_for_the_next_tick(&place);
        shell(&place.tree, &cases.outside);
        cases.check(&mut overlay, &place);
    }
}

#[test]
fn unrelated_changes_in_the_same_directory_are_no_conflict() {
    let place = Place::new();
    let Some(mut overlay) = place.overlay() else { return };
    shell_in(
        overlay.namespaces().expect("namespaces"),
        &place.tree,
        "echo new > a/new; rm a/one; ln -s x c/link",
    );
    overlay.changes().expect("changes");
    wait_for_the_next_tick(&place);
    shell(&place.tree, "echo theirs > a/theirs; rm a/b/two; echo 1 > c/theirs; rm c/lines");
    overlay.commit(&Selection::all(), OnConflict::Refuse).expect("a commit");
    shell(&place.tree, "test -e a/new -a ! -e a/one -a -e a/theirs -a -L c/link || echo wrong > wrong");
    assert!(!place.tree.join("wrong").exists());
}

#[test]
fn a_conflict_survives_the_commit_of_other_files() {
    let place = Place::new();
    let Some(mut overlay) = place.overlay() else { return };
    shell_in(
        overlay.namespaces().expect("namespaces"),
        &place.tree,
        "echo 1 > top; echo 1 > a/one; echo 1 > c/four",
    );
    overlay.changes().expect("changes");
    wait_for_the_next_tick(&place);
    shell(&place.tree, "echo theirs > top; rm a/one");
    let rest = Selection::new(Vec::new(), &["top".to_owned(), "one".to_owned()]).expect("a selection");
    overlay.commit(&rest, OnConflict::Refuse).expect("the rest");
    let Err(Error::Conflicts(conflicts)) = overlay.commit(&Selection::all(), OnConflict::Refuse) else {
        panic!("conflicts")
    };
    let kinds: Vec<ConflictKind> = conflicts.iter().map(|conflict| conflict.kind).collect();
    assert_eq!(kinds.len(), 2, "{conflicts:?}");
    assert!(
        kinds.contains(&ConflictKind::Changed) && kinds.contains(&ConflictKind::Removed),
        "{conflicts:?}"
    );
    overlay.commit(&Selection::all(), OnConflict::Overwrite).expect("by force");
    assert_eq!(fs::read_to_string(place.tree.join("a/one")).expect("a file"), "1\n");
}

#[test]
fn an_undo_by_force_replaces_whatever_others_made() {
    let place = Place::new();
    let before = snapshot(&place.tree, false);
    let Some(mut overlay) = place.overlay() else { return };
    let script = "echo 1 > top; echo 1 > new; rm blob; rm -r c; mkdir c; echo 1 > c/x; chmod 700 empty";
    shell_in(overlay.namespaces().expect("namespaces"), &place.tree, script);
    overlay.commit(&Selection::all(), OnConflict::Refuse).expect("a commit");
    wait_for_the_next_tick(&place);
    shell(
        &place.tree,
        "rm top new; mkdir new; echo theirs > blob; rm -r c; echo theirs > c; chmod 711 empty",
    );
    let Err(Error::Conflicts(conflicts)) = overlay.undo(OnConflict::Refuse) else { panic!("conflicts") };
    let mut names: Vec<_> =
        conflicts.iter().map(|conflict| conflict.path.strip_prefix(&place.tree).expect("a path")).collect();
    names.sort();
    assert_eq!(names, ["blob", "c", "empty", "new", "top"].map(std::path::Path::new));
    overlay.undo(OnConflict::Overwrite).expect("by force");
    assert_same(&snapshot(&place.tree, false), &before, "undo");
}

#[test]
fn an_undo_keeps_what_the_overlay_changed_after_the_commit() {
    let place = Place::new();
    let before = snapshot(&place.tree, false);
    let Some(mut overlay) = place.overlay() else { return };
    let script = "mkdir made; echo 1 > made/a; echo 1 > made/b; echo 1 > new; rm -r c; mkdir c; echo 1 > c/x; rm blob; echo 1 > top";
    shell_in(overlay.namespaces().expect("namespaces"), &place.tree, script);
    let part = Selection::new(Vec::new(), &["top".to_owned()]).expect("a selection");
    overlay.commit(&part, OnConflict::Refuse).expect("a commit");
    let later = "echo 2 > made/a; echo 2 > new; echo 2 > c/x; echo 2 > c/y; echo 2 > blob";
    shell_in(overlay.namespaces().expect("namespaces"), &place.tree, later);
    overlay.undo(OnConflict::Refuse).expect("an undo");
    assert_same(&snapshot(&place.tree, false), &before, "undo");
    overlay.commit(&Selection::all(), OnConflict::Refuse).expect("a commit of everything");
    let plain = Place::new();
    shell(&plain.tree, &format!("{script}\n{later}"));
    assert_same(&snapshot(&place.tree, false), &snapshot(&plain.tree, false), "commit (left), plain (right)");
}
