//! Decisions about files, networks and variables, and the lists for a sandbox.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use haft_policy::{FileAccess, NetworkLevel, Policy, PolicyContext, PolicyVerdict, Preset};

fn context() -> PolicyContext {
    PolicyContext {
        project: Some("/work".into()),
        home: Some("/home/me".into()),
        temp: vec!["/tmp".into()],
        git: Some("/repo/.git".into()),
    }
}

fn policy(text: &str) -> Policy {
    Policy::from_text("policy.toml", text, &context()).unwrap()
}

fn workspace() -> Policy {
    Policy::preset(Preset::Workspace, &context()).unwrap()
}

fn may(policy: &Policy, access: FileAccess, path: &str) -> bool {
    policy.decide_file(access, Path::new(path)).is_allowed()
}

#[test]
fn every_preset_can_be_read() {
    for preset in Preset::ALL {
        assert!(Policy::preset(preset, &PolicyContext::default()).is_ok(), "{preset}");
        assert_eq!(preset.as_str().parse(), Ok(preset));
    }
    assert_eq!(
        "worksapce".parse::<Preset>().unwrap_err().hint().as_deref(),
        Some("did you mean 'workspace'?")
    );
}

#[test]
fn the_workspace_preset_protects_everything_but_the_project() {
    let policy = workspace();
    for path in ["/work/a", "/tmp/x", "/repo/.git/index", "/dev/null"] {
        assert!(may(&policy, FileAccess::Write, path) && may(&policy, FileAccess::Create, path), "{path}");
    }
    for path in [
        "/etc/passwd",
        "/home/me/.bashrc",
        "/work/../etc/x",
        "/repo/.git/hooks/pre-commit",
        "/work/.git/hooks/x",
    ] {
        assert!(!may(&policy, FileAccess::Write, path) && !may(&policy, FileAccess::Delete, path), "{path}");
    }
    // Another directory must not take the place of one with a protected path.
    assert!(
        !may(&policy, FileAccess::Delete, "/repo/.git")
            && may(&policy, FileAccess::Delete, "/repo/.git/index")
    );
    for path in ["/home/me/.ssh/id_ed25519", "/work/.env", "/proc/self/root/home/me/.aws/credentials"] {
        assert!(!may(&policy, FileAccess::Read, path), "{path}");
    }
    assert!(may(&policy, FileAccess::Read, "/etc/passwd"));
    let denied = policy.decide_file(FileAccess::Write, Path::new("/etc/x"));
    assert_eq!(
        denied.allowed_instead.as_deref(),
        Some("write $project, $git, $temp, ~/.npm/_cacache, ~/.npm/_logs")
    );
    assert_eq!(denied.place.unwrap().to_string(), "preset workspace:4");
}

#[test]
fn a_section_adds_to_its_preset() {
    let policy = policy(
        "[policy]\npreset = 'workspace'\n[policy.files]\nwrite = ['~/.cache']\nask_write = ['./Cargo.lock']\n\
         [policy.git]\nhooks = true\nssh_agent = true\n[policy.network]\nhosts = ['*.example.org']\nports = [443]",
    );
    assert!(
        may(&policy, FileAccess::Write, "/home/me/.cache/x") && may(&policy, FileAccess::Write, "/work/x")
    );
    assert!(may(&policy, FileAccess::Write, "/work/.git/hooks/x"));
    let asked = policy.decide_file(FileAccess::Write, Path::new("/work/Cargo.lock"));
    assert_eq!(asked.verdict, PolicyVerdict::Ask);
    assert!(policy.decide_variable(OsStr::new("SSH_AUTH_SOCK"), false).is_allowed());
    assert!(!policy.decide_variable(OsStr::new("GPG_AGENT_INFO"), false).is_allowed());
    assert!(policy.decide_network("Api.Example.org.", 443).is_allowed());
    assert!(!policy.decide_network("api.example.org", 80).is_allowed());
    assert!(!policy.decide_network("example.com", 443).is_allowed());
    assert!(
        policy.decide_network("127.0.0.1", 9).is_allowed() && policy.decide_network("[::1]", 9).is_allowed()
    );
}

#[test]
fn addresses_do_not_pass_for_loopback() {
    let policy = workspace();
    for host in ["10.0.0.1", "localhost.example.org", "127.0.0.1.example.org", "::ffff:10.0.0.1", "0.0.0.0"] {
        assert!(!policy.decide_network(host, 80).is_allowed(), "{host}");
    }
    assert!(policy.decide_network("::ffff:127.0.0.1", 80).is_allowed());
}

#[test]
fn variables_that_look_secret_pass_only_by_name() {
    let policy =
        policy("[policy.environment]\npass = ['*', 'MY_TOKEN']\nwithhold = ['AWS_*']\nsecrets = 'withhold'");
    let passes = |name: &str, secret| policy.decide_variable(OsStr::new(name), secret).is_allowed();
    assert!(passes("PATH", false) && passes("MY_TOKEN", true));
    assert!(!passes("OTHER_TOKEN", true) && !passes("AWS_REGION", false));
    let only = self::policy("[policy.environment]\npass = ['PATH']");
    assert!(!only.decide_variable(OsStr::new("HOME"), false).is_allowed());
}

