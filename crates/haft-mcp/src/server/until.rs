//! Decides whether a wait is over, from observations that others make. Does no I/O.

use std::fmt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use regex::bytes::Regex;
use schemars::JsonSchema;
use serde::Deserialize;

use super::ansi::AnsiStripper;

/// Return when one of these is met; the script continues as a job.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UntilArguments {
    /// Regex that new output matches.
    #[serde(default)]
    pattern: Option<String>,
    /// Seconds without output.
    #[serde(default)]
    quiet: Option<f64>,
    /// A process of the script listens on this TCP port: 8080 or "host:8080".
    #[serde(default)]
    #[schemars(schema_with = "port_schema")]
    port: Option<PortArgument>,
    /// This file exists.
    #[serde(default)]
    file: Option<PathBuf>,
    /// A process waits for input.
    #[serde(default)]
    input: Option<bool>,
}

/// The schema of a [`PortArgument`].
fn port_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "type": ["integer", "string"] })
}

/// A port number, or a host and a port.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum PortArgument {
    Number(u16),
    Address(String),
}

/// Validated conditions.
#[derive(Clone, Debug, Default)]
pub(crate) struct WaitConditions {
    pub(crate) pattern: Option<Regex>,
    pub(crate) quiet: Option<Duration>,
    pub(crate) port: Option<String>,
    /// Whether the port accepted connections before the script started.
    pub(crate) port_was_open: bool,
    pub(crate) file: Option<PathBuf>,
    pub(crate) input: bool,
}

/// The condition that was met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MetCondition {
    Pattern(String),
    Quiet(Duration),
    Port(String),
    /// The port was open before, and no process of the job listens on it.
    ForeignPort(String),
    File(PathBuf),
    Input(i32),
}

/// The state of a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum PortState {
    #[default]
    Closed,
    /// A process of the job listens.
    OpenedByJob,
    /// Another process listens.
    OpenedByOther,
}

/// The state of everything that must be polled.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Observation {
    pub(crate) port: PortState,
    pub(crate) file_exists: bool,
    pub(crate) needs_input: Option<i32>,
}

impl UntilArguments {
    /// Validates the arguments.
    pub(crate) fn resolve(self) -> Result<WaitConditions, String> {
        let pattern = self
            .pattern
            .map(|pattern| Regex::new(&pattern).map_err(|error| format!("invalid 'until.pattern': {error}")));
        let quiet = self.quiet.map(|seconds| {
            Duration::try_from_secs_f64(seconds)
                .map_err(|_| format!("invalid 'until.quiet': {seconds} (expected a number of seconds)"))
        });
        let is_port = |text: &str| text.parse::<u16>().is_ok_and(|number| number > 0);
        let port = self.port.map(|port| match port {
            PortArgument::Number(number) if number > 0 => Ok(format!("localhost:{number}")),
            PortArgument::Number(number) => Err(format!("invalid 'until.port': {number}")),
            PortArgument::Address(text) if is_port(&text) => Ok(format!("localhost:{text}")),
            PortArgument::Address(text) if text.rsplit_once(':').is_some_and(|(_, port)| is_port(port)) => {
                Ok(text)
            }
            PortArgument::Address(text) => {
                Err(format!("invalid 'until.port': '{text}' (expected a port or host:port)"))
            }
        });
        Ok(WaitConditions {
            pattern: pattern.transpose()?,
            quiet: quiet.transpose()?,
            port: port.transpose()?,
            port_was_open: false,
            file: self.file,
            input: self.input.unwrap_or(false),
        })
    }
}

impl WaitConditions {
    /// Whether new output affects a condition.
    pub(crate) fn follows_output(&self) -> bool {
        self.pattern.is_some() || self.quiet.is_some() || self.input
    }

    /// Whether a condition must be polled because no event reports it.
    pub(crate) fn needs_polling(&self) -> bool {
        self.port.is_some() || self.file.is_some() || self.input
    }
}

impl fmt::Display for MetCondition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MetCondition::Pattern(text) => write!(formatter, "output matched '{text}'"),
            MetCondition::Quiet(time) => write!(formatter, "no output for {time:?}"),
            MetCondition::Port(port) => write!(formatter, "port {port} is open"),
            MetCondition::ForeignPort(port) => {
                write!(formatter, "port {port} was open before, and no process of this job listens on it")
            }
            MetCondition::File(file) => write!(formatter, "'{}' exists", file.display()),
            MetCondition::Input(_) => formatter.write_str("waiting for input"),
        }
    }
}

