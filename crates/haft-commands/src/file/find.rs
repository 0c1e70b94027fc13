//! `find`: searches for files in directory trees.

mod evaluate;
mod expression;
mod parse;
mod print_format;
mod step_aside;
mod walk;

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow};

use crate::arguments::CommandArguments;
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, Example};
use crate::group::gnu_command;
use crate::rows::{FILE_COLUMNS, json_option};
use crate::text::streams::run_text;

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "find",
    summary: "Search for files in directory trees.",
    style: ArgumentStyle::GnuMixed(&["[-H]", "[-L]", "[-P]", "[PATH]...", "[EXPRESSION]"]),
    parameters: &[json_option(FILE_COLUMNS)],
    details: &[
        "Options: `-maxdepth N`, `-mindepth N`, `-depth`, `-daystart`, `-follow`, `-xdev`, `-mount`, `-noleaf`.",
        "Tests: `-name`, `-iname`, `-path`, `-ipath`, `-wholename`, `-iwholename`, `-lname`, `-ilname`, `-type`, `-xtype`, \
         `-size`, `-empty`, `-perm`, `-user`, `-group`, `-uid`, `-gid`, `-nouser`, `-nogroup`, `-links`, `-inum`, `-samefile`, \
         `-mtime`, `-atime`, `-ctime`, `-mmin`, `-amin`, `-cmin`, `-newer`, `-anewer`, `-cnewer`, `-newerXY`, `-readable`, \
         `-writable`, `-executable`, `-true`, `-false`.",
        "Actions: `-print`, `-print0`, `-printf`, `-delete`, `-prune`, `-quit`, `-exec COMMAND ;`, `-exec COMMAND {} +`.",
        "With `--json`, which must be the first word, `-print`, `-print0` and `-printf` add an object for the file.",
        "Operators: `( )`, `!`, `-not`, `-a`, `-and`, `-o`, `-or`, `,`. `-exec` runs what `xargs` can run.",
    ],
    statuses: &[("0", "success"), ("1", "a file could not be read, or the expression is wrong")],
    examples: &[
        Example {
            summary: "Files by name",
            script: "mkdir -p d/e; touch d/a.c d/e/b.c d/x; find d -name '*.c' | sort",
            output: "d/a.c\nd/e/b.c\n",
            status: 0,
        },
        Example {
            summary: "Run a command for all files that were found",
            script: "mkdir d; printf 'a\\nb\\n' > d/f; find d -type f -exec wc -l {} +",
            output: "2 d/f\n",
            status: 0,
        },
    ],
};

pub(crate) static COMMAND: CommandDefinition = CommandDefinition {
    rewrite: Some(rewrite),
    steps_aside: Some(|session, arguments, _| step_aside::steps_aside(session, &arguments.operands)),
    ..gnu_command(&DESCRIPTOR, run)
};

/// The words of an expression look like options, but are operands.
fn rewrite(words: &[Bytes]) -> Option<Vec<Bytes>> {
    match words.first() {
        Some(word) if *word == "--help" || *word == "--version" => None,
        Some(word) if *word == "--json" => {
            let dashes = Bytes::from("--");
            Some([word.clone(), dashes].into_iter().chain(words[1..].iter().cloned()).collect())
        }
        _ => Some(std::iter::once(Bytes::from("--")).chain(words.iter().cloned()).collect()),
    }
}

fn run(context: &mut Context<'_>, arguments: &CommandArguments, _: &[Bytes]) -> Flow {
    run_text(context, |run| {
        run.collect_rows(&DESCRIPTOR, arguments);
        let search = parse::parse(run, &arguments.operands)?;
        walk::search(run, search)
    })
}
