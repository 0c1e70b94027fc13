//! Sums over runs.

use std::collections::BTreeMap;
use std::collections::HashMap;
use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::files::date;
use crate::index::{NO_STRING, RunEntry};
use crate::list::{RunFilter, seconds};
use crate::store::{IndexedFile, RecordStore, in_parallel};

/// Sums over the runs that match a filter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct RunStatistics {
    /// All runs.
    pub total: StatisticsRow,
    /// By day, `YYYY-MM-DD`, in the order of time.
    pub days: Vec<StatisticsRow>,
    /// By agent or MCP client, most runs first.
    pub agents: Vec<StatisticsRow>,
    /// By program, builtin or tool, most calls first. Counts stages of pipelines, not runs.
    pub programs: Vec<StatisticsRow>,
}

/// Sums over some runs or stages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct StatisticsRow {
    /// The day, agent or program.
    pub name: String,
    /// The number of runs, or of stages.
    pub count: u64,
    /// How many of them had a status other than 0.
    pub failed: u64,
    /// The time from start to end, in seconds.
    pub time: f64,
    /// CPU time, in seconds.
    pub cpu: f64,
    /// Bytes of output.
    pub bytes: u64,
}

/// Sums in the units of the index.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    count: u64,
    failed: u64,
    time_us: u64,
    cpu_us: u64,
    bytes: u64,
}

impl Sums {
    fn of(code: i32, time_us: u64, cpu_us: u64, bytes: u64) -> Sums {
        Sums { count: 1, failed: u64::from(code != 0), time_us, cpu_us, bytes }
    }

    fn add(&mut self, other: Sums) {
        self.count += other.count;
        self.failed += other.failed;
        self.time_us += other.time_us;
        self.cpu_us += other.cpu_us;
        self.bytes += other.bytes;
    }

    fn row(self, name: &str) -> StatisticsRow {
        StatisticsRow {
            name: name.to_owned(),
            count: self.count,
            failed: self.failed,
            time: seconds(self.time_us),
            cpu: seconds(self.cpu_us),
            bytes: self.bytes,
        }
    }
}

/// The sums of one file, or of all.
#[derive(Debug, Default)]
struct GroupedSums {
    total: Sums,
    /// By days since 1970.
    days: BTreeMap<i64, Sums>,
    agents: HashMap<String, Sums>,
    programs: HashMap<String, Sums>,
}

const DAY_MILLISECONDS: i64 = 24 * 3600 * 1000;

impl RecordStore {
    /// Adds up the runs that match a filter; its limit is ignored. Days begin `offset` milliseconds before those of UTC.
    ///
    /// # Errors
    /// If a journal cannot be read.
    pub fn statistics(&self, filter: &RunFilter, offset: i64) -> io::Result<RunStatistics> {
        let files = self.indexes(filter.since)?;
        let mut all = GroupedSums::default();
        for sums in in_parallel(&files, |file| GroupedSums::of(file, filter, offset)) {
            all.merge(sums);
        }
        Ok(RunStatistics {
            total: all.total.row("total"),
            days: all.days.iter().map(|(day, sums)| sums.row(&date(day * DAY_MILLISECONDS))).collect(),
            agents: rows(&all.agents),
            programs: rows(&all.programs),
        })
    }
}

impl GroupedSums {
    fn of(file: &IndexedFile, filter: &RunFilter, offset: i64) -> GroupedSums {
        let index = &file.index;
        let mut sums = GroupedSums::default();
        let mut is_wanted = vec![false; index.runs.len()];
        let mut agents = vec![Sums::default(); index.strings().len() + 1];
        let place = |number: u32| if number == NO_STRING { index.strings().len() } else { number as usize };
        for number in filter.matching(file) {
            let run = &index.runs[number];
            is_wanted[number] = true;
            let own = Sums::of(run.code, run.duration_us, run.cpu_us, run.bytes);
            sums.total.add(own);
            sums.days.entry(day(run, offset)).or_default().add(own);
            agents.get_mut(place(run.agent)).into_iter().for_each(|sums| sums.add(own));
        }
        let mut programs = vec![Sums::default(); index.strings().len() + 1];
        for stage in index.stages.iter().filter(|stage| is_wanted[stage.run as usize]) {
            let own = Sums::of(stage.code, stage.wall_us, stage.cpu_us, stage.bytes);
            programs.get_mut(place(stage.program)).into_iter().for_each(|sums| sums.add(own));
        }
        let name = |number: usize| index.strings().get(number).map_or("(none)", String::as_str).to_owned();
        let named = |sums: Vec<Sums>| {
            let used = sums.into_iter().enumerate().filter(|(_, sums)| sums.count > 0);
            used.map(|(number, sums)| (name(number), sums)).collect()
        };
        GroupedSums { agents: named(agents), programs: named(programs), ..sums }
    }

    fn merge(&mut self, other: GroupedSums) {
        self.total.add(other.total);
        other.days.into_iter().for_each(|(day, sums)| self.days.entry(day).or_default().add(sums));
        other.agents.into_iter().for_each(|(name, sums)| self.agents.entry(name).or_default().add(sums));
        other.programs.into_iter().for_each(|(name, sums)| self.programs.entry(name).or_default().add(sums));
    }
}

/// The day of a run, in days since 1970.
fn day(run: &RunEntry, offset: i64) -> i64 {
    (i64::try_from(run.time).unwrap_or(0) + offset).div_euclid(DAY_MILLISECONDS)
}

/// The sums as rows, largest count first.
fn rows(sums: &HashMap<String, Sums>) -> Vec<StatisticsRow> {
    let mut rows: Vec<StatisticsRow> = sums.iter().map(|(name, sums)| sums.row(name)).collect();
    rows.sort_by(|one, other| (other.count, &one.name).cmp(&(one.count, &other.name)));
    rows
}
