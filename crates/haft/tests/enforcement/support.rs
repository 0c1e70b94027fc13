//! A project, and beside it a directory that a policy protects.

use std::path::{Path, PathBuf};

use haft_test_support::{Haft, Scratch};

/// Content of the protected file that must not be read.
pub(crate) const SECRET: &str = "the-protected-text";

/// A directory with `project` and `outside`.
pub(crate) struct Place {
    scratch: Scratch,
}

impl Place {
    pub(crate) fn new() -> Place {
        let place = Place { scratch: Scratch::new() };
        for name in ["project", "outside", "bin", "home"] {
            std::fs::create_dir(place.path(name)).expect("a directory");
        }
        std::fs::write(place.path("outside/secret"), SECRET).expect("a file");
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    /// Writes a policy and returns its path.
    pub(crate) fn policy(&self, text: &str) -> PathBuf {
        let path = self.path("policy.toml");
        std::fs::write(&path, text).expect("a policy");
        path
    }

    /// `haft run` in the project with a policy.
    pub(crate) fn haft(&self, policy: &Path) -> Haft {
        Haft::new(env!("CARGO_BIN_EXE_haft"))
            .directory(self.path("project"))
            .env("HOME", self.path("home"))
            .env("OUT", self.path("outside"))
            .args(["run", "--timeout", "120s", "--policy"])
            .arg(policy)
    }
}

/// Whether the kernel can enforce rules on files.
pub(crate) fn has_landlock() -> bool {
    let found = haft_sandbox::Machine::probe().restricts_files();
    if !found {
        println!("skipped: this kernel has no Landlock");
    }
    found
}

/// Allows changes to the project only, and denies reading the protected directory.
pub(crate) fn confined(place: &Place) -> PathBuf {
    place.policy(&format!(
        "[policy.files]\nwrite = [\"$project\", \"$devices\"]\ndeny_read = [\"{}\"]\n[policy.network]\nlevel = \"none\"\n",
        place.path("outside").display()
    ))
}
