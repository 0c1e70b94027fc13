//! Parses files and says what is wrong with them.

use std::process::ExitCode;

use haft_lang::ParseOptions;

fn main() -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    let mut tree = false;
    let mut options = ParseOptions::default();
    for argument in std::env::args().skip(1) {
        if argument == "--tree" {
            tree = true;
            continue;
        }
        if argument == "--extglob" {
            options.extglob = true;
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
        match haft_lang::parse(&source, &options) {
            Ok(program) if tree => println!("{program:#?}"),
            Ok(program) => println!(
                "{argument}: ok{}",
                if survives_printing(&program, &options) { "" } else { ", but printed wrong" }
            ),
            Err(error) => {
                println!("{argument}: refused{}", if error.incomplete { " (incomplete)" } else { "" });
                eprint!("{}", error.render(&argument, &source));
                code = ExitCode::FAILURE;
            }
        }
    }
    code
}

/// Whether printing the program gives a text that parses to the same program.
fn survives_printing(program: &haft_lang::Program, options: &ParseOptions) -> bool {
    let text = haft_lang::print(program);
    haft_lang::parse(&text, options).is_ok_and(|again| again == *program)
}
