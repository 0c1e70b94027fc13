//! Records: what haft ran, and `haft log`.

mod home;
mod mcp;
mod replay;
#[cfg(feature = "telemetry")]
mod telemetry;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use haft_test_support::{Haft, eventually};
use serde_json::Value;

use self::home::{HAFT, Home};

const SOON: Duration = Duration::from_secs(40);

#[test]
fn scripts_and_programs_are_recorded_and_plain_shells_are_not() {
    let home = Home::new();
    home.run(&["-c", "echo not recorded"]).status(0);
    fs::write(home.0.file("script"), "true\n").expect("a file");
    home.run(&["script"]).status(0);
    assert!(!home.directory().exists(), "a plain shell writes no records");
    home.run(&["run", "-c", "printf abc | cat; exit 3", "name", "argument"]).status(3);
    home.run(&["spawn", "--", "/bin/sh", "-c", "exit 4"]).status(4);
    home.run(&["spawn", "--", "/nonexistent/program"]).status(127);
    home.run(&["run", "-c", "if"]).status(2);
    let runs = home.runs(&[]);
    let facts: Vec<_> =
        runs.iter().map(|run| (run["text"].as_str().unwrap_or(""), run["code"].as_i64())).collect();
    assert_eq!(
        facts,
        [
            ("printf abc | cat; exit 3 name argument", Some(3)),
            ("/bin/sh -c exit 4", Some(4)),
            ("/nonexistent/program", Some(127)),
            ("if", Some(2)),
        ]
    );
    let detail = home.log(&["show", runs[0]["id"].as_str().expect("an id")]);
    assert_eq!(detail["start"]["cwd"], home.0.path().canonicalize().expect("a path").display().to_string());
    assert_eq!(detail["start"]["session"], "cli");
    let stage = &detail["stages"][0];
    assert_eq!(
        (&stage["argv"][1], &stage["code"], &stage["pipeline"]),
        (&"abc".into(), &0.into(), &0.into())
    );
    assert_eq!(detail["stages"].as_array().map(Vec::len), Some(3));
    assert_eq!(detail["end"]["tree"]["survivors"], 0);
    let text = home.run(&["log", "show", runs[0]["id"].as_str().expect("an id")]).status(0).output_text();
    assert!(text.contains("status     exit 3\n") && text.contains("    0  printf abc  [exit 0"), "{text}");
}

#[test]
fn the_id_in_the_result_finds_the_record_and_its_outputs() {
    let home = Home::new();
    let result = home.run(&["run", "--json", "-c", "seq 3"]).status(0).json();
    let detail = home.log(&["show", result["id"].as_str().expect("an id")]);
    assert_eq!(detail["end"]["outputs"][0]["id"], result["stdout"]["id"]);
    assert_eq!(detail["end"]["outputs"][0]["bytes"], 6);
    home.run(&["output", detail["end"]["outputs"][0]["id"].as_str().expect("an id")])
        .status(0)
        .stdout("1\n2\n3\n");
    home.run(&["log", "show", "run-none"]).status(1).stderr_has("unknown run 'run-none'");
}

