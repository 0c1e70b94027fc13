//! The texts and the parsers that the benchmark compares.

mod acceptance;
mod bash;
mod parsers;
mod texts;

pub use acceptance::{ACCEPTS_ARGUMENT, accepts};
pub use bash::Bash;
pub use parsers::{brush, brush_words, haft};
pub use texts::{AGENT, Corpus};
