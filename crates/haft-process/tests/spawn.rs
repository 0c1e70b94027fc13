//! Starting processes.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::time::Duration;

use haft_process::{
    Command, Environment, ErrorKind, Exit, MARKER, ProcessGroup, Resource, ResourceLimit, Sandbox, Scope,
    Signals, StartPermission, find_program,
};
use haft_test_support::{ChildReport, Scratch, child, eventually, landlock_ruleset, process, signal};

/// Runs the child and returns its report. The report goes to a file, so that the standard descriptors are free.
fn report(scratch: &Scratch, change: impl FnOnce(&mut Command)) -> ChildReport {
    let file = scratch.text("report");
    let mut command = Command::new(child());
    command.arguments(["report-to", &file]);
    change(&mut command);
    let (exit, _) = command.spawn(&StartPermission::all()).unwrap().wait().unwrap();
    assert_eq!(exit, Exit::Code(0));
    ChildReport::parse(fs::read(&file).unwrap())
}

#[test]
fn arguments_are_passed_unchanged() {
    let scratch = Scratch::new();
    let odd = ["", " ", "a b", "line\nbreak", "$HOME", "*", "'\"", "--", "é"];
    let seen = report(&scratch, |command| {
        command.arguments(odd);
    });
    assert_eq!(seen.texts("argv")[3..], odd);
    let bytes = OsString::from_vec(vec![b'x', 0xff, 0xfe]);
    let seen = report(&scratch, |command| {
        command.argument(bytes);
    });
    assert_eq!(seen.texts("argv")[3], "x\u{fffd}\u{fffd}");
}

#[test]
fn the_environment_is_exact() {
    let scratch = Scratch::new();
    assert!(report(&scratch, |_| {}).texts("env").is_empty());
    let environment = Environment::from_pairs([("B", "2"), ("A", "1=1"), ("EMPTY", ""), ("B", "3")]).unwrap();
    let seen = report(&scratch, |command| {
        command.environment(environment);
    });
    assert_eq!(seen.texts("env"), ["B=3", "A=1=1", "EMPTY="]);
}

#[test]
fn markers_follow_those_of_outer_scopes() {
    let scratch = Scratch::new();
    let environment = Environment::from_pairs([(MARKER, "outer.1"), ("A", "1")]).unwrap();
    let seen = report(&scratch, |command| {
        command.environment(environment).scope(&Scope::new("inner.2"));
    });
    assert_eq!(seen.texts("env"), ["A=1".to_owned(), format!("{MARKER}=outer.1:inner.2")]);
}

#[test]
fn the_working_directory_applies_only_to_the_child() {
    let scratch = Scratch::new();
    let before = fs::read_link("/proc/self/cwd").unwrap();
    let seen = report(&scratch, |command| {
        command.working_directory("/usr");
    });
    assert_eq!(seen.directory(), std::path::Path::new("/usr"));
    assert_eq!(fs::read_link("/proc/self/cwd").unwrap(), before);
}

#[test]
fn argv_0_can_be_set() {
    let seen = report(&Scratch::new(), |command| {
        command.argument_zero("another-name");
    });
    assert_eq!(seen.texts("argv")[0], "another-name");
}

#[test]
fn the_process_group_can_be_set() {
    let scratch = Scratch::new();
    let with = |group| {
        report(&scratch, |command| {
            command.group(group);
        })
    };
    let own = with(ProcessGroup::Own);
    assert_eq!(own.number("pgid"), own.number("pid"));
    assert_ne!(own.number("sid"), own.number("pid"));
    let session = with(ProcessGroup::Session);
    assert_eq!(
        (session.number("pgid"), session.number("sid")),
        (session.number("pid"), session.number("pid"))
    );
    assert_eq!(session.number("tty"), 0);
    let inherited = with(ProcessGroup::Inherit);
    assert_ne!(inherited.number("pgid"), inherited.number("pid"));
    let mut leader = Command::new(child()).argument("sleep").spawn(&StartPermission::all()).unwrap();
    let joined = with(ProcessGroup::Join(leader.pid()));
    assert_eq!(joined.number("pgid"), i64::from(leader.pid()));
    leader.signal(Signals::KILL).unwrap();
    leader.wait().unwrap();
}

