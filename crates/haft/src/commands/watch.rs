//! `haft __watch`: the process that cleans up after a killed haft.

use crate::arguments::Watch;
use crate::failure::Failure;

/// Waits for the other process to end, and cleans up.
pub(crate) fn run(watch: &Watch) -> Result<i32, Failure> {
    haft_process::watch(&watch.run_directory);
    Ok(0)
}
