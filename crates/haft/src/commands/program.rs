//! What `spawn`, `run` and `exec` have in common: which program, with what environment, where.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use haft_process::{Command, Environment, Redactor};

use crate::arguments::{EnvironmentOptions, ProgramArguments};
use crate::failure::Failure;
use crate::process_context::ProcessContext;

/// The command that the arguments describe.
pub(crate) fn command(start: ProgramArguments, process: &ProcessContext) -> Result<Command, Failure> {
    let environment = environment(&start.place, process)?;
    let mut words = start.program.into_iter();
    let program = words.next().ok_or_else(|| Failure::usage("no program is given"))?;
    let mut command = Command::new(program);
    command.arguments(words).environment(environment);
    if let Some(directory) = start.place.cwd {
        command.working_directory(directory);
    }
    // A standard descriptor that we do not have, the program does not get.
    for standard in 0..3 {
        if !process.open[standard] {
            command.close(standard as i32);
        }
    }
    Ok(command)
}

/// What masks the keys of the environment that the arguments describe, and of our own.
pub(crate) fn redactor(place: &EnvironmentOptions, process: &ProcessContext) -> Redactor {
    let mut redactor = Redactor::new(process.environment.iter());
    if let Ok(environment) = environment(place, process) {
        redactor.add(environment.iter());
    }
    redactor
}

/// The environment that the arguments describe.
pub(crate) fn environment(
    place: &EnvironmentOptions,
    process: &ProcessContext,
) -> Result<Environment, Failure> {
    let mut environment = if place.clear_env { Environment::new() } else { process.environment.clone() };
    for variable in &place.variables {
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
