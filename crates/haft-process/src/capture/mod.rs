//! The output of processes, kept whole within bounds.
//!
//! An [`Output`] takes one stream of bytes as it comes and stays readable, while it grows and after. What a caller sees
//! of it is a [`OutputView`]: the head and the tail within a budget, a range of bytes or lines, the lines a pattern matches.
//! No view takes anything away, so another one can always be asked for later, without running anything again.
//!
//! Three bounds hold whatever a process writes:
//!
//! - **memory**: the first [`CaptureLimits::head`] and the last [`CaptureLimits::tail`] bytes;
//! - **disk**: once these are exceeded, everything from the first byte on goes to one spill file, until it has
//!   [`CaptureLimits::spill`] bytes;
//! - beyond that, bytes and lines are counted and the tail is kept. What lies between is gone, and every [`OutputSlice`]
//!   that would have shown it says so.
//!
//! A spill that cannot be made or written, on a full disk for instance, costs what would have been in it, never the run:
//! see [`Output::spill_failure`].
//!
//! ```
//! use haft_process::capture::{CaptureLimits, Output, OutputView};
//!
//! let output = Output::new(CaptureLimits::default(), None);
//! output.append(b"one\ntwo\nthr");
//! output.append(b"ee\n");
//! output.finish();
//! assert_eq!(output.total_lines(), 3);
//! assert_eq!(output.slice(&OutputView::TailLines(2), 1024)?.to_bytes(), b"two\nthree\n");
//! # Ok::<(), haft_process::capture::Error>(())
//! ```
//!
//! # What a line is
//! A line is what ends with a newline byte. Bytes after the last newline count as one more line, so `"a\nb"` has two lines,
//! `"a\nb\n"` has two and the empty output has none. Lines are numbered from 1.

mod error;
mod follow;
mod id;
mod output;
pub mod render;
mod search;
mod slice;
mod snapshot;
mod spill;
mod state;
mod store;
mod summary;
mod tail;
mod text;
mod view;

pub use error::{Error, ErrorKind};
pub use follow::{Growth, OutputWatch};
pub use id::OutputId;
pub(crate) use id::random_word;
pub use output::{CaptureLimits, Output};
pub use search::LineSearch;
pub use slice::{Matches, Omission, OutputSlice, SlicePiece};
pub use spill::SpillDirectory;
pub use store::{OutputStore, StoredOutput, missing_mark};
pub use summary::{Omitted, OutputSummary};
pub use text::{DecodedText, Decoder};
pub use view::OutputView;
