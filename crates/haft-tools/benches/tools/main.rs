//! What tools cost: discovery cold and warm, a call over a bare spawn, core tools in this process.
//!
//! `cargo bench -p haft-tools` prints one line a measurement: medians, each next to what it is compared with in the same run.

#[path = "../../../haft-process/benches/process/peer.rs"]
#[expect(dead_code, reason = "only the bare spawn is a peer here")]
mod peer;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use haft_config::Places;
use haft_config::trust::Trust;
use haft_process::{Environment, Host};
use haft_tools::{CallOptions, CoreOptions, Options, Registry, core_tools};
use serde_json::{Value, json};

const TOOLS: usize = 100;
const SLEEP: Duration = Duration::from_millis(50);

fn main() {
    let name = std::env::args().next().unwrap_or_default();
    if name.ends_with("-tool") {
        return be_a_tool(&name);
    }
    discovery();
    calls();
    core();
}

/// This program itself is the tool that is called, so that starting it costs the same in either way.
#[expect(clippy::disallowed_methods, reason = "it tells by its environment whether it is called as a tool")]
fn be_a_tool(program: &str) {
    let name = program.rsplit('/').next().and_then(|file| file.strip_suffix("-tool")).unwrap_or_default();
    if std::env::args().nth(1).as_deref() == Some("--schema") {
        println!("{}", json!({"name": name.replace('-', "_"), "description": "A tool", "parameters": {}}));
    } else if std::env::vars_os().any(|(name, _)| name == "HAFT_TOOL") {
        println!("1");
    }
}

fn registry(directory: &Path) -> Registry {
    let places = Places {
        user: Some(directory.to_path_buf()),
        cache: Some(directory.join("cache")),
        ..Places::default()
    };
    let options = Options {
        schema_timeout: Duration::from_secs(20),
        environment: Environment::from_pairs([("PATH", "/usr/bin:/bin")]).unwrap_or_default().into(),
        directory: directory.to_path_buf(),
        natives: core_tools(&CoreOptions::default()),
        ..Options::default()
    };
    Registry::open(Host::plain(), &places, Trust::open(None), options)
}

/// A hundred tools that take 50 ms each to say their schema.
fn discovery() {
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::create_dir(directory.path().join("tools")).expect("a directory");
    for number in 0..TOOLS {
        let path = directory.path().join(format!("tools/t{number}-tool"));
        let text = format!(
            "#!/bin/sh\nsleep 0.05\necho '{{\"name\": \"t{number}\", \"description\": \"A tool\", \"parameters\": {{}}}}'\n"
        );
        std::fs::write(&path, text).expect("a file");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("a mode");
    }
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let serial = SLEEP * TOOLS as u32 / cores as u32;
    let cold = once(|| assert_eq!(registry(directory.path()).complete().rejected().len(), 0));
    println!(
        "discovery of {TOOLS}, cold       {:8.1} ms   time / (tools × 50 ms / cores) {:.2}",
        millis(cold),
        cold.as_secs_f64() / serial.as_secs_f64()
    );
    let warm = median(20, || assert_eq!(registry(directory.path()).complete().rejected().len(), 0));
    println!("discovery of {TOOLS}, warm       {:8.1} ms", millis(warm));
}

/// A call of this program, against `posix_spawn` of the same.
fn calls() {
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::create_dir(directory.path().join("tools")).expect("a directory");
    let tool = directory.path().join("tools/self-tool");
    let own = std::env::current_exe().expect("our own path");
    std::fs::copy(own, &tool).expect("a copy");
    let registry = registry(directory.path());
    let call = || {
        assert!(registry.call("self", json!({}), &CallOptions::default()).is_success());
    };
    call();
    let path = tool.display().to_string();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..400 {
        ours.push(once(call));
        theirs.push(once(|| peer::posix_spawn_and_wait(&path)));
    }
    let (ours, theirs) = (middle(&mut ours), middle(&mut theirs));
    println!(
        "call of a tool                {:8.1} µs   over a bare posix_spawn {:.1} µs",
        micros(ours),
        micros(ours) - micros(theirs)
    );
}

/// The core tools on small files.
fn core() {
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::write(directory.path().join("f"), "a line of text\n".repeat(100)).expect("a file");
    let registry = registry(directory.path());
    let cases: [(&str, Value); 5] = [
        ("file_read", json!({"path": "f"})),
        ("file_write", json!({"path": "g", "content": "text\n"})),
        ("file_edit", json!({"path": "h", "old": "one", "new": "two"})),
        ("glob", json!({"pattern": "*"})),
        ("grep", json!({"pattern": "nothing"})),
    ];
    for (name, arguments) in cases {
        let mut times = Vec::new();
        for _ in 0..400 {
            std::fs::write(directory.path().join("h"), "one\n").expect("a file");
            times.push(once(|| {
                let envelope = registry.call(name, arguments.clone(), &CallOptions::default());
                assert!(envelope.is_success(), "{envelope:?}");
            }));
        }
        println!("{name:28}  {:8.1} µs", micros(middle(&mut times)));
    }
    let replaced = median(400, || replace(directory.path()));
    println!("a bare write and rename       {:8.1} µs", micros(replaced));
}

/// What the file system takes for replacing a file as a whole.
fn replace(directory: &Path) {
    std::fs::write(directory.join("new"), "text\n").expect("a file");
    std::fs::rename(directory.join("new"), directory.join("g")).expect("a place");
}

fn once(action: impl FnOnce()) -> Duration {
    let start = Instant::now();
    action();
    start.elapsed()
}

fn median(rounds: usize, mut action: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..rounds).map(|_| once(&mut action)).collect();
    middle(&mut times)
}

fn middle(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}
