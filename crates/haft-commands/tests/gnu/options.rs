//! Random arguments for each command.

use crate::Case;
use crate::files::{INPUTS, OPERANDS};
use crate::random::Random;

/// The options of a command. `{n}` stands for a small number.
fn options(name: &str) -> &'static [&'static str] {
    match name {
        "cat" => &[
            "-n",
            "-b",
            "-s",
            "-E",
            "-T",
            "-v",
            "-A",
            "-e",
            "-t",
            "-u",
            "--number",
            "--show-ends",
            "-nE",
            "-bs",
        ],
        "comm" => &[
            "-1",
            "-2",
            "-3",
            "-12",
            "--check-order",
            "--nocheck-order",
            "--total",
            "-z",
            "--output-delimiter=:",
            "--output-delimiter=",
        ],
        "head" => &[
            "-n{n}",
            "-c{n}",
            "-n\u{1}-{n}",
            "-c\u{1}-{n}",
            "-q",
            "-v",
            "-z",
            "--lines={n}",
            "--bytes={n}K",
            "-n\u{1}x",
            "-c1b",
        ],
        "paste" => &["-s", "-d,", "-d\u{1}ab\\n", "-z", "-d\u{1}\\0", "-d\u{1}", "--serial", "-d\u{1}x\\"],
        "rev" => &[],
        "tac" => &["-b", "-s\u{1}a", "-s\u{1}le", "--separator=x", "-s\u{1}"],
        "tail" => &[
            "-n{n}",
            "-c{n}",
            "-n\u{1}+{n}",
            "-c\u{1}+{n}",
            "-q",
            "-v",
            "-z",
            "--lines={n}",
            "--bytes=-{n}",
            "-n\u{1}x",
            "-c1b",
        ],
        "tee" => &["-a", "-i", "--append"],
        "uniq" => &[
            "-c",
            "-d",
            "-D",
            "-u",
            "-i",
            "-f{n}",
            "-s{n}",
            "-w{n}",
            "-z",
            "--count",
            "-f\u{1}x",
            "-w\u{1}-1",
        ],
        "wc" => &["-l", "-w", "-c", "-m", "-L", "--lines", "-lc"],
        other => panic!("no options for '{other}'"),
    }
}

/// The operands that a command takes, if not any number of files.
fn operands(name: &str, random: &mut Random) -> Vec<String> {
    if name == "tee" {
        return [vec![], vec!["out".to_owned()], vec!["missing/x".to_owned(), "out 2".to_owned()]]
            [random.below(3)]
        .clone();
    }
    let count = match name {
        "uniq" => random.choose(&[0, 1, 1, 1]),
        "comm" => random.choose(&[0, 1, 2, 2, 2, 2, 3]),
        _ => random.below(4),
    };
    (0..count).map(|_| random.choose(OPERANDS).to_owned()).collect()
}

/// A random call of a command.
pub(crate) fn case(name: &str, random: &mut Random) -> Case {
    let mut arguments = Vec::new();
    while !options(name).is_empty() && random.percent(60) {
        let number = random.choose(&[0, 1, 2, 3, 5, 10, 80]).to_string();
        let option = random.choose(options(name)).replace("{n}", &number);
        arguments.extend(option.split('\u{1}').map(str::to_owned));
    }
    let operands = operands(name, random);
    if random.percent(10) {
        arguments.push("--".to_owned());
    }
    arguments.extend(operands);
    Case { arguments, input: random.choose(INPUTS) }
}
