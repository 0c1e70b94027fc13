//! haft as a plain shell: runs a script given as text, as a file or on standard input, as bash would.

pub(crate) mod arguments;
mod interactive;

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use haft_kernel::memory::MemoryLimit;
use haft_kernel::options::{SetOption, ShellOption};
use haft_kernel::{Bytes, Flow, KernelBuilder, Session, Unwind};
use haft_process::{Disposition, Signals, StartPermission, inherited_descriptors, set_disposition};

use crate::arguments::CommandLine;
use crate::commands::script;
use crate::failure::{CANNOT_RUN_STATUS, Failure, NOT_FOUND_STATUS};
use crate::process_context::ProcessContext;
use crate::shell::arguments::{ScriptSource, ShellArguments, ShellSetting};
use crate::tools::SessionTools;
use crate::{repl, sessions};

/// The arguments of a shell, if haft was started as one: under the name of a shell, with a shell's options, with a script
/// file, or without arguments. `None` for the commands of haft, correctly typed or not.
pub(crate) fn arguments_of(process: &ProcessContext) -> Option<Vec<OsString>> {
    let mut words = process.arguments.iter().cloned();
    let named_shell = words.next().is_some_and(|own| arguments::is_shell_name(&own));
    let rest: Vec<OsString> = words.collect();
    let is_shell = match rest.first().map(|first| first.as_bytes()) {
        _ if named_shell => true,
        None => true,
        Some(b"-h" | b"--help" | b"-V" | b"--version") => false,
        Some(first) if first.starts_with(b"-") || first.starts_with(b"+") => true,
        Some(first) if first.contains(&b'/') => true,
        Some(first) if CommandLine::has_command(first) => false,
        // A word that is similar to a command is a mistyped command, unless there is a file of that name.
        Some(first) => is_file(&find_file(first, process)) || CommandLine::nearest_command(first).is_none(),
    };
    is_shell.then_some(rest)
}

/// Runs the script that the arguments name. Returns its exit status.
pub(crate) fn run(words: Vec<OsString>, process: &ProcessContext) -> Result<i32, Failure> {
    let own = process.arguments.first().map_or(OsStr::new("haft"), |own| own.as_os_str());
    if let Some(text) = arguments::help_or_version(&words, own) {
        let _ = std::io::stdout().write_all(text.as_bytes());
        return Ok(0);
    }
    let arguments = arguments::parse(words).map_err(Failure::usage)?;
    if interactive::is_interactive(&arguments) {
        return interactive::run(arguments, process);
    }
    let tools = SessionTools::new(process, &StartPermission::all());
    let mut session = session(sessions::shell_kernel(&tools, process), process);
    session.memory().set_limit(MemoryLimit::Most);
    let _counted = session.memory().enter();
    set_dispositions(&mut session);
    for (number, descriptor) in inherited_descriptors() {
        session.inherit_descriptor(number.cast_unsigned(), descriptor);
    }
    if starts_in_posix_mode(process) {
        session.set_option(SetOption::Posix, true);
    }
    configure(&mut session, &arguments)?;
    let text = match read_source(&arguments.source, process) {
        // Under the name of a shell, in bash's words.
        Err(failure) if arguments::is_shell_name(own) => {
            let _ = writeln!(std::io::stderr(), "{}: {}", own.display(), failure.message);
            return Ok(failure.status);
        }
        text => text?,
    };
    let profiles = profiles(&mut session, &arguments, process);
    let restricted = arguments.restricted;
    set_parameters(&mut session, arguments, process);
    let started = run_startup_files(&mut session, &profiles);
    if restricted {
        session.restrict();
    }
    let result = match (started, text) {
        (Err(unwind), _) => Err(unwind),
        (Ok(_), Some(text)) => session.run_main(&text),
        (Ok(_), None) => session.run_input(),
    };
    let _ = session.finish();
    tools.close();
    // The process ends here, so the session need not be dropped.
    std::mem::forget(session);
    Ok(status(result))
}

/// Whether this is a login shell: with `-l`, or with a name that begins with `-`.
fn is_login(arguments: &ShellArguments, process: &ProcessContext) -> bool {
    arguments.login || process.arguments.first().is_some_and(|name| name.as_bytes().starts_with(b"-"))
}

/// The files that a login shell runs first. None for other shells.
fn profiles(session: &mut Session, arguments: &ShellArguments, process: &ProcessContext) -> Vec<PathBuf> {
    if !is_login(arguments, process) {
        return Vec::new();
    }
    session.set_shell_option(ShellOption::LoginShell, true);
    match arguments.startup.profile {
        true => repl::profiles(process, session.options().has(SetOption::Posix)),
        false => Vec::new(),
    }
}

/// Runs the profiles, and the file that `BASH_ENV` names.
fn run_startup_files(session: &mut Session, profiles: &[PathBuf]) -> Flow {
    for profile in profiles {
        session.run_file(profile.as_os_str().as_bytes())?;
    }
    match session.options().has(SetOption::Posix) {
        true => Ok(0),
        false => session.run_file_named_by(b"BASH_ENV"),
    }
}

/// A session of a plain shell with the environment of this process.
fn session(kernel: KernelBuilder, process: &ProcessContext) -> Session {
    sessions::familiar(kernel.plain_shell(true), &process.environment, process)
}

/// Whether the shell starts in POSIX mode: under the name `sh`, or with `POSIXLY_CORRECT`.
fn starts_in_posix_mode(process: &ProcessContext) -> bool {
    let named = process.arguments.first().is_some_and(|own| arguments::is_posix_name(own));
    named || process.environment.get("POSIXLY_CORRECT").is_some()
}

