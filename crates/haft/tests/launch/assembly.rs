//! The prompt that reaches the agent: contexts, placeholders, hostile contents, sizes.

use crate::world::{HAFT, World};

/// Text that a shell, a template or an option parser could interpret.
const HOSTILE: &str =
    "-x --help '\"`id` $(id) ${HOME} {prompt} {model} {{ }} \\ \n\t*?[a] ; | & > < # ~ ! % é\u{1b}[31m\r\n";

#[test]
fn required_default_and_selected_contexts_come_in_order() {
    let contexts = "[[context]]\nname = 'a'\nprompt = 'A'\ndefault = true\n\
                    [[context]]\nname = 'b'\nprompt = 'B'\nrequired = true\n\
                    [[context]]\nname = 'c'\nprompt = 'C'\ntags = ['more', 'x']\n\
                    [[context]]\nname = 'deep'\nprompt = 'D'\ntags = ['more']\n\
                    [[task]]\nname = 'review'\nalias = 'rv'\nprompt = 'Review.'\n\
                    [[task]]\nname = 'fix'\nprompt = 'Fix {instructions}!'";
    let world = World::new().with_stand_in(contexts).with_file("project/notes.md", "N");
    for (words, expected) in [
        (&["go"][..], "A\n\nB\n\ngo"),
        (&["prompt", "go"], "B\n\ngo"),
        (&["prompt", "go", "-c", "c"], "B\n\nC\n\ngo"),
        (&["-c", "more", "prompt", "go"], "B\n\nC\n\nD\n\ngo"),
        (&["prompt", "go", "-c", "dee"], "B\n\nD\n\ngo"),
        (&["prompt", "go", "-c", "notes.md"], "B\n\nFrom notes.md:\n\nN\n\ngo"),
        (&["task", "review"], "B\n\nReview."),
        (&["task", "rv", "soon"], "B\n\nReview.\n\nsoon"),
        (&["task", "fi", "it"], "B\n\nFix it!"),
        (&["notes.md"], "A\n\nB\n\nN"),
        (&["--no-mcp"], "A\n\nB"),
    ] {
        world.launch(words);
        assert_eq!(world.prompt(), expected, "{words:?}");
    }
    world.haft(&["launch", "-"]).input("from a pipe").run().status(0);
    assert_eq!(world.prompt(), "A\n\nB\n\nfrom a pipe");
}

#[test]
fn hostile_contents_arrive_byte_for_byte_through_every_placeholder() {
    let world = World::new()
        .with_stand_in(
            "[[context]]\nname = 'file'\nfile = 'hostile'\nrequired = true\n\
             [[context]]\nname = 'filled'\nfile = 'hostile'\nprompt = '<{file_contents}>'\nrequired = true\n\
             [[context]]\nname = 'command'\ncommand = 'cat hostile'\nrequired = true\n\
             [[context]]\nname = 'output'\ncommand = ['cat', 'hostile']\nprompt = '<{command_output}>'\nrequired = true\n\
             [[context]]\nname = 'variable'\nprompt = '<{env.HOSTILE}>'\nrequired = true\n\
             [[role]]\nname = 'r'\nfile = 'hostile'\n\
             [[task]]\nname = 't'\nprompt = '<{instructions}>'",
        )
        .with_file("project/hostile", HOSTILE);
    let call = world.haft(&["launch", "task", "t", "-", "-r", "r", &format!("--model={HOSTILE}")]);
    call.input(HOSTILE).env("HOSTILE", HOSTILE).run().status(0);
    let words = world.words();
    assert_eq!(words[..4], ["--model", HOSTILE, "--role", HOSTILE]);
    let (text, angled) = (HOSTILE, format!("<{HOSTILE}>"));
    assert_eq!(words[6], format!("{text}\n{angled}\n\n{text}\n{angled}\n\n{angled}\n\n{angled}"));
}

#[test]
fn invalid_utf8_arrives_unchanged() {
    let bytes: Vec<u8> = (1..=255).collect();
    let world = World::new()
        .with_stand_in("[[context]]\nname = 'b'\nfile = 'bytes'\nrequired = true")
        .with_file("project/bytes", &bytes);
    world.launch(&[]);
    assert_eq!(world.argv().pop().unwrap(), bytes);
}