#[test]
fn a_project_narrows_paths_networks_and_budgets() {
    let user = policy("[policy]\npreset = 'workspace'\n[policy.budgets]\nwall = '10m'\nmemory = '2G'");
    let project = policy(
        "[policy.files]\nwrite = ['./src', '/']\n[policy.network]\nlevel = 'all'\n\
         [policy.budgets]\nwall = '1h'\nprocesses = 20",
    );
    let both = user.narrow(&project);
    let budgets = both.budgets();
    assert_eq!((budgets.wall, budgets.memory), (Some(Duration::from_secs(600)), Some(2 << 30)));
    assert_eq!(budgets.processes, Some(20));
    let sandbox = both.sandbox();
    assert_eq!(sandbox.network, NetworkLevel::Loopback);
    let narrow = user.narrow(&policy("[policy.files]\nwrite = ['./src']")).sandbox();
    assert_eq!(narrow.write.paths, Some(vec![PathBuf::from("/work/src")]));
    assert!(!may(&both, FileAccess::Write, "/etc/x") && may(&both, FileAccess::Write, "/work/y"));
}

#[test]
fn a_sandbox_gets_directories_and_exceptions() {
    let policy = policy(
        "[policy]\npreset = 'workspace'\n[policy.commands]\nexec = ['/usr/bin', '/bin']\n[policy.files]\ndeny = ['./*.key']",
    );
    let sandbox = policy.sandbox();
    let write = sandbox.write.paths.unwrap();
    assert!(
        ["/work", "/tmp", "/repo/.git", "/dev/null"].iter().all(|path| write.contains(&PathBuf::from(path)))
    );
    assert!(sandbox.write.denied.contains(&PathBuf::from("/repo/.git/hooks")));
    assert!(sandbox.read.denied.contains(&PathBuf::from("/home/me/.ssh")) && sandbox.read.paths.is_none());
    assert_eq!(sandbox.execute.paths, Some(vec!["/bin".into(), "/usr/bin".into()]));
    assert!(sandbox.inexpressible.contains(&"deny \"./*.key\"".to_owned()));
    assert!(sandbox.inexpressible.contains(&"secrets \".env\"".to_owned()));
}

#[test]
fn contradictions_are_refused() {
    for (text, message) in [
        (
            "[policy.network]\nlevel = 'none'\nports = [80]",
            "hosts and ports have no effect with the level 'none'",
        ),
        ("[policy.budgets]\nwall = '5 parsecs'", "unknown time unit 'parsecs' (expected ms, s, m, h or d)"),
        ("[policy.commands]\ndeny = [[]]", "a rule needs the name of a command"),
        ("[[policy.commands.rules]]\ndecision = 'deny'", "a rule needs 'argv', 'kinds' or 'path'"),
        ("[policy.files]\nread = ['src/x']", "invalid path pattern 'src/x'"),
    ] {
        assert_eq!(Policy::from_text("p", text, &context()).unwrap_err().message(), message);
    }
}

#[test]
fn narrowing_takes_the_stricter_decision_about_everything() {
    let texts = [
        "[policy]\npreset = 'full'",
        "[policy]\npreset = 'workspace'",
        "[policy]\npreset = 'read-only'",
        "[policy.network]\nports = [443]",
        "[policy.network]\nports = [80]\nhosts = ['*.org']",
        "[policy.files]\nwrite = ['./src', '~/x']\nask_read = ['/etc']",
        "[policy.environment]\npass = ['PATH', 'KEY']",
    ];
    let paths = ["/work/src/a", "/work/b", "/home/me/x/y", "/etc/passwd", "/home/me/.ssh/id"];
    for (one, other) in
        texts.iter().flat_map(|one| texts.iter().map(move |other| (policy(one), policy(other))))
    {
        let both = one.narrow(&other);
        for access in [FileAccess::Read, FileAccess::Write, FileAccess::Create, FileAccess::Delete] {
            for path in paths.map(Path::new) {
                let verdict = |policy: &Policy| policy.decide_file(access, path).verdict;
                assert_eq!(verdict(&both), verdict(&one).max(verdict(&other)));
            }
        }
        for (host, port) in [("localhost", 1), ("a.org", 443), ("a.org", 80), ("b.com", 443)] {
            let verdict = |policy: &Policy| policy.decide_network(host, port).verdict;
            assert_eq!(verdict(&both), verdict(&one).max(verdict(&other)));
        }
        for (name, secret) in [("PATH", false), ("KEY", true), ("HOME", false)] {
            let verdict = |policy: &Policy| policy.decide_variable(OsStr::new(name), secret).verdict;
            assert_eq!(verdict(&both), verdict(&one).max(verdict(&other)));
        }
    }
}

#[test]
fn lists_of_ports_without_a_common_one_leave_this_machine() {
    let (one, other) = (policy("[policy.network]\nports = [443]"), policy("[policy.network]\nports = [80]"));
    assert_eq!(one.narrow(&other).sandbox().network, NetworkLevel::Loopback);
    let both = one.narrow(&policy("[policy.network]\nports = [443, 80]")).sandbox();
    assert_eq!((both.network, both.ports), (NetworkLevel::Listed, vec![443]));
}
