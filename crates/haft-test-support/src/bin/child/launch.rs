//! Executing a program with unusual settings: `launch SETTING… -- PROGRAM ARGUMENT…`.

use std::fs;

use crate::sys;

/// Applies the settings and executes the program.
///
/// - `block`: every signal is blocked
/// - `ignore=N`: signal N is ignored
/// - `open`: descriptors 3 to 20 are open
/// - `close=N`: descriptor N is closed
/// - `env=TEXT`: `TEXT` is added to the environment, even if it is malformed
/// - `gone=DIRECTORY`: the working directory is created, entered and removed
/// - `session`: the program runs in a new session without a terminal
pub(crate) fn launch(words: &[&str]) -> i32 {
    let split = words.iter().position(|word| *word == "--").expect("a program after --");
    let environment = fs::read("/proc/self/environ").unwrap_or_default();
    let mut environment: Vec<Vec<u8>> =
        environment.split(|&byte| byte == 0).filter(|entry| !entry.is_empty()).map(<[u8]>::to_vec).collect();
    for setting in &words[..split] {
        let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
        match name {
            "block" => sys::block(1..=64),
            "ignore" => sys::ignore(crate::number(value) as i32),
            "open" => sys::open_at(3..=20),
            "close" => sys::close_descriptor(crate::number(value) as i32),
            "env" => environment.push(value.into()),
            "gone" => enter_removed_directory(value),
            "session" => sys::new_session(),
            _ => return 2,
        }
    }
    let program = &words[split + 1..];
    sys::execute(program[0], program, &environment)
}

#[expect(clippy::disallowed_methods, reason = "the removed working directory is under test")]
fn enter_removed_directory(path: &str) {
    fs::create_dir(path).expect("the directory can be made");
    std::env::set_current_dir(path).expect("the directory can be entered");
    fs::remove_dir(path).expect("the directory can be removed");
}
