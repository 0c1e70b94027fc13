//! Ordinary work goes on under the policy 'workspace', as root and as an unprivileged user.

use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};

use haft_test_support::{Haft, is_root};

use crate::support::{Place, has_landlock};

const HAFT: &str = env!("CARGO_BIN_EXE_haft");
/// A user without privileges.
const NOBODY: u32 = 65534;

/// Work: the commands whose success shows that the programs are installed, and a script.
const WORK: [(&str, &str); 5] = [
    (
        "git --version",
        "git init -q -b main .; git config user.email a@b; git config user.name n
        echo 1 > a; git add a; git commit -qm one
        git checkout -q -b side; echo 2 > b; git add b; git commit -qm two
        git checkout -q main; echo 3 > c; git add c; git commit -qm three; git rebase -q side; git log --format=%s
        git worktree add -q sub/tree -b wt; (cd sub/tree; echo 4 > d; git add d; git commit -qm four); git merge -q wt
        git worktree remove sub/tree; git gc -q; git clone -q . sub/clone; git -C sub/clone log --format=%s; git status --short",
    ),
    (
        "cargo --version && cc --version",
        "mkdir src; printf '[package]\\nname = \"x\"\\nversion = \"0.1.0\"\\nedition = \"2021\"\\n[workspace]\\n' > Cargo.toml
        echo 'fn main() { println!(\"built\"); }' > src/main.rs; cargo build -q --offline; target/debug/x",
    ),
    (
        "npm --version",
        "mkdir dep package; echo '{\"name\": \"dep\", \"version\": \"1.0.0\", \"main\": \"i.js\"}' > package/package.json
        echo 'module.exports = 7' > package/i.js; tar czf dep.tgz package; echo '{\"name\": \"a\", \"version\": \"1.0.0\"}' > package.json
        npm install --offline --silent --no-audit ./dep.tgz > npm.log 2>&1; node -e 'console.log(require(\"dep\"))'",
    ),
    (
        "python3 -c 'import ensurepip, venv'",
        "python3 -c '
import zipfile
wheel = zipfile.ZipFile(\"pkg-1.0-py3-none-any.whl\", \"w\")
info = \"pkg-1.0.dist-info/\"
wheel.writestr(\"pkg.py\", \"x = 5\")
wheel.writestr(info + \"METADATA\", \"Metadata-Version: 2.1\\nName: pkg\\nVersion: 1.0\\n\")
wheel.writestr(info + \"WHEEL\", \"Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n\")
wheel.writestr(info + \"RECORD\", \"\")
wheel.close()'
        python3 -m venv env; env/bin/pip install -q --no-index --disable-pip-version-check ./pkg-1.0-py3-none-any.whl 2> pip.log
        env/bin/python -c 'import pkg, tempfile; print(pkg.x, tempfile.TemporaryFile().write(b\"x\"))'",
    ),
    (
        "make --version && cc --version && python3 --version",
        "echo 'int main(void) { return 0; }' > main.c; printf 'main: main.c\\n\\tcc -o main main.c\\n' > Makefile
        make -s; ./main && echo made; seq 3 | sort -r > sorted; head -n 1 sorted; mktemp > /dev/null",
    ),
];

/// A project and a home directory that are not among temporary files.
struct Workplace(PathBuf);

impl Workplace {
    fn new(name: &str, user: Option<u32>) -> Workplace {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        let place = Workplace(path);
        for name in ["project", "home/.npm/_cacache", "home/.npm/_logs"] {
            std::fs::create_dir_all(place.0.join(name)).expect("a directory");
        }
        for name in ["", "project", "home", "home/.npm", "home/.npm/_cacache", "home/.npm/_logs"] {
            chown(place.0.join(name), user, user).expect("an owner");
        }
        place
    }

    /// Runs a script, with a policy or without.
    #[expect(
        clippy::disallowed_methods,
        reason = "the toolchain is found through the environment of the test"
    )]
    fn run(&self, user: Option<u32>, policy: Option<&str>, script: &str) -> haft_test_support::FinishedHaft {
        let home = std::env::var("HOME").unwrap_or_default();
        let tool = |name: &str, default: &str| {
            std::env::var_os(name).unwrap_or_else(|| format!("{home}/{default}").into())
        };
        let haft = as_user(user).arg(HAFT).directory(self.0.join("project")).env("HOME", self.0.join("home"));
        let haft = haft.env("CARGO_HOME", tool("CARGO_HOME", ".cargo"));
        let haft = haft.env("RUSTUP_HOME", tool("RUSTUP_HOME", ".rustup")).arg("run");
        let haft = policy.into_iter().fold(haft, |haft, policy| haft.args(["--policy", policy]));
        haft.args(["-c", &format!("set -e; {script}")]).run()
    }
}

impl Drop for Workplace {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs programs as a user.
fn as_user(user: Option<u32>) -> Haft {
    let user = user.map(|user| user.to_string());
    let words = user.iter().flat_map(|user| ["setpriv", "--reuid", user, "--regid", user, "--clear-groups"]);
    let words: Vec<&str> = words.chain(["env"]).collect();
    Haft::by(words)
}

fn works_as(user: Option<u32>) {
    if !has_landlock() {
        return;
    }
    if as_user(user).args([HAFT, "version"]).run().code() != Some(0) {
        return println!("skipped: the user cannot run haft");
    }
    for (number, (programs, script)) in WORK.iter().enumerate() {
        if as_user(user).args(["sh", "-c", programs]).directory("/").run().code() != Some(0) {
            println!("skipped: {programs}");
            continue;
        }
        let name = |policy: &str| format!("{policy}-{number}-{}", user.unwrap_or(0));
        let expected = Workplace::new(&name("plain"), user).run(user, None, script).status(0);
        let run = Workplace::new(&name("workspace"), user).run(user, Some("workspace"), script).status(0);
        assert_eq!(run.output_text(), expected.output_text(), "{}", run.error_text());
        assert!(!run.output_text().is_empty());
    }
}

#[test]
fn git_cargo_npm_pip_make_and_python_work_in_the_project() {
    works_as(None);
}

#[test]
fn they_work_for_an_unprivileged_user() {
    if is_root() {
        works_as(Some(NOBODY));
    }
}

#[test]
fn the_home_directory_is_not_a_project() {
    if !has_landlock() {
        return;
    }
    let place = Workplace::new("home", None);
    let home = place.0.join("home");
    for marker in [".git", ".haft"] {
        std::fs::create_dir(home.join(marker)).expect("a directory");
        std::fs::set_permissions(&home, std::fs::Permissions::from_mode(0o755)).expect("a mode");
        let script = "echo x > f || sh -c 'echo x > f' || mkdir d || echo kept";
        let haft = || Haft::new(HAFT).env("HOME", &home).args(["run", "--policy", "workspace", "-c"]);
        let run = haft().arg(script).directory(&home).run();
        assert_eq!(run.output_text(), "kept\n", "{}", run.error_text());
        // A directory below it is one.
        std::fs::create_dir_all(home.join("work")).expect("a directory");
        haft().arg("echo x > f && sh -c 'echo x > f'").directory(home.join("work")).run().status(0);
        std::fs::remove_dir(home.join(marker)).expect("it is empty");
    }
}

#[test]
fn a_script_reaches_the_servers_of_its_programs_and_not_those_of_the_machine() {
    let place = Place::new();
    let outside = std::net::TcpListener::bind("127.0.0.1:0").expect("a listener");
    let port = outside.local_addr().expect("an address").port();
    let server = "import socket, os
s = socket.create_server((\"127.0.0.1\", 0))
open(\"new\", \"w\").write(str(s.getsockname()[1]))
os.rename(\"new\", \"port\")
c = s.accept()[0]
c.send(b\"hello\\n\")";
    let script = format!(
        "python3 -c '{server}' & until [ -e port ]; do sleep 0.01; done
        exec 3<>/dev/tcp/127.0.0.1/$(<port); head -n 1 <&3; wait
        (exec 4<>/dev/tcp/127.0.0.1/{port}) 2> /dev/null || echo unreachable"
    );
    let run = place.haft(Path::new("workspace")).args(["--json", "-c", &script]).run();
    let result = run.json();
    if result["enforced"]["level"] != "namespaces" {
        return println!("skipped: no network namespaces");
    }
    assert_eq!(result["stdout"]["text"], "hello\nunreachable\n", "{result:#}");
}
