//! Creating and joining mount namespaces.
//!
//! [`create`] forks a child into new namespaces. The child mounts the overlays, opens its namespaces and ends. It shares the
//! table of descriptors with this process, so what it opened stays open here and keeps the mounts alive. The child of a
//! process with several threads may only make system calls on data that the parent prepared.

use std::ffi::{CStr, CString};
use std::io;
use std::mem;
use std::os::fd::{FromRawFd as _, OwnedFd, RawFd};

use super::child::errno;
use super::clone::CloneArguments;

/// An overlay to mount over `tree`.
#[derive(Debug)]
pub(crate) struct OverlayPaths {
    pub(crate) tree: CString,
    pub(crate) upper: CString,
    pub(crate) work: CString,
}

/// Mounts of a new namespace.
#[derive(Debug, Default)]
pub(crate) struct MountPlan {
    pub(crate) overlays: Vec<OverlayPaths>,
    /// Directories that become mount points, so that they can neither be renamed nor removed.
    pub(crate) pinned: Vec<CString>,
    /// Files and directories that become read-only.
    pub(crate) read_only: Vec<CString>,
}

/// The user namespace that owns a new mount namespace.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NamespaceOwner<'a> {
    /// That of this process.
    Own,
    /// An existing one.
    Existing(RawFd),
    /// A new one.
    New(&'a IdMaps),
}

/// The contents of `uid_map` and `gid_map` for a new user namespace.
#[derive(Debug)]
pub(crate) struct IdMaps {
    pub(crate) users: Vec<u8>,
    pub(crate) groups: Vec<u8>,
}

/// Open descriptors of new namespaces, and of the root directory in them.
#[derive(Debug)]
pub(crate) struct NamespaceDescriptors {
    pub(crate) user: Option<OwnedFd>,
    pub(crate) mount: OwnedFd,
    pub(crate) root: OwnedFd,
}

/// The step at which a child failed to create its namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NamespaceStep {
    /// `clone3` with the flags of the namespaces.
    Create,
    /// Writing `uid_map` and `gid_map`.
    MapIds,
    /// Detaching the mounts from those of the parent.
    Detach,
    /// Mounting the overlay with this index.
    Mount(usize),
    /// Making a file or directory a mount point or read-only.
    Protect,
    /// Opening the namespaces.
    Open,
}

/// A failed step and its error.
pub(crate) type NamespaceFailure = (NamespaceStep, io::Error);

/// The child's report through a pipe: numbers of descriptors, or the failed step.
#[repr(C)]
#[derive(Clone, Copy)]
struct ChildReport {
    user: RawFd,
    mount: RawFd,
    root: RawFd,
    step: u32,
    index: u32,
    errno: i32,
}

const STEP_DONE: u32 = 0;
const STEP_MAP_IDS: u32 = 1;
const STEP_DETACH: u32 = 2;
const STEP_MOUNT: u32 = 3;
const STEP_OPEN: u32 = 4;
const STEP_PROTECT: u32 = 5;
const STEP_CREATE: u32 = 6;

/// A failed step and the index of the overlay.
type FailedStep = (u32, usize);

/// Creates a mount namespace.
pub(crate) fn create(
    plan: &MountPlan,
    owner: NamespaceOwner<'_>,
) -> Result<NamespaceDescriptors, NamespaceFailure> {
    let failed = |error: io::Error| (NamespaceStep::Create, error);
    let pipe = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC);
    let (reader, writer) = pipe.map_err(|error| failed(error.into()))?;
    let new = match owner {
        NamespaceOwner::Own => libc::CLONE_NEWNS,
        NamespaceOwner::New(_) => libc::CLONE_NEWNS | libc::CLONE_NEWUSER,
        NamespaceOwner::Existing(_) => 0,
    };
    let arguments = CloneArguments::with_flags(libc::CLONE_FILES | libc::CLONE_VFORK | new);
    let held = super::HeldSignals::all();
    // SAFETY: without CLONE_VM and without a stack this is a fork. The child makes system calls only and exits.
    let pid = unsafe {
        libc::syscall(libc::SYS_clone3, &raw const arguments, mem::size_of::<CloneArguments>()) as libc::pid_t
    };
    if pid == 0 {
        let report = run_child(plan, owner);
        let number = std::os::fd::AsRawFd::as_raw_fd(&writer);
        // SAFETY: a complete structure that fits into the pipe; then the child exits at once.
        unsafe {
            libc::write(number, (&raw const report).cast(), mem::size_of::<ChildReport>());
            libc::_exit(0);
        }
    }
    let error = io::Error::last_os_error();
    drop(held);
    drop(writer);
    if pid < 0 {
        return Err(failed(error));
    }
    // SAFETY: waits for the child of this call; `__WCLONE` because it sends no signal at its end.
    unsafe { libc::waitpid(pid, std::ptr::null_mut(), libc::__WCLONE) };
    read_report(&reader)
}

