use std::fs;
use std::path::PathBuf;

use haft_test_support::{FinishedHaft, Haft, Scratch};
use serde_json::Value;

pub(super) const HAFT: &str = env!("CARGO_BIN_EXE_haft");
/// A home directory with the records of a test.
pub(super) struct Home(pub(super) Scratch);

impl Home {
    pub(super) fn new() -> Home {
        Home(Scratch::new())
    }

    pub(super) fn with_config(text: &str) -> Home {
        let home = Home::new();
        fs::create_dir_all(home.0.file(".config/haft")).expect("a directory");
        fs::write(home.0.file(".config/haft/config.toml"), text).expect("a file");
        home
    }

    pub(super) fn haft(&self, words: &[&str]) -> Haft {
        self.dressed(Haft::new(HAFT)).args(words)
    }

    pub(super) fn dressed(&self, haft: Haft) -> Haft {
        haft.env("HOME", self.0.path())
            .env("XDG_CONFIG_HOME", "")
            .env("XDG_STATE_HOME", "")
            .env("XDG_CACHE_HOME", "")
            .env("HAFT_SESSION", "")
            .env("HAFT_AGENT", "")
            .directory(self.0.path())
    }

    pub(super) fn run(&self, words: &[&str]) -> FinishedHaft {
        self.haft(words).run()
    }

    pub(super) fn log(&self, words: &[&str]) -> Value {
        self.haft(&["log"]).args(words).arg("--json").run().status(0).json()
    }

    pub(super) fn runs(&self, words: &[&str]) -> Vec<Value> {
        self.log(words)["runs"].as_array().expect("a list").clone()
    }

    pub(super) fn directory(&self) -> PathBuf {
        self.0.file(".local/state/haft/records")
    }

    pub(super) fn journals(&self) -> Vec<PathBuf> {
        let files = fs::read_dir(self.directory()).into_iter().flatten().flatten().map(|file| file.path());
        files.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl")).collect()
    }

    /// The bytes of all files of the directory, as text.
    pub(super) fn all(&self) -> String {
        let files = fs::read_dir(self.directory()).into_iter().flatten().flatten();
        files
            .map(|file| String::from_utf8_lossy(&fs::read(file.path()).expect("bytes")).into_owned())
            .collect()
    }
}
