//! Random changes by real programs: an overlay that is discarded leaves nothing, a commit is what the programs would have
//! done without an overlay, and an undo brings everything back.
#![expect(clippy::disallowed_methods, reason = "a test reads its own settings")]

mod support;

use haft_overlay::{OnConflict, Selection};

use support::{Place, Random, assert_same, random_script, shell, shell_in, snapshot};

/// How many sets of changes are tried. `HAFT_BATTERY` sets another number.
fn count() -> u64 {
    std::env::var("HAFT_BATTERY").ok().and_then(|text| text.parse().ok()).unwrap_or(12)
}

#[test]
fn discard_commit_and_undo_are_exact_for_random_changes() {
    let first: u64 = std::env::var("HAFT_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    for seed in first..first + count() {
        println!("seed {seed}");
        let script = random_script(&mut Random::new(seed));
        if !try_changes(&script, &format!("seed {seed}:\n{script}")) {
            return;
        }
    }
}

fn try_changes(script: &str, about: &str) -> bool {
    let place = Place::new();
    let original = snapshot(&place.tree, true);

    let Some(mut discarded) = place.overlay() else { return false };
    shell_in(discarded.namespaces().expect("namespaces"), &place.tree, script);
    assert_same(&snapshot(&place.tree, true), &original, &format!("untouched while open, {about}"));
    discarded.discard().expect("a discard");
    assert_same(&snapshot(&place.tree, true), &original, &format!("discard, {about}"));

    let Some(mut overlay) = place.overlay() else { return false };
    shell_in(overlay.namespaces().expect("namespaces"), &place.tree, script);
    let changes = overlay.changes().expect("changes");
    let mut patch = Vec::new();
    overlay.write_diff(&changes, &mut patch).expect("a diff");
    if let Err(error) = overlay.commit(&Selection::all(), OnConflict::Refuse) {
        panic!("commit: {error}, {about}");
    }
    let committed = snapshot(&place.tree, false);

    let plain = Place::new();
    shell(&plain.tree, script);
    assert_same(
        &committed,
        &snapshot(&plain.tree, false),
        &format!("commit (left) without overlay (right), {about}"),
    );

    if let Err(error) = overlay.undo(OnConflict::Refuse) {
        panic!("undo: {error}, {about}");
    }
    assert_same(&snapshot(&place.tree, true), &original, &format!("undo, {about}"));
    if let Err(error) = overlay.commit(&Selection::all(), OnConflict::Refuse) {
        panic!("second commit: {error}, {about}");
    }
    assert_same(&snapshot(&place.tree, false), &committed, &format!("second commit, {about}"));
    true
}
