//! The `history` builtin.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Command, Flow};

use super::history::History;

/// The history that the builtin and the editor share.
pub(crate) type SharedHistory = Arc<Mutex<History>>;

/// The `history` builtin.
#[derive(Debug)]
pub(crate) struct HistoryCommand(pub(crate) SharedHistory);

const SYNOPSIS: &str = "history [n] or history -c or history -d number or history -w";

impl Command for HistoryCommand {
    fn name(&self) -> &str {
        "history"
    }

    fn run(&self, context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
        let words: Vec<String> = arguments.iter().map(|word| word.lossy().into_owned()).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match *words {
            [] => self.show(context, usize::MAX),
            ["-c"] => {
                self.lock().clear();
                Ok(0)
            }
            // Entries are appended to the file as they are entered.
            ["-a"] => Ok(0),
            ["-w"] => self.save(context),
            ["-d", number] => match number.parse().is_ok_and(|number| self.lock().remove(number)) {
                true => Ok(0),
                false => {
                    context.error(format_args!("{number}: history position out of range"));
                    Ok(1)
                }
            },
            [count] if count.parse::<usize>().is_ok() => self.show(context, count.parse().unwrap_or(0)),
            _ => {
                context.error(format_args!("usage: {SYNOPSIS}"));
                Ok(2)
            }
        }
    }
}

impl HistoryCommand {
    fn lock(&self) -> std::sync::MutexGuard<'_, History> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn show(&self, context: &mut Context<'_>, count: usize) -> Flow {
        let mut text = String::new();
        let history = self.lock();
        let skipped = history.entries().len().saturating_sub(count);
        for (number, entry) in history.numbered().skip(skipped) {
            text.push_str(&format!("{number:>5}  {entry}\n"));
        }
        drop(history);
        context.print(text.as_bytes())
    }

    fn save(&self, context: &mut Context<'_>) -> Flow {
        let file = context.value(b"HISTFILE").unwrap_or_default();
        let path = PathBuf::from(file.lossy().into_owned());
        match self.lock().rewrite(&path) {
            Ok(()) => Ok(0),
            Err(error) => {
                context.error(format_args!("cannot write '{}': {error}", path.display()));
                Ok(1)
            }
        }
    }
}
