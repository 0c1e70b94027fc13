//! `haft man`: the manual pages, made from the definitions of the help.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_mangen::Man;
use haft_process::reason;

use crate::arguments::CommandLine;
use crate::commands::print::print_bytes;
use crate::failure::{Failure, USAGE_STATUS};

const EXAMPLES: &str = "Examples:
  haft man run > haft-run.1                # the page of 'haft run'; 'man ./haft-run.1' shows it
  haft man --output man1                   # all pages";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ManArguments {
    /// Write all pages to this directory: haft.1, haft-run.1 and so on
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    output: Option<PathBuf>,
    /// The command whose page is printed, such as: tool call [default: haft itself]
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
}

/// Prints one page, or writes all pages.
pub(crate) fn run(arguments: &ManArguments) -> Result<i32, Failure> {
    let mut definition = CommandLine::definition().disable_help_subcommand(true);
    definition.build();
    if let Some(directory) = &arguments.output {
        fs::create_dir_all(directory).map_err(|error| cannot_write(directory, &error))?;
        write_pages(&definition, directory)?;
        return Ok(0);
    }
    let mut command = &definition;
    for word in &arguments.command {
        command = command.find_subcommand(word).ok_or_else(|| {
            Failure::usage(format_args!("unknown command '{}'", arguments.command.join(" ")))
        })?;
    }
    Ok(print_bytes(&page(command), 0))
}

/// Writes the page of a command and those of its subcommands.
fn write_pages(command: &Command, directory: &Path) -> Result<(), Failure> {
    let path = directory.join(format!("{}.1", page_name(command)));
    fs::write(&path, page(command)).map_err(|error| cannot_write(&path, &error))?;
    command
        .get_subcommands()
        .filter(|inner| !inner.is_hide_set())
        .try_for_each(|inner| write_pages(inner, directory))
}

/// The page of a command in the language of man pages.
fn page(command: &Command) -> Vec<u8> {
    let mut text = Vec::new();
    // Writing to memory cannot fail.
    let _ = Man::new(command.clone()).render(&mut text);
    text
}

/// The name of a page, such as `haft-tool-call`.
fn page_name(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(format_args!("cannot write '{}': {}", path.display(), reason(error)), USAGE_STATUS)
}
