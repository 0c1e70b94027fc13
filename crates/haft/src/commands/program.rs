//! The program that `spawn` and `exec` start, and the environment that `run` shares with them.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;

use haft_process::{Command, Environment, ErrorKind, Redactor, inherited_descriptors};

use crate::commands::options::{EnvironmentOptions, ProgramArguments};
use crate::commands::script;
use crate::failure::Failure;
use crate::process_context::ProcessContext;

/// The command that the arguments describe.
///
/// # Errors
/// If an environment variable has an invalid name.
pub(crate) fn command(arguments: ProgramArguments, process: &ProcessContext) -> Result<Command, Failure> {
    let environment = environment(&arguments.environment, process)?;
    let mut words = arguments.program.into_iter();
    let program = words.next().ok_or_else(|| Failure::usage("no program was given"))?;
    let mut command = Command::new(program);
    command.arguments(words).environment(environment);
    if let Some(directory) = arguments.environment.cwd {
        command.working_directory(directory);
    }
    // A standard descriptor that is closed here is closed in the program too.
    for standard in 0..3 {
        if !process.open[standard] {
            command.close(standard as i32);
        }
    }
    Ok(command)
}

/// Lets a program that replaces this process inherit the descriptors above 2 that haft inherited.
pub(crate) fn pass_inherited_descriptors(command: &mut Command) {
    for (number, descriptor) in inherited_descriptors() {
        command.descriptor(number, descriptor);
    }
}

/// The inherited descriptors with these numbers.
///
/// # Errors
/// If one of them is not open.
pub(crate) fn kept_descriptors(numbers: &[i32]) -> Result<Vec<(i32, OwnedFd)>, Failure> {
    if numbers.is_empty() {
        return Ok(Vec::new());
    }
    let inherited = inherited_descriptors();
    if let Some(missing) = numbers.iter().find(|wanted| inherited.iter().all(|(open, _)| open != *wanted)) {
        return Err(Failure::usage(format_args!("file descriptor {missing} is not open")).with_hint(
            format_args!("open it in the shell that starts haft: {missing}<FILE or {missing}>FILE"),
        ));
    }
    Ok(inherited.into_iter().filter(|(number, _)| numbers.contains(number)).collect())
}

/// The failure of a program that did not start. For a command line in place of a program's name, the hint gives the
/// command that runs it, which starts with `runner`.
pub(crate) fn start_failure(error: haft_process::Error, program: &OsStr, runner: &str) -> Failure {
    let is_missing = error.kind() == ErrorKind::NotFound;
    let failure = Failure::from(error);
    if is_missing && script::looks_like_shell(program.as_bytes()) {
        let quoted = script::quote(program);
        return failure.with_hint(format_args!("for a command line, type: {runner} {quoted}"));
    }
    failure
}

/// Masks the keys in the environment that the options describe, and in haft's own.
pub(crate) fn redactor(options: &EnvironmentOptions, process: &ProcessContext) -> Redactor {
    let mut redactor = Redactor::new(process.environment.iter());
    if let Ok(environment) = environment(options, process) {
        redactor.add(environment.iter());
    }
    redactor
}

/// The environment that the options describe.
///
/// # Errors
/// If a variable has an invalid name.
pub(crate) fn environment(
    options: &EnvironmentOptions,
    process: &ProcessContext,
) -> Result<Environment, Failure> {
    let mut environment = if options.clear_env { Environment::new() } else { process.environment.clone() };
    for variable in &options.variables {
        let bytes = variable.as_bytes();
        match bytes.iter().position(|&byte| byte == b'=') {
            Some(split) => {
                let (name, value) =
                    (OsStr::from_bytes(&bytes[..split]), OsStr::from_bytes(&bytes[split + 1..]));
                environment.set(name, value).map_err(Failure::usage)?;
            }
            None => environment.remove(variable),
        }
    }
    Ok(environment)
}
