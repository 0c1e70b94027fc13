//! Parses files and says what is wrong with them.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    let mut tree = false;
    for argument in std::env::args().skip(1) {
        if argument == "--tree" {
            tree = true;
            continue;
        }
        let source = match std::fs::read(&argument) {
            Ok(source) => source,
            Err(error) => {
                eprintln!("{argument}: {error}");
                code = ExitCode::from(2);
                continue;
            }
        };
        match haft_lang::parse(&source, &haft_lang::Options::default()) {
            Ok(program) if tree => println!("{program:#?}"),
            Ok(_) => println!("{argument}: ok"),
            Err(error) => {
                println!("{argument}: refused{}", if error.incomplete { " (incomplete)" } else { "" });
                eprint!("{}", error.render(&argument, &source));
                code = ExitCode::FAILURE;
            }
        }
    }
    code
}
