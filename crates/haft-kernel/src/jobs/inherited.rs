//! Jobs of the parent of a subshell, which can list and signal them, but not wait for them.

use std::sync::Arc;

use haft_text::Bytes;

use super::{Job, JobState, Jobs, ThreadControl};

/// A job of the parent, as it was when the subshell started.
#[derive(Clone, Debug)]
pub struct InheritedJob {
    /// Its number.
    pub id: u32,
    /// Its source text.
    pub text: Bytes,
    /// The source text of each stage, if there are several.
    pub stages: Vec<Bytes>,
    /// Its state.
    pub state: JobState,
    /// Its stages.
    pub members: Vec<InheritedMember>,
    /// Its process group, if it has one of its own.
    pub group: Option<i32>,
    /// Whether `jobs` shows it.
    pub shown: bool,
}

/// A stage of an inherited job.
#[derive(Clone, Debug)]
pub struct InheritedMember {
    /// Its process number.
    pub pid: i32,
    /// Controls it, if it is a thread of this process.
    pub control: Option<ThreadControl>,
}

impl From<&Job> for InheritedJob {
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
    /// The job table of a subshell: it has no jobs of its own, and inherits those of its parent.
    #[must_use]
    pub fn for_subshell(&self) -> Self {
        if self.list.is_empty() {
            return Self { inherited: self.inherited.clone(), ..Self::default() };
        }
        let own = self.list.iter().map(InheritedJob::from);
        Self { inherited: Arc::new(own.chain(self.inherited.iter().cloned()).collect()), ..Self::default() }
    }

    /// Hides the inherited jobs from `jobs`.
    pub fn hide_inherited(&mut self) {
        if self.inherited.iter().any(|job| job.shown) {
            Arc::make_mut(&mut self.inherited).iter_mut().for_each(|job| job.shown = false);
        }
    }

    /// The inherited jobs, in the order of their numbers.
    pub fn inherited(&self) -> impl DoubleEndedIterator<Item = &InheritedJob> {
        self.inherited.iter()
    }
}
