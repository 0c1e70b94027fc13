//! Linker options of the binary.
//!
//! A shell is started often and lives briefly, so the binary needs no work at start-up: it has no relocations, and is linked
//! statically if static C libraries are installed.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a build script reads its environment and runs the compiler"
)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

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
    if is_gnu_linux() && is_usual_linker() && has_archives() {
        let directory = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("static");
        write_linker_scripts(&directory)?;
        println!("cargo::rustc-link-arg-bins=-L{}", directory.display());
        println!("cargo::rustc-link-arg-bins=-static");
    }
    Ok(())
}

/// Whether this is a native build for Linux with the GNU C library.
fn is_gnu_linux() -> bool {
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ENV", "gnu")
        && env::var("HOST") == env::var("TARGET")
}

/// Whether the default linker is used. Other linkers may produce a static executable that does not run.
fn is_usual_linker() -> bool {
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    !flags.contains("link") && env::var_os("RUSTC_LINKER").is_none()
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
