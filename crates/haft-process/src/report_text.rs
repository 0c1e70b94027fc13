//! The text form of reports.

use std::fmt::{Display, Formatter, Result};

use crate::outcome::{CapturedReport, JobOutcomeReport, StatusReport};
use crate::survivors::{Survivors, Tree};

impl Display for StatusReport {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        match &self.signal {
            _ if self.timed_out => formatter.write_str("timed out"),
            _ if self.cancelled => formatter.write_str("cancelled"),
            Some(signal) => write!(formatter, "killed by {signal}"),
            None => write!(formatter, "exit status {}", self.code),
        }
    }
}

impl Display for Survivors {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        match self {
            Survivors::Known(pids) if pids.is_empty() => formatter.write_str("none survived"),
            Survivors::Known(pids) => write!(formatter, "{} survived: {pids:?}", pids.len()),
            Survivors::Unknown { reason, found } if found.is_empty() => {
                write!(formatter, "survivors unknown: {reason}")
            }
            Survivors::Unknown { reason, found } => {
                write!(formatter, "{} survived: {found:?}, more unknown: {reason}", found.len())
            }
        }
    }
}

impl Display for Tree {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        let Tree { started, killed, survivors } = self;
        let processes = if *started == 1 { "process" } else { "processes" };
        write!(formatter, "{started} {processes} started, {killed} killed, {survivors}")
    }
}

impl Display for CapturedReport {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        let outputs = [("stdout", &self.stdout), ("stderr", &self.stderr), ("output", &self.output)];
        for (name, output) in outputs {
            let Some(output) = output.as_ref().filter(|output| output.total_bytes > 0) else { continue };
            let end = if output.text.ends_with('\n') { "" } else { "\n" };
            let (bytes, lines) = (count(output.total_bytes, "byte"), count(output.total_lines, "line"));
            write!(formatter, "--- {name}: {bytes}, {lines}\n{}{end}", output.text)?;
        }
        Ok(())
    }
}

/// A line with status, time and processes, a line for each limit that was reached, and the outputs.
impl Display for JobOutcomeReport {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        writeln!(formatter, "{} after {:.3} s; {}", self.status, self.duration.as_secs_f64(), self.tree)?;
        for message in self.limits.messages() {
            writeln!(formatter, "{message}")?;
        }
        self.outputs.fmt(formatter)
    }
}

fn count(number: u64, unit: &str) -> String {
    format!("{number} {unit}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::Exit;
    use crate::survivors::UnknownSurvivors;

    #[test]
    fn statuses_name_the_cause_of_the_end() {
        let killed = StatusReport::from(Exit::Signal(libc::SIGTERM));
        assert_eq!(StatusReport::from(Exit::Code(3)).to_string(), "exit status 3");
        assert_eq!(killed.to_string(), "killed by SIGTERM");
        assert_eq!(StatusReport { timed_out: true, ..killed }.to_string(), "timed out");
    }

    #[test]
    fn trees_name_survivors() {
        let tree = |survivors| Tree { started: 1, killed: 2, survivors }.to_string();
        assert_eq!(tree(Survivors::NONE), "1 process started, 2 killed, none survived");
        assert_eq!(tree(Survivors::Known(vec![7])), "1 process started, 2 killed, 1 survived: [7]");
        let unknown = Survivors::new(Vec::new(), Some(UnknownSurvivors::NotChecked));
        assert!(tree(unknown).ends_with("survivors unknown: the supervisor failed before it could check"));
    }
}
