//! Builds the child program of the tests.
//!
//! Cargo builds the library of a dev-dependency, but not its programs. A build script runs in both cases, so every test that
//! uses the helpers has an up-to-date child. The child needs only the standard library, so one call of the compiler builds
//! it.
#![expect(clippy::disallowed_types, reason = "a build script does not need supervision")]
#![expect(clippy::disallowed_methods, reason = "cargo passes settings to a build script in its environment")]

use std::env::var;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=src/bin/child");
    let directory = var("OUT_DIR").expect("cargo sets OUT_DIR");
    let target = Path::new(&directory).join("haft-test-child");
    let compiler = var("RUSTC").expect("cargo sets RUSTC");
    let mut command = Command::new(compiler);
    command.args(["--edition=2024", "--crate-name=child", "--cap-lints=allow", "-Copt-level=1"]);
    command.arg("--target").arg(var("TARGET").expect("cargo sets TARGET"));
    command.arg("-o").arg(&target).arg("src/bin/child/main.rs");
    let status = command.status().expect("the compiler can be started");
    assert!(status.success(), "the child could not be built");
    println!("cargo::rustc-env=HAFT_TEST_CHILD={}", target.display());
}
