//! `haft plan`: what a script would run, read and write.

use haft_lang::ast::LineIndex;
use haft_lang::check::Diagnostic;
use haft_lang::plan::{ScriptPlan, plan};
use haft_lang::{ParseOptions, parse_script};
use haft_process::Redactor;
use serde::Serialize;

use crate::arguments::PlanArguments;
use crate::commands::check::{self, print};
use crate::commands::script::{self, NameResolver};
use crate::failure::Failure;
use crate::process_context::ProcessContext;

/// Plans and shows it: 1 if the script cannot be parsed; as JSON, that is the same report as that of `haft check`.
pub(crate) fn run(arguments: PlanArguments, process: &ProcessContext) -> Result<i32, Failure> {
    let text = match script::read(arguments.script) {
        Ok(text) => text,
        Err(failure) => return check::unreadable(failure, arguments.json),
    };
    let script = parse_script(&text.source, &ParseOptions::default());
    if let Some(error) = &script.error {
        let diagnostic = Diagnostic::from(error);
        let lines = LineIndex::new(&text.source);
        if arguments.json {
            print(&check::json(&text.name, &[diagnostic], &lines));
        } else {
            eprint!("{}", diagnostic.render(&text.name, &text.source, &lines));
        }
        return Ok(1);
    }
    let plan = plan(&script.program, &text.source, &NameResolver::new(process));
    let shown = if arguments.json { json(&text.name, &plan) } else { plan.to_string() };
    print(&Redactor::new(process.environment.iter()).text(&shown));
    Ok(0)
}

fn json(name: &str, plan: &ScriptPlan) -> String {
    #[derive(Serialize)]
    struct Report<'a> {
        file: &'a str,
        #[serde(flatten)]
        plan: &'a ScriptPlan,
    }
    serde_json::to_string(&Report { file: name, plan }).unwrap_or_default() + "\n"
}
