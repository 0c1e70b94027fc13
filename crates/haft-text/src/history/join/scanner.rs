//! Quotes, here-documents and tokens of the lines of a command.

use std::collections::VecDeque;

/// A token, as far as it matters for joining lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Token {
    #[default]
    Newline,
    Word,
    /// `(`
    Open,
    /// `)`
    Close,
    Case,
    For,
    Function,
    /// An operator or reserved word after which a command begins.
    Leader,
    /// Another operator or reserved word.
    Other,
}

impl Token {
    /// Whether the line after this token is joined with a blank.
    pub(super) fn needs_no_semicolon(self) -> bool {
        matches!(self, Self::Newline | Self::Open | Self::Close | Self::Case | Self::Leader)
    }

    /// Whether a command can begin after this token.
    fn precedes_command(self) -> bool {
        matches!(self, Self::Newline | Self::Open | Self::Close | Self::Leader | Self::Other)
    }
}

/// A here-document whose lines follow.
#[derive(Clone, Debug)]
struct PendingDocument {
    delimiter: Vec<u8>,
    strips_tabs: bool,
}

/// The state after some lines.
#[derive(Clone, Debug, Default)]
pub(super) struct LineScanner {
    /// The closing characters of the open quotes and substitutions; `(` for a compound assignment.
    open: Vec<u8>,
    /// The last tokens, the latest last.
    tokens: [Token; 3],
    case_depth: usize,
    documents: VecDeque<PendingDocument>,
    /// Whether the lines of the first document follow, and whether one of them was read.
    in_document: Option<bool>,
}

impl LineScanner {
    pub(super) fn innermost(&self) -> Option<u8> {
        self.open.last().copied()
    }

    pub(super) fn is_in_document(&self) -> bool {
        self.in_document.is_some()
    }

    pub(super) fn is_at_document_start(&self) -> bool {
        self.in_document == Some(false)
    }

    /// Whether a quote or a substitution is open.
    pub(super) fn is_delimited(&self) -> bool {
        self.open.iter().any(|close| *close != b'(')
    }

    pub(super) fn is_in_compound_assignment(&self) -> bool {
        self.open.last() == Some(&b'(')
    }

    pub(super) fn is_in_case(&self) -> bool {
        self.case_depth > 0
    }

    /// The two tokens before the last newline.
    pub(super) fn tokens_before_newline(&self) -> [Token; 2] {
        [self.tokens[0], self.tokens[1]]
    }

    /// Scans a line without its newline.
    pub(super) fn scan(&mut self, line: &[u8]) {
        if self.in_document.is_some() {
            return self.scan_document_line(line);
        }
        let mut at = 0;
        let mut word = Vec::new();
        while at < line.len() {
            at = match self.open.last().copied() {
                Some(close) if close != b'(' => self.scan_delimited(line, at, close, &mut word),
                _ => self.scan_command(line, at, &mut word),
            };
        }
        let is_continued = word.last() == Some(&b'\\') && line.ends_with(b"\\");
        if is_continued {
            return;
        }
        if !self.is_delimited() {
            self.end_word(&mut word);
            self.push(Token::Newline);
        }
        if !self.documents.is_empty() && !matches!(self.open.last(), Some(b'\'' | b'"' | b'`')) {
            self.in_document = Some(false);
        }
    }

    fn scan_document_line(&mut self, line: &[u8]) {
        self.in_document = Some(true);
        let Some(document) = self.documents.front() else { return };
        let strips = document.strips_tabs;
        let tabs = if strips { line.iter().take_while(|byte| **byte == b'\t').count() } else { 0 };
        if line[tabs..] == *document.delimiter {
            self.documents.pop_front();
            self.in_document = (!self.documents.is_empty()).then_some(true);
        }
    }

    /// Scans within a quote or a substitution. Returns the next offset.
    fn scan_delimited(&mut self, line: &[u8], at: usize, close: u8, word: &mut Vec<u8>) -> usize {
        let byte = line[at];
        word.push(byte);
        if byte == close {
            self.open.pop();
            return at + 1;
        }
        if close == b'\'' {
            return at + 1;
        }
        if byte == b'\\' {
            return (at + 2).min(line.len());
        }
        if let Some(end) = self.open_nested(line, at, close == b'"') {
            return end;
        }
        match byte {
            b'(' if close == b')' => self.open.push(b')'),
            b'#' if close == b')' && starts_word(line, at) => return line.len(),
            b'<' if close == b')' && line[at..].starts_with(b"<<") => {
                return self.scan_document_start(line, at);
            }
            _ => {}
        }
        at + 1
    }

    /// Opens a quote or a substitution at `at`, if there is one. Returns the offset after its start.
    fn open_nested(&mut self, line: &[u8], at: usize, in_double: bool) -> Option<usize> {
        let rest = &line[at..];
        let (closes, length): (&[u8], usize) = match rest[0] {
            b'\'' if !in_double => (b"'", 1),
            b'"' => (b"\"", 1),
            b'`' => (b"`", 1),
            b'$' if rest.starts_with(b"$((") => (b"))", 3),
            b'$' if rest.starts_with(b"$(") => (b")", 2),
            b'$' if rest.starts_with(b"${") => (b"}", 2),
            b'<' | b'>' if !in_double && rest.get(1) == Some(&b'(') => (b")", 2),
            b'?' | b'*' | b'+' | b'@' | b'!' if !in_double && rest.get(1) == Some(&b'(') => (b")", 2),
            _ => return None,
        };
        self.open.extend_from_slice(closes);
        Some(at + length)
    }

