//! A home, a project and agents for one test.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use haft_test_support::{ChildReport, FinishedHaft, Haft, Scratch, child};

pub(crate) const HAFT: &str = env!("CARGO_BIN_EXE_haft");

/// A home and a project without configuration and agents.
pub(crate) struct World {
    pub(crate) scratch: Scratch,
}

impl World {
    pub(crate) fn new() -> World {
        let scratch = Scratch::new();
        for name in ["home", "project", "bin", "tmp", "notes"] {
            fs::create_dir(scratch.file(name)).unwrap();
        }
        World { scratch }
    }

    /// Installs stubs of agents.
    pub(crate) fn with_agents(self, names: &[&str]) -> World {
        names.iter().for_each(|name| symlink(child(), self.scratch.file("bin").join(name)).unwrap());
        self
    }

    /// Writes a file and its parent directories.
    pub(crate) fn with_file(self, path: &str, text: impl AsRef<[u8]>) -> World {
        let path = self.scratch.file(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    /// Writes the user's configuration.
    pub(crate) fn with_config(self, text: &str) -> World {
        self.with_file("home/.config/haft/config.toml", text)
    }

    /// An agent called `it` that takes everything, in the user's configuration, with more after it.
    pub(crate) fn with_stand_in(self, more: &str) -> World {
        let agent = "[[agent]]\nname = 'it'\ncommand = ['{bin}', ['--model', '{model}'], ['--role', '{role}'], \
                     ['--mcp', '{mcp_config}'], ['{prompt}']]\n";
        self.with_agents(&["it"]).with_config(&format!("{more}\n{agent}"))
    }

    /// A call of haft in the project; `/usr/bin` and the like are there as well.
    pub(crate) fn haft(&self, words: &[&str]) -> Haft {
        self.dressed(Haft::new(HAFT)).args(words)
    }

    /// The same by way of other programs.
    pub(crate) fn by(&self, before: &[&str], words: &[&str]) -> Haft {
        self.dressed(Haft::by(before.iter().copied().chain([HAFT]))).args(words)
    }

    /// A script of bash, with the same surroundings.
    pub(crate) fn by_shell(&self, script: &str) -> Haft {
        self.dressed(Haft::by(["bash", "-c"])).args([script])
    }

    fn dressed(&self, haft: Haft) -> Haft {
        let path = format!("{}:/usr/bin:/bin", self.scratch.text("bin"));
        haft.env("PATH", path)
            .env("HOME", self.scratch.file("home"))
            .env("XDG_CONFIG_HOME", "")
            .env("XDG_STATE_HOME", "")
            .env("XDG_CACHE_HOME", "")
            .env("STAND_IN", self.scratch.file("notes"))
            .temporary(&self.scratch.file("tmp"))
            .directory(self.project())
    }

    /// Launches, and demands that it worked.
    #[track_caller]
    pub(crate) fn launch(&self, words: &[&str]) -> FinishedHaft {
        self.haft(&["launch"]).args(words).run().status(0)
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.scratch.file("project")
    }

    /// The arguments that the stand-in got after its name.
    #[track_caller]
    pub(crate) fn argv(&self) -> Vec<Vec<u8>> {
        let bytes = fs::read(self.scratch.file("notes/argv")).expect("the stand-in was started");
        let mut words: Vec<Vec<u8>> = bytes.split(|&byte| byte == 0).map(<[u8]>::to_vec).collect();
        words.pop();
        words.remove(0);
        words
    }

    /// The same as text.
    #[track_caller]
    pub(crate) fn words(&self) -> Vec<String> {
        self.argv().into_iter().map(|word| String::from_utf8_lossy(&word).into_owned()).collect()
    }

    /// The last argument, which is the prompt.
    #[track_caller]
    pub(crate) fn prompt(&self) -> String {
        self.words().pop().expect("there are arguments")
    }

    pub(crate) fn stdin(&self) -> Vec<u8> {
        fs::read(self.scratch.file("notes/stdin")).unwrap()
    }

    pub(crate) fn report(&self) -> ChildReport {
        ChildReport::parse(fs::read(self.scratch.file("notes/report")).unwrap())
    }

    pub(crate) fn has_started(&self) -> bool {
        self.scratch.file("notes/report").exists()
    }

    /// The remaining entries of the directory for haft's temporary files.
    pub(crate) fn leftovers(&self) -> Vec<PathBuf> {
        let bases = fs::read_dir(self.scratch.file("tmp")).into_iter().flatten().flatten();
        let inner = |base: fs::DirEntry| fs::read_dir(base.path()).into_iter().flatten().flatten();
        bases.flat_map(inner).map(|entry| entry.path()).collect()
    }

    pub(crate) fn read(&self, path: impl AsRef<Path>) -> String {
        fs::read_to_string(path).unwrap()
    }
}