#[test]
fn values_in_a_shell_line_are_quoted() {
    let line = r#"it plain {prompt} "double {prompt}" 'single {prompt}' ${NONE:-default} {model:json}"#;
    let world = World::new()
        .with_agents(&["it"])
        .with_config(&format!("[[agent]]\nname = 'sh'\nbin = 'it'\nshell = true\ncommand = '''{line}'''"));
    let call = world.haft(&["launch", "-a", "sh", "-m", "a\"b", "-", "--", "-v", HOSTILE]);
    call.input(HOSTILE).run().status(0);
    let expected = [
        "plain",
        HOSTILE,
        &format!("double {HOSTILE}"),
        &format!("single {HOSTILE}"),
        "default",
        r#""a\"b""#,
        "-v",
        HOSTILE,
    ];
    assert_eq!(world.words(), expected);
}

#[test]
fn large_prompts_use_another_delivery_or_are_rejected() {
    let large = HOSTILE.repeat((300 << 10) / HOSTILE.len() + 1);
    let with = |more: &str| {
        let agent = format!(
            "[[agent]]\nname = 'it'\n{more}\n[[context]]\nname = 'l'\nfile = 'large'\nrequired = true"
        );
        World::new().with_agents(&["it"]).with_config(&agent).with_file("project/large", &large)
    };
    let world = with("command = ['{bin}', ['{prompt}'], ['--file', '{prompt_file}']]");
    world.launch(&[]);
    let words = world.words();
    assert_eq!((words.len(), words[0].as_str()), (2, "--file"));
    assert_eq!(world.read(&words[1]), large);
    let world = with("command = ['{bin}', ['{prompt}']]\nprompt = ['argv', 'stdin']");
    world.launch(&[]);
    assert!(world.words().is_empty());
    assert_eq!(world.stdin(), large.as_bytes());
    assert!(world.leftovers().is_empty(), "standard input needs no file");
    let world = with("command = ['{bin}', ['{prompt}']]\nprompt = 'argv'");
    let run = world
        .haft(&["launch"])
        .run()
        .status(2)
        .stderr_has(&format!("argument 1 is {} bytes long", large.len()));
    run.stderr_has("hint: use fewer contexts");
    assert!(!world.has_started());
}

#[test]
fn a_large_role_is_written_to_a_file() {
    let large = "r".repeat(200_000);
    let world = World::new().with_agents(&["claude"]).with_file("project/large", &large);
    let world = world.with_config("[[role]]\nname = 'big'\nfile = 'large'");
    world.launch(&["-r", "big", "--no-mcp", "x"]);
    let words = world.words();
    assert_eq!(words[1], "--append-system-prompt-file");
    assert_eq!(world.read(&words[2]), large);
}

#[test]
fn every_delivery_works() {
    for (agent, expected, stdin) in [
        ("command = ['{bin}', 'a', '{prompt}']\nprompt = 'argv'", &["a", "do it"][..], ""),
        ("command = ['{bin}', 'a']\nprompt = 'stdin'", &["a"], "do it"),
        ("command = ['{bin}', 'a']", &["a"], "do it"),
        ("command = ['{bin}']\nenv = { TASK = '{prompt}' }\nprompt = 'env'", &[], ""),
        ("command = ['{bin}']\nenv = { TASK = '{prompt}' }", &[], ""),
        ("", &["do it"], ""),
    ] {
        let world = World::new().with_agents(&["it"]);
        let world = world.with_config(&format!("[[agent]]\nname = 'it'\n{agent}"));
        world.launch(&["prompt", "do it"]);
        assert_eq!(world.words(), expected, "{agent}");
        assert_eq!(world.stdin(), stdin.as_bytes(), "{agent}");
        assert_eq!(world.report().variable("TASK").is_some(), agent.contains("TASK"), "{agent}");
    }
}

