//! Trees of files for the tests: random changes by real programs, and exact comparison.
#![expect(dead_code, reason = "each test uses a part of it")]
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "the tests compare with programs that haft did not start"
)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command as SystemCommand;
use std::sync::{Arc, OnceLock};

use haft_overlay::{Overlay, OverlayStore};
use haft_process::{Command, DescriptorSource, Environment, Namespaces, StartPermission};

/// A generator of random numbers with a seed (xorshift).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap_or(0) % limit
    }

    fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }
}

/// A tree and a store for its overlays.
pub(crate) struct Place {
    directory: tempfile::TempDir,
    pub(crate) tree: PathBuf,
    pub(crate) store: OverlayStore,
}

impl Place {
    /// A tree with files, directories, links and odd names.
    pub(crate) fn new() -> Place {
        let directory = tempfile::tempdir().expect("a directory");
        let tree = directory.path().join("tree");
        let template = TEMPLATE.get_or_init(|| {
            let template = tempfile::tempdir().expect("a directory");
            shell(template.path(), START);
            template
        });
        let copied = SystemCommand::new("cp").arg("-a").arg(template.path()).arg(&tree).status();
        assert!(copied.expect("cp").success(), "a copy of the tree");
        let store = OverlayStore::new(vec![directory.path().join(STATE)]);
        Place { directory, tree, store }
    }

    /// The directory of the overlays.
    pub(crate) fn state(&self) -> PathBuf {
        self.directory.path().join(STATE)
    }

