//! PID namespaces, for tests that may signal every process they see.
#![expect(clippy::disallowed_types, reason = "tests of the supervisor must not depend on it")]

use std::ffi::{OsStr, OsString};
use std::process::{Command, Stdio};

use crate::{Haft, is_root};

impl Haft {
    /// Makes a call of the program in a new PID namespace, where it cannot signal other processes of the machine. Returns `None`
    /// if namespaces are not available; the test must be skipped then.
    pub fn in_pid_namespace<A: AsRef<OsStr>>(words: impl IntoIterator<Item = A>) -> Option<Haft> {
        let user: &[&str] = if is_root() { &[] } else { &["--user", "--map-root-user"] };
        let namespace = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"];
        let mut prefix: Vec<OsString> = namespace.iter().chain(user).map(OsString::from).collect();
        let mut probe = Command::new(&prefix[0]);
        probe.args(&prefix[1..]).arg("true").stdout(Stdio::null()).stderr(Stdio::null());
        if !probe.status().is_ok_and(|status| status.success()) {
            return None;
        }
        prefix.extend(words.into_iter().map(|word| word.as_ref().to_owned()));
        Some(Haft::by(prefix))
    }
}
