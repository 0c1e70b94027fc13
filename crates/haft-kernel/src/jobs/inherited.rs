//! The jobs that a subshell knows of its parent: it can show them and send them signals, but not wait for them.

use std::sync::Arc;

use haft_text::Bytes;

use super::{Job, JobState, Jobs, ThreadControl};

/// A job of the parent, as it was when the subshell began.
#[derive(Clone, Debug)]
pub struct Inherited {
    /// Its number.
    pub id: u32,
    /// What it runs.
    pub text: Bytes,
    /// What its stages run, if it is a pipeline of several.
    pub stages: Vec<Bytes>,
    /// What had become of it.
    pub state: JobState,
    /// Its stages.
    pub members: Vec<InheritedMember>,
    /// Its process group, if it has one of its own.
    pub group: Option<i32>,
    /// Whether `jobs` shows it.
    pub shown: bool,
}

/// A stage of such a job.
#[derive(Clone, Debug)]
pub struct InheritedMember {
    /// Its process number.
    pub pid: i32,
    /// How it is reached, if it is a thread of this process.
    pub control: Option<ThreadControl>,
}

impl From<&Job> for Inherited {
    fn from(job: &Job) -> Self {
        let members = job
            .members
            .iter()
            .map(|member| InheritedMember { pid: member.pid, control: member.control().cloned() })
            .collect();
        let group = job.group.as_ref().and_then(|group| group.number());
        let (text, stages, state) = (job.text.clone(), job.stages.clone(), job.state());
        Self { id: job.id, text, stages, state, members, group, shown: true }
    }
}

impl Jobs {
    /// What a subshell begins with.
    #[must_use]
    pub fn for_subshell(&self) -> Self {
        if self.list.is_empty() {
            return Self { inherited: self.inherited.clone(), ..Self::default() };
        }
        let own = self.list.iter().map(Inherited::from);
        Self { inherited: Arc::new(own.chain(self.inherited.iter().cloned()).collect()), ..Self::default() }
    }

    /// Has `jobs` not show those of the parent any more.
    pub fn hide_inherited(&mut self) {
        if self.inherited.iter().any(|job| job.shown) {
            Arc::make_mut(&mut self.inherited).iter_mut().for_each(|job| job.shown = false);
        }
    }

    /// The jobs of the parent, in the order of their numbers.
    pub fn inherited(&self) -> impl DoubleEndedIterator<Item = &Inherited> {
        self.inherited.iter()
    }
}
