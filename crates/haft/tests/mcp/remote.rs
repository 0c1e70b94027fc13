//! Tools of other MCP servers that run as programs.

use std::time::Duration;

use haft_test_support::{Haft, Marker, Scratch, child, eventually, signal};
use haft_tools::exact;
use serde_json::{Value, json};

use crate::client::{Client, HAFT};
use crate::stand_in::{await_end, await_notice, configure, configured, haft, noticed, program};

const SOON: Duration = Duration::from_secs(30);

/// A home with a configuration that names a working server, haft itself, and a broken one.
fn with_haft_itself() -> Scratch {
    configured(&format!(
        "[[mcp]]\nname = \"other\"\ncommand = [\"{HAFT}\", \"mcp\", \"--detail\", \"full\", \"--tools\", \"check\"]\nenv = {{ GREETING = \"hello\" }}\ntools = [\"run\", \"check\"]\n\
         [[mcp]]\nname = \"broken\"\ncommand = [\"/nowhere/server\"]\n"
    ))
}

/// A home with stubs of these names.
fn with_stand_ins(names: &[&str]) -> Scratch {
    let scratch = Scratch::new();
    let text: String = names.iter().map(|name| program(name, &scratch)).collect();
    configure(&scratch, &text);
    scratch
}

/// The list of tools, once it has a tool of a server. Only servers that have answered are listed.
fn listed_with(client: &mut Client, tool: &str) -> Value {
    let mut listed = Value::Null;
    assert!(eventually(SOON, || {
        listed = client.ask("tools/list", json!({}))["result"]["tools"].clone();
        listed.to_string().contains(tool)
    }));
    listed
}

#[test]
fn remote_tools_are_commands_in_scripts() {
    let scratch = with_haft_itself();
    let script = "tool other.run script='echo $GREETING $((40 + 2))' | grep -o 'hello [0-9]*' | head -n1";
    haft(&scratch).args(["-c", script]).run().status(0).stdout("hello 42\n");
    let script = "other.check script='if true' | grep -c '\"ok\":false'";
    haft(&scratch).args(["-c", script]).run().status(0).stdout("1\n");
    let left = scratch.listing();
    assert!(left.iter().all(|name| !name.contains("/run-")), "{left:?}");
}

#[test]
fn failures_are_reported() {
    let scratch = with_haft_itself();
    let called = |script: &str| haft(&scratch).args(["-c", script]).run();
    called("tool other.run scrpt=x").status(2).stderr_has("scrpt");
    called("tool other.plan script=x").status(127);
    called("tool broken.anything")
        .status(126)
        .stderr_has("the MCP server 'broken' (`/nowhere/server`) cannot be started");
    configure(
        &scratch,
        "[[mcp]]\nname = \"sulky\"\ncommand = [\"sh\", \"-c\", \"echo no database >&2; exit 3\"]\n",
    );
    called("tool sulky.anything").status(126).stderr_has("exited: no database");
    configure(&scratch, "[[mcp]]\nname = \"odd\"\ncommand = [\"x\"]\nurl = \"http://x\"\n");
    haft(&scratch)
        .args(["tool", "list"])
        .run()
        .status(2)
        .stderr_has("both `command` and `url` in [[mcp]] 'odd'");
}

#[test]
fn a_silent_server_is_not_waited_for_beyond_the_timeout() {
    let scratch = with_haft_itself();
    configure(&scratch, "[[mcp]]\nname = \"silent\"\ncommand = [\"sleep\", \"100\"]\n");
    let limited = haft(&scratch).args(["run", "--timeout", "1s", "-c", "tool silent.anything"]).run();
    let _ = limited.status(124).within(Duration::from_secs(15));
    for words in [["call", "silent.anything"], ["show", "silent.anything"], ["list", "--wait=100s"]] {
        let runs = || scratch.listing().iter().any(|name| name.contains("run-"));
        assert!(eventually(Duration::from_secs(10), || !runs()), "{:?}", scratch.listing());
        let running = haft(&scratch).arg("tool").args(words).start();
        assert!(eventually(Duration::from_secs(10), runs));
        running.signal(2);
        let _ = running.finish().status(130).within(Duration::from_secs(15));
    }
}

