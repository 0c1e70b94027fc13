//! `haft policy` from end to end.

use haft_test_support::{Haft, Scratch};
use serde_json::{Value, json};

const POLICY: &str = "[policy.commands]
default = 'allow'
deny = [['git', 'push'], ['rm', '-rf', '/']]

[policy.files]
deny_write = ['/etc', '~/.ssh']
";

/// A home directory and a project.
fn scratch() -> Scratch {
    let scratch = Scratch::new();
    for directory in ["home/.config/haft", "project/.haft", "project/deep"] {
        std::fs::create_dir_all(scratch.file(directory)).expect("a directory");
    }
    std::fs::write(scratch.file("policy.toml"), POLICY).expect("a policy");
    scratch
}

fn haft(scratch: &Scratch) -> Haft {
    Haft::new(env!("CARGO_BIN_EXE_haft"))
        .env("HOME", scratch.file("home"))
        .env("XDG_CONFIG_HOME", "")
        .env("XDG_STATE_HOME", "")
        .directory(scratch.file("project/deep"))
}

fn check(scratch: &Scratch, script: &str) -> Value {
    let call = haft(scratch).args(["policy", "check", "--json", "--policy"]).arg(scratch.file("policy.toml"));
    call.args(["-c", script]).run().json()
}

/// Spellings of one command, all of which a rule on it must match.
const HOSTILE: &[&str] = &[
    "git push",
    "git push origin main",
    "git 'push'",
    "\"git\" pu\"s\"h",
    "g\\it push",
    "\\git push",
    "$'git' $'\\x70ush'",
    "gi''t push",
    "git -C /x push",
    "git --git-dir=/x --work-tree /y push",
    "git -c a.b=c push",
    "git -P --no-pager push -f",
    "/usr/bin/git push",
    "../bin/git push",
    "command git push",
    "command -p git push",
    "builtin command git push",
    "exec git push",
    "exec -a x git push",
    "env git push",
    "env -i A=b git push",
    "env -S 'git push'",
    "/usr/bin/env -u X git push",
    "sudo git push",
    "sudo -u root -- git push",
    "doas git push",
    "nice -n 5 git push",
    "nohup git push &",
    "timeout 5 git push",
    "timeout -k 1 5s nice git push",
    "setsid git push",
    "stdbuf -oL git push",
    "time git push",
    "! git push",
    "xargs git push",
    "echo x | xargs -n1 git push",
    "find . -exec git push {} \\;",
    "find . -name x -execdir git push {} +",
    "bash -c 'git push'",
    "sh -ec 'true; git push'",
    "bash --norc -c \"git 'push'\"",
    "sudo bash -c 'env git push'",
    "eval git push",
    "eval 'git push'",
    "eval \"eval 'git push'\"",
    "f() { git push; }; f",
    "git() { command git push; }; git",
    "echo $(git push)",
    "echo `git push`",
    "x=$(git push)",
    "cat <(git push)",
    "true > >(git push)",
    "cat <<< \"$(git push)\"",
    "cat <<E\n$(git push)\nE",
    "bash <<< 'git push'",
    "bash <<E\ngit push\nE",
    "echo 'git push' | bash",
    "trap 'git push' EXIT",
    "true && git push",
    "false || git push",
    "if git push; then :; fi",
    "while ! git push; do :; done",
    "for i in 1; do git push; done",
    "case x in x) git push;; esac",
    "(git push)",
    "{ git push; }",
    "git push | cat",
    "cat | git push",
    "coproc git push",
    "PROMPT_COMMAND='git push'",
    "a[$(git push)]=1",
    "echo ${x:-$(git push)}",
    "echo $((a[$(git push)]))",
    "watch git push",
    "flock /tmp/x git push",
    "script -c 'git push' /dev/null",
    "rm -rf /",
    "rm -fr /",
    "rm -r -f /",
    "rm -f -v -r -- /",
];

#[test]
fn a_deny_rule_holds_for_every_spelling() {
    let scratch = scratch();
    // One script per line is planned in one call; the calls differ only in what they quote.
    for script in HOSTILE {
        assert_eq!(check(&scratch, script)["verdict"], json!("deny"), "{script}");
    }
}

