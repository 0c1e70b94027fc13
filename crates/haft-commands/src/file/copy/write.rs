//! Copying of one file that is not a directory.

use std::io::{self, Read as _, Write as _};

use haft_fs::{File, FileType, OpenOptions};
use rustix::io::Errno;

use super::{CopyMethod, CopyStep, Copying};
use crate::text::streams::{Stop, TextRun};

/// How much is copied at once.
const COPY_BYTES: usize = 128 * 1024;

impl Copying {
    /// Copies a file that is not a directory.
    pub(super) fn copy_content(
        &mut self,
        run: &mut TextRun<'_, '_>,
        step: &mut CopyStep<'_>,
    ) -> Result<bool, Stop> {
        let copied = match (self.options.method, step.source_metadata.kind) {
            (CopyMethod::SymbolicLink, _) => self.link_symbolically(run, step)?,
            (CopyMethod::HardLink, _) => self.link_to(run, step.source, step, self.options.force)?,
            (_, FileType::Symlink) => self.copy_link(run, step)?,
            (_, FileType::File) => self.copy_regular(run, step)?,
            (_, FileType::CharacterDevice | FileType::Fifo) if !self.options.recursive => {
                self.copy_regular(run, step)?
            }
            _ => {
                let error = io::Error::from_raw_os_error(Errno::OPNOTSUPP.raw_os_error());
                run.name_failed("cannot create special file", step.destination, &error);
                false
            }
        };
        if !copied {
            return Ok(false);
        }
        self.remember_destination(run, step);
        match self.options.method {
            CopyMethod::SymbolicLink | CopyMethod::HardLink => Ok(true),
            _ => self.preserve(run, step),
        }
    }

    fn link_symbolically(&self, run: &mut TextRun<'_, '_>, step: &CopyStep<'_>) -> Result<bool, Stop> {
        let is_local = !step.destination.contains(&b'/')
            || run
                .stat(super::super::run::directory_part(step.destination))
                .is_ok_and(|directory| run.stat(b".").is_ok_and(|current| current.same_file(&directory)));
        if !step.source.starts_with(b"/") && !is_local {
            let to = run.shown_plain(step.destination);
            run.problem(format_args!("{to}: can make relative symbolic links only in current directory"));
            return Ok(false);
        }
        let (path, target) = (run.path(step.destination), bytes_path(step.source));
        let mut result = run.files().create_symlink(&target, &path);
        let exists = result.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::AlreadyExists);
        if exists && (self.options.force || self.options.remove_destination) {
            result = run.files().remove(&path).and_then(|()| run.files().create_symlink(&target, &path));
        }
        if let Err(error) = result {
            let (to, from) = (run.shown(step.destination), run.shown(step.source));
            run.file_failed(format_args!("cannot create symbolic link {to} to {from}"), &error);
            return Ok(false);
        }
        Ok(true)
    }

    fn copy_link(&self, run: &mut TextRun<'_, '_>, step: &CopyStep<'_>) -> Result<bool, Stop> {
        let target = match run.files().read_link(&run.path(step.source)) {
            Ok(target) => target,
            Err(error) => {
                run.name_failed("cannot read symbolic link", step.source, &error);
                return Ok(false);
            }
        };
        let path = run.path(step.destination);
        match run.files().create_symlink(&target, &path) {
            Ok(()) => Ok(true),
            Err(_)
                if step.existing.is_some() && run.files().read_link(&path).is_ok_and(|old| old == target) =>
            {
                Ok(true)
            }
            Err(error) => {
                run.name_failed("cannot create symbolic link", step.destination, &error);
                Ok(false)
            }
        }
    }

    fn copy_regular(&self, run: &mut TextRun<'_, '_>, step: &mut CopyStep<'_>) -> Result<bool, Stop> {
        let source = match run.files().open(&run.path(step.source), &OpenOptions::new().read(true)) {
            Ok(source) => source,
            Err(error) => {
                let from = run.shown(step.source);
                run.file_failed(format_args!("cannot open {from} for reading"), &error);
                return Ok(false);
            }
        };
        let Some(target) = self.open_destination(run, step)? else { return Ok(false) };
        copy_bytes(run, step, source, target)
    }

    /// Opens the destination. Prints the reason if that fails.
    fn open_destination(
        &self,
        run: &mut TextRun<'_, '_>,
        step: &mut CopyStep<'_>,
    ) -> Result<Option<File>, Stop> {
        let path = run.path(step.destination);
        if step.existing.is_some() {
            let overwrite = OpenOptions::new().write(true).truncate(true);
            match run.files().open(&path, &overwrite) {
                Ok(file) => return Ok(Some(file)),
                Err(_) if self.options.force => {
                    if let Err(error) = run.files().remove(&path) {
                        run.name_failed("cannot remove", step.destination, &error);
                        return Ok(None);
                    }
                    if self.options.verbose {
                        let to = run.shown(step.destination);
                        run.write(format!("removed {to}\n").as_bytes())?;
                    }
                    step.existing = None;
                }
                Err(error) => {
                    run.name_failed("cannot create regular file", step.destination, &error);
                    return Ok(None);
                }
            }
        }
        let mode = self.new_mode(run, &step.source_metadata);
        let create = OpenOptions::new().write(true).create_new(true).mode(mode);
        match run.files().open(&path, &create) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let to = run.shown(step.destination);
                run.problem(format_args!("not writing through dangling symlink {to}"));
                Ok(None)
            }
            Err(error) => {
                let is_slash =
                    error.kind() == io::ErrorKind::IsADirectory && step.destination.ends_with(b"/");
                let error = if is_slash { io::Error::from(Errno::NOTDIR) } else { error };
                run.name_failed("cannot create regular file", step.destination, &error);
                Ok(None)
            }
        }
    }
}

fn bytes_path(name: &[u8]) -> std::path::PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    std::ffi::OsStr::from_bytes(name).into()
}

/// Copies all bytes.
fn copy_bytes(
    run: &mut TextRun<'_, '_>,
    step: &CopyStep<'_>,
    mut source: File,
    mut target: File,
) -> Result<bool, Stop> {
    let mut buffer = vec![0; COPY_BYTES];
    loop {
        run.context.check()?;
        let count = match source.read(&mut buffer) {
            Ok(0) => return Ok(true),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => {
                run.name_failed("error reading", step.source, &error);
                return Ok(false);
            }
        };
        if let Err(error) = target.write_all(&buffer[..count]) {
            run.name_failed("error writing", step.destination, &error);
            return Ok(false);
        }
    }
}
