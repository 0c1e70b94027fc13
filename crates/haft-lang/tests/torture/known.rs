//! Where bash is not followed, and why.

/// A difference that is meant: the bytes that show it, each found after the one before, and the reason.
struct Known {
    marks: &'static [&'static str],
    reason: &'static str,
}

const KNOWN: &[Known] = &[
    Known {
        marks: &["(", "time"],
        reason: "bash takes `time` for a word at the beginning of a substitution, and for itself when that runs",
    },
    Known {
        marks: &["case", "for", "\n", "in"],
        reason: "in `case`, bash loses the `do` of `for x` and `in` on two lines",
    },
    Known { marks: &["case", "select", "\n", "in"], reason: "the same of `select`" },
    Known {
        marks: &["((", "${"],
        reason: "in `((`, bash finds out only when running that `${` is not closed",
    },
    Known { marks: &["$[", "${"], reason: "the same in `$[`" },
    Known {
        marks: &["for", "((", "("],
        reason: "in `for ((`, bash looks for `;` without regard to parentheses",
    },
    Known {
        marks: &["$((", "case"],
        reason: "bash counts the parentheses of patterns when it looks for the end of `$((`",
    },
    Known {
        marks: &["$(()"],
        reason: "bash finds out when running that what begins like arithmetic is no command either",
    },
    Known { marks: &["$((("], reason: "the same" },
    Known { marks: &["\"${", "<("], reason: "bash looks for the end of `<(` in quotes where it is text" },
    Known { marks: &["coproc", "'"], reason: "bash looks for reserved words after a quoted word too" },
    Known { marks: &["coproc", "\""], reason: "the same" },
    Known { marks: &["coproc", "$"], reason: "the same after a word that is an expansion" },
    Known {
        marks: &["((", "=("],
        reason: "bash reads what is `( (` and not `((` twice, arrays in it as something else",
    },
    Known { marks: &["((", "\n"], reason: "the same of what is on further lines" },
    Known { marks: &["\"${'"], reason: "bash takes quotes for quotes in what is no expansion in quotes" },
    Known {
        marks: &["<(("],
        reason: "bash takes `<((` for arithmetic and finds out when running that it is not",
    },
    Known { marks: &[">(("], reason: "the same of `>((`" },
    Known {
        marks: &["coproc", "=("],
        reason: "after `coproc` and a word, bash reads elements of an array like commands",
    },
    Known {
        marks: &["(", "=(", "\\"],
        reason: "in a substitution, bash forgets a backslash in the elements of an array",
    },
    Known { marks: &["=", "<", "=("], reason: "bash knows no array after an assignment and a redirection" },
    Known { marks: &["=", ">", "=("], reason: "the same of the other redirections" },
];

/// The reason for a difference, if it is a known one. The script should show the difference and nothing else.
pub(crate) fn reason(script: &[u8]) -> Option<&'static str> {
    let script = String::from_utf8_lossy(script);
    let shows = |known: &&Known| {
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
