//! Which files a run can reach: `--root`, `--mount`, `--put`, `--get` and `--scripts`.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use haft_fs::{FileSystem, Memory, Mounts, OpenOptions, Rooted};
use haft_kernel::{KernelBuilder, isolated_files};

use crate::failure::Failure;
use crate::process_context::ProcessContext;

/// The size of the file system of an isolated run.
const MAX_ISOLATED_BYTES: u64 = 256 << 20;

const ISOLATION: &str = "Isolation";

#[derive(Args, Debug)]
pub(crate) struct ConfinementOptions {
    /// Run in memory: no files of the machine, no programs, no environment
    #[arg(long, conflicts_with = "cwd", help_heading = ISOLATION)]
    pub(crate) isolated: bool,
    /// Run confined to a directory, which is '/': no other files, no programs, no environment
    #[arg(long, value_name = "DIR", conflicts_with_all = ["isolated", "cwd"], help_heading = ISOLATION)]
    pub(crate) root: Option<PathBuf>,
    /// Show a directory at a path, with '--isolated' or '--root'; ':ro' makes it read-only
    #[arg(long = "mount", value_name = "DIR:/PATH[:ro]", value_parser = MountRequest::parse, help_heading = ISOLATION)]
    mounts: Vec<MountRequest>,
    /// Copy a file into an isolated run before it starts
    #[arg(long, value_name = "FILE:/PATH", value_parser = parse_put, requires = "isolated", help_heading = ISOLATION)]
    put: Vec<Transfer>,
    /// Copy a file out of an isolated run after it has ended
    #[arg(long, value_name = "/PATH:FILE", value_parser = parse_get, requires = "isolated", help_heading = ISOLATION)]
    get: Vec<Transfer>,
    /// Run the scripts in a directory as commands, by their file names
    #[arg(long, value_name = "DIR", help_heading = ISOLATION)]
    scripts: Vec<PathBuf>,
}

/// A directory of the machine that is shown at a path.
#[derive(Clone, Debug)]
struct MountRequest {
    directory: PathBuf,
    point: PathBuf,
    read_only: bool,
}

impl MountRequest {
    fn parse(text: &str) -> Result<Self, String> {
        let (rest, read_only) = match text.strip_suffix(":ro") {
            Some(rest) => (rest, true),
            None => (text, false),
        };
        match rest.rsplit_once(":/") {
            Some((directory, point)) if !directory.is_empty() => {
                Ok(Self { directory: directory.into(), point: format!("/{point}").into(), read_only })
            }
            _ => Err("expected DIR:/PATH or DIR:/PATH:ro".to_owned()),
        }
    }
}

/// A file of the machine, and its path in the session.
#[derive(Clone, Debug)]
struct Transfer {
    file: PathBuf,
    inside: PathBuf,
}

fn parse_put(text: &str) -> Result<Transfer, String> {
    match text.rsplit_once(":/") {
        Some((file, inside)) if !file.is_empty() && !inside.is_empty() => {
            Ok(Transfer { file: file.into(), inside: format!("/{inside}").into() })
        }
        _ => Err("expected FILE:/PATH".to_owned()),
    }
}

fn parse_get(text: &str) -> Result<Transfer, String> {
    match text.split_once(':') {
        Some((inside, file)) if inside.starts_with('/') && !file.is_empty() => {
            Ok(Transfer { file: file.into(), inside: inside.into() })
        }
        _ => Err("expected /PATH:FILE".to_owned()),
    }
}

impl ConfinementOptions {
    /// Whether the run cannot reach all files of the machine.
    pub(crate) fn is_confined(&self) -> bool {
        self.isolated || self.root.is_some()
    }

