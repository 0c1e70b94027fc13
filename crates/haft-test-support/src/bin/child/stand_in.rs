//! Replaces another program, such as an agent: records its arguments and input, then does what the test says.
//!
//! `STAND_IN` is the directory for the records: `argv`, with NUL-terminated arguments, `stdin`, and `report`, which is written
//! last. `STAND_IN_THEN` is what to do afterwards: `exit N`, `die N`, `sleep`, or `interrupt`, which waits for Ctrl-C and creates
//! the file `interrupted`.

use std::fs;
use std::io::{IsTerminal as _, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::{report, stay, sys};

const SIGINT: i32 = 2;

/// Returns the directory for the records, if this program runs under another name.
#[expect(clippy::disallowed_methods, reason = "the arguments belong to the replaced program")]
pub(crate) fn wanted() -> Option<PathBuf> {
    let name = std::env::args_os().next()?;
    let own = Path::new(&name).file_name().is_some_and(|name| name == "haft-test-child");
    std::env::var_os("STAND_IN").filter(|_| !own).map(PathBuf::from)
}

#[expect(clippy::disallowed_methods, reason = "the arguments belong to the replaced program")]
pub(crate) fn run(directory: &Path) -> i32 {
    let then = std::env::var("STAND_IN_THEN").unwrap_or_default();
    if then == "interrupt" {
        sys::block([SIGINT]);
    }
    let argv: Vec<u8> =
        std::env::args_os().flat_map(|argument| [argument.as_bytes(), b"\0"].concat()).collect();
    fs::write(directory.join("argv"), argv).expect("the records can be written");
    let mut stdin = Vec::new();
    if !std::io::stdin().is_terminal() {
        let _ = std::io::stdin().read_to_end(&mut stdin);
    }
    fs::write(directory.join("stdin"), stdin).expect("the records can be written");
    report::write(&directory.join("report").display().to_string());
    println!("the stand-in has started");
    match then.split_once(' ') {
        Some(("exit", code)) => crate::number(code) as i32,
        Some(("die", signal)) => stay::die(crate::number(signal) as i32),
        _ if then == "sleep" => stay::sleep(),
        _ if then == "interrupt" => {
            sys::wait_signal(SIGINT);
            fs::write(directory.join("interrupted"), "").expect("the records can be written");
            3
        }
        _ => 0,
    }
}
