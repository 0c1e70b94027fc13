//! Random calls of the commands that work on files, each in a new tree of files. The trees are compared afterwards.

mod options;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::random::Random;
use crate::support::ScriptResult;
use crate::{Case, environment_number, has_versions, run_here, run_program, steps_aside};
use options::options;

/// The heading of the group.
pub(crate) const FILE_GROUP: &str = "File commands";

/// Cases per command.
const DEFAULT_CASES: u64 = 30;

/// Differences shown per command.
const MAX_SHOWN: usize = 6;

/// Times before this one are those of the tree, in seconds since the epoch. Later ones are the current time.
const TREE_TIMES_END: i64 = 1_700_000_000;

/// Names of operands. Some do not exist.
const OPERANDS: &[&str] = &[
    "f",
    "g",
    "a b",
    "it's",
    "new\nline",
    "./-dash",
    "d",
    "d2",
    "d/e",
    "d/x",
    "sl",
    "sd",
    "dl",
    "loop",
    "h1",
    "h2",
    "ro",
    "x.sh",
    "missing",
    "missing/x",
    "d/",
    "f/",
    "sd/",
    "new",
    "d/new",
    ".",
    "..",
    "d/.",
    "d/..",
    "",
    "d/e/deep",
    "./f",
    "d//x",
    "d2/",
    "sl/",
    "f/x",
    "d3",
    "d3/d",
    "new/",
    "\u{e9}",
];

/// Makes the tree.
fn make_tree(root: &Path) {
    let put = |name: &str, content: &str, mode: u32| {
        let path = root.join(name);
        std::fs::write(&path, content).expect("a file");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).expect("its mode");
    };
    for name in ["d", "d/e", "d2", "d3", "d3/d", "d3/d/full"] {
        std::fs::create_dir(root.join(name)).expect("a directory");
        std::fs::set_permissions(root.join(name), PermissionsExt::from_mode(0o755)).expect("its mode");
    }
    put("f", "content of f\n", 0o644);
    put("g", "another file\n", 0o640);
    put("a b", "blank", 0o644);
    put("it's", "", 0o600);
    put("new\nline", "x\n", 0o644);
    put("-dash", "d\n", 0o644);
    put("d/x", "in d\n", 0o644);
    put("d/e/deep", &"0123456789".repeat(1000), 0o755);
    put("d3/f", "other\n", 0o644);
    put("h1", "linked\n", 0o644);
    put("ro", "read only\n", 0o444);
    put("x.sh", "#!/bin/sh\n", 0o755);
    put(".hidden", "h\n", 0o644);
    put("\u{e9}", "accent\n", 0o644);
    std::fs::hard_link(root.join("h1"), root.join("h2")).expect("a link");
    for (target, name) in [("f", "sl"), ("d", "sd"), ("nowhere", "dl"), ("loop", "loop"), ("../f", "d/up")] {
        symlink(target, root.join(name)).expect("a link");
    }
    set_times(root);
}

/// Gives each file a time of its own.
fn set_times(root: &Path) {
    let names =
        ["f", "g", "a b", "d/x", "d/e/deep", "d3/f", "h1", "ro", "x.sh", "-dash", "it's", "new\nline"];
    for (index, name) in names.iter().enumerate() {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000 + index as u64 * 10_000_000);
        let file = std::fs::File::options().append(true).open(root.join(name));
        // Only a file that cannot be opened keeps the current time, and it does so in both trees.
        if let Ok(file) = file {
            file.set_modified(time).expect("its time");
        }
    }
}

/// The compared facts of a file: type and mode, links, time, content or target.
type FileState = (u32, u64, i64, Vec<u8>);

