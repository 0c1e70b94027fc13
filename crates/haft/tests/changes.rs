//! `haft run --overlay`, `--dry-run` and `haft changes`.

use std::fs;

use haft_test_support::{FinishedHaft, Haft, Scratch};
use serde_json::Value;

const HAFT: &str = env!("CARGO_BIN_EXE_haft");

/// A project and a home directory.
struct Project {
    scratch: Scratch,
}

impl Project {
    fn new() -> Project {
        let project = Project { scratch: Scratch::new() };
        for directory in ["project/src", "home"] {
            fs::create_dir_all(project.scratch.file(directory)).unwrap();
        }
        fs::write(project.scratch.file("project/notes"), "one\n").unwrap();
        fs::write(project.scratch.file("project/src/main"), "main\n").unwrap();
        project
    }

    fn haft(&self, words: &[&str]) -> FinishedHaft {
        self.by(&[HAFT], words)
    }

    fn by(&self, before: &[&str], words: &[&str]) -> FinishedHaft {
        Haft::by(before)
            .args(words)
            .directory(self.scratch.file("project"))
            .env("HOME", self.scratch.file("home"))
            .env("XDG_STATE_HOME", self.scratch.file("home/state"))
            .env("XDG_CACHE_HOME", self.scratch.file("home/cache"))
            .run()
    }

    fn text(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.scratch.file(&format!("project/{name}"))).ok()
    }

    fn json(&self, words: &[&str]) -> Value {
        serde_json::from_str(&self.haft(words).status(0).output_text()).unwrap()
    }
}

#[test]
fn a_script_in_an_overlay_changes_nothing_until_it_is_committed() {
    let project = Project::new();
    let script = "rm -rf src; echo two >> notes; cat notes; /bin/echo new > added; ls";
    let run = project.haft(&["run", "--overlay", "--overlay-name", "work", "-c", script]).status(0);
    assert_eq!(run.output_text(), "one\ntwo\nadded\nnotes\n", "builtins and programs see the changes");
    assert!(run.error_text().contains("4 changed paths: 1 added, 1 modified, 2 deleted"), "{run}");
    assert_eq!((project.text("notes").as_deref(), project.text("added")), (Some("one\n"), None));
    assert_eq!(project.text("src/main").as_deref(), Some("main\n"));

    let shown = project.haft(&["changes", "show", "work"]).status(0).output_text();
    assert_eq!(
        shown,
        "A added\nM notes\nD src/\nD src/main\n4 changed paths: 1 added, 1 modified, 2 deleted (12 bytes)\n"
    );
    let _ = project.haft(&["changes", "run", "work", "--", "sh", "-c", "echo three >> notes"]).status(0);
    let _ = project.haft(&["changes", "commit", "work"]).status(0);
    assert_eq!(project.text("notes").as_deref(), Some("one\ntwo\nthree\n"));
    assert_eq!(project.text("src/main"), None);

    let _ = project.haft(&["changes", "undo", "work"]).status(0);
    assert_eq!((project.text("notes").as_deref(), project.text("added")), (Some("one\n"), None));
    assert_eq!(project.text("src/main").as_deref(), Some("main\n"));
    let _ = project.haft(&["changes", "discard", "work"]).status(0);
    assert_eq!(project.json(&["changes", "--json"])["overlays"], Value::Array(Vec::new()));
}

#[test]
fn an_unprivileged_user_has_overlays_too() {
    let project = Project::new();
    let program = project.scratch.file("haft");
    fs::copy(HAFT, &program).unwrap();
    let chown = Haft::by(["chown", "-R", "65534:65534"]).arg(project.scratch.path()).run();
    if chown.code() != Some(0) {
        return;
    }
    let user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", &project.scratch.text("haft")];
    let script = "rm -rf src; echo two >> notes; cat notes; id -u";
    let run = project.by(&user, &["run", "--overlay", "--overlay-name", "work", "-c", script]);
    if run.error_text().contains("cannot create a mount namespace") {
        return;
    }
    assert_eq!(run.status(0).output_text(), "one\ntwo\n65534\n");
    assert_eq!(project.text("notes").as_deref(), Some("one\n"));
    let _ = project.by(&user, &["changes", "commit", "work"]).status(0);
    assert_eq!((project.text("notes").as_deref(), project.text("src/main")), (Some("one\ntwo\n"), None));
    let _ = project.by(&user, &["changes", "undo", "work"]).status(0);
    assert_eq!(project.text("src/main").as_deref(), Some("main\n"));
}

