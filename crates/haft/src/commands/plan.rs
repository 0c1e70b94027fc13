//! `haft plan`: list what a script would run, read and write.

use clap::Args;
use haft_lang::ast::LineIndex;
use haft_lang::check::Diagnostic;
use haft_lang::plan::{ScriptPlan, plan};
use haft_lang::{ParseOptions, Script};
use haft_process::Redactor;
use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::check::{self, print};
use crate::commands::options::ScriptArguments;
use crate::commands::print::json_line;
use crate::commands::script::{self, NameResolver};
use crate::failure::{Failure, USAGE_STATUS};
use crate::process_context::ProcessContext;

const EXAMPLES: &str = "Examples:
  haft plan deploy.sh                           # one line per command, then the files it touches
  haft plan --json -c 'tar xf a.tar -C /srv'    # steps, arguments and files as JSON";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PlanArguments {
    #[command(flatten)]
    pub(crate) script: ScriptArguments,
    /// Print the plan as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Prints the plan of a script. Returns 1 for a syntax error, which is reported as `haft check` does.
pub(crate) fn run(arguments: PlanArguments, process: &ProcessContext) -> Result<i32, Failure> {
    let text = script::read(arguments.script, "haft plan")
        .map_err(|failure| Failure { status: USAGE_STATUS, ..failure })?;
    let script = Script::parse(text.source.as_slice(), &ParseOptions::default());
    if let Some(error) = script.error() {
        let diagnostic = Diagnostic::from(error);
        let lines = LineIndex::new(&text.source);
        if arguments.json {
            print(&check::json(&text.name, &[diagnostic], &lines));
        } else {
            eprint!("{}", diagnostic.render(&text.name, &text.source, &lines));
        }
        return Ok(1);
    }
    let plan = plan(&script.program(), &text.source, &NameResolver::new(process));
    let shown = if arguments.json { json(&text.name, &plan) } else { plan.to_string() };
    print(&Redactor::new(process.environment.iter()).text(&shown));
    Ok(0)
}

/// The plan of a script. A script with a syntax error has the report of `haft check` instead.
#[derive(JsonSchema, Serialize)]
pub(crate) struct PlanReport<'a> {
    /// The script's file, `-c` or `standard input`.
    file: &'a str,
    #[serde(flatten)]
    plan: &'a ScriptPlan,
}

fn json(name: &str, plan: &ScriptPlan) -> String {
    json_line(&PlanReport { file: name, plan })
}
