//! `haft output`: show a stored output of an earlier run.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use clap::Args;
use haft_process::capture::{LineSearch, Output, OutputStore, OutputView, StoredOutput};
use haft_process::{Captured, CapturedReport};
use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::print::{print_bytes, print_json, print_text};
use crate::failure::{Failure, print_message};
use crate::process_context::ProcessContext;
use crate::{host, places, units};

/// How long outputs are kept without `--keep-output`.
const DEFAULT_TIME_TO_LIVE: Duration = Duration::from_secs(60 * 60);
const WRITE_BYTES: usize = 1 << 20;
/// A budget that no output exceeds.
const UNLIMITED: usize = usize::MAX >> 1;

const EXAMPLES: &str = "Examples:
  haft output                     # list all stored outputs
  haft run --json -c 'seq 100' | jq -r .stdout.id | xargs -I ID haft output ID --tail 3

An ID comes from the result of 'haft run --json' or 'haft spawn --json'. Lines count from 1 and ranges include both
ends; bytes count from 0 and a range excludes its end.";

const VIEW: &str = "View";
const FORMAT: &str = "Format";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct OutputArguments {
    /// The output's id; without one, all stored outputs are listed
    #[arg(value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Show the first lines
    #[arg(long, value_name = "NUMBER", group = "view", requires = "id", help_heading = VIEW)]
    pub(crate) head: Option<u64>,
    /// Show the last lines
    #[arg(long, value_name = "NUMBER", group = "view", requires = "id", help_heading = VIEW)]
    pub(crate) tail: Option<u64>,
    /// Show the lines from A to B
    #[arg(long, value_name = "A-B", value_parser = units::range, group = "view", requires = "id", help_heading = VIEW)]
    pub(crate) lines: Option<(u64, u64)>,
    /// Show the bytes from A up to B
    #[arg(long, value_name = "A-B", value_parser = units::range, group = "view", requires = "id", help_heading = VIEW)]
    pub(crate) bytes: Option<(u64, u64)>,
    /// Show the lines that match a regular expression, with their numbers
    #[arg(long, value_name = "PATTERN", group = "view", requires = "id", help_heading = VIEW)]
    pub(crate) grep: Option<String>,
    /// With --grep: show this many lines around each match
    #[arg(long, value_name = "NUMBER", requires = "grep", help_heading = VIEW)]
    pub(crate) context: Option<u64>,
    /// Write the bytes unchanged, even if they are not text
    #[arg(long, requires = "id", conflicts_with = "grep", help_heading = FORMAT)]
    pub(crate) raw: bool,
    /// Print one JSON object: the list, or the view with the size of the whole
    #[arg(long, conflicts_with = "raw", help_heading = FORMAT)]
    pub(crate) json: bool,
}

/// The stored outputs.
#[derive(JsonSchema, Serialize)]
pub(crate) struct OutputListReport<'a> {
    outputs: &'a [StoredOutput],
}

/// Shows an output, or lists all of them.
pub(crate) fn run(arguments: &OutputArguments, process: &ProcessContext) -> Result<i32, Failure> {
    let stores = stores(process);
    let Some(id) = &arguments.id else { return Ok(list(&stores, arguments.json)) };
    let output = stores.iter().find_map(|store| store.get(id)).ok_or_else(|| {
        Failure::new(format_args!("unknown output '{id}'"), 1)
            .with_hint("'haft output' lists the stored outputs; 'run --keep-output TIME' keeps them longer")
    })?;
    let view = view(arguments)?;
    if arguments.raw && matches!(view, OutputView::HeadAndTail) {
        return write_whole(&output);
    }
    let failed = |error: haft_process::capture::Error| Failure::usage(error);
    if arguments.json {
        return Ok(print_json(&output.summary(&view, UNLIMITED).map_err(failed)?, 0));
    }
    let slice = output.slice(&view, UNLIMITED).map_err(failed)?;
    let shown = if arguments.raw { slice.to_marked_bytes() } else { slice.to_text().text.into_bytes() };
    Ok(print_bytes(&shown, 0))
}

