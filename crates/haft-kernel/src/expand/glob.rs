//! Names of files that match a pattern.

use haft_text::Bytes;
use haft_text::glob::{GlobOptions, Ignore, glob};
use haft_text::pattern::{PatternOptions, is_active};

use crate::flow::Unwind;
use crate::options::ShellOption;
use crate::session::Session;

impl Session {
    /// Appends the names that match a pattern, sorted; what happens if there is none depends on the options.
    pub(super) fn expand_glob(
        &mut self,
        word: &Bytes,
        pattern: &[u8],
        fields: &mut Vec<Bytes>,
    ) -> Result<(), Unwind> {
        if !is_active(pattern, self.options.shell(ShellOption::ExtendedGlob)) {
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

    /// The names that match a pattern, sorted.
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
            dots: self.options.shell(ShellOption::DotGlob) || ignored.is_some(),
            recursive: self.options.shell(ShellOption::GlobStar),
            special: !self.options.shell(ShellOption::GlobSkipDots),
        };
        let mut stop = || self.is_stopping();
        let mut found =
            glob(&*self.kernel.files, self.working_directory.path(), pattern, &options, &mut stop)
                .map_err(|_| self.check_cancelled().err().unwrap_or(Unwind::Cancelled))?;
        if let Some(ignored) = ignored {
            let ignore = Ignore::new(&ignored, names);
            found.retain(|path| !ignore.contains(path));
        }
        Ok(found)
    }
}
