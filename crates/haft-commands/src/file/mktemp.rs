//! `mktemp`: makes temporary files and directories.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io;

use haft_fs::OpenOptions;
use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow};

use super::run::join;
use crate::arguments::CommandArguments;
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};
use crate::group::gnu_command;
use crate::text::streams::{Stop, TextRun, run_text};

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "mktemp",
    summary: "Make a temporary file or directory, and write its name.",
    style: ArgumentStyle::GnuMixed(&["[TEMPLATE]"]),
    parameters: &[
        CommandParameter::new("directory", ParameterKind::Flag, "Make a directory.").letter('d'),
        CommandParameter::new("dry-run", ParameterKind::Flag, "Make nothing.").letter('u'),
        CommandParameter::new("quiet", ParameterKind::Flag, "Print no errors.").letter('q'),
        CommandParameter::new("suffix", ParameterKind::Text, "Add SUFFIX to the name.")
            .with_value_name("SUFFIX"),
        CommandParameter::new(
            "tmpdir",
            ParameterKind::OptionalText,
            "Make it in DIRECTORY, else in TMPDIR or /tmp.",
        )
        .with_value_name("DIRECTORY"),
        CommandParameter::new("p", ParameterKind::Text, "Make it in DIRECTORY, if it is not empty.")
            .letter('p')
            .without_long_option()
            .with_value_name("DIRECTORY"),
        CommandParameter::short_flag("t", 't', "Make it in TMPDIR, or the directory of `-p`, or /tmp."),
    ],
    details: &[
        "TEMPLATE contains at least three `X` at the end of its last component; the default is `tmp.XXXXXXXXXX`.",
    ],
    statuses: &[("0", "success"), ("1", "nothing was made")],
    examples: &[Example {
        summary: "A directory with a name of its own",
        script: "mktemp -d /tmp/work.XXXXXX",
        output: "/tmp/work.…\n",
        status: 0,
    }],
};

pub(crate) static COMMAND: CommandDefinition = CommandDefinition {
    steps_aside: Some(|session, arguments, _| super::step_aside::mktemp(session, arguments)),
    ..gnu_command(&DESCRIPTOR, run)
};

/// Letters that replace each `X`.
const LETTERS: &[u8; 62] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/// How many names are tried.
const MAX_TRIES: usize = 62 * 62 * 62;

/// The fewest `X` in a template.
const MIN_LETTERS: usize = 3;

const DEFAULT_TEMPLATE: &[u8] = b"tmp.XXXXXXXXXX";

fn run(context: &mut Context<'_>, arguments: &CommandArguments, _: &[Bytes]) -> Flow {
    run_text(context, |run| {
        let template = match arguments.operands.as_slice() {
            [] => None,
            [template] => Some(template),
            _ => return run.usage("too many templates"),
        };
        let (name, suffix_length) = template_name(run, arguments, template.map(|template| &**template))?;
        let template = place(run, arguments, name, template.is_none())?;
        let made = make(run, arguments, &template, suffix_length)?;
        match made {
            Ok(made) => run.write(&[made.as_slice(), b"\n"].concat()),
            Err(_) if arguments.flag("quiet") => Err(Stop::Exit(1)),
            Err(error) => {
                let shown = run.quote(&template);
                let kind = if arguments.flag("directory") { "directory" } else { "file" };
                run.file_failed(format_args!("failed to create {kind} via template {shown}"), &error);
                Ok(())
            }
        }
    })
}

/// The template with its suffix, and the length of the suffix.
fn template_name(
    run: &mut TextRun<'_, '_>,
    arguments: &CommandArguments,
    given: Option<&[u8]>,
) -> Result<(Vec<u8>, usize), Stop> {
    let template = given.unwrap_or(DEFAULT_TEMPLATE);
    let (name, suffix) = match arguments.text("suffix") {
        Some(suffix) => {
            if !template.ends_with(b"X") {
                let shown = run.quote(template);
                return run.fail(format_args!("with --suffix, template {shown} must end in X"));
            }
            ([template, suffix].concat(), suffix.to_vec())
        }
        None => {
            let end = template.iter().rposition(|&byte| byte == b'X').map_or(template.len(), |last| last + 1);
            (template.to_vec(), template[end..].to_vec())
        }
    };
    if suffix.contains(&b'/') {
        let shown = run.quote(&suffix);
        return run.fail(format_args!("invalid suffix {shown}, contains directory separator"));
    }
    let stem = &name[..name.len() - suffix.len()];
    if stem.iter().rev().take_while(|&&byte| byte == b'X').count() < MIN_LETTERS {
        let shown = run.quote(&name);
        return run.fail(format_args!("too few X's in template {shown}"));
    }
    Ok((name, suffix.len()))
}

/// Puts a template into its directory.
fn place(
    run: &mut TextRun<'_, '_>,
    arguments: &CommandArguments,
    name: Vec<u8>,
    is_default: bool,
) -> Result<Vec<u8>, Stop> {
    let given = arguments.text("p").or(arguments.text("tmpdir")).filter(|directory| !directory.is_empty());
    let variable = run.context.value(b"TMPDIR").filter(|directory| !directory.is_empty());
    let default = Bytes::from("/tmp");
    let shown = run.quote(&name);
    let directory = if arguments.flag("t") {
        if name.contains(&b'/') {
            return run.fail(format_args!("invalid template, {shown}, contains directory separator"));
        }
        variable.as_ref().or(given).unwrap_or(&default).clone()
    } else if is_default || arguments.text("p").is_some() || arguments.text("tmpdir").is_some() {
        if name.starts_with(b"/") {
            return run
                .fail(format_args!("invalid template, {shown}; with --tmpdir, it may not be absolute"));
        }
        given.or(variable.as_ref()).unwrap_or(&default).clone()
    } else {
        return Ok(name);
    };
    Ok(join(&directory, &name))
}

/// Tries names until a new file is made.
fn make(
    run: &mut TextRun<'_, '_>,
    arguments: &CommandArguments,
    template: &[u8],
    suffix_length: usize,
) -> Result<io::Result<Vec<u8>>, Stop> {
    let end = template.len() - suffix_length;
    let start = end - template[..end].iter().rev().take_while(|&&byte| byte == b'X').count();
    for _ in 0..MAX_TRIES {
        run.context.check()?;
        let mut name = template.to_vec();
        name[start..end].iter_mut().for_each(|letter| *letter = random_letter());
        let path = run.path(&name);
        let made = if arguments.flag("dry-run") {
            match run.files().symlink_metadata(&path) {
                Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                Err(error) => Err(error),
            }
        } else if arguments.flag("directory") {
            run.files().create_dir(&path, 0o700)
        } else {
            let options = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600);
            run.files().open(&path, &options).map(drop)
        };
        match made {
            Ok(()) => return Ok(Ok(name)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Ok(Err(error)),
        }
    }
    Ok(Err(io::ErrorKind::AlreadyExists.into()))
}

/// A random letter. The seed of the hash is random.
fn random_letter() -> u8 {
    let number = RandomState::new().build_hasher().finish();
    let index = usize::try_from(number % LETTERS.len() as u64).unwrap_or_default();
    LETTERS[index]
}
