//! The tree structure of a plan.

use crate::plan::{FileUse, FileUseMode, PlanStep, PlannedWord, ScriptPlan, StepRole, UsedBy};

/// Maximum number of steps examined to find the input of a pipeline stage.
const MAX_UPSTREAM: usize = 500;

/// The steps of a plan, with the range of each subtree.
pub(super) struct StepTree<'p> {
    pub(super) steps: &'p [PlanStep],
    /// For each step, the index after its last descendant.
    ends: Vec<usize>,
}

impl<'p> StepTree<'p> {
    pub(super) fn of(plan: &'p ScriptPlan) -> Self {
        let steps = &plan.steps;
        let mut ends: Vec<usize> = (1..=steps.len()).collect();
        for index in (0..steps.len()).rev() {
            if let Some(parent) = steps[index].parent {
                ends[parent] = ends[parent].max(ends[index]);
            }
        }
        Self { steps, ends }
    }

    /// Returns a step and its descendants.
    pub(super) fn tree(&self, index: usize) -> &'p [PlanStep] {
        &self.steps[index..self.ends[index]]
    }

    /// Returns the children of a step that have a role, each with its descendants.
    pub(super) fn parts(&self, index: usize, role: StepRole) -> impl Iterator<Item = &'p [PlanStep]> + '_ {
        let inside = index + 1..self.ends[index];
        inside
            .filter(move |part| self.steps[*part].parent == Some(index) && self.steps[*part].role == role)
            .map(|part| self.tree(part))
    }

    /// Returns the earlier stages of the pipeline that feed the standard input of a step, with their
    /// descendants.
    pub(super) fn upstream(&self, index: usize) -> Option<&'p [PlanStep]> {
        let mut at = index;
        loop {
            let step = &self.steps[at];
            if step.files.iter().any(is_input) {
                return None;
            }
            if step.stage.is_some_and(|stage| stage.number > 1) {
                let first = self.first_stage(at).max(at.saturating_sub(MAX_UPSTREAM));
                return Some(&self.steps[first..at]);
            }
            let parent = step.parent?;
            let passes = match step.role {
                StepRole::Wrapped => true,
                StepRole::Body => {
                    matches!(
                        self.steps[parent].action,
                        crate::plan::StepAction::Compound { keyword: "{" | "(" }
                    )
                }
                _ => false,
            };
            if !passes {
                return None;
            }
            at = parent;
        }
    }

    /// Returns the index of the first stage of a step's pipeline.
    fn first_stage(&self, index: usize) -> usize {
        let parent = self.steps[index].parent;
        let mut at = index;
        while at > 0
            && index - at < MAX_UPSTREAM
            && self.steps[at].stage.is_some_and(|stage| stage.number > 1)
        {
            at -= 1;
            while self.steps[at].parent != parent {
                match self.steps[at].parent {
                    Some(above) => at = above,
                    None => return at,
                }
            }
        }
        at
    }

    /// Whether one of these commands is an ancestor of a step.
    pub(super) fn runs_in(&self, step: &PlanStep, names: &[&[u8]]) -> bool {
        let mut parent = step.parent;
        while let Some(at) = parent {
            if names.contains(&name(&self.steps[at])) {
                return true;
            }
            parent = self.steps[at].parent;
        }
        false
    }
}

/// Whether a file use redirects standard input.
pub(super) fn is_input(file: &FileUse) -> bool {
    file.by == UsedBy::Redirection
        && match file.descriptor.as_deref() {
            None => matches!(
                file.mode,
                FileUseMode::Read
                    | FileUseMode::ReadWrite
                    | FileUseMode::HereDocument
                    | FileUseMode::HereString
            ),
            Some(descriptor) => descriptor == "0",
        }
}

/// Returns the base name of a command; empty if it is unknown.
pub(super) fn name(step: &PlanStep) -> &[u8] {
    let name = match step.action {
        crate::plan::StepAction::Command { .. } => {
            step.argv.first().and_then(PlannedWord::literal).unwrap_or_default()
        }
        _ => b"",
    };
    name.rsplit(|byte| *byte == b'/').next().unwrap_or(name)
}

/// Returns the literal arguments of a command.
pub(super) fn words(step: &PlanStep) -> Vec<&[u8]> {
    step.argv.iter().skip(1).filter_map(PlannedWord::literal).collect()
}

/// Whether a command has a short option.
pub(super) fn has_letter(step: &PlanStep, letter: u8) -> bool {
    let options = words(step).into_iter().take_while(|word| *word != b"--");
    options
        .into_iter()
        .any(|word| word.len() > 1 && word[0] == b'-' && word[1] != b'-' && word[1..].contains(&letter))
}
