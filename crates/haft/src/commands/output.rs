//! `haft output`: another look at what an earlier run wrote.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use haft_process::capture::{LineSearch, Output, OutputStore, OutputView, StoredOutput};
use haft_process::{Captured, CapturedReport};
use serde_json::json;

use crate::arguments::OutputArguments;
use crate::commands::print::{print_bytes, print_json, print_text};
use crate::failure::{Failure, print_message};
use crate::process_context::ProcessContext;
use crate::{host, places};

/// How long outputs are kept if nothing else is asked for.
const TIME_TO_LIVE: Duration = Duration::from_secs(60 * 60);
/// So much is written at once.
const PIECE: usize = 1 << 20;
/// All of an output, however large.
const EVERYTHING: usize = usize::MAX >> 1;

/// Shows an output, or lists all.
pub(crate) fn run(arguments: &OutputArguments, process: &ProcessContext) -> Result<i32, Failure> {
    let stores = stores(process);
    let Some(id) = &arguments.id else { return Ok(list(&stores, arguments.json)) };
    let output = stores.iter().find_map(|store| store.get(id)).ok_or_else(|| {
        let unknown = Failure::usage(format_args!("there is no output '{id}'"));
        let hint = "'haft output' lists those that are kept; --keep-output says for how long";
        Failure { hint: Some(hint.to_owned()), status: 1, ..unknown }
    })?;
    let view = view(arguments)?;
    if arguments.raw && matches!(view, OutputView::HeadAndTail) {
        return write_whole(&output);
    }
    let failed = |error: haft_process::capture::Error| Failure::usage(error);
    if arguments.json {
        return Ok(print_json(&output.summary(&view, EVERYTHING).map_err(failed)?, 0));
    }
    let slice = output.slice(&view, EVERYTHING).map_err(failed)?;
    let shown = if arguments.raw { slice.to_marked_bytes() } else { slice.to_text().text.into_bytes() };
    Ok(print_bytes(&shown, 0))
}

/// Stores the outputs of a run, and notes in the result those that could not be.
pub(crate) fn keep(
    captured: &Captured,
    shown: &mut CapturedReport,
    command: &str,
    time_to_live: Option<Duration>,
    process: &ProcessContext,
) {
    let time_to_live = time_to_live.unwrap_or(TIME_TO_LIVE);
    if time_to_live.is_zero() {
        return;
    }
    let stores = stores(process);
    let streams = [
        ("stdout", &captured.stdout, &mut shown.stdout),
        ("stderr", &captured.stderr, &mut shown.stderr),
        ("output", &captured.output, &mut shown.output),
    ];
    for (name, output, summary) in streams {
        if let (Some(output), Some(summary)) = (output, summary) {
            summary.not_stored = store(&stores, output, name, command, time_to_live).err();
        }
    }
}

/// Stores an output where that is possible; else says why it is not.
fn store(
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
    Err(failure
        .map_or_else(|| "there is no directory for it".to_owned(), |error| haft_process::reason(&error)))
}

/// Where outputs are kept: with those of tools; where that cannot be, with the directories of runs.
fn stores(process: &ProcessContext) -> Vec<OutputStore> {
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

/// Writes the bytes as they were, piece by piece. Where some are not kept, there is a mark, and a message.
fn write_whole(output: &Output) -> Result<i32, Failure> {
    let mut stdout = io::stdout().lock();
    let mut cursor = 0;
    loop {
        let growth = output.read_since(cursor, PIECE).map_err(Failure::usage)?;
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
        return print_json(&json!({ "outputs": all }), 0);
    }
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    let mut text = String::new();
    for stored in &all {
        let age = age(now.saturating_sub(stored.stored));
        let command = stored.command.lines().next().unwrap_or_default();
        let StoredOutput { id, stream, total_bytes, .. } = stored;
        let _ = writeln!(text, "{id}  {total_bytes:>12} bytes  {age:>4} ago  {stream:6}  {command}");
    }
    print_text(&text, 0)
}

fn age(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds}s"),
        120..7200 => format!("{}m", seconds / 60),
        _ => format!("{}h", seconds / 3600),
    }
}
