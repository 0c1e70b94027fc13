//! GNU's text tools, for sessions that cannot start programs.
//!
//! Each command does exactly what GNU's program does with the options it lists. An option it does not list is a usage error. If the
//! program can run, it runs instead.

mod base64;
mod cat;
mod checksum;
mod comm;
mod cut;
mod fold;
mod head;
mod name;
mod nl;
mod number;
mod paste;
mod portion;
mod ranges;
mod rev;
mod seq;
mod sort;
mod streams;
mod tac;
mod tail;
mod tee;
mod tr;
mod uniq;
mod wc;
mod yes;

use crate::definition::{CommandDefinition, RunFunction};
use crate::descriptor::CommandDescriptor;
use haft_kernel::Command;

/// All text commands, for [`haft_kernel::KernelBuilder::commands`], sorted by name.
pub static TEXT_TABLE: &[&dyn Command] = &[
    &base64::COMMAND,
    &cat::COMMAND,
    &comm::COMMAND,
    &cut::COMMAND,
    &fold::COMMAND,
    &head::COMMAND,
    &checksum::MD5_COMMAND,
    &nl::COMMAND,
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

/// The descriptors of the text commands, sorted by name.
pub static TEXT_DESCRIPTORS: &[&CommandDescriptor] = &[
    &base64::DESCRIPTOR,
    &cat::DESCRIPTOR,
    &comm::DESCRIPTOR,
    &cut::DESCRIPTOR,
    &fold::DESCRIPTOR,
    &head::DESCRIPTOR,
    &checksum::MD5_DESCRIPTOR,
    &nl::DESCRIPTOR,
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

/// A command that steps aside for the program of the same name.
const fn text_command(descriptor: &'static CommandDescriptor, run: RunFunction) -> CommandDefinition {
    CommandDefinition {
        usage_status: 1,
        gnu_errors: true,
        steps_aside: Some(|_, _, _| true),
        ..CommandDefinition::new(descriptor, run)
    }
}