fn read_report(reader: &OwnedFd) -> Result<NamespaceDescriptors, NamespaceFailure> {
    let mut bytes = [0_u8; mem::size_of::<ChildReport>()];
    let count =
        rustix::io::read(reader, &mut bytes).map_err(|error| (NamespaceStep::Create, error.into()))?;
    if count != bytes.len() {
        return Err((NamespaceStep::Create, io::Error::other("the helper process was killed")));
    }
    // SAFETY: the structure has only integers, and all its bytes were written by the child.
    let report: ChildReport = unsafe { mem::transmute(bytes) };
    let step = match report.step {
        STEP_DONE => {
            // SAFETY: the child opened these descriptors in the shared table, and nothing else owns them.
            let own = |number: RawFd| unsafe { OwnedFd::from_raw_fd(number) };
            return Ok(NamespaceDescriptors {
                user: (report.user >= 0).then(|| own(report.user)),
                mount: own(report.mount),
                root: own(report.root),
            });
        }
        STEP_MAP_IDS => NamespaceStep::MapIds,
        STEP_DETACH => NamespaceStep::Detach,
        STEP_MOUNT => NamespaceStep::Mount(report.index as usize),
        STEP_PROTECT => NamespaceStep::Protect,
        STEP_CREATE => NamespaceStep::Create,
        _ => NamespaceStep::Open,
    };
    Err((step, io::Error::from_raw_os_error(report.errno)))
}

/// The work of the child: system calls on prepared data only.
fn run_child(plan: &MountPlan, owner: NamespaceOwner<'_>) -> ChildReport {
    let mut report = ChildReport { user: -1, mount: -1, root: -1, step: STEP_DONE, index: 0, errno: 0 };
    let has_user = !matches!(owner, NamespaceOwner::Own);
    let done = set_up(plan, owner).and_then(|()| open_namespaces(has_user, &mut report));
    if let Err((step, index)) = done {
        report.step = step;
        report.index = u32::try_from(index).unwrap_or(0);
        report.errno = errno();
    }
    report
}

fn set_up(plan: &MountPlan, owner: NamespaceOwner<'_>) -> Result<(), FailedStep> {
    match owner {
        NamespaceOwner::Own => {}
        NamespaceOwner::Existing(user) => {
            // SAFETY: calls without a pointer.
            check(unsafe { libc::setns(user, libc::CLONE_NEWUSER) }, (STEP_CREATE, 0))?;
            // SAFETY: as above.
            check(unsafe { libc::unshare(libc::CLONE_NEWNS) }, (STEP_CREATE, 0))?;
        }
        NamespaceOwner::New(ids) => map_ids(ids).map_err(|()| (STEP_MAP_IDS, 0))?,
    }
    let (none, root) = (c"none".as_ptr(), c"/".as_ptr());
    // Mounts of the machine appear in the namespace, but not the other way round.
    // SAFETY: constant, NUL-terminated strings.
    let detached =
        unsafe { libc::mount(none, root, std::ptr::null(), libc::MS_REC | libc::MS_SLAVE, std::ptr::null()) };
    check(detached, (STEP_DETACH, 0))?;
    plan.overlays.iter().enumerate().try_for_each(|(index, overlay)| mount(overlay, index))?;
    plan.pinned.iter().try_for_each(|path| bind(path))?;
    plan.read_only.iter().try_for_each(|path| {
        bind(path)?;
        make_read_only(path)
    })
}

/// Mounts a file or directory over itself.
fn bind(path: &CStr) -> Result<(), FailedStep> {
    let (path, flags) = (path.as_ptr(), libc::MS_BIND | libc::MS_REC);
    // SAFETY: NUL-terminated strings that outlive the call.
    let bound = unsafe { libc::mount(path, path, std::ptr::null(), flags, std::ptr::null()) };
    check(bound, (STEP_PROTECT, 0))
}

/// Makes a mount and those below it read-only.
fn make_read_only(path: &CStr) -> Result<(), FailedStep> {
    let attributes =
        libc::mount_attr { attr_set: libc::MOUNT_ATTR_RDONLY, attr_clr: 0, propagation: 0, userns_fd: 0 };
    let size = mem::size_of::<libc::mount_attr>();
    // SAFETY: a NUL-terminated path, and a complete structure with its size.
    let changed = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            path.as_ptr(),
            libc::AT_RECURSIVE,
            &raw const attributes,
            size,
        )
    };
    check(changed as i32, (STEP_PROTECT, 0))
}

/// Maps the ids of a new user namespace. Only for a forked child.
pub(super) fn map_ids(ids: &IdMaps) -> Result<(), ()> {
    // A process that cannot be dumped cannot write its own maps. The memory is the child's own copy.
    // SAFETY: a prctl without a pointer.
    unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 1, 0, 0, 0) };
    write_file(c"/proc/self/uid_map", &ids.users)?;
    write_file(c"/proc/self/setgroups", b"deny")?;
    write_file(c"/proc/self/gid_map", &ids.groups)
}

