//! Random arguments for the system commands.

use crate::Case;
use crate::random::Random;

/// The words that a command gets, and how many at most.
fn words(name: &str) -> Option<(&'static [&'static str], usize)> {
    Some(match name {
        "hostname" => (&["-s", "--short"], 2),
        "id" => (
            &[
                "-u", "-g", "-G", "-n", "-r", "-z", "-un", "-Gn", "root", "daemon", "0", "no-such", "-a",
                "-Gz",
            ],
            4,
        ),
        "nproc" => (&["--all", "--ignore=1", "--ignore=x", "--ignore=100", "x", "--ignore=-1"], 3),
        "printenv" => (&["PATH", "LC_ALL", "NO_SUCH", "-0", "--null", "PATH=x", "--"], 4),
        "sleep" => (&["0", "0.0", "0s", "0m", "x", "-1", "--", "1y", ""], 3),
        "uname" => (
            &[
                "-s",
                "-n",
                "-r",
                "-v",
                "-m",
                "-p",
                "-i",
                "-o",
                "-a",
                "-sm",
                "--machine",
                "--kernel",
                "x",
                "-x",
            ],
            3,
        ),
        "which" => (&["-a", "ls", "sh", "/bin/sh", "no-such", "/etc/passwd", "--", "./x", "directory"], 4),
        "whoami" => (&["x", "-x", "--"], 2),
        _ => return None,
    })
}

/// Whole calls, for commands that run others.
fn lines(name: &str) -> Option<&'static [&'static str]> {
    Some(match name {
        "nice" => &[
            "",
            "-n",
            "-n 5",
            "-n x seq 2",
            "-n 5 seq 2",
            "-5 seq 2",
            "--adjustment=2 seq 3",
            "-- seq 2",
            "seq x",
            "-x",
            "--adj=1 seq 1",
            "-n5 seq -w 10",
        ],
        "nohup" => &["", "seq 2", "-- seq 2", "seq x", "-x", "--unknown"],
        _ => return None,
    })
}

/// A random call of a system command. `None` if the name is not that of one.
pub(crate) fn case(name: &str, random: &mut Random) -> Option<Case> {
    let arguments = match lines(name) {
        Some(lines) => random.choose(lines).split_whitespace().map(str::to_owned).collect(),
        None => {
            let (words, most) = words(name)?;
            let count = random.below(most + 1);
            (0..count).map(|_| random.choose(words).to_owned()).collect()
        }
    };
    let mut arguments: Vec<String> = arguments;
    // The shell exports more variables than the test does.
    if name == "printenv" {
        arguments.push("PATH".to_owned());
    }
    Some(Case { arguments, input: "words" })
}
