//! Policies hold: what they deny does not happen, and what they allow works.

mod attacks;
mod budgets;
mod enforced;
mod protected;
mod support;
mod work;
