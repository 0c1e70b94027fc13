//! `md5sum`, `sha1sum` and `sha256sum`: write and check checksums.

mod list;

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow};
use sha2::Digest;

use super::streams::{Stop, TextInput, TextRun, run_text};
use super::text_command;
use crate::arguments::CommandArguments;
use crate::definition::{CommandDefinition, RunFunction};
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};

/// A hash function.
pub(super) struct Algorithm {
    /// The name in the format of `--tag`.
    tag: &'static str,
    /// The number of hexadecimal digits.
    digits: usize,
    /// The checksum of an input in hexadecimal digits.
    hash: fn(&mut TextRun<'_, '_>, &mut TextInput) -> Result<String, Stop>,
}

static MD5: Algorithm = Algorithm { tag: "MD5", digits: 32, hash: hash::<md5::Md5> };
static SHA1: Algorithm = Algorithm { tag: "SHA1", digits: 40, hash: hash::<sha1::Sha1> };
static SHA256: Algorithm = Algorithm { tag: "SHA256", digits: 64, hash: hash::<sha2::Sha256> };

const fn flag(name: &'static str, summary: &'static str) -> CommandParameter {
    CommandParameter::new(name, ParameterKind::Flag, summary)
}

const PARAMETERS: &[CommandParameter] = &[
    flag("binary", "Write * before names.").letter('b'),
    flag("check", "Read checksums from the files, and check them.").letter('c'),
    flag("ignore-missing", "With -c: ignore files that do not exist."),
    flag("quiet", "With -c: do not write OK for each file."),
    flag("status", "With -c: write nothing; only set the status."),
    flag("strict", "With -c: fail if a line has the wrong format."),
    flag("tag", "Write the name of the hash function as well."),
    flag("text", "Write a blank before names (the default).").letter('t'),
    flag("warn", "With -c: warn about each line in the wrong format.").letter('w'),
    flag("zero", "End lines with a NUL byte, and do not escape names.").letter('z'),
];

const fn descriptor(
    name: &'static str,
    summary: &'static str,
    examples: &'static [Example],
) -> CommandDescriptor {
    CommandDescriptor {
        name,
        summary,
        style: ArgumentStyle::GnuMixed(&["[FILE]..."]),
        parameters: PARAMETERS,
        details: &[
            "A name with a newline, a carriage return or a backslash is escaped, and its line starts with a backslash.",
        ],
        statuses: &[("0", "success"), ("1", "a file could not be read, or a checksum is wrong")],
        examples,
    }
}

pub(crate) static MD5_DESCRIPTOR: CommandDescriptor = descriptor(
    "md5sum",
    "Write or check MD5 checksums.",
    &[Example {
        summary: "The checksum of standard input",
        script: "printf hello | md5sum",
        output: "5d41402abc4b2a76b9719d911017c592  -\n",
        status: 0,
    }],
);

pub(crate) static SHA1_DESCRIPTOR: CommandDescriptor = descriptor(
    "sha1sum",
    "Write or check SHA-1 checksums.",
    &[Example {
        summary: "The checksum of standard input",
        script: "printf hello | sha1sum",
        output: "aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d  -\n",
        status: 0,
    }],
);

pub(crate) static SHA256_DESCRIPTOR: CommandDescriptor = descriptor(
    "sha256sum",
    "Write or check SHA-256 checksums.",
    &[Example {
        summary: "Write and check a checksum",
        script: "echo hello > /tmp/f; sha256sum /tmp/f > /tmp/sums; sha256sum -c /tmp/sums",
        output: "/tmp/f: OK\n",
        status: 0,
    }],
);

const MD5_RUN: RunFunction = |context, arguments, _| run(context, arguments, &MD5);
const SHA1_RUN: RunFunction = |context, arguments, _| run(context, arguments, &SHA1);
const SHA256_RUN: RunFunction = |context, arguments, _| run(context, arguments, &SHA256);

pub(crate) static MD5_COMMAND: CommandDefinition = text_command(&MD5_DESCRIPTOR, MD5_RUN);
pub(crate) static SHA1_COMMAND: CommandDefinition = text_command(&SHA1_DESCRIPTOR, SHA1_RUN);
pub(crate) static SHA256_COMMAND: CommandDefinition = text_command(&SHA256_DESCRIPTOR, SHA256_RUN);