/// Mounts an overlay. The options name its directories by descriptor, because paths would have to be escaped and could be
/// longer than a page. With `volatile`, unmounting does not write all dirty pages of the file system to the disk; a commit
/// does that for its files.
fn mount(overlay: &OverlayPaths, index: usize) -> Result<(), FailedStep> {
    let failed = (STEP_MOUNT, index);
    let tree = open_directory(&overlay.tree, failed)?;
    let upper = open_directory(&overlay.upper, failed)?;
    let work = open_directory(&overlay.work, failed)?;
    let mut options = FixedText::new();
    options.push(b"volatile,userxattr,index=off,lowerdir=/proc/self/fd/");
    options.push_number(tree);
    options.push(b",upperdir=/proc/self/fd/");
    options.push_number(upper);
    options.push(b",workdir=/proc/self/fd/");
    options.push_number(work);
    options.push(b"\0");
    let kind = c"overlay".as_ptr();
    // SAFETY: all strings are NUL-terminated and outlive the call.
    let mounted = unsafe {
        let result = libc::mount(kind, overlay.tree.as_ptr(), kind, 0, options.bytes.as_ptr().cast());
        let error = *libc::__errno_location();
        for number in [tree, upper, work] {
            libc::close(number);
        }
        *libc::__errno_location() = error;
        result
    };
    check(mounted, failed)
}

fn open_namespaces(has_user: bool, report: &mut ChildReport) -> Result<(), FailedStep> {
    let flags = libc::O_RDONLY | libc::O_CLOEXEC;
    let failed = (STEP_OPEN, 0);
    if has_user {
        report.user = open(c"/proc/self/ns/user", flags, failed)?;
    }
    report.mount = open(c"/proc/self/ns/mnt", flags, failed)?;
    report.root = open_directory(c"/", failed)?;
    Ok(())
}

fn open_directory(path: &CStr, failed: FailedStep) -> Result<RawFd, FailedStep> {
    open(path, libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC, failed)
}

fn open(path: &CStr, flags: i32, failed: FailedStep) -> Result<RawFd, FailedStep> {
    // SAFETY: a NUL-terminated path.
    let number = unsafe { libc::open(path.as_ptr(), flags) };
    check(number, failed).map(|()| number)
}

fn write_file(path: &CStr, bytes: &[u8]) -> Result<(), ()> {
    // SAFETY: a NUL-terminated path and a buffer with its length.
    unsafe {
        let file = libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        if file < 0 {
            return Err(());
        }
        let written = libc::write(file, bytes.as_ptr().cast(), bytes.len());
        let error = *libc::__errno_location();
        libc::close(file);
        *libc::__errno_location() = error;
        if written < 0 { Err(()) } else { Ok(()) }
    }
}

/// Joins namespaces in this process. A process that joins a user namespace must have one thread.
///
/// The root and working directory of the process become those of the namespace, so the caller changes to its directory
/// again.
pub(crate) fn join(user: Option<RawFd>, mount: RawFd) -> io::Result<()> {
    if join_raw(user, mount) < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Moves the calling thread alone into a mount namespace, and back to the same directory.
pub(crate) fn join_in_thread(mount: RawFd) -> io::Result<()> {
    let directory = rustix::process::getcwd(Vec::new())?;
    // SAFETY: calls without a pointer.
    if unsafe { libc::unshare(libc::CLONE_FS) < 0 || libc::setns(mount, libc::CLONE_NEWNS) < 0 } {
        return Err(io::Error::last_os_error());
    }
    Ok(rustix::process::chdir(directory.as_c_str())?)
}

/// The system calls of [`join`]. Safe to call in a child that shares its parent's memory.
pub(super) fn join_raw(user: Option<RawFd>, mount: RawFd) -> i32 {
    // SAFETY: calls without a pointer.
    unsafe {
        if let Some(user) = user {
            let joined = libc::setns(user, libc::CLONE_NEWUSER);
            if joined < 0 {
                return joined;
            }
        }
        libc::setns(mount, libc::CLONE_NEWNS)
    }
}

/// Text of limited length that needs no allocation. Holds the longest options with room to spare.
struct FixedText {
    bytes: [u8; 256],
    length: usize,
}

impl FixedText {
    fn new() -> FixedText {
        FixedText { bytes: [0; 256], length: 0 }
    }

    fn push(&mut self, text: &[u8]) {
        for &byte in text {
            if let Some(place) = self.bytes.get_mut(self.length) {
                *place = byte;
                self.length += 1;
            }
        }
    }

    fn push_number(&mut self, number: RawFd) {
        let mut digits = [0_u8; 10];
        let mut rest = number.unsigned_abs();
        let mut count = 0;
        loop {
            digits[count] = b'0' + (rest % 10) as u8;
            rest /= 10;
            count += 1;
            if rest == 0 {
                break;
            }
        }
        for index in (0..count).rev() {
            self.push(&digits[index..=index]);
        }
    }
}

fn check<E>(result: i32, failed: E) -> Result<(), E> {
    if result < 0 { Err(failed) } else { Ok(()) }
}
