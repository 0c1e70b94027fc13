//! The HTTP server: access, headers, lists, events and windows of output.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use haft_overlay::OverlayStore;
use haft_process::capture::{CaptureLimits, Output, OutputStore, SpillDirectory};
use haft_process::live::LiveRuns;
use haft_process::{CancelToken, Command, Host, Task};
use haft_records::{JournalLimits, JournalRecord, RecordedProcess, RunEnd, RunJournal, RunKind, RunStart};
use haft_watch::{WatchSetup, serve};
use serde_json::Value;
use tempfile::TempDir;

const TOKEN: &str = "0123456789abcdef0123456789abcdef";
const SOON: Duration = Duration::from_secs(40);

/// A server with journals of its own.
struct Page {
    directory: TempDir,
    port: u16,
    cancel: CancelToken,
    thread: Option<JoinHandle<()>>,
}

impl Page {
    fn open() -> Page {
        let directory = tempfile::tempdir().expect("a directory");
        let (cancel, (sender, ready)) = (CancelToken::new(), mpsc::channel());
        let setup = WatchSetup {
            records: directory.path().join("records"),
            outputs: vec![OutputStore::new(directory.path().join("outputs"))],
            overlays: OverlayStore::new(vec![directory.path().join("overlays")]),
            token: TOKEN.to_owned(),
            port: 0,
        };
        let token = cancel.clone();
        let thread = thread::spawn(move || {
            serve(setup, |url| sender.send(url.to_owned()).expect("a receiver"), &token).expect("a server");
        });
        let url = ready.recv_timeout(SOON).expect("an address");
        let port = url.split([':', '/']).nth(4).and_then(|port| port.parse().ok()).expect("a port");
        assert_eq!(url, format!("http://127.0.0.1:{port}/?token={TOKEN}"));
        Page { directory, port, cancel, thread: Some(thread) }
    }

    fn journal(&self, session: &str) -> RunJournal {
        RunJournal::open(&self.directory.path().join("records"), session, JournalLimits::default())
            .expect("a journal")
    }

    fn send(&self, request: &str, headers: &[(&str, &str)]) -> TcpStream {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("a connection");
        stream.set_read_timeout(Some(SOON)).expect("a timeout");
        let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        write!(stream, "{request} HTTP/1.1\r\n{headers}Content-Length: 0\r\n\r\n").expect("a request");
        stream
    }

    /// The status, headers and body of a request with these headers and no others.
    fn bare(&self, request: &str, headers: &[(&str, &str)]) -> Answer {
        let headers = [headers, &[("Connection", "close")]].concat();
        let mut text = String::new();
        self.send(request, &headers).read_to_string(&mut text).expect("an answer");
        let (head, body) = text.split_once("\r\n\r\n").expect("a head");
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
        Answer { status, head: head.to_lowercase(), body: body.to_owned() }
    }

    fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    fn cookie(&self) -> String {
        format!("haft-watch-{}={TOKEN}", self.port)
    }

    fn get(&self, path: &str) -> Answer {
        self.bare(&format!("GET {path}"), &[("Host", &self.host()), ("Cookie", &self.cookie())])
    }

    fn json(&self, path: &str) -> Value {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{}", answer.body);
        serde_json::from_str(&answer.body).expect("JSON")
    }

    fn post(&self, path: &str) -> Answer {
        let origin = format!("http://{}", self.host());
        let headers = [("Host", &*self.host()), ("Cookie", &self.cookie()), ("Origin", &origin)];
        self.bare(&format!("POST {path}"), &headers)
    }

    /// Opens a stream of events, and waits until it is ready.
    fn events(&self, query: &str) -> Events {
        let host = self.host();
        let stream =
            self.send(&format!("GET /api/events{query}"), &[("Host", &host), ("Cookie", &self.cookie())]);
        let mut events = Events(BufReader::new(stream));
        assert_eq!(events.next("ready"), Value::Bool(true));
        events
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.cancel.cancel();
        self.thread.take().into_iter().for_each(|thread| thread.join().expect("an end"));
    }
}

struct Answer {
    status: u16,
    head: String,
    body: String,
}

struct Events(BufReader<TcpStream>);

impl Events {
    /// The data of the next event with this name.
    fn next(&mut self, name: &str) -> Value {
        let mut is_wanted = false;
        loop {
            let mut line = String::new();
            assert!(self.0.read_line(&mut line).expect("a line") > 0, "the stream has ended");
            if let Some(event) = line.strip_prefix("event: ") {
                is_wanted = event.trim() == name;
            } else if let Some(data) = line.strip_prefix("data: ").filter(|_| is_wanted) {
                return serde_json::from_str(data).expect("JSON");
            }
        }
    }
}