/// The polling interval doubles between these bounds, because most conditions are met soon.
const MIN_POLL_INTERVAL: Duration = Duration::from_millis(5);
const MAX_POLL_INTERVAL: Duration = Duration::from_millis(100);
/// A process that has just received input may still be inside its previous `read`. It counts as waiting only if two
/// observations agree and there was no output for this long.
const INPUT_CONFIRMATION_TIME: Duration = Duration::from_millis(50);
/// How long to wait for the job to listen on a port that another process had open before.
const FOREIGN_PORT_TIME: Duration = Duration::from_secs(2);
/// The amount of recent output that a pattern is matched against.
const PATTERN_WINDOW_BYTES: usize = 16 * 1024;
/// Longer matches are cut in the answer.
const MAX_MATCH_BYTES: usize = 200;

/// Tracks output, observations and time until a condition is met.
#[derive(Debug)]
pub(crate) struct ConditionTracker {
    conditions: WaitConditions,
    started: Instant,
    stripper: AnsiStripper,
    recent: Vec<u8>,
    last_output: Instant,
    waiting_process: Option<i32>,
    poll_interval: Duration,
    next_poll: Instant,
}

impl ConditionTracker {
    /// Starts tracking.
    pub(crate) fn new(conditions: WaitConditions, now: Instant) -> ConditionTracker {
        ConditionTracker {
            conditions,
            started: now,
            stripper: AnsiStripper::default(),
            recent: Vec::new(),
            last_output: now,
            waiting_process: None,
            poll_interval: MIN_POLL_INTERVAL,
            next_poll: now,
        }
    }

    pub(crate) fn conditions(&self) -> &WaitConditions {
        &self.conditions
    }

    /// Processes new output.
    pub(crate) fn output(&mut self, bytes: &[u8], now: Instant) -> Option<MetCondition> {
        self.last_output = now;
        self.waiting_process = None;
        let pattern = self.conditions.pattern.as_ref()?;
        self.stripper.push(bytes, &mut self.recent);
        if let Some(found) = pattern.find(&self.recent) {
            let shown = &self.recent[found.start()..found.end().min(found.start() + MAX_MATCH_BYTES)];
            return Some(MetCondition::Pattern(String::from_utf8_lossy(shown).into_owned()));
        }
        let surplus = self.recent.len().saturating_sub(PATTERN_WINDOW_BYTES);
        self.recent.drain(..surplus);
        None
    }

    /// Processes an observation.
    pub(crate) fn observe(&mut self, observation: Observation, now: Instant) -> Option<MetCondition> {
        self.poll_interval = (self.poll_interval * 2).min(MAX_POLL_INTERVAL);
        self.next_poll = now + self.poll_interval;
        if let Some(port) = self.conditions.port.clone() {
            match observation.port {
                PortState::OpenedByJob => return Some(MetCondition::Port(port)),
                // Something that the job asked for, such as a container, opened it.
                PortState::OpenedByOther if !self.conditions.port_was_open => {
                    return Some(MetCondition::Port(port));
                }
                PortState::OpenedByOther if now >= self.started + FOREIGN_PORT_TIME => {
                    return Some(MetCondition::ForeignPort(port));
                }
                PortState::OpenedByOther | PortState::Closed => {}
            }
        }
        if let Some(file) = self.conditions.file.as_ref().filter(|_| observation.file_exists) {
            return Some(MetCondition::File(file.clone()));
        }
        let seen_before = std::mem::replace(&mut self.waiting_process, observation.needs_input);
        let settled = now.saturating_duration_since(self.last_output) >= INPUT_CONFIRMATION_TIME;
        observation
            .needs_input
            .filter(|_| settled && seen_before == observation.needs_input)
            .map(MetCondition::Input)
    }

    /// Checks the conditions that depend on time alone.
    pub(crate) fn check_time(&self, now: Instant) -> Option<MetCondition> {
        let quiet = self.conditions.quiet?;
        (now.saturating_duration_since(self.last_output) >= quiet).then_some(MetCondition::Quiet(quiet))
    }

