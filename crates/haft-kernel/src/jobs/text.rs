//! The text of commands as bash prints it.

use haft_text::Bytes;

/// The source text of a background command as bash prints it.
pub(super) fn shown_text(text: &[u8]) -> Bytes {
    canonical(text.strip_suffix(b"&").unwrap_or(text).trim_ascii_end().into())
}

/// A command as bash prints it, with normalized spacing.
pub(crate) fn canonical(text: Bytes) -> Bytes {
    match haft_lang::parse(&text, &haft_lang::ParseOptions { extglob: true, ..Default::default() }) {
        Ok(program) => match only_pipeline(&program) {
            Some(commands) => {
                let stages: Vec<Vec<u8>> = commands.iter().map(haft_lang::print_command).collect();
                stages.join(b" | ".as_slice()).into()
            }
            None => haft_lang::print(&program).trim_ascii_end().into(),
        },
        Err(_) => text,
    }
}

/// The stages of a program that is one pipeline and nothing else.
fn only_pipeline(program: &haft_lang::ast::Program) -> Option<&[haft_lang::ast::Command]> {
    let [statement] = &*program.body.statements else { return None };
    let plain = statement.rest.is_empty() && !statement.background && !statement.first.negated;
    (plain && statement.first.time.is_none()).then_some(&*statement.first.stages)
}
