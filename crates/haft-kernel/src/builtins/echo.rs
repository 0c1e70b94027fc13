//! `echo`.

use haft_text::Bytes;
use haft_text::printf::escape::{EscapeContext, expand};

use super::Context;
use crate::flow::Flow;
use crate::options::ShellOption;

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let mut newline = true;
    let mut escapes = context.options().shell(ShellOption::XpgEcho);
    let mut operands = arguments;
    while let Some((first, rest)) = operands.split_first()
        && is_option(first)
    {
        for letter in &first[1..] {
            match letter {
                b'n' => newline = false,
                b'e' => escapes = true,
                _ => escapes = false,
            }
        }
        operands = rest;
    }
    let size = operands.iter().map(|operand| operand.len() + 1).sum::<usize>() + 1;
    context.session().reserve_memory("the output of echo", size)?;
    let mut line = Vec::with_capacity(size);
    for (index, operand) in operands.iter().enumerate() {
        if index > 0 {
            line.push(b' ');
        }
        if !escapes {
            line.extend_from_slice(operand);
        } else if !expand(operand, EscapeContext::Echo, &mut line) {
            return context.print(&line);
        }
    }
    if newline {
        line.push(b'\n');
    }
    context.print(&line)
}

/// Tells whether a word is an option: a dash and only valid letters. Any other word is text.
fn is_option(word: &[u8]) -> bool {
    matches!(word, [b'-', letters @ ..]
        if !letters.is_empty() && letters.iter().all(|letter| matches!(letter, b'n' | b'e' | b'E')))
}
