//! Regular expressions of GNU's `grep`, `sed` and `awk`.
//!
//! They match as POSIX requires: the leftmost match, and of those the longest one. Groups are those that GNU's library reports.
//! Without back-references a search takes linear time. With back-references it backtracks, and fails after a number of steps.
//!
//! ```
//! use haft_text::encoding::Encoding;
//! use haft_text::regex::gnu::{GnuRegex, GnuRegexOptions, GnuSyntax};
//!
//! let options = GnuRegexOptions::new(GnuSyntax::GrepExtended, Encoding::Utf8);
//! let regex = GnuRegex::new(b"a|ab|abc", options).unwrap();
//! assert_eq!(regex.find(b"xabcd", 0), Ok(Some(1..4)));
//!
//! // `from` keeps the context: `^` matches only at index 0.
//! let options = GnuRegexOptions::new(GnuSyntax::SedBasic, Encoding::Utf8);
//! let regex = GnuRegex::new(b"\\(.\\)\\(b*\\)", options).unwrap();
//! assert_eq!(regex.captures(b"abbc", 0).unwrap().unwrap(), [Some(0..3), Some(0..1), Some(1..3)]);
//! assert_eq!(regex.find(b"abbc", 3), Ok(Some(3..4)));
//!
//! assert_eq!(GnuRegex::new(b"[a", options).unwrap_err().to_string(), "Unmatched [, [^, [:, [., or [=");
//! ```
//!
//! A repetition of `\<`, `\b` and the like is an error in patterns of `grep`, as is `^` after them: GNU's results depend on the locale.
//!
//! [`GnuSyntax::Awk`] reads the source of an awk regular expression constant between its slashes: `\/`, `\"`, `\t` and `\052`
//! are characters.

mod automaton;
mod backtrack;
mod bracket;
mod char_set;
mod error;
mod escape;
mod options;
mod parse;
mod program;
mod registers;
mod subject;
mod token;
mod tree;

use std::ops::Range;
use std::sync::OnceLock;

use automaton::{Automaton, LineAutomaton};
use backtrack::Backtracker;
pub use error::{GnuRegexError, GnuSearchError};
pub use options::{GnuRegexOptions, GnuSyntax};
use program::Instruction;
use subject::Subject;
use tree::{Assertion, Node};

/// A match and its groups, as ranges of the subject. The first is the whole match. `None` is a group that did not take part.
pub type GnuCaptures = Vec<Option<Range<usize>>>;

/// A compiled regular expression. It can be used by several threads.
#[derive(Debug)]
pub struct GnuRegex {
    options: GnuRegexOptions,
    groups: usize,
    has_back_references: bool,
    /// Of an expression with back-references, this matches more than the expression.
    automaton: Automaton,
    program: Vec<Instruction>,
    node: Node,
    /// For searches of many lines. `None` if it cannot be built.
    lines: OnceLock<Option<LineAutomaton>>,
}

impl GnuRegex {
    /// Compiles an expression.
    ///
    /// # Errors
    /// Fails if the expression is invalid or too large.
    pub fn new(pattern: &[u8], options: GnuRegexOptions) -> Result<Self, GnuRegexError> {
        let (node, groups) = parse::parse(pattern, options)?;
        Self::of_node(node, groups, options)
    }

    /// Compiles an expression that matches where any of `patterns` does.
    ///
    /// # Errors
    /// Fails if an expression is invalid or too large.
    pub fn any_of(
        patterns: &[&[u8]],
        extent: GnuMatchExtent,
        options: GnuRegexOptions,
    ) -> Result<Self, GnuRegexError> {
        let (node, groups) = alternatives(patterns, options)?;
        Self::of_node(extent.limit(node), groups, options)
    }

    /// An expression that matches any of these strings.
    ///
    /// # Errors
    /// Fails if the strings are too large.
    pub fn fixed(
        texts: &[&[u8]],
        extent: GnuMatchExtent,
        options: GnuRegexOptions,
    ) -> Result<Self, GnuRegexError> {
        Self::of_node(extent.limit(parse::literals(texts, options)), 0, options)
    }

    fn of_node(node: Node, groups: usize, options: GnuRegexOptions) -> Result<Self, GnuRegexError> {
        let has_back_references = node.has_back_references();
        let program = match groups > 0 {
            true => program::compile(&node)?,
            false => Vec::new(),
        };
        let automaton = Automaton::new(&node, options)?;
        let lines = OnceLock::new();
        Ok(Self { options, groups, has_back_references, automaton, program, node, lines })
    }

    /// Whether the expression has back-references, so that a search may need too many steps.
    #[must_use]
    pub fn has_back_references(&self) -> bool {
        self.has_back_references
    }

    /// Whether the expression has `\\<`, `\\>`, `\\b` or `\\B`.
    #[must_use]
    pub fn has_word_assertions(&self) -> bool {
        use Assertion::{BufferEnd, BufferStart, LineEnd, LineStart};
        self.node.has_assertion(|it| !matches!(it, LineStart | LineEnd | BufferStart | BufferEnd))
    }

    /// Whether the expression has `\\B`.
    #[must_use]
    pub fn has_word_interiors(&self) -> bool {
        self.node.has_assertion(|it| it == Assertion::NotWordBoundary)
    }

    /// Whether the expression has `^` or `$` as anchors.
    #[must_use]
    pub fn has_line_assertions(&self) -> bool {
        self.node.has_assertion(|it| matches!(it, Assertion::LineStart | Assertion::LineEnd))
    }

    /// Whether [`find_line`](Self::find_line) can search several lines at once.
    #[must_use]
    pub fn searches_lines(&self) -> bool {
        !self.has_back_references && self.line_automaton().is_some()
    }

