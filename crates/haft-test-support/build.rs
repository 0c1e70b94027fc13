//! Builds the child that the tests start.
//!
//! Cargo builds the libraries of a package that another one depends on for its tests, but not its programs. A build
//! script runs in either case, so whoever can use the helpers has the child too, never an old one. The child needs
//! nothing but the standard library, so one call of the compiler does it.
#![expect(clippy::disallowed_types, reason = "a build script is outside of what haft-process supervises")]
#![expect(clippy::disallowed_methods, reason = "cargo talks to a build script by its environment")]

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