fn run(context: &mut Context<'_>, arguments: &CommandArguments, algorithm: &Algorithm) -> Flow {
    run_text(context, |run| {
        check_usage(run, arguments)?;
        let standard = [Bytes::from("-")];
        let names = if arguments.operands.is_empty() { &standard } else { arguments.operands.as_slice() };
        if arguments.flag("check") {
            return list::check_lists(run, arguments, algorithm, names);
        }
        for name in names {
            let Some(mut input) = run.open(name)? else { continue };
            let sum = (algorithm.hash)(run, &mut input)?;
            if !input.has_failed() {
                run.write(&line(name, &sum, arguments, algorithm))?;
            }
        }
        Ok(())
    })
}

/// Whether `-b` or `-t` was given last. `--tag` implies `-b`.
fn binary_mode(arguments: &CommandArguments) -> Option<bool> {
    arguments.in_order().rev().find_map(|(name, _)| match name {
        "binary" | "tag" => Some(true),
        "text" => Some(false),
        _ => None,
    })
}

/// Of `-w`, `--status` and `--quiet`, the last one counts.
fn report_mode(arguments: &CommandArguments) -> Option<&'static str> {
    arguments.in_order().rev().map(|(name, _)| name).find(|name| ["warn", "status", "quiet"].contains(name))
}

fn check_usage(run: &mut TextRun<'_, '_>, arguments: &CommandArguments) -> Result<(), Stop> {
    let (check, mode) = (arguments.flag("check"), binary_mode(arguments));
    if arguments.flag("tag") && mode == Some(false) {
        return run.usage("--tag does not support --text mode");
    }
    if check && arguments.flag("zero") {
        return run.usage("the --zero option is not supported when verifying checksums");
    }
    if check && arguments.flag("tag") {
        return run.usage("the --tag option is meaningless when verifying checksums");
    }
    if check && mode.is_some() {
        return run.usage("the --binary and --text options are meaningless when verifying checksums");
    }
    let report = report_mode(arguments);
    let given = |name: &&str| match *name {
        "ignore-missing" | "strict" => arguments.flag(name),
        _ => report == Some(*name),
    };
    match ["ignore-missing", "status", "warn", "quiet", "strict"].iter().find(|name| given(name)) {
        Some(name) if !check => {
            run.usage(format_args!("the --{name} option is meaningful only when verifying checksums"))
        }
        _ => Ok(()),
    }
}

fn hash<D: Digest>(run: &mut TextRun<'_, '_>, input: &mut TextInput) -> Result<String, Stop> {
    let mut hasher = D::new();
    loop {
        let piece = input.fill(run)?;
        let length = piece.len();
        if length == 0 {
            return Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect());
        }
        hasher.update(piece);
        input.consume(length);
    }
}

/// The line of a file.
fn line(name: &[u8], sum: &str, arguments: &CommandArguments, algorithm: &Algorithm) -> Vec<u8> {
    let zero = arguments.flag("zero");
    let is_escaped = !zero && name.iter().any(|byte| b"\\\n\r".contains(byte));
    let shown = if is_escaped { escape(name) } else { name.to_vec() };
    let mut line = if is_escaped { b"\\".to_vec() } else { Vec::new() };
    if arguments.flag("tag") {
        line.extend([algorithm.tag.as_bytes(), b" (", &shown, b") = ", sum.as_bytes()].concat());
    } else {
        let mark = if binary_mode(arguments) == Some(true) { b" *" } else { b"  " };
        line.extend([sum.as_bytes(), mark, &shown].concat());
    }
    line.push(if zero { 0 } else { b'\n' });
    line
}

/// Escapes newlines, carriage returns and backslashes.
fn escape(name: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(name.len());
    for byte in name {
        match byte {
            b'\n' => text.extend_from_slice(b"\\n"),
            b'\r' => text.extend_from_slice(b"\\r"),
            b'\\' => text.extend_from_slice(b"\\\\"),
            _ => text.push(*byte),
        }
    }
    text
}
