//! `haft attach`: show the output of a run while it goes on.

use std::collections::HashMap;
use std::io::{self, Read as _, Write as _};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use haft_process::capture::{Decoder, Growth};
use haft_process::live::{LiveClient, LiveStream};
use haft_records::{RunDetail, RunState};

use crate::commands::log::show;
use crate::commands::output;
use crate::commands::supervise::terminal::RawMode;
use crate::failure::{Failure, print_message};
use crate::process_context::ProcessContext;

/// Bytes that are read at once.
const READ_BYTES: usize = 256 << 10;
/// How long the end of a run may take to be recorded.
const RECORD_TIMEOUT: Duration = Duration::from_secs(5);
const RECORD_INTERVAL: Duration = Duration::from_millis(20);

const EXAMPLES: &str = "Examples:
  haft attach run-1a2b             # the output so far, then what is written until the run ends
  haft attach run-1a2b --input     # keys that are typed here reach the run's terminal

'haft ps' lists the ids. haft captures the output of '--json', '--pty' and MCP runs; other output goes directly to the
terminal. The exit status is that of the run. Ctrl-C ends 'haft attach', and the run goes on; with --input it reaches the
run.";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AttachArguments {
    /// The id of the run, or its beginning
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Type standard input on the run's terminal; needs a run with '--pty'
    #[arg(long)]
    pub(crate) input: bool,
}

/// Shows the output until the run has ended. Returns the status of the run.
pub(crate) fn run(arguments: &AttachArguments, process: &ProcessContext) -> Result<i32, Failure> {
    let RunDetail { state, start, .. } = show::find(&arguments.id, process)?;
    if state != RunState::Running {
        return Err(Failure::new(format_args!("run '{}' has ended", start.run), 1)
            .with_hint("'haft log show ID' has the ids of its outputs, which 'haft output' reads"));
    }
    let client = LiveClient::new(start.process.pid, start.process.started);
    let failed = |error: io::Error| {
        Failure::new(format_args!("cannot attach to run '{}': {error}", start.run), 1)
            .with_hint("only output that haft captures can be shown: '--json', '--pty', MCP")
    };
    let status = client.status(&start.run).map_err(failed)?;
    if arguments.input && !status.terminal {
        return Err(Failure::new(format_args!("run '{}' has no terminal of its own", start.run), 1)
            .with_hint("'haft run --pty' gives a script a terminal"));
    }
    let raw = RawMode::enter(arguments.input);
    if arguments.input {
        forward_input(client, start.run.clone());
    }
    let mut shown = ShownOutputs::default();
    let followed = client.follow(&start.run, |status| {
        status
            .streams
            .iter()
            .for_each(|stream| shown.show(stream, |from| client.read(&stream.id, from, READ_BYTES)));
        !shown.is_closed
    });
    drop(raw);
    followed.map_err(failed)?;
    Ok(finish(&start.run, shown, process))
}

/// Sends what is typed to the run, on a thread that ends with this process.
fn forward_input(client: LiveClient, run: String) {
    thread::spawn(move || {
        let mut bytes = [0; 4096];
        // A character may arrive in parts.
        let mut decoder = Decoder::new();
        while let Ok(count) = io::stdin().read(&mut bytes)
            && count > 0
        {
            let mut text = String::new();
            decoder.push(&bytes[..count], &mut text);
            let _ = client.input(&run, &text);
        }
    });
}

/// The outputs as far as they were shown, by id.
#[derive(Default)]
struct ShownOutputs {
    cursors: HashMap<String, u64>,
    /// Whether standard output was closed.
    is_closed: bool,
}

impl ShownOutputs {
    /// Writes what was added to an output.
    fn show(&mut self, stream: &LiveStream, mut read: impl FnMut(u64) -> io::Result<Growth>) {
        let cursor = self.cursors.entry(stream.id.clone()).or_default();
        while *cursor < stream.bytes && !self.is_closed {
            let Ok(growth) = read(*cursor) else { return };
            if growth.bytes.is_empty() {
                return;
            }
            *cursor = growth.next;
            let written = match stream.stream.as_str() {
                "stderr" => io::stderr().write_all(&growth.bytes),
                _ => io::stdout().write_all(&growth.bytes).and_then(|()| io::stdout().flush()),
            };
            self.is_closed = written.is_err();
        }
    }
}

/// Shows the rest of stored outputs, reports what could not be read, and returns the status of the run.
fn finish(run: &str, mut shown: ShownOutputs, process: &ProcessContext) -> i32 {
    let limit = Instant::now() + RECORD_TIMEOUT;
    let end = loop {
        match show::find(run, process).map(|detail| (detail.state, detail.end)) {
            Ok((_, Some(end))) => break end,
            Ok((RunState::Running, None)) if Instant::now() < limit && !shown.is_closed => {
                thread::sleep(RECORD_INTERVAL);
            }
            _ => return 0,
        }
    };
    for recorded in &end.outputs {
        let stored = output::stores(process).into_iter().find_map(|store| store.get(&recorded.id));
        let stream = LiveStream {
            stream: recorded.stream.clone(),
            id: recorded.id.clone(),
            bytes: recorded.bytes,
            lines: 0,
            last_line: String::new(),
        };
        if let Some(stored) = stored {
            shown.show(&stream, |from| stored.read_since(from, READ_BYTES).map_err(io::Error::other));
        }
        let cursor = shown.cursors.get(&recorded.id).copied().unwrap_or(0);
        if cursor < recorded.bytes && !shown.is_closed {
            let left = recorded.bytes - cursor;
            print_message(format_args!("the last {left} bytes of {} could not be read", recorded.stream));
        }
    }
    end.code
}
