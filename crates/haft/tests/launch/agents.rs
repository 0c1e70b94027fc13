//! The command lines of all built-in agents, checked with a stub of each.

use serde::Deserialize as _;
use serde_json::{Map, Value};

use crate::world::{HAFT, World};

/// The cases: the interactive and the batch command line of each agent, with all options.
const CASES: &str = include_str!("agents.json");

fn cases() -> Vec<(String, Map<String, Value>)> {
    let mut reader = serde_json::Deserializer::from_str(CASES);
    let cases = Map::deserialize(&mut reader).expect("the cases are an object");
    cases
        .into_iter()
        .map(|(agent, case)| (agent, case.as_object().expect("a case is an object").clone()))
        .collect()
}

fn world(bin: &str) -> World {
    World::new().with_agents(&[bin]).with_config("[[role]]\nname = 'r'\nprompt = 'ROLE'")
}

/// The words, with the parts that differ between runs replaced.
fn settled(world: &World) -> Vec<String> {
    let settle = |word: String| {
        let word = word.replace(HAFT, "HAFT");
        match (word.find(&world.scratch.text("tmp")), word.rfind('/')) {
            (Some(start), Some(end)) => {
                let rest = &word[end + 1..];
                format!("{}FILES/{rest}", &word[..start])
            }
            _ => word,
        }
    };
    world.words().into_iter().map(settle).collect()
}

fn texts(value: &Value) -> Vec<String> {
    let list = value.as_array().expect("a list").iter();
    list.map(|word| word.as_str().expect("a text").to_owned()).collect()
}

#[test]
fn each_agent_gets_its_own_command_line() {
    for (agent, case) in cases() {
        let bin = case.get("bin").and_then(Value::as_str).unwrap_or(&agent);
        for (form, key) in [("--interactive", "command"), ("--batch", "batch")] {
            let world = world(bin);
            let words =
                ["launch", "-a", &agent, form, "-m", "MODEL", "-r", "r", "prompt", "-", "--", "--extra"];
            world.haft(&words).input("-PROMPT").run().status(0);
            assert_eq!(settled(&world), texts(&case[key]), "{agent} {form}");
            let stdin = case.get(&format!("{key}_stdin")).and_then(Value::as_str).unwrap_or_default();
            assert_eq!(world.stdin(), stdin.as_bytes(), "{agent} {form}");
        }
    }
}

#[test]
fn each_agent_starts_without_a_prompt() {
    for (agent, case) in cases() {
        let bin = case.get("bin").and_then(Value::as_str).unwrap_or(&agent);
        let world = world(bin);
        world.launch(&["-a", &agent, "--interactive", "--no-mcp", "--no-role"]);
        let bare = case.get("bare").map(texts).unwrap_or_default();
        assert_eq!(settled(&world), bare, "{agent}");
    }
}

#[test]
fn each_agent_takes_a_prompt_larger_than_an_argument() {
    let large = "large ".repeat(50_000);
    for (agent, case) in cases() {
        let bin = case.get("bin").and_then(Value::as_str).unwrap_or(&agent);
        for form in ["--interactive", "--batch"] {
            let world = world(bin).with_file("project/large", &large);
            world.launch(&["-a", &agent, form, "--no-mcp", "large"]);
            let file = world.leftovers().pop().map(|directory| directory.join("prompt.md"));
            let delivered = match file {
                Some(file) => {
                    let named = world.words().iter().any(|word| word.contains(&file.display().to_string()));
                    assert!(named, "{agent} {form}");
                    world.read(file)
                }
                None => String::from_utf8(world.stdin()).unwrap(),
            };
            assert_eq!(delivered, large, "{agent} {form}");
        }
    }
}

#[test]
fn each_agent_with_a_role_of_its_own_takes_a_large_one() {
    let large = "large ".repeat(50_000);
    for (agent, _) in cases().into_iter().filter(|(_, case)| case.contains_key("large_role")) {
        for form in ["--interactive", "--batch"] {
            let world = World::new().with_agents(&[&agent]).with_file("project/large", &large);
            world.launch(&["-a", &agent, form, "--no-mcp", "-r", "./large", "prompt", "x"]);
            let file = world
                .leftovers()
                .pop()
                .unwrap_or_else(|| panic!("{agent} {form} has no file"))
                .join("role.md");
            let named = world.words().iter().any(|word| word.contains(&file.display().to_string()));
            assert!(named && world.read(file) == large, "{agent} {form}");
        }
    }
}

#[test]
fn tools_are_approved_only_in_a_batch_run_and_only_if_allowed() {
    for (agent, case) in cases().into_iter().filter(|(_, case)| case.contains_key("approval")) {
        let approval = case["approval"].as_str().unwrap_or_default();
        for (config, form, expected) in [
            ("", "--batch", true),
            ("", "--interactive", false),
            ("[settings]\napprove_haft = false", "--batch", false),
            ("[settings]\nmcp = false", "--batch", false),
        ] {
            let world = World::new().with_agents(&[&agent]).with_config(config);
            world.launch(&["-a", &agent, form, "prompt", "x"]);
            let found = world.words().iter().any(|word| word == approval);
            assert_eq!(found, expected, "{agent} {form} {config}");
            let trusted = world.report().variable("GEMINI_CLI_TRUST_WORKSPACE").is_some();
            assert_eq!(trusted, expected && agent == "gemini", "{agent} {form} {config}");
        }
    }
}

#[test]
fn each_agent_with_mcp_gets_its_own_configuration() {
    for (agent, case) in cases() {
        let Some(mcp) = case.get("mcp") else { continue };
        let bin = case.get("bin").and_then(Value::as_str).unwrap_or(&agent);
        let world = world(bin);
        world.launch(&["-a", &agent, "prompt", "x"]);
        let variable = case.get("mcp_variable").and_then(Value::as_str);
        let path = match variable {
            Some(name) => world.report().variable(name).unwrap(),
            None => {
                let words = world.words();
                let word = words.iter().find(|word| word.ends_with("mcp.json")).unwrap();
                word.trim_start_matches('@').to_owned()
            }
        };
        let value: Value = serde_json::from_str(&world.read(path).replace(HAFT, "HAFT")).unwrap();
        assert_eq!(&value, mcp, "{agent}");
    }
}

#[test]
fn an_agent_without_haft_in_its_files_is_told_how_to_get_it() {
    let world = World::new().with_agents(&["gemini"]);
    let told =
        |world: &World, words: &[&str]| world.launch(words).error_text().contains("haft mcp install gemini");
    assert!(told(&world, &["-a", "gemini", "prompt", "x"]));
    assert!(!told(&world, &["-a", "gemini", "--no-mcp", "prompt", "x"]));
    let settings = r#"{"mcpServers": {"haft": {"command": "haft", "args": ["mcp"]}}}"#;
    let world = world.with_file("project/.gemini/settings.json", settings);
    assert!(!told(&world, &["-a", "gemini", "prompt", "x"]));
}