#[test]
fn empty_values_remove_groups_and_variables() {
    let world = World::new().with_agents(&["it"]).with_config(
        "[[agent]]\nname = 'it'\nmodels = { large = 'large-2', small = 'small-1' }\n\
         command = ['{bin}', ['--model', '{model}'], ['run', ['--as', '{role}'], '{prompt}'], 'end']\n\
         env = { MODEL = 'm-{model}', FIXED = 'f' }\n\
         [[role]]\nname = 'r'\nprompt = 'R'",
    );
    world.launch(&[]);
    assert_eq!(world.words(), ["end"]);
    assert_eq!(world.report().variable("MODEL"), None);
    assert_eq!(world.report().variable("FIXED").as_deref(), Some("f"));
    for (model, id) in
        [("large", "large-2"), ("sma", "small-1"), ("other-3", "other-3"), ("a", "a"), ("small-1", "small-1")]
    {
        world.launch(&["-m", model, "prompt", "x"]);
        assert_eq!(world.words(), ["--model", id, "run", "x", "end"]);
    }
    world.launch(&["-r", "r", "prompt", "x"]);
    assert_eq!(world.words(), ["run", "--as", "R", "x", "end"]);
}

#[test]
fn a_role_without_its_own_option_precedes_the_prompt() {
    let world = World::new().with_agents(&["it"]).with_config(
        "[settings]\ndefault_role = 'r'\n[[agent]]\nname = 'it'\n[[role]]\nname = 'r'\nprompt = 'Be {user}.'",
    );
    world.haft(&["launch", "prompt", "x"]).env("USER", "somebody").run().status(0);
    assert_eq!(world.words(), ["Be somebody.\n\nx"]);
    world.launch(&["--no-role", "prompt", "x"]);
    assert_eq!(world.words(), ["x"]);
}

#[test]
fn a_failed_context_stops_the_launch_or_is_noted() {
    let world = World::new().with_stand_in(
        "[[context]]\nname = 'file'\nfile = 'none'\ndefault = true\n\
         [[context]]\nname = 'fails'\ncommand = 'echo why >&2; exit 3'\ndefault = true\n\
         [[context]]\nname = 'slow'\ncommand = 'sleep 300'\ntimeout = 1\ndefault = true\n\
         [[context]]\nname = 'must'\nfile = 'must'\ntags = ['m']\nrequired = false\n\
         [[role]]\nname = 'needed'\nfile = 'no-role'\n[[role]]\nname = 'spare'\nfile = 'no-role'\noptional = true",
    );
    let run =
        world.launch(&["x"]).stderr_has("context 'file' is left out: 'none' cannot be read: no such file");
    let run = run.stderr_has("context 'fails' is left out: it exited with status 3: why");
    run.stderr_has("context 'slow' is left out: it took longer than 1 s");
    assert_eq!(world.prompt(), "x");
    world.launch(&["prompt", "x", "-r", "spare"]).stderr_has("role 'spare' is left out");
    let run = world.haft(&["launch", "prompt", "x", "-r", "needed"]).run().status(2);
    run.stderr_has("cannot build role 'needed': 'no-role' cannot be read")
        .stderr_has("hint: it is defined at ~/");
    world
        .haft(&["launch", "prompt", "x", "-c", "./none"])
        .run()
        .status(2)
        .stderr_has("'none' cannot be read");
}

#[test]
fn files_and_commands_are_used_only_if_the_template_needs_them() {
    let world = World::new().with_stand_in(
        "[[context]]\nname = 'c'\nprompt = 'see {file}'\nfile = 'none.md'\ncommand = 'touch ran'\nrequired = true",
    );
    world.launch(&[]);
    assert_eq!(world.prompt(), "see none.md");
    assert!(!world.project().join("ran").exists());
}

#[test]
fn context_commands_run_in_parallel() {
    // Each waits until the other has started, which works only in parallel.
    let command = |own: &str, other: &str| {
        format!(
            "[[context]]\nname = '{own}'\nrequired = true\ntimeout = 60\n\
             command = 'touch {own}; while [ ! -e {other} ]; do sleep 0.02; done; echo {own}'\n"
        )
    };
    let world = World::new().with_stand_in(&(command("one", "two") + &command("two", "one")));
    world.launch(&["go"]);
    assert_eq!(world.prompt(), "one\n\ntwo\n\ngo");
}

