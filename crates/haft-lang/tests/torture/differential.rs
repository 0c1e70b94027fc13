//! The parser accepts and refuses the same scripts as `bash -n`.

use std::fs;

use haft_lang::{ParseOptions, parse};

use crate::bash::{BashOracle, BashResult};
use crate::grammar::Grammar;
use crate::known;
use crate::mutate::mutate;
use crate::random::{SeededRandom, many};
use crate::scripts;
use crate::shrink::shrink;

/// A script, and whether extended globs are enabled.
type Script = (Vec<u8>, bool);

/// Number of differences to shrink and print.
const MAX_SHOWN_DIFFERENCES: u64 = 30;

#[test]
fn installed_scripts_are_accepted_and_refused_as_in_bash() {
    let Some(bash) = BashOracle::find() else { return };
    let texts: Vec<Vec<u8>> = scripts::find().iter().filter_map(|path| fs::read(path).ok()).collect();
    let both = |text: Vec<u8>| [(text.clone(), false), (text, true)];
    compare(&bash, &texts.into_iter().flat_map(both).collect::<Vec<_>>());
}

#[test]
fn generated_scripts_are_accepted_and_refused_as_in_bash() {
    let Some(bash) = BashOracle::find() else { return };
    let (grammar, mut random) = (Grammar::new(), SeededRandom::new(1));
    let mut generate = |_| (grammar.script(&mut random), random.once_in(4));
    compare(&bash, &(0..many(1000)).map(&mut generate).collect::<Vec<_>>());
}

#[test]
fn mutated_scripts_are_accepted_and_refused_as_in_bash() {
    let Some(bash) = BashOracle::find() else { return };
    let (grammar, mut random) = (Grammar::new(), SeededRandom::new(2));
    let mut generate = |_| {
        let script = grammar.script(&mut random);
        (mutate(&script, &mut random), random.once_in(4))
    };
    compare(&bash, &(0..many(1000)).map(&mut generate).collect::<Vec<_>>());
}

#[test]
fn mutated_installed_scripts_are_accepted_and_refused_as_in_bash() {
    let Some(bash) = BashOracle::find() else { return };
    let texts = scripts::find().into_iter().filter_map(|path| fs::read(path).ok());
    let texts: Vec<Vec<u8>> = texts.filter(|text| text.len() < 10_000).collect();
    if texts.is_empty() {
        return;
    }
    let mut random = SeededRandom::new(3);
    let mut generate = |_| {
        let script = random.choose(&texts).clone();
        (mutate(&script, &mut random), random.once_in(4))
    };
    compare(&bash, &(0..many(400)).map(&mut generate).collect::<Vec<_>>());
}

/// Fails with the shrunk scripts on which bash and the parser differ.
fn compare(bash: &BashOracle, scripts: &[Script]) {
    let verdicts = bash.judge_all(scripts);
    let count = |accepted| verdicts.iter().filter(|verdict| verdict.accepted() == Some(accepted)).count();
    println!("{} scripts: bash accepts {}, refuses {}", scripts.len(), count(true), count(false));
    let pairs = scripts.iter().zip(&verdicts);
    let differing = pairs.filter(|(script, verdict)| differs(script, verdict)).map(|(script, _)| script);
    let differing: Vec<&Script> = differing.filter(|script| still_differs(bash, script)).collect();
    let small = differing
        .iter()
        .take(usize::try_from(many(MAX_SHOWN_DIFFERENCES)).unwrap_or(usize::MAX))
        .map(|script| smallest(bash, script));
    let unknown = small.filter(|script| match known::reason(&script.0, accepts(script)) {
        Some(reason) => {
            println!("known: {:?}: {reason}", String::from_utf8_lossy(&script.0));
            false
        }
        None => true,
    });
    let mut shown: Vec<String> = unknown.map(|script| describe(bash, &script)).collect();
    shown.sort();
    shown.dedup();
    assert!(shown.is_empty(), "{} of {} differences:\n{}", shown.len(), differing.len(), shown.join("\n"));
}

fn differs(script: &Script, verdict: &BashResult) -> bool {
    verdict.accepted().is_some_and(|accepted| accepted != accepts(script))
}

fn still_differs(bash: &BashOracle, script: &Script) -> bool {
    differs(script, &bash.judge_closely(&script.0, script.1))
}

fn accepts((text, extglob): &Script) -> bool {
    parse(text, &ParseOptions { extglob: *extglob, ..ParseOptions::default() }).is_ok()
}

fn smallest(bash: &BashOracle, script: &Script) -> Script {
    let (extglob, accepted) = (script.1, accepts(script));
    let shows = |text: &[u8]| {
        let script = (text.to_vec(), extglob);
        accepts(&script) == accepted && still_differs(bash, &script)
    };
    (shrink(&script.0, shows), extglob)
}

fn describe(bash: &BashOracle, script: &Script) -> String {
    let (text, extglob) = script;
    let options = ParseOptions { extglob: *extglob, ..ParseOptions::default() };
    let ours =
        parse(text, &options).map_or_else(|error| error.render("haft", text), |_| "accepted".to_owned());
    let theirs = bash.judge(text, *extglob);
    format!("{:?} extglob {extglob}\n  bash: {theirs:?}\n  haft: {ours}", String::from_utf8_lossy(text))
}
