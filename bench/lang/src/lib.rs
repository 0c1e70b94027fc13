//! What is measured: the texts, and the parsers.

mod bash;
mod parsers;
mod texts;

pub use bash::Bash;
pub use parsers::{brush, brush_words, haft};
pub use texts::{AGENT, corpus};
