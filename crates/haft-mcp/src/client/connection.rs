//! A server that runs, and the line to it.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use haft_process::{Command, Environment, Handle, Input, Streams, Task};
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, Implementation, Tool,
};
use rmcp::service::RunningService;
use rmcp::{RoleClient, ServiceExt as _};
use rustix::fs::{Mode, OFlags};
use rustix::pipe::{PipeFlags, pipe_with};
use tokio::net::unix::pipe;

use super::{RemoteServer, RemoteSetup};

/// A server that has not introduced itself in this time is not going to.
const INTRODUCTION: Duration = Duration::from_secs(30);
/// A server that is to end is given so long.
const GRACE: Duration = Duration::from_secs(1);
/// What every program needs to know.
const NEEDED: [&str; 12] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TMPDIR",
    "TZ",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
];

/// The line, and the process at its other end with all its descendants. Both end with this.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) service: RunningService<RoleClient, ClientConfig>,
    process: Handle,
}

impl Connection {
    /// Starts the server and lets it introduce itself.
    pub(super) async fn open(server: &RemoteServer, setup: &RemoteSetup) -> Result<Connection, String> {
        let (process, reader, writer) = start(server, setup)?;
        let own = Implementation::new("haft", env!("CARGO_PKG_VERSION"));
        let client = ClientConfig::new(ClientCapabilities::default(), own);
        let introduced = tokio::time::timeout(INTRODUCTION, client.serve((reader, writer))).await;
        let failed = |why: String| {
            let command = server.command.join(" ");
            format!("the MCP server '{}' (`{command}`) {why}", server.name)
        };
        match introduced {
            Ok(Ok(service)) => Ok(Connection { service, process }),
            Ok(Err(_)) if process.is_finished() => Err(failed("has ended without a word".to_owned())),
            Ok(Err(error)) => Err(failed(format!("cannot be understood: {error}"))),
            Err(_) => Err(failed(format!("did not answer within {} s", INTRODUCTION.as_secs()))),
        }
    }

    /// Whether there is still somebody at the other end.
    pub(super) fn is_open(&self) -> bool {
        !self.service.is_closed() && !self.service.is_transport_closed() && !self.process.is_finished()
    }

    /// All its tools.
    pub(super) async fn tools(&self) -> Result<Vec<Tool>, String> {
        let listed = tokio::time::timeout(INTRODUCTION, self.service.list_all_tools()).await;
        listed.map_err(|_| "its tools were not listed in time".to_owned())?.map_err(|error| error.to_string())
    }

    /// Calls one of them. Dropped before it is done, it tells the server so.
    pub(super) async fn call(&self, call: CallToolRequestParams) -> Result<CallToolResult, String> {
        self.service.call_tool(call).await.map_err(|error| error.to_string())
    }
}

/// Set, to its name, in the environment of every server that is started here.
pub const NESTED: &str = "HAFT_MCP";

type Line = (Handle, pipe::Receiver, pipe::Sender);

/// Starts the process with a pipe each way.
fn start(server: &RemoteServer, setup: &RemoteSetup) -> Result<Line, String> {
    let (program, arguments) = server.command.split_first().ok_or("the command is empty")?;
    let (their_input, our_output) = pipe_pair()?;
    let (our_input, their_output) = pipe_pair()?;
    let null = rustix::fs::open("/dev/null", OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty());
    let mut command = Command::new(program);
    command.arguments(arguments).environment(environment(server, setup)?).working_directory(&setup.directory);
    command.descriptor(1, their_output);
    if let Ok(null) = null {
        command.descriptor(2, null);
    }
    let task =
        Task::new(command).streams(Streams::Passed).input(Input::File(Arc::new(their_input))).grace(GRACE);
    let process = task.start(&setup.host).and_then(haft_process::Job::background);
    let process =
        process.map_err(|error| format!("the MCP server '{}' cannot be started: {error}", server.name))?;
    let words = |error: std::io::Error| haft_process::reason(&error);
    let reader = pipe::Receiver::from_owned_fd(our_input).map_err(words)?;
    let writer = pipe::Sender::from_owned_fd(our_output).map_err(words)?;
    Ok((process, reader, writer))
}

fn pipe_pair() -> Result<(OwnedFd, OwnedFd), String> {
    pipe_with(PipeFlags::CLOEXEC).map_err(|error| haft_process::reason(&error.into()))
}

fn environment(server: &RemoteServer, setup: &RemoteSetup) -> Result<Environment, String> {
    let mut environment = Environment::new();
    let needed = NEEDED.iter().filter_map(|name| Some((*name, setup.environment.get(name)?)));
    for (name, value) in needed {
        environment.set(name, value).map_err(|error| error.to_string())?;
    }
    // A server may be haft again, which must not start itself through the same configuration for ever.
    environment.set(NESTED, &server.name).map_err(|error| error.to_string())?;
    for (name, value) in &server.env {
        environment.set(name, value).map_err(|error| error.to_string())?;
    }
    Ok(environment)
}