#[test]
fn limits_and_niceness_apply_only_to_the_child() {
    let seen = report(&Scratch::new(), |command| {
        command
            .nice(7)
            .limit(ResourceLimit::fixed(Resource::OpenFiles, 77))
            .limit(ResourceLimit::fixed(Resource::CoreSize, 4096));
        command.limit(ResourceLimit::cpu(Duration::from_millis(1500)));
    });
    assert_eq!(seen.number("nice"), 7);
    assert_eq!(seen.limit("Max open files"), "77");
    assert_eq!(seen.limit("Max core file size"), "4096");
    assert_eq!(seen.limit("Max cpu time"), "2");
    let own = fs::read_to_string("/proc/self/limits").unwrap();
    assert!(own.lines().any(|line| line.starts_with("Max cpu time") && line.contains("unlimited")));
}

#[test]
fn programs_are_searched_in_the_childs_path() {
    let scratch = Scratch::new();
    let make = |directory: &str, status: &str, mode: u32| {
        fs::create_dir_all(scratch.file(directory)).unwrap();
        let file = scratch.file(&format!("{directory}/tool"));
        fs::write(&file, format!("#!/bin/sh\nexit {status}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
    };
    make("first", "1", 0o644);
    make("second", "2", 0o755);
    make("third", "3", 0o755);
    fs::create_dir_all(scratch.file("zeroth/tool")).unwrap();
    let run = |path: &str| {
        let mut command = Command::new("tool");
        command.environment(Environment::from_pairs([("PATH", path)]).unwrap());
        command
            .working_directory(scratch.path())
            .spawn(&StartPermission::all())
            .map(|mut child| child.wait().unwrap().0)
    };
    assert_eq!(run("zeroth:first:second:third").unwrap(), Exit::Code(2));
    assert_eq!(run("/nowhere:third").unwrap(), Exit::Code(3));
    assert_eq!(run("zeroth").unwrap_err().kind(), ErrorKind::NotFound);
    let forbidden = run("zeroth:first").unwrap_err();
    assert_eq!((forbidden.kind(), forbidden.exit_code()), (ErrorKind::NotExecutable, 126));
    assert!(forbidden.path().unwrap().ends_with("first/tool"));
    fs::copy(scratch.file("third/tool"), scratch.file("tool")).unwrap();
    assert_eq!(run("").unwrap(), Exit::Code(3), "an empty entry means the working directory");
    assert!(
        find_program("sh".as_ref(), None, None).is_ok(),
        "without a PATH the usual directories are searched"
    );
}

#[test]
fn relative_programs_are_relative_to_the_childs_directory() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.file("inside")).unwrap();
    fs::copy(child(), scratch.file("inside/program")).unwrap();
    let mut command = Command::new("inside/program");
    command.arguments(["exit", "5"]).working_directory(scratch.path());
    assert_eq!(command.spawn(&StartPermission::all()).unwrap().wait().unwrap().0, Exit::Code(5));
}

#[test]
fn the_parent_death_signal_is_sent_when_the_thread_ends() {
    let mut child = std::thread::spawn(|| {
        let mut command = Command::new(child());
        command.argument("sleep").parent_death_signal(Signals::KILL).spawn(&StartPermission::all()).unwrap()
    })
    .join()
    .unwrap();
    let ended = eventually(Duration::from_secs(10), || process::state(child.pid()) == Some('Z'));
    assert!(ended, "the process still exists");
    assert_eq!(child.wait().unwrap().0, Exit::Signal(Signals::KILL));
}

