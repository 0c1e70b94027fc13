//! Many background jobs of a plain shell at once.

use std::fmt::Write as _;
use std::time::Duration;

use haft_test_support::{Haft, Scratch, child};

const SOON: Duration = Duration::from_secs(120);

fn shell(script: &str) -> Haft {
    Haft::new(env!("CARGO_BIN_EXE_haft")).args(["-c", script])
}

/// Starts `count` programs that exit with 0 to 9 in turn, and remembers their pids.
fn starts(count: u32) -> String {
    format!("for ((i = 0; i < {count}; i++)); do {} exit $((i % 10)) & pids[i]=$!; done; ", child())
}

#[test]
fn every_one_of_many_jobs_keeps_its_exit_status() {
    let check = "for ((i = 0; i < 300; i++)); do wait ${pids[i]}; [ $? = $((i % 10)) ] || echo wrong $i; done; echo end";
    shell(&(starts(300) + check)).run().status(0).stdout("end\n").stderr("").within(SOON);
}

#[test]
fn jobs_keep_their_exit_statuses_without_free_descriptors() {
    let check = "for ((i = 0; i < 30; i++)); do wait ${pids[i]}; [ $? = $((i % 10)) ] || echo wrong $i; done; echo end";
    shell(&("ulimit -n 24; ".to_owned() + &starts(30) + check)).run().status(0).stdout("end\n").within(SOON);
}

#[test]
fn waiting_for_the_next_of_many_jobs_returns_each_status_once() {
    let check = "sum=0; while wait -n; s=$?; [ $s != 127 ]; do sum=$((sum + s)); done; echo $sum";
    shell(&(starts(100) + check)).run().status(0).stdout("450\n").within(SOON);
}

#[test]
fn programs_that_cannot_be_executed_in_the_background_have_the_status_of_bash() {
    let scratch = Scratch::new();
    let mut script =
        format!("cd {}; echo 'exit 5' > headless; chmod +x headless; echo > plain; ", scratch.text("."));
    for (name, _) in [("./missing", 127), ("./plain", 126), ("./headless", 5)] {
        let _ = write!(script, "{name} 2> /dev/null & wait $!; echo $?; {name} 2> /dev/null; echo $?; ");
    }
    shell(&script).run().status(0).stdout("127\n127\n126\n126\n5\n5\n").within(SOON);
}

#[test]
fn a_program_starts_in_the_renamed_directory_of_the_shell() {
    let scratch = Scratch::new();
    let script = "mv ../before ../after; /bin/pwd -P | sed s,.*/,,";
    let haft = env!("CARGO_BIN_EXE_haft");
    shell(&format!("cd {}; mkdir before; cd before; exec {haft} -c '{script}'", scratch.text(".")))
        .run()
        .status(0)
        .stdout("after\n")
        .within(SOON);
}
