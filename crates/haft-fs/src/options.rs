//! Options for opening a file, and access permissions.

/// Options for opening a file, with the meaning of the flags of `open(2)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenOptions {
    pub(crate) read: bool,
    pub(crate) write: bool,
    pub(crate) append: bool,
    pub(crate) create: bool,
    pub(crate) create_new: bool,
    pub(crate) truncate: bool,
    pub(crate) nonblocking: bool,
    pub(crate) mode: u32,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl OpenOptions {
    /// Makes options with no flag set. New files have the permission bits `0666`.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            read: false,
            write: false,
            append: false,
            create: false,
            create_new: false,
            truncate: false,
            nonblocking: false,
            mode: 0o666,
        }
    }

    /// Opens the file for reading.
    #[must_use]
    pub const fn read(mut self, read: bool) -> Self {
        self.read = read;
        self
    }

    /// Opens the file for writing.
    #[must_use]
    pub const fn write(mut self, write: bool) -> Self {
        self.write = write;
        self
    }

    /// Opens the file for writing at its end.
    #[must_use]
    pub const fn append(mut self, append: bool) -> Self {
        self.append = append;
        self
    }

    /// Creates the file if it does not exist.
    #[must_use]
    pub const fn create(mut self, create: bool) -> Self {
        self.create = create;
        self
    }

    /// Creates the file. Fails if it exists.
    #[must_use]
    pub const fn create_new(mut self, create_new: bool) -> Self {
        self.create_new = create_new;
        self
    }

    /// Truncates the file.
    #[must_use]
    pub const fn truncate(mut self, truncate: bool) -> Self {
        self.truncate = truncate;
        self
    }

    /// Opens the file without blocking, for example on the other end of a named pipe.
    #[must_use]
    pub const fn nonblocking(mut self, nonblocking: bool) -> Self {
        self.nonblocking = nonblocking;
        self
    }

    /// Sets the exact permission bits of a new file, independent of the process's umask.
    #[must_use]
    pub const fn mode(mut self, mode: u32) -> Self {
        self.mode = mode & 0o7777;
        self
    }

    /// Whether the file is opened for writing.
    #[must_use]
    pub const fn writes(&self) -> bool {
        self.write || self.append
    }

    pub(crate) const fn creates(&self) -> bool {
        self.create || self.create_new
    }
}

/// A set of access permissions. The empty set checks only whether the file exists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccessMode {
    /// Permission to read.
    pub read: bool,
    /// Permission to write.
    pub write: bool,
    /// Permission to execute a file or search a directory.
    pub execute: bool,
}

impl AccessMode {
    /// Permission to read.
    pub const READ: Self = Self { read: true, write: false, execute: false };
    /// Permission to write.
    pub const WRITE: Self = Self { read: false, write: true, execute: false };
    /// Permission to execute a file or search a directory.
    pub const EXECUTE: Self = Self { read: false, write: false, execute: true };
}
