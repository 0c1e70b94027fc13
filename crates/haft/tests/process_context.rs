//! Unusual process contexts: closed descriptors, removed directories, full disks, ignored signals.

use std::time::Duration;

use haft_test_support::{ChildReport, Haft, Marker, Scratch, child, eventually, is_root, process, signal};

const HAFT: &str = env!("CARGO_BIN_EXE_haft");

fn haft() -> Haft {
    Haft::new(HAFT)
}

/// A call of haft through the `launch` mode of the child, which sets up an unusual context first.
fn launched(settings: &[&str]) -> Haft {
    Haft::by([&[child(), "launch"], settings, &["--", HAFT]].concat())
}

#[test]
fn closed_standard_descriptors_stay_closed_for_the_program() {
    let scratch = Scratch::new();
    let targets = |settings: &[&str], command: &str| {
        let file = scratch.text("report");
        let _ = std::fs::remove_file(&file);
        launched(settings).args([command, "--", child(), "report-to", &file]).run().status(0);
        ChildReport::parse(std::fs::read(&file).unwrap()).descriptors()
    };
    for command in ["spawn", "exec"] {
        for settings in
            [&["close=1"][..], &["close=2"], &["close=0", "close=1", "close=2"], &["close=0", "open"]]
        {
            let seen = targets(settings, command);
            let foreign = |target: &str| {
                target.contains("eventfd") || target.contains("haft-") || target.contains("pidfd")
            };
            assert!(!seen.iter().any(|(_, target)| foreign(target)), "{command} {settings:?}: {seen:?}");
            let expected = |number: i32| {
                !settings.contains(&format!("close={number}").as_str()) || (number == 0 && command == "spawn")
            };
            let numbers: Vec<i32> =
                seen.iter().map(|(number, _)| *number).filter(|number| *number < 3).collect();
            assert_eq!(
                numbers,
                (0..3).filter(|&number| expected(number)).collect::<Vec<_>>(),
                "{command} {settings:?}"
            );
        }
    }
}

#[test]
fn messages_to_a_closed_standard_error_are_dropped() {
    let run = launched(&["close=2"])
        .args(["spawn", "--timeout", "300ms", "--", child(), "drip", "1", "60000"])
        .run();
    run.status(124).stdout("drip 0\n");
    let value =
        launched(&["close=2"]).args(["spawn", "--json", "--", child(), "interleave", "1"]).run().json();
    assert_eq!(
        (value["stdout"]["text"].as_str(), value["stderr"]["text"].as_str()),
        (Some("out 0\n"), Some("err 0\n"))
    );
}

#[test]
fn open_descriptors_and_blocked_signals_do_not_reach_a_spawned_program() {
    let seen = launched(&["open", "block", "ignore=1", "ignore=13"])
        .args(["spawn", "--", child(), "report"])
        .run()
        .report();
    assert_eq!(seen.descriptor_numbers(), [0, 1, 2]);
    assert_eq!((seen.numbers("blocked"), seen.numbers("ignored")), (vec![], vec![]));
}

#[test]
fn an_invalid_environment_entry_is_skipped() {
    let seen = launched(&["env==odd=1", "env=NOT-A-VARIABLE", "env=GOOD=1"]).args([
        "spawn",
        "--",
        child(),
        "report",
    ]);
    let seen = seen.run().status(0).report();
    assert_eq!(seen.variable("GOOD").as_deref(), Some("1"));
    assert!(seen.variable("PATH").is_some());
}

#[test]
fn a_program_runs_in_a_removed_directory() {
    let scratch = Scratch::new();
    let gone = format!("gone={}", scratch.text("gone"));
    let seen = launched(&[&gone]).args(["spawn", "--", child(), "report"]).run().status(0).report();
    assert!(seen.directory().to_string_lossy().ends_with("gone (deleted)"), "{:?}", seen.directory());
    launched(&[&gone]).args(["spawn", "--cwd", "/", "--", "true"]).run().status(0);
    let script = "ls; touch ./here || echo refused; echo > ./here || echo refused; cd /; pwd";
    for words in [vec!["-c", script], vec!["run", "-c", script]] {
        let run = launched(&[&gone]).args(words).run().status(0);
        assert_eq!(run.output_text(), "refused\nrefused\n/\n");
    }
}

