//! Bash text to a checked, plannable program.