fn snapshot(root: &Path, prefix: &Path, found: &mut BTreeMap<Vec<u8>, FileState>) {
    for entry in std::fs::read_dir(root.join(prefix)).expect("lists") {
        let name = prefix.join(entry.expect("an entry").file_name());
        let path = root.join(&name);
        let metadata = path.symlink_metadata().expect("is there");
        let content = match metadata.file_type() {
            kind if kind.is_dir() => Vec::new(),
            kind if kind.is_symlink() => {
                std::fs::read_link(&path).expect("a link").as_os_str().as_bytes().to_vec()
            }
            _ => std::fs::read(&path).unwrap_or_default(),
        };
        let time = match metadata.mtime() {
            time if time < TREE_TIMES_END => time,
            _ => TREE_TIMES_END,
        };
        let links = if metadata.is_dir() { 0 } else { metadata.nlink() };
        found.insert(name.as_os_str().as_bytes().to_vec(), (metadata.mode(), links, time, content));
        if metadata.is_dir() {
            snapshot(root, &name, found);
        }
    }
}

/// A first operand that is not a file.
fn first_operand(name: &str, random: &mut Random) -> Option<&'static str> {
    let modes = [
        "644",
        "0",
        "u+x",
        "go-rwx",
        "a=r",
        "+x",
        "-w",
        "-x",
        "u=g",
        "+X",
        "7777",
        "x",
        "888",
        "u+s,g+s",
        "-rw",
        "=",
        "o=u-w",
        "a-x+X",
        "00755",
        "+t",
        "u+rwx,g=rx,o=",
    ];
    let scripts = ["s/o/0/g", "$d", "1i\\x", "p", "/e/w d2/out", "2q", "y/abc/xyz/", "$!d", "=", "r g"];
    match name {
        "chmod" if random.percent(90) => Some(random.choose(&modes)),
        "sed" => Some(random.choose(&scripts)),
        _ => None,
    }
}

fn case(name: &str, random: &mut Random) -> Case {
    let mut arguments = Vec::new();
    if name == "find" {
        return find_case(random);
    }
    if name == "stat" {
        // Other formats show inode numbers and the current time.
        arguments.push(random.choose(&["-c%n %s %a", "-c%N %F"]).to_owned());
    }
    if random.percent(2) {
        arguments.push(random.choose(&["-@", "--unknown", "--unknown=x"]).to_owned());
    }
    while random.percent(55) {
        arguments.extend(random.choose(options(name)).split('\u{1}').map(str::to_owned));
    }
    arguments.extend(first_operand(name, random).map(str::to_owned));
    if name == "mktemp" {
        // Only calls that make nothing have the same output twice.
        let template = random.choose(&["missing/XXX", "ab", "x/XXXXXX/y", "/missing/XXX", "XX", "f/XXX"]);
        arguments.push(template.to_owned());
        return Case { arguments, input: "f" };
    }
    for _ in 0..random.choose(&[0, 1, 1, 1, 2, 2, 2, 3, 4]) {
        arguments.push(random.choose(OPERANDS).to_owned());
    }
    Case { arguments, input: "f" }
}

/// A call of `find`: paths come before the expression.
fn find_case(random: &mut Random) -> Case {
    let mut arguments: Vec<String> = Vec::new();
    if random.percent(20) {
        arguments.push(random.choose(&["-L", "-H", "-P"]).to_owned());
    }
    for _ in 0..random.choose(&[0, 1, 1, 1, 2]) {
        arguments.push(
            random
                .choose(&["d", "d3", "f", "sd", "sd/", "missing", ".", "d/", "dl", "h1", "it's"])
                .to_owned(),
        );
    }
    for _ in 0..random.choose(&[0, 1, 1, 2, 2, 3, 4]) {
        arguments.extend(random.choose(options("find")).split('\u{1}').map(str::to_owned));
    }
    Case { arguments, input: "f" }
}

/// The result with its lines sorted, because directories have no order.
fn sorted(result: &ScriptResult) -> ScriptResult {
    let sort = |text: &str| {
        let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
        lines.sort_unstable();
        lines.concat()
    };
    ScriptResult { status: result.status, stdout: sort(&result.stdout), stderr: sort(&result.stderr) }
}

