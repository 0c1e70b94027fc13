//! `compopt`: changes the options of completion specifications.

use haft_text::Bytes;

use super::options::OptionParser;
use super::{Context, completion};
use crate::flow::Flow;
use crate::session::completion::{CompletionOption, CompletionSpec};

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let mut options = OptionParser::with_plus(arguments);
    let mut letters = Vec::new();
    let mut changes = Vec::new();
    loop {
        match options.next("o:DEI") {
            Ok(Some(flag)) if flag.letter == b'o' => match CompletionOption::named(flag.text()) {
                Some(option) => changes.push((option, !flag.plus)),
                None => {
                    let name = String::from_utf8_lossy(flag.text()).into_owned();
                    context.error(format_args!("{name}: invalid option name"));
                    return Ok(2);
                }
            },
            Ok(Some(flag)) => letters.push(flag.letter),
            Ok(None) => break,
            Err(bad) => return context.usage(bad),
        }
    }
    let named = completion::named_command(&letters);
    let commands = named.as_ref().map_or(options.rest(), std::slice::from_ref);
    match commands {
        [] => change_current(context, &changes),
        commands => change(context, commands, &changes),
    }
}

type OptionChange = (CompletionOption, bool);

/// Changes the options of the specification that is being used.
fn change_current(context: &mut Context<'_>, changes: &[OptionChange]) -> Flow {
    let Some((command, spec)) = context.session_mut().current_completion() else {
        context.error("not currently executing completion function");
        return Ok(1);
    };
    if changes.is_empty() {
        let line = spec.as_option_command(command);
        return context.print(&line);
    }
    apply(spec, changes);
    Ok(0)
}

fn change(context: &mut Context<'_>, commands: &[Bytes], changes: &[OptionChange]) -> Flow {
    let mut status = 0;
    for command in commands {
        let Some(spec) = context.definitions_mut().completions_mut().get_mut(command) else {
            context.error(format_args!("{command}: no completion specification"));
            status = 1;
            continue;
        };
        if changes.is_empty() {
            let line = spec.as_option_command(command);
            status |= context.print(&line)?;
        } else {
            apply(spec, changes);
        }
    }
    Ok(status)
}

/// Sets options first and then removes options, as bash does.
fn apply(spec: &mut CompletionSpec, changes: &[OptionChange]) {
    for on in [true, false] {
        for (option, _) in changes.iter().filter(|(_, wanted)| *wanted == on) {
            spec.options.put(*option, on);
        }
    }
}