#[test]
fn sandboxes_are_applied_before_exec() {
    /// A seccomp filter of one instruction: allow everything.
    const ALLOW: [u8; 8] = [6, 0, 0, 0, 0, 0, 0xff, 0x7f];
    let scratch = Scratch::new();
    let with = |sandbox| {
        report(&scratch, |command| {
            command.sandbox(sandbox);
        })
    };
    assert_eq!(with(Sandbox::default()).number("no_new_privileges"), 0);
    let plain = with(Sandbox { no_new_privileges: true, ..Sandbox::default() });
    assert_eq!((plain.number("no_new_privileges"), plain.number("seccomp")), (1, 0));
    let filtered = with(Sandbox { seccomp: Some(Arc::new([ALLOW])), ..Sandbox::default() });
    assert_eq!((filtered.number("no_new_privileges"), filtered.number("seccomp")), (1, 2));
}

#[test]
fn landlock_rulesets_are_applied_even_if_their_number_is_reused() {
    use std::os::fd::AsRawFd as _;
    let Some(ruleset) = landlock_ruleset() else {
        println!("skipped: this system has no Landlock");
        return;
    };
    let number = ruleset.as_raw_fd();
    let sandbox = Sandbox { landlock: Some(Arc::new(ruleset)), ..Sandbox::default() };
    let seen = report(&Scratch::new(), |command| {
        let null = fs::File::open("/dev/null").unwrap();
        command.sandbox(sandbox).descriptor(number, std::os::fd::OwnedFd::from(null));
    });
    assert_eq!(seen.number("no_new_privileges"), 1);
    assert_eq!(seen.descriptors().last().unwrap(), &(number, "/dev/null".to_owned()));
}

#[test]
fn dropped_children_are_killed_unless_detached() {
    let start = || Command::new(child()).argument("sleep").spawn(&StartPermission::all()).unwrap();
    let dropped = start();
    let pid = dropped.pid();
    drop(dropped);
    assert_eq!(process::state(pid), None);
    let pid = start().detach();
    assert!(process::state(pid).is_some());
    signal(pid, Signals::KILL);
}

#[test]
fn try_wait_reports_whether_the_child_runs() {
    let scratch = Scratch::new();
    let mut child = Command::new(child())
        .arguments(["wait-for", &scratch.text("go")])
        .spawn(&StartPermission::all())
        .unwrap();
    assert!(child.try_wait().unwrap().is_none());
    scratch.touch("go");
    let mut result = None;
    assert!(eventually(Duration::from_secs(10), || {
        result = child.try_wait().unwrap();
        result.is_some()
    }));
    assert_eq!(result.unwrap().0, Exit::Code(0));
    assert!(child.wait().is_err(), "the child was reaped already");
    child.signal(Signals::KILL).unwrap();
}

#[test]
fn program_files_run_even_if_their_path_was_replaced() {
    let scratch = Scratch::new();
    let (path, report) = (scratch.file("program"), scratch.text("report"));
    let write = |bytes: &[u8]| {
        let new = scratch.file("new");
        fs::write(&new, bytes).unwrap();
        fs::set_permissions(&new, fs::Permissions::from_mode(0o755)).unwrap();
        fs::rename(&new, &path).unwrap();
    };
    let binary = fs::read(child()).unwrap();
    for (content, expected) in [(binary.as_slice(), 0), (b"#!/bin/sh\nexit 7\n", 7)] {
        write(content);
        let open = Arc::new(fs::File::open(&path).unwrap().into());
        write(b"#!/bin/sh\nexit 9\n");
        let mut command = Command::new(&path);
        command.program_file(open).arguments(["report-to", &report]);
        let (exit, _) = command.spawn(&StartPermission::all()).unwrap().wait().unwrap();
        assert_eq!(exit, Exit::Code(expected));
    }
    assert_eq!(ChildReport::parse(fs::read(&report).unwrap()).texts("argv")[0], path.display().to_string());
}
