//! Embeds a session: runs a supervised script with a timeout and prints its result.

use std::time::Duration;

use haft_kernel::run::Run;
use haft_kernel::{Kernel, Session};
use haft_process::{Error, Host};

/// Runs the example.
///
/// # Errors
/// If the run cannot be started.
pub(crate) fn main() -> Result<(), Error> {
    let mut session =
        Session::with_environment(Kernel::builder().build(), [("PATH", "/usr/bin:/bin")], "/tmp");
    let run = Run::new("count=$(seq 40 | wc -l); echo $((count + 2))").timeout(Duration::from_secs(10));
    let outcome = run.run(&Host::plain(), &mut session)?;
    println!("status {}, output {:?}", outcome.code(), String::from_utf8_lossy(&outcome.stdout()));
    assert_eq!((outcome.code(), outcome.stdout()), (0, b"42\n".to_vec()));
    Ok(())
}
