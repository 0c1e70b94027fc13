//! Expansion: from words to fields, strings and patterns.
//!
//! Each part of a word is expanded once, into a [`Sink`]. The sink builds what the context needs: fields with word splitting and
//! pathname expansion, one string, or a pattern.

mod arithmetic;
mod assignment;
mod braces;
mod fetched;
mod fields;
mod glob;
mod operators;
mod parameter;
mod parts;
mod prompt;
mod replace;
mod sink;
mod substitution;
mod substring;
mod tilde;
mod transform;
mod value;

pub(crate) use arithmetic::ArithmeticFailure;
