//! Files and arguments for `cmp` and `diff`.

use std::path::Path;

use crate::Case;
use crate::random::Random;

/// The number of files of random lines.
const RANDOM_FILES: usize = 40;

const DIFF_OPTIONS: &[&str] = &[
    "-u",
    "-u",
    "-c",
    "-U\u{1}1",
    "-U0",
    "-C\u{1}1",
    "-q",
    "-s",
    "-w",
    "-b",
    "-B",
    "-i",
    "-a",
    "-N",
    "--normal",
    "--label\u{1}old",
    "--color=never",
    "-r",
    "--brief",
    "--unified=2",
    "--context",
    "-U\u{1}x",
];

const CMP_OPTIONS: &[&str] =
    &["-l", "-b", "-s", "-lb", "-i{n}", "-i\u{1}1:2", "-n{n}", "--verbose", "--quiet"];

const FILES: &[&str] = &[
    "words",
    "repeated",
    "paragraphs",
    "unfinished",
    "empty",
    "bytes",
    "missing",
    "directory",
    "tree1",
    "tree2",
    "one-line",
    "returns",
    "long",
];

/// Makes files of few different lines, so that there are many ways to compare them.
pub(crate) fn make(directory: &Path) {
    let put = |name: &str, content: &[u8]| std::fs::write(directory.join(name), content).expect("a file");
    let mut random = Random::new(7, "compare");
    let mut lines: Vec<String> = Vec::new();
    for number in 0..RANDOM_FILES {
        if number % 8 == 0 {
            let (count, kinds) = (random.below(120), 2 + random.below(30));
            lines = (0..count).map(|_| line(&mut random, kinds)).collect();
        }
        for _ in 0..random.below(12) {
            let at = random.below(lines.len() + 1);
            match random.below(3) {
                0 => lines.insert(at, line(&mut random, 12)),
                1 if at < lines.len() => drop(lines.remove(at)),
                _ if at < lines.len() => lines[at] = line(&mut random, 12),
                _ => {}
            }
        }
        let mut text = lines.concat();
        if random.percent(10) {
            text.pop();
        }
        put(&format!("random{number}"), text.as_bytes());
    }
    for tree in ["tree1", "tree2"] {
        std::fs::create_dir_all(directory.join(tree).join("sub")).expect("a directory");
        put(&format!("{tree}/same"), b"same\n");
        put(&format!("{tree}/other"), format!("{tree}\n").as_bytes());
        put(&format!("{tree}/sub/{tree}"), b"only here\n");
        put(&format!("{tree}/sub/deep"), format!("1\n{tree}\n3\n").as_bytes());
    }
    std::fs::create_dir(directory.join("tree1/kind")).expect("a directory");
    put("tree2/kind", b"a file\n");
}

fn line(random: &mut Random, kinds: usize) -> String {
    match random.below(kinds) {
        0 => "\n".to_owned(),
        1 => " a  b\n".to_owned(),
        2 => "A b \n".to_owned(),
        3 => "a b\n".to_owned(),
        kind => format!("{kind}\n"),
    }
}

/// A random call. `None` if the name is not that of such a command.
pub(crate) fn case(name: &str, random: &mut Random) -> Option<Case> {
    let options = match name {
        "cmp" => CMP_OPTIONS,
        "diff" => DIFF_OPTIONS,
        _ => return None,
    };
    let mut arguments: Vec<String> = Vec::new();
    while random.percent(50) {
        let number = random.choose(&[0, 1, 3, 10, 200]).to_string();
        let option = random.choose(options).replace("{n}", &number);
        arguments.extend(option.split('\u{1}').map(str::to_owned));
    }
    let operand = |random: &mut Random| match random.percent(80) {
        true => format!("random{}", random.below(RANDOM_FILES)),
        false => random.choose(FILES).to_owned(),
    };
    let mut operands = vec![operand(random), operand(random)];
    if random.percent(10) {
        operands = vec!["tree1".to_owned(), "tree2".to_owned()];
    }
    if random.percent(2) {
        operands.pop();
    }
    // Two files that differ little have the same base.
    if let Some(number) = operands[0].strip_prefix("random").and_then(|number| number.parse::<usize>().ok())
        && random.percent(60)
        && operands.len() == 2
    {
        operands[1] = format!("random{}", number / 8 * 8 + random.below(8));
    }
    arguments.extend(operands);
    Some(Case { arguments, input: random.choose(&["words", "random3", "empty"]) })
}
