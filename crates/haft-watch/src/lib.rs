//! A local web page that shows what haft runs and ran.
//!
//! [`serve`] listens on a loopback address until it is cancelled. The page and everything it needs is part of the program.
//!
//! ```no_run
//! use haft_overlay::OverlayStore;
//! use haft_process::CancelToken;
//! use haft_watch::{WatchSetup, serve};
//!
//! let setup = WatchSetup {
//!     records: "/home/me/.local/state/haft/records".into(),
//!     outputs: Vec::new(),
//!     overlays: OverlayStore::new(Vec::new()),
//!     token: "0123456789abcdef".to_owned(),
//!     port: 0,
//! };
//! serve(setup, |url| println!("{url}"), &CancelToken::new())?;
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # Access
//! A request needs the token: once in the URL, then in a cookie that scripts and other sites cannot use. The `Host` header must
//! name this server, so that a foreign name that resolves to a loopback address does not help. Requests of other
//! sites are refused by `Origin` and `Sec-Fetch-Site`.
//!
//! # Hostile text
//! Everything that the page shows may come from a hostile program. The page creates text nodes only, and its content security
//! policy allows neither inline script nor any other origin, nor assignment of HTML at all.
//!
//! # Limits
//! Cookies do not distinguish ports: another server on the same host name receives the cookie if the browser visits it.

mod access;
mod assets;
mod events;
mod output;
mod overlays;
mod query;
mod reply;
mod routes;
mod runs;
mod server;
mod tracker;

pub use server::{WatchSetup, serve};
