//! Processes and jobs leak no descriptors, zombies, threads or memory.

use std::time::Duration;

use haft_process::{Command, DescriptorSource, Exit, Host, Input, StartPermission, Task};
use haft_test_support::own::{alone, resources};
use haft_test_support::{Scratch, child, eventually, process, raise_descriptor_limit};

fn command<A: AsRef<str>>(arguments: impl IntoIterator<Item = A>) -> Command {
    let mut command = Command::new(child());
    command.arguments(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
    command
}

#[test]
fn ten_thousand_spawns_do_not_leak() {
    alone("ten_thousand_spawns_do_not_leak", || {
        let own = std::process::id() as i32;
        let program = Command::new("/bin/true");
        let spawn =
            || assert_eq!(program.spawn(&StartPermission::all()).unwrap().wait().unwrap().0, Exit::Code(0));
        (0..100).for_each(|_| spawn());
        let (before, memory) = (resources(), process::memory(own, "VmRSS").unwrap());
        (0..10_000).for_each(|_| spawn());
        assert_eq!(resources(), before);
        let grown = process::memory(own, "VmRSS").unwrap().saturating_sub(memory);
        assert!(grown < 4 << 20, "{grown} bytes more than before");
    });
}

#[test]
fn a_thousand_jobs_do_not_leak() {
    alone("a_thousand_jobs_do_not_leak", || {
        let scratch = Scratch::new();
        let host = Host::builder().run_directory(scratch.file("runs")).cgroups().subreaper().build();
        let run = || {
            let input = Input::Bytes(b"input".as_slice().into());
            let outcome = Task::new(command(["count"])).input(input).run(&host).unwrap();
            assert_eq!(outcome.exit, Exit::Code(0));
            assert!(outcome.adopted.is_none());
        };
        run();
        let before = resources();
        (0..1000).for_each(|_| run());
        assert_eq!(resources(), before);
        drop(host);
        assert!(std::fs::read_dir(scratch.file("runs")).unwrap().next().is_none(), "{:?}", scratch.listing());
    });
}

#[test]
fn five_hundred_parallel_jobs_do_not_leak() {
    alone("five_hundred_parallel_jobs_do_not_leak", || {
        raise_descriptor_limit();
        let scratch = Scratch::new();
        let host = Host::plain();
        let before = resources();
        let go = scratch.text("go");
        let start = || Task::new(command(["wait-for", &go])).start(&host).unwrap().background().unwrap();
        let handles: Vec<_> = (0..500).map(|_| start()).collect();
        assert!(resources().children >= 500);
        scratch.touch("go");
        for handle in handles {
            assert!(handle.wait_for(Duration::from_secs(60)), "the job hangs");
            assert_eq!(handle.wait().unwrap().exit, Exit::Code(0));
        }
        assert!(eventually(Duration::from_secs(5), || resources() == before), "{:?}", resources());
    });
}

#[test]
fn spawns_from_many_threads_do_not_leak() {
    alone("spawns_from_many_threads_do_not_leak", || {
        let before = resources();
        let spawn = || {
            for code in 0..100 {
                let mut child =
                    command(["exit".to_owned(), code.to_string()]).spawn(&StartPermission::all()).unwrap();
                assert_eq!(child.wait().unwrap().0, Exit::Code(code));
            }
        };
        std::thread::scope(|scope| (0..8).for_each(|_| drop(scope.spawn(spawn))));
        // A joined thread may still be listed for a short time.
        assert!(eventually(Duration::from_secs(5), || resources() == before), "{:?}", resources());
    });
}

#[test]
fn failed_spawns_do_not_leak() {
    alone("failed_spawns_do_not_leak", || {
        let mut failing = [
            Command::new("/no/such/program"),
            Command::new("/etc/passwd"),
            command(["exit", "0"]),
            command(["exit", "0"]),
        ];
        failing[2].working_directory("/no/such/directory");
        failing[3].descriptor(9, DescriptorSource::Inherit(19_996));
        let host = Host::plain();
        let before = resources();
        for _ in 0..100 {
            for command in &failing {
                assert!(command.spawn(&StartPermission::all()).is_err());
                assert!(Task::new(command.clone()).start(&host).is_err());
            }
        }
        assert_eq!(resources(), before);
    });
}

#[test]
fn ended_jobs_do_not_leak() {
    alone("ended_jobs_do_not_leak", || {
        let host = Host::plain();
        let task = || Task::new(command(["sleep"])).grace(Duration::from_millis(100));
        let before = resources();
        for _ in 0..10 {
            assert!(task().timeout(Duration::from_millis(10)).run(&host).unwrap().timed_out);
            assert!(task().start(&host).unwrap().background().unwrap().end().unwrap().cancelled);
            drop(task().start(&host).unwrap());
            drop(task().start(&host).unwrap().background().unwrap());
        }
        assert!(eventually(Duration::from_secs(5), || resources() == before), "{:?}", resources());
    });
}

#[test]
fn running_out_of_descriptors_is_an_error_and_leaks_nothing() {
    alone("running_out_of_descriptors_is_an_error_and_leaks_nothing", || {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let limit = Rlimit { current: Some(64), maximum: getrlimit(Resource::Nofile).maximum };
        setrlimit(Resource::Nofile, limit).unwrap();
        let host = Host::plain();
        let before = resources();
        let mut held = Vec::new();
        while let Ok(file) = std::fs::File::open("/dev/null") {
            held.push(file);
        }
        // With any number of free descriptors, from none to enough.
        for _ in 0..20 {
            held.pop();
            let marker = haft_test_support::Marker::new();
            match Task::new(command(["sleep", marker.as_str()])).timeout(Duration::from_millis(20)).run(&host)
            {
                Ok(outcome) => assert!(outcome.timed_out),
                Err(error) => assert_eq!(error.kind(), haft_process::ErrorKind::Exhausted, "{error}"),
            }
            assert_eq!(marker.count(), 0, "a partly started process is left");
        }
        held.clear();
        assert_eq!(resources(), before);
        assert!(Task::new(command(["exit", "0"])).run(&host).unwrap().exit.success());
    });
}
