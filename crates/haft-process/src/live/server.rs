//! The side of the process whose runs can be looked at.

use std::collections::VecDeque;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Pid;

use super::messages::{LiveReply, LiveRequest, LiveStatus, streams};
use super::{address, has_no_new_privileges, peer};
use crate::JobController;
use crate::capture::{Output, WeakOutput};

/// The most ended runs whose outputs are remembered, as long as something else keeps them.
const MAX_ENDED_RUNS: usize = 200;
/// The most clients at a time.
const MAX_CLIENTS: usize = 32;
const STACK_BYTES: usize = 128 << 10;
/// The longest request.
const MAX_REQUEST_BYTES: u64 = 1 << 20;
/// The most bytes of one reply.
const MAX_READ_BYTES: usize = 1 << 20;
/// How long a client may take to send its request, or to read a reply.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(5);
/// Growth of the output within this time is reported at once.
const FOLLOW_INTERVAL: Duration = Duration::from_millis(30);
/// A run without new output is reported this often, because it may wait for input.
const IDLE_INTERVAL: Timespec = Timespec { tv_sec: 0, tv_nsec: 500_000_000 };
/// A run whose outputs are complete is about to end.
const ENDING_INTERVAL: Timespec = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
/// How long a run that has ended waits for clients that read its outputs.
const FOLLOWER_TIMEOUT: Duration = Duration::from_secs(1);

/// The runs of this process that other processes can look at.
#[derive(Debug)]
pub struct LiveRuns {
    shared: Arc<LiveShared>,
    listener: Arc<UnixListener>,
}

#[derive(Debug, Default)]
struct LiveShared {
    runs: Mutex<VecDeque<LiveRun>>,
    clients: AtomicUsize,
    /// The ids of the runs that clients follow, once for each client.
    followed: Mutex<Vec<String>>,
    unfollowed: Condvar,
}

/// A client follows a run as long as this exists.
struct Following<'a> {
    shared: &'a LiveShared,
    run: &'a str,
}

impl Drop for Following<'_> {
    fn drop(&mut self) {
        let mut followed = self.shared.followed();
        if let Some(place) = followed.iter().position(|run| run == self.run) {
            followed.swap_remove(place);
        }
        self.shared.unfollowed.notify_all();
    }
}

