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
    ("state", &["kernel", "command", "fan", "jobs", "control", "supervision", "session"]),
    ("expansion", &["expand"]),
    ("execution", &["execute"]),
    ("builtins", &["builtins"]),
    ("facade", &["run", "transfer"]),
];

#[test]
fn modules_import_only_from_their_layer_and_below() {
    let imports = imports();
    assert!(imports.contains_key(&("run".to_owned(), "session".to_owned())), "no imports found");
    let mut wrong = Vec::new();
    for ((from, to), files) in &imports {
        if layer(from) < layer(to) {
            wrong.push(format!("{from} imports {to} from a higher layer in {files:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
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
