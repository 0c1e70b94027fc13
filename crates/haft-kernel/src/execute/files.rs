//! Unary and file tests of `[[ ]]` and `test`, such as `-f`, `-v`, `-nt`.

use haft_fs::{AccessMode, FileType, Metadata};
use haft_lang::ast::BinaryTest;

use crate::flow::Unwind;
use crate::options::SetOption;
use crate::session::{Session, split_reference};
use crate::variables::Attributes;

impl Session {
    /// Evaluates a unary test by its letter, except `-z` and `-n`.
    ///
    /// # Errors
    /// If a subscript in the operand is not a valid expression.
    pub(crate) fn test_letter(&mut self, letter: u8, operand: &[u8]) -> Result<bool, Unwind> {
        let _ = self.flush();
        Ok(match letter {
            b'v' => return self.test_variable(operand),
            b'R' => self
                .variables
                .get(operand)
                .is_some_and(|variable| variable.is(Attributes::NAMEREF) && variable.is_set()),
            b'o' => SetOption::from_name(operand).is_some_and(|option| self.options.has(option)),
            b't' => std::str::from_utf8(operand)
                .ok()
                .and_then(|text| text.trim().parse().ok())
                .and_then(|number| self.open_files.get(number))
                .is_some_and(|file| file.is_terminal()),
            b'h' | b'L' => self.link_metadata(operand).is_some_and(|metadata| metadata.is_symlink()),
            b'r' => self.test_access(operand, AccessMode::READ),
            b'w' => self.test_access(operand, AccessMode::WRITE),
            b'x' => self.test_access(operand, AccessMode::EXECUTE),
            b'O' => self.file_metadata(operand).is_some_and(|found| found.uid == self.effective_owner().0),
            b'G' => self.file_metadata(operand).is_some_and(|found| found.gid == self.effective_owner().1),
            _ => self.file_metadata(operand).is_some_and(|metadata| test_metadata(letter, &metadata)),
        })
    }

    fn test_access(&self, operand: &[u8], access: AccessMode) -> bool {
        if let Some(number) = descriptor_number(operand) {
            return self.open_files.get(number).is_some();
        }
        !operand.is_empty()
            && self.kernel.files.access(haft_text::path(&self.resolve(operand)), access).is_ok()
    }

    /// The metadata of a file, following symbolic links. `/dev/fd/3` means the session's own descriptor.
    pub(crate) fn file_metadata(&self, operand: &[u8]) -> Option<Metadata> {
        if operand.is_empty() {
            return None;
        }
        if let Some(number) = descriptor_number(operand) {
            let file = self.open_files.get(number)?;
            if let Some(descriptor) = file.descriptor() {
                return haft_fs::descriptor_metadata(descriptor).ok();
            }
        }
        self.kernel.files.metadata(haft_text::path(&self.resolve(operand))).ok()
    }

    fn link_metadata(&self, operand: &[u8]) -> Option<Metadata> {
        if operand.is_empty() {
            return None;
        }
        self.kernel.files.symlink_metadata(haft_text::path(&self.resolve(operand))).ok()
    }

    /// `-v`.
    fn test_variable(&mut self, operand: &[u8]) -> Result<bool, Unwind> {
        if let Some((name, subscript)) = split_reference(operand) {
            let (name, subscript) = (name.to_vec(), subscript.to_vec());
            if matches!(subscript.as_slice(), b"@" | b"*") && !self.is_associative(&name) {
                return Ok(self.lookup(&name).is_some_and(|variable| !variable.values().is_empty()));
            }
            let subscript = self.expand_subscript_text(&subscript)?;
            return self.is_element_set(&name, &subscript);
        }
        if let Some(number) = std::str::from_utf8(operand).ok().and_then(|text| text.parse::<usize>().ok()) {
            return Ok(number <= self.parameters.positional().len());
        }
        Ok(self.is_set(operand))
    }

    /// `-nt`, `-ot`, `-ef`.
    pub(crate) fn test_files(&mut self, test: BinaryTest, left: &[u8], right: &[u8]) -> bool {
        let _ = self.flush();
        let (left, right) = (self.file_metadata(left), self.file_metadata(right));
        match (test, left, right) {
            (BinaryTest::Newer, Some(left), Some(right)) => left.modified > right.modified,
            (BinaryTest::Newer, Some(_), None) => true,
            (BinaryTest::Older, Some(left), Some(right)) => left.modified < right.modified,
            (BinaryTest::Older, None, Some(_)) => true,
            (BinaryTest::SameFile, Some(left), Some(right)) => left.same_file(&right),
            _ => false,
        }
    }
}

fn test_metadata(letter: u8, metadata: &Metadata) -> bool {
    match letter {
        b'a' | b'e' => true,
        b'f' => metadata.is_file(),
        b'd' => metadata.is_dir(),
        b's' => metadata.size > 0,
        b'p' => metadata.kind == FileType::Fifo,
        b'S' => metadata.kind == FileType::Socket,
        b'b' => metadata.kind == FileType::BlockDevice,
        b'c' => metadata.kind == FileType::CharacterDevice,
        b'u' => metadata.mode & 0o4000 != 0,
        b'g' => metadata.mode & 0o2000 != 0,
        b'k' => metadata.mode & 0o1000 != 0,
        b'N' => metadata.modified > metadata.accessed,
        _ => false,
    }
}

/// The session's descriptor that `/dev/fd/N`, `/dev/stdin` and similar names mean.
pub(super) fn descriptor_number(path: &[u8]) -> Option<u32> {
    match path {
        b"/dev/stdin" => Some(0),
        b"/dev/stdout" => Some(1),
        b"/dev/stderr" => Some(2),
        _ => {
            let number =
                [&b"/dev/fd/"[..], b"/proc/self/fd/"].iter().find_map(|start| path.strip_prefix(*start));
            std::str::from_utf8(number?).ok()?.parse().ok()
        }
    }
}