#[test]
fn runs_are_filtered_and_added_up() {
    let home = Home::new();
    home.run(&["run", "-c", "true one"]).status(0);
    home.haft(&["run", "-c", "false two"])
        .env("HAFT_SESSION", "mine")
        .env("HAFT_AGENT", "claude")
        .run()
        .status(1);
    let texts = |words: &[&str]| -> Vec<String> {
        home.runs(words).iter().map(|run| run["text"].as_str().unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(texts(&["--failed"]), ["false two"]);
    assert_eq!(texts(&["--session", "mine"]), ["false two"]);
    assert_eq!(texts(&["--agent", "claude"]), ["false two"]);
    assert_eq!(texts(&["--grep", "^true"]), ["true one"]);
    assert_eq!(texts(&["--since", "1h", "--limit", "1"]), ["false two"]);
    assert_eq!(home.log(&["--limit", "1"])["omitted"], 1);
    home.run(&["log", "--grep", "("]).status(2);
    let sums = home.log(&["stats"]);
    assert_eq!((&sums["total"]["count"], &sums["total"]["failed"]), (&2.into(), &1.into()));
    let programs: Vec<_> =
        sums["programs"].as_array().expect("a list").iter().map(|row| &row["name"]).collect();
    assert_eq!(programs, ["false", "true"]);
    let text = home.run(&["log", "--failed"]).status(0).output_text();
    assert!(text.ends_with("  claude  false two\n") && text.contains("  exit 1 "), "{text}");
    home.run(&["log", "stats"]).status(0);
}

#[test]
fn a_killed_haft_leaves_a_lost_run_and_a_valid_journal() {
    let home = Home::new();
    let running = home.haft(&["run", "-c", "true first; read -t 60 < <(sleep 60)"]).start();
    let has_stage = || home.all().contains(r#""argv":["true","first"]"#);
    assert!(eventually(SOON, has_stage), "the first stage is written while the script runs");
    assert_eq!(home.runs(&[])[0]["state"], "running");
    running.signal(9);
    let _ = running.finish();
    let runs = home.runs(&["--failed"]);
    assert_eq!((runs.len(), &runs[0]["state"], &runs[0]["stages"]), (1, &"lost".into(), &1.into()));
    home.run(&["log", "verify"]).status(0);
    home.run(&["run", "-c", "true second"]).status(0);
    home.run(&["log", "verify"]).status(0);
    assert_eq!(home.runs(&[]).len(), 2);
}

#[test]
fn running_runs_are_listed_as_a_tree_and_can_be_ended() {
    let home = Home::new();
    home.run(&["ps"]).status(0).stdout("");
    let inner = format!("{HAFT} run -c 'sleep 61; true inner'; true outer");
    let running = home.haft(&["run", "-c", &inner]).start();
    let list = || home.run(&["ps", "--json"]).status(0).json()["runs"].as_array().expect("a list").clone();
    let has_sleep = || {
        list().iter().any(|run| run["text"] == "sleep 61; true inner" && run["pids"] != Value::Array(vec![]))
    };
    assert!(eventually(SOON, has_sleep), "{:?}", list());
    let runs = list();
    assert_eq!(
        (runs.len(), &runs[0]["text"], &runs[1]["parent"]),
        (2, &inner.as_str().into(), &runs[0]["id"])
    );
    let text = home.run(&["ps"]).status(0).output_text();
    assert!(text.contains("  -    sleep 61; true inner\n"), "{text}");
    home.run(&["kill", runs[1]["id"].as_str().expect("an id")]).status(0);
    let _ = running.finish().status(0);
    home.run(&["ps"]).status(0).stdout("");
    home.run(&["kill", runs[1]["id"].as_str().expect("an id")]).status(1).stderr_has("has ended");
    let ended = home.runs(&["--grep", "^sleep"]);
    assert_eq!((ended.len(), &ended[0]["code"]), (1, &130.into()));
}

/// The first run that `haft ps` lists and that has a last line of output.
fn run_with_output(home: &Home) -> Value {
    let find = || {
        let list = home.run(&["ps", "--json"]).status(0).json();
        list["runs"].as_array().expect("a list").iter().find(|run| run["last_line"].is_string()).cloned()
    };
    assert!(eventually(SOON, || find().is_some()), "no run has output");
    find().expect("a run")
}

#[test]
fn attach_shows_the_output_so_far_and_the_rest_and_returns_the_status_of_the_run() {
    let home = Home::new();
    let script = "echo first; echo error >&2; until [ -e go ]; do sleep 0.05; done; echo last; exit 3";
    let running = home.haft(&["run", "--json", "-c", script]).start();
    let run = run_with_output(&home);
    assert!(["first", "error"].contains(&run["last_line"].as_str().expect("a line")), "{run}");
    let shown = home.0.file("shown");
    let attach = home.haft(&["attach", run["id"].as_str().expect("an id")]);
    let attached = attach.stdout_to(fs::File::create(&shown).expect("a file")).start();
    let text = || fs::read_to_string(&shown).expect("text");
    assert!(eventually(SOON, || text() == "first\n"), "{}", text());
    fs::write(home.0.file("go"), "").expect("a file");
    attached.finish().status(3).stderr("error\n");
    assert_eq!(text(), "first\nlast\n");
    let _ = running.finish().status(3);
    home.run(&["attach", run["id"].as_str().expect("an id")]).status(1).stderr_has("has ended");
}

#[test]
fn attach_types_input_on_the_terminal_of_a_run() {
    let home = Home::new();
    let script = "printf 'name? '; read -r name; echo \"hello $name\"";
    // Input that stays open, but has nothing to read.
    let open = "mkfifo input; exec 3<> input; exec \"$0\" run --pty=80x24 -c \"$1\" <&3";
    let running = home.dressed(Haft::by(["bash", "-c", open, HAFT, script])).start();
    let run = run_with_output(&home);
    let id = run["id"].as_str().expect("an id");
    let waits = || {
        let list = home.run(&["ps", "--json"]).status(0).json();
        list["runs"][0]["waits_for_input"] == true
    };
    assert!(eventually(SOON, waits), "the run waits for input");
    let attached = home.haft(&["attach", id, "--input"]).input("world\n").run().status(0);
    assert!(attached.output_text().contains("hello world"), "{attached}");
    let _ = running.finish().status(0);
}

#[test]
fn output_that_is_not_captured_cannot_be_attached_to() {
    let home = Home::new();
    let running = home.haft(&["run", "-c", "read -t 60 < <(sleep 60)"]).start();
    let list = || home.run(&["ps", "--json"]).status(0).json()["runs"].as_array().expect("a list").clone();
    assert!(eventually(SOON, || list().len() == 1));
    let id = list()[0]["id"].as_str().expect("an id").to_owned();
    home.run(&["attach", &id]).status(1).stderr_has("hint: only output that haft captures can be shown");
    home.run(&["kill", &id]).status(0);
    let _ = running.finish();
}

#[test]
fn kill_ends_one_script_of_an_mcp_server() {
    let home = Home::new();
    let initialize = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"tester","version":"1"}}}"#;
    let call = |id: u32, script: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"run","arguments":{{"script":"{script}"}}}}}}"#
        )
    };
    let messages = [
        initialize.to_owned(),
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned(),
        call(2, "echo started; sleep 1000"),
    ];
    let pipe = home.0.file("requests");
    let script = "mkfifo \"$2\"; \"$0\" mcp < \"$2\" > replies & exec 3> \"$2\"; printf '%s\\n' \"$1\" >&3; \
                  until [ -e done ]; do sleep 0.05; done; printf '%s\\n' \"$3\" >&3; exec 3>&-; wait";
    let words = [
        std::ffi::OsString::from("bash"),
        "-c".into(),
        script.into(),
        HAFT.into(),
        messages.join("\n").into(),
        pipe.into(),
        call(3, "echo still here").into(),
    ];
    let server = home.dressed(Haft::by(words)).start();
    let run = run_with_output(&home);
    assert_eq!((&run["agent"], &run["last_line"]), (&"tester".into(), &"started".into()));
    home.run(&["kill", run["id"].as_str().expect("an id")]).status(0);
    fs::write(home.0.file("done"), "").expect("a file");
    let _ = server.finish();
    let replies = fs::read_to_string(home.0.file("replies")).expect("replies");
    assert!(replies.contains("still here"), "{replies}");
    assert!(home.runs(&["--grep", "^echo started"])[0]["code"] != 0);
}

