//! Asciicast, version 3: a header and events, one line of JSON each.

use std::io::{self, BufWriter, Write};
use std::time::Duration;

use haft_process::capture::Decoder;
use haft_records::RunDetail;
use serde_json::json;

use super::{Playback, PlaybackStep};

/// Writes a recorded run.
pub(super) fn write(playback: &Playback, detail: &RunDetail, file: &mut impl Write) -> io::Result<()> {
    let mut file = BufWriter::new(file);
    let size = playback.recording.size;
    let start = &detail.start;
    let command = start.script.clone().unwrap_or_else(|| start.argv.join(" "));
    let header = json!({
        "version": 3,
        "term": {"cols": size.columns, "rows": size.rows},
        "timestamp": start.time / 1000,
        "command": command,
    });
    writeln!(file, "{header}")?;
    let mut decoder = Decoder::new();
    let mut waited = Duration::ZERO;
    playback.each(|pause, step| {
        waited += pause;
        let (code, text) = match step {
            PlaybackStep::Size { columns, rows } => ("r", format!("{columns}x{rows}")),
            PlaybackStep::Bytes(bytes) => {
                let mut text = String::new();
                decoder.push(bytes, &mut text);
                ("o", text)
            }
        };
        // A part of a character is written with the rest.
        if !text.is_empty() {
            write_event(&mut file, std::mem::take(&mut waited), code, &text)?;
        }
        Ok(true)
    })?;
    let mut rest = String::new();
    decoder.finish(&mut rest);
    if !rest.is_empty() {
        write_event(&mut file, std::mem::take(&mut waited), "o", &rest)?;
    }
    if let Some(end) = &detail.end {
        write_event(&mut file, waited, "x", &end.code.to_string())?;
    }
    file.flush()
}

fn write_event(file: &mut impl Write, waited: Duration, code: &str, text: &str) -> io::Result<()> {
    writeln!(file, "{}", json!([waited.as_secs_f64(), code, text]))
}
