//! Parsing speed of haft-lang, `bash -n` and brush-parser, by processor time.
//!
//! The texts are the shell scripts under `/usr` and a script that an agent might write. The parsers take turns, so a
//! change in the speed of the machine affects all of them.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use haft_bench_lang::{
    ACCEPTS_ARGUMENT, AGENT, Bash, Corpus, accepts, brush, brush_words, haft, processor_time,
};

/// Maximum number of turns of each parser.
const MAX_TURNS: usize = 11;

/// Minimum number of turns of each parser, whatever time they take.
const MIN_TURNS: usize = 3;

/// Time after which no further turn starts.
const MEASUREMENT_TIMEOUT: Duration = Duration::from_secs(60);

/// Number of copies of the agent's script to parse per turn, because one copy is too short to measure.
const AGENT_COPIES: u32 = 400;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() == Some(ACCEPTS_ARGUMENT) {
        return accepts(&arguments.next().unwrap_or_default());
    }
    let corpus = Corpus::new();
    for (path, reason) in &corpus.left_out {
        println!("left out {}: {reason}", path.display());
    }
    let name = format!("{} scripts, {:.1} MB", corpus.scripts.len(), megabytes(size(&corpus.scripts)));
    measure(&name, &corpus.scripts, corpus.copies);
    let name = format!("an agent's script, {} lines", AGENT.lines().count());
    measure(&name, &[AGENT.to_owned()], AGENT_COPIES);
    ExitCode::SUCCESS
}

/// Measures the time to parse texts. Each turn parses each of them `copies` times; bash reads a file with all copies.
fn measure(name: &str, texts: &[String], copies: u32) {
    let bash = Bash::new(&texts.concat().repeat(copies as usize));
    let deadline = Instant::now() + MEASUREMENT_TIMEOUT;
    let mut taken: [Vec<Duration>; 4] = Default::default();
    while taken[0].len() < MIN_TURNS || (taken[0].len() < MAX_TURNS && Instant::now() < deadline) {
        taken[0].push(time(haft, texts, copies));
        taken[1].push(bash.time() / copies);
        taken[2].push(time(brush, texts, copies));
        taken[3].push(time(brush_words, texts, copies));
    }
    let turns = taken[0].len();
    let [ours, bash, brush, words] = taken.map(median);
    println!("{name}, {turns} turns");
    for (parser, theirs) in
        [("haft-lang", ours), ("bash -n", bash), ("brush-parser", brush), ("brush-parser, words too", words)]
    {
        let speed = megabytes(size(texts)) / theirs.as_secs_f64();
        let ratio = theirs.as_secs_f64() / ours.as_secs_f64();
        println!("    {parser:<24} {theirs:>12.1?} {speed:>8.1} MB/s {ratio:>8.2} times haft-lang's time");
    }
}

fn time(parse: fn(&str) -> bool, texts: &[String], copies: u32) -> Duration {
    let started = processor_time();
    for text in (0..copies).flat_map(|_| texts) {
        assert!(parse(text), "every parser accepts the text");
    }
    (processor_time() - started) / copies
}

fn size(texts: &[String]) -> usize {
    texts.iter().map(String::len).sum()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn megabytes(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}
