//! Commands that run as jobs of their own, with job control.

use haft_lang::ast::{List, Pipeline};
use haft_text::Bytes;

use super::external::Started;
use super::pipeline::StageWork;
use crate::control::{Foreground, JobGroup};
use crate::flow::Flow;
use crate::jobs::Member;
use crate::session::Session;

impl Session {
    /// Runs a program as a job.
    pub(crate) fn run_controlled(&mut self, words: &[Bytes], assigned: &[(Bytes, Bytes)]) -> Flow {
        let group = JobGroup::new(self.kernel.terminal.clone(), true);
        self.processes.set_group(Some(group.clone()));
        let started = self.start_external(words, assigned);
        self.processes.set_group(None);
        match started? {
            Started::Child(child) => {
                let text = self.command_text();
                let status = self.wait_alone(vec![Member::process(child)], group, text)?;
                Ok(status)
            }
            Started::NoShebang(path) => self.run_without_shebang(&path, words, assigned),
            Started::Failed(status) => {
                group.leave_foreground(true);
                Ok(status)
            }
        }
    }

    /// Runs `( )` as a job, on a thread, so that the shell can go on when the job is stopped.
    pub(crate) fn run_controlled_subshell(&mut self, list: &List) -> Flow {
        let _ = self.flush();
        let text = Bytes::from([b"( ", self.text_of(list.span).as_bytes(), b" )"].concat());
        let group = JobGroup::new(self.kernel.terminal.clone(), true);
        let mut child = self.fork();
        child.processes.set_group(Some(group.clone()));
        let body = list.clone();
        let member = StageWork::on_thread(child, move |session| session.run_list(&body));
        self.wait_alone(vec![member], group, text)
    }

    /// Runs a pipeline as a job. Stages that are not programs run on threads, so that the shell can go on when the job is stopped.
    pub(crate) fn run_controlled_pipeline(&mut self, pipeline: &Pipeline) -> Flow {
        let group = JobGroup::new(self.kernel.terminal.clone(), true);
        self.processes.set_group(Some(group.clone()));
        let members = self.start_pipeline(pipeline, false);
        self.processes.set_group(None);
        let text = self.text_of(pipeline.span);
        let members = match self.wait_in_foreground(members, group, text)? {
            Foreground::Ended(members) => members,
            Foreground::Stopped(signal) => return self.leave_loops(signal),
        };
        let statuses: Vec<i32> = members.iter().map(|member| member.status.unwrap_or(0)).collect();
        self.end_pipeline(pipeline, statuses)
    }
}