/// A run. The controller is dropped at its end.
#[derive(Debug)]
struct LiveRun {
    id: String,
    controller: Option<JobController>,
    outputs: Vec<(&'static str, WeakOutput)>,
}

type FoundRun = (Option<JobController>, Vec<(&'static str, Output)>);

impl LiveRuns {
    /// Listens for clients, on a thread. The pid and the start time are those of this process.
    ///
    /// # Errors
    /// If the socket or the thread cannot be created.
    pub fn start(pid: i32, started: u64) -> io::Result<LiveRuns> {
        let listener = Arc::new(UnixListener::bind_addr(&address(pid, started)?)?);
        let runs = LiveRuns { shared: Arc::default(), listener };
        let (shared, listener) = (runs.shared.clone(), runs.listener.clone());
        spawn(move || accept(&listener, &shared))?;
        Ok(runs)
    }

    /// Adds a run that has started.
    pub fn add(&self, run: &JobController) {
        let outputs = streams(run.captured()).into_iter();
        let outputs = outputs.map(|(stream, output)| (stream, output.downgrade())).collect();
        let mut runs = self.shared.runs();
        runs.push_back(LiveRun { id: run.id().to_owned(), controller: Some(run.clone()), outputs });
        runs.retain(|run| run.controller.is_some() || run.outputs().next().is_some());
        while runs.len() > MAX_ENDED_RUNS
            && let Some(ended) = runs.iter().position(|run| run.controller.is_none())
        {
            runs.remove(ended);
        }
    }

    /// Notes that a run has ended. Its outputs can be read as long as this process keeps them.
    pub fn end(&self, id: &str) {
        let mut runs = self.shared.runs();
        runs.iter_mut().filter(|run| run.id == id).for_each(|run| run.controller = None);
    }

    /// Waits until the clients that follow a run that has ended have read the rest of its outputs. They are lost with this
    /// process.
    pub fn wait_for_followers(&self, id: &str) {
        let followed = self.shared.followed();
        let is_followed = |followed: &mut Vec<String>| followed.iter().any(|run| run == id);
        drop(self.shared.unfollowed.wait_timeout_while(followed, FOLLOWER_TIMEOUT, is_followed));
    }
}

impl Drop for LiveRuns {
    fn drop(&mut self) {
        let _ = rustix::net::shutdown(&*self.listener, rustix::net::Shutdown::Both);
    }
}

impl LiveRun {
    /// The outputs that are still kept.
    fn outputs(&self) -> impl Iterator<Item = (&'static str, Output)> {
        self.outputs.iter().filter_map(|(stream, output)| Some((*stream, output.upgrade()?)))
    }
}

impl LiveShared {
    fn runs(&self) -> MutexGuard<'_, VecDeque<LiveRun>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn followed(&self) -> MutexGuard<'_, Vec<String>> {
        self.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The controller of a run, if it still runs, and its outputs.
    fn find(&self, id: &str) -> Option<FoundRun> {
        let runs = self.runs();
        let run = runs.iter().find(|run| run.id == id)?;
        Some((run.controller.clone(), run.outputs().collect()))
    }

    fn output(&self, id: &str) -> Option<Output> {
        let runs = self.runs();
        runs.iter()
            .flat_map(LiveRun::outputs)
            .map(|(_, output)| output)
            .find(|output| output.id().as_str() == id)
    }
}

fn spawn(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name("live".to_owned()).stack_size(STACK_BYTES).spawn(work).map(drop)
}

fn accept(listener: &UnixListener, shared: &Arc<LiveShared>) {
    while let Ok((stream, _)) = listener.accept() {
        if shared.clients.fetch_add(1, Ordering::Relaxed) >= MAX_CLIENTS {
            shared.clients.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        let served = shared.clone();
        let spawned = spawn(move || {
            // A client that has gone needs no reply.
            let _ = serve(&stream, &served);
            served.clients.fetch_sub(1, Ordering::Relaxed);
        });
        if spawned.is_err() {
            shared.clients.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

fn serve(stream: &UnixStream, shared: &LiveShared) -> io::Result<()> {
    let client = peer(stream)?;
    stream.set_read_timeout(Some(CLIENT_TIMEOUT))?;
    stream.set_write_timeout(Some(CLIENT_TIMEOUT))?;
    if has_no_new_privileges(Pid::as_raw(Some(client.pid))) {
        let refused = "refused: a process with no_new_privs may be in a sandbox";
        return send(stream, &LiveReply::Error(refused.to_owned()));
    }
    let mut line = String::new();
    BufReader::new(stream.take(MAX_REQUEST_BYTES)).read_line(&mut line)?;
    match serde_json::from_str(&line) {
        Ok(LiveRequest::Follow { run }) => follow(stream, &run, shared),
        Ok(LiveRequest::Read { output, from, limit }) => read(stream, &output, from, limit, shared),
        Ok(request) => {
            let reply = answer(request, shared);
            send(stream, &reply.unwrap_or_else(LiveReply::Error))
        }
        Err(error) => send(stream, &LiveReply::Error(error.to_string())),
    }
}

fn answer(request: LiveRequest, shared: &LiveShared) -> Result<LiveReply, String> {
    let find = |run: &str| shared.find(run).ok_or_else(|| format!("unknown run '{run}'"));
    let running = |run: &str| find(run)?.0.ok_or_else(|| format!("run '{run}' has ended"));
    let kept = |id: &str| shared.output(id).ok_or_else(|| format!("unknown output '{id}'"));
    match request {
        LiveRequest::Status { run } | LiveRequest::Follow { run } => {
            let (controller, outputs) = find(&run)?;
            Ok(LiveReply::Status(LiveStatus::new(controller.as_ref(), &outputs)))
        }
        LiveRequest::Window { output, first, count } => {
            kept(&output)?.window(first, count).map(LiveReply::Window).map_err(|error| error.to_string())
        }
        LiveRequest::Recording { output } => Ok(LiveReply::Recording(kept(&output)?.recording())),
        LiveRequest::Kill { run } => {
            running(&run)?.cancel();
            Ok(LiveReply::Done)
        }
        LiveRequest::Input { run, text } => {
            let controller = running(&run)?;
            if controller.captured().terminal.is_none() {
                return Err(format!("run '{run}' has no terminal of its own"));
            }
            controller.write(text.into_bytes());
            Ok(LiveReply::Done)
        }
        LiveRequest::Read { .. } => Err("unexpected request".to_owned()),
    }
}

/// Sends the state of a run each time its output has grown, and at least twice a second, until the run has ended or the client has gone.
fn follow(stream: &UnixStream, run: &str, shared: &LiveShared) -> io::Result<()> {
    shared.followed().push(run.to_owned());
    let _following = Following { shared, run };
    let mut watches = Vec::new();
    for (_, output) in shared.find(run).into_iter().flat_map(|(_, outputs)| outputs) {
        watches.push(output.watch()?);
    }
    loop {
        watches.iter().for_each(crate::capture::OutputWatch::clear);
        let Some((controller, outputs)) = shared.find(run) else {
            return send(stream, &LiveReply::Error(format!("unknown run '{run}'")));
        };
        let status = LiveStatus::new(controller.as_ref(), &outputs);
        let is_complete = outputs.iter().all(|(_, output)| output.is_finished());
        let has_ended = !status.running;
        send(stream, &LiveReply::Status(status))?;
        if has_ended {
            // The client closes the connection when it has read the outputs, which are kept until then.
            let mut stream = stream;
            return stream.read(&mut [0]).map(drop);
        }
        drop((controller, outputs));
        thread::sleep(if is_complete { Duration::ZERO } else { FOLLOW_INTERVAL });
        let mut set = vec![PollFd::new(stream, PollFlags::RDHUP)];
        set.extend(watches.iter().map(|watch| PollFd::new(watch, PollFlags::IN)));
        let _ = poll(&mut set, Some(if is_complete { &ENDING_INTERVAL } else { &IDLE_INTERVAL }));
        if !set[0].revents().is_empty() {
            return Ok(());
        }
    }
}

fn read(stream: &UnixStream, output: &str, from: u64, limit: usize, shared: &LiveShared) -> io::Result<()> {
    let Some(found) = shared.output(output) else {
        return send(stream, &LiveReply::Error(format!("unknown output '{output}'")));
    };
    match found.read_since(from, limit.min(MAX_READ_BYTES)) {
        Ok(growth) => {
            let (length, next) = (growth.bytes.len(), growth.next);
            send(stream, &LiveReply::Bytes { length, next, lost: growth.lost, finished: growth.finished })?;
            let mut stream = stream;
            stream.write_all(&growth.bytes)
        }
        Err(error) => send(stream, &LiveReply::Error(error.to_string())),
    }
}

fn send(mut stream: &UnixStream, reply: &LiveReply) -> io::Result<()> {
    let mut line = serde_json::to_vec(reply)?;
    line.push(b'\n');
    stream.write_all(&line)
}
