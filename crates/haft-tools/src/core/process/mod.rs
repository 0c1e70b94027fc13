//! Processes in the background, for agents that have nothing but tools: one tool for each thing to do with them.

mod start;
mod table;
mod tools;

use std::sync::Arc;

use super::CoreOptions;
use crate::native::NativeTool;

use table::ProcessTable;

/// The tools, which share one table of processes.
pub(super) fn tools(options: &CoreOptions) -> Vec<Arc<dyn NativeTool>> {
    let table = Arc::new(ProcessTable::default());
    vec![
        Arc::new(start::ProcessStartTool { table: table.clone(), shell: options.shell.clone() }),
        Arc::new(tools::ProcessReadTool(table.clone())),
        Arc::new(tools::ProcessWriteTool(table.clone())),
        Arc::new(tools::ProcessCloseTool(table.clone())),
        Arc::new(tools::ProcessKillTool(table.clone())),
        Arc::new(tools::ProcessListTool(table)),
    ]
}
