//! Configuration errors have a position. Each case is a file of `refusals/`: a configuration, a line of
//! dashes, and the message.

use std::fs;

use crate::world::World;

#[test]
fn every_configuration_error_has_a_position_and_a_hint() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/launch/refusals");
    let mut paths: Vec<_> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() >= 20, "the cases are there");
    let mut wrong = Vec::new();
    for path in paths {
        let case = fs::read_to_string(&path).unwrap();
        let (config, expected) = case.split_once("---\n").unwrap();
        let world = World::new().with_agents(&["claude"]).with_file("project/.haft/config.toml", config);
        let said = world.haft(&["launch", "x"]).run().status(2).error_text();
        if said != expected {
            wrong.push(format!("{}:\n{said}", path.display()));
        }
        assert!(!world.has_started());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
