//! `kill -9` at a random moment of a commit or undo: afterwards the tree is wholly as before or wholly as after.
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "the tests compare with programs that haft did not start"
)]

mod support;

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use haft_overlay::{OnConflict, OverlayStore, Selection};

use support::{Place, Random, assert_same, shell_in, snapshot};

/// Names the work of a child process: `commit` or `undo`.
const WORK: &str = "HAFT_CRASH_WORK";
const STATE: &str = "HAFT_CRASH_STATE";
const ID: &str = "HAFT_CRASH_ID";

const SCRIPT: &str = "
for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do echo $n > c/file-$n; mkdir -p made/$n; echo x > made/$n/y; done
rm -rf a; echo changed > top; rm -rf empty; echo now-a-file > empty; mv c/lines lines; chmod 700 'with space'
";

/// How many times a process is killed. `HAFT_BATTERY` sets another number.
fn count() -> u64 {
    std::env::var("HAFT_BATTERY").ok().and_then(|text| text.parse().ok()).unwrap_or(10)
}

/// The child process of the test below: commits or takes back. Does nothing when it runs as a test of its own.
#[test]
fn crash_child() {
    let (Ok(work), Ok(state), Ok(id)) = (std::env::var(WORK), std::env::var(STATE), std::env::var(ID)) else {
        return;
    };
    let store = OverlayStore::new(vec![PathBuf::from(state)]);
    let mut overlay = store.find(&id).expect("the overlay");
    println!("begin");
    let done = match work.as_str() {
        "commit" => overlay.commit(&Selection::all(), OnConflict::Refuse),
        _ => overlay.undo(OnConflict::Refuse),
    };
    done.expect("success");
}

#[test]
fn a_killed_commit_or_undo_is_completed_or_taken_back() {
    let mut random = Random::new(7);
    let place = Place::new();
    let before = snapshot(&place.tree, true);
    let Some(mut overlay) = place.overlay() else { return };
    shell_in(overlay.namespaces().expect("namespaces"), &place.tree, SCRIPT);
    let id = overlay.id().to_owned();
    overlay.commit(&Selection::all(), OnConflict::Refuse).expect("a commit");
    let after = snapshot(&place.tree, false);
    overlay.undo(OnConflict::Refuse).expect("an undo");
    drop(overlay);
    let (mut committed, mut interrupted) = (false, 0);
    for round in 0..count() {
        let work = if committed { "undo" } else { "commit" };
        kill_at_random(&place, work, &id, &mut random);
        for (_, repaired) in place.store.repair() {
            interrupted += 1;
            repaired.unwrap_or_else(|error| panic!("round {round}, {work}: {error}"));
        }
        let now = snapshot(&place.tree, false);
        committed = now == after;
        if !committed {
            assert_same(
                &snapshot(&place.tree, true),
                &before,
                &format!("round {round}, {work}: not committed"),
            );
        }
    }
    println!("{interrupted} of {} were interrupted", count());
}

fn kill_at_random(place: &Place, work: &str, id: &str, random: &mut Random) {
    use std::io::{BufRead as _, BufReader};
    let program = std::env::current_exe().expect("this program");
    let mut child = Command::new(program)
        .args(["--exact", "crash_child", "--nocapture"])
        .env(WORK, work)
        .env(STATE, place.state())
        .env(ID, id)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("a child");
    let output = BufReader::new(child.stdout.take().expect("its output"));
    for line in output.lines().map_while(Result::ok) {
        if line.contains("begin") {
            std::thread::sleep(Duration::from_micros(random.below(20_000) as u64));
            break;
        }
    }
    let _ = child.kill();
    child.wait().expect("its end");
}
