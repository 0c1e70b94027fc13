//! `complete`. Completion specifications are stored and listed but not used, so that scripts that set up an interactive shell
//! run to their end.

use haft_text::Bytes;
use haft_text::quote;

use super::{Context, compgen, options};
use crate::flow::Flow;

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let known = format!("{}prDEI", compgen::OPTIONS);
    let (flags, names) = match options::parse(context, arguments, &known) {
        Ok(parsed) => parsed,
        Err(end) => return end,
    };
    let has = |letter| options::has(&flags, letter);
    if has(b'r') {
        return forget(context, names);
    }
    if has(b'p') || arguments.is_empty() {
        return show(context, names);
    }
    let for_all = [b'D', b'E', b'I'].into_iter().find(|letter| has(*letter));
    if names.is_empty() && for_all.is_none() {
        return context.synopsis();
    }
    let given = &arguments[..arguments.len() - names.len()];
    let given = given.iter().filter(|word| !matches!(word.as_bytes(), b"--" | b"-D" | b"-E" | b"-I"));
    let specification = given
        .map(|word| quote::listed(word, haft_text::encoding::Encoding::Utf8))
        .collect::<Vec<_>>()
        .join(&b' ');
    let table = context.definitions_mut().completions_mut();
    match for_all {
        Some(letter) => drop(table.insert([b'-', letter].as_slice().into(), specification.into())),
        None => {
            for name in names {
                table.insert(name.clone(), specification.clone().into());
            }
        }
    }
    Ok(0)
}

fn forget(context: &mut Context<'_>, names: &[Bytes]) -> Flow {
    let table = context.definitions_mut().completions_mut();
    if names.is_empty() {
        table.clear();
        return Ok(0);
    }
    let missing: Vec<&Bytes> = names.iter().filter(|name| table.remove(*name).is_none()).collect();
    for name in &missing {
        context.error(format_args!("{name}: no completion specification"));
    }
    Ok(i32::from(!missing.is_empty()))
}

fn show(context: &mut Context<'_>, names: &[Bytes]) -> Flow {
    let table = context.definitions().completions().clone();
    let line = |name: &Bytes, specification: &Bytes| {
        [b"complete ", specification.as_bytes(), b" ", name.as_bytes(), b"\n"].concat()
    };
    if names.is_empty() {
        let lines: Vec<u8> =
            table.iter().flat_map(|(name, specification)| line(name, specification)).collect();
        return context.print(&lines);
    }
    let mut status = 0;
    for name in names {
        match table.get(name) {
            Some(specification) => status |= context.print(&line(name, specification))?,
            None => {
                context.error(format_args!("{name}: no completion specification"));
                status = 1;
            }
        }
    }
    Ok(status)
}
