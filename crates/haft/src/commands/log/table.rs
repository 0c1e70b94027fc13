//! Runs as lines of text.

use std::fmt::Write as _;

use haft_config::printable_text;
use haft_records::{RunState, RunSummary};
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// The most characters of a script that a line shows.
const MAX_TEXT_CHARACTERS: usize = 100;

/// One line for each run: date and time, id, status, duration, agent, and the first line of its text.
pub(super) fn runs(runs: &[RunSummary]) -> String {
    let zone = TimeZone::system();
    let width = |length: &dyn Fn(&RunSummary) -> usize| runs.iter().map(length).max().unwrap_or(0);
    let (ids, agents) = (width(&|run| run.id.len()), width(&|run| agent(run).chars().count()));
    let mut text = String::new();
    for run in runs {
        let (time, status, duration) = (local_time(run.time, &zone), status(run), seconds(run.duration));
        let (id, agent, title) = (&run.id, agent(run), title(&run.text));
        let _ = writeln!(text, "{time}  {id:ids$}  {status:9} {duration:>8}  {agent:agents$}  {title}");
    }
    text
}

/// A time in milliseconds since 1970 as local date and time.
pub(super) fn local_time(milliseconds: u64, zone: &TimeZone) -> String {
    let time = i64::try_from(milliseconds).ok().and_then(|time| Timestamp::from_millisecond(time).ok());
    time.map_or_else(|| "-".to_owned(), |time| time.to_zoned(zone.clone()).strftime("%F %T").to_string())
}

fn agent(run: &RunSummary) -> String {
    run.agent.as_deref().map_or_else(|| "-".to_owned(), printable_text)
}

fn status(run: &RunSummary) -> String {
    match run.state {
        RunState::Ended => format!("exit {}", run.code),
        RunState::Running => "running".to_owned(),
        RunState::Lost => "lost".to_owned(),
    }
}

/// A duration with three digits at most: `12ms`, `1.2s`, `3m20s`, `2h05m`.
pub(crate) fn seconds(duration: f64) -> String {
    let whole = duration as u64;
    match duration {
        _ if duration < 1.0 => format!("{:.0}ms", duration * 1e3),
        _ if duration < 60.0 => format!("{duration:.1}s"),
        _ if duration < 3600.0 => format!("{}m{:02}s", whole / 60, whole % 60),
        _ => format!("{}h{:02}m", whole / 3600, whole / 60 % 60),
    }
}

/// The first line of a text that is not empty, without control characters.
pub(crate) fn title(text: &str) -> String {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let line = lines.next().unwrap_or_default().trim();
    let shown: String = line.chars().take(MAX_TEXT_CHARACTERS).collect();
    let more = if shown.len() < line.len() || lines.next().is_some() { " …" } else { "" };
    printable_text(&shown) + more
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_one_line_without_control_characters() {
        assert_eq!(title("\n  make test\n"), "make test");
        assert_eq!(title("one\ntwo"), "one …");
        assert_eq!(title("a\u{1b}[31mb"), "a\\u{1b}[31mb");
        assert_eq!(title(&"x".repeat(200)), "x".repeat(100) + " …");
    }

    #[test]
    fn durations_are_short() {
        let cases = [(0.0124, "12ms"), (1.26, "1.3s"), (75.0, "1m15s"), (7500.0, "2h05m")];
        for (duration, expected) in cases {
            assert_eq!(seconds(duration), expected);
        }
    }
}
