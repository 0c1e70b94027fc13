//! Modes that read input, or do not.

use std::io::{Read as _, Write as _, stdin, stdout};

use crate::{output, stay, sys};

/// Reads everything and prints the size and a checksum.
pub(crate) fn count() -> i32 {
    let (mut total, mut sum) = (0u64, 0u64);
    let mut buffer = vec![0; 65536];
    let mut input = stdin().lock();
    loop {
        match input.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => {
                for &byte in &buffer[..read] {
                    total += 1;
                    sum = sum.wrapping_mul(31).wrapping_add(u64::from(byte));
                }
            }
            Err(error) => {
                eprintln!("{error}");
                return 3;
            }
        }
    }
    eprintln!("{total} {sum}");
    0
}

/// Writes much before it reads anything.
pub(crate) fn flood_then_count(bytes: u64) -> i32 {
    output::flood(bytes);
    count()
}

/// Never reads. Waits until the given files exist.
pub(crate) fn deaf(files: &[&str]) -> i32 {
    println!("not listening");
    files.iter().map(|file| stay::wait_for(file)).sum()
}

/// Asks a question without a newline, and repeats the answer. `source` is `tty` or `stdin`, with the suffix `-hidden` to disable
/// echo.
pub(crate) fn ask(source: &str, question: &str) -> i32 {
    let hidden = source.ends_with("-hidden");
    if hidden {
        sys::echo(0, false);
    }
    print!("{question}");
    let _ = stdout().flush();
    let mut answer = Vec::new();
    let mut byte = [0];
    let mut terminal: Box<dyn std::io::Read> = match source.split('-').next() {
        Some("tty") => match std::fs::File::open("/dev/tty") {
            Ok(terminal) => Box::new(terminal),
            Err(error) => {
                println!("no terminal: {error}");
                return 4;
            }
        },
        _ => Box::new(stdin()),
    };
    while matches!(terminal.read(&mut byte), Ok(1)) && byte[0] != b'\n' {
        answer.push(byte[0]);
    }
    if hidden {
        sys::echo(0, true);
        println!();
    }
    println!("answer: {}", String::from_utf8_lossy(&answer));
    0
}

/// Waits for input with a given system call, and reads some of it.
pub(crate) fn await_input(way: &str) -> i32 {
    println!("waiting");
    match way {
        "poll" => sys::poll_input(),
        "select" => sys::select_input(),
        "epoll" => sys::epoll_input(),
        "thread" => {
            return std::thread::spawn(|| await_input("read")).join().unwrap_or(3);
        }
        _ => {}
    }
    let mut buffer = [0; 64];
    let read = stdin().read(&mut buffer).unwrap_or(0);
    println!("got {read}");
    0
}
