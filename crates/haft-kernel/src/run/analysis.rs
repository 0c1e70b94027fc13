//! Checking and planning a script before it runs, with the names of a session.

use std::path::PathBuf;

use haft_lang::check::Diagnostic;
use haft_lang::plan::ScriptPlan;
use haft_lang::{Resolution, Resolver, SyntaxError};

use crate::execute::CommandTarget;
use crate::session::Session;

/// The diagnostics of a script for this session, in the order of the text.
///
/// ```
/// use haft_kernel::{Session, run};
///
/// let found = run::check(&Session::isolated(0), b"if true; then echo x");
/// assert_eq!((found[0].code, found[0].incomplete), ("syntax", true));
/// ```
#[must_use]
pub fn check(session: &Session, script: &[u8]) -> Vec<Diagnostic> {
    haft_lang::check::check(script, &session.parse_options(), &SessionNames(session))
}

/// The commands that a script would run in this session, and the files it would read and write.
///
/// ```
/// use haft_kernel::{Kernel, Session, run};
///
/// let session = Session::with_environment(Kernel::builder().build(), [("PATH", "/usr/bin:/bin")], "/");
/// let plan = run::plan(&session, b"cat /etc/passwd | sort > out")?;
/// assert_eq!(plan.steps.len(), 2);
/// # Ok::<(), haft_lang::SyntaxError>(())
/// ```
///
/// # Errors
/// If the script has a syntax error.
pub fn plan(session: &Session, script: &[u8]) -> Result<ScriptPlan, SyntaxError> {
    let program = session.prepare(script)?.program();
    Ok(haft_lang::plan::plan(&program, script, &SessionNames(session)))
}

/// Resolves names as a session does.
struct SessionNames<'s>(&'s Session);

impl Resolver for SessionNames<'_> {
    fn resolve(&self, name: &[u8]) -> Resolution {
        match self.0.resolve_name(name) {
            CommandTarget::Function(_)
            | CommandTarget::Builtin(_)
            | CommandTarget::Added(_)
            | CommandTarget::StandIn(_) => Resolution::Builtin,
            CommandTarget::Script(path) => Resolution::Script(haft_text::path(&path).to_owned()),
            CommandTarget::Tool => Resolution::Tool,
            CommandTarget::External => self.resolve_program(name),
        }
    }

    fn is_set(&self, variable: &[u8]) -> Option<bool> {
        Some(self.0.is_set(variable))
    }
}

impl SessionNames<'_> {
    fn resolve_program(&self, name: &[u8]) -> Resolution {
        let session = self.0;
        if session.kernel.allows_programs() {
            let path = session.value(b"PATH");
            let found = match name.contains(&b'/') {
                true => Some(session.resolve(name)),
                false => session
                    .search_path(name, path.as_deref().or(Some(b"")))
                    .map(|found| session.resolve(&found)),
            };
            if let Some(found) = found.map(|found| PathBuf::from(haft_text::path(&found)))
                && session.kernel.files.exists(&found)
            {
                return Resolution::External(found);
            }
        }
        match session.kernel.backend.as_ref().is_some_and(|backend| backend.has_tool(name)) {
            true => Resolution::Tool,
            false => Resolution::Missing,
        }
    }
}
