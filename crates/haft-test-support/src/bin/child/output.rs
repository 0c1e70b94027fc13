//! Modes that write output.

use std::io::{Write as _, stderr, stdout};
use std::time::Duration;

/// Writes bytes given in hexadecimal.
pub(crate) fn bytes(digits: &str) -> i32 {
    let bytes: Vec<u8> = (0..digits.len())
        .step_by(2)
        .map(|index| u8::from_str_radix(&digits[index..index + 2], 16).expect("hexadecimal digits"))
        .collect();
    status(&stdout().write_all(&bytes).and_then(|()| stdout().flush()))
}

/// Writes `count` bytes in lines of 64.
pub(crate) fn flood(count: u64) -> i32 {
    let mut block = [b'x'; 65536];
    block.iter_mut().skip(63).step_by(64).for_each(|byte| *byte = b'\n');
    let mut left = count;
    let mut output = descriptor_file(1);
    while left > 0 {
        let part = left.min(block.len() as u64) as usize;
        if let Err(error) = output.write_all(&block[..part]) {
            return status(&Err(error));
        }
        left -= part as u64;
    }
    0
}

/// Writes `count` numbered lines.
pub(crate) fn lines(count: u64) -> i32 {
    let mut output = std::io::BufWriter::new(stdout());
    let written = (1..=count).try_for_each(|number| writeln!(output, "line {number}"));
    status(&written.and_then(|()| output.flush()))
}

/// Writes lines alternately to standard output and standard error.
pub(crate) fn interleave(count: u64) -> i32 {
    for number in 0..count {
        println!("out {number}");
        eprintln!("err {number}");
    }
    0
}

/// Writes a line every `pause` milliseconds.
pub(crate) fn drip(count: u64, pause: u64) -> i32 {
    for number in 0..count {
        println!("drip {number}");
        std::thread::sleep(Duration::from_millis(pause));
    }
    let _ = stderr().flush();
    0
}

/// Opens the file of a descriptor without a buffer.
fn descriptor_file(number: i32) -> std::fs::File {
    let path = format!("/proc/self/fd/{number}");
    std::fs::OpenOptions::new().append(true).open(path).expect("the descriptor can be written")
}

fn status(result: &std::io::Result<()>) -> i32 {
    i32::from(result.is_err()) * 3
}
