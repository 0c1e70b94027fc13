//! Checks that the modules of the kernel import only from their own layer and the layers below.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The layers, the lowest first. ARCHITECTURE.md describes them. Patterns, globs, quoting, `printf` and arithmetic are below
/// all of them, in `haft-text`.
const LAYERS: &[(&str, &[&str])] = &[
    (
        "values",
        &[
            "flow",
            "shared",
            "options",
            "values",
            "signals",
            "traps",
            "io",
            "memory",
            "discard",
            "sys",
            "variables",
        ],
    ),
    ("state", &["kernel", "command", "jobs", "control", "session"]),
    ("expansion", &["expand"]),
    ("execution", &["execute"]),
    ("builtins", &["builtins"]),
    ("facade", &["fan", "run"]),
];

/// Imports against the order of the layers, with the reason. Remove an entry when the import is gone.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    (
        "session",
        "execute",
        "caches a compiled regex, holds the pipe of a substitution, names targets for completion",
    ),
    ("session", "builtins", "assignments of `declare` are a type of the builtins; completion lists builtins"),
    ("session", "run", "holds the supervision of the run it is in"),
    ("jobs", "run", "a job remembers the run it was started in"),
    ("control", "execute", "a foreground job starts programs and threads itself"),
    ("command", "builtins", "an added command gets the context of a builtin"),
    ("command", "fan", "an added command may open a fan-out"),
    ("execute", "builtins", "dispatch runs builtins"),
    ("execute", "fan", "dispatch runs fan-outs"),
    ("execute", "run", "execution fills in the records of stages"),
    ("builtins", "run", "`jobs` reports jobs in the form of a run's result"),
];

#[test]
fn modules_import_only_from_their_layer_and_below() {
    let imports = imports();
    let allowed: BTreeSet<(&str, &str)> = EXCEPTIONS.iter().map(|(from, to, _)| (*from, *to)).collect();
    let mut wrong = Vec::new();
    for ((from, to), files) in &imports {
        if layer(from) < layer(to) && !allowed.contains(&(from.as_str(), to.as_str())) {
            wrong.push(format!("{from} imports {to} from a higher layer in {files:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_exception_is_still_needed() {
    let imports = imports();
    for (from, to, _) in EXCEPTIONS {
        let needed = imports.contains_key(&((*from).to_owned(), (*to).to_owned()));
        assert!(needed, "{from} no longer imports {to}: remove the exception");
    }
}

fn layer(module: &str) -> usize {
    LAYERS
        .iter()
        .position(|(_, modules)| modules.contains(&module))
        .unwrap_or_else(|| panic!("module {module} is in no layer"))
}

/// The files in which one top-level module imports another.
fn imports() -> BTreeMap<(String, String), Vec<PathBuf>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found: BTreeMap<(String, String), Vec<PathBuf>> = BTreeMap::new();
    for file in sources(&root) {
        let relative = file.strip_prefix(&root).unwrap().to_owned();
        let first = relative.components().next().unwrap().as_os_str().to_string_lossy().into_owned();
        let from = first.trim_end_matches(".rs").to_owned();
        if from == "lib" {
            continue;
        }
        for to in imported_modules(&fs::read_to_string(&file).unwrap()) {
            if to != from {
                found.entry((from.clone(), to)).or_default().push(relative.clone());
            }
        }
    }
    found
}

fn sources(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let nested = entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] });
    nested.filter(|path| path.extension().is_some_and(|extension| extension == "rs")).collect()
}

/// The top-level modules after `crate::` in a source text without its comments.
fn imported_modules(source: &str) -> BTreeSet<String> {
    let code: Vec<&str> = source.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
    let code = code.join("\n");
    let mut modules = BTreeSet::new();
    for (at, matched) in code.match_indices("crate::") {
        let rest = &code[at + matched.len()..];
        let list = rest.strip_prefix('{').and_then(|rest| rest.split('}').next()).unwrap_or(rest);
        let count = if rest.starts_with('{') { usize::MAX } else { 1 };
        for item in list.split(',').take(count) {
            let name = item.trim().split(|letter: char| !letter.is_ascii_lowercase() && letter != '_').next();
            modules.extend(name.filter(|name| !name.is_empty()).map(str::to_owned));
        }
    }
    modules
}
