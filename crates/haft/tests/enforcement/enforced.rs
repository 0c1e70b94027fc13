//! Results say what was enforced and decided; policies that cannot be enforced are refused.

use crate::support::{Place, confined, has_landlock};

#[test]
fn the_result_says_what_was_enforced_and_decided() {
    if !has_landlock() {
        return;
    }
    let place = Place::new();
    let policy = place.policy(
        "[policy]\npreset = \"workspace\"\n[policy.commands]\nask = [[\"ls\", \"-a\"]]\ndeny = [[\"id\"]]\n",
    );
    let run = place.haft(&policy).args(["--json", "-c", "ls -a; id; echo x > /usr/f; pwd"]).run();
    let result: serde_json::Value = serde_json::from_str(&run.output_text()).expect("JSON");
    let level = result["enforced"]["level"].as_str().unwrap_or_default();
    assert!(["landlock", "namespaces"].contains(&level), "{result:#}");
    assert_eq!(result["enforced"]["files"], true);
    let decisions = result["decisions"].as_array().expect("decisions");
    let subjects: Vec<_> = decisions.iter().map(|it| it["subject"].as_str().unwrap_or_default()).collect();
    assert_eq!(&subjects[..2], ["ls -a", "id"], "{result:#}");
    assert_eq!(decisions[1]["verdict"], "deny");
    assert!(decisions[1]["place"]["file"].as_str().is_some_and(|file| file.ends_with("policy.toml")));
    let errors = result["stderr"]["text"].as_str().unwrap_or_default();
    assert!(errors.contains("needs approval") && errors.contains("denied by the policy"), "{errors}");
    assert!(errors.contains("Permission denied"), "{errors}");
}

#[test]
fn nothing_is_asked_if_every_stage_is_allowed() {
    let place = Place::new();
    let policy = place.policy(
        "[policy.commands]\ndefault = \"deny\"\nallow = [[\"cat\"], [\"sort\"], [\"head\", \"-n\", \"*\"]]\n",
    );
    let script =
        "x=$(echo b; echo a); cat <<< \"$x\" | sort | head -n 1 && for i in 1 2; do cat /dev/null; done";
    let run = place.haft(&policy).args(["--json", "-c", script]).run();
    let result: serde_json::Value = serde_json::from_str(&run.output_text()).expect("JSON");
    assert_eq!(result["stdout"]["text"], "a\n", "{result:#}");
    assert_eq!(result["decisions"], serde_json::Value::Null);
}

#[test]
fn an_unknown_policy_is_refused_with_the_names() {
    let place = Place::new();
    let run = place.haft(std::path::Path::new("workspce")).args(["-c", "echo ran"]).run();
    assert_eq!(run.output_text(), "");
    assert!(run.error_text().contains("workspace"), "{}", run.error_text());
}

#[test]
fn secrets_in_the_environment_are_withheld() {
    let place = Place::new();
    let policy = std::path::Path::new("workspace");
    let run = place
        .haft(policy)
        .env("SOME_TOKEN", "abcdefghijkl")
        .env("SSH_AUTH_SOCK", "/run/agent")
        .args(["-c", "echo ${SOME_TOKEN-none} ${SSH_AUTH_SOCK-none}; /usr/bin/env | grep -c TOKEN"])
        .run();
    assert_eq!(run.output_text(), "none none\n0\n", "{}", run.error_text());
}

#[test]
fn tools_obey_the_policy() {
    if !has_landlock() {
        return;
    }
    let place = Place::new();
    let policy = confined(&place);
    let script = "tool file_write path=$OUT/new content=x; tool file_read path=$OUT/secret
        tool bash command=\"echo x > $OUT/new; /bin/cat $OUT/secret\"
        tool file_write path=inside content=kept > /dev/null; cat inside";
    let run = place.haft(&policy).args(["-c", script]).run();
    assert!(!place.path("outside/new").exists(), "{}", run.error_text());
    assert!(!run.output_text().contains(crate::support::SECRET), "{}", run.output_text());
    assert!(run.output_text().ends_with("kept"), "{}\n{}", run.output_text(), run.error_text());
}

