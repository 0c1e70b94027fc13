//! How fast haft-lang parses, each figure beside those of bash and brush-parser from the same run, in turns.
//!
//! `cargo bench --manifest-path bench/lang/Cargo.toml` prints medians of the time on the processor. The start of bash is
//! taken out: what it takes to read nothing. Of brush-parser there are two figures, as it leaves words unparsed unless asked.

use std::time::Duration;

use haft_bench_lang::{AGENT, Bash, brush, brush_words, corpus, haft};
use rustix::time::{ClockId, clock_gettime};

/// How many turns everything gets.
const TURNS: usize = 11;

fn main() {
    // bash starts anew for each text, so that it gets many at once where they are short.
    const TIMES: usize = 400;
    let corpus = corpus();
    let size = format!("scripts, {:.1} MB", megabytes(corpus.len()));
    measure(&size, &corpus, 1, &Bash::new(&corpus), 1);
    let lines = AGENT.lines().count();
    measure(&format!("an agent's {lines} lines"), AGENT, TIMES, &Bash::new(&AGENT.repeat(TIMES)), TIMES);
}

/// Parses the text so many times a turn, while bash reads it so many times at once.
fn measure(name: &str, text: &str, times: usize, bash: &Bash, bash_times: usize) {
    let mut taken: [Vec<Duration>; 4] = Default::default();
    for _ in 0..TURNS {
        taken[0].push(time(haft, text, times));
        taken[1].push(bash.time() / u32::try_from(bash_times).unwrap_or(1));
        taken[2].push(time(brush, text, times));
        taken[3].push(time(brush_words, text, times));
    }
    let [ours, bash, brush, words] = taken.map(median);
    println!("{name}");
    for (who, theirs) in
        [("haft-lang", ours), ("bash -n", bash), ("brush-parser", brush), ("brush-parser, words too", words)]
    {
        let speed = megabytes(text.len()) / theirs.as_secs_f64();
        let ratio = theirs.as_secs_f64() / ours.as_secs_f64();
        println!(
            "    {who:<24} {theirs:>12.1?} {speed:>8.1} MB/s   takes {ratio:>6.2} times as long as haft-lang"
        );
    }
}

fn time(parse: fn(&str) -> bool, text: &str, times: usize) -> Duration {
    let started = processor_time();
    for _ in 0..times {
        assert!(parse(text), "the text is right");
    }
    (processor_time() - started) / u32::try_from(times).unwrap_or(1)
}

/// How long this thread has run: what others do at the same time is not in it.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn megabytes(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}
