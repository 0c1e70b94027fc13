//! Waiting for what the caller waits for: decided here from what was seen, without looking at anything itself.

use std::fmt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use regex::bytes::Regex;
use schemars::JsonSchema;
use serde::Deserialize;

use super::ansi::AnsiStripper;

/// What to wait for. The first that comes true ends the waiting; the end of the script always does.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UntilArguments {
    /// Wait for the end; this is so in any case.
    #[serde(default)]
    #[expect(dead_code, reason = "the end is always waited for; callers may say so")]
    exit: Option<bool>,
    /// A regular expression found in new output, for instance "Listening on .*:(\\d+)".
    #[serde(default)]
    pattern: Option<String>,
    /// This many seconds without new output.
    #[serde(default)]
    quiet: Option<f64>,
    /// A TCP port that accepts connections: 8080, or "host:8080".
    #[serde(default)]
    port: Option<PortArgument>,
    /// A file that exists; relative to the working directory of the call.
    #[serde(default)]
    file: Option<PathBuf>,
    /// A process waits for input on its terminal or standard input.
    #[serde(default)]
    input: Option<bool>,
}

/// A port, alone or with its host.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
enum PortArgument {
    Number(u16),
    Address(String),
}

/// The same, understood.
#[derive(Clone, Debug, Default)]
pub(crate) struct WaitConditions {
    pub(crate) pattern: Option<Regex>,
    pub(crate) quiet: Option<Duration>,
    pub(crate) port: Option<String>,
    pub(crate) file: Option<PathBuf>,
    pub(crate) input: bool,
}

/// Which condition came true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MetCondition {
    Pattern(String),
    Quiet(Duration),
    PortArgument(String),
    File(PathBuf),
    Input(i32),
}

/// What was seen of the world at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Observation {
    pub(crate) port_open: bool,
    pub(crate) file_exists: bool,
    pub(crate) needs_input: Option<i32>,
}

impl UntilArguments {
    /// Understands it.
    pub(crate) fn resolve(self) -> Result<WaitConditions, String> {
        let pattern = self.pattern.map(|pattern| {
            Regex::new(&pattern)
                .map_err(|error| format!("\"until.pattern\" is no regular expression: {error}"))
        });
        let quiet = self.quiet.map(|seconds| {
            Duration::try_from_secs_f64(seconds)
                .map_err(|_| format!("\"until.quiet\" is no number of seconds: {seconds}"))
        });
        let is_port = |text: &str| text.parse::<u16>().is_ok_and(|number| number > 0);
        let port = self.port.map(|port| match port {
            PortArgument::Number(number) if number > 0 => Ok(format!("localhost:{number}")),
            PortArgument::Number(number) => Err(format!("\"until.port\" is no port: {number}")),
            PortArgument::Address(text) if is_port(&text) => Ok(format!("localhost:{text}")),
            PortArgument::Address(text) if text.rsplit_once(':').is_some_and(|(_, port)| is_port(port)) => {
                Ok(text)
            }
            PortArgument::Address(text) => {
                Err(format!("\"until.port\" is neither a port nor host:port: \"{text}\""))
            }
        });
        Ok(WaitConditions {
            pattern: pattern.transpose()?,
            quiet: quiet.transpose()?,
            port: port.transpose()?,
            file: self.file,
            input: self.input.unwrap_or(false),
        })
    }
}

impl WaitConditions {
    /// Whether new output may make one of them true or untrue.
    pub(crate) fn follows_output(&self) -> bool {
        self.pattern.is_some() || self.quiet.is_some() || self.input
    }

    /// Whether something must be looked at from time to time, because nothing tells of it.
    pub(crate) fn needs_polling(&self) -> bool {
        self.port.is_some() || self.file.is_some() || self.input
    }
}

