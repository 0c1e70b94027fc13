//! The command that starts a worker on a host.

/// The beginning of the line that says that haft is not on the host. The output of `uname -sm` follows.
pub(super) const MISSING: &str = "missing ";

/// The command for the user's shell on the host, whichever that is. It runs `sh` with a script that finds haft, or reads a copy
/// of it from standard input: a line with the size, then the program.
///
/// The script is one line without single quotes, backslashes and exclamation marks, so that every shell passes it on unchanged.
pub(super) fn worker_command(version: &str) -> String {
    let script = [
        &format!(r#"d="$HOME/.cache/haft/bin"; f="$d/haft-{version}"; t="$f.$$""#),
        &format!(
            r#"for p in haft "$f"; do if test "$("$p" --version 2>/dev/null)" = "haft {version}"; then exec "$p" __scatter-worker; fi; done"#
        ),
        &format!(r#"echo {MISSING}$(uname -sm)"#),
        r"read -r size || exit 0",
        r#"mkdir -p "$d" && head -c "$size" >"$t" && test "$(wc -c <"$t")" -eq "$size" && chmod 755 "$t" && mv -f "$t" "$f" && exec "$f" __scatter-worker"#,
        r#"rm -f "$t"; echo "cannot copy haft to $f" >&2; exit 1"#,
    ];
    format!("exec sh -c '{}'", script.join("; "))
}

#[cfg(test)]
mod tests {
    use super::worker_command;

    #[test]
    fn the_command_is_the_same_in_every_shell() {
        let command = worker_command("1.2.3");
        let script = command.strip_prefix("exec sh -c '").and_then(|rest| rest.strip_suffix('\''));
        assert!(!script.expect("quoted").contains(['\'', '\\', '!', '\n']), "{command}");
    }
}
