//! Compares `printf '%(…)T'` of bash 5.2 with this crate, on all combinations of formats, times and time zones.
//!
//! bash prints nothing if the text is longer than 128 bytes, so every format is short.
#![expect(clippy::disallowed_types, reason = "this crate is below the one that starts processes")]

use std::io::Write as _;
use std::process::{Command, Stdio};

use haft_text::printf::strftime;
use haft_text::printf::time_zone::LocalZone;

/// Values of `TZ`: names of zone files, rules, and values that are neither.
const ZONES: &[&str] = &[
    "UTC",
    "",
    ":UTC",
    ":nonexistent",
    "foo",
    "Nowhere/Land",
    "UTC0",
    "EST+5",
    "EST5EDT",
    "abc1:02:03",
    "<+0330>-3:30",
    "CET-1CEST,M3.5.0,M10.5.0/3",
    "AEST-10AEDT,M10.1.0,M4.1.0/3",
    "EST5EDT,J60,J300",
    "EST5EDT,59,299/26",
    "<-03>3<-02>,M3.5.0/-2,M10.5.0/-1",
    "Europe/Berlin",
    ":Europe/London",
    "America/New_York",
    "America/Nuuk",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "Africa/Casablanca",
    "Africa/Monrovia",
    "Antarctica/Troll",
    "Pacific/Apia",
    "Europe/Dublin",
];

/// The epoch, the beginning and end of daylight saving time, leap days, changes of year and week, and years of few and of many
/// digits.
const TIMES: &[i64] = &[
    0,
    1,
    -3,
    951_782_400,
    1_230_768_000,
    1_609_459_200,
    1_678_604_399,
    1_678_604_400,
    1_679_792_399,
    1_679_792_400,
    1_690_000_000,
    1_698_541_199,
    1_698_541_200,
    1_699_163_999,
    1_699_164_000,
    1_700_000_000,
    4_000_000_000,
    32_503_680_000,
    253_402_300_799,
    253_402_300_800,
    999_999_999_999,
    -1_700_000_000,
    -61_000_000_000,
    -62_135_596_801,
    -99_999_999_999,
];

const FORMATS: &[&str] = &[
    "%F %T|%Z|%z|%s|%c",
    "%G-%V-%g|%j|%U %W|%C|%y|%Y|%e|%D|%r|%p %P",
    "%a %A %b %B %h|%I %l|%u %w|%x %X|%R|%k",
];

/// Flags, widths and modifiers that come before a letter.
const FLAGS: &[&str] = &[
    "", "-", "_", "0", "^", "#", "E", "O", "3", "10", "010", "_10", "-10", "^10", "#10", "0_5", "_05", "-^",
    "^#", "5E", "^E",
];

const LETTERS: &[u8] = b"aAbBcCdDeEfFgGhHiIjJkKlLmMnNoOpPqQrRsStTuUvVwWxXyYzZ+%:@";

/// Times of which the year has one, four, five and negative digits.
const TIMES_FOR_FLAGS: &[i64] = &[0, 1_700_000_000, -62_000_000_000, -63_000_000_000, 253_402_300_800];

/// One line of the comparison: time zone, format, time.
fn cases() -> Vec<(&'static str, String, i64)> {
    let mut cases = Vec::new();
    for zone in ZONES {
        for time in TIMES {
            cases.extend(FORMATS.iter().map(|format| (*zone, (*format).to_owned(), *time)));
        }
    }
    for flags in FLAGS {
        for letter in LETTERS {
            let format = format!("[%{flags}{}]", char::from(*letter));
            cases.extend(TIMES_FOR_FLAGS.iter().map(|time| ("Europe/Berlin", format.clone(), *time)));
        }
    }
    for format in ["100%", "%%", "%5%", "%-", "a%^", "%31", "x%ny%tz", "%é", "%4Y|%5Y|%_6Y"] {
        cases.push(("Europe/Berlin", format.to_owned(), 1_700_000_000));
    }
    cases
}

/// The output of bash for every case, or `None` if there is no bash 5.2 or no zone file.
fn bash_output(cases: &[(&str, String, i64)]) -> Option<Vec<String>> {
    let version = Command::new("bash").arg("--version").output().ok()?.stdout;
    let is_bash_5_2 = String::from_utf8_lossy(&version).contains("version 5.2");
    if !is_bash_5_2 || !std::path::Path::new("/usr/share/zoneinfo/Pacific/Apia").exists() {
        return None;
    }
    let mut bash = Command::new("bash")
        .arg("-s")
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    let mut script = String::new();
    for (zone, format, time) in cases {
        script.push_str(&format!("export TZ='{zone}'; printf '%({format})T\\0' {time}\n"));
    }
    let mut input = bash.stdin.take()?;
    let writer = std::thread::spawn(move || input.write_all(script.as_bytes()));
    let output = bash.wait_with_output().ok()?.stdout;
    writer.join().ok()?.ok()?;
    let mut lines: Vec<String> =
        output.split(|byte| *byte == 0).map(|line| String::from_utf8_lossy(line).into()).collect();
    lines.pop();
    Some(lines)
}

#[test]
fn times_are_formatted_as_by_bash() {
    let cases = cases();
    let Some(expected) = bash_output(&cases) else { return };
    assert_eq!(expected.len(), cases.len());
    let mut differences = Vec::new();
    for ((zone, format, time), expected) in cases.iter().zip(&expected) {
        let loaded = LocalZone::load(Some(zone.as_bytes()), &|path| std::fs::read(path).ok());
        let shown = strftime::format(format.as_bytes(), &loaded.local_time(*time));
        let shown = String::from_utf8_lossy(&shown);
        if shown != *expected {
            differences.push(format!("TZ={zone:?} {format:?} {time}: {shown:?}, but bash: {expected:?}"));
        }
    }
    assert!(differences.is_empty(), "{} differences:\n{}", differences.len(), differences.join("\n"));
}
