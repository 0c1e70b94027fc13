//! `set`.

use haft_text::Bytes;

use super::{Context, variable_listing};
use crate::flow::{Flow, Unwind};
use crate::options::SetOption;
use crate::session::Session;

/// How many words are copied between two checks for cancellation.
const WORDS_PER_CHECK: usize = 1 << 16;

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    if arguments.is_empty() {
        return list(context);
    }
    let plan = match SetArguments::parse(arguments) {
        Ok(plan) => plan,
        Err(SetArgumentError::Letter(option)) => {
            return context.usage(format_args!("{option}: invalid option"));
        }
        Err(SetArgumentError::Name(name)) => {
            context.error(format_args!("{name}: invalid option name"));
            return context.session().unless_posix(2);
        }
    };
    if plan.restrict {
        context.session_mut().restrict();
    }
    for (option, on) in plan.changes {
        context.session_mut().set_option(option, on);
    }
    if let Some(operands) = plan.positional {
        let operands = copied(context.session(), operands)?;
        context.parameters_mut().set_positional_by_builtin(operands);
    }
    for on in plan.lists {
        let text: String = SetOption::ALL
            .iter()
            .map(|(option, name, _)| {
                let value = context.options().has(*option);
                if on {
                    option_line(name, value)
                } else {
                    format!("set {}o {name}\n", if value { '-' } else { '+' })
                }
            })
            .collect();
        context.print(text.as_bytes())?;
    }
    Ok(0)
}

/// Copies words, with checks for cancellation if there are many.
fn copied(session: &Session, words: &[Bytes]) -> Result<Vec<Bytes>, Unwind> {
    session.reserve_memory("the positional parameters", size_of_val(words))?;
    let mut copy = Vec::with_capacity(words.len());
    for chunk in words.chunks(WORDS_PER_CHECK) {
        session.check_cancelled()?;
        copy.extend_from_slice(chunk);
    }
    Ok(copy)
}

/// The parsed arguments. They take effect only after all of them are known to be valid.
#[derive(Default)]
struct SetArguments<'a> {
    changes: Vec<(SetOption, bool)>,
    /// `-r`.
    restrict: bool,
    /// `-o` and `+o` without a name.
    lists: Vec<bool>,
    positional: Option<&'a [Bytes]>,
}

enum SetArgumentError {
    Letter(String),
    Name(Bytes),
}

impl<'a> SetArguments<'a> {
    fn parse(arguments: &'a [Bytes]) -> Result<Self, SetArgumentError> {
        let mut plan = Self::default();
        let mut rest = arguments;
        while let Some((word, after)) = rest.split_first() {
            let on = match word.as_bytes() {
                b"--" => {
                    plan.positional = Some(after);
                    return Ok(plan);
                }
                b"-" => {
                    plan.changes.extend([(SetOption::Trace, false), (SetOption::Verbose, false)]);
                    plan.positional = (!after.is_empty()).then_some(after);
                    return Ok(plan);
                }
                [b'-', ..] => true,
                [b'+', ..] => false,
                _ => {
                    plan.positional = Some(rest);
                    return Ok(plan);
                }
            };
            rest = plan.word(&word[1..], on, after)?;
        }
        Ok(plan)
    }

    /// Parses the letters of one word; `o` takes the next word.
    fn word(
        &mut self,
        letters: &[u8],
        on: bool,
        after: &'a [Bytes],
    ) -> Result<&'a [Bytes], SetArgumentError> {
        let mut after = after;
        for &letter in letters {
            if letter == b'r' && on {
                self.restrict = true;
                continue;
            }
            if letter != b'o' {
                let option = SetOption::from_letter(letter).ok_or_else(|| {
                    SetArgumentError::Letter(format!("{}{}", if on { '-' } else { '+' }, char::from(letter)))
                })?;
                self.changes.push((option, on));
                continue;
            }
            match after.split_first() {
                Some((name, rest)) if !name.starts_with(b"-") && !name.starts_with(b"+") => {
                    let option =
                        SetOption::from_name(name).ok_or_else(|| SetArgumentError::Name(name.clone()))?;
                    self.changes.push((option, on));
                    after = rest;
                }
                _ => self.lists.push(on),
            }
        }
        Ok(after)
    }
}

/// Returns a line of `set -o` and `shopt`.
pub(super) fn option_line(name: &str, on: bool) -> String {
    format!("{name:<15}\t{}\n", if on { "on" } else { "off" })
}

fn list(context: &mut Context<'_>) -> Flow {
    let mut text = variable_listing::listed(context.session_mut());
    if !context.options().has(SetOption::Posix) {
        text.extend_from_slice(&super::function_listing::all(context.session_mut(), |_| true));
    }
    context.print(&text)
}