    /// Scans outside of quotes. Returns the next offset.
    fn scan_command(&mut self, line: &[u8], at: usize, word: &mut Vec<u8>) -> usize {
        let rest = &line[at..];
        match rest[0] {
            b'\\' => {
                let end = (at + 2).min(line.len());
                word.extend_from_slice(&line[at..end]);
                end
            }
            b' ' | b'\t' => {
                self.end_word(word);
                at + 1
            }
            b'#' if word.is_empty() => line.len(),
            b')' if self.is_in_compound_assignment() => {
                self.open.pop();
                word.push(b')');
                at + 1
            }
            b'(' if word.ends_with(b"=") => {
                self.open.push(b'(');
                at + 1
            }
            b'(' if rest.starts_with(b"((") && word.is_empty() && self.tokens[2].precedes_command() => {
                self.open.extend_from_slice(b"))");
                at + 2
            }
            b'<' if rest.starts_with(b"<<") && !rest.starts_with(b"<<<") => {
                self.end_word(word);
                self.scan_document_start(line, at)
            }
            byte => {
                if let Some(end) = self.open_nested(line, at, false) {
                    word.push(byte);
                    return end;
                }
                if !b";&|<>()".contains(&byte) {
                    word.push(byte);
                    return at + 1;
                }
                self.end_word(word);
                self.scan_operator(line, at)
            }
        }
    }

    fn scan_operator(&mut self, line: &[u8], at: usize) -> usize {
        let length = line[at..].iter().take_while(|byte| b";&|".contains(byte)).count();
        let token = match line[at] {
            b'(' => Token::Open,
            b')' => Token::Close,
            b'<' | b'>' => return at + 1,
            _ => Token::Leader,
        };
        self.push(token);
        at + length.max(1)
    }

    /// Reads the delimiter of a here-document at `at`. Returns the offset after it.
    fn scan_document_start(&mut self, line: &[u8], at: usize) -> usize {
        let strips_tabs = line.get(at + 2) == Some(&b'-');
        let mut end = at + 2 + usize::from(strips_tabs);
        end += line[end..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let mut delimiter = Vec::new();
        let mut quote = None;
        while let Some(&byte) = line.get(end) {
            match byte {
                _ if quote == Some(byte) => quote = None,
                _ if quote.is_some() => delimiter.push(byte),
                b'\'' | b'"' => quote = Some(byte),
                b'\\' => {}
                b' ' | b'\t' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')' => break,
                _ => delimiter.push(byte),
            }
            end += 1;
        }
        if !delimiter.is_empty() {
            self.documents.push_back(PendingDocument { delimiter, strips_tabs });
        }
        end
    }

    fn end_word(&mut self, word: &mut Vec<u8>) {
        if word.is_empty() || self.is_in_compound_assignment() {
            return word.clear();
        }
        let [_, before, last] = self.tokens;
        let token = match word.as_slice() {
            b"in" if last == Token::Word && matches!(before, Token::For | Token::Case) => Token::Leader,
            b"do" if last == Token::Word && before == Token::For => Token::Leader,
            name if last.precedes_command() => reserved(name),
            _ => Token::Word,
        };
        match word.as_slice() {
            _ if token == Token::Case => self.case_depth += 1,
            b"esac" if token == Token::Other => self.case_depth = self.case_depth.saturating_sub(1),
            _ => {}
        }
        self.push(token);
        word.clear();
    }

    fn push(&mut self, token: Token) {
        self.tokens = [self.tokens[1], self.tokens[2], token];
    }
}

fn reserved(word: &[u8]) -> Token {
    match word {
        b"case" => Token::Case,
        b"for" | b"select" => Token::For,
        b"function" => Token::Function,
        b"{" | b"do" | b"else" | b"if" | b"then" | b"until" | b"while" => Token::Leader,
        b"}" | b"fi" | b"done" | b"esac" | b"elif" | b"!" | b"time" => Token::Other,
        _ => Token::Word,
    }
}

fn starts_word(line: &[u8], at: usize) -> bool {
    at == 0 || matches!(line[at - 1], b' ' | b'\t' | b';' | b'&' | b'|' | b'(' | b')')
}

/// Whether a line has a comment after something else.
pub(super) fn has_comment(line: &[u8]) -> bool {
    let mut scanner = LineScanner::default();
    let mut word = Vec::new();
    let mut at = 0;
    while at < line.len() {
        at = match scanner.open.last().copied() {
            Some(close) if close != b'(' => scanner.scan_delimited(line, at, close, &mut word),
            _ if line[at] == b'#' && word.is_empty() => return true,
            _ => scanner.scan_command(line, at, &mut word),
        };
    }
    false
}
