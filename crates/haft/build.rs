//! How the binary is linked.
//!
//! A shell is started often and lives briefly, so it is linked without anything to be done at every start: no relocations,
//! and where the C library can be had as an archive, no shared libraries to be found and bound.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a build script is told everything by its environment, and asks the compiler"
)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// The libraries that Rust's own library asks for, and what stands for each in an executable without shared ones.
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
        write_stand_ins(&directory)?;
        println!("cargo::rustc-link-arg-bins=-L{}", directory.display());
        println!("cargo::rustc-link-arg-bins=-static");
    }
    Ok(())
}

/// Whether the binary is for the machine that builds it, and that is one with the GNU C library.
fn is_gnu_linux() -> bool {
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ENV", "gnu")
        && env::var("HOST") == env::var("TARGET")
}

/// Whether nobody has chosen a linker: not all of them make such an executable that runs.
fn is_usual_linker() -> bool {
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    !flags.contains("link") && env::var_os("RUSTC_LINKER").is_none()
}

/// Whether the C compiler has an archive of everything that is needed; it answers with the bare name if not.
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

/// Writes linker scripts in the names of shared libraries. The compiler asks for those whatever the executable is, and
/// its own switch for archives alone would concern the macros it loads as well.
fn write_stand_ins(directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    for (name, archives) in LIBRARIES {
        fs::write(directory.join(format!("lib{name}.so")), format!("GROUP ( {archives} )\n"))?;
    }
    Ok(())
}