#[test]
fn remote_tools_are_listed() {
    let scratch = with_haft_itself();
    let listed = haft(&scratch).args(["tool", "list"]).run().status(0);
    let text = listed.output_text();
    let kind = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(&format!("{name} ")));
        line.and_then(|line| line.split_ascii_whitespace().nth(1))
    };
    assert_eq!(kind("other.run"), Some("mcp"), "{text}");
    assert_eq!(kind("other.check"), Some("mcp"), "{text}");
    assert_eq!((kind("other.plan"), kind("file_read")), (None, Some("embedded")), "{text}");
    let error = listed.error_text();
    assert!(error.contains("rejected: broken: the MCP server 'broken' (`/nowhere/server`)"), "{error}");
    let listed = haft(&scratch).args(["tool", "list", "--json"]).run().status(0).json();
    let tool = listed["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "other.run").unwrap();
    assert_eq!((&tool["source"], &tool["server"]), (&json!("mcp"), &json!("other")));
}

#[test]
fn an_unambiguous_bare_name_is_enough() {
    let scratch = with_stand_ins(&["one"]);
    haft(&scratch).args(["-c", "tool add a=1 b=2 | jq .sum"]).run().status(0).stdout("3\n");
    let scratch = with_stand_ins(&["one", "two"]);
    let refused = haft(&scratch).args(["-c", "tool add a=1 b=2"]).run().status(126);
    refused.stderr_has("'add' is ambiguous: one.add, two.add; use the full name");
    haft(&scratch).args(["-c", "tool two.add a=1 b=2"]).run().status(0).stdout("{\"sum\":3}\n");
}

#[test]
fn progress_is_reported_in_order() {
    let scratch = with_stand_ins(&["io"]);
    let told = haft(&scratch).args(["-c", "tool io.count steps=3"]).run().status(0).stdout("counted\n");
    assert_eq!(told.error_text(), "io.count: 1/3 step 1\nio.count: 2/3 step 2\nio.count: 3/3 step 3\n");
    let mut client = Client::configured(scratch);
    let call = json!({ "name": "io__count", "arguments": { "steps": 3 }, "_meta": { "progressToken": "p" } });
    client.ask("tools/call", call);
    for step in 1..=3 {
        // On a slow machine the server itself reports that the call still runs.
        let mut told = client.notification("notifications/progress");
        while told["params"]["total"].is_null() {
            told = client.notification("notifications/progress");
        }
        let expected = json!({ "progressToken": "p", "progress": f64::from(step), "total": 3.0, "message": format!("step {step}") });
        assert_eq!(told["params"], expected);
    }
}

#[test]
fn cancellation_reaches_the_remote_server() {
    let scratch = with_stand_ins(&["io"]);
    let (first, second) = (Marker::new(), Marker::new());
    let mut client = Client::configured(scratch);
    let script = format!("tool io.wait program={} marker={}", child(), first.as_str());
    let calls = [
        client.begin("run", json!({ "script": script })),
        client.begin("io__wait", json!({ "program": child(), "marker": second.as_str() })),
    ];
    assert!(eventually(SOON, || first.count() == 1 && second.count() == 1));
    for id in calls {
        let cancelled =
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
        client.send(&cancelled);
    }
    assert!(eventually(SOON, || first.count() == 0 && second.count() == 0));
    assert!(eventually(SOON, || noticed(&client.scratch, "io").matches("cancelled").count() == 2));
    assert_eq!(client.call("io__echo", json!({ "text": "fine" })).text(), "fine");
}

