//! Prints the functions that a file defines at its top level, sorted, the way `declare -f` does.

use std::collections::BTreeMap;
use std::io::Write;

use haft_lang::ast::CommandKind;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for argument in std::env::args().skip(1) {
        let program = haft_lang::parse(&std::fs::read(argument)?, &haft_lang::ParseOptions::default())?;
        let mut functions = BTreeMap::new();
        for command in program.body.statements.iter().flat_map(|statement| statement.first.stages.iter()) {
            if let CommandKind::Function(function) = &command.kind {
                functions.insert(function.name.clone(), function.clone());
            }
        }
        let mut out = std::io::stdout().lock();
        for function in functions.values() {
            out.write_all(&haft_lang::print_function(function))?;
            out.write_all(b"\n")?;
        }
    }
    Ok(())
}
