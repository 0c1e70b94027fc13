//! Copying of directories and of attributes.

use haft_fs::{FileTimes, Metadata, TimeChange};

use super::super::run::join;
use super::{CopyMethod, CopyStep, Copying, TopLevel, identity};
use crate::text::streams::{Stop, TextRun};

impl Copying {
    pub(super) fn copy_directory(
        &mut self,
        run: &mut TextRun<'_, '_>,
        step: &CopyStep<'_>,
        top: &TopLevel<'_>,
        ancestors: &mut Vec<(u64, u64)>,
    ) -> Result<bool, Stop> {
        let key = identity(&step.source_metadata);
        if ancestors.contains(&key) {
            let from = run.shown(step.source);
            run.problem(format_args!("cannot copy cyclic symbolic link {from}"));
            return Ok(false);
        }
        let is_new = step.existing.is_none();
        if is_new && !self.make_directory(run, step)? {
            return Ok(false);
        }
        ancestors.push(key);
        let copied = self.copy_entries(run, step, top, ancestors);
        ancestors.pop();
        let copied = copied?;
        self.remember_destination(run, step);
        let kept = self.preserve(run, step)?;
        if is_new && !self.options.preserve.mode {
            let mode = self.new_mode(run, &step.source_metadata);
            let _ = run.files().set_permissions(&run.path(step.destination), mode);
        }
        Ok(copied && kept)
    }

    /// Makes the destination of a directory. The user may do everything there until it is complete.
    fn make_directory(&mut self, run: &mut TextRun<'_, '_>, step: &CopyStep<'_>) -> Result<bool, Stop> {
        let mode = self.new_mode(run, &step.source_metadata) | 0o700;
        if let Err(error) = run.files().create_dir(&run.path(step.destination), mode) {
            run.name_failed("cannot create directory", step.destination, &error);
            return Ok(false);
        }
        if let Ok(made) = run.lstat(step.destination) {
            self.copied.entry(identity(&made)).or_insert_with(|| step.destination.to_vec());
        }
        match (self.options.verbose, self.options.method) {
            (true, CopyMethod::Move) => {
                let to = run.shown(step.destination);
                run.write(format!("created directory {to}\n").as_bytes())?;
            }
            (true, _) => self.report(run, "", step)?,
            _ => {}
        }
        Ok(true)
    }

    fn copy_entries(
        &mut self,
        run: &mut TextRun<'_, '_>,
        step: &CopyStep<'_>,
        top: &TopLevel<'_>,
        ancestors: &mut Vec<(u64, u64)>,
    ) -> Result<bool, Stop> {
        let names = match run.names_in(step.source)? {
            Ok(names) => names,
            Err(error) => {
                run.name_failed("cannot access", step.source, &error);
                return Ok(false);
            }
        };
        let mut all = true;
        for name in names {
            let (from, to) = (join(step.source, &name), join(step.destination, &name));
            all &= self.copy(run, &from, &to, top, ancestors)?;
            if self.is_into_itself {
                break;
            }
        }
        Ok(all)
    }

    /// The mode of a new file.
    pub(super) fn new_mode(&self, run: &TextRun<'_, '_>, source: &Metadata) -> u32 {
        match self.options.preserve.mode {
            true => source.mode,
            false => source.mode & 0o777 & !run.context.session().umask(),
        }
    }

    /// Sets what is preserved of the source.
    pub(super) fn preserve(&self, run: &mut TextRun<'_, '_>, step: &CopyStep<'_>) -> Result<bool, Stop> {
        let (source, path) = (&step.source_metadata, run.path(step.destination));
        let is_link = source.is_symlink();
        if self.options.preserve.timestamps {
            let (accessed, modified) = (TimeChange::At(source.accessed), TimeChange::At(source.modified));
            let times = FileTimes { accessed, modified, keep_link: is_link };
            if let Err(error) = run.files().set_times(&path, &times) {
                run.name_failed("preserving times for", step.destination, &error);
                return Ok(false);
            }
        }
        if self.options.preserve.ownership {
            let made = run.lstat(step.destination);
            let differs = made.is_ok_and(|made| (made.uid, made.gid) != (source.uid, source.gid));
            if differs && run.files().set_owner(&path, Some(source.uid), Some(source.gid)).is_err() {
                let _ = run.files().set_owner(&path, None, Some(source.gid));
            }
        }
        if self.options.preserve.mode && !is_link {
            let result = run.files().set_permissions(&path, source.mode);
            if let Err(error) = result {
                run.name_failed("preserving permissions for", step.destination, &error);
                return Ok(false);
            }
        }
        Ok(true)
    }
}
