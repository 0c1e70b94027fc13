//! Syntax highlighting, from the syntax tree.

use std::collections::HashMap;
use std::ops::Range;

use haft_lang::ast::{CommandKind, PartKind, Span};
use haft_lang::walk::SyntaxNode;
use haft_lang::{ParseOptions, Program};

use super::editor::TextStyle;
use super::syntax;

/// Longer texts are not highlighted, since every key would parse them again.
const MAX_HIGHLIGHTED_BYTES: usize = 16 << 10;

const RESERVED_WORDS: [&str; 22] = [
    "if", "then", "else", "elif", "fi", "for", "in", "do", "done", "while", "until", "case", "esac",
    "select", "function", "time", "coproc", "{", "}", "!", "[[", "]]",
];

/// The styled parts of a text. `is_known` returns whether a command exists.
pub(crate) fn highlight(
    text: &str,
    options: &ParseOptions,
    is_known: &dyn Fn(&[u8]) -> bool,
) -> Vec<(Range<usize>, TextStyle)> {
    if text.is_empty() || text.len() > MAX_HIGHLIGHTED_BYTES {
        return Vec::new();
    }
    let mut canvas = HighlightCanvas { painted: vec![None; text.len()], names: HashMap::new(), is_known };
    match syntax::parse_unfinished(text, options) {
        Ok(program) => canvas.paint_program(text, &program),
        Err(error) => {
            let start = (error.span.start as usize).min(text.len());
            let end = (error.span.end as usize).clamp(start, text.len());
            if let Some(before) = text.get(..start)
                && let Ok(program) = syntax::parse_unfinished(before, options)
            {
                canvas.paint_program(before, &program);
            }
            canvas.painted[start..end].fill(Some(TextStyle::Wrong));
        }
    }
    canvas.ranges()
}

struct HighlightCanvas<'a> {
    /// The style of each byte; `None` between words, where operators, reserved words and comments are.
    painted: Vec<Option<TextStyle>>,
    /// The positions of command names, with their styles.
    names: HashMap<u32, TextStyle>,
    is_known: &'a dyn Fn(&[u8]) -> bool,
}

impl HighlightCanvas<'_> {
    fn paint_program(&mut self, text: &str, program: &Program) {
        SyntaxNode::List(&program.body).descend(&mut |node| self.paint(node));
        self.paint_between(text);
    }

    fn paint(&mut self, node: SyntaxNode<'_>) {
        match node {
            SyntaxNode::Command(command) => {
                if let CommandKind::Simple(simple) = &command.kind
                    && let Some(word) = simple.arguments.first().and_then(|argument| argument.word())
                {
                    let style = match word.literal() {
                        Some(name) if !(self.is_known)(name) => TextStyle::Unknown,
                        Some(_) => TextStyle::Command,
                        None => TextStyle::Plain,
                    };
                    self.names.insert(word.span.start, style);
                }
            }
            SyntaxNode::Word(word) => {
                let style = self.names.get(&word.span.start).copied().unwrap_or_default();
                self.fill(word.span, Some(style));
            }
            SyntaxNode::Assignment(assignment) => self.fill(assignment.span, Some(TextStyle::Plain)),
            SyntaxNode::Part(part) => match &part.kind {
                PartKind::SingleQuoted(_)
                | PartKind::AnsiQuoted(_)
                | PartKind::DoubleQuoted(_)
                | PartKind::LocaleQuoted(_) => self.fill(part.span, Some(TextStyle::Quoted)),
                PartKind::Variable(_)
                | PartKind::Parameter(_)
                | PartKind::Arithmetic(_)
                | PartKind::Tilde(_) => {
                    self.fill(part.span, Some(TextStyle::Expansion));
                }
                PartKind::Command(_) | PartKind::Process(_) => self.fill(part.span, None),
                _ => {}
            },
            _ => {}
        }
    }

    fn fill(&mut self, span: Span, style: Option<TextStyle>) {
        let end = (span.end as usize).min(self.painted.len());
        let start = (span.start as usize).min(end);
        self.painted[start..end].fill(style);
    }

    /// Styles comments and reserved words between the words.
    fn paint_between(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let end = match self.painted[at] {
                Some(_) => at + 1,
                None if bytes[at] == b'#' => self.paint_comment(bytes, at),
                None => self.paint_reserved(bytes, at),
            };
            at = end;
        }
    }

    fn paint_comment(&mut self, bytes: &[u8], at: usize) -> usize {
        let begins =
            at == 0 || matches!(bytes[at - 1], b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')');
        if !begins {
            return at + 1;
        }
        let end =
            bytes[at..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |length| at + length);
        self.painted[at..end].fill(Some(TextStyle::Comment));
        end
    }

    fn paint_reserved(&mut self, bytes: &[u8], at: usize) -> usize {
        let is_part = |place: usize| {
            self.painted[place].is_none()
                && (bytes[place].is_ascii_alphabetic() || b"{}![]".contains(&bytes[place]))
        };
        let end = (at..bytes.len()).find(|place| !is_part(*place)).unwrap_or(bytes.len());
        if RESERVED_WORDS.iter().any(|word| word.as_bytes() == &bytes[at..end]) {
            self.painted[at..end].fill(Some(TextStyle::Keyword));
        }
        end.max(at + 1)
    }

    /// Ranges of the same style.
    fn ranges(self) -> Vec<(Range<usize>, TextStyle)> {
        let mut ranges: Vec<(Range<usize>, TextStyle)> = Vec::new();
        for (at, style) in self.painted.into_iter().enumerate() {
            let style = style.unwrap_or_default();
            match ranges.last_mut() {
                Some((range, last)) if *last == style => range.end = at + 1,
                _ => ranges.push((at..at + 1, style)),
            }
        }
        ranges.retain(|(_, style)| *style != TextStyle::Plain);
        ranges
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The letter of each byte's style.
    fn painted(text: &str) -> String {
        let mut letters = vec!['.'; text.len()];
        for (range, style) in highlight(text, &ParseOptions::default(), &|name| name != b"nonesuch") {
            let letter = match style {
                TextStyle::Plain => '.',
                TextStyle::Command => 'c',
                TextStyle::Unknown => 'u',
                TextStyle::Keyword => 'k',
                TextStyle::Quoted => 'q',
                TextStyle::Expansion => 'e',
                TextStyle::Comment => '#',
                TextStyle::Wrong => '!',
            };
            letters[range].fill(letter);
        }
        letters.into_iter().collect()
    }

    #[test]
    fn every_part_has_its_style() {
        for (text, expected) in [
            ("ls -l 'a b' $x # no", "cc....qqqqq.ee.####"),
            ("nonesuch x", "uuuuuuuu.."),
            ("if ls; then", "kk.cc..kkkk"),
            ("echo \"a $x", "cccc.qqqee"),
            ("echo \"$(ls a", "cccc.q..cc.."),
            ("ls ) x", "cc.!.."),
            ("x=1 ls", "....cc"),
            ("f() { ls; }", "....k.cc..k"),
        ] {
            assert_eq!(painted(text), expected, "{text}");
        }
    }
}
