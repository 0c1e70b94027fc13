//! haft as an interactive shell: `haft` on a terminal, and `haft -i`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use haft_kernel::options::ShellOption;
use haft_kernel::{SignalInbox, Terminal};
use haft_process::{Disposition, Signals, StartPermission, reason, set_disposition};
use rustix::stdio::{stderr, stdin};
use rustix::termios::isatty;

use super::arguments::{ScriptSource, ShellArguments};
use super::{configure, is_login, read_source, session, set_parameters, status};
use crate::failure::{Failure, print_message};
use crate::process_context::ProcessContext;
use crate::repl::{self, Repl, ReplSetup, StartupPaths};
use crate::sessions;
use crate::tools::SessionTools;

/// The signals that an interactive shell handles even if they were ignored when it started.
const JOB_SIGNALS: [i32; 6] =
    [Signals::INT, Signals::QUIT, Signals::TERM, Signals::TSTP, Signals::TTIN, Signals::TTOU];

/// Whether the shell is interactive: with `-i`, or without a script on a terminal.
pub(super) fn is_interactive(arguments: &ShellArguments) -> bool {
    arguments.interactive || (arguments.source == ScriptSource::Input && isatty(stdin()) && isatty(stderr()))
}

/// Runs what the user enters, or with `-i` the script that was given.
pub(super) fn run(arguments: ShellArguments, process: &ProcessContext) -> Result<i32, Failure> {
    let inbox = Arc::new(SignalInbox::default());
    let tools = SessionTools::new(process, &StartPermission::all());
    let ignored = JOB_SIGNALS.into_iter().fold(Signals::ignored_now(), Signals::without);
    let setup = setup(&arguments, process);
    let mut kernel = sessions::shell_kernel(&tools, process).signals(inbox.clone());
    if let Some(terminal) = &setup.terminal {
        kernel = kernel.terminal(terminal.clone());
    }
    let mut session = session(kernel, process);
    session.ignore_permanently(ignored);
    let _ = set_disposition(Signals::PIPE, Disposition::Ignore);
    configure(&mut session, &arguments)?;
    session.set_shell_option(ShellOption::LoginShell, is_login(&arguments, process));
    let text = read_source(&arguments.source, process)?;
    set_parameters(&mut session, arguments, process);
    let repl = Repl::start(session, inbox, tools.clone(), &setup).map_err(|error| Failure {
        message: format!("cannot watch for signals: {error}"),
        hint: None,
        status: 1,
    })?;
    let Some(text) = text else {
        tools.discover();
        let status = repl.run();
        tools.close();
        return Ok(status);
    };
    let mut session = repl.into_session();
    let result = session.run_main(&text);
    let _ = session.finish();
    tools.close();
    Ok(status(result))
}

fn setup(arguments: &ShellArguments, process: &ProcessContext) -> ReplSetup {
    let mut places = StartupPaths::of(process);
    let startup = &arguments.startup;
    if let Some(file) = &startup.file {
        places.rc = Some(PathBuf::from(OsStr::from_bytes(file)));
    }
    if !startup.rc {
        places.rc = None;
    }
    let dumb = process.variable("TERM").is_none_or(|terminal| terminal == "dumb");
    let on_terminal = isatty(stdin()) && isatty(stderr());
    ReplSetup {
        places,
        login: is_login(arguments, process) && startup.profile,
        editing: arguments.editing && on_terminal && !dumb,
        colours: !dumb && repl::echoes(stdin()) && process.variable("NO_COLOR").is_none(),
        terminal: on_terminal.then(claim_terminal).flatten(),
    }
}

/// Claims the terminal for job control. Returns `None` without a controlling terminal.
fn claim_terminal() -> Option<Arc<Terminal>> {
    let descriptor = rustix::io::fcntl_dupfd_cloexec(stderr(), 10).ok()?;
    match Terminal::claim(descriptor) {
        Ok(terminal) => Some(Arc::new(terminal)),
        Err(error) => {
            print_message(format_args!("no job control: {}", reason(&error)));
            None
        }
    }
}
