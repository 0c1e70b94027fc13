//! Many calls.

use haft_test_support::eventually;
use haft_test_support::process::{children, descriptors};
use serde_json::json;

use crate::client::Client;

#[test]
fn thousands_of_calls_leave_nothing_behind() {
    let mut client = Client::new();
    let scripts =
        ["true", "echo x", "x=$(echo y); echo $x", "seq 20000 | tail -n1", "/bin/true", "cat < /nowhere"];
    for script in scripts {
        client.run(script);
    }
    let pid = client.pid();
    let threads = || std::fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count);
    let files = client.scratch.listing().len();
    let (before, running) = (descriptors(pid), children(pid).len());
    for round in 0..2000 {
        client.call("run", json!({ "script": scripts[round % scripts.len()] }));
    }
    let same = || descriptors(pid) <= before + 2 && children(pid).len() <= running && threads() < 40;
    let soon = std::time::Duration::from_secs(20);
    assert!(
        eventually(soon, same),
        "descriptors {before} → {}, children {running} → {}, threads {}",
        descriptors(pid),
        children(pid).len(),
        threads()
    );
    assert!(client.scratch.listing().len() <= files + 300, "{:?}", client.scratch.listing());
    assert_eq!(client.leave(), Some(0));
}

#[test]
fn calls_wait_for_others_instead_of_failing() {
    let mut client = Client::new();
    // More calls than run at the same time, and more than the runtime has threads.
    let calls: Vec<u64> = (0..500)
        .map(|number| client.begin("run", json!({ "script": format!("sleep 0.02; echo {number}") })))
        .collect();
    for (number, id) in calls.into_iter().enumerate() {
        assert_eq!(client.answer(id)["result"]["structuredContent"]["stdout"]["text"], format!("{number}\n"));
    }
}
