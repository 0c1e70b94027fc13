//! `jq`: filters JSON.
//!
//! A filter is parsed (`parser`), compiled (`compile`) and run by a machine that goes back for further outputs (`machine`). The order of
//! outputs, the rules for paths and the messages are those of jq 1.7.1.

mod access;
mod builtin;
mod code;
mod compile;
mod inputs;
mod lexer;
mod library;
mod machine;
mod number;
mod options;
mod parser;
mod print;
mod reader;
mod run;
mod stream;
mod syntax;
mod value;

use std::os::unix::ffi::OsStrExt as _;

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Command, Flow, Role, Session};

use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};
use crate::text::streams::{Stop, TextRun, Wording, run_worded};
use code::Program;
use inputs::Inputs;
use options::{JqOptions, LoadProblem, Request, read_options};
use print::{Colors, PrintStyle};
use reader::ReadMode;
use run::JqRun;
use syntax::FilterError;
use value::{Fields, Value};

/// The status if a filter is not valid.
const COMPILE_ERROR: i32 = 3;

/// The version whose behaviour the command has.
const VERSION: &str = "jq-1.7.1";

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "jq",
    summary: "Filter JSON.",
    style: ArgumentStyle::GnuMixed(&["FILTER", "[FILE]..."]),
    parameters: &[
        flag(
            "null-input",
            'n',
            "Run the filter once, on null. It reads the inputs with `input` and `inputs`.",
        ),
        flag("raw-input", 'R', "Read each line as a string."),
        flag("slurp", 's', "Read all inputs into one array, or with `-R` into one string."),
        flag("compact-output", 'c', "Write each output on one line."),
        flag("raw-output", 'r', "Write strings without quotes and escapes."),
        CommandParameter::new(
            "raw-output0",
            ParameterKind::Flag,
            "As `-r`, with a NUL after each output instead of a newline.",
        ),
        flag("join-output", 'j', "As `-r`, without a newline after each output."),
        flag("ascii-output", 'a', "Write other characters than ASCII as escapes."),
        flag("sort-keys", 'S', "Sort the members of objects."),
        flag("color-output", 'C', "Write colours, which `JQ_COLORS` sets."),
        flag("monochrome-output", 'M', "Write no colours."),
        CommandParameter::new("tab", ParameterKind::Flag, "Indent with tabs."),
        CommandParameter::new("indent", ParameterKind::Integer(0), "Indent by N spaces, at most 7."),
        CommandParameter::new("unbuffered", ParameterKind::Flag, "Write each output at once."),
        CommandParameter::new(
            "stream",
            ParameterKind::Flag,
            "Read paths and leaves instead of whole values.",
        ),
        CommandParameter::new("stream-errors", ParameterKind::Flag, "As `--stream`, with errors as values."),
        CommandParameter::new("seq", ParameterKind::Flag, "Read and write texts with separators (RFC 7464)."),
        flag("from-file", 'f', "Read the filter from a file, which the first operand names."),
        flag(
            "exit-status",
            'e',
            "Exit with status 1 if the last output is false or null, and with 4 if there is none.",
        ),
        two_words("arg", "NAME VALUE", "Set a variable to a string."),
        two_words("argjson", "NAME TEXT", "Set a variable to a value of JSON."),
        two_words("slurpfile", "NAME FILE", "Set a variable to an array of the values in a file."),
        two_words("rawfile", "NAME FILE", "Set a variable to the text of a file."),
        CommandParameter::new(
            "args",
            ParameterKind::Flag,
            "The other operands are strings of `$ARGS.positional`.",
        ),
        CommandParameter::new("jsonargs", ParameterKind::Flag, "The same for values of JSON."),
        flag("version", 'V', "Print the version."),
        flag("help", 'h', "Print the options."),
    ],
    details: &[
        "The language and the messages are those of jq 1.7.1. In particular, a number that is not changed is written as it was read, with all its digits.",
        "Modules (`import`, `include`, `-L`, `modulemeta`) and `--debug-dump-disasm` are errors. Of several syntax errors, the first is reported, \
         without a list of the tokens that were expected. Regular expressions have the syntax of Oniguruma as far as `fancy-regex` has it. \
         A filter may have 800 operators in a row.",
        "A program `jq` that the machine has may be of another version, which writes numbers in another way. So the command replaces such a \
         program only if it is of version 1.7.1.",
    ],
    statuses: &[
        ("0", "success"),
        ("1", "with `-e`: the last output was false or null"),
        ("2", "wrong usage, or a file cannot be read"),
        ("3", "the filter is not valid"),
        ("4", "with `-e`: there was no output"),
        ("5", "an error in a filter or in the input"),
    ],
    examples: &[
        Example {
            summary: "Choose and change members",
            script: r#"echo '{"name": "a", "size": 12, "x": 1}' | jq -c '{name, kib: (.size / 1024)}'"#,
            output: "{\"name\":\"a\",\"kib\":0.01171875}\n",
            status: 0,
        },
        Example {
            summary: "Large numbers keep their digits",
            script: "echo '[100000000000000000000000000000001, 1.10]' | jq -c .",
            output: "[100000000000000000000000000000001,1.10]\n",
            status: 0,
        },
        Example {
            summary: "Values from the command line",
            script: r#"jq -nr --arg who world --argjson n 2 '[range($n)] | map("\($who) \(.)") | join(", ")'"#,
            output: "world 0, world 1\n",
            status: 0,
        },
        Example {
            summary: "Decide by an output",
            script: r#"echo '{"ok": false}' | jq -e .ok"#,
            output: "false\n",
            status: 1,
        },
    ],
};

