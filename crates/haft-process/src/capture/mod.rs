//! Captured output of processes, with bounded memory and disk use.
//!
//! An [`Output`] stores one stream of bytes, and can be read while it grows and afterwards. An [`OutputView`] selects a part
//! of it: head and tail within a budget, a range of bytes or lines, or the lines that match a pattern. A view does not
//! change the output, so another view is possible at any time, without running the program again.
//!
//! Three bounds hold for every output:
//!
//! - **memory**: the first [`CaptureLimits::head`] and the last [`CaptureLimits::tail`] bytes are kept in memory;
//! - **disk**: if the output is larger, everything from the first byte on goes to a spill file, up to
//!   [`CaptureLimits::spill`] bytes;
//! - beyond that, bytes and lines are counted and the tail is kept. The bytes in between are lost, and every
//!   [`OutputSlice`] of that range says so.
//!
//! If a spill file cannot be created or written, for example on a full disk, only its bytes are lost and the run continues.
//! See [`Output::spill_failure`].
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
//! # Lines
//! A line ends with a newline byte. Bytes after the last newline count as one more line: `"a\nb"` and `"a\nb\n"` have two
//! lines each, the empty output has none. Lines are numbered from 1.

mod error;
mod follow;
mod id;
mod output;
mod recording;
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
mod window;

pub use error::{Error, ErrorKind};
pub use follow::{Growth, OutputWatch};
pub use id::OutputId;
pub(crate) use id::random_word;
pub(crate) use output::WeakOutput;
pub use output::{CaptureLimits, Output};
pub use recording::{RecordedEvent, Recording, TerminalChange};
pub use search::LineSearch;
pub use slice::{Matches, Omission, OutputSlice, SlicePiece};
pub use spill::SpillDirectory;
pub use store::{OutputStore, StoredOutput, missing_mark};
pub use summary::{Omitted, OutputSummary};
pub use text::{DecodedText, Decoder};
pub use view::OutputView;
pub use window::{OutputWindow, WindowLine};
