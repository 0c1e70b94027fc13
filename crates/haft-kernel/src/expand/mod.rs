//! Expansion: from words to fields, strings and patterns.
//!
//! A word is walked once, part by part, into a [`Sink`], which knows what the place of the word asks for: fields that
//! are split and globbed, one string, or a pattern.

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
mod split;
mod substitution;
mod substring;
mod tilde;
mod transform;
mod value;

pub(crate) use arithmetic::ArithmeticFailure;
pub(crate) use fields::INDIRECT;
pub(crate) use split::Separators;