const fn flag(name: &'static str, letter: char, summary: &'static str) -> CommandParameter {
    CommandParameter::new(name, ParameterKind::Flag, summary).letter(letter)
}

const fn two_words(name: &'static str, value: &'static str, summary: &'static str) -> CommandParameter {
    CommandParameter::new(name, ParameterKind::Text, summary).with_value_name(value)
}

pub(crate) static COMMAND: JqCommand = JqCommand;

/// The command. Its options take up to two words, so it reads its own arguments.
#[derive(Debug)]
pub(crate) struct JqCommand;

impl Command for JqCommand {
    fn name(&self) -> &str {
        DESCRIPTOR.name
    }

    fn run(&self, context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
        run_worded(context, Wording::Jq, |run| run_command(run, arguments))
    }

    fn takes_values(&self, _: &mut Session, _: &[Bytes]) -> bool {
        false
    }

    fn steps_aside(&self, session: &mut Session, arguments: &[Bytes]) -> bool {
        !program_has_version(session) || needs_program(session, arguments)
    }

    fn role(&self) -> Role {
        Role::Stage
    }

    fn parameters(&self) -> Vec<String> {
        DESCRIPTOR.parameters.iter().map(|parameter| format!("--{}", parameter.name)).collect()
    }

    fn synopsis(&self) -> String {
        crate::synopsis(&DESCRIPTOR)
    }

    fn summary(&self) -> &str {
        DESCRIPTOR.summary
    }

    fn help(&self) -> String {
        crate::help(&DESCRIPTOR)
    }
}

/// Whether the program of the machine is of the same version. Its text of the version is a string of its own in the file.
fn program_has_version(session: &mut Session) -> bool {
    const MAX_PROGRAM_BYTES: u64 = 4 << 20;
    let Some(path) = session.find_program(b"jq") else { return false };
    let path = std::path::PathBuf::from(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(&path));
    let metadata = session.files().metadata(&path);
    if !metadata.is_ok_and(|metadata| metadata.is_file() && metadata.size <= MAX_PROGRAM_BYTES) {
        return false;
    }
    let Ok(mut file) = session.files().open(&path, &haft_fs::OpenOptions::new().read(true)) else {
        return false;
    };
    let mut content = Vec::new();
    let read = std::io::Read::read_to_end(&mut file, &mut content);
    read.is_ok() && memchr::memmem::find(&content, b"\x001.7.1\0").is_some()
}

/// Whether a call is one that only the program handles exactly: an option or a filter that is not valid.
fn needs_program(session: &mut Session, arguments: &[Bytes]) -> bool {
    let mut load = |_: &Bytes, _: bool| Ok(Value::Null);
    let Ok(options) = read_options(arguments, &mut load) else { return true };
    let Some(filter) = options.filter.filter(|_| !options.filter_is_file && options.request.is_none()) else {
        return true;
    };
    let mut globals = options.named;
    for name in ["ENV", "ARGS", "JQ_BUILD_CONFIGURATION"] {
        globals.insert(name.into(), Value::Null);
    }
    let home_has_library = session
        .value(b"HOME")
        .is_some_and(|home| session.files().exists(&std::path::Path::new(&*home.lossy()).join(".jq")));
    home_has_library
        || parser::parse(&filter.lossy()).map_or(true, |filter| compile::compile(&filter, &globals).is_err())
}

fn run_command(run: &mut TextRun<'_, '_>, words: &[Bytes]) -> Result<(), Stop> {
    let options = read_options(words, &mut |name, raw| load_file(run, name, raw));
    let mut options = match options {
        Ok(options) => options,
        Err(problem) => return Err(problem.report(run)),
    };
    match options.request {
        Some(Request::Help) => return run.write(crate::help(&DESCRIPTOR).as_bytes()),
        Some(Request::Version) => return run.write(format!("{VERSION}\n").as_bytes()),
        None => {}
    }
    let source = filter_text(run, &options)?;
    let globals = globals(run, &mut options);
    let program = compile_filter(run, &source, &globals)?;
    let style = print_style(run, &options);
    let inputs = Inputs::new(options.files, options.reading, options.raw_input, options.slurp);
    let mut jq = JqRun { run, inputs, output: options.output, style };
    let status = jq.execute(&program, options.null_input, options.exit_status)?;
    run.set_status(status);
    Ok(())
}