#[test]
fn connections_of_the_shell_obey_the_policy() {
    let place = Place::new();
    let policy = place.policy("[policy.network]\nlevel = \"none\"\n");
    let run = place.haft(&policy).args(["-c", "echo x > /dev/tcp/127.0.0.1/9; echo $?"]).run();
    assert_eq!(run.output_text(), "1\n");
    assert!(run.error_text().contains("no rule allows a connection"), "{}", run.error_text());
}

#[test]
fn budgets_limit_the_run() {
    let place = Place::new();
    let policy = place.policy("[policy.budgets]\nwall = \"1s\"\n");
    let run = place.haft(&policy).args(["--json", "-c", "sleep 100"]).run();
    let result: serde_json::Value = serde_json::from_str(&run.output_text()).expect("JSON");
    assert_eq!(result["status"]["timed_out"], true, "{result:#}");
}

#[test]
fn programs_have_a_loopback_of_their_own() {
    let place = Place::new();
    let policy = place.policy("[policy.network]\nlevel = \"loopback\"\n");
    let outside = std::net::TcpListener::bind("127.0.0.1:0").expect("a listener");
    let port = outside.local_addr().expect("an address").port();
    let script = format!(
        "import socket
try:
    socket.create_connection(('127.0.0.1', {port}), 5); print('outside')
except OSError: print('refused')
try:
    own = socket.create_server(('127.0.0.1', 0)); socket.create_connection(own.getsockname(), 5); print('own')
except OSError: print('none')"
    );
    std::fs::write(place.path("project/connect.py"), script).expect("a program");
    let run = place.haft(&policy).args(["--json", "-c", "python3 connect.py"]).run();
    let result: serde_json::Value = serde_json::from_str(&run.output_text()).expect("JSON");
    let expected = match result["enforced"]["network"].as_str() {
        Some("loopback") => "refused\nown\n",
        _ => "refused\nnone\n",
    };
    assert_eq!(result["stdout"]["text"], expected, "{result:#}");
}

#[test]
fn programs_reach_listed_hosts_through_a_proxy() {
    let place = Place::new();
    let server = std::net::TcpListener::bind("127.0.0.1:0").expect("a listener");
    let port = server.local_addr().expect("an address").port();
    let answer = std::thread::spawn(move || {
        use std::io::{Read as _, Write as _};
        let (mut client, _) = server.accept().expect("a client");
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            client.read_exact(&mut byte).expect("a request");
            head.push(byte[0]);
        }
        client.write_all(b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello").expect("an answer");
        String::from_utf8_lossy(&head).lines().next().unwrap_or_default().to_owned()
    });
    let policy = place.policy("[policy.network]\nlevel = \"listed\"\nhosts = [\"127.0.0.1\"]\n");
    let get = format!(
        "import urllib.request, urllib.error
print(urllib.request.urlopen('http://127.0.0.1:{port}/page').read().decode())
try: urllib.request.urlopen('http://192.0.2.1/')
except urllib.error.HTTPError as error: print(error.code, error.read().decode())"
    );
    std::fs::write(place.path("project/get.py"), get).expect("a program");
    let run = place.haft(&policy).env("no_proxy", "").args(["-c", "python3 get.py"]).run();
    if run.error_text().contains("no network namespaces") {
        println!("skipped: no network namespaces");
        return;
    }
    assert!(
        run.output_text().starts_with("hello\n403 haft: denied"),
        "{}\n{}",
        run.output_text(),
        run.error_text()
    );
    assert_eq!(answer.join().expect("a server"), "GET /page HTTP/1.1");
}

#[test]
fn decisions_are_in_the_journal() {
    let place = Place::new();
    let policy = place.policy("[policy.commands]\ndeny = [[\"id\"]]\n");
    let state = place.path("state");
    let run = place.haft(&policy).env("XDG_STATE_HOME", &state).args(["--json", "-c", "id -u"]).run();
    let result: serde_json::Value = serde_json::from_str(&run.output_text()).expect("JSON");
    let log = haft_test_support::Haft::new(env!("CARGO_BIN_EXE_haft"))
        .env("XDG_STATE_HOME", &state)
        .args(["log", "show", result["id"].as_str().unwrap_or_default()])
        .run();
    assert!(log.output_text().contains("denied: id -u"), "{}\n{}", log.output_text(), log.error_text());
}