fn start(id: &str, time: u64, script: &str) -> JournalRecord {
    let process = RecordedProcess::current();
    let (script, session) = (Some(script.to_owned()), "s1".to_owned());
    JournalRecord::Start(RunStart { script, session, process, ..RunStart::new(id, time) })
}

fn end(id: &str, time: u64, code: i32) -> JournalRecord {
    JournalRecord::End(RunEnd { code, duration: 0.5, ..RunEnd::new(id, time) })
}

#[test]
fn nothing_is_shown_without_the_token() {
    let page = Page::open();
    let host = page.host();
    for path in ["/", "/api/runs", "/api/events", "/assets/app.js", "/?token=wrong", "/api/runs?token=wrong"]
    {
        let answer = page.bare(&format!("GET {path}"), &[("Host", &host)]);
        assert_eq!(answer.status, 401, "{path}");
        assert!(!answer.head.contains("set-cookie"), "{path}");
    }
    let wrong = format!("haft-watch-{}={}", page.port, TOKEN.replace('0', "1"));
    assert_eq!(page.bare("GET /api/runs", &[("Host", &host), ("Cookie", &wrong)]).status, 401);
}

#[test]
fn the_token_moves_from_the_address_to_a_cookie_that_scripts_cannot_read() {
    let page = Page::open();
    let answer = page.bare(&format!("GET /?token={TOKEN}"), &[("Host", &page.host())]);
    assert_eq!(answer.status, 200);
    let cookie = format!("set-cookie: {}; httponly; samesite=strict; path=/", page.cookie());
    assert!(answer.head.contains(&cookie), "{}", answer.head);
    assert!(answer.body.contains("url=/\"") && !answer.body.contains(TOKEN), "{}", answer.body);
    assert_eq!(page.get("/").status, 200);
}

#[test]
fn requests_for_other_hosts_and_of_other_sites_are_refused() {
    let page = Page::open();
    let (host, cookie) = (page.host(), page.cookie());
    let with = |headers: &[(&str, &str)], request: &str| {
        page.bare(request, &[&[("Cookie", &*cookie)], headers].concat()).status
    };
    let list = "GET /api/runs";
    assert_eq!(with(&[("Host", "evil.example")], list), 421);
    assert_eq!(with(&[("Host", "evil.example")], &format!("GET /?token={TOKEN}")), 421);
    assert_eq!(with(&[("Host", &host), ("Origin", "http://evil.example")], list), 403);
    assert_eq!(with(&[("Host", &host), ("Origin", "http://127.0.0.1:1")], list), 403);
    assert_eq!(with(&[("Host", &host), ("Sec-Fetch-Site", "cross-site")], list), 403);
    assert_eq!(with(&[("Host", &host), ("Sec-Fetch-Site", "same-site")], list), 403);
    assert_eq!(with(&[("Host", &host), ("Sec-Fetch-Site", "same-origin")], list), 200);
    assert_eq!(with(&[("Host", &host)], "POST /api/runs/r1/kill"), 403);
    assert_eq!(with(&[("Host", &host)], "OPTIONS /api/runs"), 405);
    assert_eq!(page.post("/api/runs/r1/kill").status, 404);
}

#[test]
fn every_answer_forbids_foreign_and_inline_script() {
    let page = Page::open();
    for path in ["/", "/run/x", "/assets/app.js", "/api/runs", "/no-such-page", "/overlays", "/stats"] {
        let head = page.get(path).head;
        for expected in [
            "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self';",
            "require-trusted-types-for 'script'; trusted-types 'none'",
            "frame-ancestors 'none'",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "cache-control: no-store",
            "cross-origin-resource-policy: same-origin",
        ] {
            assert!(head.contains(expected), "{path}: {expected}");
        }
        assert!(!head.contains("access-control"), "{path}");
    }
    let text = page.get("/").body;
    assert!(!text.contains("<style") && !text.contains(" style=") && !text.contains(" on"), "{text}");
    assert_eq!(text.matches("<script").count(), 1);
}

#[test]
fn runs_are_listed_latest_first_in_parts_and_filtered() {
    let page = Page::open();
    let journal = page.journal("s1");
    for number in 0..250_u64 {
        let id = format!("r{number}");
        journal.append(&start(&id, 1000 + number, &format!("make t{number}"))).expect("a record");
        journal.append(&end(&id, 2000 + number, i32::from(number % 10 == 0))).expect("a record");
    }
    let list = page.json("/api/runs?offset=100&count=2");
    assert_eq!((&list["total"], list["runs"].as_array().map(Vec::len)), (&Value::from(250), Some(2)));
    assert_eq!(list["runs"][0]["id"], "r149");
    assert_eq!(page.json("/api/runs?state=failed")["total"], 25);
    assert_eq!(page.json("/api/runs?q=t24%5B0-4%5D%24")["total"], 5);
    assert_eq!(page.json("/api/runs?session=other")["total"], 0);
    assert_eq!(page.json("/api/runs?until=1009")["total"], 10);
    assert_eq!(page.get("/api/runs?q=%5B").status, 400);
    assert_eq!(page.json("/api/stats")["total"]["failed"], 25);
    assert_eq!(page.json("/api/runs/r7")["start"]["script"], "make t7");
    assert_eq!(page.get("/api/runs/unknown").status, 404);
}

