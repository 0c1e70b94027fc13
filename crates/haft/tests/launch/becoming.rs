//! A launch is an exec: same process, nothing of haft remains.

use std::io::Write as _;
use std::time::Duration;

use haft_test_support::{child, eventually, process};

use crate::world::{HAFT, World};

const SOON: Duration = Duration::from_secs(40);

#[test]
fn the_agent_is_the_same_process_with_clean_descriptors_mask_and_signals() {
    let world = World::new().with_stand_in("");
    let odd = [child(), "launch", "open", "block", "ignore=1", "--"];
    let running = world.by(&odd, &["launch", "--close-fds", "work"]).start();
    let pid = running.pid();
    running.finish().status(0).stdout("the stand-in has started\n").stderr("");
    let seen = world.report();
    assert_eq!(seen.number("pid"), i64::from(pid));
    assert_eq!(seen.number("ppid"), i64::from(std::process::id()));
    assert_eq!(seen.descriptor_numbers(), [0, 1, 2]);
    assert!(seen.numbers("blocked").is_empty());
    let ignored: Vec<i64> =
        seen.numbers("ignored").into_iter().filter(|number| !(32..34).contains(number)).collect();
    assert_eq!(ignored, [1], "what was ignored stays so, and SIGPIPE has its default");
    assert_eq!(seen.directory(), world.project().canonicalize().unwrap());
    assert_eq!(seen.variable("HAFT_RUN"), None);
    assert_eq!(world.words()[..1], ["--mcp"]);
    assert_eq!(world.prompt(), "work");
}

#[test]
fn context_commands_leave_nothing_in_the_agents_process() {
    let world = World::new().with_stand_in(
        "[[context]]\nname = 'one'\ncommand = 'echo one; sleep 300 & setsid sleep 300 & '\nrequired = true\n\
         [[context]]\nname = 'two'\ncommand = ['echo', 'two']\nrequired = true",
    );
    let running = world.haft(&["launch", "--close-fds", "work"]).env("STAND_IN_THEN", "sleep").start();
    let pid = running.pid();
    assert!(eventually(SOON, || world.has_started()), "the agent starts");
    assert!(process::children(pid).is_empty(), "no watcher and no orphan is left");
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    assert!(status.contains("Threads:\t1\n"), "{status}");
    let seen = world.report();
    assert_eq!(seen.number("pid"), i64::from(pid));
    assert!(seen.numbers("blocked").is_empty());
    assert_eq!(seen.descriptor_numbers(), [0, 1, 2]);
    assert_eq!(world.prompt(), "one\n\ntwo\n\nwork");
    running.signal(9);
    running.finish().killed_by(9);
}

#[test]
fn the_agent_inherits_the_descriptors_of_the_caller() {
    let world = World::new().with_stand_in("");
    for supervised in ["", "--supervised"] {
        let script = format!("exec 77</dev/null; exec '{HAFT}' launch {supervised} work");
        world.by_shell(&script).run().status(0);
        assert!(world.report().descriptor_numbers().contains(&77), "{supervised}");
    }
}

#[test]
fn a_read_only_home_is_no_obstacle() {
    let world = World::new().with_stand_in("");
    // Nothing can be written below this directory, not even by root.
    let home = "/proc/self";
    let path = world.scratch.text("home/.config");
    let call = |words: &[&str]| world.haft(words).env("HOME", home).env("XDG_CONFIG_HOME", &path);
    call(&["launch", "work"]).run().status(0).stderr("");
    assert_eq!(world.prompt(), "work");
    call(&["launch", "doctor"]).run().status(0);
    call(&["launch", "--supervised", "work"]).run().status(0);
}

#[test]
fn status_and_signal_are_those_of_the_agent() {
    let world = World::new().with_stand_in("");
    world.haft(&["launch", "x"]).env("STAND_IN_THEN", "exit 42").run().status(42);
    world.haft(&["launch", "x"]).env("STAND_IN_THEN", "die 15").run().killed_by(15);
}

#[test]
fn an_agent_that_cannot_run_has_the_status_of_a_shell() {
    let world =
        World::new().with_config("[[agent]]\nname = 'gone'\nbin = 'no-such-agent'\n[[agent]]\nname = 'text'");
    world.haft(&["launch", "-a", "gone", "x"]).run().status(127).stderr_has("'no-such-agent' not found");
    let world = world.with_file("bin/text", "no program");
    world.haft(&["launch", "-a", "text", "x"]).run().status(126).stderr_has("chmod +x");
    assert!(world.leftovers().is_empty());
    World::new()
        .haft(&["launch", "x"])
        .env("PATH", "/nowhere")
        .run()
        .status(127)
        .stderr_has("no agent is installed");
}

/// On a terminal that `haft spawn --pty` creates, the agent owns the terminal, and Ctrl-C reaches the agent.
#[test]
fn the_agent_owns_the_terminal_and_gets_its_interrupt() {
    let world = World::new().with_stand_in("");
    let (near, mut far) = std::io::pipe().unwrap();
    let null = || std::fs::File::options().write(true).open("/dev/null").unwrap();
    let stdin = std::fs::File::from(std::os::fd::OwnedFd::from(near));
    let call = world.haft(&["spawn", "--pty", "--stdin", "-", "--", HAFT, "launch", "work"]);
    let running = call.env("STAND_IN_THEN", "interrupt").standard([stdin, null(), null()]).start();
    assert!(eventually(SOON, || world.has_started()), "the agent starts");
    let seen = world.report();
    assert!(seen.descriptors().iter().all(|(_, target)| target.starts_with("/dev/pts/")), "{seen:?}");
    assert_ne!(seen.number("tty"), 0);
    assert_eq!(seen.number("pgid"), seen.number("pid"), "it leads its group");
    assert_eq!(seen.number("foreground"), seen.number("pgid"), "which is in the foreground");
    far.write_all(b"\x03").unwrap();
    running.finish().status(3);
    assert!(world.scratch.file("notes/interrupted").exists());
}

#[test]
fn the_next_launch_removes_files_of_ended_agents() {
    let world = World::new().with_stand_in("");
    let running = world.haft(&["launch", "x"]).env("STAND_IN_THEN", "sleep").start();
    assert!(eventually(SOON, || world.has_started()));
    let path = world.words()[1].clone();
    assert!(world.read(&path).contains("mcpServers"));
    let mode = std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(&path).unwrap());
    assert_eq!(mode & 0o777, 0o600);
    world.haft(&["launch", "doctor"]).run().status(0);
    assert!(std::path::Path::new(&path).exists(), "its agent still runs");
    running.signal(9);
    running.finish().killed_by(9);
    assert!(std::path::Path::new(&path).exists(), "nothing could have removed it");
    let doctor = world.haft(&["launch", "doctor"]).run().status(0);
    assert!(doctor.output_text().contains("1 ended launch"), "{doctor}");
    assert!(world.leftovers().is_empty());
}

#[test]
fn ctrl_c_ends_context_commands_and_the_launch() {
    let world = World::new()
        .with_stand_in("[[context]]\nname = 'slow'\ncommand = 'touch begun; sleep 300'\nrequired = true");
    let running = world.haft(&["launch", "x"]).start();
    assert!(eventually(SOON, || world.project().join("begun").exists()));
    running.signal(2);
    running.finish().status(130).stderr_has("cancelled");
    assert!(!world.has_started());
    assert!(world.leftovers().is_empty());
}