#[test]
fn ctrl_c_ends_the_call_and_the_server_with_its_processes() {
    for arguments in [["tool", "call"].as_slice(), ["-c"].as_slice()] {
        let scratch = with_stand_ins(&["io"]);
        let marker = Marker::new();
        let words =
            ["io.wait".to_owned(), format!("program={}", child()), format!("marker={}", marker.as_str())];
        let call = haft(&scratch).args(arguments);
        let call = if arguments == ["-c"] { call.arg(words.join(" ")) } else { call.args(&words) };
        let running = call.start();
        assert!(eventually(SOON, || marker.count() == 1));
        signal(running.pid(), 2);
        let ended = running.finish();
        assert!(matches!(ended.code(), None | Some(130)), "{ended:?}");
        assert!(eventually(SOON, || marker.count() == 0));
        await_end(&scratch, "io");
    }
}

#[test]
fn a_crashed_server_is_restarted() {
    let scratch = with_stand_ins(&["io"]);
    let script = "a=$(tool io.pid); tool io.die; echo $?; b=$(tool io.pid); [ $a != $b ] && kill -9 $b; \
                  while kill -0 $b; do sleep 0.02; done 2>/dev/null; tool io.echo text=again";
    let told = haft(&scratch).args(["-c", script]).run().status(0).stdout("1\nagain\n");
    told.stderr_has("the MCP server 'io' exited during the call; the next call starts it again");
    assert_eq!(noticed(&scratch, "io").matches("hello haft").count(), 3);
    await_end(&scratch, "io");
}

#[test]
fn servers_end_with_haft() {
    let scratch = with_stand_ins(&["io"]);
    let marker = Marker::new();
    haft(&scratch).args(["-c", "tool io.echo text=x"]).run().status(0).stdout("x\n");
    await_end(&scratch, "io");
    let script = format!("tool io.wait program={} marker={}", child(), marker.as_str());
    let running = haft(&scratch).args(["-c", &script]).start();
    assert!(eventually(SOON, || marker.count() == 1));
    running.signal(9);
    assert!(eventually(SOON, || marker.count() == 0));
    await_end(&scratch, "io");
}

#[test]
fn new_tools_of_a_server_are_announced() {
    let mut client = Client::configured(with_stand_ins(&["io"]));
    let listed = |client: &mut Client| client.ask("tools/list", json!({}))["result"]["tools"].to_string();
    assert!(!listed(&mut client).contains("io__grown"));
    client.notifications.clear();
    client.call("io__grow", json!({}));
    client.notification("notifications/tools/list_changed");
    assert!(eventually(SOON, || listed(&mut client).contains("io__grown")));
}

#[test]
fn project_servers_need_trust() {
    let scratch = Scratch::new();
    std::fs::create_dir_all(scratch.file("project/.haft")).unwrap();
    std::fs::write(scratch.file("project/.haft/config.toml"), program("io", &scratch)).unwrap();
    let haft = || {
        let haft = Haft::new(HAFT).directory(scratch.file("project")).env("HOME", scratch.path());
        haft.env("XDG_STATE_HOME", "")
            .env("XDG_CONFIG_HOME", "")
            .env("XDG_CACHE_HOME", "")
            .env("TMPDIR", scratch.path())
    };
    let call = || haft().args(["-c", "tool io.echo text=x"]).run();
    call().status(127).stderr_has("is not trusted and ignored; run `haft trust` to trust it");
    let listed = haft().args(["tool", "list"]).run().status(0);
    assert!(!listed.output_text().contains("io."), "{}", listed.output_text());
    assert_eq!(noticed(&scratch, "io"), "");
    let _ = haft().args(["trust", "--yes"]).run().status(0);
    call().status(0).stdout("x\n");
    await_notice(&scratch, "io", "hello haft 2025-11-25\n");
    let changed = program("io", &scratch) + "timeout = 5\n";
    std::fs::write(scratch.file("project/.haft/config.toml"), changed).unwrap();
    call().status(127).stderr_has("is not trusted");
}

