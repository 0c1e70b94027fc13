//! A cloned repository with hostile content: no command hangs, exhausts memory, or dies
//! without a message.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use haft_test_support::{FinishedHaft, Haft, Scratch};

const HAFT: &str = env!("CARGO_BIN_EXE_haft");

/// A project with a `.haft` directory, and a home directory.
struct Project {
    scratch: Scratch,
}

impl Project {
    fn new() -> Project {
        let scratch = Scratch::new();
        for directory in ["home", "bin", "tmp", "project/.haft/tools"] {
            fs::create_dir_all(scratch.file(directory)).expect("a directory");
        }
        fs::write(scratch.file("secret"), "SECRET").expect("a file");
        Project { scratch }
    }

    fn place(&self, name: &str) -> PathBuf {
        self.scratch.file(&format!("project/{name}"))
    }

    /// A call in the project, with a memory limit.
    fn call(&self, words: &[&str]) -> Haft {
        let limited = ["bash", "-c", "ulimit -v 4000000; exec \"$@\"", "bash", HAFT];
        Haft::by(limited)
            .args(words)
            .env("HOME", self.scratch.file("home"))
            .env("XDG_CONFIG_HOME", "")
            .env("XDG_STATE_HOME", "")
            .env("XDG_CACHE_HOME", "")
            .temporary(&self.scratch.file("tmp"))
            .directory(self.place(""))
    }

    /// Starts the MCP server; it ends with its input.
    fn serve(&self) -> FinishedHaft {
        let hello = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-06-18\",\
                     \"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}\n";
        let list = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n\
                    {\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}\n";
        self.call(&["mcp"]).input(format!("{hello}{list}")).run().status(0)
    }
}

fn fifo(path: &Path) {
    let made = Haft::by(["mkfifo"]).arg(path).run();
    let _ = made.status(0);
}

fn sparse(path: &Path) {
    File::create(path).and_then(|file| file.set_len(50 << 30)).expect("a sparse file");
}

fn link(target: &'static str) -> impl Fn(&Path) {
    move |path| symlink(target, path).expect("a link")
}

/// Creates a file that must not be read.
type Trap = Box<dyn Fn(&Path)>;

/// Each kind of file, with the reason in the message.
fn traps() -> Vec<(Trap, &'static str)> {
    vec![
        (Box::new(link("/dev/zero")), "it points outside the project, to '/dev/zero'"),
        (Box::new(link("/proc/kmsg")), "it points outside the project"),
        (Box::new(link("../../secret")), "it points outside the project"),
        (Box::new(fifo), "it is a FIFO, not a regular file"),
        (Box::new(sparse), "it is larger than 1 MiB"),
        (Box::new(link("nowhere")), "it is a symbolic link to a file that does not exist"),
        (Box::new(link("config.toml")), "too many levels of symbolic links"),
        (
            Box::new(|path| fs::create_dir(path).expect("a directory")),
            "it is a directory, not a regular file",
        ),
    ]
}

#[test]
fn a_hostile_configuration_file_is_rejected_at_once() {
    for (make, reason) in traps() {
        let project = Project::new();
        make(&project.place(".haft/config.toml"));
        let refused = project.call(&["launch", "--dry-run", "-a", "claude", "go"]).run();
        let _ = refused.status(2).stderr_has(".haft/config.toml'").stderr_has(reason);
        let listed = project.call(&["tool", "list"]).run().status(0);
        assert!(listed.stderr_has(reason).output_text().contains("file_read"), "{reason}");
        let served = project.serve().stderr_has(reason);
        assert!(served.output_text().contains("\"file_read\""), "{served}");
    }
}

#[test]
fn a_file_named_like_the_project_directory_is_ignored() {
    let project = Project::new();
    fs::remove_dir_all(project.place(".haft")).expect("gone");
    fs::write(project.place(".haft"), "x").expect("a file");
    let _ = project.call(&["tool", "list"]).run().status(0).stderr("");
    let _ = project.serve();
}

#[test]
fn trust_shows_hidden_characters_and_skips_unreadable_files() {
    let project = Project::new();
    let at = |name: &str| project.place(&format!(".haft/{name}"));
    fs::write(at("tools/x-tool\r\u{1b}[2Kharmless\u{202e}"), "").expect("a file");
    fs::write(at("config.toml"), "").expect("a file");
    fifo(&at("fifo"));
    link("/dev/zero")(&at("zero"));
    link("../../secret")(&at("key"));
    link("loop")(&at("loop"));
    link("..")(&at("tools/circle"));
    let mut deep = at("deep");
    (0..60).for_each(|_| deep.push("d"));
    fs::create_dir_all(&deep).expect("directories");
    fs::write(deep.join("file"), "").expect("a file");
    let run = project.call(&["trust", "--yes"]).run().status(0);
    let seen = run.error_text();
    assert!(!seen.contains('\u{1b}') && !seen.contains('\r') && !seen.contains('\u{202e}'), "{seen}");
    for part in [
        "x-tool\\r\\u{1b}[2Kharmless\\u{202e}\n",
        ".haft/fifo: it is a FIFO, not a regular file\n",
        ".haft/zero: it points outside the project, to '/dev/zero'\n",
        ".haft/key: it points outside the project",
        ".haft/loop: too many levels of symbolic links",
        ": it is nested more than 32 directories deep\n",
    ] {
        assert!(seen.contains(part), "{part:?} is not in:\n{seen}");
    }
    let listed = project.call(&["trust", "--list", "--json"]).run().status(0).json();
    assert_eq!(listed["trusted"].as_array().map(Vec::len), Some(2), "{listed}");
    let _ = project.call(&["trust"]).arg(at("zero")).run().status(1).stderr_has("it is a device");
}
