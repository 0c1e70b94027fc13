//! `haft mcp install` and `haft mcp uninstall`.

use haft_test_support::{Haft, Scratch};

use crate::client::HAFT;

/// A call with a home directory of its own.
fn haft(home: &Scratch) -> Haft {
    let call = Haft::new(HAFT).env("HOME", home.path()).env("XDG_CONFIG_HOME", home.file(".config"));
    call.directory(home.path())
}

fn read(home: &Scratch, file: &str) -> String {
    std::fs::read_to_string(home.file(file)).unwrap_or_default()
}

#[test]
fn an_agent_is_connected_and_disconnected_without_another_change() {
    let agents = [
        ("claude", ".claude.json", "{\n  \"theme\": \"dark\" // mine\n}\n"),
        ("codex", ".codex/config.toml", "# mine\nmodel = \"x\"\n"),
        ("vscode", ".config/Code/User/mcp.json", "{\n\t\"servers\": {\n\t\t\"a\": {}, // first\n\t},\n}\n"),
        ("zed", ".config/zed/settings.json", "// Zed\n{ \"vim_mode\": true }\n"),
        ("gemini", ".gemini/settings.json", "{}\n"),
    ];
    for (agent, file, text) in agents {
        let home = Scratch::new();
        std::fs::create_dir_all(home.file(file).parent().unwrap()).unwrap();
        std::fs::write(home.file(file), text).unwrap();
        let run = haft(&home).args(["mcp", "install", agent, "--yes"]).run().status(0);
        assert!(run.output_text().contains("+++ ") && run.output_text().contains(HAFT), "{run}");
        let installed = read(&home, file);
        assert!(installed.contains(HAFT) && installed != text, "{agent}: {installed}");
        haft(&home)
            .args(["mcp", "install", agent, "--yes"])
            .run()
            .status(0)
            .stdout("")
            .stderr_has("is already in");
        assert_eq!(read(&home, file), installed, "{agent}");
        haft(&home).args(["mcp", "uninstall", agent, "--yes"]).run().status(0);
        assert_eq!(read(&home, file), text, "{agent}");
        haft(&home).args(["mcp", "uninstall", agent, "--yes"]).run().status(0).stderr_has("is not in");
    }
}

#[test]
fn nothing_is_written_without_consent_or_into_a_file_that_is_not_understood() {
    let home = Scratch::new();
    let run = haft(&home).args(["mcp", "install", "claude"]).run().status(1);
    run.stderr_has("nothing was written: no terminal to ask at").stderr_has("--yes");
    assert!(!home.file(".claude.json").exists());
    std::fs::write(home.file(".claude.json"), "{ \"mcpServers\": [").unwrap();
    let run = haft(&home).args(["mcp", "install", "claude", "--yes"]).run().status(1);
    run.stderr_has("cannot edit").stderr_has("haft mcp --print-config claude");
    assert_eq!(read(&home, ".claude.json"), "{ \"mcpServers\": [");
}

#[test]
fn a_project_names_haft_without_a_path_and_links_stay() {
    let home = Scratch::new();
    haft(&home).args(["mcp", "install", "claude", "--project", "--yes"]).run().status(0);
    let text = read(&home, ".mcp.json");
    assert!(text.contains("\"command\": \"haft\"") && !text.contains(HAFT), "{text}");
    std::fs::create_dir(home.file("dotfiles")).unwrap();
    std::fs::write(home.file("dotfiles/claude"), "{}").unwrap();
    std::os::unix::fs::symlink("dotfiles/claude", home.file(".claude.json")).unwrap();
    haft(&home).args(["mcp", "install", "claude", "--yes"]).run().status(0);
    assert!(home.file(".claude.json").is_symlink() && read(&home, "dotfiles/claude").contains(HAFT));
}

#[test]
fn a_printed_configuration_says_where_it_belongs() {
    let home = Scratch::new();
    for (agent, file) in
        [("vscode", "Code/User/mcp.json, or .vscode/mcp.json in a project"), ("goose", "config.yaml")]
    {
        haft(&home).args(["mcp", "--print-config", agent]).run().status(0).stderr_has(file);
    }
}