#[test]
fn a_slow_server_does_not_hide_the_others() {
    let scratch = Scratch::new();
    let slow = program("slow", &scratch)
        .replace("command = [", "command = [\"sh\", \"-c\", \"sleep 6; exec \\\"$0\\\" \\\"$@\\\"\", ");
    let silent = "[[mcp]]\nname = \"silent\"\ncommand = [\"sleep\", \"1000\"]\n";
    configure(&scratch, &format!("{}{slow}{silent}", program("io", &scratch)));
    let mut client = Client::configured(scratch);
    let listed = |client: &mut Client| client.ask("tools/list", json!({}))["result"]["tools"].to_string();
    assert!(eventually(SOON, || listed(&mut client).contains("io__echo")));
    assert!(eventually(SOON, || listed(&mut client).contains("slow__echo")));
    client.notification("notifications/tools/list_changed");
}

#[test]
fn the_start_of_a_server_obeys_its_timeout() {
    let scratch = configured(
        "[[mcp]]\nname = \"hung\"\ntimeout = 2\n\
         command = [\"sh\", \"-c\", \"echo first >&2; echo second >&2; exec sleep 1000\"]\n",
    );
    let listed = haft(&scratch).args(["tool", "list"]).run().status(0).within(Duration::from_secs(25));
    let listed = listed.stderr_has("'hung'").stderr_has("did not answer within 2s");
    listed.stderr_has("first").stderr_has("second");
}

#[test]
fn a_list_shows_who_has_answered_and_who_has_not() {
    let scratch = with_stand_ins(&["io"]);
    haft(&scratch).args(["tool", "list", "--wait", "1m"]).run().status(0);
    let hung = "[[mcp]]\nname = \"hung\"\ncommand = [\"sh\", \"-c\", \"echo one >&2; echo two >&2; exec sleep 1000\"]\n";
    configure(&scratch, &(program("io", &scratch) + hung));
    // A busy machine needs longer, so the wait doubles.
    let waits = (0..9).map(|power| format!("{}ms", 100 << power));
    let lists = waits.map(|wait| haft(&scratch).args(["tool", "list", "--wait", &wait]).run().status(0));
    let mut lists = lists.skip_while(|list| {
        !list.output_text().contains("io.echo")
            || !list.error_text().contains("has not answered yet:\none\ntwo\n")
    });
    let list = lists.next().expect("a list with the remembered tools and the last lines of the server");
    list.stderr_has("no answer: hung: the MCP server 'hung' (`sh ").stderr_has("hint: `--wait TIME`");
    assert_eq!(noticed(&scratch, "io").matches("hello haft").count(), 1, "the remembered list is used");
    let json = haft(&scratch).args(["tool", "list", "--wait", "100ms", "--json"]).run().status(0).json();
    assert_eq!(
        (&json["complete"], &json["rejected"][0]["unanswered"]),
        (&json!(false), &json!(true)),
        "{json}"
    );
}

