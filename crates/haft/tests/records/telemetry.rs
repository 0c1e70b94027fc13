//! Spans, with a collector in the test.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use serde_json::{Value, json};

use super::SOON;
use super::home::Home;
use super::mcp::serve;

const CALLER: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// A collector that remembers the requests.
struct Collector {
    url: String,
    requests: Receiver<CollectedRequest>,
}

struct CollectedRequest {
    path: String,
    headers: HashMap<String, String>,
    body: Value,
}

impl Collector {
    fn start(status: &'static str) -> Collector {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let (sender, requests) = channel();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let sender = sender.clone();
                thread::spawn(move || {
                    while let Some(request) = read_request(&stream) {
                        let _ = sender.send(request);
                        let reply = format!("HTTP/1.1 {status}\r\ncontent-length: 2\r\n\r\n{{}}");
                        let _ = (&stream).write_all(reply.as_bytes());
                    }
                });
            }
        });
        Collector { url, requests }
    }

    /// A home whose configuration sends spans to this collector.
    fn home(&self, more: &str) -> Home {
        Home::with_config(&format!("[telemetry]\nenabled = true\nendpoint = \"{}\"\n{more}", self.url))
    }

    /// All spans so far, with the attributes as an object.
    fn spans(&self) -> Vec<Value> {
        let first = self.requests.recv_timeout(SOON).expect("a request");
        let requests = [first].into_iter().chain(self.requests.try_iter());
        requests.flat_map(|request| spans_of(&request)).collect()
    }
}

fn read_request(stream: &TcpStream) -> Option<CollectedRequest> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut headers = HashMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim().split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let mut body = vec![0; headers.get("content-length")?.parse().ok()?];
    reader.read_exact(&mut body).ok()?;
    Some(CollectedRequest { path, headers, body: serde_json::from_slice(&body).expect("JSON") })
}

fn spans_of(request: &CollectedRequest) -> Vec<Value> {
    assert_eq!(request.path, "/v1/traces");
    assert_eq!(request.headers["content-type"], "application/json");
    let spans = request.body["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().expect("spans");
    let mut spans = spans.clone();
    for span in &mut spans {
        let attributes = span["attributes"].as_array().expect("attributes").iter();
        let pairs =
            attributes.map(|pair| (pair["key"].as_str().expect("a name").to_owned(), pair["value"].clone()));
        span["attributes"] = Value::Object(pairs.collect());
        let is_hex = |text: &Value, length: usize| {
            text.as_str()
                .is_some_and(|text| text.len() == length && text.bytes().all(|byte| byte.is_ascii_hexdigit()))
        };
        assert!(is_hex(&span["traceId"], 32) && is_hex(&span["spanId"], 16), "{span}");
        let time =
            |name: &str| span[name].as_str().and_then(|time| time.parse::<u64>().ok()).expect("a time");
        assert!(time("startTimeUnixNano") <= time("endTimeUnixNano"), "{span}");
    }
    spans
}

fn named<'a>(spans: &'a [Value], name: &str) -> &'a Value {
    spans.iter().find(|span| span["name"] == name).unwrap_or_else(|| panic!("no span '{name}': {spans:#?}"))
}

#[test]
fn a_run_and_its_stages_are_spans_of_the_callers_trace() {
    let collector = Collector::start("200 OK");
    let home = collector.home("headers = { x-key = \"k1\" }\n");
    let script = "printf %s \"$TRACEPARENT\" > context; sort /dev/null | false; exit 3";
    let run = home.haft(&["run", "-c", script]).env("TRACEPARENT", CALLER).run();
    let _ = run.status(3).stderr("");
    let request = collector.requests.recv_timeout(SOON).expect("a request");
    assert_eq!(request.headers["x-key"], "k1");
    let spans = spans_of(&request);
    let run = named(&spans, "execute_tool run");
    assert_eq!(run["traceId"], "0af7651916cd43dd8448eb211c80319c");
    assert_eq!(run["parentSpanId"], "b7ad6b7169203331");
    assert_eq!(run["status"]["code"], 2);
    let attributes = &run["attributes"];
    assert_eq!(attributes["gen_ai.operation.name"]["stringValue"], "execute_tool");
    assert_eq!(attributes["gen_ai.tool.name"]["stringValue"], "run");
    assert_eq!(attributes["process.exit.code"]["intValue"], "3");
    assert_eq!(attributes["error.type"]["stringValue"], "exit 3");
    assert!(attributes.get("gen_ai.tool.call.arguments").is_none(), "content is not sent by default");
    let stage = named(&spans, "false");
    assert_eq!((&stage["parentSpanId"], &stage["traceId"]), (&run["spanId"], &run["traceId"]));
    assert_eq!(stage["attributes"]["error.type"]["stringValue"], "exit 1");
    assert!(named(&spans, "sort").get("status").is_none());
    let context = std::fs::read_to_string(home.0.file("context")).expect("a file");
    assert_eq!(
        context,
        format!("00-0af7651916cd43dd8448eb211c80319c-{}-01", run["spanId"].as_str().expect("an id"))
    );
}