#[test]
fn a_dry_run_shows_a_patch_and_keeps_nothing() {
    let project = Project::new();
    let run = project.haft(&["run", "--dry-run", "-c", "sed -i s/one/ONE/ notes; exit 3"]).status(3);
    assert!(run.error_text().contains("-one\n+ONE\n"), "{run}");
    assert_eq!(project.text("notes").as_deref(), Some("one\n"));
    assert_eq!(project.json(&["changes", "--json"])["overlays"], Value::Array(Vec::new()));
}

#[test]
fn the_json_result_says_what_changed() {
    let project = Project::new();
    let result = project.json(&["run", "--overlay", "--json", "-c", "echo x > new"]);
    let overlay = &result["overlay"];
    assert_eq!(overlay["counts"]["added"], 1, "{result}");
    assert_eq!(overlay["first"][0]["kind"], "added");
    let id = overlay["id"].as_str().unwrap();
    let shown = project.json(&["changes", "show", id, "--json"]);
    assert_eq!(shown["changes"][0]["file"]["after"]["size"], 2, "{shown}");
    let committed = project.json(&["changes", "commit", id, "--json"]);
    assert_eq!(committed["paths"], 1);
    assert_eq!(project.text("new").as_deref(), Some("x\n"));
}

#[test]
fn a_run_without_changes_leaves_no_overlay() {
    let project = Project::new();
    let _ = project.haft(&["run", "--overlay", "-c", "cat notes"]).status(0).stdout("one\n");
    assert_eq!(project.json(&["changes", "--json"])["overlays"], Value::Array(Vec::new()));
}

#[test]
fn the_home_directory_is_overlaid_only_by_name() {
    let project = Project::new();
    let home = project.scratch.text("project");
    let run =
        project.by(&["env", &format!("HOME={home}"), HAFT], &["run", "--overlay", "-c", "true"]).status(2);
    assert!(run.error_text().contains("is overlaid only if it is named"), "{run}");
}

#[test]
fn an_unknown_overlay_is_an_error_with_a_hint() {
    let project = Project::new();
    let run = project.haft(&["changes", "show", "nope"]).status(1);
    assert_eq!(run.error_text(), "haft: no overlay 'nope'\nhint: 'haft changes' lists all overlays\n");
}

#[test]
fn a_conflict_names_the_files_and_changes_nothing() {
    let project = Project::new();
    let _ = project
        .haft(&["run", "--overlay", "--overlay-name", "w", "-c", "echo mine > notes; echo x > new"])
        .status(0);
    std::thread::sleep(std::time::Duration::from_millis(50));
    fs::write(project.scratch.file("project/notes"), "theirs\n").unwrap();
    let run = project.haft(&["changes", "commit", "w"]).status(1);
    assert!(run.error_text().contains("1 file has changed outside of the overlay"), "{run}");
    assert_eq!((project.text("notes").as_deref(), project.text("new")), (Some("theirs\n"), None));
    let _ = project.haft(&["changes", "commit", "w", "--except", "notes"]).status(0);
    assert_eq!(
        (project.text("notes").as_deref(), project.text("new").as_deref()),
        (Some("theirs\n"), Some("x\n"))
    );
}

#[test]
fn a_run_that_exceeds_its_disk_limit_ends_and_keeps_its_changes() {
    let project = Project::new();
    let script = "echo two > notes; while :; do head -c 100000 /dev/zero >> big; done";
    let limit = ["run", "--overlay", "--overlay-name", "w", "--limit-disk", "1M"];
    let run = project.haft(&[&limit[..], &["--json", "-c", script]].concat()).status(137);
    let result: Value = serde_json::from_str(&run.output_text()).unwrap();
    assert_eq!(result["status"]["limit"], "disk", "{result}");
    assert_eq!(
        (&result["limits"]["disk"]["asked"], &result["limits"]["disk"]["hit"]),
        (&Value::from(1 << 20), &Value::from(true))
    );
    let shown = project.haft(&["changes", "show", "w"]).status(0).output_text();
    assert!(shown.starts_with("A big\nM notes\n2 changed paths"), "{shown}");
    assert_eq!((project.text("notes").as_deref(), project.text("big")), (Some("one\n"), None));
}

#[test]
fn the_list_says_what_all_overlays_need_and_what_is_old() {
    let project = Project::new();
    let _ = project.haft(&["run", "--overlay", "-c", "echo two > notes"]).status(0);
    let list = project.haft(&["changes"]).status(0);
    assert!(list.error_text().starts_with("haft: 1 overlay, "), "{list}");
    assert!(
        list.error_text().ends_with("; unused ones are removed after 30 days, the oldest above 20.0 GiB\n"),
        "{list}"
    );
}

#[test]
fn a_disk_limit_needs_an_overlay() {
    let project = Project::new();
    let run = project.haft(&["run", "--limit-disk", "1M", "-c", "true"]).status(2);
    assert!(run.error_text().contains("limits the changed files of an overlay"), "{run}");
}