    /// The files of a confined run, with those of `--put`. Without `--isolated` and `--root`, `--mount` is an error.
    pub(crate) fn files(&self, process: &ProcessContext) -> Result<Option<Arc<dyn FileSystem>>, Failure> {
        if !self.is_confined() {
            return match self.mounts.is_empty() {
                true => Ok(None),
                false => Err(Failure::usage("'--mount' needs '--isolated' or '--root'")),
            };
        }
        let memory: Arc<Memory> = Arc::new(isolated_files(MAX_ISOLATED_BYTES));
        for transfer in &self.put {
            put(&*memory, &absolute(&transfer.file, process), transfer)?;
        }
        let mut files = match &self.root {
            Some(root) => {
                let confined = confine(root, process)?;
                Mounts::new(Arc::new(confined)).mount("/dev", memory, "/dev")
            }
            None if self.mounts.is_empty() && self.scripts.is_empty() => return Ok(Some(memory)),
            None => Mounts::new(memory),
        };
        for mount in &self.mounts {
            let directory = Arc::new(confine(&mount.directory, process)?);
            files = match mount.read_only {
                true => files.mount_read_only(&mount.point, directory, "/"),
                false => files.mount(&mount.point, directory, "/"),
            };
        }
        for (index, directory) in self.scripts.iter().enumerate() {
            let directory = Arc::new(confine(directory, process)?);
            files = files.mount_read_only(script_mount(index), directory, "/");
        }
        Ok(Some(Arc::new(files)))
    }

    /// Adds the directories of `--scripts` to a kernel.
    pub(crate) fn with_scripts(&self, mut kernel: KernelBuilder, process: &ProcessContext) -> KernelBuilder {
        use std::os::unix::ffi::OsStrExt as _;
        for (index, directory) in self.scripts.iter().enumerate() {
            let path = match self.is_confined() {
                true => script_mount(index).into(),
                false => absolute(directory, process),
            };
            kernel = kernel.scripts(path.as_os_str().as_bytes());
        }
        kernel
    }

    /// Copies the files of `--get` to the machine.
    pub(crate) fn get_files(&self, files: &dyn FileSystem, process: &ProcessContext) -> Result<(), Failure> {
        for transfer in &self.get {
            let failed = |error: &std::io::Error| {
                let inside = transfer.inside.display();
                Failure::new(format_args!("cannot get '{inside}': {}", haft_fs::message(error)), 1)
            };
            let mut content = Vec::new();
            let opened = files.open(&transfer.inside, &OpenOptions::new().read(true));
            opened.and_then(|mut file| file.read_to_end(&mut content)).map_err(|error| failed(&error))?;
            std::fs::write(absolute(&transfer.file, process), content).map_err(|error| {
                let file = transfer.file.display();
                Failure::new(format_args!("cannot write '{file}': {}", haft_fs::message(&error)), 1)
            })?;
        }
        Ok(())
    }
}

/// The directory of the scripts in a confined run.
fn script_mount(index: usize) -> String {
    format!("/haft/scripts/{index}")
}

fn absolute(path: &Path, process: &ProcessContext) -> PathBuf {
    process.working_directory.as_deref().unwrap_or(Path::new("/")).join(path)
}

/// Confines paths to a directory of the machine.
fn confine(directory: &Path, process: &ProcessContext) -> Result<Rooted, Failure> {
    Rooted::open_confined(&absolute(directory, process)).map_err(|error| {
        let shown = directory.display();
        Failure::usage(format_args!("cannot use directory '{shown}': {}", haft_fs::message(&error)))
    })
}

/// Copies a file of the machine into a session.
fn put(files: &dyn FileSystem, file: &Path, transfer: &Transfer) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        let shown = transfer.file.display();
        Failure::usage(format_args!("cannot put '{shown}': {}", haft_fs::message(&error)))
    };
    let content = std::fs::read(file).map_err(failed)?;
    let parents: Vec<&Path> = transfer.inside.ancestors().skip(1).collect();
    for parent in parents.into_iter().rev().filter(|parent| !files.is_dir(parent)) {
        files.create_dir(parent, 0o755).map_err(failed)?;
    }
    let options = OpenOptions::new().write(true).create(true).truncate(true).mode(0o644);
    files.open(&transfer.inside, &options).and_then(|mut file| file.write_all(&content)).map_err(failed)
}
