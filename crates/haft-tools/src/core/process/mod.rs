//! Processes in the background, for agents that have nothing but tools: one tool for each thing to do with them.

mod start;
mod table;
mod tools;

use std::sync::Arc;

use super::CoreOptions;
use crate::native::Native;

use table::Table;

/// The tools, which share one table of processes.
pub(super) fn tools(options: &CoreOptions) -> Vec<Arc<dyn Native>> {
    let table = Arc::new(Table::default());
    vec![
        Arc::new(start::Start { table: table.clone(), shell: options.shell.clone() }),
        Arc::new(tools::Read(table.clone())),
        Arc::new(tools::Write(table.clone())),
        Arc::new(tools::Close(table.clone())),
        Arc::new(tools::Kill(table.clone())),
        Arc::new(tools::List(table)),
    ]
}