#[test]
fn watch_serves_a_page_until_it_is_interrupted() {
    use std::io::{Read as _, Write as _};

    let home = Home::new();
    let printed = home.0.file("address");
    let watch = home.haft(&["watch"]).stdout_to(fs::File::create(&printed).expect("a file")).start();
    let address = || fs::read_to_string(&printed).unwrap_or_default();
    assert!(eventually(SOON, || address().ends_with('\n')), "an address is printed");
    let address = address();
    let (host, query) =
        address.trim().strip_prefix("http://").and_then(|rest| rest.split_once('/')).expect("a URL");
    let mut stream = std::net::TcpStream::connect(host).expect("a connection");
    write!(stream, "GET /{query} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").expect("a request");
    let mut reply = String::new();
    stream.read_to_string(&mut reply).expect("a reply");
    assert!(reply.starts_with("HTTP/1.1 200") && reply.contains("set-cookie: haft-watch-"), "{reply}");
    let port = host.rsplit(':').next().expect("a port");
    home.run(&["watch", "--port", port]).status(1).stderr_has("cannot serve the page on port");
    watch.signal(2);
    let _ = watch.finish().status(0);
}

#[test]
fn a_changed_record_is_found() {
    let home = Home::new();
    for number in 0..3 {
        home.run(&["run", "-c", &format!("true {number}")]).status(0);
    }
    home.run(&["log", "verify"]).status(0);
    let [path] = home.journals().try_into().expect("one file");
    let text = fs::read_to_string(&path).expect("text");
    fs::write(&path, text.replace("true 1", "true 7")).expect("written");
    let run = home.run(&["log", "verify"]).status(1);
    assert!(run.output_text().contains("the line before it was changed, removed or moved"), "{run}");
}

