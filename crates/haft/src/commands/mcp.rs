//! `haft mcp`: serve haft's tools over the Model Context Protocol.

pub(crate) mod install;
mod names;
pub(crate) mod token;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use haft_kernel::Session;
use haft_kernel::run::ScopeLimits;
use haft_mcp::{
    Committer, HttpOptions, OverlaySetup, ResultDetail, Server, ServerEvent, ServerLimits, ServerSetup,
    SessionFactory, Stdio, ToolProgram,
};
use haft_overlay::{Overlay, OverlayStore};
use haft_process::{CancelToken, Redactor, Tracing, protect_process, reason};
use haft_tools::Toolset;

pub(crate) use self::install::is_missing;
use self::install::{ConfigChange, InstallArguments};
use self::names::OwnedNameResolver;
use crate::commands::changes::{self, overlay::OverlayOptions};
use crate::commands::launch::prompts;
use crate::commands::print::print_text;
use crate::enforcement::PolicyOptions;
use crate::failure::{Failure, print_message};
use crate::process_context::ProcessContext;
use crate::records::Recorder;
use crate::tools::{SessionTools, ToolSettings};
use crate::{host, log, sessions, units};

/// Environment variables for programs without a terminal: no colours, no pagers, no prompts.
const AGENT_VARIABLES: [(&str, &str); 7] = [
    ("NO_COLOR", "1"),
    ("TERM", "dumb"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("SYSTEMD_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
];

/// How long tools may take to end after everything else has ended.
const TOOLS_END_TIMEOUT: Duration = Duration::from_millis(300);

const EXAMPLES: &str = "Examples:
  haft mcp --print-config claude           # the configuration that connects an agent to haft
  haft mcp --print-config codex
  haft mcp install claude --yes            # add haft to the user's configuration of Claude Code
  haft mcp uninstall claude --yes
  haft mcp < /dev/null                     # serve until the client disconnects";

const INSTALL_EXAMPLES: &str = "Examples:
  haft mcp install claude                  # show the change of the user's configuration, then ask
  haft mcp install cursor --project --yes  # the project's configuration, without asking";
const UNINSTALL_EXAMPLES: &str = "Examples:
  haft mcp uninstall claude";

const TRANSPORT: &str = "Transport";
const TOOLS: &str = "Tools and results";
const SCRIPTS: &str = "Sessions and scripts";
const OTHER: &str = "Other";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct McpArguments {
    #[command(subcommand)]
    pub(crate) command: Option<McpSubcommand>,
    /// Serve over HTTP at this loopback address, such as 127.0.0.1:8080
    #[arg(long, value_name = "ADDRESS", help_heading = TRANSPORT)]
    pub(crate) http: Option<String>,
    /// With --http: the file with the token that clients must present; created if it does not exist
    #[arg(long, value_name = "FILE", requires = "http", help_heading = TRANSPORT)]
    pub(crate) token_file: Option<PathBuf>,
    /// Keep sessions and jobs when the client that started them disconnects
    #[arg(long, help_heading = SCRIPTS)]
    pub(crate) keep: bool,
    /// Offer these tools too, separated by commas: check, plan, bash, process_*; 'all' offers every tool
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = TOOLS)]
    pub(crate) tools: Vec<String>,
    /// Offer only the tools of this toolset, or these names separated by commas, besides haft's own
    #[arg(long, value_name = "TOOLSET", help_heading = TOOLS)]
    pub(crate) toolset: Option<String>,
    /// Contents of every result: text only, or the full outcome as structured content too
    #[arg(long, value_name = "LEVEL", value_parser = ["text", "full"], default_value = "text", help_heading = TOOLS)]
    pub(crate) detail: String,
    /// Turn a call that takes longer into a task, for clients that support tasks [default: 5s]
    #[arg(long, value_name = "TIME", value_parser = units::duration, default_value = "5s", hide_default_value = true, help_heading = TOOLS)]
    pub(crate) task_after: Duration,
    /// Give scripts an environment variable that looks like a key; '*' gives them all
    #[arg(long, value_name = "NAME", help_heading = SCRIPTS)]
    pub(crate) env_allow: Vec<String>,
    /// Let programs that run as root trace any process, and so read the server's memory and messages
    #[arg(long, help_heading = SCRIPTS)]
    pub(crate) allow_ptrace: bool,
    /// Memory of each script and its programs together [default for the script: a quarter of the machine's memory]
    #[arg(long, value_name = "SIZE", value_parser = units::size, help_heading = SCRIPTS)]
    pub(crate) limit_memory: Option<u64>,
    /// CPU time of each program
    #[arg(long, value_name = "TIME", value_parser = units::duration, help_heading = SCRIPTS)]
    pub(crate) limit_cpu: Option<Duration>,
    /// Number of processes and threads of each script at once
    #[arg(long, value_name = "NUMBER", help_heading = SCRIPTS)]
    pub(crate) limit_processes: Option<u64>,
    #[command(flatten)]
    pub(crate) overlay: OverlayOptions,
    #[command(flatten)]
    pub(crate) policy: PolicyOptions,
    /// Allow the agent, or only a person, to commit the overlays that an agent opens for its scripts
    #[arg(long, value_name = "WHO", value_parser = ["agent", "person"], default_value = "agent", help_heading = SCRIPTS)]
    pub(crate) overlay_commit: String,
    /// Log every call to standard error, with its duration and outcome
    #[arg(short, long, help_heading = OTHER)]
    pub(crate) verbose: bool,
    /// Print the configuration that connects an agent of this kind to haft, and exit
    #[arg(
        long,
        value_name = "KIND",
        value_parser = PossibleValuesParser::new(haft_launch::mcp_agent_kinds()),
        conflicts_with_all = ["http", "keep"],
        help_heading = OTHER
    )]
    pub(crate) print_config: Option<String>,
}