#[test]
fn events_tell_the_start_and_the_end_of_runs_that_match() {
    let page = Page::open();
    let journal = page.journal("s1");
    let (mut all, mut failed) = (page.events(""), page.events("?state=failed"));
    let (mut running, mut one) = (page.events("?state=running"), page.events("?run=r2"));
    journal.append(&start("r1", 1000, "true")).expect("a record");
    let event = all.next("runs");
    assert_eq!((&event[0]["id"], &event[0]["state"]), (&Value::from("r1"), &Value::from("running")));
    assert_eq!(running.next("runs")[0]["id"], "r1");
    journal.append(&end("r1", 1100, 0)).expect("a record");
    assert_eq!(all.next("runs")[0]["state"], "ended");
    assert_eq!(running.next("runs")[0]["state"], "ended");
    journal.append(&start("r2", 1200, "false")).expect("a record");
    assert_eq!(one.next("runs")[0]["id"], "r2");
    journal.append(&end("r2", 1300, 3)).expect("a record");
    assert_eq!(failed.next("runs")[0]["code"], 3);
}

#[test]
fn windows_of_a_stored_output_have_only_the_lines_that_were_asked_for() {
    let page = Page::open();
    let output = Output::new(CaptureLimits::default(), Some(SpillDirectory::memory()));
    let text: String = (1..=200_000).map(|number| format!("line {number}\n")).collect();
    output.append(text.as_bytes());
    output.append(b"<script>alert(1)</script>\x1b[31mred");
    output.finish();
    let store = OutputStore::new(page.directory.path().join("outputs"));
    store.keep(&output, "stdout", "make", Duration::from_secs(60)).expect("a stored output");
    let path = format!("/api/outputs/{}", output.id());
    let window = page.json(&format!("{path}/lines?first=150000&count=2"));
    assert_eq!(window["lines"][0]["text"], "line 150000");
    assert_eq!(
        (window["lines"].as_array().map(Vec::len), &window["total_lines"]),
        (Some(2), &200_001.into())
    );
    let last = page.json(&format!("{path}/lines?first=200001&count=100"));
    assert_eq!(last["lines"][0]["text"], "<script>alert(1)</script>\u{1b}[31mred");
    let raw = page.get(&format!("{path}/raw"));
    assert!(raw.head.contains("content-type: application/octet-stream"));
    assert!(raw.head.contains("content-disposition: attachment"));
    assert!(raw.body.contains("line 200000"));
    assert_eq!(page.get("/api/outputs/..%2Fx/lines").status, 404);
}

#[test]
fn the_output_of_a_running_run_is_read_from_its_process_and_the_run_can_be_ended() {
    let page = Page::open();
    let own = RecordedProcess::current();
    let live = LiveRuns::start(own.pid, own.started).expect("a socket");
    let mut command = Command::new("/bin/sh");
    command.arguments(["-c", "echo one; echo two; read -r line; sleep 1000"]);
    let job = Task::new(command).start(&Host::plain()).expect("a job");
    let controller = job.controller();
    let waiting = thread::spawn(move || job.wait());
    live.add(&controller);
    let journal = page.journal("s1");
    let JournalRecord::Start(record) = start(controller.id(), 1000, "echo") else { unreachable!() };
    journal.append(&JournalRecord::Start(RunStart { kind: RunKind::Mcp, ..record })).expect("a record");
    let path = format!("/api/runs/{}", controller.id());
    let mut events = page.events(&format!("?run={}", controller.id()));
    let stream = loop {
        let status = events.next("status");
        let stdout =
            status["streams"].as_array().expect("streams").iter().find(|one| one["lines"] == 2).cloned();
        if let Some(stdout) = stdout {
            break stdout;
        }
    };
    assert_eq!((&stream["stream"], &stream["last_line"]), (&"stdout".into(), &"two".into()));
    let id = stream["id"].as_str().expect("an id");
    let lines = format!("/api/outputs/{id}/lines?run={}", controller.id());
    assert_eq!(page.json(&lines)["lines"][0]["text"], "one");
    let raw = page.get(&format!("/api/outputs/{id}/raw?run={}", controller.id()));
    assert!(raw.body.contains("two"));
    assert_eq!(page.json(&path)["live"]["running"], true);
    assert_eq!(page.post(&format!("{path}/kill")).status, 200);
    assert!(waiting.join().expect("an outcome").cancelled);
    live.end(controller.id());
    assert_eq!(page.json(&path)["live"]["running"], false);
}
