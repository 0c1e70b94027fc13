//! `time`.

use std::time::{Duration, Instant};

use haft_lang::ast::{Pipeline, TimeFormat};

use crate::flow::Flow;
use crate::session::Session;
use crate::supervision::StageRecorder;

/// The default of `TIMEFORMAT`.
const DEFAULT_FORMAT: &[u8] = b"\nreal\t%3lR\nuser\t%3lU\nsys\t%3lS";
/// The format of `time -p`.
const POSIX_FORMAT: &[u8] = b"real %2R\nuser %2U\nsys %2S";

struct Times {
    real: Duration,
    user: Duration,
    system: Duration,
}

impl Session {
    /// Runs a pipeline and reports how long it took.
    pub(crate) fn run_timed(
        &mut self,
        pipeline: &Pipeline,
        format: TimeFormat,
        record: &mut Option<Box<StageRecorder>>,
    ) -> Flow {
        let started = Instant::now();
        let before = processor_times();
        let result = match pipeline.negated {
            true => self.negated(|session| session.run_stages(pipeline, record)),
            false => self.run_stages(pipeline, record),
        };
        let after = processor_times();
        let times = Times {
            real: started.elapsed(),
            user: after.0.saturating_sub(before.0),
            system: after.1.saturating_sub(before.1),
        };
        self.report_times(&times, format);
        if let Ok(status) = result {
            self.parameters.set_status(status);
        }
        result
    }

    fn report_times(&mut self, times: &Times, format: TimeFormat) {
        let chosen = match format {
            TimeFormat::Posix => POSIX_FORMAT.to_vec(),
            TimeFormat::Default => match self.value(b"TIMEFORMAT") {
                Some(format) => format.into_vec(),
                None => DEFAULT_FORMAT.to_vec(),
            },
        };
        if chosen.is_empty() {
            return;
        }
        let mut text = times.format(&chosen);
        text.push(b'\n');
        let _ = self.write(2, &text);
        let _ = self.flush();
    }
}

/// The processor time of this process and its children in user and system mode.
fn processor_times() -> (Duration, Duration) {
    let Ok(text) = std::fs::read_to_string("/proc/self/stat") else { return Default::default() };
    let fields: Vec<u64> = text
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .map(|field| field.parse().unwrap_or(0))
        .collect();
    let ticks = |index: usize| fields.get(index).copied().unwrap_or(0);
    let rate = rustix::param::clock_ticks_per_second().max(1);
    let duration = |ticks: u64| Duration::from_millis(ticks * 1000 / rate);
    (duration(ticks(11) + ticks(13)), duration(ticks(12) + ticks(14)))
}

impl Times {
    fn format(&self, format: &[u8]) -> Vec<u8> {
        let mut result = Vec::new();
        let mut bytes = format.iter().copied().peekable();
        while let Some(byte) = bytes.next() {
            if byte != b'%' {
                result.push(byte);
                continue;
            }
            let precision =
                bytes.next_if(u8::is_ascii_digit).map_or(3, |digit| usize::from(digit - b'0').min(3));
            let long = bytes.next_if_eq(&b'l').is_some();
            match bytes.next() {
                Some(b'R') => result.extend(seconds(self.real, precision, long)),
                Some(b'U') => result.extend(seconds(self.user, precision, long)),
                Some(b'S') => result.extend(seconds(self.system, precision, long)),
                Some(b'P') => {
                    let busy = (self.user + self.system).as_secs_f64() * 100.0;
                    let share = if self.real.is_zero() { 0.0 } else { busy / self.real.as_secs_f64() };
                    result.extend_from_slice(format!("{share:.2}").as_bytes());
                }
                Some(b'%') | None => result.push(b'%'),
                Some(other) => result.extend_from_slice(&[b'%', other]),
            }
        }
        result
    }
}

fn seconds(time: Duration, precision: usize, long: bool) -> Vec<u8> {
    let (whole, millis) = (time.as_secs(), time.subsec_millis());
    let fraction = match precision {
        0 => String::new(),
        _ => format!(".{}", &format!("{millis:03}")[..precision]),
    };
    match long {
        true => format!("{}m{}{fraction}s", whole / 60, whole % 60),
        false => format!("{whole}{fraction}"),
    }
    .into_bytes()
}
