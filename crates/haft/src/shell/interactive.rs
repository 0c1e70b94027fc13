//! haft as a shell for a person: `haft` on a terminal, and `haft -i`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use haft_kernel::{SignalInbox, Terminal};
use haft_process::{Disposition, Signals, StartPermission, reason, set_disposition};
use rustix::stdio::{stderr, stdin};
use rustix::termios::isatty;

use super::arguments::{ScriptSource, ShellArguments};
use super::{begin, configure, read_source, session, status};
use crate::failure::{Failure, print_message};
use crate::process_context::ProcessContext;
use crate::repl::{self, Places, Repl, Setup};
use crate::sessions;
use crate::tools::SessionTools;

/// The signals that a shell with job control takes care of itself, however it was started.
const JOB_SIGNALS: [i32; 6] =
    [Signals::INT, Signals::QUIT, Signals::TERM, Signals::TSTP, Signals::TTIN, Signals::TTOU];

/// Whether a person is there, or is said to be.
pub(super) fn is_asked_for(arguments: &ShellArguments) -> bool {
    arguments.interactive || (arguments.source == ScriptSource::Input && isatty(stdin()) && isatty(stderr()))
}

/// Runs what a person enters, or with `-i` the text or file that was given.
pub(super) fn run(arguments: ShellArguments, process: &ProcessContext) -> Result<i32, Failure> {
    let history = repl::new_history();
    let inbox = Arc::new(SignalInbox::default());
    let tools = SessionTools::new(process, &StartPermission::all());
    let ignored = JOB_SIGNALS.into_iter().fold(Signals::ignored_now(), Signals::without);
    let setup = setup(&arguments, process);
    let mut kernel = sessions::kernel(&tools).signals(inbox.clone());
    if let Some(terminal) = &setup.terminal {
        kernel = kernel.terminal(terminal.clone());
    }
    for command in repl::commands(&history) {
        kernel = kernel.command(command);
    }
    let mut session = session(kernel, process);
    session.ignore_permanently(ignored);
    let _ = set_disposition(Signals::PIPE, Disposition::Ignore);
    configure(&mut session, &arguments)?;
    let text = read_source(&arguments.source, process)?;
    begin(&mut session, arguments, process);
    let repl = Repl::start(session, history, inbox, tools.clone(), &setup).map_err(|error| Failure {
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

fn setup(arguments: &ShellArguments, process: &ProcessContext) -> Setup {
    let mut places = Places::of(process);
    let startup = &arguments.startup;
    if let Some(file) = &startup.file {
        places.rc = Some(PathBuf::from(OsStr::from_bytes(file)));
    }
    if !startup.rc {
        places.rc = None;
    }
    let dumb = process.variable("TERM").is_none_or(|terminal| terminal == "dumb");
    let named_login = process.arguments.first().is_some_and(|name| name.as_bytes().starts_with(b"-"));
    let on_terminal = isatty(stdin()) && isatty(stderr());
    Setup {
        places,
        login: (arguments.login || named_login) && startup.profile,
        editing: arguments.editing && on_terminal && !dumb,
        colours: !dumb && process.variable("NO_COLOR").is_none(),
        terminal: on_terminal.then(claim_terminal).flatten(),
    }
}

/// The terminal, to be shared with jobs. Without a controlling terminal there is no job control.
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
