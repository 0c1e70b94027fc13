//! haft as a shell for a person: `haft` on a terminal, and `haft -i`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use haft_kernel::SignalInbox;
use rustix::stdio::{stderr, stdin};
use rustix::termios::isatty;

use super::arguments::{ShellArguments, Source};
use super::{begin, configure, read_source, session, status, take_signals};
use crate::failure::Failure;
use crate::repl::{self, Places, Repl, Setup};
use crate::sessions;
use crate::surroundings::Surroundings;
use crate::tools::Tools;

/// Whether a person is there, or is said to be.
pub(super) fn is_asked_for(arguments: &ShellArguments) -> bool {
    arguments.interactive || (arguments.source == Source::Input && isatty(stdin()) && isatty(stderr()))
}

/// Runs what a person enters, or with `-i` the text or file that was given.
pub(super) fn run(arguments: ShellArguments, surroundings: &Surroundings) -> Result<i32, Failure> {
    let history = repl::new_history();
    let inbox = Arc::new(SignalInbox::default());
    let tools = Tools::new(surroundings);
    let mut kernel = sessions::kernel(&tools).signals(inbox.clone());
    for command in repl::commands(&history) {
        kernel = kernel.command(command);
    }
    let mut session = session(kernel, surroundings);
    take_signals(&mut session);
    configure(&mut session, &arguments)?;
    let setup = setup(&arguments, surroundings);
    let text = read_source(&arguments.source)?;
    begin(&mut session, arguments, surroundings);
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

fn setup(arguments: &ShellArguments, surroundings: &Surroundings) -> Setup {
    let mut places = Places::of(surroundings);
    let startup = &arguments.startup;
    if let Some(file) = &startup.file {
        places.rc = Some(PathBuf::from(OsStr::from_bytes(file)));
    }
    if !startup.rc {
        places.rc = None;
    }
    let dumb = surroundings.variable("TERM").is_none_or(|terminal| terminal == "dumb");
    let named_login = surroundings.arguments.first().is_some_and(|name| name.as_bytes().starts_with(b"-"));
    let on_terminal = isatty(stdin()) && isatty(stderr());
    Setup {
        places,
        login: (arguments.login || named_login) && startup.profile,
        editing: arguments.editing && on_terminal && !dumb,
        colours: !dumb && surroundings.variable("NO_COLOR").is_none(),
    }
}
