//! Helpers for the tests of haft.
