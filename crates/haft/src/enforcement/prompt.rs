//! Asks the person at the terminal.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::sync::{Mutex, PoisonError};

use haft_policy::Decision;
use rustix::fs::OFlags;

/// The terminal of haft, and the questions that were answered with "always".
#[derive(Debug)]
pub(super) struct Prompt {
    terminal: File,
    /// Rules that a person has allowed for the rest of the run.
    allowed: Mutex<Vec<String>>,
}

impl Prompt {
    /// The controlling terminal; `None` if there is none.
    pub(super) fn open() -> Option<Prompt> {
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOCTTY;
        let terminal = rustix::fs::open("/dev/tty", flags, rustix::fs::Mode::empty()).ok()?;
        Some(Prompt { terminal: terminal.into(), allowed: Mutex::default() })
    }

    /// Shows what is about to happen and the rule, and waits for an answer. Everything but yes is no.
    pub(super) fn ask(&self, subject: &str, decision: &Decision) -> bool {
        let mut allowed = self.allowed.lock().unwrap_or_else(PoisonError::into_inner);
        let rule = decision.to_string();
        if allowed.contains(&rule) {
            return true;
        }
        let text = format!("haft: run this? {subject}\n      {rule}\n[y]es, [a]lways for this rule, [N]o: ");
        let mut answer = String::new();
        let mut terminal = &self.terminal;
        if terminal.write_all(text.as_bytes()).is_err()
            || BufReader::new(terminal).read_line(&mut answer).is_err()
        {
            return false;
        }
        match answer.trim() {
            "y" | "yes" => true,
            "a" | "always" => {
                allowed.push(rule);
                true
            }
            _ => false,
        }
    }
}
