//! `scatter on=ssh:…`: items run on other machines as they run here.

mod cases;
mod hosts;

use std::collections::BTreeSet;
use std::path::Path;

use haft_test_support::{Marker, child, eventually};
use hosts::{Hosts, LONG};
use serde_json::Value;

/// The records of an output, without what differs between runs and machines.
fn comparable(output: &str) -> String {
    let strip = |line: &str| match serde_json::from_str::<Value>(line) {
        Ok(Value::Object(mut record)) => {
            record.remove("node");
            record.remove("duration");
            Value::Object(record).to_string()
        }
        _ => line.to_owned(),
    };
    output.lines().map(strip).collect::<Vec<_>>().join("\n")
}

/// Runs each pipeline here and on hosts, and compares the results.
fn compare(cases: &[&str]) {
    let Some(hosts) = Hosts::set_up() else { return };
    for case in cases {
        let run = |on: &str| {
            let ended = hosts.haft(&case.replace("ON", on)).run();
            (ended.code(), comparable(&ended.output_text()), ended.error_text())
        };
        assert_eq!(run("on=ssh:one=2,two=2"), run("on=local"), "{case}");
    }
}

#[test]
fn stages_and_items_give_the_same_records_on_hosts() {
    compare(cases::STAGES);
}

#[test]
fn variables_and_functions_travel() {
    compare(cases::VARIABLES);
}

#[test]
fn options_and_messages_travel() {
    compare(cases::OPTIONS);
}

#[test]
fn failures_retries_and_timeouts_are_the_same_on_hosts() {
    compare(cases::FAILURES);
}

#[test]
fn a_record_names_the_machine_and_the_log_too() {
    let Some(hosts) = Hosts::set_up() else { return };
    let ended =
        hosts.haft("seq 2 | scatter on=ssh:one | cat | gather joblog=log; cut -f 2 log").run().status(0);
    let node = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let text = ended.output_text();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[..2].iter().all(|line| line.contains(&format!("\"node\":\"{node}\""))), "{text}");
    assert_eq!(lines[2..], ["Host", &node, &node]);
}

#[test]
fn secrets_and_variables_of_the_machine_stay_behind() {
    let Some(hosts) = Hosts::set_up() else { return };
    let script = "export API_TOKEN=opensesame12 PLAIN=1; \
                  seq 1 | scatter on=ssh:one | echo \"<$API_TOKEN> $PLAIN ${HOME##*/}\" | gather -t";
    hosts.haft(script).env("HOME", hosts.scratch().path()).run().status(0).stdout("<> 1 home-one\n");
}

#[test]
fn what_cannot_travel_is_refused_by_name_before_anything_starts() {
    let Some(hosts) = Hosts::set_up() else { return };
    let pipeline = "seq 2 | scatter on=ssh:one | cat | gather";
    for (before, problem) in [
        ("exec 7>/dev/null", "cannot travel to another machine: the open file descriptor 7\n"),
        ("sleep 100 &", "cannot travel to another machine: the running job 'sleep 100 &'\n"),
        ("coproc cat", "cannot travel to another machine: the open file descriptor"),
    ] {
        let ended = hosts.haft(&format!("{before}\n{pipeline}; echo $?; kill %1 2>/dev/null; exit 0")).run();
        ended.status(0).stdout("1\n").stderr_has(problem);
    }
    assert!(!hosts.scratch().file("pids-one").exists(), "a host was connected to");
}

#[test]
fn hosts_that_cannot_be_used_are_named() {
    let Some(hosts) = Hosts::set_up() else { return };
    let some = hosts
        .haft("seq 3 | scatter on=ssh:nowhere,one | cat | gather -t")
        .run()
        .status(0)
        .stdout("1\n2\n3\n");
    assert!(some.error_text().contains("scatter: host 'nowhere': "), "{}", some.error_text());
    let none = hosts.haft("seq 3 | scatter on=ssh:nowhere | cat | gather -t").run().status(1).stdout("");
    let _ = none.stderr_has("scatter: no host is left; the remaining items did not run");
    for (on, problem) in [
        ("ssh:", "scatter: --on ssh: the name of a host is missing"),
        ("ssh:@none", "scatter: cannot read 'none': No such file or directory"),
        ("moon", "scatter: invalid value 'moon' for 'on'"),
    ] {
        let ended = hosts.haft(&format!("seq 3 | scatter on={on} | cat | gather")).run();
        assert!(ended.code() != Some(0), "{on}");
        let _ = ended.stderr_has(problem);
    }
}

#[test]
fn hosts_can_come_from_a_file_with_comments() {
    let Some(hosts) = Hosts::set_up() else { return };
    let script = "printf '%s\\n' '# mine' 'one 2' 'two=1' > hosts; \
                  seq 8 | scatter on=ssh:@hosts | { sleep 0.2; echo ${HOME##*/}; } | gather -t | sort -u";
    hosts.haft(script).run().status(0).stdout("home-one\nhome-two\n");
}