impl fmt::Display for MetCondition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MetCondition::Pattern(text) => write!(formatter, "output matched \"{text}\""),
            MetCondition::Quiet(time) => write!(formatter, "quiet for {time:?}"),
            MetCondition::PortArgument(port) => write!(formatter, "port {port} is open"),
            MetCondition::File(file) => write!(formatter, "\"{}\" exists", file.display()),
            MetCondition::Input(pid) => write!(formatter, "process {pid} waits for input"),
        }
    }
}

/// Time between two looks: short at first, as most things happen soon.
const MIN_POLL_INTERVAL: Duration = Duration::from_millis(5);
const MAX_POLL_INTERVAL: Duration = Duration::from_millis(100);
/// A process that has just been given input may still stand in the read it did before: only one that is seen waiting
/// twice, with no output for so long, waits.
const INPUT_CONFIRMATION_TIME: Duration = Duration::from_millis(50);
/// So much of the output stays in view of a pattern that spans several reads.
const PATTERN_WINDOW_BYTES: usize = 16 * 1024;
/// More of a match is not told.
const MAX_MATCH_BYTES: usize = 200;

/// Decides when the waiting is over.
#[derive(Debug)]
pub(crate) struct ConditionTracker {
    conditions: WaitConditions,
    plain: AnsiStripper,
    recent: Vec<u8>,
    last_output: Instant,
    waiting_process: Option<i32>,
    gap: Duration,
    next_look: Instant,
}

impl ConditionTracker {
    /// A waiter that begins now.
    pub(crate) fn new(conditions: WaitConditions, now: Instant) -> ConditionTracker {
        ConditionTracker {
            conditions,
            plain: AnsiStripper::default(),
            recent: Vec::new(),
            last_output: now,
            waiting_process: None,
            gap: MIN_POLL_INTERVAL,
            next_look: now,
        }
    }

    pub(crate) fn conditions(&self) -> &WaitConditions {
        &self.conditions
    }

    /// Takes note of new output.
    pub(crate) fn output(&mut self, bytes: &[u8], now: Instant) -> Option<MetCondition> {
        self.last_output = now;
        self.waiting_process = None;
        let pattern = self.conditions.pattern.as_ref()?;
        self.plain.push(bytes, &mut self.recent);
        if let Some(found) = pattern.find(&self.recent) {
            let shown = &self.recent[found.start()..found.end().min(found.start() + MAX_MATCH_BYTES)];
            return Some(MetCondition::Pattern(String::from_utf8_lossy(shown).into_owned()));
        }
        let surplus = self.recent.len().saturating_sub(PATTERN_WINDOW_BYTES);
        self.recent.drain(..surplus);
        None
    }

    /// Takes note of what was seen.
    pub(crate) fn observe(&mut self, sight: Observation, now: Instant) -> Option<MetCondition> {
        self.gap = (self.gap * 2).min(MAX_POLL_INTERVAL);
        self.next_look = now + self.gap;
        if let Some(port) = self.conditions.port.as_ref().filter(|_| sight.port_open) {
            return Some(MetCondition::PortArgument(port.clone()));
        }
        if let Some(file) = self.conditions.file.as_ref().filter(|_| sight.file_exists) {
            return Some(MetCondition::File(file.clone()));
        }
        let seen_before = std::mem::replace(&mut self.waiting_process, sight.needs_input);
        let settled = now.saturating_duration_since(self.last_output) >= INPUT_CONFIRMATION_TIME;
        sight.needs_input.filter(|_| settled && seen_before == sight.needs_input).map(MetCondition::Input)
    }

    /// Takes note of the time.
    pub(crate) fn time(&self, now: Instant) -> Option<MetCondition> {
        let quiet = self.conditions.quiet?;
        (now.saturating_duration_since(self.last_output) >= quiet).then_some(MetCondition::Quiet(quiet))
    }

