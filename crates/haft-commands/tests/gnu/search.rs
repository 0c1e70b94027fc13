//! Random arguments for the commands that search and edit.

use crate::Case;
use crate::files::{INPUTS, OPERANDS};
use crate::random::Random;

/// Options of `grep`. `{n}` stands for a small number.
const GREP_OPTIONS: &[&str] = &[
    "-n",
    "-c",
    "-v",
    "-i",
    "-o",
    "-w",
    "-x",
    "-l",
    "-L",
    "-q",
    "-s",
    "-h",
    "-H",
    "-b",
    "-T",
    "-Z",
    "-a",
    "-z",
    "-E",
    "-E",
    "-E",
    "-F",
    "-G",
    "-A{n}",
    "-B{n}",
    "-C{n}",
    "-{n}",
    "-m{n}",
    "-r",
    "-I",
    "-U",
    "-y",
    "--color=always",
    "--label=x y",
    "-d\u{1}skip",
    "-d\u{1}x",
    "-m\u{1}x",
    "-A\u{1}x",
    "-e\u{1}a",
    "-e\u{1}pp\nfi",
    "--exclude=*s",
    "--include=w*",
    "--exclude-dir=d*",
    "--group-separator=++",
    "--no-group-separator",
    "--binary-files=text",
    "--binary-files=x",
    "-f\u{1}words",
    "-f\u{1}empty",
    "-no",
    "-5n2",
    "-R",
    "--line-buffered",
    "--no-ignore-case",
    "-f\u{1}missing",
    "-nb",
    "-ob",
];

/// Parts of regular expressions.
const REGEX_PARTS: &[&str] = &[
    "a",
    "b",
    "x",
    "p",
    "e",
    "an",
    "le",
    "1",
    "0",
    " ",
    "",
    ".",
    "^",
    "$",
    "*",
    "\\*",
    "[a-f]",
    "[^a-z]",
    "[[:upper:]]",
    "[[:digit:]]*",
    "\\(a\\)",
    "(p)",
    "\\(p\\)\\1",
    "(.)\\1",
    "a\\|b",
    "a|b",
    "(a|an|ana)",
    "+",
    "?",
    "\\+",
    "\\?",
    "{2}",
    "\\{1,2\\}",
    "{1,",
    "{,2}",
    "\\w",
    "\\W",
    "\\<",
    "\\>",
    "\\b",
    "\\B",
    "\\s",
    "\\S",
    "[]a]",
    "[a-",
    "[[:foo:]]",
    "[[=a=]]",
    "[[.a.]]",
    "[b-a]",
    "(",
    ")",
    "\\(",
    "\\)",
    "()",
    ".*",
    "|",
    "\\|",
    "^a",
    "e$",
    "\\.",
    "[.]",
    "[[:space:]]",
    "\\`",
    "\\'",
    "\\n",
    "\\",
    "(a*)*",
    "(a*)+",
    "[^,]*,",
    "\\(x*\\)*",
];

fn regex(random: &mut Random) -> String {
    let count = random.choose(&[1, 1, 1, 2, 2, 3, 4]);
    (0..count).map(|_| random.choose(REGEX_PARTS)).collect()
}

fn grep(random: &mut Random) -> Case {
    let mut arguments = options(GREP_OPTIONS, random);
    if random.percent(97) {
        arguments.push(regex(random));
    }
    let count = random.choose(&[0, 1, 1, 1, 2, 3]);
    arguments.extend((0..count).map(|_| random.choose(OPERANDS).to_owned()));
    if count == 0 && arguments.iter().any(|word| matches!(word.as_str(), "-r" | "-R")) {
        arguments.push("directory".to_owned());
    }
    Case { arguments, input: random.choose(INPUTS) }
}

/// Options of `sed`.
const SED_OPTIONS: &[&str] = &["-n", "-n", "-E", "-E", "-s", "-z", "-r", "-u", "-l\u{1}5", "-l1", "-b"];

/// Addresses of `sed`.
const SED_ADDRESSES: &[&str] = &[
    "", "", "", "1", "2", "$", "2,3", "1,3", "3,1", "2,$", "1~2", "0~3", "2,+1", "2,~3", "0,/a/", "/a/",
    "/e/I", "/a/,/e/", "2,/x/", "/b/,+2", "1!", "$!", "/a/!", "2,3!", "0", "+1", "1,", "//", "\\,a,", "/a",
    "/[/]/", "2~0", "$,1", "1!!", "/^$/", "/a/,2", "/p/M", "0,2",
];

