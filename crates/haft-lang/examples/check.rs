//! Checks a script and prints the problems. Exits with status 1 if there is an error.
//!
//! ```sh
//! cargo run -p haft-lang --example check -- script.sh
//! ```

use std::process::ExitCode;

use haft_lang::ast::LineIndex;
use haft_lang::check::{Severity, check};
use haft_lang::{BuiltinsOnly, ParseOptions};

fn main() -> std::io::Result<ExitCode> {
    let mut code = ExitCode::SUCCESS;
    for path in std::env::args().skip(1) {
        let (report, failed) = report(&path, &std::fs::read(&path)?);
        print!("{report}");
        if failed {
            code = ExitCode::FAILURE;
        }
    }
    Ok(code)
}

/// Returns all diagnostics as text, and whether one of them is an error.
pub(crate) fn report(name: &str, source: &[u8]) -> (String, bool) {
    // `BuiltinsOnly` knows no programs, so commands that do not exist are not reported.
    let found = check(source, &ParseOptions::default(), &BuiltinsOnly);
    let lines = LineIndex::new(source);
    let report = found.iter().map(|diagnostic| diagnostic.render(name, source, &lines)).collect();
    (report, found.iter().any(|diagnostic| diagnostic.severity == Severity::Error))
}
