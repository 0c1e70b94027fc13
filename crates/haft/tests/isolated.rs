//! Checks every row of the table in `docs/isolated.md`, and that an isolated run does not touch the machine.

use haft_test_support::{Haft, Scratch};

const TABLE: &str = include_str!("../../../docs/isolated.md");

/// The columns of a row, without backquotes.
fn columns(row: &str) -> Option<[String; 4]> {
    let marked = row.strip_prefix("| ")?.strip_suffix(" |")?.replace("\\|", "\u{1}");
    let columns: Vec<String> = marked.split(" | ").map(|column| column.replace('\u{1}', "|")).collect();
    columns.try_into().ok()
}

/// The subject, script and expected output of each row of the table.
fn rows() -> Vec<(String, String, String)> {
    let code = |column: &str| column.strip_prefix('`')?.strip_suffix('`').map(str::to_owned);
    let rows = TABLE.lines().filter_map(columns);
    rows.filter_map(|[what, _, script, output]| Some((what, code(&script)?, code(&output)?))).collect()
}

#[test]
fn an_isolated_run_cannot_reach_the_machine() {
    let rows = rows();
    assert!(rows.len() > 40, "only {} rows were read", rows.len());
    let scratch = Scratch::new();
    for (what, script, output) in rows {
        let Some(haft) = Haft::in_pid_namespace([env!("CARGO_BIN_EXE_haft")]) else { return };
        let haft = haft.temporary(scratch.path()).directory(scratch.path()).env("SECRET", "seen");
        let run = haft.args(["run", "--isolated", "--timeout", "60s", "-c", &script]).run();
        let lines: Vec<String> = run.output_text().lines().map(str::to_owned).collect();
        assert_eq!(lines.join(" "), output, "{what}: {script}\n{}", run.error_text());
    }
    let left: Vec<_> = scratch.listing().into_iter().filter(|path| !path.starts_with("haft-")).collect();
    assert_eq!(left, [""; 0], "files were made");
}

#[test]
fn an_isolated_session_sends_no_signals() {
    let caller = "sleep 300 & other=$!; \"$@\"; echo $?; kill -0 $other && echo alive";
    for (script, status) in
        [("kill -9 -1", 137), ("kill -9 0", 137), ("for ((i = 3; i < 99; i++)); do kill -9 $i -$i; done", 1)]
    {
        let words = ["bash", "-c", caller, "caller", env!("CARGO_BIN_EXE_haft")];
        let Some(haft) = Haft::in_pid_namespace(words) else { return };
        let run = haft.args(["run", "--isolated", "-c", script]).run();
        assert_eq!(run.output_text(), format!("{status}\nalive\n"), "{script}\n{}", run.error_text());
    }
}
