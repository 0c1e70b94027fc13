//! Snapshots of diagnostics and plans: `tests/check_snapshots/NAME.sh` is the script, `NAME.check` and
//! `NAME.plan` are the outputs. `HAFT_BLESS=1` updates them.

use std::fs;
use std::path::Path;

use haft_lang::ast::LineIndex;
use haft_lang::check::check;
use haft_lang::plan::plan;
use haft_lang::{ParseOptions, Resolution, Resolver, Script, is_builtin};

/// A resolver that knows every program whose name does not start with `no-`.
struct MostPrograms;

impl Resolver for MostPrograms {
    fn resolve(&self, name: &[u8]) -> Resolution {
        if is_builtin(name) {
            Resolution::Builtin
        } else if name.starts_with(b"no-") {
            Resolution::Missing
        } else {
            Resolution::External(Path::new("/usr/bin").join(String::from_utf8_lossy(name).into_owned()))
        }
    }
}

fn compare(path: &Path, actual: &str) {
    if option_env!("HAFT_BLESS").is_some() {
        fs::write(path, actual).expect("the snapshot is written");
    }
    let expected = fs::read_to_string(path).unwrap_or_default();
    assert_eq!(actual, expected, "{} differs; HAFT_BLESS=1 cargo test updates it", path.display());
}

#[test]
fn diagnostics_and_plans_match_the_snapshots() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/check_snapshots");
    let mut scripts = 0;
    for path in fs::read_dir(&directory).expect("snapshots").flatten().map(|entry| entry.path()) {
        if path.extension().is_none_or(|extension| extension != "sh") {
            continue;
        }
        let source = fs::read(&path).expect("the script is read");
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let lines = LineIndex::new(&source);
        let found = check(&source, &ParseOptions::default(), &MostPrograms);
        let shown: String =
            found.iter().map(|diagnostic| diagnostic.render(&name, &source, &lines)).collect();
        compare(&path.with_extension("check"), &shown);
        let script = Script::parse(source.as_slice(), &ParseOptions::default());
        compare(&path.with_extension("plan"), &plan(&script.program(), &source, &MostPrograms).to_string());
        scripts += 1;
    }
    assert!(scripts > 3, "the snapshots exist");
}
