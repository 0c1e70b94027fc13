//! `docs/commands.md` describes the commands as they are. `HAFT_BLESS=1` writes it anew.

use std::path::Path;

#[test]
fn the_documentation_describes_the_commands() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/commands.md");
    let expected = haft_commands::documentation();
    if option_env!("HAFT_BLESS").is_some() {
        std::fs::write(&path, &expected).expect("the documentation is written");
    }
    let actual = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(actual == expected, "docs/commands.md is not up to date; HAFT_BLESS=1 cargo test writes it anew");
}

#[test]
fn every_command_is_described_once_and_in_order() {
    let names: Vec<&str> = haft_commands::DESCRIPTORS.iter().map(|descriptor| descriptor.name).collect();
    let table: Vec<&str> = haft_commands::TABLE.iter().map(|command| command.name()).collect();
    assert_eq!(names, table);
    assert!(names.is_sorted());
}
