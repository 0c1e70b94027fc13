//! `haft watch`: show what runs and what ran on a web page of this machine.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use haft_process::rundir::RunDirectory;
use haft_process::{Command, ProcessGroup};
use haft_watch::WatchSetup;

use crate::commands::mcp::token;
use crate::commands::{changes, output};
use crate::failure::{Failure, print_hint, print_message};
use crate::process_context::ProcessContext;
use crate::records::RecordSettings;
use crate::{host, places};

/// The program that opens the user's browser.
const OPENER: &str = "xdg-open";

const EXAMPLES: &str = "Examples:
  haft watch                # print the address of the page, and serve it until Ctrl-C
  haft watch --open         # open it in a browser, too

The page is served on 127.0.0.1 and needs the token in the printed address. It shows the runs of this user, their
output while they run, and changes in overlays; it can end runs, and commit or discard changes.";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct WatchArguments {
    /// Open the page in a browser
    #[arg(long)]
    pub(crate) open: bool,
    /// Listen on this port [default: a free one]
    #[arg(long, value_name = "NUMBER", default_value_t = 0, hide_default_value = true)]
    pub(crate) port: u16,
}

/// Serves the page until it is interrupted.
pub(crate) fn run(arguments: &WatchArguments, process: &ProcessContext) -> Result<i32, Failure> {
    let state = places::unchecked(process).state.ok_or_else(|| {
        Failure::new("there are no records without a state directory", 1)
            .with_hint("set HOME or XDG_STATE_HOME")
    })?;
    let setup = WatchSetup {
        records: RecordSettings::directory(&state),
        outputs: output::stores(process),
        overlays: changes::store(process),
        token: token::generate()?,
        port: arguments.port,
    };
    let signals = host::SignalHandler::start()?;
    let mut opened = None;
    let ready = |address: &str| {
        // A closed standard output does not matter if the page is opened here.
        let _ = writeln!(std::io::stdout(), "{address}");
        if arguments.open {
            opened = open(address, process);
        }
    };
    haft_watch::serve(setup, ready, &signals.cancel).map_err(|error| {
        let reason = haft_process::reason(&error);
        Failure::new(format_args!("cannot serve the page on port {}: {reason}", arguments.port), 1)
    })?;
    drop(opened);
    Ok(0)
}

/// Opens a browser. The address is in a private file, because other users can see the arguments of programs. The file is
/// removed with the result.
fn open(address: &str, process: &ProcessContext) -> Option<RunDirectory> {
    let page = write_page(address, &host::run_base(process));
    let started = page.as_ref().map_err(ToString::to_string).and_then(|(_, path)| {
        let mut command = Command::new(OPENER);
        command.argument(path).environment(process.environment.clone()).group(ProcessGroup::Session);
        command.spawn(&process.permission()).map(|child| child.detach()).map_err(|error| error.to_string())
    });
    if let Err(reason) = started {
        print_message(format_args!("cannot open a browser: {reason}"));
        print_hint("open the printed address yourself");
    }
    page.ok().map(|(directory, _)| directory)
}

fn write_page(address: &str, base: &Path) -> std::io::Result<(RunDirectory, PathBuf)> {
    let directory = RunDirectory::create(base).map_err(std::io::Error::other)?;
    let path = directory.path().join("open.html");
    std::fs::write(&path, format!("<meta http-equiv=refresh content=\"0;url={address}\">\n"))?;
    Ok((directory, path))
}