#[test]
fn the_tools_of_ten_servers_are_listed_and_remembered() {
    let names: Vec<String> = (0..10).map(|number| format!("server{number}")).collect();
    let scratch = with_stand_ins(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let list = || haft(&scratch).args(["tool", "list", "--wait", "2m"]).run().status(0).output_text();
    let first = list();
    assert!(names.iter().all(|name| first.contains(&format!("{name}.echo"))), "{first}");
    assert_eq!(list(), first);
    let started = |name: &String| noticed(&scratch, name).matches("hello haft").count();
    assert!(names.iter().all(|name| started(name) == 1), "the second list needs no server");
}

#[test]
fn the_tools_of_a_server_are_remembered() {
    let scratch = with_stand_ins(&["io"]);
    let hellos = || noticed(&scratch, "io").matches("hello haft").count();
    let list = || haft(&scratch).args(["tool", "list"]).run().status(0).output_text();
    let first = list();
    assert!(first.contains("io.echo"), "{first}");
    assert_eq!((list(), hellos()), (first.clone(), 1), "the second list needs no server");
    haft(&scratch).args(["tool", "call", "io.echo", "text=x"]).run().status(0).stdout("x\n");
    assert_eq!(hellos(), 2);
    haft(&scratch).args(["tool", "refresh"]).run().status(0);
    assert_eq!(hellos(), 3);
    configure(&scratch, &(program("io", &scratch) + "env = { A = \"1\" }\n"));
    assert_eq!((list(), hellos()), (first, 4), "another configuration is another server");
}

#[test]
fn names_titles_annotations_and_images_pass_through() {
    let mut client = Client::configured(with_stand_ins(&["io"]));
    let listed = listed_with(&mut client, "io__picture");
    let tools = listed.as_array().unwrap();
    let valid = |name: &str| {
        name.len() <= 64 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
    };
    let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert!(names.iter().all(|name| valid(name)), "{names:?}");
    let odd = (*names.iter().find(|name| name.starts_with("io__odd_n_me_x")).unwrap()).to_owned();
    assert_eq!(client.call(&odd, json!({})).0["result"]["content"][0]["text"], "odd");
    let picture = tools.iter().find(|tool| tool["name"] == "io__picture").unwrap();
    assert_eq!(
        (&picture["title"], &picture["annotations"]["readOnlyHint"]),
        (&json!("A picture"), &json!(true))
    );
    let shown = client.call("io__picture", json!({})).0["result"].clone();
    let content = &shown["content"];
    assert_eq!((&content[0]["type"], &content[0]["data"]), (&json!("image"), &json!("aGk=")), "{shown}");
    assert_eq!(content[1]["mimeType"], "audio/wav");
}

#[test]
fn output_schemas_are_listed_where_clients_receive_data() {
    let mut client = Client::configured(with_stand_ins(&["io"]));
    let listed = listed_with(&mut client, "io__add");
    let schema = |name: &str| {
        let tool = listed.as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap();
        tool["outputSchema"].clone()
    };
    assert_eq!(schema("io__add")["additionalProperties"], json!(false));
    assert_eq!(schema("io__echo"), json!(null));
    let added = client.call("io__add", json!({ "a": 1, "b": 2 })).0["result"].clone();
    assert_eq!(
        added["structuredContent"],
        json!({ "sum": 3 }),
        "nothing is added to what the schema describes"
    );

    let mut client = Client::start(with_stand_ins(&["io"]), &["--detail", "text"], &[]);
    client.introduce("2025-06-18", json!({}));
    let listed = listed_with(&mut client, "io__add").to_string();
    assert!(!listed.contains("outputSchema"), "{listed}");
}

#[test]
fn large_integers_stay_exact() {
    let scratch = with_stand_ins(&["io"]);
    let script = "tool io.add a=123456789012345678901234567890 b=1; \
                  tool io.add '{\"a\": -98765432109876543210, \"b\": 0}'; \
                  tool io.same value={\"n\": [123456789012345678901234567890, 1.50]}";
    let told = haft(&scratch).args(["-c", script]).run().status(0);
    told.stdout(
        "{\"sum\":123456789012345678901234567891}\n{\"sum\":-98765432109876543210}\n\
         {\"value\":{\"n\":[123456789012345678901234567890,1.5]}}\n",
    );
    let mut client = Client::configured(scratch);
    let given = exact::parse("{\"a\": 123456789012345678901234567890, \"b\": 1}").unwrap();
    let call = json!({ "jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": { "name": "io__add", "arguments": given } });
    client.write(&format!("{}\n", exact::to_text(&call)));
    let result = client.answer(77)["result"].clone();
    assert_eq!(exact::to_text(&result["structuredContent"]), "{\"sum\":123456789012345678901234567891}");
    assert_eq!(result["content"][0]["text"], "{\"sum\":123456789012345678901234567891}");
}
