//! System calls that only ask what the kernel has.
#![expect(unsafe_code, reason = "system calls without a wrapper")]

/// The version of Landlock's interface; 0 if the kernel has none, or it is disabled.
pub(crate) fn landlock_abi() -> u32 {
    const LANDLOCK_CREATE_RULESET_VERSION: u32 = 1;
    // SAFETY: with this flag, the call takes no attributes and only returns the version.
    let version = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<u8>(),
            0_usize,
            LANDLOCK_CREATE_RULESET_VERSION,
        )
    };
    u32::try_from(version).unwrap_or(0)
}

/// Whether the kernel has seccomp filters. A call without a filter fails with `EFAULT` if it does.
pub(crate) fn has_seccomp_filters() -> bool {
    // SAFETY: a null filter is refused and changes nothing.
    let result = unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0_u32, std::ptr::null::<u8>())
    };
    result < 0 && std::io::Error::last_os_error().raw_os_error() == Some(libc::EFAULT)
}
