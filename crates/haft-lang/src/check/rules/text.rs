//! Mistakes in the raw text, and misleading characters.

use crate::ast::{PartKind, RedirectKind, Span, WordContent};
use crate::check::context::CheckContext;
use crate::check::diagnostic::Severity;
use crate::check::rule::{Rule, RuleMatcher, RuleReport};
use crate::walk::SyntaxNode;

/// `#!` after the first line.
pub(super) static SHEBANG: Rule = Rule {
    code: "shebang-not-first",
    severity: Severity::Warning,
    summary: "#! that is not at the start of the file",
    explanation: "The kernel only recognizes #! in the first two bytes of a file. After a blank line, a \
        comment, a space or a byte order mark it is a comment, and another shell may run the file.",
    wrong: &["\n#!/bin/bash\necho x", " #!/bin/sh\n", "# a script\n#!/bin/sh\n"],
    right: &[
        "#!/bin/bash\necho x",
        "echo x\n#!/bin/sh\n",
        "cat <<X\n#!/bin/sh\nX\n",
        "#!/bin/sh\n#!/bin/bash\n",
    ],
    matcher: RuleMatcher::Text(shebang),
};

fn shebang(source: &[u8], report: &mut RuleReport<'_>) {
    let mut offset = 0;
    for (number, line) in source.split(|byte| *byte == b'\n').take(12).enumerate() {
        let body = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        let body = body.trim_ascii_start();
        let lead = line.len() - body.len();
        if body.starts_with(b"#!/") && (number > 0 || lead > 0) {
            let start = offset + lead;
            report
                .add(span(start, start + body.len()), "\"#!\" only works at the very start of the file")
                .hint("move it to the first line");
            return;
        }
        if !(body.is_empty() || body.starts_with(b"#")) || body.starts_with(b"#!") {
            return;
        }
        offset += line.len() + 1;
    }
}

/// Lines that end in CR LF.
pub(super) static CARRIAGE_RETURN: Rule = Rule {
    code: "carriage-return",
    severity: Severity::Warning,
    summary: "Windows line endings",
    explanation: "The shell treats the carriage return as part of the last word, so commands are not found and \
        file names are wrong. Convert the file with dos2unix or sed -i 's/\\r$//'.",
    wrong: &["echo a\r\necho b\r\n"],
    right: &["echo a\necho b\n", "printf 'a\\r\\n'"],
    matcher: RuleMatcher::Text(carriage_return),
};

fn carriage_return(source: &[u8], report: &mut RuleReport<'_>) {
    let mut ends = memchr::memmem::find_iter(source, b"\r\n");
    let Some(first) = ends.next() else { return };
    let more = ends.count();
    let message = if more == 0 {
        "a line ends with a carriage return".to_owned()
    } else {
        format!("{} lines end with a carriage return", more + 1)
    };
    report.add(span(first, first + 1), message).hint("remove them with sed -i 's/\\r$//'");
}

/// “…” instead of quotes.
pub(super) static TYPOGRAPHIC_QUOTES: Rule = Rule {
    code: "typographic-quotes",
    severity: Severity::Warning,
    summary: "typographic quotes outside quotes",
    explanation: "“ ” ‘ ’ are ordinary characters to the shell: they do not quote and become part of the \
        argument. They often come from pasted text.",
    wrong: &["echo “hello world”", "rm ‘a b’"],
    right: &["echo \"“hello”\"", "echo don’t", "echo 'x' # “y”"],
    matcher: RuleMatcher::Node(typographic_quotes),
};

fn typographic_quotes<'a>(context: &CheckContext<'a>, node: SyntaxNode<'a>, report: &mut RuleReport<'_>) {
    let Some((text, at)) = unquoted(context, node) else { return };
    let starts = ["“", "‘"].iter().any(|mark| text.starts_with(mark.as_bytes()));
    let ends = ["”"].iter().any(|mark| text.ends_with(mark.as_bytes()));
    if starts || ends {
        let message = "typographic quotes do not quote";
        report.add(at, message).hint("use \" or '");
    }
}

/// A no-break space.
pub(super) static NO_BREAK_SPACE: Rule = Rule {
    code: "no-break-space",
    severity: Severity::Warning,
    summary: "a no-break space between words",
    explanation: "A no-break space looks like a space, but it is an ordinary character to the shell and does \
        not separate words. It often comes from pasted text.",
    wrong: &["echo\u{a0}hello", "ls \u{a0}-l"],
    right: &["echo 'a\u{a0}b'", "echo a b"],
    matcher: RuleMatcher::Node(no_break_space),
};

fn no_break_space<'a>(context: &CheckContext<'a>, node: SyntaxNode<'a>, report: &mut RuleReport<'_>) {
    let Some((text, at)) = unquoted(context, node) else { return };
    if let Some(place) = memchr::memmem::find(text, "\u{a0}".as_bytes()) {
        let start = at.start as usize + place;
        report
            .add(span(start, start + 2), "a no-break space does not separate words")
            .hint("replace it with a space");
    }
}

/// Returns the unquoted literal text of a word or part.
fn unquoted<'a>(context: &CheckContext<'a>, node: SyntaxNode<'a>) -> Option<(&'a [u8], Span)> {
    let quotes = |node: &SyntaxNode<'_>| match node {
        SyntaxNode::Part(part) => matches!(part.kind, PartKind::DoubleQuoted(_) | PartKind::LocaleQuoted(_)),
        SyntaxNode::Redirect(redirect) => matches!(redirect.kind, RedirectKind::HereDocument(_)),
        _ => false,
    };
    let near = context.parents.iter().rev().take_while(|node| !matches!(node, SyntaxNode::Command(_)));
    if near.into_iter().any(quotes) {
        return None;
    }
    match node {
        SyntaxNode::Word(word) => match &word.content {
            WordContent::Plain(text) if !text.is_ascii() && text.len() == word.span.range().len() => {
                Some((text, word.span))
            }
            _ => None,
        },
        SyntaxNode::Part(part) => match &part.kind {
            PartKind::Literal(text) if !text.is_ascii() && text.len() == part.span.range().len() => {
                Some((text, part.span))
            }
            _ => None,
        },
        _ => None,
    }
}

fn span(start: usize, end: usize) -> Span {
    let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    Span::new(offset(start), offset(end))
}
