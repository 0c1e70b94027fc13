//! Which job `%…` means.

use super::{Job, Jobs};

/// Why a job was not found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// There is none that could be meant.
    None,
    /// There are several.
    Ambiguous,
}

impl Missing {
    /// What is said about it.
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
    /// The job that `%…` means: `%1`, `%%`, `%+`, `%-`, `%name`, `%?text`.
    ///
    /// # Errors
    /// If there is none, or a text says of several what they run.
    pub fn find(&self, specification: &[u8]) -> Result<&Job, Missing> {
        let rest = specification.strip_prefix(b"%").unwrap_or(specification);
        let ranked = |place: usize| {
            let ranked = self.ranked();
            ranked.get(place).or(ranked.first()).and_then(|id| self.get(*id)).ok_or(Missing::None)
        };
        match rest {
            b"" | b"%" | b"+" => ranked(0),
            b"-" => ranked(1),
            _ => match std::str::from_utf8(rest).ok().and_then(|text| text.parse().ok()) {
                Some(id) => self.get(id).ok_or(Missing::None),
                None => self.running(rest),
            },
        }
    }

    /// The one job whose text begins so, or has the part after a `?` in it.
    fn running(&self, text: &[u8]) -> Result<&Job, Missing> {
        let fits = |job: &&Job| match text.strip_prefix(b"?") {
            Some(part) => memchr::memmem::find(&job.text, part).is_some(),
            None => job.text.starts_with(text),
        };
        let mut fitting = self.iter().filter(fits);
        match (fitting.next(), fitting.next()) {
            (Some(job), None) => Ok(job),
            (None, _) => Err(Missing::None),
            (Some(_), Some(_)) => Err(Missing::Ambiguous),
        }
    }
}