    /// When to look at the world or the clock again, if nothing is heard before.
    pub(crate) fn due(&self) -> Option<Instant> {
        let look = self.conditions.needs_polling().then_some(self.next_look);
        let quiet = self.conditions.quiet.map(|quiet| self.last_output + quiet);
        look.into_iter().chain(quiet).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conditions(json: &str) -> WaitConditions {
        serde_json::from_str::<UntilArguments>(json).unwrap().resolve().unwrap()
    }

    fn waiter(json: &str) -> (ConditionTracker, Instant) {
        let now = Instant::now();
        (ConditionTracker::new(conditions(json), now), now)
    }

    #[test]
    fn a_pattern_is_found_across_reads_and_colours() {
        let (mut waiter, now) = waiter(r#"{"pattern": "ready on \\d+"}"#);
        assert_eq!(waiter.output(b"starting\nrea", now), None);
        let met = waiter.output(b"\x1b[32mdy\x1b[0m on 8080\n", now);
        assert_eq!(met, Some(MetCondition::Pattern("ready on 8080".to_owned())));
        assert_eq!(waiter.due(), None);
    }

    #[test]
    fn quiet_counts_from_the_last_output() {
        let (mut waiter, now) = waiter(r#"{"quiet": 2}"#);
        let second = Duration::from_secs(1);
        assert_eq!(waiter.output(b"x", now + second), None);
        assert_eq!(waiter.time(now + 2 * second), None);
        assert_eq!(waiter.due(), Some(now + 3 * second));
        assert_eq!(waiter.time(now + 3 * second), Some(MetCondition::Quiet(2 * second)));
    }

    #[test]
    fn ports_and_files_are_looked_at_less_and_less_often() {
        let (mut waiter, now) = waiter(r#"{"port": 8080, "file": "made"}"#);
        assert_eq!(waiter.conditions().port.as_deref(), Some("localhost:8080"));
        assert_eq!(waiter.due(), Some(now));
        assert_eq!(waiter.observe(Observation::default(), now), None);
        assert_eq!(waiter.due(), Some(now + 2 * MIN_POLL_INTERVAL));
        for _ in 0..10 {
            waiter.observe(Observation::default(), now);
        }
        assert_eq!(waiter.due(), Some(now + MAX_POLL_INTERVAL));
        let open = Observation { port_open: true, ..Observation::default() };
        assert_eq!(waiter.observe(open, now).unwrap().to_string(), "port localhost:8080 is open");
    }

    #[test]
    fn a_process_waits_when_it_is_seen_twice_and_nothing_comes() {
        let (mut waiter, now) = waiter(r#"{"input": true}"#);
        let sight = Observation { needs_input: Some(7), ..Observation::default() };
        assert_eq!(waiter.observe(sight, now), None);
        assert_eq!(waiter.observe(sight, now + INPUT_CONFIRMATION_TIME / 2), None);
        waiter.output(b"echo", now + INPUT_CONFIRMATION_TIME);
        assert_eq!(waiter.observe(sight, now + 3 * INPUT_CONFIRMATION_TIME), None);
        assert_eq!(waiter.observe(sight, now + 4 * INPUT_CONFIRMATION_TIME), Some(MetCondition::Input(7)));
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        let refused =
            |json: &str| serde_json::from_str::<UntilArguments>(json).unwrap().resolve().unwrap_err();
        assert!(refused(r#"{"pattern": "("}"#).starts_with("\"until.pattern\" is no regular expression"));
        assert_eq!(refused(r#"{"quiet": -1}"#), "\"until.quiet\" is no number of seconds: -1");
        assert!(refused(r#"{"port": "here"}"#).contains("neither a port nor host:port"));
        assert!(refused(r#"{"port": "host:abc"}"#).contains("neither a port nor host:port"));
        assert!(refused(r#"{"port": "99999"}"#).contains("neither a port nor host:port"));
        assert!(refused(r#"{"port": 0}"#).contains("is no port"));
        assert!(serde_json::from_str::<UntilArguments>(r#"{"patern": "x"}"#).is_err());
    }
}
