//! The working directory and the directory stack of `pushd`.

use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft_text::Bytes;
use rustix::fs::{Mode, OFlags};

use crate::session::Session;

/// The working directory of a session, which is not that of the process.
#[derive(Clone, Debug)]
pub(crate) struct WorkingDirectory {
    /// Absolute, with symbolic links as the user wrote them.
    path: Arc<[u8]>,
    /// An open descriptor of it, so that programs still start in a directory that has been removed.
    descriptor: Option<Arc<OwnedFd>>,
    /// Whether it is the working directory of the process.
    is_of_process: bool,
    /// The directory stack without the working directory, the top first.
    stack: Arc<Vec<Bytes>>,
}

impl WorkingDirectory {
    /// The root directory, with an empty stack.
    pub(super) fn root() -> Self {
        Self {
            path: Arc::from(b"/".as_slice()),
            descriptor: None,
            is_of_process: false,
            stack: Arc::default(),
        }
    }

    /// A subshell starts in the same directory with the same stack.
    pub(super) fn for_subshell(&self) -> Self {
        self.clone()
    }

    /// The absolute path.
    #[inline]
    pub(crate) fn path(&self) -> &[u8] {
        &self.path
    }

    /// Whether an open descriptor keeps the directory alive.
    pub(crate) fn is_held(&self) -> bool {
        self.descriptor.is_some()
    }

    /// The directory stack without the working directory, the top first.
    pub(crate) fn stack(&self) -> &[Bytes] {
        &self.stack
    }

    /// The directory stack, to be changed.
    pub(crate) fn stack_mut(&mut self) -> &mut Vec<Bytes> {
        Arc::make_mut(&mut self.stack)
    }

    /// Replaces the directory stack.
    pub(crate) fn set_stack(&mut self, stack: Vec<Bytes>) {
        self.stack = Arc::new(stack);
    }

    /// The absolute form of a path that is relative to the working directory.
    pub(crate) fn resolve(&self, path: &[u8]) -> Vec<u8> {
        if path.starts_with(b"/") {
            return path.to_vec();
        }
        let mut whole = self.path.to_vec();
        if !whole.ends_with(b"/") {
            whole.push(b'/');
        }
        whole.extend_from_slice(path);
        whole
    }
}

impl Session {
    /// The absolute form of a path, from the session's working directory.
    #[must_use]
    pub fn resolve(&self, path: &[u8]) -> Vec<u8> {
        self.working_directory.resolve(path)
    }

    /// The working directory.
    #[must_use]
    pub fn directory(&self) -> &Path {
        haft_text::path(self.working_directory.path())
    }

    /// Changes the working directory and nothing else. A directory of this machine is held open, but not one in namespaces:
    /// it would keep them in use.
    pub(crate) fn change_directory(&mut self, directory: &[u8]) {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let open = |path: PathBuf| rustix::fs::open(path, flags, Mode::empty()).ok().map(Arc::new);
        let held = self.real_absolute_path(directory).filter(|_| self.kernel.namespaces.is_none());
        self.working_directory.path = Arc::from(directory);
        self.working_directory.descriptor = held.and_then(open);
        self.working_directory.is_of_process = false;
    }

    /// Says that the working directory is that of this process, which never changes.
    pub(super) fn note_process_directory(&mut self) {
        self.working_directory.is_of_process = self.kernel.namespaces.is_none();
    }

    /// Whether a program that inherits the working directory of this process starts in the right one.
    pub(crate) fn shares_process_directory(&self) -> bool {
        self.working_directory.is_of_process && self.kernel.namespaces.is_none()
    }

    /// Whether the name of the working directory leads nowhere, although the directory may still be there under another name.
    pub(crate) fn has_lost_directory(&self) -> bool {
        let path = haft_text::path(self.working_directory.path());
        self.working_directory.is_held() && !self.kernel.files.exists(path)
    }

    /// The directory in which programs start: the working directory by its name, or by its descriptor if the name is gone.
    /// `None` if it is not on this machine.
    pub(crate) fn program_directory(&self) -> Option<PathBuf> {
        let real = self.real_absolute_path(self.working_directory.path())?;
        match &self.working_directory.descriptor {
            Some(descriptor) if !self.shares_process_directory() && !real.exists() => {
                Some(format!("/proc/self/fd/{}", descriptor.as_raw_fd()).into())
            }
            _ => Some(real),
        }
    }
}