impl McpArguments {
    /// Whether it serves, and does not only print or change a configuration.
    pub(crate) fn serves(&self) -> bool {
        self.print_config.is_none() && self.command.is_none()
    }
}

/// Subcommands of `haft mcp`. Without one, it serves.
#[derive(Debug, Subcommand)]
pub(crate) enum McpSubcommand {
    /// Add haft to the configuration of an agent, after showing the change
    #[command(after_help = INSTALL_EXAMPLES)]
    Install(InstallArguments),
    /// Remove haft from the configuration of an agent, after showing the change
    #[command(after_help = UNINSTALL_EXAMPLES)]
    Uninstall(InstallArguments),
}

/// Serves until the client disconnects or a signal asks haft to end.
pub(crate) fn run(
    arguments: &McpArguments,
    overlay: Option<Overlay>,
    recorder: &Recorder,
    process: &ProcessContext,
) -> Result<i32, Failure> {
    match &arguments.command {
        Some(McpSubcommand::Install(agent)) => return install::run(agent, ConfigChange::Install, process),
        Some(McpSubcommand::Uninstall(agent)) => {
            return install::run(agent, ConfigChange::Uninstall, process);
        }
        None => {}
    }
    if let Some(kind) = &arguments.print_config {
        return print_config(kind, process);
    }
    seed_hash_tables()?;
    // First, before anything else can read or write the client's messages.
    let stdio = match &arguments.http {
        None => Some(Stdio::take().map_err(|error| failed("take standard input and output", &error))?),
        Some(_) => None,
    };
    // Before the first thread, which would keep the capabilities that this one drops.
    let tracing = if arguments.allow_ptrace { Tracing::Allowed } else { Tracing::Withheld };
    protect_process(tracing)?;
    // Before all other threads, which inherit the blocked signals.
    let signals = host::SignalHandler::start()?;
    signals.ignore_descendants();
    log::start_queue().map_err(|error| failed("start the log", &error))?;
    let process = &for_agents(arguments, process);
    let tools = SessionTools::new(process, &process.permission());
    tools.choose(arguments.toolset.as_deref())?;
    let overlay = overlay.map(|mut overlay| {
        overlay.watch();
        Arc::new(Mutex::new(overlay))
    });
    let overlays = match (&overlay, &process.policy) {
        (Some(overlay), _) => Some(OverlaySetup::Always(overlay.clone())),
        // The sandbox of a policy knows only the files outside of an overlay that is opened later.
        (None, Some(_)) => None,
        (None, None) => Some(OverlaySetup::OnRequest {
            store: overlay_store(process),
            home: process.variable("HOME").map(PathBuf::from),
            committer: if arguments.overlay_commit == "person" {
                Committer::Person
            } else {
                Committer::Agent
            },
            tool_program: ToolProgram {
                words: ["/proc/self/exe", "tool", "call", "--json"].map(Into::into).to_vec(),
                directory: process.working_directory.clone().unwrap_or_else(|| "/".into()),
            },
        }),
    };
    let server = Server::new(ServerSetup {
        overlays,
        observer: Some(Arc::new(recorder.clone())),
        ..set_up(arguments, process, &tools)?
    });
    let result = match (stdio, &arguments.http) {
        (Some(stdio), _) => serve_stdio(server, stdio, &signals.cancel),
        (None, Some(address)) => serve_http(server, arguments, address, &signals.cancel),
        (None, None) => Ok(0),
    };
    close(tools);
    // A call that could not be ended may still hold the overlay, which then stays as it is.
    if let Some(overlay) = overlay.and_then(Arc::into_inner).and_then(|overlay| overlay.into_inner().ok()) {
        changes::overlay::conclude(overlay, process)?;
    }
    result
}

