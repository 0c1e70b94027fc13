//! The words in which bash reports an invalid expression.
//!
//! bash finds an error while it reads tokens from left to right, and its message names the token at which it stopped. This reads an
//! expression that is known to be wrong in the same order, without evaluating it.

use haft_lang::{bracket_length, digit_value};

/// An error as bash describes it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Diagnosis {
    pub(super) problem: &'static str,
    /// The expression that the message shows.
    pub(super) shown: Vec<u8>,
    /// The rest of the expression from the token at fault on.
    pub(super) token: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Token {
    Start,
    End,
    Name,
    Number,
    PreIncrement,
    PreDecrement,
    PostIncrement,
    /// An assignment with an operator, such as `+=`.
    OperatorAssign,
    /// An operator of two characters.
    Double([u8; 2]),
    Single(u8),
    /// The result of an operator that cannot be assigned to.
    Result,
}

/// Returns the error that bash would report for a text that is not an expression. `None` if this reads it as one.
pub(super) fn diagnose(text: &[u8]) -> Option<Diagnosis> {
    let mut scanner =
        Scanner { text, at: 0, token_start: 0, current: Token::Start, last: Token::Start, depth: 0 };
    let found = scanner.whole().err()?;
    let end = found.end.unwrap_or(text.len());
    let start = scanner.token_start.min(end);
    Some(Diagnosis { problem: found.problem, shown: text[..end].to_vec(), token: text[start..end].to_vec() })
}

/// Returns the operand at fault of a division by 0: the text after the operator. A guess if there are several divisions.
pub(super) fn divisor(text: &[u8]) -> &[u8] {
    let is_division = |at: &usize| matches!(text[*at], b'/' | b'%');
    let mut operands = (0..text.len()).filter(is_division).map(|at| {
        let rest = &text[at + 1..];
        rest.strip_prefix(b"=").unwrap_or(rest).trim_ascii_start()
    });
    let first = operands.next().unwrap_or_default();
    if first.starts_with(b"0") {
        first
    } else {
        operands.find(|rest| rest.starts_with(b"0")).unwrap_or(first)
    }
}

struct Problem {
    problem: &'static str,
    /// The position at which bash cuts the text off: after an invalid number.
    end: Option<usize>,
}

type Step = Result<(), Problem>;

fn problem(problem: &'static str) -> Step {
    Err(Problem { problem, end: None })
}

struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    token_start: usize,
    current: Token,
    last: Token,
    depth: u32,
}

/// The deepest nesting that is followed.
const MAX_DEPTH: u32 = 200;

