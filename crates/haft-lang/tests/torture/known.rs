//! Where bash is not followed, and why.

/// A difference that is meant: who accepts what shows it, the bytes that show it, each found after the one before, and the
/// reason.
struct Known {
    only: Only,
    marks: &'static [&'static str],
    reason: &'static str,
}

/// Who accepts a script.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Only {
    /// bash, and the parser does not.
    Bash,
    /// The parser, and bash does not.
    Ours,
    /// Now the one, now the other.
    One,
}

const KNOWN: &[Known] = &[
    Known {
        only: Only::One,
        marks: &["(", "time"],
        reason: "bash takes `time` for a word at the beginning of a substitution, and for itself when that runs",
    },
    Known {
        only: Only::Ours,
        marks: &["case", "for", "\n", "in"],
        reason: "in `case`, bash loses the `do` of `for x` and `in` on two lines",
    },
    Known { only: Only::Ours, marks: &["case", "select", "\n", "in"], reason: "the same of `select`" },
    Known {
        only: Only::One,
        marks: &["((", "${"],
        reason: "in `((`, bash finds out only when running that `${` is not closed",
    },
    Known { only: Only::One, marks: &["$[", "${"], reason: "the same in `$[`" },
    Known {
        only: Only::Ours,
        marks: &["for", "((", "("],
        reason: "in `for ((`, bash looks for `;` without regard to parentheses",
    },
    Known {
        only: Only::Ours,
        marks: &["((", "case"],
        reason: "bash counts the parentheses of patterns when it looks for the end of `((`",
    },
    Known {
        only: Only::Bash,
        marks: &["$(()"],
        reason: "bash finds out when running that what begins like arithmetic is no command either",
    },
    Known { only: Only::Bash, marks: &["$((("], reason: "the same" },
    Known {
        only: Only::Ours,
        marks: &["\"${", "<("],
        reason: "bash looks for the end of `<(` in quotes where it is text",
    },
    Known {
        only: Only::Ours,
        marks: &["coproc", "'"],
        reason: "bash looks for reserved words after a quoted word too",
    },
    Known { only: Only::Ours, marks: &["coproc", "\""], reason: "the same" },
    Known { only: Only::Ours, marks: &["coproc", "$"], reason: "the same after a word that is an expansion" },
    Known {
        only: Only::One,
        marks: &["((", "=("],
        reason: "bash reads what is `( (` and not `((` twice, arrays in it as something else",
    },
    Known { only: Only::One, marks: &["((("], reason: "the same of three of them" },
    Known { only: Only::One, marks: &["((", "\n"], reason: "the same of what is on further lines" },
    Known {
        only: Only::Ours,
        marks: &["\"${'"],
        reason: "bash takes quotes for quotes in what is no expansion in quotes",
    },
    Known {
        only: Only::One,
        marks: &["<(("],
        reason: "bash takes `<((` for arithmetic and finds out when running that it is not",
    },
    Known { only: Only::One, marks: &[">(("], reason: "the same of `>((`" },
    Known {
        only: Only::Bash,
        marks: &["coproc", "=("],
        reason: "after `coproc` and a word, bash reads elements of an array like commands",
    },
    Known {
        only: Only::Ours,
        marks: &["(", "=(", "\\"],
        reason: "in a substitution, bash forgets a backslash in the elements of an array",
    },
    Known {
        only: Only::Ours,
        marks: &["=", "<", "=("],
        reason: "bash knows no array after an assignment and a redirection",
    },
    Known { only: Only::Ours, marks: &["=", ">", "=("], reason: "the same of the other redirections" },
];

/// The reason for a difference, if it is a known one. The script, which the parser accepts or not, should show the difference
/// and nothing else.
pub(crate) fn reason(script: &[u8], accepted: bool) -> Option<&'static str> {
    let script = String::from_utf8_lossy(script);
    let not = if accepted { Only::Bash } else { Only::Ours };
    let shows = |known: &&Known| {
        if known.only == not {
            return false;
        }
        let mut rest: &str = &script;
        known.marks.iter().all(|mark| match rest.split_once(mark) {
            Some((_, after)) => {
                rest = after;
                true
            }
            None => false,
        })
    };
    KNOWN.iter().find(shows).map(|known| known.reason)
}