#[test]
fn git_placeholders_are_empty_outside_a_repository() {
    let text = "<{git_branch}> <{git_root}> <{git_user}> <{git_email}>";
    let context = format!("[[context]]\nname = 'git'\nprompt = '{text}'\nrequired = true");
    let world = World::new().with_stand_in(&context);
    world.launch(&[]);
    assert_eq!(world.prompt(), "<> <> <> <>");
    let world = world
        .with_file("project/.git/HEAD", "ref: refs/heads/trunk\n")
        .with_file("project/.git/config", "[user]\n\tname = A {prompt}\n\temail = a@b\n")
        .with_file("project/.git/objects/info/x", "")
        .with_file("project/.git/refs/x/y", "")
        .with_file("project/deep/f", "");
    world.haft(&["launch"]).directory(world.project().join("deep")).run().status(0);
    let root = world.project().canonicalize().unwrap();
    assert_eq!(world.prompt(), format!("<trunk> <{}> <A {{prompt}}> <a@b>", root.display()));
}

#[test]
fn project_contexts_are_read_only_inside_the_project() {
    let world = World::new().with_agents(&["it"]).with_config("[[agent]]\nname = 'it'");
    let world = world.with_file("secret", "SECRET").with_file("project/AGENTS.md", "Be kind.\n");
    let world = world.with_file("project/sub/README.md", "Sub.").with_file("project/sub/GEMINI.md", "Sub.");
    let world = world.with_file("project/.git/HEAD", "");
    std::os::unix::fs::symlink(world.scratch.file("secret"), world.project().join("CLAUDE.md")).unwrap();
    let run = world.haft(&["launch", "go"]).directory(world.project().join("sub")).run().status(0);
    run.stderr_has("context 'claude-md' is left out").stderr_has("points outside the project");
    let prompt = world.prompt();
    let expected = "The project's instructions for agents, from ";
    assert!(
        prompt.starts_with(expected)
            && prompt
                .contains("Be kind.\n\nThe project's instructions for agents, from GEMINI.md:\n\nSub.\n\ngo"),
        "{prompt}"
    );
    assert!(!prompt.contains("SECRET"));
    let call = world.haft(&["launch", "-c", "readme", "go"]).directory(world.project().join("sub"));
    call.run().status(0);
    assert!(world.prompt().contains("The project's README, from README.md:\n\nSub."), "{}", world.prompt());
}

#[test]
fn a_default_context_that_the_agent_reads_itself_is_not_sent() {
    let world = World::new().with_agents(&["claude", "gemini"]).with_file("project/AGENTS.md", "Be kind.");
    let world = world.with_file("project/GEMINI.md", "Be quick.");
    std::os::unix::fs::symlink("AGENTS.md", world.project().join("CLAUDE.md")).unwrap();
    world.launch(&["-a", "claude", "--no-mcp", "go"]).stderr("");
    assert!(world.prompt().ends_with("from GEMINI.md:\n\nBe quick.\n\ngo"), "{}", world.prompt());
    assert!(!world.prompt().contains("Be kind."));
    world.launch(&["-a", "gemini", "--no-mcp", "go"]);
    assert!(world.prompt().contains("Be kind.") && !world.prompt().contains("Be quick."));
    world.launch(&["-a", "claude", "--no-mcp", "-c", "agents", "go"]);
    assert!(world.prompt().contains("Be kind."), "a context that the user names is sent");
    let shown = world.launch(&["-a", "claude", "--dry-run", "go"]).output_text();
    assert!(shown.contains("note: context 'agents' is left out: claude reads AGENTS.md itself\n"), "{shown}");
    assert!(
        shown.contains("       65 bytes  context 'gemini-md'\n        2 bytes  instructions\n"),
        "{shown}"
    );
}