/// Lets the hash tables of schemas draw their random numbers while there is one thread and a free descriptor. If that takes a
/// file, a table panics if it cannot be opened.
fn seed_hash_tables() -> Result<(), Failure> {
    let spare = [(); 2].map(|()| std::fs::File::open("/dev/null"));
    for file in spare {
        file.map_err(|error| failed("start", &error))?;
    }
    drop(haft_tools::Schema::new(&serde_json::json!({ "properties": { "name": { "type": "string" } } })));
    Ok(())
}

/// The store of overlays. Old ones are removed in the background.
fn overlay_store(process: &ProcessContext) -> OverlayStore {
    let store = changes::store(process);
    let pruned = store.clone();
    let work = move || changes::prune_expired(&pruned);
    let _ = std::thread::Builder::new().name("prune".to_owned()).spawn(work);
    store
}

/// Ends the processes of tools, and waits for [`TOOLS_END_TIMEOUT`]. The watcher ends those that remain.
fn close(tools: Arc<SessionTools>) {
    let (done, closed) = std::sync::mpsc::channel();
    let close = move || {
        tools.close();
        let _ = done.send(());
    };
    if std::thread::Builder::new().name("close".to_owned()).spawn(close).is_ok() {
        let _ = closed.recv_timeout(TOOLS_END_TIMEOUT);
    }
}

/// Prints the configuration that connects an agent of this kind to haft.
fn print_config(kind: &str, process: &ProcessContext) -> Result<i32, Failure> {
    let own = std::fs::read_link("/proc/self/exe").unwrap_or_else(|_| "haft".into());
    let Some(config) = haft_launch::mcp_config(kind, &own) else {
        let kinds: Vec<&str> = haft_launch::mcp_agent_kinds().collect();
        return Err(Failure::usage(format_args!("unknown kind of agent '{kind}'"))
            .with_hint(format_args!("the kinds are {}", kinds.join(", "))));
    };
    let status = print_text(&config.text, 0);
    if let Some(files) = install::describe_files(kind, process) {
        print_message(format_args!("this belongs in {files}"));
    }
    Ok(status)
}

fn serve_stdio(server: Server, stdio: Stdio, cancel: &CancelToken) -> Result<i32, Failure> {
    if stdio.is_terminal() {
        print_message("waiting for an MCP client on standard input; press Ctrl-C to end");
    } else {
        print_message("serving MCP on standard input and output");
    }
    server.serve_stdio(stdio, cancel).map_err(|error| failed("serve", &error))?;
    Ok(0)
}

fn serve_http(
    server: Server,
    arguments: &McpArguments,
    address: &str,
    cancel: &CancelToken,
) -> Result<i32, Failure> {
    let address = parse(address)?;
    let token = match &arguments.token_file {
        Some(file) => token::from_file(file)?,
        None => token::generate()?,
    };
    let shown = match &arguments.token_file {
        Some(file) => format!("the token is in '{}'", file.display()),
        None => format!("the token is {token}"),
    };
    let ready = |address| {
        print_message(format_args!("serving MCP at http://{address}/mcp"));
        print_message(&shown);
    };
    server
        .serve_http(HttpOptions { address, token }, ready, cancel)
        .map_err(|error| failed(&format!("listen on {address}"), &error))?;
    Ok(0)
}

