//! Name lookup by exact name, prefix or substring.

use haft_config::suggest;

use crate::error::{Error, ErrorKind};

/// Returns the index of the name that equals `wanted`, or of the only name that matches it.
pub(crate) fn find(kind: &str, wanted: &str, names: &[&str]) -> Result<usize, Error> {
    if let Some(index) = names.iter().position(|name| *name == wanted) {
        return Ok(index);
    }
    let matching = matching(wanted, names);
    match matching.as_slice() {
        [index] => Ok(*index),
        [] => Err(unknown(kind, wanted, names)),
        several => {
            let names: Vec<&str> = several.iter().map(|&index| names[index]).collect();
            let message = format!("'{wanted}' matches several {kind}s");
            Err(Error::new(ErrorKind::Name, message).with_hint(format!("choose one of {}", list(&names))))
        }
    }
}

/// Returns the only name that equals `wanted` ignoring case, else the only one that starts with it, else all
/// that contain it.
pub(crate) fn matching(wanted: &str, names: &[&str]) -> Vec<usize> {
    let wanted = wanted.to_lowercase();
    if wanted.is_empty() {
        return Vec::new();
    }
    let lower: Vec<String> = names.iter().map(|name| name.to_lowercase()).collect();
    let all = |test: &dyn Fn(&str) -> bool| -> Vec<usize> {
        lower.iter().enumerate().filter(|(_, name)| test(name)).map(|(index, _)| index).collect()
    };
    let narrow = [all(&|name| name == wanted), all(&|name| name.starts_with(&wanted))];
    let narrow = narrow.into_iter().find(|found| found.len() == 1);
    narrow.unwrap_or_else(|| all(&|name| name.contains(&wanted)))
}

pub(crate) fn unknown(kind: &str, wanted: &str, names: &[&str]) -> Error {
    let error = Error::new(ErrorKind::Name, format!("unknown {kind} '{wanted}'"));
    match suggest(wanted, names.iter().copied()) {
        Some(hint) => error.with_hint(hint),
        None => error.with_hint(format!("no {kind} is configured; see `haft launch list`")),
    }
}

/// Quotes names and joins them with commas.
pub(crate) fn list(names: &[&str]) -> String {
    names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_names_win_over_unique_parts_and_ambiguous_names_are_listed() {
        let names = ["review", "review-deep", "Fix"];
        assert_eq!(find("task", "review", &names).unwrap(), 0);
        assert_eq!(find("task", "deep", &names).unwrap(), 1);
        assert_eq!(find("agent", "cod", &["codex", "opencode"]).unwrap(), 0);
        assert_eq!(find("task", "fix", &names).unwrap(), 2);
        let several = find("task", "rev", &names).unwrap_err();
        assert_eq!(several.hint(), Some("choose one of 'review', 'review-deep'"));
        let none = find("task", "revue", &names).unwrap_err();
        assert_eq!(none.to_string(), "unknown task 'revue'");
        assert_eq!(none.hint(), Some("did you mean 'review'?"));
        assert!(find("task", "", &names).is_err());
        assert!(find("task", "x", &[]).unwrap_err().hint().is_some());
    }
}