/// Whether a call changes what is above the tree.
fn leaves_tree(name: &str, case: &Case) -> bool {
    let above = |word: &String| word == ".." || word == "d/..";
    matches!(name, "chmod" | "cp" | "ln" | "mv" | "touch") && case.arguments.iter().any(above)
}

/// Runs a call in a new tree.
fn run_in_tree(
    root: &Path,
    case: &Case,
    call: impl FnOnce(&Case, &Path) -> ScriptResult,
) -> (ScriptResult, BTreeMap<Vec<u8>, FileState>) {
    let tree = root.join("tree");
    std::fs::create_dir(&tree).expect("a directory");
    make_tree(&tree);
    let result = sorted(&call(case, &tree));
    let mut found = BTreeMap::new();
    snapshot(&tree, Path::new(""), &mut found);
    std::fs::remove_dir_all(&tree).expect("removes the tree");
    (result, found)
}

/// Whether the command leaves a call to the program where there is one.
fn run_aside(root: &Path, name: &str, case: &Case) -> bool {
    let tree = root.join("tree");
    std::fs::create_dir(&tree).expect("a directory");
    make_tree(&tree);
    let is_aside = steps_aside(name, case, &tree);
    std::fs::remove_dir_all(&tree).expect("removes the tree");
    is_aside
}

#[test]
fn file_commands_leave_the_same_files_as_gnu_programs_do() {
    if !has_versions() {
        println!("skipped: the programs are of other versions");
        return;
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let root = directory.path().canonicalize().expect("its path");
    let cases = environment_number("HAFT_GNU_CASES", DEFAULT_CASES);
    let first = environment_number("HAFT_GNU_SEED", 1);
    let only = std::env::var("HAFT_GNU_COMMAND").ok();
    let group = haft_commands::GNU_GROUPS.iter().find(|group| group.title == FILE_GROUP).expect("the group");
    let names = group.commands.iter().map(|command| command.name()).chain(["sed"]);
    let mut failures = Vec::new();
    for name in names.filter(|name| only.as_deref().is_none_or(|only| only == *name)) {
        let mut shown = 0;
        for seed in first..first + cases {
            let case = case(name, &mut Random::new(seed, name));
            if leaves_tree(name, &case) {
                continue;
            }
            let here = run_in_tree(&root, &case, |case, tree| run_here(name, case, tree));
            let there = run_in_tree(&root, &case, |case, tree| run_program(name, case, tree));
            if here != there && shown < MAX_SHOWN && !run_aside(&root, name, &case) {
                shown += 1;
                failures.push(difference(name, &case, &here, &there));
            }
        }
    }
    assert!(failures.is_empty(), "differences:\n\n{}", failures.join("\n\n"));
}

type TreeResult = (ScriptResult, BTreeMap<Vec<u8>, FileState>);

fn difference(name: &str, case: &Case, here: &TreeResult, there: &TreeResult) -> String {
    let mut text = format!("{name} {:?}", case.arguments);
    if here.0 != there.0 {
        text += &format!("\nhaft: {:?}\nGNU:  {:?}", here.0, there.0);
    }
    let paths: std::collections::BTreeSet<_> = here.1.keys().chain(there.1.keys()).collect();
    for path in paths.into_iter().filter(|path| here.1.get(*path) != there.1.get(*path)) {
        let state = |tree: &BTreeMap<Vec<u8>, FileState>| {
            let found = tree.get(path).map(|(mode, links, time, content)| {
                let start = content.iter().take(20).copied().collect::<Vec<_>>();
                format!("{mode:o} links {links} time {time} {:?}", String::from_utf8_lossy(&start))
            });
            found.unwrap_or_else(|| "missing".to_owned())
        };
        let shown = Path::new(OsStr::from_bytes(path)).display();
        text += &format!("\n{shown}: haft {}; GNU {}", state(&here.1), state(&there.1));
    }
    text
}
