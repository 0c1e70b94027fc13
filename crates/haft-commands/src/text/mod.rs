//! GNU's text tools.
//!
//! Each command does exactly what GNU's program does with the options it lists. With an option that it does not list, the program runs
//! instead. If programs cannot run, such an option is a usage error.

mod base64;
mod cat;
mod checksum;
mod comm;
mod cut;
mod fold;
mod head;
mod join;
pub(crate) mod name;
mod nl;
pub(crate) mod number;
mod od;
mod paste;
mod portion;
mod ranges;
mod rev;
mod seq;
pub(crate) mod sort;
pub(crate) mod streams;
mod tac;
mod tail;
mod tee;
mod tr;
mod uniq;
mod wc;
mod yes;

use crate::descriptor::CommandDescriptor;
use crate::group::CommandGroup;
pub(crate) use crate::group::gnu_command as text_command;
use haft_kernel::Command;

/// The text commands.
pub(crate) const GROUP: CommandGroup =
    CommandGroup { title: "Text commands", commands: TEXT_TABLE, descriptors: TEXT_DESCRIPTORS };

static TEXT_TABLE: &[&dyn Command] = &[
    &base64::COMMAND,
    &cat::COMMAND,
    &comm::COMMAND,
    &cut::COMMAND,
    &fold::COMMAND,
    &head::COMMAND,
    &join::COMMAND,
    &checksum::MD5_COMMAND,
    &nl::COMMAND,
    &od::COMMAND,
    &paste::COMMAND,
    &rev::COMMAND,
    &seq::COMMAND,
    &checksum::SHA1_COMMAND,
    &checksum::SHA256_COMMAND,
    &sort::COMMAND,
    &tac::COMMAND,
    &tail::COMMAND,
    &tee::COMMAND,
    &tr::COMMAND,
    &uniq::COMMAND,
    &wc::COMMAND,
    &yes::COMMAND,
];

static TEXT_DESCRIPTORS: &[&CommandDescriptor] = &[
    &base64::DESCRIPTOR,
    &cat::DESCRIPTOR,
    &comm::DESCRIPTOR,
    &cut::DESCRIPTOR,
    &fold::DESCRIPTOR,
    &head::DESCRIPTOR,
    &join::DESCRIPTOR,
    &checksum::MD5_DESCRIPTOR,
    &nl::DESCRIPTOR,
    &od::DESCRIPTOR,
    &paste::DESCRIPTOR,
    &rev::DESCRIPTOR,
    &seq::DESCRIPTOR,
    &checksum::SHA1_DESCRIPTOR,
    &checksum::SHA256_DESCRIPTOR,
    &sort::DESCRIPTOR,
    &tac::DESCRIPTOR,
    &tail::DESCRIPTOR,
    &tee::DESCRIPTOR,
    &tr::DESCRIPTOR,
    &uniq::DESCRIPTOR,
    &wc::DESCRIPTOR,
    &yes::DESCRIPTOR,
];
