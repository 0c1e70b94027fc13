//! Using up the machine.

use std::hint::black_box;

use crate::{stay, sys};

/// Computes without end.
pub(crate) fn burn() -> i32 {
    let mut number = 1u64;
    loop {
        number = black_box(number.wrapping_mul(31).wrapping_add(7));
    }
}

/// Uses so many bytes of memory; 3 if there are not so many to be had.
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

/// Allocates and touches so many bytes, and holds them for a few seconds.
pub(crate) fn allocate_and_wait(bytes: usize) -> i32 {
    let held = vec![b'x'; bytes];
    std::thread::sleep(std::time::Duration::from_secs(3));
    i32::from(std::hint::black_box(&held).len() != bytes)
}

/// Starts so many processes at once and says how many there were.
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

/// Starts so many processes, one after the other, that end as orphans, and then waits for a file.
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
