//! What `spawn`, `run` and `exec` have in common: which program, with what environment, where.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use haft_process::{Command, Environment, Redactor};

use crate::arguments::{Place, Start};
use crate::failure::Failure;
use crate::surroundings::Surroundings;

/// The command that the arguments describe.
pub(crate) fn command(start: Start, surroundings: &Surroundings) -> Result<Command, Failure> {
    let environment = environment(&start.place, surroundings)?;
    let mut words = start.program.into_iter();
    let program = words.next().ok_or_else(|| Failure::usage("no program is given"))?;
    let mut command = Command::new(program);
    command.arguments(words).environment(environment);
    if let Some(directory) = start.place.cwd {
        command.working_directory(directory);
    }
    // A standard descriptor that we do not have, the program does not get.
    for standard in 0..3 {
        if !surroundings.open[standard] {
            command.close(standard as i32);
        }
    }
    Ok(command)
}

/// What masks the keys of the environment that the arguments describe, and of our own.
pub(crate) fn redactor(place: &Place, surroundings: &Surroundings) -> Redactor {
    let mut redactor = Redactor::new(surroundings.environment.iter());
    if let Ok(environment) = environment(place, surroundings) {
        redactor.add(environment.iter());
    }
    redactor
}

/// The environment that the arguments describe.
pub(crate) fn environment(place: &Place, surroundings: &Surroundings) -> Result<Environment, Failure> {
    let mut environment = if place.clear_env { Environment::new() } else { surroundings.environment.clone() };
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