#[test]
fn roles_tasks_contexts_and_prompts_come_from_files_and_pipes() {
    let world = World::new().with_stand_in("[[context]]\nname = 'c'\nprompt = 'C'");
    let world =
        world.with_file("project/role.md", "R").with_file("project/t.md", "T").with_file("project/a,b", "AB");
    world.launch(&["-r", "role.md", "task", "./t.md", "--context", "c,t.md"]);
    assert_eq!(world.words()[..2], ["--role", "R"]);
    assert_eq!(world.prompt(), "C\n\nFrom t.md:\n\nT\n\nT");
    world.launch(&["prompt", "t.md", "-c", "a,b"]);
    assert_eq!(world.prompt(), "From a,b:\n\nAB\n\nT");
    let script = format!("exec '{HAFT}' launch -r <(echo R) task <(echo T) <(printf I) -c <(echo C)");
    let call = world.by_shell(&script);
    call.run().status(0);
    assert_eq!(world.words()[..2], ["--role", "R\n"]);
    let prompt = world.prompt();
    assert!(prompt.starts_with("From /dev/fd/") && prompt.ends_with(":\n\nC\n\nT\n\nI"), "{prompt}");
    world
        .haft(&["launch", "-r", "./none.md", "x"])
        .run()
        .status(2)
        .stderr_has("cannot build role './none.md'");
}

#[test]
fn arguments_after_two_dashes_go_to_the_agent() {
    let world = World::new().with_agents(&["claude", "it"]);
    let world = world.with_config(
        "[[agent]]\nname = 'it'\n[[agent]]\nname = 'two'\nbin = 'it'\ncommand = ['{bin}', '--', '{prompt}']",
    );
    world.launch(&["-a", "claude", "--no-mcp", "go", "--", "--verbose", "-x"]);
    assert_eq!(world.words(), ["--print", "--verbose", "-x", "--", "go"]);
    world.launch(&["-a", "it", "prompt", "go", "--", "--list"]);
    assert_eq!(world.words(), ["go", "--list"]);
    world.launch(&["-a", "two", "go", "--", "--list"]);
    assert_eq!(world.words(), ["--list", "--", "go"]);
    world.launch(&["-a", "it", "--", "a b"]);
    assert_eq!(world.words(), ["a b"]);
}

#[test]
fn the_user_has_a_name_without_user() {
    let world = World::new().with_stand_in("[[context]]\nname = 'u'\nprompt = '{user}'\nrequired = true");
    let expected = haft_test_support::Haft::by(["id", "-un"]).run().status(0).output_text();
    world.haft(&["launch", "prompt", "x"]).env("USER", "").env("LOGNAME", "").run().status(0);
    assert_eq!(world.prompt(), format!("{}\n\nx", expected.trim_end()));
}

#[test]
fn a_command_without_bin_is_an_error() {
    let world = World::new().with_config("[[agent]]\nname = 'x'\ncommand = ['agent', '{prompt}']");
    let run = world.haft(&["launch", "-a", "x", "go"]).run().status(2);
    run.stderr_has("the command of [[agent]] 'x' has no {bin}")
        .stderr_has("hint: write \"{bin}\" for the program");
}

#[test]
fn a_dry_run_leaves_nothing_unless_it_is_saved() {
    let world = World::new().with_stand_in(
        "[[context]]\nname = 'c'\ncommand = 'touch ran; echo C'\nrequired = true\n[[role]]\nname = 'r'\nprompt = 'R'",
    );
    world.launch(&["--dry-run", "--json", "-r", "r", "go"]);
    world.launch(&["--dry-run", "go"]);
    assert!(world.leftovers().is_empty(), "{:?}", world.leftovers());
    let run = world.launch(&["--dry-run", "--save", "saved", "--json", "-r", "r", "go"]);
    let value = run.json();
    assert!(!world.has_started() && world.project().join("ran").exists());
    let directory = std::path::Path::new(value["directory"].as_str().unwrap());
    assert_eq!(world.read(directory.join("role.md")), "R");
    assert_eq!(world.read(directory.join("prompt.md")), "C\n\ngo");
    assert!(world.read(directory.join("command.json")).contains("\"argv\""));
    assert_eq!(value["argv"][2], "R");
    assert_eq!(directory, world.project().canonicalize().unwrap().join("saved"));
    assert_eq!(value["pieces"][1], serde_json::json!({"label": "context 'c'", "bytes": 2}));
    let again = world.haft(&["launch", "--dry-run", "--save", "saved", "go"]).run().status(2);
    again.stderr_has("file exists");
    let shown = world.launch(&["--dry-run", "go"]).output_text();
    assert!(
        shown.starts_with("would launch it with c\n") && shown.contains("prompt: 5 bytes\n  C\n"),
        "{shown}"
    );
}
