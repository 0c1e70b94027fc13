//! Runs commands for pipes and `system`.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use haft_kernel::Bytes;
use haft_kernel::io::OpenFile;
use haft_kernel::jobs::Member;
use rustix::pipe::{PipeFlags, pipe_with};

use super::{AwkRun, Evaluated};
use crate::text::streams::TextInput;

impl AwkRun<'_, '_, '_> {
    /// Runs a command and returns its exit status.
    pub(super) fn system(&mut self, command: &Bytes) -> Evaluated<f64> {
        self.flush_all()?;
        let child = self.run.context.session_mut().fork();
        let member = self.run.context.start_shell(child, command);
        self.wait_for(Some(member))
    }

    /// Starts a command that reads what is written to the file.
    pub(super) fn start_reader(&mut self, command: &Bytes) -> Evaluated<(Arc<OpenFile>, Member)> {
        self.flush_all()?;
        let (input, output) = self.pipe(command)?;
        let mut child = self.run.context.session_mut().fork();
        child.open_descriptor(0, input);
        let member = self.run.context.start_shell(child, command);
        Ok((Arc::new(OpenFile::pipe(output)), member))
    }

    /// Starts a command whose output is the input.
    pub(super) fn start_writer(&mut self, command: &Bytes) -> Evaluated<(TextInput, Member)> {
        self.flush_all()?;
        let (input, output) = self.pipe(command)?;
        let mut child = self.run.context.session_mut().fork();
        child.open_descriptor(1, output);
        let member = self.run.context.start_shell(child, command);
        let input = TextInput::of_file(Arc::new(OpenFile::pipe(input)), command.clone());
        Ok((input, member))
    }

    fn pipe(&self, command: &Bytes) -> Evaluated<(OwnedFd, OwnedFd)> {
        pipe_with(PipeFlags::CLOEXEC).or_else(|error| {
            let (shown, reason) = (command.lossy(), haft_fs::message(&error.into()));
            self.fatal(format!("cannot open pipe `{shown}': {reason}"))
        })
    }

    /// Waits for a command, and returns its exit status. 0 if there is none.
    pub(super) fn wait_for(&mut self, command: Option<Member>) -> Evaluated<f64> {
        let Some(mut member) = command else { return Ok(0.0) };
        let status = self.run.context.session_mut().wait_member_until(&mut member, None)?;
        Ok(f64::from(status.unwrap_or(0)))
    }
}