/// Parses a loopback address with a port, or a port alone.
fn parse(text: &str) -> Result<SocketAddr, Failure> {
    let text = text.trim_start_matches(':');
    let alone = text.parse().map(|port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port)).ok();
    let named = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
    let address = alone.or_else(|| named.as_deref().unwrap_or(text).parse().ok());
    let address: SocketAddr = address
        .ok_or_else(|| Failure::usage(format!("invalid address '{text}' (expected 127.0.0.1:8080)")))?;
    if address.ip().is_loopback() {
        return Ok(address);
    }
    Err(Failure::usage(format_args!("{address} is not a loopback address"))
        .with_hint("every client can run commands as you; for remote access, forward a port with ssh"))
}

fn set_up(
    arguments: &McpArguments,
    process: &ProcessContext,
    tools: &Arc<SessionTools>,
) -> Result<ServerSetup, Failure> {
    let host = host::set_up(process);
    host.warnings().iter().for_each(print_message);
    let host = Arc::new(host);
    let budgets = process.budgets();
    let scripts = ScopeLimits {
        memory: arguments.limit_memory,
        cpu: arguments.limit_cpu,
        processes: arguments.limit_processes,
        disk: arguments.overlay.limit_disk,
        ..ScopeLimits::default()
    };
    let scripts = scripts.lower(process.job_limits());
    Ok(ServerSetup {
        prompts: {
            let (process, host) = (process.clone(), host.clone());
            Box::new(move || prompts::of_tasks(&process, &host))
        },
        host,
        session: make_sessions(process, tools),
        overlays: None,
        names: Box::new(OwnedNameResolver(process.clone(), tools.registry())),
        tools: Some(haft_mcp::RegistryTools { registry: tools.registry(), toolset: tools.toolset() }),
        requested_tools: requested_tools(&arguments.tools)?,
        detail: if arguments.detail == "full" { ResultDetail::Full } else { ResultDetail::Text },
        limits: ServerLimits { scripts, wall: budgets.wall, calls: budgets.calls, ..ServerLimits::default() },
        task_after: arguments.task_after,
        redactor: Arc::new(Redactor::new(process.whole_environment().iter())),
        withheld_variables: process
            .withheld
            .iter()
            .map(|(name, _)| name.to_string_lossy().into_owned())
            .collect(),
        log: logger(arguments.verbose),
        observer: None,
        keep: arguments.keep,
    })
}

/// The tools that `--tools` names.
fn requested_tools(names: &[String]) -> Result<Option<Toolset>, Failure> {
    let names = names.iter().map(|name| if name == "all" { "*" } else { name.as_str() });
    let names: Vec<&str> = names.collect();
    let toolset = (!names.is_empty()).then(|| Toolset::new("--tools", &names));
    toolset.transpose().map_err(Failure::usage)
}

/// Logs events to standard error; calls only with `--verbose`.
fn logger(verbose: bool) -> Box<dyn Fn(ServerEvent<'_>) + Send + Sync> {
    Box::new(move |event| {
        if verbose || !matches!(event, ServerEvent::Called { .. }) {
            print_message(event);
        }
    })
}

/// A factory of sessions with the initial environment and working directory. With a policy, each has a kernel of its own, which asks the person at the session's client.
fn make_sessions(process: &ProcessContext, tools: &Arc<SessionTools>) -> SessionFactory {
    let common = sessions::kernel(tools, process).build();
    let (process, tools) = (process.clone(), tools.clone());
    let directory = process.working_directory.clone().unwrap_or_else(|| Path::new("/").to_owned());
    let mask = sessions::creation_mask();
    Box::new(move |questions| {
        let kernel = match &process.policy {
            Some(policy) => {
                let policy = Some(policy.asking(questions));
                sessions::kernel(&tools, &ProcessContext { policy, ..process.clone() }).build()
            }
            None => common.clone(),
        };
        let variables = process.environment.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()));
        let mut session = Session::with_environment(kernel, variables, &directory);
        session.set_umask(mask);
        session
    })
}

/// The context of an agent's programs: without keys, except for the allowed ones, and without a terminal.
fn for_agents(arguments: &McpArguments, process: &ProcessContext) -> ProcessContext {
    let mut process = process.clone();
    // Settings that cannot be read are reported when the tools are opened.
    let configured = ToolSettings::read(&process).map(|settings| settings.env_allow).unwrap_or_default();
    process.withhold_keys(&[configured, arguments.env_allow.clone()].concat());
    for (name, value) in AGENT_VARIABLES {
        let _ = process.environment.set(name, value);
    }
    process
}

fn failed(doing: &str, error: &std::io::Error) -> Failure {
    Failure { message: format!("cannot {doing}: {}", reason(error)), hint: None, status: 1 }
}
