//! Measures how long it takes to make an isolated session and to run `echo` in it.
//!
//! `cargo run --release -p haft-commands --example isolated_session`

use std::sync::Arc;
use std::time::Instant;

use haft_kernel::{Kernel, Session};

const SESSIONS: u32 = 5000;

fn main() {
    let started = Instant::now();
    for _ in 0..SESSIONS {
        let kernel = haft_commands::with_gnu_commands(Kernel::builder().commands(haft_commands::TABLE));
        let mut session = Session::new(kernel.isolated(1 << 20).build());
        session.import_environment([("PATH", "/usr/bin:/bin")]);
        assert_eq!(session.run_main(b"echo hello > /dev/null"), Ok(0));
    }
    println!("{:?} per session with its own kernel", started.elapsed() / SESSIONS);

    let kernel = haft_commands::with_gnu_commands(Kernel::builder().commands(haft_commands::TABLE));
    let kernel: Arc<Kernel> = kernel.isolated(1 << 20).build();
    let started = Instant::now();
    for _ in 0..SESSIONS {
        let mut session = Session::new(kernel.clone());
        assert_eq!(session.run_main(b"echo hello > /dev/null"), Ok(0));
    }
    println!("{:?} per session of one kernel", started.elapsed() / SESSIONS);
}
