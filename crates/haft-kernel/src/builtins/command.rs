//! `command`.

use haft_text::Bytes;

use super::name_lookup::{NameMeaning, NameQuery, meanings, sentence, standard_path};
use super::{Context, alias, options};
use crate::execute::ExecutionParameters;
use crate::flow::Flow;

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let (flags, operands) = match options::parse(context, arguments, "pvV") {
        Ok(parsed) => parsed,
        Err(end) => return end,
    };
    if options::has(&flags, b'p') && context.session().is_restricted() {
        context.error("-p: restricted");
        return Ok(1);
    }
    let standard = options::has(&flags, b'p').then(standard_path);
    let describe = flags.iter().rev().find(|flag| matches!(flag.letter, b'v' | b'V'));
    if let Some(flag) = describe {
        return explain(context, operands, flag.letter == b'V', standard);
    }
    let Some(name) = operands.first() else { return Ok(0) };
    if let Some(builtin) = context.session().find_builtin(name) {
        let before = context.calls_mut().set_under_command(true);
        let result = context.run_builtin(builtin, operands);
        context.calls_mut().set_under_command(before);
        return result;
    }
    match standard {
        Some(_) if !name.contains(&b'/') => run_standard(context, operands),
        _ => context.dispatch_external(operands),
    }
}

/// Runs a program from the standard path.
fn run_standard(context: &mut Context<'_>, operands: &[Bytes]) -> Flow {
    let found = context.session().search_path(&operands[0], Some(standard_path()));
    let Some(path) = found else { return context.dispatch_external(operands) };
    let mut words = operands.to_vec();
    words[0] = path;
    context.session_mut().run_external(&words, &[], ExecutionParameters::default(), None)
}

fn explain(context: &mut Context<'_>, names: &[Bytes], verbose: bool, path: Option<&[u8]>) -> Flow {
    let mut status = i32::from(!names.is_empty());
    for name in names {
        let found = meanings(context.session_mut(), name, NameQuery { path, ..NameQuery::default() });
        let Some(meaning) = found.first() else {
            if verbose {
                context.error(format_args!("{name}: not found"));
            }
            continue;
        };
        status = 0;
        let text = match meaning {
            _ if verbose => sentence(context, name, meaning),
            NameMeaning::Alias(value) => alias::line(name, value),
            NameMeaning::File { path, .. } => [&absolute(context, path)[..], b"\n"].concat(),
            _ => [&name[..], b"\n"].concat(),
        };
        context.print(&text)?;
    }
    Ok(status)
}

/// Returns a path that does not depend on the working directory.
fn absolute(context: &Context<'_>, path: &Bytes) -> Vec<u8> {
    match path.strip_prefix(b"./") {
        Some(rest) => context.session().resolve(rest),
        None => path.to_vec(),
    }
}