/// Stores the outputs of a run for later `haft output` commands. If an output cannot be stored, its summary has the reason.
pub(crate) fn store(
    captured: &Captured,
    shown: &mut CapturedReport,
    command: &str,
    time_to_live: Option<Duration>,
    process: &ProcessContext,
) {
    let time_to_live = time_to_live.unwrap_or(DEFAULT_TIME_TO_LIVE);
    if time_to_live.is_zero() {
        return;
    }
    let stores = stores(process);
    let streams = [
        ("stdout", &captured.stdout, &mut shown.stdout),
        ("stderr", &captured.stderr, &mut shown.stderr),
        ("output", &captured.output, &mut shown.output),
        ("late", &captured.late, &mut shown.late),
    ];
    for (name, output, summary) in streams {
        let Some(output) = output.as_ref().filter(|output| summary.is_some() || output.total_bytes() > 0)
        else {
            continue;
        };
        let failure = store_one(&stores, output, name, command, time_to_live).err();
        if let Some(summary) = summary {
            summary.not_stored = failure;
        }
    }
}

/// Stores the outputs of a run whose result is not JSON, so that the ids in its record lead to them. If that is not possible,
/// only the record has them.
pub(crate) fn keep(
    captured: &Captured,
    command: &str,
    time_to_live: Option<Duration>,
    process: &ProcessContext,
) {
    store(captured, &mut CapturedReport::default(), command, time_to_live, process);
}

/// Stores an output in the first store that accepts it.
fn store_one(
    stores: &[OutputStore],
    output: &Output,
    stream: &str,
    command: &str,
    time: Duration,
) -> Result<(), String> {
    let mut failure = None;
    for store in stores {
        match store.keep(output, stream, command, time) {
            Ok(_) => return Ok(()),
            Err(error) => drop(failure.get_or_insert(error)),
        }
    }
    Err(failure.map_or_else(|| "no directory is available".to_owned(), |error| haft_process::reason(&error)))
}

/// The stores to try in order: the cache directory, which tools use too, then the run directories.
pub(crate) fn stores(process: &ProcessContext) -> Vec<OutputStore> {
    let cache = places::find(process).cache;
    let bases = host::run_bases(process);
    let directories: Vec<PathBuf> = cache.into_iter().chain(bases).map(|base| base.join("outputs")).collect();
    directories.into_iter().map(OutputStore::new).collect()
}

fn view(arguments: &OutputArguments) -> Result<OutputView, Failure> {
    Ok(match arguments {
        OutputArguments { head: Some(count), .. } => OutputView::HeadLines(*count),
        OutputArguments { tail: Some(count), .. } => OutputView::TailLines(*count),
        OutputArguments { lines: Some((first, last)), .. } => {
            OutputView::Lines { first: *first, last: *last }
        }
        OutputArguments { bytes: Some((first, last)), .. } => OutputView::Bytes(*first..*last),
        OutputArguments { grep: Some(pattern), context, .. } => {
            let search = LineSearch::new(pattern).map_err(Failure::usage)?;
            let context = context.unwrap_or(0);
            OutputView::Matches(search.limit(u64::MAX).context(context, context))
        }
        _ => OutputView::HeadAndTail,
    })
}

/// Writes all bytes unchanged. A mark, and a message, replaces bytes that were not kept.
fn write_whole(output: &Output) -> Result<i32, Failure> {
    let mut stdout = io::stdout().lock();
    let mut cursor = 0;
    loop {
        let growth = output.read_since(cursor, WRITE_BYTES).map_err(Failure::usage)?;
        let mut bytes = Vec::new();
        if growth.lost > 0 {
            bytes = format!("\n{}\n", haft_process::capture::missing_mark(growth.lost)).into_bytes();
            print_message(format_args!("{} of {} bytes were not kept", growth.lost, output.total_bytes()));
        }
        if growth.bytes.is_empty() {
            return Ok(0);
        }
        bytes.extend_from_slice(&growth.bytes);
        if let Err(error) = stdout.write_all(&bytes).and_then(|()| stdout.flush()) {
            let gone = error.kind() == io::ErrorKind::BrokenPipe;
            return if gone { Ok(0) } else { Err(Failure::usage(format_args!("cannot write: {error}"))) };
        }
        cursor = growth.next;
    }
}

fn list(stores: &[OutputStore], as_json: bool) -> i32 {
    let all: Vec<StoredOutput> = stores.iter().flat_map(OutputStore::list).collect();
    if as_json {
        return print_json(&OutputListReport { outputs: &all }, 0);
    }
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    let mut text = String::new();
    for stored in &all {
        let age = crate::units::age(now.saturating_sub(stored.stored));
        let command = stored.command.lines().next().unwrap_or_default();
        let StoredOutput { id, stream, total_bytes, .. } = stored;
        let _ = writeln!(text, "{id}  {total_bytes:>12} bytes  {age:>4} ago  {stream:6}  {command}");
    }
    print_text(&text, 0)
}
