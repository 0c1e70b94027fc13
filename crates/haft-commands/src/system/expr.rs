//! `expr`: evaluates an expression.

mod parser;
mod value;

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow, Session};

use crate::arguments::CommandArguments;
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, Example};
use crate::group::gnu_command;
use crate::status::USAGE_ERROR;
use crate::text::streams::{Stop, run_text};
use parser::ExprParser;

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "expr",
    summary: "Evaluate an expression and write its value.",
    style: ArgumentStyle::Gnu(&["EXPRESSION..."]),
    parameters: &[],
    details: &[
        "Operators, from the lowest precedence: `|`, `&`, `< <= = == != >= >`, `+ -`, `* / %`, `:`, then `match TEXT REGEX`, \
         `substr TEXT POSITION LENGTH`, `index TEXT CHARACTERS`, `length TEXT`, `+ TOKEN` and parentheses.",
        "`TEXT : REGEX` matches a basic regular expression at the start of TEXT. Its value is the text of `\\(…\\)`, or else the number of \
         characters that match. Numbers have at most 38 digits.",
    ],
    statuses: &[
        ("0", "the value is neither empty nor 0"),
        ("1", "the value is empty or 0"),
        ("2", "the expression is not valid"),
        ("3", "a number is too large"),
    ],
    examples: &[
        Example { summary: "Arithmetic", script: "expr 7 \\* '(' 2 + 4 ')'", output: "42\n", status: 0 },
        Example {
            summary: "The part of a text that a group matches",
            script: "expr v1.25 : 'v\\([0-9]*\\)'",
            output: "1\n",
            status: 0,
        },
    ],
};

pub(crate) static COMMAND: CommandDefinition = CommandDefinition {
    usage_status: USAGE_ERROR,
    rewrite: Some(rewrite),
    steps_aside: Some(steps_aside),
    ..gnu_command(&DESCRIPTOR, run)
};

/// Back-references and long expressions have limits.
fn steps_aside(_: &mut Session, _: &CommandArguments, words: &[Bytes]) -> bool {
    const MAX_WORD_BYTES: usize = 4096;
    let has_reference =
        |word: &[u8]| word.windows(2).any(|pair| pair[0] == b'\\' && pair[1].is_ascii_digit());
    words.len() > MAX_DEPTH || words.iter().any(|word| word.len() > MAX_WORD_BYTES || has_reference(word))
}

/// The largest number of words. Parsing needs stack for each.
const MAX_DEPTH: usize = 500;

/// Only a single `--help` or `--version` is an option.
fn rewrite(words: &[Bytes]) -> Option<Vec<Bytes>> {
    match words {
        [only] if *only == "--help" || *only == "--version" => None,
        [first, ..] if *first == "--" => None,
        _ => Some([&[Bytes::from("--")], words].concat()),
    }
}

fn run(context: &mut Context<'_>, arguments: &CommandArguments, words: &[Bytes]) -> Flow {
    let words = &words[arguments.option_words..];
    run_text(context, |run| {
        if words.is_empty() {
            let _ = run.usage::<()>("missing operand");
            return Err(Stop::Exit(USAGE_ERROR));
        }
        let encoding = run.context.session().encoding();
        match ExprParser::new(words, encoding).evaluate() {
            Ok(value) => {
                run.set_status(i32::from(value.is_null()));
                run.write(&[value.into_text(), b"\n".to_vec()].concat())
            }
            Err(error) => {
                run.complain(&error.message);
                Err(Stop::Exit(error.status))
            }
        }
    })
}