    /// Finds the first of several lines that the expression matches. The last line has no newline. Returns an index within the line, or
    /// at its end.
    ///
    /// ```
    /// use haft_text::encoding::Encoding;
    /// use haft_text::regex::gnu::{GnuRegex, GnuRegexOptions, GnuSyntax};
    ///
    /// let options = GnuRegexOptions::new(GnuSyntax::GrepBasic, Encoding::Bytes);
    /// let regex = GnuRegex::new(b"^b.*$", options).unwrap();
    /// assert_eq!(regex.find_line(b"ab\nbc\nb", 0).map(|at| (3..=5).contains(&at)), Some(true));
    /// ```
    #[must_use]
    pub fn find_line(&self, lines: &[u8], from: usize) -> Option<usize> {
        self.line_automaton()?.find(lines, from)
    }

    fn line_automaton(&self) -> Option<&LineAutomaton> {
        self.lines.get_or_init(|| LineAutomaton::new(&self.node, self.options)).as_ref()
    }

    /// The number of groups.
    #[must_use]
    pub fn groups(&self) -> usize {
        self.groups
    }

    /// Tells whether the expression matches anywhere in `subject`.
    ///
    /// # Errors
    /// Fails if back-references need too many steps.
    pub fn is_match(&self, subject: &[u8]) -> Result<bool, GnuSearchError> {
        match self.has_back_references {
            true => Ok(self.backtrack(subject, 0)?.is_some()),
            false => Ok(self.automaton.is_match(subject)),
        }
    }

    /// Finds the leftmost longest match that starts at or after `from`.
    ///
    /// # Errors
    /// Fails if back-references need too many steps.
    pub fn find(&self, subject: &[u8], from: usize) -> Result<Option<Range<usize>>, GnuSearchError> {
        if self.has_back_references {
            let captures = self.backtrack(subject, from)?;
            return Ok(captures.and_then(|captures| captures.into_iter().next().flatten()));
        }
        Ok(self.automaton.find(subject, from).map(|(start, end)| start..end))
    }

    /// Returns the end of the longest match that starts at `at`.
    ///
    /// # Errors
    /// Fails if back-references need too many steps.
    pub fn match_at(&self, subject: &[u8], at: usize) -> Result<Option<usize>, GnuSearchError> {
        if self.has_back_references {
            let captures =
                Backtracker::new(&self.program, self.subject(subject), self.groups).match_at(at)?;
            return Ok(captures
                .and_then(|captures| captures.first().cloned().flatten())
                .map(|range| range.end));
        }
        Ok(self.automaton.match_at(subject, at))
    }

    /// Finds the leftmost longest match that starts at or after `from`, with its groups.
    ///
    /// # Errors
    /// Fails if back-references need too many steps, or the groups too much memory.
    pub fn captures(&self, subject: &[u8], from: usize) -> Result<Option<GnuCaptures>, GnuSearchError> {
        if self.has_back_references {
            return self.backtrack(subject, from);
        }
        let Some((start, end)) = self.automaton.find(subject, from) else { return Ok(None) };
        if self.groups == 0 {
            return Ok(Some(vec![Some(start..end)]));
        }
        registers::find(&self.program, self.subject(subject), start..end, self.groups).map(Some)
    }

    fn subject<'a>(&self, text: &'a [u8]) -> Subject<'a> {
        Subject { text, options: self.options }
    }

    fn backtrack(&self, text: &[u8], from: usize) -> Result<Option<GnuCaptures>, GnuSearchError> {
        let mut backtracker = Backtracker::new(&self.program, self.subject(text), self.groups);
        let mut from = from;
        while let Some((start, _)) = self.automaton.find(text, from) {
            if let Some(captures) = backtracker.match_at(start)? {
                return Ok(Some(captures));
            }
            if start == text.len() {
                break;
            }
            from = start + self.options.encoding.character_length(&text[start..]);
        }
        Ok(None)
    }
}

/// A tree that matches where any of the patterns does, and the number of its groups.
fn alternatives(patterns: &[&[u8]], options: GnuRegexOptions) -> Result<(Node, usize), GnuRegexError> {
    let mut total = 0;
    let mut nodes = Vec::with_capacity(patterns.len());
    for pattern in patterns {
        let (mut node, groups) = parse::parse(pattern, options)?;
        node.renumber_groups(total);
        total += groups;
        nodes.push(node);
    }
    Ok((Node::Alternation(nodes), total))
}

/// The part of a subject that must match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GnuMatchExtent {
    /// Any part.
    Anywhere,
    /// A part that characters of words neither precede nor follow: `grep -w`.
    Word,
    /// The whole subject: `grep -x`.
    Whole,
}

impl GnuMatchExtent {
    fn limit(self, node: Node) -> Node {
        let (start, end) = match self {
            Self::Anywhere => return node,
            Self::Word => (Assertion::NotAfterWord, Assertion::NotBeforeWord),
            Self::Whole => (Assertion::BufferStart, Assertion::BufferEnd),
        };
        Node::Concatenation(vec![Node::Assertion(start), node, Node::Assertion(end)])
    }
}

/// The repetition operators of a pattern of `grep -E` that have nothing to repeat: `*`, `+` or `?`. `grep` ignores them,
/// and warns about them.
///
/// # Errors
/// Fails if the pattern is invalid.
pub fn leading_operators(
    pattern: &[u8],
    options: GnuRegexOptions,
) -> Result<Vec<&'static str>, GnuRegexError> {
    parse::leading_operators(pattern, options)
}

#[cfg(test)]
mod tests;
