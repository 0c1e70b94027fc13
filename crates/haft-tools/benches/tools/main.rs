//! Benchmarks of discovery, tool calls and core tools.
//!
//! `cargo bench -p haft-tools` prints one line for each measurement: the median, with a baseline from the
//! same run where there is one.

#[path = "../../../haft-process/benches/process/peer.rs"]
#[expect(dead_code, reason = "only the bare spawn is a peer here")]
mod peer;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use haft_config::Directories;
use haft_config::trust::TrustStore;
use haft_process::{Environment, Host};
use haft_tools::{CallOptions, CoreOptions, Registry, RegistryOptions, core_tools};
use serde_json::{Value, json};

const TOOLS: usize = 100;
const SLEEP: Duration = Duration::from_millis(50);
const ROUNDS: usize = 400;

fn main() {
    let name = std::env::args().next().unwrap_or_default();
    if name.ends_with("-tool") {
        return be_a_tool(&name);
    }
    discovery();
    calls();
    core();
}

/// This program itself serves as the tool, so that both sides start the same executable.
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
    let directories = Directories {
        user: Some(directory.to_path_buf()),
        cache: Some(directory.join("cache")),
        ..Directories::default()
    };
    let options = RegistryOptions {
        schema_timeout: Duration::from_secs(20),
        environment: Environment::from_pairs([("PATH", "/usr/bin:/bin")]).unwrap_or_default().into(),
        directory: directory.to_path_buf(),
        natives: core_tools(&CoreOptions::default()),
        ..RegistryOptions::default()
    };
    Registry::open(Host::plain(), &directories, TrustStore::open(None), options)
}

/// A hundred tools that take 50 ms each to print their schema.
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
    let cold = once(|| assert_eq!(registry(directory.path()).wait_for_all().rejected().len(), 0));
    println!(
        "discovery of {TOOLS}, cold       {:8.1} ms   time / (tools × 50 ms / cores) {:.2}",
        millis(cold),
        cold.as_secs_f64() / serial.as_secs_f64()
    );
    let warm = median(20, || assert_eq!(registry(directory.path()).wait_for_all().rejected().len(), 0));
    println!("discovery of {TOOLS}, warm       {:8.1} ms", millis(warm));
}

/// A call of this program as a tool, compared with `posix_spawn` of the same program.
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
    for _ in 0..ROUNDS {
        ours.push(once(call));
        theirs.push(once(|| peer::posix_spawn_and_wait(&path)));
    }
    let (median, bare) = (middle(&mut ours), middle(&mut theirs));
    println!(
        "call of a tool                {:8.1} µs   over a bare posix_spawn {:.1} µs, at best {:.1} µs",
        micros(median),
        micros(median) - micros(bare),
        micros(ours[0]) - micros(theirs[0])
    );
}

/// Arguments of a call in a given round.
type RoundArguments = fn(usize) -> Value;

/// The core tools on small files. Each file is changed only once, because replacing a file that is still
/// being written back may block on the disk.
fn core() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).expect("a file");
    std::fs::create_dir(directory.path().join("small")).expect("a directory");
    file("small/f", &"a line of text\n".repeat(100));
    for round in 0..ROUNDS {
        file(&format!("edited{round}"), "one\n");
        file(&format!("bare{round}"), "one\n");
    }
    let registry = registry(directory.path());
    let cases: [(&str, RoundArguments); 5] = [
        ("file_read", |_| json!({"path": "small/f"})),
        ("file_write", |round| json!({"path": format!("written{round}"), "content": "text\n"})),
        ("file_edit", |round| json!({"path": format!("edited{round}"), "old": "one", "new": "two"})),
        ("glob", |_| json!({"pattern": "*", "path": "small"})),
        ("grep", |_| json!({"pattern": "nothing", "path": "small"})),
    ];
    for (name, arguments) in cases {
        let call = |round: usize| {
            let arguments = arguments(round);
            once(|| {
                let envelope = registry.call(name, arguments, &CallOptions::default());
                assert!(envelope.is_success(), "{envelope:?}");
            })
        };
        show(name, (0..ROUNDS).map(call).collect());
    }
    show("a bare write and rename", (0..ROUNDS).map(|round| replace(directory.path(), round)).collect());
}

/// Baseline: replace a file with write and rename.
fn replace(directory: &Path, round: usize) -> Duration {
    once(|| {
        std::fs::write(directory.join("new"), "text\n").expect("a file");
        std::fs::rename(directory.join("new"), directory.join(format!("bare{round}"))).expect("a place");
    })
}

/// Prints the median and the minimum. On a busy machine the minimum is closer to the real cost.
fn show(name: &str, mut times: Vec<Duration>) {
    let median = middle(&mut times);
    println!("{name:28}  {:8.1} µs   at best {:.1} µs", micros(median), micros(times[0]));
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
