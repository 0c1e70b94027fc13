//! Prints what a script would run, read, write and delete, without running it.
//!
//! ```sh
//! cargo run -p haft-lang --example plan -- script.sh
//! ```

use std::path::PathBuf;

use haft_lang::plan::plan;
use haft_lang::{ParseOptions, Resolution, Resolver, Script, is_builtin};

/// Looks up commands in the directories of `PATH`.
pub(crate) struct SearchPath(pub(crate) Vec<PathBuf>);

impl Resolver for SearchPath {
    fn resolve(&self, name: &[u8]) -> Resolution {
        if is_builtin(name) {
            return Resolution::Builtin;
        }
        let name = String::from_utf8_lossy(name).into_owned();
        let mut candidates = self.0.iter().map(|directory| directory.join(&name));
        candidates.find(|path| path.is_file()).map_or(Resolution::Missing, Resolution::External)
    }
}

#[expect(clippy::disallowed_methods, reason = "a program, not a library, reads the environment")]
fn main() -> std::io::Result<()> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let resolver = SearchPath(std::env::split_paths(&path).collect());
    for script in std::env::args().skip(1) {
        print!("{}", describe(&std::fs::read(script)?, &resolver));
    }
    Ok(())
}

/// Plans a script. Commands after a syntax error are not in the plan.
pub(crate) fn describe(source: &[u8], resolver: &dyn Resolver) -> String {
    let script = Script::parse(source, &ParseOptions::default());
    let plan = plan(&script.program(), source, resolver);
    match script.error() {
        Some(error) => format!("{plan}syntax error: {error}\n"),
        None => plan.to_string(),
    }
}