impl Scanner<'_> {
    fn whole(&mut self) -> Step {
        self.read()?;
        self.comma()?;
        match self.current {
            Token::End => Ok(()),
            _ => problem("syntax error in expression"),
        }
    }

    fn byte(&self, at: usize) -> u8 {
        self.text.get(at).copied().unwrap_or(0)
    }

    fn become_token(&mut self, token: Token) {
        self.last = self.current;
        self.current = token;
    }

    /// Reads the next token.
    fn read(&mut self) -> Step {
        while matches!(self.byte(self.at), b' ' | b'\t' | b'\n') {
            self.at += 1;
        }
        let Some(&first) = self.text.get(self.at) else {
            self.become_token(Token::End);
            return Ok(());
        };
        self.token_start = self.at;
        if first.is_ascii_alphabetic() || first == b'_' {
            return self.read_name();
        }
        if first.is_ascii_digit() {
            return self.read_number();
        }
        self.read_operator(first)
    }

    fn read_name(&mut self) -> Step {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        while is_part(self.byte(self.at)) {
            self.at += 1;
        }
        if self.byte(self.at) == b'[' {
            match bracket_length(&self.text[self.at..]) {
                Some(length) => self.at += length,
                None => return problem("bad array subscript"),
            }
        }
        // bash looks at the token after a name to see whether it is an assignment.
        let (at, start, last) = (self.at, self.token_start, self.current);
        self.current = Token::Name;
        if self.depth < MAX_DEPTH {
            self.depth += 1;
            self.read()?;
            self.depth -= 1;
        }
        (self.at, self.token_start) = (at, start);
        (self.last, self.current) = (last, Token::Name);
        Ok(())
    }

    fn read_number(&mut self) -> Step {
        let start = self.at;
        while self.byte(self.at).is_ascii_alphanumeric() || matches!(self.byte(self.at), b'#' | b'@' | b'_') {
            self.at += 1;
        }
        if let Some(problem) = number_problem(&self.text[start..self.at]) {
            return Err(Problem { problem, end: Some(self.at) });
        }
        self.become_token(Token::Number);
        Ok(())
    }

    fn read_operator(&mut self, first: u8) -> Step {
        let second = self.byte(self.at + 1);
        let third = self.byte(self.at + 2);
        let (token, length) = match (first, second) {
            (b'<', b'<') | (b'>', b'>') if third == b'=' => (Token::OperatorAssign, 3),
            (b'=' | b'!' | b'<' | b'>', b'=')
            | (b'|', b'|')
            | (b'&', b'&')
            | (b'<', b'<')
            | (b'>', b'>')
            | (b'*', b'*') => (Token::Double([first, second]), 2),
            (b'+' | b'-', _) if second == first => match self.increment(first)? {
                Some(token) => (token, 2),
                None => (Token::Single(first), 1),
            },
            (b'*' | b'/' | b'%' | b'+' | b'-' | b'&' | b'^' | b'|', b'=') => (Token::OperatorAssign, 2),
            _ if !b"=><+-*/%!()&|^~?:,".contains(&first) => {
                return match self.current {
                    Token::Name | Token::Number | Token::PostIncrement | Token::Result => {
                        problem("syntax error: invalid arithmetic operator")
                    }
                    _ => problem("syntax error: operand expected"),
                };
            }
            _ => (Token::Single(first), 1),
        };
        self.at += length;
        self.become_token(token);
        Ok(())
    }

    /// The meaning of `++` or `--`. `None` if they are two unary operators.
    fn increment(&self, sign: u8) -> Result<Option<Token>, Problem> {
        let after_prefix = matches!(self.last, Token::PreIncrement | Token::PreDecrement);
        if self.current == Token::Name {
            return Ok(Some(Token::PostIncrement));
        }
        if self.current == Token::Number && after_prefix {
            let text = if sign == b'-' {
                "--: assignment requires lvalue"
            } else {
                "++: assignment requires lvalue"
            };
            return Err(Problem { problem: text, end: None });
        }
        let rest = self.text[self.at + 2..].trim_ascii_start();
        let named = rest.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
        let token = if sign == b'-' { Token::PreDecrement } else { Token::PreIncrement };
        Ok(named.then_some(token))
    }

    fn nested(&mut self, step: impl FnOnce(&mut Self) -> Step) -> Step {
        if self.depth >= MAX_DEPTH {
            return problem("expression recursion level exceeded");
        }
        self.depth += 1;
        let result = step(self);
        self.depth -= 1;
        result
    }

    fn comma(&mut self) -> Step {
        self.assignment()?;
        while self.current == Token::Single(b',') {
            self.read()?;
            self.assignment()?;
        }
        Ok(())
    }

    fn assignment(&mut self) -> Step {
        self.nested(Self::choice)?;
        if matches!(self.current, Token::Single(b'=') | Token::OperatorAssign) {
            if self.last != Token::Name {
                return problem("attempted assignment to non-variable");
            }
            self.read()?;
            self.nested(Self::assignment)?;
        }
        Ok(())
    }

    fn choice(&mut self) -> Step {
        self.binary(1)?;
        if self.current != Token::Single(b'?') {
            return Ok(());
        }
        self.read()?;
        if matches!(self.current, Token::End | Token::Single(b':')) {
            return problem("expression expected");
        }
        self.nested(Self::comma)?;
        if self.current != Token::Single(b':') {
            return problem("`:' expected for conditional expression");
        }
        self.read()?;
        if self.current == Token::End {
            return problem("expression expected");
        }
        self.nested(Self::choice)?;
        self.last = Token::Result;
        Ok(())
    }

    fn binary(&mut self, level: u8) -> Step {
        self.unary()?;
        while let Some(binds) = precedence(self.current).filter(|binds| *binds >= level) {
            self.read()?;
            self.nested(|scanner| scanner.binary(if binds == POWER { binds } else { binds + 1 }))?;
            self.last = Token::Result;
        }
        Ok(())
    }

    fn unary(&mut self) -> Step {
        if let Token::Single(b'!' | b'~' | b'-' | b'+') = self.current {
            self.read()?;
            self.nested(Self::unary)?;
            self.last = Token::Number;
            return Ok(());
        }
        self.operand()
    }

    fn operand(&mut self) -> Step {
        match self.current {
            Token::PreIncrement | Token::PreDecrement => {
                self.last = self.current;
                self.read()?;
                if self.current != Token::Name {
                    return problem("identifier expected after pre-increment or pre-decrement");
                }
                self.current = Token::Number;
                self.read()
            }
            Token::Single(b'(') => {
                self.read()?;
                self.nested(Self::comma)?;
                if self.current != Token::Single(b')') {
                    return problem("missing `)'");
                }
                self.read()
            }
            Token::Number => self.read(),
            Token::Name => {
                let before = (self.at, self.token_start, self.last);
                self.read()?;
                if self.current == Token::PostIncrement {
                    self.current = Token::Number;
                    return self.read();
                }
                (self.at, self.token_start, self.last) = before;
                self.current = Token::Name;
                self.read()
            }
            _ => problem("syntax error: operand expected"),
        }
    }
}