    /// When to observe or check the time again, if there is no output before.
    pub(crate) fn due(&self) -> Option<Instant> {
        let poll = self.conditions.needs_polling().then_some(self.next_poll);
        let quiet = self.conditions.quiet.map(|quiet| self.last_output + quiet);
        poll.into_iter().chain(quiet).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conditions(json: &str) -> WaitConditions {
        serde_json::from_str::<UntilArguments>(json).unwrap().resolve().unwrap()
    }

    fn tracker(json: &str) -> (ConditionTracker, Instant) {
        let now = Instant::now();
        (ConditionTracker::new(conditions(json), now), now)
    }

    #[test]
    fn a_pattern_matches_across_reads_and_color_codes() {
        let (mut tracker, now) = tracker(r#"{"pattern": "ready on \\d+"}"#);
        assert_eq!(tracker.output(b"starting\nrea", now), None);
        let met = tracker.output(b"\x1b[32mdy\x1b[0m on 8080\n", now);
        assert_eq!(met, Some(MetCondition::Pattern("ready on 8080".to_owned())));
        assert_eq!(tracker.due(), None);
    }

    #[test]
    fn quiet_counts_from_the_last_output() {
        let (mut tracker, now) = tracker(r#"{"quiet": 2}"#);
        let second = Duration::from_secs(1);
        assert_eq!(tracker.output(b"x", now + second), None);
        assert_eq!(tracker.check_time(now + 2 * second), None);
        assert_eq!(tracker.due(), Some(now + 3 * second));
        assert_eq!(tracker.check_time(now + 3 * second), Some(MetCondition::Quiet(2 * second)));
    }

    #[test]
    fn ports_and_files_are_polled_less_and_less_often() {
        let (mut tracker, now) = tracker(r#"{"port": 8080, "file": "made"}"#);
        assert_eq!(tracker.conditions().port.as_deref(), Some("localhost:8080"));
        assert_eq!(tracker.due(), Some(now));
        assert_eq!(tracker.observe(Observation::default(), now), None);
        assert_eq!(tracker.due(), Some(now + 2 * MIN_POLL_INTERVAL));
        for _ in 0..10 {
            tracker.observe(Observation::default(), now);
        }
        assert_eq!(tracker.due(), Some(now + MAX_POLL_INTERVAL));
        let open = Observation { port: PortState::OpenedByJob, ..Observation::default() };
        assert_eq!(tracker.observe(open, now).unwrap().to_string(), "port localhost:8080 is open");
    }

    #[test]
    fn a_port_that_was_open_before_counts_only_if_the_job_listens() {
        let now = Instant::now();
        let other = Observation { port: PortState::OpenedByOther, ..Observation::default() };
        let own = Observation { port: PortState::OpenedByJob, ..Observation::default() };
        let tracker = |port_was_open| {
            ConditionTracker::new(WaitConditions { port_was_open, ..conditions(r#"{"port": 80}"#) }, now)
        };
        assert_eq!(tracker(false).observe(other, now), Some(MetCondition::Port("localhost:80".to_owned())));
        assert_eq!(tracker(true).observe(own, now), Some(MetCondition::Port("localhost:80".to_owned())));
        assert_eq!(tracker(true).observe(other, now), None);
        let later = tracker(true).observe(other, now + FOREIGN_PORT_TIME).unwrap();
        assert!(later.to_string().contains("was open before"), "{later}");
    }

    #[test]
    fn a_process_waits_for_input_if_two_observations_agree() {
        let (mut tracker, now) = tracker(r#"{"input": true}"#);
        let observation = Observation { needs_input: Some(7), ..Observation::default() };
        assert_eq!(tracker.observe(observation, now), None);
        assert_eq!(tracker.observe(observation, now + INPUT_CONFIRMATION_TIME / 2), None);
        tracker.output(b"echo", now + INPUT_CONFIRMATION_TIME);
        assert_eq!(tracker.observe(observation, now + 3 * INPUT_CONFIRMATION_TIME), None);
        assert_eq!(
            tracker.observe(observation, now + 4 * INPUT_CONFIRMATION_TIME),
            Some(MetCondition::Input(7))
        );
    }

    #[test]
    fn invalid_conditions_are_rejected() {
        let error = |json: &str| serde_json::from_str::<UntilArguments>(json).unwrap().resolve().unwrap_err();
        assert!(error(r#"{"pattern": "("}"#).starts_with("invalid 'until.pattern': "));
        assert_eq!(error(r#"{"quiet": -1}"#), "invalid 'until.quiet': -1 (expected a number of seconds)");
        assert!(error(r#"{"port": "here"}"#).contains("(expected a port or host:port)"));
        assert!(error(r#"{"port": "host:abc"}"#).contains("(expected a port or host:port)"));
        assert!(error(r#"{"port": "99999"}"#).contains("(expected a port or host:port)"));
        assert!(error(r#"{"port": 0}"#).contains("invalid 'until.port': 0"));
        assert!(serde_json::from_str::<UntilArguments>(r#"{"patern": "x"}"#).is_err());
    }
}
