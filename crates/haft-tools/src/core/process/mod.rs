//! Tools for background processes, for agents without a shell.

mod start;
mod table;
mod tools;

use std::sync::Arc;

use super::CoreOptions;
use crate::native::NativeTool;

use table::ProcessTable;

/// The tools, which share one process table.
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
