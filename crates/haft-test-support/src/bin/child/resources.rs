//! Modes that use CPU, memory and processes.

use std::hint::black_box;

use crate::{stay, sys};

/// Computes forever.
pub(crate) fn burn() -> i32 {
    let mut number = 1u64;
    loop {
        number = black_box(number.wrapping_mul(31).wrapping_add(7));
    }
}

/// Allocates memory. Returns 3 if that fails.
pub(crate) fn allocate(bytes: usize) -> i32 {
    let mut memory: Vec<u8> = Vec::new();
    if memory.try_reserve_exact(bytes).is_err() {
        println!("refused");
        return 3;
    }
    memory.resize(bytes, 1);
    println!("allocated {}", black_box(&memory).len());
    0
}

/// Allocates and writes memory, and keeps it for a few seconds.
pub(crate) fn allocate_and_wait(bytes: usize) -> i32 {
    let held = vec![b'x'; bytes];
    std::thread::sleep(std::time::Duration::from_secs(3));
    i32::from(std::hint::black_box(&held).len() != bytes)
}

/// Starts `count` processes and prints how many could be started.
pub(crate) fn fork_many(count: u64) -> i32 {
    let mut started = Vec::new();
    for _ in 0..count {
        match sys::in_fork(stay::sleep) {
            pid if pid > 0 => started.push(pid),
            _ => break,
        }
    }
    println!("{}", started.len());
    0
}

/// Starts `count` processes that end as orphans, and then waits for a file.
pub(crate) fn orphans(count: u64, ready: &str, file: &str) -> i32 {
    for _ in 0..count {
        sys::reap(sys::in_fork(|| {
            sys::in_fork(|| 0);
            0
        }));
    }
    stay::announce(ready);
    stay::wait_for(file)
}
