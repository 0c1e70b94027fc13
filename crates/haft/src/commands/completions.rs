//! `haft completions`: a script that completes haft's command line in a shell.

use clap::Args;
use clap_complete::Shell;

use crate::arguments::CommandLine;
use crate::commands::print::print_bytes;

const EXAMPLES: &str = "Examples:
  haft completions bash > haft.bash        # then source it
  haft completions zsh > _haft             # a directory of $fpath
  haft completions fish > haft.fish        # ~/.config/fish/completions";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompletionsArguments {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the completion script for a shell.
pub(crate) fn run(arguments: &CompletionsArguments) -> i32 {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut CommandLine::definition(), "haft", &mut script);
    print_bytes(&script, 0)
}
