//! Seccomp filters.
//!
//! A filter refuses system calls that get around Landlock (`io_uring`, `open_by_handle_at`), that change the kernel or its
//! keys, and that type into a terminal; and sockets, if the network is restricted. All others are allowed.

use crate::rules::NetworkRule;

/// A classic BPF instruction.
type Instruction = [u8; 8];

// Instructions of the kernel's classic BPF, and places in `struct seccomp_data`.
const LOAD_WORD: u16 = 0x20;
const JUMP_EQUAL: u16 = 0x15;
const JUMP_GREATER_EQUAL: u16 = 0x35;
const RETURN: u16 = 0x06;
const AND: u16 = 0x54;
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const FIRST_ARGUMENT: u32 = 16;
const SECOND_ARGUMENT: u32 = 24;

#[cfg(target_arch = "x86_64")]
const THIS_ARCHITECTURE: u32 = 0xC000_003E;
#[cfg(target_arch = "aarch64")]
const THIS_ARCHITECTURE: u32 = 0xC000_00B7;

/// Numbers from here on belong to the x32 interface, which has its own number for every call.
const X32_NUMBERS: u32 = 0x4000_0000;

const ALLOW: u32 = 0x7FFF_0000;
const KILL_PROCESS: u32 = 0x8000_0000;
const FAIL: u32 = 0x0005_0000;

/// Families of sockets that do not leave the machine.
const LOCAL_FAMILIES: [i32; 2] = [libc::AF_UNIX, libc::AF_NETLINK];

/// Families of sockets that do not leave a private network.
const PRIVATE_FAMILIES: [i32; 4] = [libc::AF_UNIX, libc::AF_NETLINK, libc::AF_INET, libc::AF_INET6];

/// The bits of a socket's type that are not flags.
const SOCKET_TYPE_MASK: u32 = 0xF;

/// Calls of programs that have no need for them, with the error that they get. Programs fall back to other calls if
/// `io_uring` does not exist.
const REFUSED: [(libc::c_long, i32); 24] = [
    (libc::SYS_io_uring_setup, libc::ENOSYS),
    (libc::SYS_io_uring_enter, libc::ENOSYS),
    (libc::SYS_io_uring_register, libc::ENOSYS),
    (libc::SYS_open_by_handle_at, libc::EPERM),
    (libc::SYS_add_key, libc::EPERM),
    (libc::SYS_request_key, libc::EPERM),
    (libc::SYS_keyctl, libc::EPERM),
    (libc::SYS_bpf, libc::EPERM),
    (libc::SYS_perf_event_open, libc::EPERM),
    (libc::SYS_userfaultfd, libc::EPERM),
    (libc::SYS_kexec_load, libc::EPERM),
    (libc::SYS_kexec_file_load, libc::EPERM),
    (libc::SYS_init_module, libc::EPERM),
    (libc::SYS_finit_module, libc::EPERM),
    (libc::SYS_delete_module, libc::EPERM),
    (libc::SYS_reboot, libc::EPERM),
    (libc::SYS_swapon, libc::EPERM),
    (libc::SYS_swapoff, libc::EPERM),
    (libc::SYS_acct, libc::EPERM),
    (libc::SYS_quotactl, libc::EPERM),
    (libc::SYS_settimeofday, libc::EPERM),
    (libc::SYS_clock_settime, libc::EPERM),
    (libc::SYS_sethostname, libc::EPERM),
    (libc::SYS_setdomainname, libc::EPERM),
];

/// `ioctl` requests that type into a terminal.
const TYPING: [u32; 2] = [libc::TIOCSTI as u32, 0x541C];

