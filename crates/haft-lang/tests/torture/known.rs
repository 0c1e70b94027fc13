//! Intentional differences from bash.

/// An intentional difference: which side accepts such scripts, texts that occur in them in this order, and
/// the reason.
struct KnownDifference {
    only: AcceptedBy,
    marks: &'static [&'static str],
    reason: &'static str,
}

/// Which side accepts a script.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AcceptedBy {
    /// AcceptedBy bash.
    BashOracle,
    /// AcceptedBy the parser.
    Ours,
    /// Sometimes one, sometimes the other.
    One,
}

const KNOWN: &[KnownDifference] = &[
    KnownDifference {
        only: AcceptedBy::One,
        marks: &["\"", "${", ">("],
        reason: "in a quoted `${ }`, bash looks for the end of `>(`, but does not run it; the parser takes it as text",
    },
    KnownDifference { only: AcceptedBy::One, marks: &["\"", "${", "<("], reason: "the same for `<(`" },
    KnownDifference {
        only: AcceptedBy::One,
        marks: &["(", "time"],
        reason: "at the start of a substitution, bash parses `time` as a word, but runs it as the reserved word",
    },
    KnownDifference {
        only: AcceptedBy::Ours,
        marks: &["case", "for", "\n", "in"],
        reason: "in `case`, bash does not find the `do` of a `for` loop whose `in` is on the next line",
    },
    KnownDifference {
        only: AcceptedBy::Ours,
        marks: &["case", "select", "\n", "in"],
        reason: "the same for `select`",
    },
    KnownDifference {
        only: AcceptedBy::One,
        marks: &["((", "${"],
        reason: "in `((`, bash reports an unclosed `${` only at run time",
    },
    KnownDifference { only: AcceptedBy::One, marks: &["$[", "${"], reason: "the same in `$[`" },
    KnownDifference {
        only: AcceptedBy::Ours,
        marks: &["for", "((", "("],
        reason: "in `for ((`, bash ignores parentheses when it looks for `;`",
    },
    KnownDifference {
        only: AcceptedBy::Ours,
        marks: &["((", "case"],
        reason: "bash counts the parentheses of case patterns when it looks for the end of `((`",
    },
    KnownDifference {
        only: AcceptedBy::BashOracle,
        marks: &["$(()"],
        reason: "bash reports only at run time that the text is neither arithmetic nor a command",
    },
    KnownDifference { only: AcceptedBy::BashOracle, marks: &["$((("], reason: "the same" },
    KnownDifference {
        only: AcceptedBy::Ours,
        marks: &["\"${", "<("],
        reason: "bash looks for the end of `<(` in quotes, where it is literal",
    },
    KnownDifference {
        only: AcceptedBy::Ours,
        marks: &["coproc", "'"],
        reason: "bash also recognizes reserved words after a quoted word",
    },
    KnownDifference { only: AcceptedBy::Ours, marks: &["coproc", "\""], reason: "the same" },
    KnownDifference {
        only: AcceptedBy::Ours,
        marks: &["coproc", "$"],
        reason: "the same after an expansion",
    },
    KnownDifference {
        only: AcceptedBy::One,
        marks: &["((", "=("],
        reason: "bash parses `((` that is not arithmetic twice, and arrays in it differently",
    },
    KnownDifference { only: AcceptedBy::One, marks: &["((("], reason: "the same for three parentheses" },
    KnownDifference {
        only: AcceptedBy::One,
        marks: &["((", "\n"],
        reason: "the same for text on further lines",
    },
    KnownDifference {
        only: AcceptedBy::Ours,
        marks: &["\"${'"],
        reason: "bash recognizes quotes in an invalid expansion in quotes",
    },
    KnownDifference {
        only: AcceptedBy::One,
        marks: &["<(("],
        reason: "bash parses `<((` as arithmetic and reports only at run time that it is not",
    },
    KnownDifference { only: AcceptedBy::One, marks: &[">(("], reason: "the same for `>((`" },
    KnownDifference {
        only: AcceptedBy::BashOracle,
        marks: &["coproc", "=("],
        reason: "after `coproc` and a word, bash parses the elements of an array as commands",
    },
    KnownDifference {
        only: AcceptedBy::Ours,
        marks: &["(", "=(", "\\"],
        reason: "in a substitution, bash drops a backslash in the elements of an array",
    },
    KnownDifference {
        only: AcceptedBy::Ours,
        marks: &["=", "<", "=("],
        reason: "bash does not recognize an array after an assignment and a redirection",
    },
    KnownDifference {
        only: AcceptedBy::Ours,
        marks: &["=", ">", "=("],
        reason: "the same for other redirections",
    },
];

/// Returns the reason for a difference, if it is known. The script should be shrunk, so it shows nothing
/// else.
pub(crate) fn reason(script: &[u8], accepted: bool) -> Option<&'static str> {
    let script = String::from_utf8_lossy(script);
    let not = if accepted { AcceptedBy::BashOracle } else { AcceptedBy::Ours };
    let shows = |known: &&KnownDifference| {
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
