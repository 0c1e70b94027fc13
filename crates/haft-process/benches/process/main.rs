//! Benchmarks of the process layer, each relative to an alternative that is measured alternately in the same run.
//!
//! `cargo bench -p haft-process` prints one line per measurement, with medians of several rounds.

mod peer;
mod turns;

use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use haft_process::{Command, Host, StartPermission, Streams, Task};
use turns::{compare, median};

const TRUE: &str = "/bin/true";
const CLOCK: &str = "--print-clock";
const FLOOD_BYTES: u64 = 4 << 30;

fn main() {
    if std::env::args().any(|argument| argument == CLOCK) {
        return println!("{}", monotonic());
    }
    spawn_rates();
    supervision();
    capture_throughput();
    exit_latency();
}

/// Measures spawn and wait against `posix_spawn` with `waitpid` and against the standard library, in a small process and in one
/// with much memory.
fn spawn_rates() {
    const BLOCKS: usize = 6;
    let mut small = Rates::default();
    let mut large = Rates::default();
    for _ in 0..BLOCKS {
        small.measure();
        let ballast = vec![1u8; 1 << 30];
        large.measure();
        assert_eq!(ballast[ballast.len() / 2], 1);
    }
    let (small, large) = (small.show("small"), large.show("1 GiB resident"));
    println!("spawn+wait                  time at 1 GiB / time at small {:.3}", ratio(large, small));
}

/// Durations of single calls.
#[derive(Default)]
struct Rates {
    haft: Vec<Duration>,
    posix: Vec<Duration>,
    standard: Vec<Duration>,
}

impl Rates {
    fn measure(&mut self) {
        let command = Command::new(TRUE);
        for _ in 0..200 {
            self.haft.push(time(
                &mut || drop(command.spawn(&StartPermission::all()).expect("true starts").wait()),
                1,
            ));
            self.posix.push(time(&mut || peer::posix_spawn_and_wait(TRUE), 1));
            self.standard.push(time(&mut || peer::standard(TRUE), 1));
        }
    }

    fn show(mut self, memory: &str) -> Duration {
        let haft = median(&mut self.haft);
        println!(
            "spawn+wait, {memory:14}  haft {:7.1} µs   rate / posix_spawn {:.3}   rate / std {:.3}",
            micros(haft),
            ratio(median(&mut self.posix), haft),
            ratio(median(&mut self.standard), haft)
        );
        haft
    }
}

/// Measures a supervised run with captured output against a bare spawn.
fn supervision() {
    let command = Command::new(TRUE);
    let plain = Host::plain();
    let [bare, supervised] = compare(
        600,
        1,
        [&mut || drop(command.spawn(&StartPermission::all()).expect("true starts").wait()), &mut || {
            drop(Task::new(command.clone()).run(&plain).expect("true starts"));
        }],
    );
    println!(
        "supervised run              haft {:7.1} µs   time / bare spawn {:.3}",
        micros(supervised),
        ratio(supervised, bare)
    );
}

/// Measures capturing a large output against a loop that only reads.
fn capture_throughput() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let host = Host::builder().run_directory(directory.path().join("runs")).build();
    let mut flood = Command::new("/bin/dd");
    flood
        .arguments(["if=/dev/zero", "bs=256K", "status=none"])
        .argument(format!("count={}", FLOOD_BYTES >> 18));
    let captured = || {
        let outcome = Task::new(flood.clone()).streams(Streams::Separate).run(&host).expect("dd starts");
        let total = outcome.captured.stdout.map(|output| output.total_bytes());
        assert_eq!(total, Some(FLOOD_BYTES));
    };
    let bare = || {
        let (reader, writer) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).expect("a pipe");
        let mut command = flood.clone();
        command.descriptor(1, writer);
        let mut child = command.spawn(&StartPermission::all()).expect("dd starts");
        drop(command);
        assert_eq!(drain(reader), FLOOD_BYTES);
        drop(child.wait());
    };
    let [haft, bare] = compare(7, 1, [&mut { captured }, &mut { bare }]);
    let rate = FLOOD_BYTES as f64 / haft.as_secs_f64() / 1e9;
    println!(
        "capture of 4 GiB            haft {rate:7.2} GB/s  rate / bare 256 KiB read loop {:.3}",
        ratio(bare, haft)
    );
}

fn drain(reader: OwnedFd) -> u64 {
    let mut file = File::from(reader);
    let mut buffer = vec![0; 256 * 1024];
    let mut total = 0;
    loop {
        match file.read(&mut buffer).expect("a readable pipe") {
            0 => return total,
            count => total += count as u64,
        }
    }
}

/// Measures the time from the last action of a process to the return of the call that waits for it.
fn exit_latency() {
    let program = std::env::current_exe().expect("our own path");
    let mut command = Command::new(program.as_os_str());
    command.argument(CLOCK);
    let host = Host::plain();
    let mut ours = Vec::new();
    let mut theirs = Vec::new();
    for _ in 0..200 {
        let outcome = Task::new(command.clone()).run(&host).expect("we start");
        let now = monotonic();
        let output = outcome.captured.stdout.expect("a captured output");
        let slice =
            output.slice(&haft_process::capture::OutputView::HeadAndTail, 64).expect("a whole output");
        ours.push(elapsed(&slice.to_bytes(), now));
        let (text, now) = peer::output_of(&program, CLOCK, monotonic);
        theirs.push(elapsed(&text, now));
    }
    let (ours, theirs) = (median(&mut ours), median(&mut theirs));
    println!(
        "exit to return              haft {:7.1} µs   time / std output() {:.3}",
        micros(ours),
        ratio(ours, theirs)
    );
}

fn elapsed(text: &[u8], now: u64) -> Duration {
    let then = std::str::from_utf8(text).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(now);
    Duration::from_nanos(now.saturating_sub(then))
}

/// Returns the monotonic clock, which all processes share.
fn monotonic() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    (now.tv_sec as u64) * 1_000_000_000 + now.tv_nsec as u64
}

fn ratio(over: Duration, under: Duration) -> f64 {
    over.as_secs_f64() / under.as_secs_f64()
}

fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}

/// Returns the duration of one call.
fn time(action: &mut dyn FnMut(), repeat: u32) -> Duration {
    let start = Instant::now();
    for _ in 0..repeat {
        action();
    }
    start.elapsed() / repeat
}