/// The text of the filter.
fn filter_text(run: &mut TextRun<'_, '_>, options: &JqOptions) -> Result<String, Stop> {
    let Some(filter) = &options.filter else { return Ok(".".to_owned()) };
    if !options.filter_is_file {
        return Ok(filter.lossy().into_owned());
    }
    match load_file(run, filter, true) {
        Ok(text) => Ok(text.as_text().unwrap_or_default().to_owned()),
        Err(LoadProblem::Stop(stop)) => Err(stop),
        Err(LoadProblem::Message(message)) => run.fail(message),
    }
}

/// Variables that are set from outside.
fn globals(run: &mut TextRun<'_, '_>, options: &mut JqOptions) -> Fields {
    let mut globals = std::mem::take(&mut options.named);
    let positional = std::mem::take(&mut options.positional);
    let arguments = Value::object([("positional", positional.into()), ("named", globals.clone().into())]);
    globals.insert("ARGS".into(), arguments);
    globals.entry("JQ_BUILD_CONFIGURATION".into()).or_insert_with(|| "haft".into());
    globals.insert("ENV".into(), run::environment(run));
    globals
}

fn compile_filter(run: &mut TextRun<'_, '_>, source: &str, globals: &Fields) -> Result<Program, Stop> {
    let parsed = parser::parse(source).map_err(|error| vec![error]);
    let errors = match parsed.and_then(|filter| compile::compile(&filter, globals)) {
        Ok(program) => return Ok(program),
        Err(errors) => errors,
    };
    for error in &errors {
        report_filter_error(run, source, error);
    }
    let noun = if errors.len() == 1 { "error" } else { "errors" };
    run.complain(format_args!("{} compile {noun}", errors.len()));
    Err(Stop::Exit(COMPILE_ERROR))
}

fn report_filter_error(run: &mut TextRun<'_, '_>, source: &str, error: &FilterError) {
    let at = error.at.min(source.len());
    let start = memchr::memrchr(b'\n', &source.as_bytes()[..at]).map_or(0, |newline| newline + 1);
    let line = source[start..].lines().next().unwrap_or_default();
    let (message, number, padding) = (&error.message, parser::line_of(source, at), at - start);
    run.complain(format_args!("error: {message} at <top-level>, line {number}:\n{line}{:padding$}", ""));
}

/// Loads a file for a variable: its text, or an array of its values.
fn load_file(run: &mut TextRun<'_, '_>, name: &Bytes, raw: bool) -> Result<Value, LoadProblem> {
    let failed = |reason: &str| LoadProblem::Message(format!("Could not open {}: {reason}", name.lossy()));
    let path = crate::step_aside::absolute(run.context.session(), name).unwrap_or_default();
    if run.context.session().files().metadata(&path).is_ok_and(|metadata| metadata.is_dir()) {
        return Err(failed("It's a directory"));
    }
    let mut input = match run.try_open(name).map_err(LoadProblem::Stop)? {
        Ok(input) => input,
        Err(error) => return Err(failed(&haft_fs::message(&error))),
    };
    let content = input.read_all(run).map_err(LoadProblem::Stop)?;
    if raw {
        return Ok(String::from_utf8_lossy(&content).into_owned().into());
    }
    let mut reader = reader::JsonReader::new(ReadMode::default());
    reader.set_piece(&content, true);
    let mut values = Vec::new();
    loop {
        match reader.next() {
            reader::Found::Value(value) => values.push(value),
            reader::Found::Nothing => return Ok(values.into()),
            reader::Found::Error(message) => return Err(LoadProblem::Message(message)),
        }
    }
}

fn print_style(run: &mut TextRun<'_, '_>, options: &JqOptions) -> PrintStyle {
    let exported = run.context.session_mut().environment();
    let variable = |name: &str| {
        let found = exported.iter().find(|(known, _)| known.as_bytes() == name.as_bytes());
        found.map(|(_, value)| value.to_string_lossy().into_owned())
    };
    let is_terminal = run.context.file(1).is_some_and(|output| output.is_terminal());
    let by_default = is_terminal && variable("NO_COLOR").is_none_or(|value| value.is_empty());
    let (colors, is_valid) = Colors::parse(variable("JQ_COLORS").as_deref());
    if !is_valid {
        run.context.print_error(b"Failed to set $JQ_COLORS\n");
        run.context.flush();
    }
    PrintStyle {
        indent: options.output.indent,
        sort_keys: options.output.sort_keys,
        ascii: options.output.ascii,
        colors: options.output.color.unwrap_or(by_default).then_some(colors),
    }
}
