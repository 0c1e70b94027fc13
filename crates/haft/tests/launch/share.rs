//! `add`, `search`, `remove` and `order`: sharing roles, contexts, tasks and agents.

use crate::world::World;

const TEAM: &str = "# who reviews\n[[role]]\nname = 'reviewer'\nfile = 'docs/reviewer.md' # long\ndescription = 'Looks closely'\n\n\
                    [[task]]\nname = 'release'\nprompt = 'Release {instructions}.'\nrole = 'reviewer'\n";

fn world() -> World {
    let world = World::new().with_stand_in("# mine\n[[context]]\nname = 'a'\nprompt = 'A'\ndefault = true\n");
    world
        .with_file("team/.haft/config.toml", TEAM)
        .with_file("team/docs/reviewer.md", "You review.\u{1b}[31m\n")
}

#[test]
fn an_item_of_a_checkout_is_shown_and_copied_with_its_file() {
    let world = world();
    let team = world.scratch.text("team");
    let add = ["add", "role", "reviewer", "--from", &team];
    let run = world.haft(&["launch"]).args(add).run().status(1);
    let run = run.stderr_has("# who reviews\n[[role]]\n").stderr_has("You review.");
    assert!(!run.error_text().contains('\u{1b}'), "{run}");
    run.stderr_has("nothing was changed: no terminal to ask at");
    world
        .launch(&["add", "role", "reviewer", "--from", &team, "--yes"])
        .stdout("changed ~/.config/haft/config.toml\n");
    world.launch(&["-a", "it", "-r", "reviewer", "prompt", "go"]);
    assert_eq!(world.words()[..2], ["--role", "You review.\u{1b}[31m\n"]);
    let text = world.read(world.scratch.file("home/.config/haft/config.toml"));
    assert!(text.starts_with("# mine\n[[context]]\n"), "{text}");
    assert!(text.contains("file = \"~/.config/haft/roles/reviewer.md\"\n"), "{text}");
    world
        .haft(&["launch"])
        .args(add)
        .args(["--yes"])
        .run()
        .status(2)
        .stderr_has("hint: --replace replaces it");
    world.launch(&["add", "role", "reviewer", "--from", &team, "--yes", "--replace"]);
    world.launch(&["remove", "role", "reviewer", "--yes"]);
    assert!(!world.scratch.file("home/.config/haft/roles/reviewer.md").exists());
    world.haft(&["launch", "show", "role/reviewer"]).run().status(2);
}

#[test]
fn an_item_that_does_not_fit_is_refused() {
    let world = world();
    let team = world.scratch.text("team");
    let add =
        |words: &[&str]| world.haft(&["launch", "add"]).args(words).args(["--from", &team, "--yes"]).run();
    add(&["task", "release"]).status(2).stderr_has("unknown role 'reviewer'");
    add(&["task", "relaese"]).status(2).stderr_has("hint: it has release");
    add(&["role", "reviewer", "--project"])
        .status(0)
        .stdout("changed .haft/config.toml; `haft trust` allows it to be used\n");
    assert!(
        world
            .read(world.project().join(".haft/config.toml"))
            .contains("file = \".haft/roles/reviewer.md\"\n")
    );
    world.haft(&["launch", "-a", "it", "-r", "reviewer", "go"]).run().status(2).stderr_has("haft trust");
}

#[test]
fn a_text_file_becomes_an_item() {
    let world =
        world().with_file("project/notes.md", "N").with_file("project/texts/tasks/ship.md", "Ship it.");
    world.launch(&["add", "context", "notes", "--from", "notes.md", "--yes"]);
    world.launch(&["add", "task", "ship", "--from", "texts", "--yes"]);
    world.launch(&["-a", "it", "task", "ship", "-c", "notes"]);
    assert_eq!(world.prompt(), "N\n\nShip it.");
    world
        .haft(&["launch", "add", "agent", "x", "--from", "notes.md"])
        .run()
        .status(2)
        .stderr_has("not a configuration file");
}

#[test]
fn search_finds_names_descriptions_and_texts() {
    let world = world();
    let run = world.launch(&["search", "CLAUDE"]);
    assert!(run.output_text().contains("agent/claude  Claude Code  # haft's defaults:"), "{run}");
    let team = world.scratch.text("team");
    let run = world.launch(&["search", "closely", "--from", &team]);
    assert!(run.output_text().starts_with("role/reviewer  Looks closely  # "), "{run}");
    world.haft(&["launch", "search", "nothing-like-it"]).run().status(1).stdout("");
}

#[test]
fn order_changes_the_order_of_contexts() {
    let world = World::new().with_stand_in(
        "[[context]]\nname = 'a'\nprompt = 'A'\ndefault = true\n[[context]]\nname = 'b'\nprompt = 'B'\ndefault = true",
    );
    world.launch(&["order", "context", "b"]);
    world.launch(&["go"]);
    assert_eq!(world.prompt(), "B\n\nA\n\ngo");
    world.haft(&["launch", "order", "context", "c"]).run().status(2).stderr_has("no context 'c'");
}
