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
        "cut" => &[
            "-b{n}",
            "-c2-4",
            "-f{n}",
            "-f1,3",
            "-f2-",
            "-f-2",
            "-d,",
            "-d\u{1} ",
            "-s",
            "--complement",
            "-z",
            "-n",
            "-f\u{1}3-1",
            "--output-delimiter=::",
            "-b1-3,5-6",
            "-b1,2,3-",
            "-f\u{1}-",
            "-f\u{1}x",
            "-f\u{1}1-x,2",
            "-b\u{1}1--2",
            "-d\u{1}ab",
            "-f1,1,2-3,2",
            "-f\u{1}",
            "-f\u{1}1,,2",
            "-f\u{1}99999999999999999999",
            "-c\u{1}2 4",
        ],
        "fold" => &["-b", "-s", "-w{n}", "-{n}", "-w3", "-w7", "-sw5", "--width=9", "-w\u{1}x", "-bs"],
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
        "seq" => &["-w", "-s,", "-s\u{1}", "--separator=ab", "--equal-width"],
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
        "tr" => &["-c", "-d", "-s", "-t", "-C", "-cs", "-ds", "--complement", "--truncate-set1"],
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
    if name == "seq" {
        let numbers = [
            "1", "2", "10", "0", "-1", "-3", "0.5", "1.25", "-.5", "007", "+4", "100", "3.", "x", " 5",
            "1.999", "9", "-10",
        ];
        return (0..random.choose(&[0, 1, 1, 2, 2, 3, 3, 4]))
            .map(|_| random.choose(&numbers).to_owned())
            .collect();
    }
    if name == "tr" {
        let sets = [
            "a-z",
            "A-Z",
            "abc",
            "xy",
            "[:upper:]",
            "[:lower:]",
            "[:digit:]",
            "[:space:]",
            "\\n",
            "[a*3]",
            "[x*]",
            "[=a=]",
            "a",
            "",
            "0-9",
            "z-a",
            "[:foo:]",
            "[::]",
            "\\101-\\132",
            "\\400",
            "a\\",
            "[a*010]bc",
            "[y*9z]",
            "a-",
            "-a",
            "[:alpha:]x",
            "x[:upper:]",
            "[:*]",
            "\\\\",
            "[==]",
            "[=ab=]",
            "[:lower:][:upper:]",
            "[:upper:][:lower:]",
            "aeiou",
            "\\0-\\377",
            "[b*5][c*]",
            "[c*][d*]",
            "\\-x",
            "[a-c]",
        ];
        let common = ["a-z", "A-Z", "abc", "x", "[:upper:]", "[:lower:]", "[x*]", "0-9"];
        let count = random.choose(&[0, 1, 1, 2, 2, 2, 2, 3]);
        let pick = |random: &mut Random| {
            if random.percent(40) { random.choose(&common) } else { random.choose(&sets) }
        };
        return (0..count).map(|_| pick(random).to_owned()).collect();
    }
    let count = match name {
        "uniq" => random.choose(&[0, 1, 1, 1]),
        "comm" => random.choose(&[0, 1, 2, 2, 2, 2, 3]),
        _ => random.below(4),
    };
    let mut names: Vec<String> = (0..count).map(|_| random.choose(OPERANDS).to_owned()).collect();
    // GNU's `comm` closes standard input twice.
    if name == "comm" && names.len() > 1 && names[0] == "-" {
        names[1] = "sorted".to_owned();
    }
    names
}

/// A random call of a command.
pub(crate) fn case(name: &str, random: &mut Random) -> Case {
    let mut arguments = Vec::new();
    if random.percent(2) {
        arguments.push(random.choose(&["-@", "--unknown", "--unknown=x"]).to_owned());
    }
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
