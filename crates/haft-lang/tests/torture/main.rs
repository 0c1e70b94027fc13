//! Tests of the parser against bash, against itself and with hostile input.
//!
//! Scripts come from three sources: the installed shell scripts, a generator that follows
//! `tests/data/grammar.txt`, and a mutator of both. `bash -n` tells which of them are valid. The
//! [`properties`] hold for all of them.
//!
//! All random numbers are seeded, so runs are repeatable. `HAFT_TORTURE` multiplies the number of scripts,
//! `HAFT_SEED` changes the seed.

mod bash;
mod cases;
mod differential;
mod found;
mod fuzz;
mod grammar;
mod known;
mod mutate;
mod properties;
mod random;
mod scripts;
mod shrink;
