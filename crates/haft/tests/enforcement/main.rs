//! Policies hold: what they deny does not happen, and what they allow works.

mod attacks;
mod enforced;
mod support;
mod work;