/// Commands of `sed`.
const SED_COMMANDS: &[&str] = &[
    "p",
    "d",
    "D",
    "g",
    "G",
    "h",
    "H",
    "x",
    "n",
    "N",
    "P",
    "=",
    "l",
    "l 7",
    "z",
    "F",
    "q",
    "q3",
    "Q",
    "Q4",
    "b",
    "t",
    "T",
    "{p}",
    "{p;p}",
    "{n;d}",
    "{N;P;D}",
    "{h;d}",
    "a text",
    "a\\\n two\\\nlines",
    "i text",
    "c text",
    "a\\ta\\tb",
    "i\\",
    "c\\",
    "r words",
    "r missing",
    "R fields",
    "r unfinished",
    "w /dev/stdout",
    "y/abc/xyz/",
    "y/a/bc/",
    "y/a\\/b/x\\ny/",
    "y/,/\\n/",
    "s/a/X/",
    "s/a/X/g",
    "s/[aeiou]/<&>/2",
    "s/e*/-/g",
    "s/b*/x/2g",
    "s/\\(.\\)\\(.\\)/\\2\\1/g",
    "s/(.)(.)/\\2\\1/p",
    "s/\\w\\+/\\u&/g",
    "s/.*/\\U&/",
    "s/\\(a\\|b\\)*/[\\1]/",
    "s/(a*)*/(\\1)/g",
    "s/x/y/w /dev/stdout",
    "s//Z/",
    "s/a/\\n/;P;D",
    "s/$/!/mg",
    "s/^/>/Mg",
    "s/A/q/Ig",
    "s/a/b/0",
    "s/a/b/gg",
    "s/a/b",
    "s,a,/,",
    "s/[/]/x/",
    "s/\\x61/\\x26/",
    "s/\\t/TAB/g",
    "s/a/\\1/",
    "s/\\(/x/",
    "s/a/b/x",
    "k",
    "}",
    "{",
    "{p",
    ":a",
    ": a",
    ":",
    "b nowhere",
    "v",
    "v 9",
    "p p",
    "e",
    "#comment",
    "$!N;s/\\n/ /",
    "N;N;s/\\n/+/g",
    ":a;s/a/b/;ta",
    ":x;N;$!bx;s/\\n/,/g",
    "$!{h;d};x;G",
    "s/\\(.*\\)e/\\L\\u\\1\\E!/",
    "s/a\\|e/[&]/g",
    "s/(a|e|an)+/[&]/g",
    "s/\\n//",
    "w sed-out",
    "W sed-out",
    "s/a/b/;T;p",
    "y/a/",
    "a",
    "s/\\b/|/g",
    "s/\\</{/g;s/\\>/}/g",
    "s/./\\c&/",
    "s/a/\\o101\\d066/",
    "1,2q",
    "=;=",
];

fn sed_script(random: &mut Random) -> String {
    let count = random.choose(&[1, 1, 1, 2, 2, 3]);
    let commands: Vec<String> = (0..count)
        .map(|_| {
            let command = match random.percent(20) {
                true => format!("s/{}/<&>/{}", regex(random), random.choose(&["", "g", "p", "2", "I"])),
                false => random.choose(SED_COMMANDS).to_owned(),
            };
            random.choose(SED_ADDRESSES).to_owned() + &command
        })
        .collect();
    commands.join(random.choose(&["\n", "\n", ";", " ; "]))
}

fn sed(random: &mut Random) -> Case {
    let mut arguments = options(SED_OPTIONS, random);
    if random.percent(20) {
        for _ in 0..2 {
            arguments.extend(["-e".to_owned(), sed_script(random)]);
        }
    } else {
        arguments.push(sed_script(random));
    }
    let count = random.choose(&[0, 0, 1, 1, 2]);
    let mut names: Vec<&str> = (0..count).map(|_| random.choose(OPERANDS)).collect();
    // GNU's `sed` reports a directory only if it does not look for the last line.
    names.retain(|name| *name != "directory");
    arguments.extend(names.into_iter().map(str::to_owned));
    Case { arguments, input: random.choose(INPUTS) }
}

/// Random options. A word of several options or values is split at U+0001.
fn options(choices: &[&str], random: &mut Random) -> Vec<String> {
    let mut arguments = Vec::new();
    while random.percent(60) {
        let number = random.choose(&[0, 1, 2, 3, 10]).to_string();
        let option = random.choose(choices).replace("{n}", &number);
        arguments.extend(option.split('\u{1}').map(str::to_owned));
    }
    arguments
}

/// A random call of a command of this group.
pub(crate) fn case(name: &str, random: &mut Random) -> Option<Case> {
    match name {
        "grep" | "egrep" | "fgrep" => Some(grep(random)),
        "sed" => Some(sed(random)),
        _ => None,
    }
}