/// Builds the filter for a network rule.
pub(crate) fn build(network: &NetworkRule) -> Vec<Instruction> {
    let mut filter = vec![
        step(LOAD_WORD, ARCHITECTURE),
        jump(JUMP_EQUAL, THIS_ARCHITECTURE, 1, 0),
        step(RETURN, KILL_PROCESS),
        step(LOAD_WORD, NUMBER),
        jump(JUMP_GREATER_EQUAL, X32_NUMBERS, 0, 1),
        fail(libc::ENOSYS),
    ];
    for (number, errno) in REFUSED {
        filter.push(jump(JUMP_EQUAL, number_of(number), 0, 1));
        filter.push(fail(errno));
    }
    filter.extend(for_call(libc::SYS_ioctl, &refuse_typing()));
    match network {
        NetworkRule::All => {}
        NetworkRule::None => filter.extend(for_call(libc::SYS_socket, &sockets_of(&LOCAL_FAMILIES))),
        NetworkRule::Private => {
            filter.extend(for_call(libc::SYS_socket, &sockets_of(&PRIVATE_FAMILIES)));
            filter.extend(for_call(libc::SYS_setns, &[fail(libc::EPERM)]));
        }
        NetworkRule::Ports { .. } => filter.extend(for_call(libc::SYS_socket, &local_and_tcp_sockets())),
    }
    filter.push(step(RETURN, ALLOW));
    filter
}

/// Runs instructions, which end the filter, for one system call.
fn for_call(number: libc::c_long, instructions: &[Instruction]) -> Vec<Instruction> {
    let length = u8::try_from(instructions.len()).expect("a short list of instructions");
    std::iter::once(jump(JUMP_EQUAL, number_of(number), 0, length))
        .chain(instructions.iter().copied())
        .collect()
}

/// Refuses requests that type into a terminal.
fn refuse_typing() -> Vec<Instruction> {
    let mut steps = vec![step(LOAD_WORD, SECOND_ARGUMENT)];
    for request in TYPING {
        steps.extend([jump(JUMP_EQUAL, request, 0, 1), fail(libc::EPERM)]);
    }
    steps.push(step(RETURN, ALLOW));
    steps
}

/// Allows sockets of these families.
fn sockets_of(families: &[i32]) -> Vec<Instruction> {
    let mut steps = allow_families(families);
    steps.push(fail(libc::EACCES));
    steps
}

/// Allows sockets that do not leave the machine, and TCP sockets.
fn local_and_tcp_sockets() -> Vec<Instruction> {
    let mut steps = allow_families(&LOCAL_FAMILIES);
    // Of the other families, only IPv4 and IPv6 go on to the check of the type.
    steps.extend([
        jump(JUMP_EQUAL, libc::AF_INET.cast_unsigned(), 2, 0),
        jump(JUMP_EQUAL, libc::AF_INET6.cast_unsigned(), 1, 0),
        fail(libc::EACCES),
        step(LOAD_WORD, SECOND_ARGUMENT),
        step(AND, SOCKET_TYPE_MASK),
        jump(JUMP_EQUAL, libc::SOCK_STREAM.cast_unsigned(), 0, 1),
        step(RETURN, ALLOW),
        fail(libc::EACCES),
    ]);
    steps
}

/// Loads the family of a new socket, and ends the filter if it is one of these.
fn allow_families(families: &[i32]) -> Vec<Instruction> {
    let allow = |family: &i32| [jump(JUMP_EQUAL, family.cast_unsigned(), 0, 1), step(RETURN, ALLOW)];
    std::iter::once(step(LOAD_WORD, FIRST_ARGUMENT)).chain(families.iter().flat_map(allow)).collect()
}

fn number_of(call: libc::c_long) -> u32 {
    u32::try_from(call).expect("numbers of system calls are small")
}

fn fail(errno: i32) -> Instruction {
    step(RETURN, FAIL | errno.cast_unsigned())
}

fn step(code: u16, value: u32) -> Instruction {
    jump(code, value, 0, 0)
}

/// A jump over `if_true` or `if_false` instructions.
fn jump(code: u16, value: u32, if_true: u8, if_false: u8) -> Instruction {
    let [low, high] = code.to_ne_bytes();
    let [a, b, c, d] = value.to_ne_bytes();
    [low, high, if_true, if_false, a, b, c, d]
}
