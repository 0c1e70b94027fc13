//! Hosts on this machine: each connection of `ssh` starts an `sshd` of its own, with private keys and configuration.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use haft_test_support::{Haft, Scratch, signal};

/// The server, which is not in the `PATH` of ordinary users.
const SSHD: [&str; 3] = ["/usr/sbin/sshd", "/usr/bin/sshd", "/usr/local/sbin/sshd"];
/// A limit for everything that happens on hosts, on a loaded machine.
pub(crate) const LONG: Duration = Duration::from_secs(80);

/// The hosts `one`, `two` and `bare`, which has no haft, and `nowhere`, which cannot be reached.
pub(crate) struct Hosts {
    scratch: Scratch,
}

impl Hosts {
    /// Sets the hosts up. `None` if OpenSSH's server is not installed.
    pub(crate) fn set_up() -> Option<Hosts> {
        let Some(sshd) = SSHD.iter().find(|path| Path::new(path).exists()) else {
            eprintln!("skipped: sshd is missing; the package is 'openssh-server'");
            return None;
        };
        let hosts = Hosts { scratch: Scratch::new() };
        // sshd wants this directory, and only root can make it.
        let _ = fs::create_dir_all("/run/sshd");
        hosts.make_keys();
        let own = Path::new(env!("CARGO_BIN_EXE_haft")).parent().expect("a directory").display().to_string();
        for (name, path) in [
            ("one", format!("{own}:/usr/bin:/bin")),
            ("two", format!("{own}:/usr/bin:/bin")),
            ("bare", "/usr/bin:/bin".to_owned()),
        ] {
            hosts.add(name, sshd, &path);
        }
        let nowhere = "Host nowhere\n  ProxyCommand false\n";
        let common = format!(
            "Host *\n  User {}\n  IdentityFile {}\n  IdentitiesOnly yes\n  StrictHostKeyChecking no\n  \
             UserKnownHostsFile /dev/null\n  LogLevel ERROR\n",
            user(),
            hosts.scratch.text("user-key")
        );
        let config = fs::read_to_string(hosts.path("config")).expect("the hosts");
        hosts.write("config", &format!("{config}{nowhere}{common}"));
        hosts.write_program(
            "bin/ssh",
            &format!("exec /usr/bin/ssh -F '{}' \"$@\"", hosts.scratch.text("config")),
        );
        Some(hosts)
    }

    fn make_keys(&self) {
        fs::create_dir_all(self.path("bin")).expect("a directory");
        for key in ["host-key", "user-key"] {
            let words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f"];
            Haft::by(words).arg(self.path(key)).run().status(0);
        }
    }

    /// Adds a host. The process that serves a connection writes its number to a file first.
    fn add(&self, name: &str, sshd: &str, path: &str) {
        let (home, temporary) = (self.path(&format!("home-{name}")), self.path(&format!("tmp-{name}")));
        fs::create_dir_all(&home).expect("a directory");
        fs::create_dir_all(&temporary).expect("a directory");
        let settings = format!(
            "HostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\nPidFile none\nPermitRootLogin yes\n\
             PasswordAuthentication no\nSetEnv HOME={} TMPDIR={} PATH={path}\n",
            self.scratch.text("host-key"),
            self.scratch.text("user-key.pub"),
            home.display(),
            temporary.display(),
        );
        self.write(&format!("sshd-{name}"), &settings);
        let (pids, settings) =
            (self.scratch.text(&format!("pids-{name}")), self.scratch.text(&format!("sshd-{name}")));
        self.write_program(
            &format!("serve-{name}"),
            &format!("echo $$ >> '{pids}'\nexec {sshd} -i -e -f '{settings}' 2>/dev/null"),
        );
        let config = fs::read_to_string(self.path("config")).unwrap_or_default();
        let serve = self.scratch.text(&format!("serve-{name}"));
        self.write("config", &format!("{config}Host {name}\n  ProxyCommand '{serve}'\n"));
    }

    fn path(&self, name: &str) -> PathBuf {
        self.scratch.file(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("a file can be written");
    }

    fn write_program(&self, name: &str, text: &str) {
        self.write(name, &format!("#!/bin/sh\n{text}\n"));
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755))
            .expect("permissions can be set");
    }

    /// The directory of the test.
    pub(crate) fn scratch(&self) -> &Scratch {
        &self.scratch
    }

    /// Whether a host has a copy of haft.
    pub(crate) fn has_copy(&self, name: &str) -> bool {
        self.path(&format!("home-{name}/.cache/haft/bin/haft-{}", env!("CARGO_PKG_VERSION"))).exists()
    }

    /// How often a host was connected to.
    pub(crate) fn connections(&self, name: &str) -> usize {
        self.scratch.lines(&format!("pids-{name}"))
    }

    /// Cuts the connections to a host, without a goodbye.
    pub(crate) fn cut(&self, name: &str) {
        let pids = fs::read_to_string(self.path(&format!("pids-{name}"))).expect("connections");
        for pid in pids.lines().filter_map(|line| line.parse().ok()) {
            signal(pid, 9);
        }
    }

    /// A call of haft that finds these hosts, in a directory of the test.
    pub(crate) fn haft(&self, script: &str) -> Haft {
        let mut path = OsString::from(self.path("bin"));
        path.push(":/usr/bin:/bin");
        let haft = Haft::new(env!("CARGO_BIN_EXE_haft")).temporary(self.scratch.path());
        haft.directory(self.scratch.path()).env("PATH", path).args(["run", "-c", script])
    }
}

fn user() -> String {
    Haft::by(["id", "-un"]).run().output_text().trim().to_owned()
}
