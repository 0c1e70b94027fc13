//! Random arguments for the system commands.

use crate::Case;
use crate::random::Random;

/// The words that a command gets, and how many at most.
fn words(name: &str) -> Option<(&'static [&'static str], usize)> {
    Some(match name {
        "expr" => (
            &[
                "1", "2", "0", "-3", "abc", "10", "", "+", "-", "*", "/", "%", "(", ")", "|", "&", "<", "<=",
                "=", "==", "!=", ">", ":", "a\\(b\\)", "a.*", "length", "index", "substr", "match", "01",
                "a*b", "[0-9]*", "\\(x\\)", "1", "2", "+", ":", "-", "abc",
            ],
            6,
        ),
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

const DATES: &[&str] = &[
    "2024-02-29",
    "2023-02-29",
    "29 Feb 2024",
    "Feb 29 2024",
    "February 29, 2024",
    "29-Feb-2024",
    "2/29/2024",
    "2/29/24",
    "2024/02/29",
    "20240229",
    "@0",
    "@-1.5",
    "@1234567890.123456789",
    "@1 day",
    "1999-12-31",
    "0001-01-01",
    "9999-12-31",
    "99-01-02",
    "Sun, 06 Nov 1994",
    "1 Jan 70",
    "13/1/2020",
    "nonsense",
    "2020-1-1",
    "2020-01-01T",
    "10000-01-01",
];

const TIMES: &[&str] = &[
    "",
    "10:20",
    "10:20:30",
    "10:20:30.5",
    "1pm",
    "12 am",
    "12:30 p.m.",
    "13pm",
    "24:00",
    "23:59:60",
    "T10:20:30Z",
    "10:20:30+02:00",
    "10:20 -0530",
    "10:20 +3",
    "10:20 UTC",
    "10:20 EST",
    "10:20 CEST",
    "1020",
    "10:20 UTC+2",
    "10:61",
];

const SHIFTS: &[&str] = &[
    "",
    "",
    "+1 day",
    "-1 day",
    "3 days ago",
    "next month",
    "last year",
    "2 weeks",
    "1 month 2 days ago",
    "yesterday",
    "tomorrow",
    "monday",
    "next friday",
    "-36 hours",
    "90 min",
    "1.5 seconds",
    "fortnight",
    "day",
    "+1 month -1 day",
    "1 hour ago",
    "(comment)",
    "12 dec",
];

const FORMATS: &[&str] = &[
    "+%F %T %Z %z",
    "+%s",
    "+%s.%N",
    "+%a %A %b %B %c %C %d %D %e",
    "+%g %G %h %H %I %j %k %l %m %M",
    "+%n%t%p%P%r%R%S%T%u%U%V%w%W%x%X%y%Y",
    "+%3N|%-N|%_N|%12N|%1N|%-3N|%_3N",
    "+%:z|%::z|%:::z|%_:z|%-:z|%10:z|%q|%5q|%_8z|%-8z",
    "+%20s|%-20s|%_20s|%^10B|%#10a|%010a|%-10a|%010Y|%_10Y|%-y|%_5S",
    "+%Q|%E|%5|%::|%",
    "-R",
    "-I",
    "-Iseconds",
    "-Ins",
    "-Ihours",
    "-Iminutes",
    "-Ix",
    "--iso-8601=m",
    "--rfc-3339=date",
    "--rfc-3339=seconds",
    "--rfc-3339=ns",
    "--rfc-3339=x",
    "--rfc-email",
    "-u",
];

/// A call of `date` whose output does not depend on the current time.
fn date(random: &mut Random) -> Vec<String> {
    let parts = [random.choose(DATES), random.choose(TIMES), random.choose(SHIFTS)];
    let text = parts.join(if random.percent(95) { " " } else { "" });
    let mut arguments = vec!["-d".to_owned(), text.trim().to_owned()];
    while random.percent(60) {
        arguments.push(random.choose(FORMATS).to_owned());
    }
    arguments
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
        _ if name == "date" => date(random),
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
