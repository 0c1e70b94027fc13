//! GNU's commands that search and edit text.

pub(crate) mod fts_order;
mod grep;
mod recent;
mod sed;

use crate::descriptor::CommandDescriptor;
use crate::group::CommandGroup;
use haft_kernel::Command;

/// The commands for searching and editing.
pub(crate) const GROUP: CommandGroup =
    CommandGroup { title: "Search commands", commands: SEARCH_TABLE, descriptors: SEARCH_DESCRIPTORS };

static SEARCH_TABLE: &[&dyn Command] =
    &[&grep::EGREP_COMMAND, &grep::FGREP_COMMAND, &grep::COMMAND, &sed::COMMAND];

static SEARCH_DESCRIPTORS: &[&CommandDescriptor] =
    &[&grep::EGREP_DESCRIPTOR, &grep::FGREP_DESCRIPTOR, &grep::DESCRIPTOR, &sed::DESCRIPTOR];