#[test]
fn a_program_runs_in_a_directory_without_search_permission() {
    use std::os::unix::fs::PermissionsExt as _;
    if !is_root() {
        println!("skipped: only root can start a program as another user");
        return;
    }
    let scratch = Scratch::new();
    std::fs::create_dir_all(scratch.file("closed/inner")).unwrap();
    std::fs::set_permissions(scratch.file("closed"), std::fs::Permissions::from_mode(0o700)).unwrap();
    let call = Haft::by(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", HAFT]);
    let call = call.directory(scratch.file("closed/inner")).temporary(&std::env::temp_dir());
    call.args(["spawn", "--", "/bin/echo", "here"]).run().status(0).stdout("here\n");
}

#[test]
fn a_program_runs_without_a_temporary_directory() {
    let run =
        haft().env("TMPDIR", "/no/such/directory").args(["spawn", "--", child(), "flood", "1000000"]).run();
    assert_eq!(run.output().len(), 1_000_000);
    let run = run.status(0);
    assert!(run.error_text().lines().count() <= 1, "{run}");
}

/// Kills a haft whose program started a daemon, right after a change of its temporary directory.
#[track_caller]
fn leaves_nothing_running_when_killed(temporary: &str, before: impl FnOnce()) {
    let (scratch, marker) = (Scratch::new(), Marker::new());
    let script = "\"$1\" daemon \"$2\" \"$3\"; exec sleep 100";
    let call = haft().env("TMPDIR", temporary).args(["spawn", "--", "sh", "-c", script, "sh", child()]);
    let running = call.args([&scratch.text("ready"), marker.as_str()]).start();
    scratch.await_lines("ready", 1);
    before();
    running.signal(9);
    assert!(eventually(Duration::from_secs(1), || marker.count() == 0), "left behind");
}

#[test]
fn a_killed_haft_leaves_nothing_without_a_temporary_directory() {
    leaves_nothing_running_when_killed("/no/such/directory", || ());
}

#[test]
fn a_killed_haft_leaves_nothing_if_its_directory_was_removed() {
    let temporary = Scratch::new();
    leaves_nothing_running_when_killed(temporary.path().to_str().unwrap(), || {
        std::fs::remove_dir_all(temporary.path()).unwrap();
    });
}

#[test]
fn a_full_disk_drops_only_the_middle_of_a_large_output() {
    if !is_root() {
        println!("skipped: only root can mount a small file system");
        return;
    }
    let scratch = Scratch::new();
    let script = "mount -t tmpfs -o size=1m none \"$1\" && TMPDIR=\"$1\" exec \"$2\" spawn --json -- \"$3\" flood 16000000";
    let words = ["unshare", "--mount", "sh", "-c", script, "sh"];
    let run = Haft::by(words).arg(scratch.path()).args([HAFT, child()]).run();
    if run.error_text().contains("unshare") || run.error_text().contains("mount") {
        println!("skipped: {}", run.error_text());
        return;
    }
    let run = run.status(0);
    let stdout = &run.json()["stdout"];
    assert_eq!(stdout["total_bytes"], 16_000_000, "{run}");
    assert!(stdout["spill_failed"].as_str().is_some_and(|why| !why.is_empty()), "{run}");
    assert!(
        stdout["truncated"].as_bool().unwrap()
            && stdout["omitted"]["lost_bytes"].as_u64().unwrap() > 14_000_000
    );
    let text = stdout["text"].as_str().unwrap();
    assert!(text.starts_with("xxx") && text.ends_with("xxx\n") && text.contains("bytes not kept"));
}

#[test]
fn four_gibibytes_of_output_need_less_than_sixteen_mebibytes() {
    let flood = |bytes: &str, scratch: &Scratch| {
        let script = "\"$1\" flood \"$2\"; echo done > \"$3\"; exec \"$1\" wait-for \"$4\"";
        let call =
            haft().args(["spawn", "--limit-output", "64k", "--", "sh", "-c", script, "sh", child(), bytes]);
        let running = call.args([scratch.text("done"), scratch.text("go")]).start();
        assert!(eventually(Duration::from_secs(80), || scratch.file("done").exists()));
        let peak = process::memory(running.pid(), "VmHWM").unwrap();
        scratch.touch("go");
        (running.finish().status(0), peak)
    };
    let (_, small) = flood("1", &Scratch::new());
    let (run, large) = flood("4294967296", &Scratch::new());
    let mark = "[… 4294901760 bytes left out …]\n";
    assert!(run.output_text().contains(mark) && run.output().len() - mark.len() == 64 << 10, "{run}");
    assert!(large - small < 16 << 20, "{} MiB more", (large - small) >> 20);
    run.stderr_has("4294901760 of 4294967296 bytes");
}

#[test]
fn an_unread_standard_output_does_not_delay_the_deadline() {
    for option in ["--limit-output=1G", "--pty", "--merge"] {
        let marker = Marker::new();
        let (near, far) = std::io::pipe().unwrap();
        let far = std::os::fd::OwnedFd::from(far).into();
        let call = haft().args(["spawn", option, "--timeout", "500ms", "--grace", "100ms", "--", child()]);
        let running = call.args(["flood", "1099511627776", marker.as_str()]).stdout_to(far).start();
        assert!(eventually(Duration::from_secs(20), || marker.count() == 1), "it is started with {option}");
        assert!(
            eventually(Duration::from_secs(10), || marker.count() == 0),
            "it outlives its deadline with {option}"
        );
        running.finish().status(124).within(Duration::from_secs(15));
        drop(near);
    }
}

#[test]
fn a_nohup_haft_ignores_the_hangup() {
    let scratch = Scratch::new();
    let call = launched(&["ignore=1"]).args(["spawn", "--", child(), "wait-for", &scratch.text("go")]);
    let mut running = call.start();
    let pid = running.pid();
    assert!(eventually(Duration::from_secs(20), || process::children(pid).len() >= 2));
    signal(pid, 1);
    assert!(!eventually(Duration::from_millis(300), || running.has_ended()));
    scratch.touch("go");
    running.finish().status(0);
}

#[test]
fn an_ignored_sigchld_does_not_hide_the_exit_status() {
    launched(&["ignore=17"]).args(["spawn", "--", child(), "exit", "3"]).run().status(3);
    launched(&["ignore=17"]).args(["spawn", "--", child(), "die", "15"]).run().status(143);
}

#[test]
fn a_plain_shell_runs_bash_env() {
    let scratch = Scratch::new();
    let file = scratch.text("begin");
    std::fs::write(&file, "begun=$0; greet() { echo \"hello $1\"; }\n").unwrap();
    let script = scratch.text("script");
    std::fs::write(&script, "greet \"${begun##*/}\"; env | grep -c '^a-b='\n").unwrap();
    let began = |words: &[&str]| {
        haft().env("BASH_ENV", "$PLACE").env("PLACE", &file).env("a-b", "1").args(words).run()
    };
    began(&[&script]).status(0).stdout("hello script\n1\n");
    began(&["-c", "greet \"$begun\"", "name"]).status(0).stdout("hello name\n");
    began(&["--posix", "-c", "type greet 2> /dev/null; echo $?"]).status(0).stdout("1\n");
    // Only a plain shell runs it.
    began(&["run", "-c", "type greet 2> /dev/null; echo $?"]).status(0).stdout("1\n");
}

#[test]
fn a_login_shell_runs_its_profiles() {
    let home = Scratch::new();
    let script = home.text("script");
    std::fs::write(&script, "echo \"script $1 $set_by\"\n").unwrap();
    let write = |name: &str| std::fs::write(home.text(name), format!("set_by={name}\n")).unwrap();
    let login = |words: &[&str]| haft().env("HOME", home.text("")).args(words).run();
    login(&["-lc", "echo \"[$set_by]\""]).status(0).stdout("[]\n");
    write(".profile");
    login(&["-lc", "echo \"[$set_by]\""]).status(0).stdout("[.profile]\n");
    write(".bash_login");
    login(&["--login", &script, "a"]).status(0).stdout("script a .bash_login\n");
    write(".bash_profile");
    login(&["-l", "-c", "echo $set_by; shopt -q login_shell; echo $?"])
        .status(0)
        .stdout(".bash_profile\n0\n");
    login(&["--posix", "-lc", "echo $set_by"]).status(0).stdout(".profile\n");
    login(&["--noprofile", "-lc", "echo \"[$set_by]\""]).status(0).stdout("[]\n");
    login(&["-c", "echo \"[$set_by]\""]).status(0).stdout("[]\n");
}

#[test]
fn under_the_name_of_bash_there_are_only_the_commands_of_bash() {
    let scratch = Scratch::new();
    let bash = scratch.text("bash");
    std::os::unix::fs::symlink(HAFT, &bash).unwrap();
    let script = "grep -q x 2> /dev/null; echo $?; command -v grep glob output tool spawn scatter; echo $?";
    let run = |shell: &str| Haft::new(shell).env("PATH", "/nonexistent").args(["-c", script]).run();
    run(&bash).status(0).stdout("127\n1\n");
}

#[test]
fn a_plain_shell_leaves_nothing_in_the_temporary_directory() {
    let scratch = Scratch::new();
    for script in ["timeout 5 true", "timeout 5 true; echo end", "timeout 5 eval :"] {
        haft().env("TMPDIR", scratch.text("")).args(["-c", script]).run().status(0);
        let left: Vec<_> = std::fs::read_dir(scratch.text("")).unwrap().collect();
        assert!(left.is_empty(), "{script}: {left:?}");
    }
}
