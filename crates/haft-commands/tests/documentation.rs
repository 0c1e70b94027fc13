//! `docs/commands.md` is up to date. `HAFT_BLESS=1 cargo test -p haft-commands` regenerates it.

use std::path::Path;

#[test]
fn docs_commands_md_matches_the_descriptors() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/commands.md");
    let expected = haft_commands::documentation();
    if option_env!("HAFT_BLESS").is_some() {
        std::fs::write(&path, &expected).expect("docs/commands.md is writable");
    }
    let actual = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        actual == expected,
        "docs/commands.md is out of date; regenerate it with HAFT_BLESS=1 cargo test -p haft-commands"
    );
}

#[test]
fn every_command_has_one_descriptor_sorted_by_name() {
    let own = [(haft_commands::DESCRIPTORS, haft_commands::TABLE)].into_iter();
    let tables = own.chain(haft_commands::GNU_GROUPS.iter().map(|group| (group.descriptors, group.commands)));
    for (descriptors, commands) in tables {
        let names: Vec<&str> = descriptors.iter().map(|descriptor| descriptor.name).collect();
        let table: Vec<&str> = commands.iter().map(|command| command.name()).collect();
        assert_eq!(names, table);
        assert!(names.is_sorted());
    }
}
