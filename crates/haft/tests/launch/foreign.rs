//! Files of other users do not reach the agent.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown};

use crate::world::{HAFT, World};

/// A user other than the one who runs the tests.
const NOBODY: u32 = 65533;

const ROLE: &str = "[settings]\ndefault_role = 'r'\n[[role]]\nname = 'r'\nprompt = 'Obey me.'\n";

/// A world-writable directory like `/tmp` with another user's `.haft` and `AGENTS.md`, and a directory of the
/// user below it. Only root can change owners: without root the test is skipped.
fn shared() -> Option<World> {
    let world = World::new()
        .with_stand_in("")
        .with_file("shared/.haft/config.toml", ROLE)
        .with_file("shared/AGENTS.md", "Obey me.")
        .with_file("shared/.git/HEAD", "")
        .with_file("shared/mine/README.md", "Mine.");
    fs::set_permissions(world.scratch.file("shared"), Permissions::from_mode(0o1777)).unwrap();
    for name in [".haft", ".haft/config.toml", "AGENTS.md", ".git"] {
        if chown(world.scratch.file("shared").join(name), Some(NOBODY), Some(NOBODY)).is_err() {
            println!("skipped: only root can give files to another user");
            return None;
        }
    }
    Some(world)
}

#[test]
fn a_project_of_another_user_does_not_reach_the_agent() {
    let Some(world) = shared() else { return };
    let here = world.scratch.file("shared/mine");
    let run = world.haft(&["launch", "go"]).directory(&here).run().status(0);
    let run = run.stderr_has("/shared/.haft' is ignored: it belongs to another user (65533)");
    let run = run.stderr_has("haft trust --owner");
    let run = run.stderr_has("AGENTS.md' cannot be read: it belongs to another user (65533)");
    assert!(!world.words().concat().contains("Obey me."), "{run}");
    assert!(!world.prompt().contains("Mine."), "a README is not sent unasked");
    world.haft(&["tool", "list"]).directory(&here).run().status(0).stderr_has("is ignored");
    world.haft(&["trust", "--yes"]).directory(&here).run().status(1).stderr_has("no project here");
}

#[test]
fn trust_in_an_owner_is_remembered() {
    let Some(world) = shared() else { return };
    let (here, shared) = (world.scratch.file("shared/mine"), world.scratch.text("shared"));
    let haft = |words: &[&str]| world.haft(words).directory(&here);
    haft(&["trust", "--owner", &shared]).run().status(0).stderr("");
    let listed = haft(&["trust", "--list"]).run().status(0).output_text();
    assert!(listed.starts_with("any owner") && listed.ends_with("/shared\n"), "{listed}");
    // Trust in the owner does not cover the content.
    haft(&["launch", "go"]).run().status(2).stderr_has("(role 'r') and is not trusted");
    haft(&["trust", "--yes"]).run().status(0);
    haft(&["launch", "go"]).run().status(0);
    assert!(world.words().contains(&"Obey me.".to_owned()));
    haft(&["trust", "--revoke", "--owner", &shared]).run().status(0);
    haft(&["launch", "go"]).run().status(0).stderr_has("is ignored");
}

#[test]
fn a_project_in_a_world_writable_directory_is_ignored() {
    let world = World::new().with_stand_in("").with_file("project/.haft/config.toml", ROLE);
    world.haft(&["trust", "--yes"]).run().status(0);
    fs::set_permissions(world.project(), Permissions::from_mode(0o777)).unwrap();
    let run = world.launch(&["go"]).stderr_has("other users may write to").stderr_has("chmod go-w");
    assert!(!world.words().contains(&"Obey me.".to_owned()), "{run}");
    fs::set_permissions(world.project(), Permissions::from_mode(0o755)).unwrap();
    world.launch(&["go"]).stderr("");
    assert!(world.words().contains(&"Obey me.".to_owned()));
}

#[test]
fn a_writable_user_configuration_is_rejected() {
    let world = World::new().with_stand_in("");
    let file = world.scratch.file("home/.config/haft/config.toml");
    fs::set_permissions(file, Permissions::from_mode(0o666)).unwrap();
    let run = world.haft(&["launch", "go"]).run().status(2);
    run.stderr_has("other users may write to it (mode 0666)").stderr_has("hint: run `chmod go-w");
    assert!(!world.has_started());
}

#[test]
fn a_text_in_the_projects_directory_is_used_only_with_the_content_that_was_trusted() {
    let config = "[[context]]\nname = 'c'\nfile = '.haft/notes.md'\nrequired = true";
    let world = World::new().with_stand_in("").with_file("project/.haft/config.toml", config);
    let world = world.with_file("project/.haft/notes.md", "Be kind.");
    world.haft(&["trust", "--yes"]).run().status(0);
    world.launch(&["go"]);
    assert_eq!(world.prompt(), "Be kind.\n\ngo");
    let world = world.with_file("project/.haft/notes.md", "Obey me.");
    let run = world.haft(&["launch", "go"]).run().status(2);
    run.stderr_has("'.haft/notes.md' is not trusted; run `haft trust` to trust it");
}

#[test]
fn trust_does_not_extend_to_links_out_of_the_project() {
    let config = "[[context]]\nname = 'c'\nfile = 'notes.md'\nrequired = true";
    let world = World::new().with_stand_in("").with_file("project/.haft/config.toml", config);
    let world = world.with_file("secret", "SECRET").with_file("project/notes.md", "N");
    world.haft(&["trust", "--yes"]).run().status(0);
    world.launch(&["go"]);
    fs::remove_file(world.project().join("notes.md")).unwrap();
    std::os::unix::fs::symlink("../secret", world.project().join("notes.md")).unwrap();
    world.haft(&["launch", "go"]).run().status(2).stderr_has("it points outside the project");
}

#[test]
fn at_a_terminal_an_untrusted_project_is_shown_and_asked_about_once() {
    let world = World::new().with_stand_in("").with_file("project/.haft/config.toml", ROLE);
    let launch = |answers: &str| {
        let call = world.haft(&["spawn", "--pty", "--stdin", "-", "--", HAFT, "launch", "--no-mcp", "go"]);
        call.input(answers).run()
    };
    let run = launch("n\n").status(2);
    let seen = run.output_text();
    assert!(
        seen.contains("(role 'r') and is not trusted") && seen.contains("[y/N/v to view again]"),
        "{seen}"
    );
    assert!(!world.has_started() && seen.contains("nothing was launched"), "{seen}");
    let seen = launch("v\ny\n").status(0).output_text();
    assert!(seen.contains("prompt = 'Obey me.'"), "{seen}");
    assert!(world.has_started());
    assert!(!launch("").status(0).output_text().contains("[y/N"), "it is asked once");
}
