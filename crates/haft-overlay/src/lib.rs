//! Copy-on-write views of directories: run anything, then keep, discard or undo its changes.
//!
//! An [`Overlay`] covers one or more directories. Programs that run in its namespaces see and change these directories as
//! usual; the real directories stay as they are. Afterwards the owner looks at the changes and commits or discards them. A
//! commit can be taken back.
//!
//! ```
//! use haft_overlay::{OnConflict, OverlayStore, Selection};
//! use haft_process::{Command, StartPermission};
//! # let place = tempfile::tempdir()?;
//! # let (tree, state) = (place.path().join("tree"), place.path().join("state"));
//! # std::fs::create_dir(&tree)?;
//! std::fs::write(tree.join("notes"), "one\n")?;
//!
//! let store = OverlayStore::new(vec![state]);
//! let mut overlay = match store.create(&[tree.clone()], None) {
//!     Ok(overlay) => overlay,
//!     Err(_) => return Ok(()), // This machine allows no namespaces.
//! };
//! let mut command = Command::new("/bin/sh");
//! command.arguments(["-c", "rm notes; echo two > other"]).working_directory(&tree);
//! command.namespaces(overlay.namespaces()?);
//! command.spawn(&StartPermission::all())?.wait()?;
//! drop(command); // An overlay that something uses cannot be committed.
//!
//! assert!(tree.join("notes").exists(), "the real directory is untouched");
//! assert_eq!(overlay.changes()?.len(), 2);
//! overlay.commit(&Selection::all(), OnConflict::Refuse)?;
//! assert!(tree.join("other").exists());
//! overlay.undo(OnConflict::Refuse)?;
//! assert!(tree.join("notes").exists() && !tree.join("other").exists());
//! overlay.discard()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How it works
//!
//! overlayfs is mounted over each directory, in a mount namespace. For an unprivileged user, a user namespace owns it. The
//! changes are files in the overlay's own directory, on the same file system as the tree if possible. A commit renames them
//! into the tree, one atomic exchange per path, and keeps the previous versions. A journal makes it all or nothing.
//!
//! # Limits
//!
//! Linux with overlayfs. File systems mounted below a directory are not visible in its overlay. A hard link to a file that
//! changes in the overlay keeps the old contents. Renaming a directory of the tree fails with `EXDEV`, after which `mv` and
//! most programs copy it. Files of other users cannot be changed without privileges, as usual, and appear to belong to
//! `nobody`.

mod base;
mod changes;
mod commit;
mod conflict;
mod copy;
mod diff;
mod engine;
mod error;
mod meter;
mod moves;
mod names;
mod node;
mod overlay;
mod record;
mod removal;
mod renames;
mod report;
mod selection;
mod store;
mod swap;
mod unified;

pub use changes::{Change, ChangeKind, EntryType, FileChange, FileState};
pub use conflict::{Conflict, ConflictKind};
pub use error::Error;
pub use overlay::{OnConflict, Overlay, OverlayState, OverlaySummary};
pub use record::OverlayLevel;
pub use removal::Retention;
pub use report::ChangeCounts;
pub use selection::Selection;
pub use store::{OverlayStore, default_tree};
