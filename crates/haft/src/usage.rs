//! Usage errors and help, in the form that all messages of haft have.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;

use clap::error::ErrorKind;

use crate::arguments::CommandLine;
use crate::commands::doctor::version;
use crate::failure::Failure;

/// A file or text on the command line, given instead of a command to run.
pub(crate) enum Refusal {
    /// Help or the version was printed; this is the exit status.
    Printed(i32),
    /// The arguments are wrong.
    Wrong(Failure),
}

/// Prints help and versions; makes a failure of everything else.
pub(crate) fn refuse(error: &clap::Error, arguments: &[OsString]) -> Refusal {
    let asks_for_help = matches!(
        error.kind(),
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    );
    if error.kind() == ErrorKind::DisplayVersion && asks_for_json(arguments) {
        return Refusal::Printed(version::run(true));
    }
    if asks_for_help {
        let _ = error.print();
        return Refusal::Printed(error.exit_code());
    }
    Refusal::Wrong(failure(&error.render().to_string(), &help_command(arguments)))
}

/// Whether arguments that could not be parsed ask for JSON.
pub(crate) fn asks_for_json(arguments: &[OsString]) -> bool {
    arguments.iter().take_while(|word| *word != "--").any(|word| word == "--json")
}

/// A failure with the first paragraph of a message of clap, and its advice as the hint.
fn failure(message: &str, help: &str) -> Failure {
    let first: Vec<&str> = message.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
    let first = first.join(" ");
    let tips = message.lines().filter_map(|line| line.trim().strip_prefix("tip: "));
    let tips: String = tips.map(|tip| format!("{tip}; ")).collect();
    Failure::usage(first.trim_start_matches("error: "))
        .with_hint(format_args!("{tips}'{help}' shows the usage"))
}

/// The command whose help covers these arguments, such as `haft tool call --help`.
fn help_command(arguments: &[OsString]) -> String {
    let mut definition = CommandLine::definition();
    let mut text = "haft".to_owned();
    for word in arguments.iter().skip(1).take_while(|word| !word.as_bytes().starts_with(b"-")) {
        match definition.find_subcommand(word) {
            Some(command) => definition = command.clone(),
            None => break,
        }
        text = format!("{text} {}", word.display());
    }
    format!("{text} --help")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Failure {
        let arguments: Vec<OsString> = words.iter().map(OsString::from).collect();
        let error = CommandLine::parse_arguments(&arguments).expect_err("the arguments are wrong");
        match refuse(&error, &arguments) {
            Refusal::Wrong(failure) => failure,
            Refusal::Printed(status) => panic!("printed with status {status}"),
        }
    }

    #[test]
    fn usage_errors_have_one_line_and_a_hint() {
        let unknown = parse(&["haft", "spawn", "--tmeout", "5s", "--", "true"]);
        assert_eq!(unknown.message, "unexpected argument '--tmeout' found");
        let hint = unknown.hint.unwrap_or_default();
        assert!(hint.contains("'--timeout'"), "{hint}");
        assert!(hint.ends_with("'haft spawn --help' shows the usage"), "{hint}");
        let missing = parse(&["haft", "tool", "call"]);
        assert_eq!(missing.message, "the following required arguments were not provided: <NAME>");
        assert_eq!(missing.hint.as_deref(), Some("'haft tool call --help' shows the usage"));
    }

    #[test]
    fn json_is_asked_for_only_before_the_end_of_options() {
        let asks = |words: &[&str]| asks_for_json(&words.iter().map(OsString::from).collect::<Vec<_>>());
        assert!(asks(&["haft", "spawn", "--json"]));
        assert!(!asks(&["haft", "spawn", "--", "ls", "--json"]));
    }
}
