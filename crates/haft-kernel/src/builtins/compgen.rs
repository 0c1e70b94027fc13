//! `compgen`: prints possible completions of a word.

use haft_text::Bytes;

use super::Context;
use super::completion::{self, Completing};
use crate::flow::Flow;

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let parsed = match completion::parse(context, arguments, false) {
        Ok(parsed) => parsed,
        Err(end) => return end,
    };
    if !parsed.has_options {
        return Ok(0);
    }
    let word = parsed.operands.first().cloned().unwrap_or_default();
    if parsed.spec.function.is_some() {
        context.error("warning: -F option may not work as you expect");
    }
    if parsed.spec.command.is_some() {
        context.error("warning: -C option may not work as you expect");
    }
    let session = context.session_mut();
    let completing = Completing::of_word("compgen".into(), word.clone());
    let mut found = completion::candidates(session, &parsed.spec, &completing)?.names;
    if found.is_empty() {
        found = completion::default_candidates(session, parsed.spec.options, &word)?;
    }
    if found.is_empty() {
        return Ok(1);
    }
    let lines: Vec<u8> = found.iter().flat_map(|name| [name.as_bytes(), b"\n"].concat()).collect();
    context.print(&lines)
}
