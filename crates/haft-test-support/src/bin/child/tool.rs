//! A JSON tool, if the program's name ends in `-tool`: prints its schema, or its arguments and environment.

use std::io::Read as _;

/// Returns the name of the tool, if the program's name ends in `-tool`.
pub(crate) fn name(program: &str) -> Option<String> {
    let file = program.rsplit('/').next().unwrap_or(program);
    Some(file.strip_suffix("-tool")?.replace('-', "_"))
}

/// Prints the schema, or the arguments and the names of all variables.
#[expect(clippy::disallowed_methods, reason = "it prints its environment")]
pub(crate) fn answer(name: &str, schema: bool) -> i32 {
    if schema {
        println!(
            "{{\"name\": \"{name}\", \"description\": \"Answers with what it was given\", \"parameters\": {{\"type\": \"object\"}}}}"
        );
        return 0;
    }
    let mut arguments = String::new();
    if std::io::stdin().read_to_string(&mut arguments).is_err() {
        return 1;
    }
    let names: Vec<String> =
        std::env::vars_os().map(|(name, _)| format!("\"{}\"", name.to_string_lossy())).collect();
    println!("{{\"arguments\": {arguments}, \"environment\": [{}]}}", names.join(", "));
    0
}
