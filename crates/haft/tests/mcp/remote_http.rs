//! Tools of other MCP servers at URLs.

use std::net::TcpListener;
use std::time::Duration;

use haft_test_support::{Marker, Scratch, child, eventually};
use serde_json::json;

use crate::client::Client;
use crate::http::Server;
use crate::stand_in::{Web, await_notice, configure, haft, noticed};

const SOON: Duration = Duration::from_secs(30);

/// A configuration with a server at a URL, and a token from the environment.
fn at(url: &str) -> String {
    format!(
        "[[mcp]]\nname = \"web\"\nurl = \"{url}\"\n[mcp.headers]\nAuthorization = \"Bearer ${{TOKEN}}\"\n"
    )
}

fn local(port: u16) -> String {
    at(&format!("http://127.0.0.1:{port}/mcp"))
}

/// A stub that requires a token, and a configuration that names it.
fn started(options: &[&str]) -> (Scratch, Web) {
    let scratch = Scratch::new();
    let options: Vec<String> = options.iter().map(|&option| option.to_owned()).collect();
    let web = Web::start(&scratch, &options);
    configure(&scratch, &local(web.port));
    (scratch, web)
}

#[test]
fn remote_tools_are_called_like_local_ones() {
    let (scratch, _web) = started(&["token=secret"]);
    let haft = || haft(&scratch).env("TOKEN", "secret");
    let script = "tool web.add a=1 b=2 | jq .sum; web.echo text='hi there'; tool count steps=2; tool web.fail; echo $?";
    let told = haft().args(["-c", script]).run().status(0).stdout("3\nhi there\ncounted\n1\n");
    told.stderr_has("count: 1/2 step 1\ncount: 2/2 step 2\n").stderr_has("it does not work");
    await_notice(&scratch, "web", "goodbye");
    let listed = haft().args(["tool", "list"]).run().status(0);
    assert!(listed.output_text().contains("web.add "), "{}", listed.output_text());
}

#[test]
fn a_stateless_server_is_supported() {
    let (scratch, _web) = started(&["modern=yes"]);
    let script = "tool web.add a=1 b=123456789012345678901234567890; tool web.count steps=1";
    let told = haft(&scratch).env("TOKEN", "x").args(["-c", script]).run().status(0);
    told.stdout("{\"sum\":123456789012345678901234567891}\ncounted\n");
}

#[test]
fn failures_are_reported() {
    let (scratch, web) = started(&["token=secret"]);
    let called = |token: &str| haft(&scratch).env("TOKEN", token).args(["-c", "tool web.echo text=x"]).run();
    called("wrong")
        .status(126)
        .stderr_has("rejected the request with status 401 Unauthorized; add a token to its `headers`");
    called("two\nlines").status(126).stderr_has("has a header 'Authorization' that cannot be sent");
    configure(&scratch, &local(web.port).replace("TOKEN", "ABSENT"));
    called("secret").status(126).stderr_has("needs the variable 'ABSENT', which is not set");
    configure(&scratch, &at("gopher://127.0.0.1/"));
    called("secret").status(126).stderr_has("has an invalid URL: it must begin with http:// or https://");
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    configure(&scratch, &local(free));
    let down =
        format!("the MCP server 'web' (http://127.0.0.1:{free}/mcp) cannot be reached: connection refused");
    called("secret").status(126).stderr_has(&down);
}

#[test]
fn a_lost_session_is_renewed() {
    let (scratch, web) = started(&[]);
    let mut client = Client::configured_with(scratch, &[("TOKEN", "x")]);
    let echo =
        |client: &mut Client, text: &str| client.call("web__echo", json!({ "text": text })).text().to_owned();
    assert_eq!(echo(&mut client, "first"), "first");
    client.call("web__forget", json!({}));
    assert_eq!(echo(&mut client, "second"), "second");
    let port = format!("port={}", web.port);
    drop(web);
    let away = echo(&mut client, "third");
    assert!(away.starts_with("the MCP server 'web' cannot be reached: connection"), "{away}");
    let _web = Web::start(&client.scratch, &[port]);
    assert_eq!(echo(&mut client, "fourth"), "fourth");
}

#[test]
fn cancellation_reaches_the_remote_server() {
    let (scratch, _web) = started(&[]);
    let marker = Marker::new();
    let script = format!("tool web.wait program={} marker={}", child(), marker.as_str());
    let mut running = haft(&scratch).env("TOKEN", "x").args(["run", "--timeout", "3", "-c", &script]).start();
    assert!(eventually(SOON, || marker.count() == 1 || running.has_ended()));
    let _ = running.finish().status(124);
    await_notice(&scratch, "web", "cancelled");
    assert!(eventually(SOON, || marker.count() == 0));
}

#[test]
fn tls_certificates_are_checked_against_the_system() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp");
    let certificate = format!("{directory}/localhost.pem");
    let options = [format!("certificate={certificate}"), format!("key={directory}/localhost.key")];
    let scratch = Scratch::new();
    let web = Web::start(&scratch, &options);
    configure(&scratch, &at(&format!("https://localhost:{}/mcp", web.port)));
    let called = || haft(&scratch).env("TOKEN", "x").args(["-c", "tool web.echo text=safe"]);
    called().env("SSL_CERT_FILE", &certificate).run().status(0).stdout("safe\n");
    called().run().status(126).stderr_has("cannot be reached: ");
    assert_eq!(noticed(&scratch, "web").matches("hello").count(), 1);
}

#[test]
fn haft_can_use_haft_as_a_server() {
    let server = Server::start();
    let scratch = Scratch::new();
    configure(&scratch, &at(&format!("http://{}/mcp", server.address)));
    let script = "tool web.run script='echo $((6 * 7))' detail=full | jq -r .stdout.text; tool web.run script='x=5' session=s >x; \
                  tool web.run script='echo $x' session=s detail=full | jq -r .stdout.text";
    let called =
        haft(&scratch).env("TOKEN", &server.token).directory(scratch.path()).args(["-c", script]).run();
    called.status(0).stdout("42\n\n5\n\n");
}
