//! Pathname expansion of fields.

use haft_text::Bytes;
use haft_text::glob::{GlobIgnore, GlobOptions, glob};
use haft_text::pattern::{PatternOptions, has_operators};

use crate::flow::Unwind;
use crate::options::ShellOption;
use crate::session::Session;

impl Session {
    /// Appends the paths that match a pattern, sorted. If there is none, `failglob` and `nullglob` decide between an error, no field and
    /// the word itself.
    pub(super) fn expand_glob(
        &mut self,
        word: &Bytes,
        pattern: &[u8],
        fields: &mut Vec<Bytes>,
    ) -> Result<(), Unwind> {
        if !has_operators(pattern, self.options.shell(ShellOption::ExtendedGlob)) {
            fields.push(word.clone());
            return Ok(());
        }
        let found = self.glob(pattern)?;
        if !found.is_empty() {
            fields.extend(found.into_iter().map(Bytes::from));
        } else if self.options.shell(ShellOption::FailGlob) {
            return Err(self.fail_expansion(format_args!("no match: {word}"), 1));
        } else if !self.options.shell(ShellOption::NullGlob) {
            fields.push(word.clone());
        }
        Ok(())
    }

    /// Returns the paths that match a pattern, sorted.
    pub(crate) fn glob(&mut self, pattern: &[u8]) -> Result<Vec<Vec<u8>>, Unwind> {
        let _ = self.flush();
        let ignored = self.value(b"GLOBIGNORE").filter(|value| !value.is_empty());
        let names = PatternOptions {
            extended: self.options.shell(ShellOption::ExtendedGlob),
            ignore_case: self.options.shell(ShellOption::NoCaseGlob),
            bytewise: self.encoding() == haft_text::encoding::Encoding::Bytes,
        };
        let options = GlobOptions {
            pattern: names,
            dotglob: self.options.shell(ShellOption::DotGlob) || ignored.is_some(),
            globstar: self.options.shell(ShellOption::GlobStar),
            match_dot_entries: !self.options.shell(ShellOption::GlobSkipDots),
        };
        let mut stop = || self.is_stopping();
        let mut found =
            glob(&*self.kernel.files, self.working_directory.path(), pattern, &options, &mut stop)
                .map_err(|_| self.check_cancelled().err().unwrap_or(Unwind::Cancelled))?;
        if let Some(ignored) = ignored {
            let ignore = GlobIgnore::new(&ignored, names);
            found.retain(|path| !ignore.matches(path));
        }
        if let Some(locale) = self.collation() {
            found.sort_by(|left, right| locale.compare(left, right));
        }
        Ok(found)
    }
}
