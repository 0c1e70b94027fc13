//! `popd`.

use haft_text::Bytes;

use super::Context;
use super::directory_stack::{StackFormat, index, move_to, refuse, show_all, stack};
use crate::flow::Flow;

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let mut stay = false;
    let mut chosen = None;
    for word in arguments {
        match word.as_bytes() {
            b"-n" => stay = true,
            b"--" => {}
            [b'+' | b'-', _, ..] => chosen = Some(word),
            _ => return context.usage(format_args!("{word}: invalid argument")),
        }
    }
    let mut all = stack(context);
    let place = match chosen.map(|word| (word, index(word, all.len()))) {
        None => 0,
        Some((_, Ok(place))) => place,
        Some((word, Err(problem))) => return refuse(context, word, all.len(), &problem),
    };
    if all.len() < 2 {
        context.error("directory stack empty");
        return Ok(1);
    }
    if place == 0 && !stay {
        let directory = all[1].clone();
        return move_to(context, &directory, all.split_off(2));
    }
    // With `-n` the working directory stays, and the next entry is removed instead.
    let gone = place.max(1) - 1;
    context.working_directory_mut().stack_mut().remove(gone);
    show_all(context, StackFormat::default())
}
