//! Prints the simple commands of a script with their line numbers.
//!
//! ```sh
//! cargo run -p haft-lang --example parse -- script.sh
//! ```

use haft_lang::ast::CommandKind;
use haft_lang::walk::SyntaxNode;
use haft_lang::{ParseOptions, parse, print_command};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for path in std::env::args().skip(1) {
        print!("{}", commands(&path, &std::fs::read(&path)?)?);
    }
    Ok(())
}

/// Lists the simple commands, including those in functions and substitutions.
pub(crate) fn commands(name: &str, source: &[u8]) -> Result<String, String> {
    let program = parse(source, &ParseOptions::default()).map_err(|error| error.render(name, source))?;
    let mut listed = String::new();
    SyntaxNode::List(&program.body).descend(&mut |node| {
        if let SyntaxNode::Command(command) = node
            && matches!(command.kind, CommandKind::Simple(_))
        {
            let text = print_command(command);
            listed.push_str(&format!("{}: {}\n", command.line, String::from_utf8_lossy(&text)));
        }
    });
    Ok(listed)
}
