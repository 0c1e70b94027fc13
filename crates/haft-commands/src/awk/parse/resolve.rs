//! Finds out which variables are arrays.

use super::{AwkParser, AwkSyntaxError};
use crate::awk::tree::VariableSlot;

impl AwkParser<'_> {
    /// Marks a variable as an array.
    pub(super) fn mark_array(&mut self, variable: VariableSlot) {
        self.mark_array_within(self.function, variable);
    }

    fn mark_array_within(&mut self, function: Option<usize>, variable: VariableSlot) {
        match (variable, function) {
            (VariableSlot::Global(index), _) => self.program.global_arrays[index] = true,
            (VariableSlot::Local(index), Some(function)) => {
                self.program.functions[function].array_parameters[index] = true;
            }
            (VariableSlot::Local(_), None) => {}
        }
    }

    fn is_array_within(&self, function: Option<usize>, variable: VariableSlot) -> bool {
        match (variable, function) {
            (VariableSlot::Global(index), _) => self.program.global_arrays[index],
            (VariableSlot::Local(index), Some(function)) => {
                self.program.functions[function].array_parameters[index]
            }
            (VariableSlot::Local(_), None) => false,
        }
    }

    /// Passes the property of being an array between arguments and parameters until nothing changes.
    pub(super) fn resolve_arrays(&mut self) -> Result<(), AwkSyntaxError> {
        if let Some(function) = self.program.functions.iter().find(|function| !function.is_defined) {
            return self.general_error(format!("fatal: function `{}' not defined", function.name), 2);
        }
        let passed = std::mem::take(&mut self.passed);
        loop {
            let mut has_changed = false;
            for entry in &passed {
                let here = self.is_array_within(entry.within, entry.variable);
                let parameters = &mut self.program.functions[entry.callee].array_parameters;
                let Some(there) = parameters.get_mut(entry.index) else { continue };
                if here && !*there {
                    *there = true;
                    has_changed = true;
                } else if *there && !here {
                    self.mark_array_within(entry.within, entry.variable);
                    has_changed = true;
                }
            }
            if !has_changed {
                return Ok(());
            }
        }
    }
}