#[test]
fn two_writers_at_once_use_two_files() {
    let home = Home::new();
    let script = "for n in 1 2 3 4 5 6 7 8; do \"$0\" run -c \"true $n\" & done; wait";
    home.dressed(Haft::by(["bash", "-c", script, HAFT])).run().status(0);
    home.run(&["log", "verify"]).status(0);
    assert_eq!(home.runs(&[]).len(), 8);
    for path in home.journals() {
        assert_eq!(fs::metadata(&path).expect("a file").permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn secrets_are_masked_in_every_field() {
    let home = Home::with_config("[records]\nredact = ['acme-[0-9]+']\n");
    let secret = "canary-0123456789";
    let directory = home.0.file(&format!("in-{secret}"));
    fs::create_dir(&directory).expect("a directory");
    let call = |words: &[&str]| {
        home.haft(words)
            .env("API_TOKEN", secret)
            .env("HAFT_AGENT", secret)
            .env("HAFT_SESSION", secret)
            .env("HAFT_RUN", secret)
            .directory(&directory)
            .run()
    };
    call(&[
        "run",
        "-c",
        &format!("/bin/echo {secret} acme-77; : http://u:hidden-pass@h/?token=hidden-key"),
        secret,
    ]);
    call(&["run", "--env", "OTHER_KEY=given-0123456789", "-c", "/bin/echo given-0123456789"]);
    call(&["run", "--overlay", "--json", "-c", &format!("echo x > {secret}")]);
    call(&["spawn", "--", "/bin/echo", secret]);
    call(&["spawn", "--", &format!("/nonexistent/{secret}")]);
    call(&["tool", "call", "file_read", &format!("path=/nonexistent/{secret}")]);
    call(&["tool", "call", secret, &format!("{secret}={secret}")]);
    call(&["launch", "--role", secret, secret]);
    let all = home.all();
    for hidden in [secret, "hidden-pass", "hidden-key", "acme-77", "given-0123456789"] {
        assert!(!all.contains(hidden), "'{hidden}' in {all}");
    }
    assert!(all.contains("[API_TOKEN]") && all.contains("[OTHER_KEY]"), "{all}");
    let names: Vec<_> = fs::read_dir(home.directory()).expect("a directory").flatten().collect();
    assert!(names.iter().all(|file| !file.file_name().to_string_lossy().contains(secret)), "{names:?}");
}

#[test]
fn the_configuration_switches_records_off() {
    let home = Home::with_config("[records]\nenabled = false\n");
    home.run(&["run", "-c", "true"]).status(0).stderr("");
    assert!(!home.directory().exists());
    let wrong = Home::with_config("[records]\nredact = ['(']\n");
    wrong.run(&["run", "-c", "true"]).status(0).stderr_has("nothing is recorded");
    assert!(!wrong.directory().exists(), "nothing is written that could contain a secret");
    let unit = Home::with_config("[records]\nmax_age = '3 parsecs'\n");
    unit.run(&["run", "-c", "true"]).status(0).stderr_has("unknown time unit 'parsecs'");
}

#[test]
fn old_records_are_pruned_by_size() {
    let home = Home::with_config("[records]\nmax_size = '1M'\n");
    let script = format!(": {}", "x".repeat(12_000));
    // A file is full at 64 KiB, and each run adds about 17 KiB.
    for _ in 0..90 {
        home.run(&["run", "-c", &script]).status(0);
    }
    let sizes =
        home.journals().iter().map(|path| fs::metadata(path).expect("a file").len()).collect::<Vec<_>>();
    assert!(sizes.iter().sum::<u64>() < 1_200_000 && sizes.len() > 3, "{sizes:?}");
    home.run(&["log", "verify"]).status(0);
}

#[test]
fn a_run_goes_on_when_the_disk_is_full() {
    let home = Home::new();
    home.run(&["run", "-c", "true before"]).status(0);
    let long = format!("echo out; : {}; exit 5", "x".repeat(3000));
    let shell = format!("ulimit -f 2; exec \"$0\" run -c '{long}'");
    let run = home.dressed(Haft::by(["bash", "-c", &shell, HAFT])).run().status(5);
    run.stdout("out\n").stderr_has("the record of this run is incomplete: file too large");
    home.run(&["run", "-c", "true after"]).status(0);
    let found = home.log(&["verify"]);
    assert_eq!(found["problems"].as_array().map(Vec::len), Some(0));
    let texts: Vec<_> = home.runs(&[]).iter().map(|run| run["text"].clone()).collect();
    assert!(texts.contains(&"true before".into()) && texts.contains(&"true after".into()), "{texts:?}");
}

#[test]
fn tool_calls_and_launches_are_recorded() {
    let home = Home::with_config("[[agent]]\nname = 'echo'\ncommand = ['{bin}', '{prompt}']\nbin = 'echo'\n");
    home.run(&["tool", "call", "file_write", "path=note", "content=text"]).status(0);
    home.haft(&["tool", "batch"])
        .input("{\"tool\": \"file_read\", \"arguments\": {\"path\": \"note\"}}\n")
        .run()
        .status(0);
    home.run(&["tool", "call", "unknown_tool"]).status(127);
    home.run(&["launch", "--agent", "echo", "hello"]).status(0).stdout("hello\n");
    home.run(&["launch", "--agent", "echo", "--supervised", "again"]).status(0);
    let runs = home.runs(&[]);
    let facts: Vec<_> = runs
        .iter()
        .map(|run| (run["kind"].as_str().unwrap_or(""), run["state"].as_str().unwrap_or("")))
        .collect();
    let expected =
        [("tool", "ended"), ("tool", "ended"), ("tool", "ended"), ("launch", "lost"), ("launch", "ended")];
    assert_eq!(facts, expected);
    assert_eq!(runs[0]["text"], r#"file_write {"path":"note","content":"text"}"#);
    assert_eq!((&runs[2]["code"], &runs[4]["agent"]), (&127.into(), &"echo".into()));
}