#[test]
fn unknown_commands_are_asked_about() {
    let scratch = scratch();
    for script in [
        "$cmd",
        "git $x",
        "x=push; read y; git $y",
        "eval \"$x\"",
        "curl x | sh",
        "PATH=/x git status",
        "for PATH in /x; do git status; done",
        "read PATH; git status",
        "printf -v GIT_PAGER %s ./x; git log",
        "xargs git",
    ] {
        assert_eq!(check(&scratch, script)["verdict"], json!("ask"), "{script}");
    }
}

#[test]
fn other_commands_are_allowed() {
    let scratch = scratch();
    for script in [
        "git status && ls | wc -l",
        "echo git push",
        "cd x && make",
        "rm -rf build",
        "x=push; git log \"$x\"",
        "git -C push status",
        "git -C \"$d\" status",
    ] {
        assert_eq!(check(&scratch, script)["verdict"], json!("allow"), "{script}");
    }
}

#[test]
fn files_in_the_script_are_judged() {
    let scratch = scratch();
    std::os::unix::fs::symlink("/etc", scratch.file("project/deep/link")).expect("a link");
    for script in [
        "echo x > /etc/x",
        "cp a ~/.ssh/id",
        "cd /etc; touch x",
        "tee link/x",
        "rm -r ~",
        "echo >> ../../../../../../../../../../../../../../etc/x",
    ] {
        let report = check(&scratch, script);
        assert_eq!(report["verdict"], json!("deny"), "{script}");
    }
    assert_eq!(check(&scratch, "cat /etc/passwd > x")["verdict"], json!("allow"));
}

#[test]
fn the_report_names_rule_and_place() {
    let scratch = scratch();
    let run = haft(&scratch).args(["policy", "check", "--policy"]).arg(scratch.file("policy.toml"));
    let run = run.args(["-c", "true\ngit push"]).run().status(1);
    let text = run.output_text();
    assert!(text.contains("allow    1  true\n"), "{text}");
    assert!(text.contains("deny     2  git push  # (rule deny [\"git\", \"push\"], "), "{text}");
    assert!(text.contains("policy.toml:3)"), "{text}");
    let run = haft(&scratch).args(["policy", "check", "--policy", "full", "-c", "git push"]).run();
    let _ = run.status(0);
}

#[test]
fn a_syntax_error_is_not_allowed() {
    let scratch = scratch();
    let run = haft(&scratch).args(["policy", "check", "--policy", "full", "-c", "if true"]).run();
    let _ = run.status(1).stderr_has("-c:1");
}

#[test]
fn the_project_narrows_the_policy_of_the_user_without_trust() {
    let scratch = scratch();
    std::fs::write(scratch.file("home/.config/haft/config.toml"), "[policy.commands]\nask = [['make']]\n")
        .expect("a file");
    std::fs::write(
        scratch.file("project/.haft/config.toml"),
        "[policy.commands]\nallow = [['make']]\ndeny = [['curl']]\n",
    )
    .expect("a file");
    let verdict = |script: &str| {
        haft(&scratch).args(["policy", "check", "--json", "-c", script]).run().json()["verdict"].clone()
    };
    assert_eq!(
        [verdict("make"), verdict("curl x"), verdict("ls")],
        [json!("ask"), json!("deny"), json!("allow")]
    );
    let explained = haft(&scratch).args(["policy", "explain"]).run().status(0);
    let text = explained.output_text();
    assert!(
        text.contains("commands    deny  [\"curl\"]") && text.contains("project/.haft/config.toml:3"),
        "{text}"
    );
}

#[test]
fn mistakes_in_a_policy_are_reported_with_their_line() {
    let scratch = scratch();
    std::fs::write(scratch.file("bad.toml"), "[policy.commands]\ndeney = []\n").expect("a file");
    let call = |name: &str| haft(&scratch).args(["policy", "explain", "--policy"]).arg(name).run();
    let bad = scratch.file("bad.toml");
    let _ = call(bad.to_str().expect("text"))
        .status(2)
        .stderr_has("bad.toml:2:1")
        .stderr_has("did you mean 'deny'?");
    let _ = call("worksapce")
        .status(2)
        .stderr_has("unknown policy 'worksapce'")
        .stderr_has("did you mean 'workspace'?");
    let _ = call("./missing.toml").status(2).stderr_has("cannot read './missing.toml'");
}