#[test]
fn haft_is_copied_once_to_a_host_without_it() {
    let Some(hosts) = Hosts::set_up() else { return };
    let refused = hosts.haft("seq 2 | scatter on=ssh:bare | cat | gather -t").run().status(1).stdout("");
    let _ = refused.stderr_has("was not found there; '--bootstrap' copies it");
    for _ in 0..2 {
        let ended = hosts.haft("seq 2 | scatter on=ssh:bare --bootstrap | cat | gather -t").run();
        let ended = ended.within(LONG).status(0).stdout("1\n2\n");
        assert!(hosts.has_copy("bare"), "{}", ended.error_text());
    }
}

#[test]
fn every_item_has_one_record_although_connections_are_cut() {
    let Some(hosts) = Hosts::set_up() else { return };
    // The last items wait, so that the fan-out cannot end before the connections are cut.
    let item = "echo >> started-${HOME##*/}; while [ $ITEM -gt 30 ] && [ ! -e go ]; do sleep 0.05; done; \
                echo $ITEM; exit $((ITEM % 20 == 0))";
    let running =
        hosts.haft(&format!("seq 60 | scatter on=ssh:one=3,two=3 | {{ {item}; }} | gather")).start();
    for host in ["one", "two"] {
        hosts.scratch().await_lines(&format!("started-home-{host}"), 3);
        hosts.cut(host);
    }
    hosts.scratch().touch("go");
    let ended = running.finish().within(LONG).status(123);
    let records: Vec<Value> =
        ended.output_text().lines().map(|line| serde_json::from_str(line).expect("a record")).collect();
    let items: Vec<String> =
        records.iter().map(|record| record["item"].as_str().unwrap_or("").to_owned()).collect();
    assert_eq!(items, (1..=60).map(|item| item.to_string()).collect::<Vec<_>>(), "{}", ended.error_text());
    let failed = records.iter().filter(|record| record["status"] != 0).count();
    assert_eq!(failed, 3, "{}", ended.error_text());
    assert!(hosts.connections("one") + hosts.connections("two") > 2, "{}", ended.error_text());
}

/// Starts items that leave processes behind, and returns when six of them run.
fn start_trees(hosts: &Hosts, marker: &Marker) -> haft_test_support::RunningHaft {
    let words = format!("{} pause {} ready", child(), marker.as_str());
    let script =
        format!("seq 9 | scatter on=ssh:one=1,two=1 | {{ {words} & setsid {words} & {words}; }} | gather");
    let running = hosts.haft(&script).start();
    assert!(eventually(LONG, || marker.count() >= 6), "{} processes run", marker.count());
    running
}

#[test]
fn a_cancelled_fan_out_leaves_no_process_on_any_host() {
    let Some(hosts) = Hosts::set_up() else { return };
    let marker = Marker::new();
    let running = start_trees(&hosts, &marker);
    running.signal(15);
    let _ = running.finish().within(LONG).status(130);
    assert!(eventually(LONG, || marker.count() == 0), "left: {:?}", marker.pids());
}

#[test]
fn a_killed_submitter_leaves_no_process_on_any_host() {
    let Some(hosts) = Hosts::set_up() else { return };
    let marker = Marker::new();
    let running = start_trees(&hosts, &marker);
    running.signal(9);
    drop(running);
    assert!(eventually(LONG, || marker.count() == 0), "left: {:?}", marker.pids());
}

#[test]
fn a_killed_fan_out_is_resumed_without_running_finished_items_again() {
    let Some(hosts) = Hosts::set_up() else { return };
    let stages = "{ echo $ITEM >> ran; sleep 0.1; echo \"<$ITEM>\"; }";
    let running =
        hosts.haft(&format!("seq 30 | scatter on=ssh:one=2 resume=records | {stages} | gather")).start();
    hosts.scratch().await_lines("records", 8);
    running.signal(9);
    drop(running);
    let done: BTreeSet<String> = finished_items(&hosts.scratch().file("records"));
    assert!((7..30).contains(&done.len()), "{done:?}");
    std::fs::remove_file(hosts.scratch().file("ran")).expect("a list of items");
    // Another machine and another engine go on.
    let ended =
        hosts.haft(&format!("seq 30 | scatter on=ssh:two=2 resume=records | {stages} | gather -t")).run();
    let expected: String = (1..=30).map(|item| format!("<{item}>\n")).collect();
    let _ = ended.status(0).stdout(expected.as_str());
    let ran = std::fs::read_to_string(hosts.scratch().file("ran")).expect("a list of items");
    assert_eq!(ran.lines().count() + done.len(), 30);
    assert!(ran.lines().all(|item| !done.contains(item)), "{done:?} ran again: {ran}");
    let local = hosts.haft(&format!("seq 30 | scatter resume=records | {stages} | gather -t")).run();
    let _ = local.status(0).stdout(expected.as_str());
    let other =
        hosts.haft(&format!("seq 2 40 | scatter resume=records | {stages} | gather -t")).run().status(1);
    let _ = other.stderr_has("cannot use 'records': it belongs to other items: item 1 was '1' and is '2'");
}

/// The items that have a record in a file.
fn finished_items(path: &Path) -> BTreeSet<String> {
    let text = std::fs::read_to_string(path).expect("records");
    let complete = text.rsplit_once('\n').map_or("", |(complete, _)| complete);
    let records = complete.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).expect("a record"));
    records.map(|record| record["item"].as_str().expect("an item").to_owned()).collect()
}
