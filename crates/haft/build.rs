//! Linker options of the binary.
//!
//! A shell is started often and lives briefly, so the binary needs little work at start-up: it has no relocations, is linked
//! statically if static C libraries are installed, and the functions that run first are next to each other.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a build script reads its environment and runs the compiler"
)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// A linker script with the functions that run at start, written by `scripts/startup-order`.
const STARTUP_ORDER: &str = "link/startup-order.ld";
/// The shared libraries that the standard library links, and the archives that replace each.
const LIBRARIES: [(&str, &str); 7] = [
    ("c", "libc.a libgcc_eh.a libgcc.a"),
    ("gcc_s", "libgcc_eh.a libgcc.a libc.a"),
    ("dl", "libdl.a"),
    ("m", "libm.a"),
    ("pthread", "libpthread.a"),
    ("rt", "librt.a"),
    ("util", "libutil.a"),
];

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-link-arg-bins=-no-pie");
    if is("CARGO_CFG_TARGET_OS", "linux") && is("DEBUG", "false") {
        link_release();
    }
    if is_gnu_linux() && is_usual_linker() && has_archives() {
        let directory = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("static");
        write_linker_scripts(&directory)?;
        println!("cargo::rustc-link-arg-bins=-L{}", directory.display());
        println!("cargo::rustc-link-arg-bins=-static");
    }
    Ok(())
}

/// Orders the functions of a release, and strips it unless `HAFT_SYMBOLS` is set. The profile does not strip, because that
/// would change the names of functions, some of which the order contains with their hashes.
fn link_release() {
    println!("cargo::rerun-if-env-changed=HAFT_SYMBOLS");
    println!("cargo::rerun-if-changed={STARTUP_ORDER}");
    let package = env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    println!("cargo::rustc-link-arg-bins=-Wl,-T,{package}/{STARTUP_ORDER}");
    if uses_rust_lld() {
        // Many functions of different types, such as destructors, have the same instructions.
        println!("cargo::rustc-link-arg-bins=-Wl,--icf=all");
    }
    if env::var_os("HAFT_SYMBOLS").is_none() {
        println!("cargo::rustc-link-arg-bins=-s");
    }
}

fn is(name: &str, value: &str) -> bool {
    env::var(name).is_ok_and(|found| found == value)
}

/// Whether this is a native build for Linux with the GNU C library.
fn is_gnu_linux() -> bool {
    is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ENV", "gnu")
        && env::var("HOST") == env::var("TARGET")
}

/// Whether the default linker is used. Other linkers may produce a static executable that does not run.
fn is_usual_linker() -> bool {
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    !flags.contains("link") && env::var_os("RUSTC_LINKER").is_none()
}

/// Whether rustc links with the lld that comes with it.
fn uses_rust_lld() -> bool {
    let rustc = env::var_os("RUSTC").expect("cargo sets RUSTC");
    let Ok(printed) = Command::new(rustc).args(["--print", "target-libdir"]).output() else { return false };
    let libraries = PathBuf::from(String::from_utf8_lossy(&printed.stdout).trim());
    is("TARGET", "x86_64-unknown-linux-gnu")
        && is_gnu_linux()
        && is_usual_linker()
        && libraries.with_file_name("bin/gcc-ld/ld.lld").exists()
}

/// Whether all archives are installed. The C compiler prints the bare name of a missing one.
fn has_archives() -> bool {
    let archives = LIBRARIES.iter().flat_map(|(_, archives)| archives.split(' '));
    let mut archives = archives.collect::<Vec<_>>();
    archives.sort_unstable();
    archives.dedup();
    archives.iter().all(|archive| {
        let asked = Command::new("cc").arg(format!("-print-file-name={archive}")).output();
        asked.is_ok_and(|answer| answer.stdout.starts_with(b"/"))
    })
}

/// Writes linker scripts with the names of the shared libraries, which name the archives instead. The compiler always links
/// the shared names, and its option for static libraries would affect procedural macros as well.
fn write_linker_scripts(directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    for (name, archives) in LIBRARIES {
        fs::write(directory.join(format!("lib{name}.so")), format!("GROUP ( {archives} )\n"))?;
    }
    Ok(())
}
