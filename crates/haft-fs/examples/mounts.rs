//! Shows a directory of the machine in a file system that is otherwise in memory, and lists it.
//!
//! `cargo run -p haft-fs --example mounts [DIRECTORY]`

use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;

use haft_fs::{FileSystem, Local, Memory, Mounts, OpenOptions};

fn main() -> io::Result<()> {
    let directory = std::env::args().nth(1).unwrap_or_else(|| "/etc".to_owned());
    let files = mount(Path::new(&directory))?;
    for line in list(&files, Path::new("/work"))? {
        println!("{line}");
    }
    Ok(())
}

/// Mounts `directory` at `/work/machine`, next to a note that exists only in memory.
pub(crate) fn mount(directory: &Path) -> io::Result<Mounts> {
    let memory = Memory::new(1 << 20);
    memory.create_dir(Path::new("/work"), 0o755)?;
    let options = OpenOptions::new().write(true).create(true);
    memory.open(Path::new("/work/note"), &options)?.write_all(b"kept in memory\n")?;
    Ok(Mounts::new(Arc::new(memory)).mount("/work/machine", Arc::new(Local), directory))
}

/// Returns a line for each entry: its path, and its path on the machine if it has one.
pub(crate) fn list(files: &Mounts, directory: &Path) -> io::Result<Vec<String>> {
    let mut lines = Vec::new();
    for entry in files.read_dir(directory)? {
        let path = directory.join(entry?.name);
        let place = files.real_path(&path).map_or("in memory".to_owned(), |real| real.display().to_string());
        lines.push(format!("{} ({place})", path.display()));
    }
    lines.sort();
    Ok(lines)
}
