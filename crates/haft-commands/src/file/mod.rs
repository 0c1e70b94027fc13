//! GNU's commands that make, change, show and remove files.

mod basename;
mod canonical;
mod chmod;
mod copy;
mod cp;
mod date;
mod dirname;
mod du;
mod find;
mod human;
mod ln;
mod ls;
mod mkdir;
mod mktemp;
mod mode;
mod mv;
mod quote;
mod readlink;
mod realpath;
mod remove;
mod rm;
mod rmdir;
mod run;
mod stat;
mod stat_format;
mod step_aside;
mod target;
mod time;
mod touch;
mod truncate;

use crate::descriptor::CommandDescriptor;
use crate::group::CommandGroup;
use haft_kernel::Command;

/// The file commands.
pub(crate) const GROUP: CommandGroup =
    CommandGroup { title: "File commands", commands: FILE_TABLE, descriptors: FILE_DESCRIPTORS };

static FILE_TABLE: &[&dyn Command] = &[
    &basename::COMMAND,
    &chmod::COMMAND,
    &cp::COMMAND,
    &dirname::COMMAND,
    &du::COMMAND,
    &find::COMMAND,
    &ln::COMMAND,
    &ls::COMMAND,
    &mkdir::COMMAND,
    &mktemp::COMMAND,
    &mv::COMMAND,
    &readlink::COMMAND,
    &realpath::COMMAND,
    &rm::COMMAND,
    &rmdir::COMMAND,
    &stat::COMMAND,
    &touch::COMMAND,
    &truncate::COMMAND,
];

/// The commands that may run instead of GNU's programs.
pub(crate) static STAND_INS: &[&dyn Command] = &[
    &basename::COMMAND,
    &chmod::COMMAND,
    &cp::COMMAND,
    &dirname::COMMAND,
    &du::COMMAND,
    &find::COMMAND,
    &ln::COMMAND,
    &ls::COMMAND,
    &mkdir::COMMAND,
    &mktemp::COMMAND,
    &mv::COMMAND,
    &readlink::COMMAND,
    &realpath::COMMAND,
    &rm::COMMAND,
    &rmdir::COMMAND,
    &stat::COMMAND,
    &touch::COMMAND,
    &truncate::COMMAND,
];

static FILE_DESCRIPTORS: &[&CommandDescriptor] = &[
    &basename::DESCRIPTOR,
    &chmod::DESCRIPTOR,
    &cp::DESCRIPTOR,
    &dirname::DESCRIPTOR,
    &du::DESCRIPTOR,
    &find::DESCRIPTOR,
    &ln::DESCRIPTOR,
    &ls::DESCRIPTOR,
    &mkdir::DESCRIPTOR,
    &mktemp::DESCRIPTOR,
    &mv::DESCRIPTOR,
    &readlink::DESCRIPTOR,
    &realpath::DESCRIPTOR,
    &rm::DESCRIPTOR,
    &rmdir::DESCRIPTOR,
    &stat::DESCRIPTOR,
    &touch::DESCRIPTOR,
    &truncate::DESCRIPTOR,
];
