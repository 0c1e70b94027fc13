//! Random arguments for each command.

use crate::Case;
use crate::files::{ENCODED, INPUTS, OPERANDS, SUMS};
use crate::random::Random;

/// The options of a command. `{n}` stands for a small number.
fn options(name: &str) -> &'static [&'static str] {
    match name {
        "base64" => {
            &["-d", "-i", "-w{n}", "-di", "--decode", "-w\u{1}x", "-w\u{1}-1", "--wrap=0", "-w\u{1}+4"]
        }
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
        "md5sum" | "sha1sum" | "sha256sum" => &[
            "-b",
            "-t",
            "-c",
            "-c",
            "-c",
            "--tag",
            "-z",
            "--quiet",
            "--status",
            "--ignore-missing",
            "--strict",
            "-w",
            "-cw",
        ],
        "nl" => &[
            "-ba",
            "-bt",
            "-bn",
            "-ha",
            "-fa",
            "-ht",
            "-b\u{1}x",
            "-f\u{1}",
            "-d\u{1}ab",
            "-d\u{1}x",
            "-d\u{1}",
            "-d\u{1}one",
            "-i{n}",
            "-i\u{1}-3",
            "-l{n}",
            "-nln",
            "-nrn",
            "-nrz",
            "-n\u{1}x",
            "-p",
            "-s\u{1}: ",
            "-s\u{1}",
            "-v{n}",
            "-v\u{1}-7",
            "-v9223372036854775806",
            "-w{n}",
            "-w\u{1}x",
            "-l\u{1}9999999999999999999",
            "--number-width=2",
            "-baz",
            "-ba",
        ],
        "paste" => &["-s", "-d,", "-d\u{1}ab\\n", "-z", "-d\u{1}\\0", "-d\u{1}", "--serial", "-d\u{1}x\\"],
        "rev" => &[],
        "seq" => &["-w", "-s,", "-s\u{1}", "--separator=ab", "--equal-width"],
        "sort" => &[
            "-n",
            "-g",
            "-h",
            "-V",
            "-M",
            "-u",
            "-r",
            "-s",
            "-c",
            "-C",
            "-m",
            "-z",
            "-f",
            "-b",
            "-d",
            "-i",
            "-k2",
            "-k1,1",
            "-k2,2n",
            "-k2nr",
            "-k\u{1}1.2,1.3",
            "-k2b,2.2b",
            "-k1.3b",
            "-k2,1",
            "-k1fd,1",
            "-k2V",
            "-k1M",
            "-k2.1h",
            "-k1g",
            "-k{n}.{n},{n}",
            "-k2.2b,3.1br",
            "-k1,1.0",
            "-k\u{1}1x",
            "-k\u{1}",
            "-k1,",
            "-k1.x",
            "-t,",
            "-t\u{1}:",
            "-t\u{1}",
            "-tab",
            "-t\u{1}\\0",
            "--key=2,2",
            "--check=quiet",
            "--check",
            "--check=x",
            "--parallel={n}",
            "-S{n}M",
            "-S\u{1}1q",
            "-T\u{1}/tmp",
            "-nr",
            "-ru",
            "-bf",
            "-o\u{1}missing/x",
            "--reverse",
            "-t\u{1} ",
            "-k1,1d",
            "-k1i,1",
            "-Vf",
            "-fu",
            "-Mu",
            "-hr",
            "-k3r",
        ],
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
        "base64" => random.choose(&[0, 1, 1, 1, 2]),
        "comm" => random.choose(&[0, 1, 2, 2, 2, 2, 3]),
        _ => random.below(4),
    };
    let choices = match name {
        "md5sum" | "sha1sum" | "sha256sum" if random.percent(60) => SUMS,
        "base64" if random.percent(60) => ENCODED,
        _ => OPERANDS,
    };
    let mut names: Vec<String> = (0..count).map(|_| random.choose(choices).to_owned()).collect();
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