/// Ignores `SIGPIPE`, so that a closed pipe ends only the command that writes to it, and `SIGQUIT`, which is for the programs
/// that the script runs. Signals that were ignored stay ignored.
fn set_dispositions(session: &mut Session) {
    session.ignore_permanently(Signals::ignored_now());
    let _ = set_disposition(Signals::PIPE, Disposition::Ignore);
    let _ = set_disposition(Signals::QUIT, Disposition::Ignore);
}

fn configure(session: &mut Session, arguments: &ShellArguments) -> Result<(), Failure> {
    for setting in &arguments.settings {
        let known = match setting {
            ShellSetting::Letter(letter, on) => {
                SetOption::from_letter(*letter).map(|option| session.set_option(option, *on))
            }
            ShellSetting::Name(name, on) => {
                SetOption::from_name(name).map(|option| session.set_option(option, *on))
            }
            ShellSetting::Shell(name, on) => {
                ShellOption::from_name(name).map(|option| session.set_shell_option(option, *on))
            }
        };
        known.ok_or_else(|| Failure::usage(format_args!("{}: invalid option", describe(setting))))?;
    }
    Ok(())
}

fn describe(setting: &ShellSetting) -> String {
    let sign = |on: &bool| if *on { '-' } else { '+' };
    match setting {
        ShellSetting::Letter(letter, on) => format!("{}{}", sign(on), *letter as char),
        ShellSetting::Name(name, on) => format!("{}o {}", sign(on), String::from_utf8_lossy(name)),
        ShellSetting::Shell(name, on) => format!("{}O {}", sign(on), String::from_utf8_lossy(name)),
    }
}

/// Reads the script; `None` for standard input, which is read while the script runs.
fn read_source(source: &ScriptSource, process: &ProcessContext) -> Result<Option<Vec<u8>>, Failure> {
    match source {
        ScriptSource::Text(text) => Ok(Some(text.clone())),
        ScriptSource::Input => Ok(None),
        ScriptSource::File(path) => {
            let file = find_file(path, process);
            let text = script::text_of_file(Path::new(OsStr::from_bytes(&file)));
            text.map(Some).map_err(|failure| explain_unreadable(failure, OsStr::from_bytes(path)))
        }
    }
}

/// The failure in bash's words, with the command to type instead.
fn explain_unreadable(failure: Failure, path: &OsStr) -> Failure {
    let shown = path.display();
    match failure.status {
        NOT_FOUND_STATUS if script::looks_like_shell(path.as_bytes()) => {
            Failure::new(format_args!("{shown}: No such file or directory"), NOT_FOUND_STATUS)
                .with_hint(format_args!("to run a command line, type: haft -c {}", script::quote(path)))
        }
        NOT_FOUND_STATUS => {
            Failure::new(format_args!("{shown}: No such file or directory"), NOT_FOUND_STATUS)
                .with_hint("'haft --help' lists the commands")
        }
        CANNOT_RUN_STATUS if failure.hint.is_some() => failure.with_hint(format_args!(
            "to run a program, type: haft -c {0}, or under supervision: haft spawn -- {0}",
            script::quote(path)
        )),
        _ => failure,
    }
}

fn is_file(path: &[u8]) -> bool {
    Path::new(OsStr::from_bytes(path)).is_file()
}

/// The path of a script file. A name without a slash that does not exist is searched in `PATH`.
fn find_file(path: &[u8], process: &ProcessContext) -> Vec<u8> {
    if path.contains(&b'/') || Path::new(OsStr::from_bytes(path)).exists() {
        return path.to_vec();
    }
    let variable = process.variable("PATH").unwrap_or_default().as_bytes();
    let directories = variable.split(|byte| *byte == b':').filter(|directory| !directory.is_empty());
    let mut candidates = directories.map(|directory| [directory, b"/", path].concat());
    candidates.find(|candidate| is_file(candidate)).unwrap_or_else(|| path.to_vec())
}

/// The value of `BASH`: the path of this shell.
fn own_path(process: &ProcessContext) -> Vec<u8> {
    let name = process.arguments.first().map_or(OsStr::new("haft"), |own| own.as_os_str());
    let path = process.variable("PATH");
    let found = haft_process::find_program(name, path, process.working_directory.as_deref());
    match (found, &process.working_directory) {
        (Ok(found), Some(directory)) => directory.join(found).as_os_str().as_bytes().to_vec(),
        (Ok(found), None) => found.as_os_str().as_bytes().to_vec(),
        (Err(_), _) => name.as_bytes().to_vec(),
    }
}

/// Sets `$0` and the positional parameters.
fn set_parameters(session: &mut Session, arguments: ShellArguments, process: &ProcessContext) {
    let own = process.arguments.first().map(|own| own.as_bytes().to_vec());
    let _ = session.set(b"BASH", own_path(process));
    if let ScriptSource::Text(text) = &arguments.source {
        let _ = session.set(b"BASH_EXECUTION_STRING", text.clone());
    }
    let name = arguments.name.or(own).unwrap_or_else(|| b"haft".to_vec());
    let positional = arguments.arguments.into_iter().map(Bytes::from).collect();
    match arguments.source {
        ScriptSource::Text(_) => session.set_command(&name, positional),
        ScriptSource::File(_) => session.set_script(&name, positional),
        ScriptSource::Input => session.set_input(&name, positional),
    }
}

/// The exit status of the shell. If a signal ended the script, the shell kills itself with it, so that its parent sees it.
fn status(result: Result<i32, Unwind>) -> i32 {
    match result {
        Ok(status) => status,
        Err(Unwind::Signal(signal)) => {
            let _ = set_disposition(signal, Disposition::Default);
            if let Some(signal) = rustix::process::Signal::from_named_raw(signal) {
                let _ = rustix::process::kill_process(rustix::process::getpid(), signal);
            }
            128 + signal
        }
        Err(unwind) => unwind.status(),
    }
}