    /// An overlay of the tree, or `None` where the system does not allow one.
    pub(crate) fn overlay(&self) -> Option<Overlay> {
        match self.store.create(std::slice::from_ref(&self.tree), None) {
            Ok(overlay) => Some(overlay),
            Err(haft_overlay::Error::Namespace(error)) => {
                eprintln!("skipped: {error}");
                None
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// Name of the directory of the overlays.
const STATE: &str = "state";

/// The tree that every place starts with.
static TEMPLATE: OnceLock<tempfile::TempDir> = OnceLock::new();

const START: &str = r"
umask 022
mkdir -p a/b/deep c 'with space' empty
echo one > a/one; echo two > a/b/two; echo three > a/b/deep/three; echo four > c/four
printf 'line %s\n' 1 2 3 4 5 6 7 8 9 > c/lines
printf 'no newline' > top; printf '\000\001binary' > blob; chmod 755 top; chmod 600 c/four
ln -s a/one link; ln -s nowhere dangling; ln -s a folder-link; mkfifo pipe
echo odd > 'with space/new
line'; echo dash > ./-dash; echo star > 'a*b'; : > void
truncate -s 100000 sparse
find . -exec touch -h -d '2020-01-02 03:04:05.678901234' {} +
";

const PATHS: &[&str] = &[
    "a",
    "a/b",
    "a/b/deep",
    "a/b/deep/three",
    "a/b/two",
    "a/one",
    "c",
    "c/four",
    "c/lines",
    "top",
    "blob",
    "link",
    "folder-link",
    "dangling",
    "pipe",
    "sparse",
    "void",
    "empty",
    "'with space'",
    "'with space/new\nline'",
    "./-dash",
    "'a*b'",
    "new",
    "new/inner",
    "new/inner/file",
    "a/added",
    "c/added",
    "empty/x",
    "other",
];

/// A script of random changes. Each command may fail.
pub(crate) fn random_script(random: &mut Random) -> String {
    let mut script = String::from("umask 022\n");
    for _ in 0..2 + random.below(10) {
        let path = random.pick(PATHS);
        let other = random.pick(PATHS);
        let number = random.below(1000);
        let mode = random.pick(&["755", "644", "600", "700", "555", "444", "1777"]);
        let folder_mode = random.pick(&["755", "700", "750", "555", "1777"]);
        let line = match random.below(19) {
            0 => format!("[ -p {path} ] || echo {number} > {path}"),
            1 => format!("[ -p {path} ] || echo {number} >> {path}"),
            2 => format!("[ -p {path} ] || truncate -s {number} {path}"),
            3 => format!("if [ -d {path} ]; then chmod {folder_mode} {path}; else chmod {mode} {path}; fi"),
            // In an overlay, mv copies a directory, and a hard link to a file outside of it becomes a file of its own.
            4 | 5 => {
                format!(r#"[ -n "$(find {path} -type f -links +1)" ] && [ -d {path} ] || mv {path} {other}"#)
            }
            6 | 7 => format!("rm -rf {path}"),
            8 => format!("mkdir -p {path}"),
            9 => format!("ln -s {other} {path}"),
            10 => format!("ln {path} {other}"),
            11 => format!("rm -rf {path}; mkdir {path}; echo {number} > {path}/x"),
            12 => format!("rm -rf {path}; echo {number} > {path}"),
            13 => format!("touch -d '2021-02-03 04:05:06' {path}"),
            14 => copy(path, other),
            15 => format!("[ -f {path} ] && sed -i s/e/E/ {path}"),
            16 => format!("mkfifo {path}"),
            17 => format!("rmdir {path}"),
            _ => format!("[ -p {path} ] || {{ truncate -s 200000 {path}; echo {number} >> {path}; }}"),
        };
        let _ = writeln!(script, "{{ {line}; }} 2>/dev/null");
    }
    script
}

/// A command that copies. It never opens a FIFO, which would wait for its reader. It never copies a directory into itself,
/// because the result depends on the order in which the file system lists it.
fn copy(path: &str, other: &str) -> String {
    format!(
        r#"case "$(readlink -f {other})/" in "$(readlink -f {path})"/*) ;; *) cp -a --remove-destination {path} {other} ;; esac"#
    )
}

/// Runs a script in the real directory.
pub(crate) fn shell(directory: &Path, script: &str) {
    let status = SystemCommand::new("sh").args(["-c", script]).current_dir(directory).status();
    status.expect("a shell");
}

/// Runs a script in an overlay.
pub(crate) fn shell_in(namespaces: Arc<Namespaces>, directory: &Path, script: &str) {
    let mut environment = Environment::new();
    let path = std::env::var_os("PATH").expect("PATH");
    environment.set("PATH", path).expect("a variable");
    let mut command = Command::new("/bin/sh");
    command.arguments(["-c", script]).environment(environment).working_directory(directory);
    let null = fs::File::open("/dev/null").expect("/dev/null");
    command.descriptor(0, DescriptorSource::from(std::os::fd::OwnedFd::from(null))).namespaces(namespaces);
    command.spawn(&StartPermission::all()).expect("a shell").wait().expect("its end");
}

/// Everything about a tree: one text per path.
pub(crate) fn snapshot(tree: &Path, with_times: bool) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut links: BTreeMap<u64, PathBuf> = BTreeMap::new();
    collect(tree, tree, with_times, &mut found, &mut links);
    found
}

fn collect(
    tree: &Path,
    path: &Path,
    with_times: bool,
    found: &mut BTreeMap<PathBuf, String>,
    links: &mut BTreeMap<u64, PathBuf>,
) {
    let metadata = fs::symlink_metadata(path).expect("a file");
    let relative = path.strip_prefix(tree).expect("below the tree").to_owned();
    let mut text = format!("{:o} {}:{}", metadata.mode(), metadata.uid(), metadata.gid());
    if with_times {
        let _ = write!(text, " {}.{}", metadata.mtime(), metadata.mtime_nsec());
    }
    if metadata.is_symlink() {
        let _ = write!(text, " -> {}", fs::read_link(path).expect("a link").display());
    } else if metadata.is_file() {
        let bytes = fs::read(path).expect("its contents");
        let sum = bytes.iter().fold(7_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(*byte)));
        let _ = write!(text, " {} bytes, sum {sum:x}", bytes.len());
    }
    if !metadata.is_dir() && metadata.nlink() > 1 {
        let first = links.entry(metadata.ino()).or_insert_with(|| relative.clone());
        let _ = write!(text, " = {}", first.display());
    }
    found.insert(relative, text);
    if metadata.is_dir() {
        let mut entries: Vec<PathBuf> =
            fs::read_dir(path).expect("a directory").map(|entry| entry.expect("an entry").path()).collect();
        entries.sort();
        for entry in entries {
            collect(tree, &entry, with_times, found, links);
        }
    }
}

/// Fails with the differences of two snapshots.
pub(crate) fn assert_same(left: &BTreeMap<PathBuf, String>, right: &BTreeMap<PathBuf, String>, about: &str) {
    let mut text = String::new();
    for path in left.keys().chain(right.keys()) {
        if left.get(path) != right.get(path) {
            let _ = writeln!(text, "{path:?}: {:?} != {:?}", left.get(path), right.get(path));
        }
    }
    assert!(text.is_empty(), "{about}\n{text}");
}
