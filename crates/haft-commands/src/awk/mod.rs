//! `awk`: runs programs of the awk language on records and fields.
//!
//! The lexer and the parser make a tree whose variables are slots. The interpreter walks the tree. Records are split only as far as
//! fields are used.

mod array;
mod builtin;
mod field_widths;
mod format;
mod lexer;
mod number;
mod parse;
mod record;
mod run;
mod step_aside;
mod tree;
mod value;

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Command, Flow};

use crate::arguments::{ArgumentValue, CommandArguments};
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};
use crate::group::{CommandGroup, gnu_command};
use crate::status::USAGE_ERROR;
use crate::text::streams::{Stop, TextRun, run_text};
use parse::AwkSyntaxError;
use run::{AwkRun, AwkStop};

/// The commands with a language of their own.
pub(crate) const GROUP: CommandGroup =
    CommandGroup { title: "Languages", commands: LANGUAGE_TABLE, descriptors: LANGUAGE_DESCRIPTORS };

static LANGUAGE_TABLE: &[&dyn Command] = &[&COMMAND, &crate::jq::COMMAND];

static LANGUAGE_DESCRIPTORS: &[&CommandDescriptor] = &[&DESCRIPTOR, &crate::jq::DESCRIPTOR];

static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "awk",
    summary: "Run a program for each record of some files.",
    style: ArgumentStyle::Gnu(&["PROGRAM", "[FILE | VARIABLE=VALUE]..."]),
    parameters: &[
        CommandParameter::new("assign", ParameterKind::Text, "Set a variable before the program starts.")
            .letter('v')
            .with_value_name("VARIABLE=VALUE"),
        CommandParameter::new("field-separator", ParameterKind::Text, "Set `FS`.").letter('F'),
        CommandParameter::new(
            "file",
            ParameterKind::Text,
            "Read the program from a file instead of the operand.",
        )
        .letter('f')
        .with_value_name("FILE"),
    ],
    details: &[
        "The language is that of POSIX with these additions of `gawk`: `BEGINFILE`, `ENDFILE`, `nextfile`, `RT`, `RS` as a regular \
         expression, `**`, `length(array)`, `delete array`, `match` with an array, `split` with separators, `gensub`, `strftime`, `mktime`, \
         `systime`, `strtonum`, `asort`, `asorti`, `FPAT`, `FIELDWIDTHS`, `IGNORECASE`, `and`, `or`, `xor`, `lshift`, `rshift`, `compl` and `fflush`.",
        "Commands in pipes and in `system` run in a subshell, with what the session has. \
         Coprocesses, `switch`, arrays of arrays and `PROCINFO` are errors.",
        "`rand` gives other numbers than `gawk`'s. `for (key in array)` visits integers last and in ascending order; other subscripts in the order in which they were made.",
    ],
    statuses: &[
        ("0", "success"),
        ("1", "the program is not valid"),
        ("2", "an error at run time, or wrong usage"),
        ("other", "the argument of `exit`"),
    ],
    examples: &[
        Example {
            summary: "The sum of a column",
            script: "printf '%s\\n' 'a 1' 'b 20' | awk '{ sum += $2 } END { print sum }'",
            output: "21\n",
            status: 0,
        },
        Example {
            summary: "Count values",
            script: "printf '%s\\n' 3:x 1:y 3:z | awk -F: '{ n[$1]++ } END { for (k in n) print k, n[k] }'",
            output: "1 1\n3 2\n",
            status: 0,
        },
    ],
};

static COMMAND: CommandDefinition = CommandDefinition {
    usage_status: USAGE_ERROR,
    steps_aside: Some(|session, arguments, _| step_aside::steps_aside(session, arguments)),
    programs: &["gawk"],
    ..gnu_command(&DESCRIPTOR, run)
};

/// Variables that exist even if the program does not name them.
const ALWAYS: [&str; 3] = ["ARGC", "ARGV", "ENVIRON"];

