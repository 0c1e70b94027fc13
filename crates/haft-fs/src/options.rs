//! How a file is opened, and what may be done with it.

/// How a file is opened. The flags mean what they mean to `open(2)`.
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
    /// Nothing yet; a new file would get the permission bits `0666`.
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

    /// To be read.
    #[must_use]
    pub const fn read(mut self, read: bool) -> Self {
        self.read = read;
        self
    }

    /// To be written.
    #[must_use]
    pub const fn write(mut self, write: bool) -> Self {
        self.write = write;
        self
    }

    /// To be written, always at its end.
    #[must_use]
    pub const fn append(mut self, append: bool) -> Self {
        self.append = append;
        self
    }

    /// To be made if it is not there.
    #[must_use]
    pub const fn create(mut self, create: bool) -> Self {
        self.create = create;
        self
    }

    /// To be made, and an error if it is there.
    #[must_use]
    pub const fn create_new(mut self, create_new: bool) -> Self {
        self.create_new = create_new;
        self
    }

    /// To be emptied.
    #[must_use]
    pub const fn truncate(mut self, truncate: bool) -> Self {
        self.truncate = truncate;
        self
    }

    /// Not to wait: for the other end of a named pipe above all.
    #[must_use]
    pub const fn nonblocking(mut self, nonblocking: bool) -> Self {
        self.nonblocking = nonblocking;
        self
    }

    /// The exact permission bits of a new file, whatever the process's own mask.
    #[must_use]
    pub const fn mode(mut self, mode: u32) -> Self {
        self.mode = mode & 0o7777;
        self
    }

    pub(crate) const fn writes(&self) -> bool {
        self.write || self.append
    }

    pub(crate) const fn creates(&self) -> bool {
        self.create || self.create_new
    }
}

/// What may be done with a file; nothing at all asks whether it is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// Read.
    pub read: bool,
    /// Write.
    pub write: bool,
    /// Execute, or search a directory.
    pub execute: bool,
}

impl Access {
    /// May it be read?
    pub const READ: Self = Self { read: true, write: false, execute: false };
    /// May it be written?
    pub const WRITE: Self = Self { read: false, write: true, execute: false };
    /// May it be executed or searched?
    pub const EXECUTE: Self = Self { read: false, write: false, execute: true };
}
