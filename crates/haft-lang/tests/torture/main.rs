//! The parser against bash, against itself and against hostile input.
//!
//! Scripts come from three places: the shell scripts of this machine, a generator that follows `tests/data/grammar.txt`, and a
//! mutator that damages the others. `bash -n` says which of them are right; the [`properties`] hold for all of them.
//!
//! Everything is seeded, so a run repeats. `HAFT_TORTURE` multiplies the number of scripts, `HAFT_SEED` chooses others.

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