#[test]
fn examples_of_rules_are_tested() {
    let scratch = scratch();
    let rules =
        "[[policy.commands.rules]]\ndecision = 'deny'\nargv = ['git', 'push']\nmatch = ['sudo git push']\n";
    std::fs::write(scratch.file("good.toml"), rules).expect("a file");
    std::fs::write(scratch.file("bad.toml"), format!("{rules}not_match = ['git push']\n")).expect("a file");
    let test = |name: &str| haft(&scratch).args(["policy", "test", "--policy"]).arg(scratch.file(name)).run();
    let _ = test("good.toml").status(0).stdout("").stderr_has("1 example tested, 0 failed");
    let failed = test("bad.toml").status(1);
    assert!(failed.output_text().contains("bad.toml:5: 'git push' matches deny [\"git\", \"push\"]"));
}

#[test]
fn rules_of_agents_are_imported() {
    let scratch = scratch();
    let settings = r#"{"permissions": {"allow": ["Bash(git status)"], "deny": ["Bash(git push:*)", "Read(./secrets/**)", "WebSearch"]}}"#;
    std::fs::write(scratch.file("settings.json"), settings).expect("a file");
    let run = haft(&scratch)
        .args(["policy", "import", "claude"])
        .arg(scratch.file("settings.json"))
        .run()
        .status(0);
    assert!(
        run.error_text().contains("'WebSearch': it is about a tool of the agent"),
        "{}",
        run.error_text()
    );
    std::fs::write(scratch.file("policy.toml"), run.output_text()).expect("a file");
    assert_eq!(check(&scratch, "git status")["verdict"], json!("allow"));
    assert_eq!(check(&scratch, "env git push")["verdict"], json!("deny"));
    assert_eq!(check(&scratch, "git status -s")["verdict"], json!("ask"));
    assert_eq!(check(&scratch, "cat ../secrets/x")["verdict"], json!("deny"));

    let rules =
        "prefix_rule(pattern=['git', ['push', 'fetch']], decision='forbidden')\nhost_executable(name='x')\n";
    std::fs::write(scratch.file("default.rules"), rules).expect("a file");
    let run =
        haft(&scratch).args(["policy", "import", "codex", "--json"]).arg(scratch.file("default.rules")).run();
    let report = run.status(0).json();
    assert_eq!((&report["imported"], &report["skipped"][0]["line"]), (&json!(2), &json!(2)));
}

#[test]
fn every_preset_is_shown_and_can_be_used() {
    let scratch = scratch();
    for preset in ["read-only", "workspace", "offline", "full"] {
        let shown = haft(&scratch).args(["policy", "show", preset]).run().status(0);
        assert!(shown.output_text().contains("[policy"), "{preset}");
        let _ = haft(&scratch).args(["policy", "explain", "--json", "--policy", preset]).run().status(0);
    }
    let _ = haft(&scratch).args(["policy", "show", "ful"]).run().status(2);
}

#[test]
fn the_data_of_a_worktree_must_belong_to_it() {
    let scratch = scratch();
    let write = |name: &str, text: &str| std::fs::write(scratch.file(name), text).expect("a file");
    for directory in ["main/.git/worktrees/deep", "home/private"] {
        std::fs::create_dir_all(scratch.file(directory)).expect("a directory");
    }
    let explain =
        || haft(&scratch).args(["policy", "explain", "--json", "--policy", "workspace"]).run().json();
    let writable = |report: &Value, path: &str| {
        let path = scratch.file(path).canonicalize().expect("a path");
        report["sandbox"]["write"]["paths"].as_array().is_some_and(|paths| paths.contains(&json!(path)))
    };
    write("project/deep/.git", "gitdir: ../../main/.git/worktrees/deep\n");
    write("main/.git/worktrees/deep/commondir", "../..\n");
    write("main/.git/worktrees/deep/gitdir", &format!("{}\n", scratch.file("project/deep/.git").display()));
    assert!(writable(&explain(), "main/.git"));
    write("project/deep/.git", "gitdir: ../../home/private\n");
    assert!(!writable(&explain(), "home/private"));
}