fn run(context: &mut Context<'_>, arguments: &CommandArguments, words: &[Bytes]) -> Flow {
    let operands = &words[arguments.option_words..];
    run_text(context, |run| {
        let (source, operands) = program_text(run, arguments, operands)?;
        let assignments = assignments(run, arguments)?;
        let mut names: Vec<&str> = ALWAYS.to_vec();
        names.extend(assignments.iter().map(|(name, _)| name.as_str()));
        let operand_names: Vec<String> = operands.iter().filter_map(|word| assigned_name(word)).collect();
        names.extend(operand_names.iter().map(String::as_str));
        let encoding = run.context.session().encoding();
        let mut warn = |line: usize, warning: &str| {
            run.complain(format_args!("cmd. line:{line}: warning: {warning}"));
        };
        let mut program = match parse::parse(&source, &names, encoding, &mut warn) {
            Ok(program) => program,
            Err(error) => return Err(report(run, &error)),
        };
        for name in ["ARGV", "ENVIRON"] {
            if let Some(index) = program.globals.iter().position(|global| global == name) {
                program.global_arrays[index] = true;
            }
        }
        let mut awk = AwkRun::new(run, program, operands.to_vec());
        for (name, value) in &assignments {
            if let Err(AwkStop::Stop(stop)) = awk.assign_named(name, value) {
                return Err(stop);
            }
        }
        let status = awk.execute()?;
        run.set_status(status);
        Ok(())
    })
}

/// Reports an error in a program as `gawk` does: with the line, and a mark below the place.
fn report(run: &mut TextRun<'_, '_>, error: &AwkSyntaxError) -> Stop {
    let (line, message) = (error.line, &error.message);
    match &error.place {
        None => run.complain(format_args!("cmd. line:{line}: {message}")),
        Some((text, column)) => {
            let before: String =
                text[..*column].iter().map(|byte| if *byte == b'\t' { '\t' } else { ' ' }).collect();
            run.complain(format_args!("cmd. line:{line}: {}", String::from_utf8_lossy(text)));
            run.complain(format_args!("cmd. line:{line}: {before}^ {message}"));
        }
    }
    Stop::Exit(error.status)
}

/// The name in an operand of the form `NAME=VALUE`.
fn assigned_name(word: &[u8]) -> Option<String> {
    let end = memchr::memchr(b'=', word)?;
    Some(String::from_utf8_lossy(&word[..end]).into_owned())
}

/// The text of the program, and the operands after it.
fn program_text<'w>(
    run: &mut TextRun<'_, '_>,
    arguments: &CommandArguments,
    operands: &'w [Bytes],
) -> Result<(Vec<u8>, &'w [Bytes]), Stop> {
    let files: Vec<&Bytes> = arguments
        .in_order()
        .filter_map(|(name, value)| match value {
            ArgumentValue::Text(text) if name == "file" => Some(text),
            _ => None,
        })
        .collect();
    if files.is_empty() {
        let Some((program, rest)) = operands.split_first() else {
            let _ = run.usage::<()>("missing program");
            return Err(Stop::Exit(USAGE_ERROR));
        };
        return Ok((program.to_vec(), rest));
    }
    let mut source = Vec::new();
    for name in files {
        let input = match *name == "-" {
            true => Ok(run.standard_input()),
            false => run.try_open(name)?,
        };
        match input {
            Ok(mut input) => source.extend(input.read_all(run)?),
            Err(error) => {
                let reason = haft_fs::message(&error);
                run.complain(format_args!("fatal: cannot open source file `{name}' for reading: {reason}"));
                return Err(Stop::Exit(2));
            }
        }
        source.push(b'\n');
    }
    Ok((source, operands))
}

/// The variables that `-v` and `-F` set.
fn assignments(
    run: &mut TextRun<'_, '_>,
    arguments: &CommandArguments,
) -> Result<Vec<(String, Vec<u8>)>, Stop> {
    let mut list = Vec::new();
    for (option, value) in arguments.in_order() {
        let ArgumentValue::Text(text) = value else { continue };
        match option {
            "field-separator" => list.push(("FS".to_owned(), text.to_vec())),
            "assign" => {
                let name = assigned_name(text).unwrap_or_default();
                let mut letters = name.bytes();
                let is_name =
                    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
                        && letters.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
                if !is_name {
                    let shown = if name.is_empty() { text.lossy().into_owned() } else { name };
                    run.complain(format_args!("fatal: `{shown}' is not a legal variable name"));
                    return Err(Stop::Exit(2));
                }
                list.push((name.clone(), text[name.len() + 1..].to_vec()));
            }
            _ => {}
        }
    }
    Ok(list)
}
