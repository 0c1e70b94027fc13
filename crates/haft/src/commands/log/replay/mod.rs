//! `haft log replay`: play a run on a terminal again, or write it as an asciicast.

mod cast;
mod modes;
mod play;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use haft_process::capture::{OutputStore, Recording, TerminalChange, missing_mark};
use haft_process::live::{LiveClient, ReadableOutput};
use haft_records::{OutputReference, RunDetail, RunState};

use super::show::find;
use crate::commands::output::stores;
use crate::failure::Failure;
use crate::process_context::ProcessContext;
use crate::units;

/// Bytes that are read at once.
const READ_BYTES: usize = 64 << 10;

pub(super) const EXAMPLES: &str = "Examples:
  haft log replay run-12                       # at its speed
  haft log replay run-12 --speed 4 --max-pause 1s
  haft log replay run-12 --cast demo.cast      # for 'asciinema play demo.cast'

Runs on a terminal of their own ('haft run --pty') can be replayed as long as their output is kept ('--keep-output').
While it plays, the space bar pauses and continues, and q ends it.";

#[derive(Args, Debug)]
pub(crate) struct ReplayArguments {
    /// The id of the run, or its beginning
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Write an asciicast (version 3) to this file, or to standard output for '-'
    #[arg(long, value_name = "FILE", conflicts_with = "speed")]
    pub(crate) cast: Option<PathBuf>,
    /// Play this many times faster
    #[arg(long, value_name = "NUMBER", value_parser = speed, default_value = "1")]
    pub(crate) speed: f64,
    /// Shorten pauses to this time
    #[arg(long, value_name = "TIME", value_parser = units::duration)]
    pub(crate) max_pause: Option<Duration>,
}

fn speed(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(speed) if speed.is_finite() && speed > 0.0 => Ok(speed),
        _ => Err("must be a number greater than 0".to_owned()),
    }
}

/// Replays a run or exports it.
pub(super) fn run(arguments: &ReplayArguments, process: &ProcessContext) -> Result<i32, Failure> {
    let detail = find(&arguments.id, process)?;
    let (output, recording) = recorded(&detail, process)?;
    let playback = Playback { output, recording, max_pause: arguments.max_pause };
    let written = match arguments.cast.as_deref() {
        None => play::play(&playback, arguments.speed)?,
        Some(path) if path == Path::new("-") => cast::write(&playback, &detail, &mut io::stdout().lock()),
        Some(path) => File::create(path).and_then(|mut file| cast::write(&playback, &detail, &mut file)),
    };
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            let reason = haft_process::reason(&error);
            Err(match &arguments.cast {
                Some(path) => Failure::new(format_args!("cannot write '{}': {reason}", path.display()), 1),
                None => Failure::new(format_args!("cannot replay the output: {reason}"), 1),
            })
        }
        _ => Ok(0),
    }
}

/// Finds the output of a run on a terminal.
fn recorded(detail: &RunDetail, process: &ProcessContext) -> Result<(ReadableOutput, Recording), Failure> {
    let id = &detail.start.run;
    let Some(end) = &detail.end else {
        return Err(match detail.state {
            RunState::Running => Failure::new(format_args!("run '{id}' has not ended"), 1)
                .with_hint("'haft attach ID' shows its output"),
            _ => Failure::new(format_args!("the output of run '{id}' was lost with its haft process"), 1),
        });
    };
    let stores = stores(process);
    let server = &detail.start.process;
    let server = server.is_alive().then(|| LiveClient::new(server.pid, server.started));
    let mut is_kept = end.outputs.is_empty();
    for output in end.outputs.iter().filter_map(|output| kept(output, &stores, server)) {
        is_kept = true;
        if let Ok(Some(recording)) = output.recording() {
            return Ok((output, recording));
        }
    }
    Err(match is_kept {
        false => Failure::new(format_args!("the output of run '{id}' is no longer kept"), 1)
            .with_hint("'--keep-output TIME' sets how long the output of a run is kept"),
        true => Failure::new(format_args!("run '{id}' was not on a terminal of its own"), 1)
            .with_hint("'haft run --pty' gives a script a terminal; 'haft output ID' shows other output"),
    })
}

/// Finds a kept output: in a store, or in the server that ran the script.
fn kept(
    output: &OutputReference,
    stores: &[OutputStore],
    server: Option<LiveClient>,
) -> Option<ReadableOutput> {
    if let Some(stored) = stores.iter().find_map(|store| store.get(&output.id)) {
        return Some(ReadableOutput::Stored(stored));
    }
    let live = ReadableOutput::Live(server?, output.id.clone());
    live.read(0, 0).is_ok().then_some(live)
}

/// A recorded output.
struct Playback {
    output: ReadableOutput,
    recording: Recording,
    max_pause: Option<Duration>,
}

/// A step of a playback.
#[derive(Clone, Copy)]
enum PlaybackStep<'a> {
    Bytes(&'a [u8]),
    Size { columns: u16, rows: u16 },
}

impl Playback {
    /// Calls `take` for every step, with the pause before it, until it returns false.
    fn each(&self, mut take: impl FnMut(Duration, PlaybackStep<'_>) -> io::Result<bool>) -> io::Result<()> {
        let (mut cursor, mut last) = (0, 0);
        for event in &self.recording.events {
            let pause = Duration::from_micros(event.time.saturating_sub(last));
            let mut pause = self.max_pause.map_or(pause, |limit| pause.min(limit));
            last = event.time;
            let end = match event.change {
                TerminalChange::Output(end) => end,
                TerminalChange::Resize(size) => {
                    if !take(pause, PlaybackStep::Size { columns: size.columns, rows: size.rows })? {
                        return Ok(());
                    }
                    continue;
                }
            };
            while cursor < end {
                let limit = usize::try_from(end - cursor).unwrap_or(READ_BYTES).min(READ_BYTES);
                let growth = self.output.read(cursor, limit)?;
                if growth.bytes.is_empty() {
                    return Ok(());
                }
                let mut bytes = growth.bytes;
                if growth.lost > 0 {
                    bytes.splice(0..0, format!("\r\n{}\r\n", missing_mark(growth.lost)).into_bytes());
                }
                if !take(std::mem::take(&mut pause), PlaybackStep::Bytes(&bytes))? {
                    return Ok(());
                }
                cursor = growth.next;
            }
        }
        Ok(())
    }
}
