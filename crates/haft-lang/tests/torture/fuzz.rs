//! Random texts, millions of them on request: no panic, no stack overflow, linear time, and the properties.

use std::fs;
use std::panic::catch_unwind;
use std::time::{Duration, Instant};

use haft_lang::{ParseOptions, parse};
use rustix::time::{ClockId, clock_gettime};

use crate::grammar::Grammar;
use crate::mutate::{mutate, noise, soup};
use crate::properties::examine;
use crate::random::{SeededRandom, many};
use crate::scripts;
use crate::shrink::shrink;

/// The default stack size of a thread.
const STACK_BYTES: usize = 2 << 20;

/// Maximum processor time: a constant plus a time per byte.
const MAX_TIME: Duration = Duration::from_millis(500);
const MAX_TIME_PER_BYTE: Duration = Duration::from_micros(20);

/// Generates a text.
type Make<'a> = &'a dyn Fn(&mut SeededRandom) -> Vec<u8>;

#[test]
fn generated_scripts_keep_the_properties() {
    let grammar = Grammar::new();
    on_small_stack(|| fuzz(10, many(3000), &|random| grammar.script(random)));
}

#[test]
fn mutated_scripts_keep_the_properties() {
    let grammar = Grammar::new();
    on_small_stack(|| fuzz(11, many(12_000), &|random| mutate(&grammar.script(random), random)));
}

#[test]
fn mutated_installed_scripts_keep_the_properties() {
    let texts = short_installed_scripts();
    let make = |random: &mut SeededRandom| match texts.len() {
        0 => soup(random),
        count => mutate(&texts[random.below(count)], random),
    };
    on_small_stack(|| fuzz(12, many(1500), &make));
}

#[test]
fn random_bytes_and_tokens_keep_the_properties() {
    on_small_stack(|| {
        fuzz(13, many(15_000), &noise);
        fuzz(14, many(15_000), &soup);
    });
}

#[test]
fn randomly_nested_constructs_keep_the_properties() {
    on_small_stack(|| fuzz(15, many(2000), &nest));
}

#[test]
fn scripts_cut_at_a_line_are_valid_or_incomplete() {
    let grammar = Grammar::new();
    let mut random = SeededRandom::new(16);
    let generated = (0..many(1500)).map(|_| grammar.script(&mut random));
    let texts: Vec<Vec<u8>> = short_installed_scripts().into_iter().take(100).chain(generated).collect();
    on_small_stack(|| {
        let failures: Vec<String> = texts.iter().filter_map(|text| cut(text)).take(5).collect();
        assert!(failures.is_empty(), "{}", failures.join("\n"));
    });
}

/// Returns the first cut of a valid script that is neither valid nor incomplete.
fn cut(text: &[u8]) -> Option<String> {
    let options = ParseOptions::default();
    parse(text, &options).ok()?;
    let mut ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    ends.find_map(|end| {
        // Without its continuation line, a word may be a different one.
        let error = parse(&text[..end], &options).err().filter(|_| !text[..end].ends_with(b"\\\n"))?;
        let shown = String::from_utf8_lossy(&text[..end]).into_owned();
        (!error.incomplete).then(|| format!("{shown:?}: {error:?}"))
    })
}

/// Fails with the shrunk texts that violate a property.
fn fuzz(seed: u64, count: u64, make: Make<'_>) {
    let mut random = SeededRandom::new(seed);
    let (mut bytes, started) = (0, Instant::now());
    let mut failures = Vec::new();
    for _ in 0..count {
        let text = make(&mut random);
        let extglob = random.once_in(4);
        bytes += text.len();
        if failures.len() < 5 && failure(&text, extglob).is_some() {
            let small = shrink(&text, |text| failure(text, extglob).is_some());
            let shown = String::from_utf8_lossy(&small).into_owned();
            failures.push(format!(
                "{shown:?} extglob {extglob}\n  {}",
                failure(&small, extglob).unwrap_or_default()
            ));
        }
    }
    println!("{count} texts of {bytes} bytes in {:?}", started.elapsed());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn failure(text: &[u8], extglob: bool) -> Option<String> {
    let started = processor_time();
    let result = catch_unwind(|| examine(text, extglob)).unwrap_or_else(|_| Err("panics".to_owned()));
    result.err().or_else(|| too_slow(text, extglob, processor_time() - started))
}

/// Returns a message if the text takes too long every time.
fn too_slow(text: &[u8], extglob: bool, first: Duration) -> Option<String> {
    let allowed = MAX_TIME + MAX_TIME_PER_BYTE * u32::try_from(text.len()).unwrap_or(u32::MAX);
    let mut took = first;
    for _ in 0..3 {
        if took <= allowed {
            return None;
        }
        let started = processor_time();
        examine(text, extglob).ok();
        took = processor_time() - started;
    }
    Some(format!("takes {took:?}"))
}

/// The processor time of this thread, which does not include other processes.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Opening texts with their closing texts.
const PAIRS: [(&str, &str); 28] = [
    ("(", ")"),
    ("((", "))"),
    ("$(", ")"),
    ("$((", "))"),
    ("${x:-", "}"),
    ("${x[", "]}"),
    ("${x/", "/a}"),
    ("${x:", "}"),
    ("${!", "}"),
    ("\"", "\""),
    ("'", "'"),
    ("`", "`"),
    ("$[", "]"),
    ("<(", ")"),
    ("[[ ", " ]]"),
    ("[[ ( ", " ) ]]"),
    ("{ ", "; }"),
    ("{a,", "}"),
    ("@(", ")"),
    ("a=(", ")"),
    ("a[", "]=b"),
    ("if ", "; then a; fi"),
    ("case a in b) ", ";; esac"),
    ("for x in a; do ", "; done"),
    ("f() ", ""),
    ("cat <<E\n", "\nE\n"),
    ("x a=[\"", "\"]"),
    ("coproc ", ""),
];

/// Generates constructs nested hundreds of levels deep, not all of them closed.
fn nest(random: &mut SeededRandom) -> Vec<u8> {
    let kinds = 1 + random.below(4);
    let kinds: Vec<(&str, &str)> = (0..kinds).map(|_| *random.choose(&PAIRS)).collect();
    let depth = 1 + random.below(400);
    let opened: Vec<(&str, &str)> = (0..depth).map(|_| *random.choose(&kinds)).collect();
    let mut text: String = opened.iter().map(|(open, _)| *open).collect();
    text.push('a');
    let closed = if random.once_in(3) { random.below(depth + 1) } else { depth };
    text.extend(opened.iter().rev().take(closed).map(|(_, close)| *close));
    text.into_bytes()
}

fn short_installed_scripts() -> Vec<Vec<u8>> {
    let texts = scripts::find().into_iter().filter_map(|path| fs::read(path).ok());
    texts.filter(|text| text.len() < 10_000).collect()
}

fn on_small_stack(body: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, body);
        if let Err(panic) = thread.expect("a thread starts").join() {
            std::panic::resume_unwind(panic);
        }
    });
}
