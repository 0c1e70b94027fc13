//! Intentional differences from bash.

/// An intentional difference: which side accepts such scripts, texts that occur in them in this order, and
/// the reason.
struct Known {
    only: AcceptedBy,
    marks: &'static [&'static str],
    reason: &'static str,
}

/// Which side accepts a script.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AcceptedBy {
    /// AcceptedBy bash.
    Bash,
    /// AcceptedBy the parser.
    Ours,
    /// Sometimes one, sometimes the other.
    One,
}

const KNOWN: &[Known] = &[
    Known {
        only: AcceptedBy::One,
        marks: &["(", "time"],
        reason: "at the start of a substitution, bash parses `time` as a word, but runs it as the reserved word",
    },
    Known {
        only: AcceptedBy::Ours,
        marks: &["case", "for", "\n", "in"],
        reason: "in `case`, bash does not find the `do` of a `for` loop whose `in` is on the next line",
    },
    Known { only: AcceptedBy::Ours, marks: &["case", "select", "\n", "in"], reason: "the same for `select`" },
    Known {
        only: AcceptedBy::One,
        marks: &["((", "${"],
        reason: "in `((`, bash reports an unclosed `${` only at run time",
    },
    Known { only: AcceptedBy::One, marks: &["$[", "${"], reason: "the same in `$[`" },
    Known {
        only: AcceptedBy::Ours,
        marks: &["for", "((", "("],
        reason: "in `for ((`, bash ignores parentheses when it looks for `;`",
    },
    Known {
        only: AcceptedBy::Ours,
        marks: &["((", "case"],
        reason: "bash counts the parentheses of case patterns when it looks for the end of `((`",
    },
    Known {
        only: AcceptedBy::Bash,
        marks: &["$(()"],
        reason: "bash reports only at run time that the text is neither arithmetic nor a command",
    },
    Known { only: AcceptedBy::Bash, marks: &["$((("], reason: "the same" },
    Known {
        only: AcceptedBy::Ours,
        marks: &["\"${", "<("],
        reason: "bash looks for the end of `<(` in quotes, where it is literal",
    },
    Known {
        only: AcceptedBy::Ours,
        marks: &["coproc", "'"],
        reason: "bash also recognizes reserved words after a quoted word",
    },
    Known { only: AcceptedBy::Ours, marks: &["coproc", "\""], reason: "the same" },
    Known { only: AcceptedBy::Ours, marks: &["coproc", "$"], reason: "the same after an expansion" },
    Known {
        only: AcceptedBy::One,
        marks: &["((", "=("],
        reason: "bash parses `((` that is not arithmetic twice, and arrays in it differently",
    },
    Known { only: AcceptedBy::One, marks: &["((("], reason: "the same for three parentheses" },
    Known { only: AcceptedBy::One, marks: &["((", "\n"], reason: "the same for text on further lines" },
    Known {
        only: AcceptedBy::Ours,
        marks: &["\"${'"],
        reason: "bash recognizes quotes in an invalid expansion in quotes",
    },
    Known {
        only: AcceptedBy::One,
        marks: &["<(("],
        reason: "bash parses `<((` as arithmetic and reports only at run time that it is not",
    },
    Known { only: AcceptedBy::One, marks: &[">(("], reason: "the same for `>((`" },
    Known {
        only: AcceptedBy::Bash,
        marks: &["coproc", "=("],
        reason: "after `coproc` and a word, bash parses the elements of an array as commands",
    },
    Known {
        only: AcceptedBy::Ours,
        marks: &["(", "=(", "\\"],
        reason: "in a substitution, bash drops a backslash in the elements of an array",
    },
    Known {
        only: AcceptedBy::Ours,
        marks: &["=", "<", "=("],
        reason: "bash does not recognize an array after an assignment and a redirection",
    },
    Known { only: AcceptedBy::Ours, marks: &["=", ">", "=("], reason: "the same for other redirections" },
];

/// Returns the reason for a difference, if it is known. The script should be shrunk, so it shows nothing
/// else.
pub(crate) fn reason(script: &[u8], accepted: bool) -> Option<&'static str> {
    let script = String::from_utf8_lossy(script);
    let not = if accepted { AcceptedBy::Bash } else { AcceptedBy::Ours };
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
