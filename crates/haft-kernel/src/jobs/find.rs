//! Job specifications: `%1`, `%%`, `%name`.

use super::{Job, Jobs};

/// Why a job was not found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobNotFound {
    /// No job matches.
    None,
    /// Several jobs match.
    Ambiguous,
}

impl JobNotFound {
    /// The message for this job specification.
    #[must_use]
    pub fn message(self, specification: &[u8]) -> String {
        let shown = String::from_utf8_lossy(specification);
        match self {
            Self::None => format!("{shown}: no such job"),
            Self::Ambiguous => format!("{}: ambiguous job spec", shown.trim_start_matches(['%', '?'])),
        }
    }
}

impl Jobs {
    /// The job that a specification means: `%1`, `%%`, `%+`, `%-`, `%name`, `%?text`.
    ///
    /// # Errors
    /// If no job matches, or several do.
    pub fn find(&self, specification: &[u8]) -> Result<&Job, JobNotFound> {
        let rest = specification.strip_prefix(b"%").unwrap_or(specification);
        let ranked = |place: usize| {
            let ranked = self.ranked();
            ranked.get(place).or(ranked.first()).and_then(|id| self.get(*id)).ok_or(JobNotFound::None)
        };
        match rest {
            b"" | b"%" | b"+" => ranked(0),
            b"-" => ranked(1),
            _ => match std::str::from_utf8(rest).ok().and_then(|text| text.parse().ok()) {
                Some(id) => self.get(id).ok_or(JobNotFound::None),
                None => self.running(rest),
            },
        }
    }

    /// The only job whose text starts with `text`, or contains the part after a `?`.
    fn running(&self, text: &[u8]) -> Result<&Job, JobNotFound> {
        let fits = |job: &&Job| match text.strip_prefix(b"?") {
            Some(part) => memchr::memmem::find(&job.text, part).is_some(),
            None => job.text.starts_with(text),
        };
        let mut fitting = self.iter().filter(fits);
        match (fitting.next(), fitting.next()) {
            (Some(job), None) => Ok(job),
            (None, _) => Err(JobNotFound::None),
            (Some(_), Some(_)) => Err(JobNotFound::Ambiguous),
        }
    }
}
