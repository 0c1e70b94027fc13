//! How the binary is linked.

/// Without relocations to apply at every start: a shell is started often and lives briefly.
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-link-arg-bins=-no-pie");
}
