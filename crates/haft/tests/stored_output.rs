//! `haft output`: outputs of `--json` runs, read by later processes.

use std::os::unix::fs::PermissionsExt as _;

use haft_test_support::{Haft, Scratch};
use serde_json::Value;

struct User(Scratch);

impl User {
    fn new() -> User {
        User(Scratch::new())
    }

    fn haft(&self) -> Haft {
        let call = Haft::new(env!("CARGO_BIN_EXE_haft")).env("XDG_CACHE_HOME", self.0.path());
        call.temporary(self.0.path())
    }

    fn run(&self, options: &[&str], script: &str) -> Value {
        self.haft().args(["run", "--json"]).args(options).args(["-c", script]).run().json()
    }

    fn output(&self, id: &str, view: &[&str]) -> haft_test_support::FinishedHaft {
        self.haft().args(["output", id]).args(view).run().status(0)
    }
}

fn id(result: &Value, stream: &str) -> String {
    result[stream]["id"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn an_id_of_a_run_is_read_byte_by_byte_by_another_process() {
    let user = User::new();
    let result = user.run(&[], r"printf 'a\377b\n\0c'; echo error >&2");
    assert_eq!(result["stdout"]["lossy"], true);
    user.output(&id(&result, "stdout"), &["--raw"]).stdout(b"a\xffb\n\0c");
    user.output(&id(&result, "stderr"), &[]).stdout("error\n");
    let result = user.haft().args(["spawn", "--json", "--merge", "--", "echo", "both"]).run().json();
    user.output(&id(&result, "output"), &[]).stdout("both\n");
}

#[test]
fn an_output_cut_in_the_result_is_whole_by_its_id_and_in_every_view() {
    let user = User::new();
    let result = user.run(&["--limit-output", "1k"], "seq 100000");
    assert_eq!(result["stdout"]["truncated"], true);
    let id = id(&result, "stdout");
    let whole: String = (1..=100_000).map(|number| format!("{number}\n")).collect();
    user.output(&id, &["--raw"]).stdout(&whole);
    user.output(&id, &[]).stdout(&whole);
    user.output(&id, &["--head", "2"]).stdout("1\n2\n");
    user.output(&id, &["--tail", "1"]).stdout("100000\n");
    user.output(&id, &["--lines", "50000-50001"]).stdout("50000\n50001\n");
    user.output(&id, &["--bytes", "2-6"]).stdout("2\n3\n");
    user.output(&id, &["--grep", "^7777.$", "--context", "0"])
        .stdout((77_770..77_780).map(|number| format!("{number}:{number}\n")).collect::<String>());
    let call = user.haft().args(["tool", "call", "output", &format!("id={id}"), "tail=1"]).run().json();
    assert_eq!(call["text"], "100000\n", "the tool reads the same store: {call}");
}

#[test]
fn bytes_above_the_cap_have_a_mark_in_their_place() {
    let user = User::new();
    let result = user.run(&["--output-cap", "200k"], "seq 100000");
    let missing = result["stdout"]["omitted"]["lost_bytes"].as_u64().expect("a gap");
    let mark = format!("[… {missing} bytes not kept …]\n");
    assert!(result["stdout"]["text"].as_str().unwrap().contains(&mark), "{mark}");
    let id = id(&result, "stdout");
    for view in [&[][..], &["--raw"]] {
        let shown = user.output(&id, view);
        let text = shown.output_text();
        assert!(text.starts_with("1\n2\n") && text.contains(&mark) && text.ends_with("99999\n100000\n"));
        let kept = text.len() - mark.len();
        assert!(kept as u64 + missing - 588_895 <= 2, "{kept} and {missing}");
    }
    user.output(&id, &["--raw"]).stderr_has(&format!("{missing} of 588895 bytes were not kept"));
    user.output(&id, &["--tail", "1"]).stdout("100000\n");
    let small = user.run(&["--output-cap", "100"], "seq 1000");
    assert!(small["stdout"]["text"].as_str().unwrap().contains("bytes not kept"), "{small}");
    let whole = user.run(&["--output-cap", "1G"], "seq 1000");
    assert_eq!(whole["stdout"]["truncated"], false);
}

#[test]
fn outputs_are_listed_private_and_expire() {
    let user = User::new();
    let kept = id(&user.run(&[], "echo kept"), "stdout");
    let gone = id(&user.run(&["--keep-output", "0"], "echo gone"), "stdout");
    let over = id(&user.run(&["--keep-output", "1s"], "echo over"), "stdout");
    let list = || user.haft().arg("output").run().status(0).output_text();
    let listed = list();
    assert!(listed.contains(&kept) && listed.contains("echo kept") && !listed.contains(&gone), "{listed}");
    let directory = user.0.file("haft/outputs");
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&directory), mode(&directory.join(&kept))), (0o700, 0o600));
    assert!(haft_test_support::eventually(std::time::Duration::from_secs(20), || !list().contains(&over)));
    user.haft().args(["output", &over]).run().status(1).stderr_has("unknown output");
    let _ = user.run(&[], "echo next");
    assert!(!directory.join(&over).exists() && directory.join(&kept).exists());
    user.haft().args(["output", "../../etc/passwd"]).run().status(1).stderr_has("unknown output");
}

#[test]
fn an_output_that_cannot_be_stored_is_named_as_such_in_the_result() {
    let user = User::new();
    std::fs::write(user.0.file("haft"), "in the way").unwrap();
    let result = user.run(&[], "echo text");
    assert_eq!(result["stdout"]["text"], "text\n");
    let id = id(&result, "stdout");
    match result["stdout"]["not_stored"].as_str() {
        Some(reason) => assert!(!reason.is_empty()),
        None => drop(user.output(&id, &[]).stdout("text\n")),
    }
}

#[test]
fn a_limited_output_has_a_mark_where_it_is_cut() {
    let user = User::new();
    let call = user.haft().args(["run", "--limit-output", "20", "-c", "seq 1000"]).run().status(0);
    let text = call.output_text();
    assert!(text.contains("\n[… 3873 bytes left out …]\n"), "{text}");
    call.stderr_has("3873 of 3893 bytes of output left out by --limit-output");
}
