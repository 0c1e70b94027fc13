//! A PID namespace for what may signal every process it can see.
#![expect(clippy::disallowed_types, reason = "the tests of the supervisor are not supervised by it")]

use std::ffi::{OsStr, OsString};
use std::process::{Command, Stdio};

use crate::{Haft, is_root};

impl Haft {
    /// A call of the program in a PID namespace of its own, where no process of this machine can be signalled. `None` where
    /// such a namespace cannot be made; the test then has nothing to try.
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
