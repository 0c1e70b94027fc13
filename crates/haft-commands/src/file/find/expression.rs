//! The expression of `find`.

use haft_fs::{FileType, Timestamp};
use haft_kernel::Bytes;
use haft_text::pattern::Pattern;

use super::print_format::PrintFormat;

/// A search: where, and for what.
pub(super) struct Search {
    pub(super) paths: Vec<Bytes>,
    pub(super) follow: FindFollow,
    pub(super) max_depth: u64,
    pub(super) min_depth: u64,
    /// Whether directories come after their contents.
    pub(super) depth_first: bool,
    /// Whether other file systems are left out.
    pub(super) one_device: bool,
    pub(super) expression: Expression,
    /// The commands of `-exec … +`, with the files that they get.
    pub(super) batches: Vec<Batch>,
}

/// A command that runs once for many files.
#[derive(Clone)]
pub(super) struct Batch {
    pub(super) words: Vec<Bytes>,
    pub(super) files: Vec<Bytes>,
    pub(super) bytes: usize,
}

/// Which symbolic links are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FindFollow {
    Never,
    CommandLine,
    Always,
}

/// A number that is compared with `+N`, `-N` or `N`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Comparison<T> {
    pub(super) kind: ComparisonKind,
    pub(super) value: T,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ComparisonKind {
    Greater,
    Less,
    Equal,
}

impl<T: PartialOrd> Comparison<T> {
    pub(super) fn holds(&self, number: &T) -> bool {
        match self.kind {
            ComparisonKind::Greater => *number > self.value,
            ComparisonKind::Less => *number < self.value,
            ComparisonKind::Equal => *number == self.value,
        }
    }
}

/// One of the times of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileTime {
    Accessed,
    Modified,
    Changed,
}

/// How permissions are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PermissionMatch {
    Exact,
    All,
    Any,
}

/// A pattern, perhaps without regard to case.
pub(super) struct NamePattern {
    pub(super) pattern: Pattern,
}

/// A number of a file that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileNumber {
    User,
    Group,
    Links,
    Inode,
}

/// A test of a file.
pub(super) enum Test {
    Constant(bool),
    Name(NamePattern),
    Path(NamePattern),
    LinkName(NamePattern),
    Type(Vec<FileType>),
    /// The type after following a link, or not following it.
    OtherType(Vec<FileType>),
    Size(Comparison<u64>, u64),
    Empty,
    Permissions(PermissionMatch, u32, u32),
    Number(FileNumber, Comparison<u64>),
    UnknownUser,
    UnknownGroup,
    SameFile(u64, u64),
    /// Within a window that ends or starts at a time: the time, and the length of the window in seconds.
    Time(FileTime, Comparison<Timestamp>, i64),
    NewerThan(FileTime, Timestamp),
    Access(haft_fs::AccessMode),
}

/// The action for a file.
pub(super) enum Action {
    Print(u8),
    Format(PrintFormat),
    Delete,
    Prune,
    Quit,
    Run(Vec<Bytes>),
    /// The index of the batch.
    Collect(usize),
}

/// An expression.
pub(super) enum Expression {
    Test(Test),
    Action(Action),
    Not(Box<Expression>),
    And(Box<Expression>, Box<Expression>),
    Or(Box<Expression>, Box<Expression>),
    /// The value is that of the second.
    List(Box<Expression>, Box<Expression>),
}
