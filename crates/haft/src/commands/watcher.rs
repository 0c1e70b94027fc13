//! `haft __watch`: the process that cleans up after a killed haft.

use crate::failure::Failure;

/// Waits for the end of the watched process, and cleans up after it.
pub(crate) fn run() -> Result<i32, Failure> {
    haft_process::watch();
    Ok(0)
}