#[test]
fn spans_of_nested_runs_and_of_a_server_are_connected() {
    let collector = Collector::start("200 OK");
    let home = collector.home("content = true\n");
    let meta = json!({"traceparent": CALLER});
    serve(&home, &[], &meta, &[&format!("'{}' run -c 'true nested'", super::home::HAFT)]);
    let mut spans = Vec::new();
    while !spans.iter().any(|span: &Value| span["name"] == "tools/call run") {
        spans.extend(collector.spans());
    }
    let (outer, inner) = (named(&spans, "tools/call run"), named(&spans, "execute_tool run"));
    assert_eq!(outer["parentSpanId"], "b7ad6b7169203331");
    assert_eq!(outer["kind"], 2);
    assert_eq!(outer["attributes"]["mcp.method.name"]["stringValue"], "tools/call");
    assert_eq!(outer["attributes"]["gen_ai.agent.name"]["stringValue"], "tester");
    assert_eq!((&inner["traceId"], &inner["parentSpanId"]), (&outer["traceId"], &outer["spanId"]));
    let arguments =
        inner["attributes"]["gen_ai.tool.call.arguments"]["stringValue"].as_str().expect("content");
    assert!(arguments.contains("true nested"), "{arguments}");
}

#[test]
fn secrets_are_masked_in_spans() {
    let collector = Collector::start("200 OK");
    let home = collector.home("content = true\n");
    let script = "echo https://user:hunter2hunter2@example.org swordfish-and-more";
    home.haft(&["run", "-c", script]).env("API_TOKEN", "swordfish-and-more").run().status(0);
    let sent = format!("{:?}", collector.spans());
    assert!(sent.contains("example.org"), "{sent}");
    assert!(!sent.contains("hunter2") && !sent.contains("swordfish"), "{sent}");
}

#[test]
fn a_trace_that_is_not_sampled_has_no_spans_but_is_passed_on() {
    let collector = Collector::start("200 OK");
    let home = collector.home("");
    let caller = CALLER.replace("-01", "-00");
    let run = home.haft(&["run", "-c", "echo $TRACEPARENT"]).env("TRACEPARENT", &caller).run().status(0);
    let text = run.output_text();
    assert!(text.starts_with("00-0af7651916cd43dd8448eb211c80319c-") && text.ends_with("-00\n"), "{text}");
    assert!(collector.requests.try_recv().is_err());
}

#[test]
fn a_run_does_not_fail_because_of_its_collector() {
    let refusing = Collector::start("503 Service Unavailable");
    let run = refusing.home("").run(&["run", "-c", "exit 4"]).status(4);
    run.stderr_has("2 spans lost: the collector answered with status 503 Service Unavailable");
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port");
    let absent = Home::with_config(&format!("[telemetry]\nenabled = true\nendpoint = \"http://{free}\"\n"));
    let _ = absent.run(&["run", "-c", "exit 4"]).status(4).stderr_has("2 spans lost: ");
    let wrong = Home::with_config("[telemetry]\nenabled = true\nendpoint = \"ftp://x\"\n");
    wrong.run(&["run", "-c", "exit 4"]).status(4).stderr_has("it must begin with http:// or https://");
}

#[test]
fn spans_are_sent_without_records() {
    let collector = Collector::start("200 OK");
    let home = collector.home("[records]\nenabled = false\n");
    home.run(&["run", "-c", "true"]).status(0);
    named(&collector.spans(), "execute_tool run");
    assert!(!home.directory().exists());
}
