//! Literal regular expressions and `sed` scripts.

use crate::ast::{BinaryTest, Conditional, ConditionalKind, PartKind, Word};
use crate::check::context::{CheckContext, SimpleView};
use crate::check::diagnostic::Severity;
use crate::check::rule::{Rule, RuleMatcher, RuleReport};
use crate::walk::SyntaxNode;

use super::ere;

/// `grep -E '(a|b'`.
pub(super) static BAD_REGEX: Rule = Rule {
    code: "bad-regex",
    severity: Severity::Error,
    summary: "an invalid regular expression",
    explanation: "The literal argument of =~, grep -E or egrep is not a valid extended regular expression, so \
        the command always fails.",
    wrong: &[
        "grep -E '(a|b' file",
        "egrep '[[:alfa:]]' file",
        "grep -oE \"a{3,2}\" file",
        "[[ $a =~ [z-a] ]]",
    ],
    right: &[
        "grep -E '(a|b)' file",
        "grep '(a|b' file",
        "grep -E \"$pattern\" file",
        "grep -E -f '(' file",
        "[[ $a =~ ^(a|b)$ ]]",
        "grep -E -e '\\(' file",
    ],
    matcher: RuleMatcher::Node(bad_regex),
};

fn bad_regex<'a>(context: &CheckContext<'a>, node: SyntaxNode<'a>, report: &mut RuleReport<'_>) {
    let word = match node {
        SyntaxNode::Conditional(Conditional {
            kind: ConditionalKind::Binary { test: BinaryTest::Regex, right, .. },
            ..
        }) => right,
        SyntaxNode::Command(command) => {
            match SimpleView::of(command).and_then(|command| grep_pattern(&command)) {
                Some(word) => word,
                None => return,
            }
        }
        _ => return,
    };
    let Some(text) = expression(word, node) else { return };
    if let Some(error) = text.split(|byte| *byte == b'\n').find_map(ere::find_error) {
        let shown = context.text(word.span);
        report.add(word.span, format!("invalid regular expression {shown}: {error}"));
    }
}

/// Returns the text of the expression. In `[[ ]]` it must be unquoted, because quotes change its meaning.
fn expression<'a>(word: &'a Word, node: SyntaxNode<'a>) -> Option<&'a [u8]> {
    match node {
        SyntaxNode::Conditional(_) => word.plain(),
        _ => word.literal(),
    }
}

/// Returns the pattern of `grep -E` or `egrep`.
fn grep_pattern<'a>(command: &SimpleView<'a>) -> Option<&'a Word> {
    if !matches!(command.name, b"grep" | b"egrep") {
        return None;
    }
    let mut extended = command.name == b"egrep";
    let mut words = command.words.iter();
    while let Some(word) = words.next() {
        let text = word.literal()?;
        if text.starts_with(b"--") {
            match text {
                b"--extended-regexp" => extended = true,
                b"--color" | b"--colour" | b"--line-number" | b"--quiet" | b"--recursive"
                | b"--ignore-case" | b"--count" => {}
                b"--" => return words.next().copied().filter(|_| extended),
                _ if text.contains(&b'=')
                    && !text.starts_with(b"--regexp")
                    && !text.starts_with(b"--file") => {}
                _ => return None,
            }
        } else if text.len() > 1 && text[0] == b'-' {
            let letters = &text[1..];
            if letters.iter().any(|letter| b"FPGfABCmdD".contains(letter)) {
                return None;
            }
            extended |= letters.contains(&b'E');
            if letters.ends_with(b"e") {
                return words.next().copied().filter(|_| extended);
            }
            if letters.contains(&b'e') {
                return None;
            }
        } else {
            return Some(*word).filter(|_| extended);
        }
    }
    None
}

/// `sed s/a/b`.
pub(super) static SED_UNTERMINATED: Rule = Rule {
    code: "sed-unterminated",
    severity: Severity::Error,
    summary: "a sed substitution without its last delimiter",
    explanation: "The s command of sed needs three delimiters: s/pattern/replacement/. If the pattern contains \
        the delimiter, choose another one: s|/usr|/opt|.",
    wrong: &["sed 's/a/b' file", "sed -i 's/a' file"],
    right: &[
        "sed 's/a/b/' file",
        "sed 's|a|/|g' file",
        "sed -e 's/[/]/x/' file",
        "sed \"s/a/$b/\" file",
        "sed 's/a\\/b/c/' file",
        "sed 's/a/b\\\nc/'",
    ],
    matcher: RuleMatcher::Simple(sed_unterminated),
};

fn sed_unterminated(_: &CheckContext<'_>, command: &SimpleView<'_>, report: &mut RuleReport<'_>) {
    if command.name != b"sed" {
        return;
    }
    let options =
        command.words.iter().take_while(|word| word.literal().is_some_and(|text| text.starts_with(b"-")));
    let at = options.count();
    let flags = command.words[..at].iter().filter_map(|word| word.literal());
    let known =
        [&b"-e"[..], b"-E", b"-r", b"-n", b"-i", b"-s", b"-z", b"-ne", b"-Ee", b"-re", b"-nE", b"-nr"];
    if !flags.into_iter().all(|flag| known.contains(&flag)) {
        return;
    }
    let Some(script) = command.words.get(at) else { return };
    let quoted = matches!(script.parts(), [part] if matches!(part.kind, PartKind::SingleQuoted(_) | PartKind::DoubleQuoted(_)));
    let Some(text) = script.literal().filter(|_| quoted || script.plain().is_some()) else { return };
    let [b's', delimiter, rest @ ..] = text else { return };
    if !b"/|#,:@!%".contains(delimiter) || rest.contains(&b'\n') {
        return;
    }
    let count = delimiters(rest, *delimiter);
    if count < 2 {
        let mark = char::from(*delimiter);
        let found = report.add(
            script.span,
            format!(
                "the substitution is missing {} \"{mark}\"",
                if count == 1 { "its last" } else { "two of its three" }
            ),
        );
        found.hint(format!("write s{mark}pattern{mark}replacement{mark}"));
    }
}

/// Counts unescaped delimiters. sed counts those in brackets, too.
fn delimiters(text: &[u8], delimiter: u8) -> usize {
    let mut count = 0;
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            byte if *byte == delimiter => count += 1,
            _ => {}
        }
    }
    count
}
