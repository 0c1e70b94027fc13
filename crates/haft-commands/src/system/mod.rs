//! GNU's commands that ask about the machine, the user and the time, and that run other commands.
//!
//! An isolated session sees nothing of the machine: its user has the id 1000 and no name, and its host is `localhost`, as in `UID`
//! and `HOSTNAME`.

pub(crate) mod accounts;
pub(crate) mod date;
mod expr;
mod hostname;
mod id;
mod nice;
mod nohup;
mod nproc;
mod printenv;
mod sleep;
mod uname;
mod which;
mod whoami;

use crate::descriptor::CommandDescriptor;
use crate::group::CommandGroup;
use haft_kernel::Command;

/// The commands for running and asking.
pub(crate) const GROUP: CommandGroup =
    CommandGroup { title: "System commands", commands: SYSTEM_TABLE, descriptors: SYSTEM_DESCRIPTORS };

static SYSTEM_TABLE: &[&dyn Command] = &[
    &date::COMMAND,
    &expr::COMMAND,
    &hostname::COMMAND,
    &id::COMMAND,
    &nice::COMMAND,
    &nohup::COMMAND,
    &nproc::COMMAND,
    &printenv::COMMAND,
    &sleep::COMMAND,
    &uname::COMMAND,
    &which::COMMAND,
    &whoami::COMMAND,
];

/// The commands that may run instead of GNU's programs.
pub(crate) static STAND_INS: &[&dyn Command] = &[
    &date::COMMAND,
    &expr::COMMAND,
    &hostname::COMMAND,
    &id::COMMAND,
    &nproc::COMMAND,
    &printenv::COMMAND,
    &uname::COMMAND,
    &which::COMMAND,
    &whoami::COMMAND,
];

static SYSTEM_DESCRIPTORS: &[&CommandDescriptor] = &[
    &date::DESCRIPTOR,
    &expr::DESCRIPTOR,
    &hostname::DESCRIPTOR,
    &id::DESCRIPTOR,
    &nice::DESCRIPTOR,
    &nohup::DESCRIPTOR,
    &nproc::DESCRIPTOR,
    &printenv::DESCRIPTOR,
    &sleep::DESCRIPTOR,
    &uname::DESCRIPTOR,
    &which::DESCRIPTOR,
    &whoami::DESCRIPTOR,
];
