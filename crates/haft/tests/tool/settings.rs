//! The configuration of tools, and its errors.

use std::time::Duration;

use crate::scene::{haft, scene, tool, write};

const CONFIG: &str = "home/.config/haft/config.toml";

#[test]
fn settings_and_toolsets_are_applied() {
    let scratch = scene();
    let config = "[tools]\nschema_timeout = 20\ntimeout = 0.5\n[[toolset]]\nname = 'few'\ntools = ['gl*']\n";
    write(&scratch, CONFIG, config);
    write(
        &scratch,
        "home/.config/haft/tools/slow-tool",
        "#!/bin/sh\nif [ \"$1\" = --schema ]; then echo '{\"name\": \"slow\", \"description\": \"x\", \"parameters\": {}}'; exit; fi\nsleep 60\n",
    );
    let _ = tool(&scratch, &["call", "slow"]).run().status(124).stderr_has("did not answer within 0.5 s");
    let _ = tool(&scratch, &["call", "--toolset", "few", "glob", "pattern=*"]).run().status(0);
    let _ = tool(&scratch, &["call", "--toolset", "few", "add", "a=1"])
        .run()
        .status(126)
        .stderr_has("not in the toolset 'few'");
    let _ = tool(&scratch, &["call", "--toolset", "fwe", "add", "a=1"])
        .run()
        .status(2)
        .stderr_has("did you mean 'few'?");
}

#[test]
fn silent_servers_are_probed_in_parallel_within_the_timeout() {
    let scratch = scene();
    let server = |name: &str| format!("[[mcp]]\nname = '{name}'\ncommand = ['sleep', '600']\n");
    write(&scratch, CONFIG, &["one", "two", "three"].map(server).concat());
    for name in ["anything", "two.anything"] {
        let run = tool(&scratch, &["call", "--timeout", "1s", name]).run().status(124);
        let run = run.stderr_has(&format!(
            "the MCP servers that may have '{name}' did not list their tools within 1s"
        ));
        let _ = run.within(Duration::from_secs(10));
    }
}

/// A configuration, and the message about it.
const FAULTS: &[(&str, &str)] = &[
    (
        "[tools]\ntimout = 5\n",
        "unknown key 'timout' in [tools]\n --> CONFIG:2:1\n  |\n2 | timout = 5\n  | ^^^^^^\nhint: did you mean 'timeout'?",
    ),
    ("[tools]\ntimeout = \"5\"\n", "expected a number, found a string in [tools]\n --> CONFIG:2:11"),
    ("[tools]\nschema_timeout = -1\n", "invalid time -1 (expected seconds)\n --> CONFIG:2:18"),
    ("[[toolset]]\nname = \"x\"\ntool = []\n", "unknown key 'tool' in [[toolset]] 'x'\n --> CONFIG:3:1"),
    (
        "[[toolset]]\nname = \"x\"\ntools = \"y\"\n",
        "expected an array, found a string in [[toolset]] 'x'\n --> CONFIG:3:9",
    ),
    ("[[toolset]]\nname = \"x\"\n", "missing"),
    (
        "[[mcp]]\nname = \"x\"\ncommand = \"y\"\n",
        "expected an array, found a string in [[mcp]] 'x'\n --> CONFIG:3:11",
    ),
    ("[toolset]\nname = \"x\"\n", "section 'toolset' must be an array of tables"),
    ("[tools\n", "CONFIG:1:7"),
];

#[test]
fn configuration_errors_are_reported_by_commands_and_scripts() {
    for (config, fault) in FAULTS {
        let scratch = scene();
        write(&scratch, CONFIG, config);
        let fault = fault.replace("CONFIG", &scratch.text(CONFIG));
        let _ = tool(&scratch, &["call", "add", "a=1"]).run().status(2).stdout("").stderr_has(&fault);
        // A script runs nevertheless, and prints the message once.
        let run =
            haft(&scratch).args(["-c", "add a=1; add a=2; echo done"]).run().status(0).stderr_has(&fault);
        assert!(run.output_text().ends_with("\ndone\n"), "{run}");
        assert_eq!(run.error_text().matches(fault.as_str()).count(), 1, "{run}");
    }
}

#[test]
fn an_untrusted_project_configuration_is_reported_where_it_matters() {
    let scratch = scene();
    let config = "work/.haft/config.toml";
    write(&scratch, config, "[[context]]\nname = 'c'\nfile = 'f'\n");
    let _ = tool(&scratch, &["call", "add", "a=1"]).run().status(0).stderr("working\n");
    write(&scratch, config, "[[toolset]]\nname = 'few'\ntools = ['glob']\n");
    let _ = tool(&scratch, &["call", "add", "a=1"]).run().status(0).stderr_has("is not trusted and ignored");
    let _ = haft(&scratch).args(["trust", "--yes"]).run().status(0);
    let _ = tool(&scratch, &["call", "add", "a=1"]).run().status(0).stderr("working\n");
    let _ = tool(&scratch, &["call", "--toolset", "few", "add", "a=1"]).run().status(126);
}