const POWER: u8 = 11;

/// The precedence of a binary operator.
fn precedence(token: Token) -> Option<u8> {
    Some(match token {
        Token::Double([b'|', b'|']) => 1,
        Token::Double([b'&', b'&']) => 2,
        Token::Single(b'|') => 3,
        Token::Single(b'^') => 4,
        Token::Single(b'&') => 5,
        Token::Double([b'=' | b'!', b'=']) => 6,
        Token::Double([b'<' | b'>', b'=']) | Token::Single(b'<' | b'>') => 7,
        Token::Double([b'<', b'<'] | [b'>', b'>']) => 8,
        Token::Single(b'+' | b'-') => 9,
        Token::Single(b'*' | b'/' | b'%') => 10,
        Token::Double([b'*', b'*']) => POWER,
        _ => return None,
    })
}

/// Why a constant is not a number.
fn number_problem(text: &[u8]) -> Option<&'static str> {
    let (mut base, mut value, mut has_base, mut rest) = (10u32, 0u64, false, text);
    if let [b'0', after @ ..] = text {
        if after.is_empty() {
            return None;
        }
        has_base = true;
        (base, rest) = match after {
            [b'x' | b'X', digits @ ..] => (16, digits),
            digits => (8, digits),
        };
    }
    for (at, byte) in rest.iter().enumerate() {
        if *byte == b'#' {
            if has_base {
                return Some("invalid number");
            }
            let Some(given) = u32::try_from(value).ok().filter(|base| (2..=64).contains(base)) else {
                return Some("invalid arithmetic base");
            };
            (base, value, has_base) = (given, 0, true);
            if rest.get(at + 1).is_none_or(|next| digit_value(*next, 64).is_none()) {
                return Some("invalid integer constant");
            }
            continue;
        }
        match digit_value(*byte, base).filter(|digit| *digit < base) {
            Some(digit) => value = value.wrapping_mul(u64::from(base)).wrapping_add(u64::from(digit)),
            None => return Some("value too great for base"),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_described_as_bash_describes_them() {
        let cases = [
            ("3425#56 ", "invalid arithmetic base", "3425#56"),
            ("2# ", "invalid integer constant", "2#"),
            ("0#4", "invalid number", "0#4"),
            ("2#44 ", "value too great for base", "2#44"),
            ("7 = 43 ", "attempted assignment to non-variable", "= 43 "),
            ("jv += $iv", "syntax error: operand expected", "$iv"),
            ("7 + (43 * 6", "missing `)'", "6"),
            ("4 + ", "syntax error: operand expected", "+ "),
            ("4 ? : 5", "expression expected", ": 5"),
            ("1 ? 20 ", "`:' expected for conditional expression", "20 "),
            ("x=9 y=41 ", "syntax error in expression", "y=41 "),
            ("7-- ", "syntax error: operand expected", "- "),
            ("--x=7", "attempted assignment to non-variable", "=7"),
            ("x++=7", "attempted assignment to non-variable", "=7"),
            ("x.5", "syntax error: invalid arithmetic operator", ".5"),
        ];
        for (text, problem, token) in cases {
            let found = diagnose(text.as_bytes()).unwrap();
            assert_eq!(
                (found.problem, String::from_utf8_lossy(&found.token).as_ref()),
                (problem, token),
                "{text}"
            );
        }
        assert_eq!(diagnose(b"1 + x[2] * (y++ - 3) ? a = 4 : 16#ff"), None);
    }
}
