//! Environment variables of tools.

use std::ffi::OsStr;
use std::path::Path;

use haft_process::Environment;

/// Variables, besides the locale, that every program needs and that hold no secrets.
const BASIC_VARIABLES: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TERM",
    "NO_COLOR",
    "TMPDIR",
    "XDG_CONFIG_HOME",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_RUNTIME_DIR",
];

/// Builds the environment of a tool: the basic variables, variables that the session has set or changed
/// itself, and variables that the tool names in `env`, even if they are `withheld` from sessions.
pub(crate) fn for_tool(
    inherited: &Environment,
    withheld: &Environment,
    session: &Environment,
    tool: &str,
    named: &[String],
) -> Environment {
    let mut environment = Environment::new();
    for (name, value) in named.iter().filter_map(|name| Some((name, withheld.get(name)?))) {
        let _ = environment.set(name, value);
    }
    for (name, value) in session.iter() {
        let own = inherited.get(name) != Some(value);
        if own || is_basic_variable(name) || named.iter().any(|named| OsStr::new(named) == name) {
            let _ = environment.set(name, value);
        }
    }
    let _ = environment.set("HAFT_TOOL", tool);
    environment
}

/// Adds the path of the tool's file. A project's script cannot take it from `$0` because it runs from a
/// sealed copy.
pub(crate) fn with_tool_path(mut environment: Environment, path: &Path) -> Environment {
    let _ = environment.set("HAFT_TOOL_PATH", path);
    if let Some(directory) = path.parent() {
        let _ = environment.set("HAFT_TOOL_DIR", directory);
    }
    environment
}

/// Returns true for variables that every program needs and that hold no secrets.
#[must_use]
pub fn is_basic_variable(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| BASIC_VARIABLES.contains(&name) || name.starts_with("LC_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inherited_secrets_are_withheld_and_session_variables_are_passed() {
        let inherited = Environment::from_pairs([("PATH", "/bin"), ("API_KEY", "secret"), ("MODE", "a")])
            .expect("valid variables");
        let mut session = inherited.clone();
        session.set("MODE", "b").expect("a valid variable");
        session.set("NEW", "1").expect("a valid variable");
        let names = |environment: &Environment| -> Vec<String> {
            environment.iter().map(|(name, _)| name.to_string_lossy().into_owned()).collect()
        };
        let seen = for_tool(&inherited, &Environment::new(), &session, "x", &[]);
        assert_eq!(names(&seen), ["PATH", "MODE", "NEW", "HAFT_TOOL"]);
        let seen = for_tool(&inherited, &Environment::new(), &session, "x", &["API_KEY".to_owned()]);
        assert_eq!(names(&seen), ["PATH", "API_KEY", "MODE", "NEW", "HAFT_TOOL"]);
        let withheld =
            Environment::from_pairs([("OTHER_KEY", "a"), ("THIRD_KEY", "b")]).expect("valid variables");
        let seen = for_tool(&inherited, &withheld, &session, "x", &["OTHER_KEY".to_owned()]);
        assert_eq!(names(&seen), ["OTHER_KEY", "PATH", "MODE", "NEW", "HAFT_TOOL"]);
    }
}
