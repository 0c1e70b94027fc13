//! Asks the person at the terminal, or at an MCP client.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::sync::Arc;

use haft_mcp::{ClientAnswer, ClientQuestions};
use rustix::fs::OFlags;

use super::approval::{Approval, Asker};

/// The terminal of haft.
#[derive(Debug)]
pub(super) struct TerminalPrompt(File);

impl TerminalPrompt {
    /// The controlling terminal; `None` if there is none.
    pub(super) fn open() -> Option<TerminalPrompt> {
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOCTTY;
        let terminal = rustix::fs::open("/dev/tty", flags, rustix::fs::Mode::empty()).ok()?;
        Some(TerminalPrompt(terminal.into()))
    }
}

impl Asker for TerminalPrompt {
    /// Everything but yes is no.
    fn ask(&self, subject: &str, rule: &str) -> Approval {
        let text = format!("haft: run this? {subject}\n      {rule}\n[y]es, [a]lways for this rule, [N]o: ");
        let mut answer = String::new();
        let mut terminal = &self.0;
        if terminal.write_all(text.as_bytes()).is_err()
            || BufReader::new(terminal).read_line(&mut answer).is_err()
        {
            return Approval::Refused;
        }
        match answer.trim() {
            "y" | "yes" => Approval::Once,
            "a" | "always" => Approval::Always,
            _ => Approval::Refused,
        }
    }
}

/// The person at the MCP client of a session.
#[derive(Debug)]
pub(super) struct ClientPrompt(pub(super) Arc<ClientQuestions>);

impl Asker for ClientPrompt {
    fn ask(&self, subject: &str, rule: &str) -> Approval {
        let message = format!("The script wants to run: {subject}\nThe policy asks: {rule}");
        match self.0.ask(&message, "Allow this rule for the rest of the session") {
            ClientAnswer::Accepted { always: false } => Approval::Once,
            ClientAnswer::Accepted { always: true } => Approval::Always,
            ClientAnswer::Declined => Approval::Refused,
            ClientAnswer::Unavailable => Approval::Unavailable,
        }
    }
}
