//! Parses a filter.

use super::lexer::{Token, TokenKind, tokens};
use super::syntax::{
    BinaryOperator, Definition, Filter, FilterError, Literal, MemberPattern, Pattern, TemplatePart,
};

/// How deep a filter may be nested. The parser and the compiler recurse, on threads with 2 MiB of stack.
const MAX_NESTING: usize = 300;

/// How many operators or accesses may follow each other.
const MAX_CHAIN: usize = 800;

type Parsed<T> = Result<T, FilterError>;

/// The line of a place in a text, from 1.
pub(super) fn line_of(text: &str, at: usize) -> usize {
    1 + memchr::memchr_iter(b'\n', &text.as_bytes()[..at.min(text.len())]).count()
}

/// Parses a filter.
pub(super) fn parse(text: &str) -> Parsed<Filter> {
    let mut parser = Parser { text, tokens: tokens(text), next: 0, nesting: 0 };
    parser.reject_modules()?;
    let mut definitions = parser.definitions()?;
    let mut filter = match parser.peek() {
        TokenKind::End => Filter::Identity,
        _ => parser.expression(0)?,
    };
    parser.expect_end()?;
    while let Some(definition) = definitions.pop() {
        filter = Filter::Define { definition: Box::new(definition), body: Box::new(filter) };
    }
    Ok(filter)
}

/// Parses definitions only.
pub(super) fn parse_definitions(text: &str) -> Parsed<Vec<Definition>> {
    let mut parser = Parser { text, tokens: tokens(text), next: 0, nesting: 0 };
    let definitions = parser.definitions()?;
    parser.expect_end()?;
    Ok(definitions)
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    next: usize,
    nesting: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Associativity {
    Left,
    Right,
    None,
}

#[derive(Clone, Copy)]
enum Operator {
    Pipe,
    Comma,
    Alternative,
    Assign,
    Update,
    UpdateWith(BinaryOperator),
    UpdateAlternative,
    Or,
    And,
    Binary(BinaryOperator),
}

const MINUS_PRECEDENCE: u8 = 8;

fn operator(symbol: &str) -> Option<(Operator, u8, Associativity)> {
    use Associativity::{Left, None, Right};
    use BinaryOperator as B;
    Some(match symbol {
        "|" => (Operator::Pipe, 1, Right),
        "," => (Operator::Comma, 2, Left),
        "//" => (Operator::Alternative, 3, Right),
        "=" => (Operator::Assign, 4, None),
        "|=" => (Operator::Update, 4, None),
        "+=" => (Operator::UpdateWith(B::Add), 4, None),
        "-=" => (Operator::UpdateWith(B::Subtract), 4, None),
        "*=" => (Operator::UpdateWith(B::Multiply), 4, None),
        "/=" => (Operator::UpdateWith(B::Divide), 4, None),
        "%=" => (Operator::UpdateWith(B::Remainder), 4, None),
        "//=" => (Operator::UpdateAlternative, 4, None),
        "or" => (Operator::Or, 5, Left),
        "and" => (Operator::And, 6, Left),
        "==" => (Operator::Binary(B::Equal), 7, None),
        "!=" => (Operator::Binary(B::NotEqual), 7, None),
        "<" => (Operator::Binary(B::Less), 7, None),
        ">" => (Operator::Binary(B::Greater), 7, None),
        "<=" => (Operator::Binary(B::LessOrEqual), 7, None),
        ">=" => (Operator::Binary(B::GreaterOrEqual), 7, None),
        "+" => (Operator::Binary(B::Add), MINUS_PRECEDENCE, Left),
        "-" => (Operator::Binary(B::Subtract), MINUS_PRECEDENCE, Left),
        "*" => (Operator::Binary(B::Multiply), 9, Left),
        "/" => (Operator::Binary(B::Divide), 9, Left),
        "%" => (Operator::Binary(B::Remainder), 9, Left),
        _ => return Option::None,
    })
}

fn combine(operator: Operator, left: Filter, right: Filter) -> Filter {
    let (left, right) = (Box::new(left), Box::new(right));
    match operator {
        Operator::Pipe => Filter::Pipe(left, right),
        Operator::Comma => Filter::Comma(left, right),
        Operator::Alternative => Filter::Alternative(left, right),
        Operator::Assign => Filter::Assign(left, right),
        Operator::Update => Filter::Update(left, right),
        Operator::UpdateWith(operator) => Filter::UpdateWith(operator, left, right),
        Operator::UpdateAlternative => Filter::UpdateAlternative(left, right),
        Operator::Or => Filter::Or(left, right),
        Operator::And => Filter::And(left, right),
        Operator::Binary(operator) => Filter::Binary(operator, left, right),
    }
}

/// The common beginning of `reduce` and `foreach`.
struct Fold {
    source: Box<Filter>,
    patterns: Vec<Pattern>,
    initial: Box<Filter>,
    update: Box<Filter>,
}

impl Parser<'_> {
    fn peek(&self) -> &TokenKind {
        &self.tokens[self.next].kind
    }

    fn is(&self, symbol: &str) -> bool {
        matches!(self.peek(), TokenKind::Symbol(found) if *found == symbol)
    }

    fn at(&self) -> usize {
        self.tokens[self.next].at
    }

    fn advance(&mut self) {
        if self.next + 1 < self.tokens.len() {
            self.next += 1;
        }
    }

    fn take(&mut self, symbol: &str) -> bool {
        let found = self.is(symbol);
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, symbol: &str) -> Parsed<()> {
        match self.take(symbol) {
            true => Ok(()),
            false => Err(self.unexpected()),
        }
    }

    fn expect_end(&self) -> Parsed<()> {
        match self.peek() {
            TokenKind::End => Ok(()),
            _ => Err(self.unexpected_instead_of(", expecting end of file")),
        }
    }

    fn unexpected(&self) -> FilterError {
        // At its start, a filter may end.
        self.unexpected_instead_of(if self.next == 0 { ", expecting end of file" } else { "" })
    }

    /// An error about the next token, with a list of those that may be here.
    fn unexpected_instead_of(&self, expected: &str) -> FilterError {
        let name = match self.peek() {
            TokenKind::Symbol(symbol) if symbol.len() == 1 => format!("'{symbol}'"),
            TokenKind::Symbol(symbol) => (*symbol).to_owned(),
            TokenKind::Identifier(_) => "IDENT".to_owned(),
            TokenKind::Field(_) => "FIELD".to_owned(),
            TokenKind::Variable(_) => "BINDING".to_owned(),
            TokenKind::Number(_) => "LITERAL".to_owned(),
            TokenKind::Format(_) => "FORMAT".to_owned(),
            TokenKind::StringStart => "QQSTRING_START".to_owned(),
            TokenKind::StringText(_) => "QQSTRING_TEXT".to_owned(),
            TokenKind::InterpolationStart => "QQSTRING_INTERP_START".to_owned(),
            TokenKind::InterpolationEnd => "QQSTRING_INTERP_END".to_owned(),
            TokenKind::StringEnd => "QQSTRING_END".to_owned(),
            TokenKind::InvalidCharacter => "INVALID_CHARACTER".to_owned(),
            TokenKind::End => "end of file".to_owned(),
        };
        self.error(format!("syntax error, unexpected {name}{expected} (Unix shell quoting issues?)"))
    }

    fn error(&self, message: impl Into<String>) -> FilterError {
        // The end of the text is reported at the last token.
        let is_end = *self.peek() == TokenKind::End;
        let token = if is_end { self.next.saturating_sub(1) } else { self.next };
        FilterError { message: message.into(), at: self.tokens[token].at }
    }

    fn reject_modules(&self) -> Parsed<()> {
        match ["module", "import", "include"].iter().find(|word| self.is(word)) {
            Some(word) => Err(self.error(format!("'{word}' is not supported"))),
            None => Ok(()),
        }
    }

    fn definitions(&mut self) -> Parsed<Vec<Definition>> {
        let mut definitions = Vec::new();
        while self.is("def") {
            definitions.push(self.definition()?);
        }
        Ok(definitions)
    }

    fn definition(&mut self) -> Parsed<Definition> {
        self.expect("def")?;
        let name = self.identifier()?;
        let mut parameters = Vec::new();
        if self.take("(") {
            loop {
                match self.peek().clone() {
                    TokenKind::Identifier(name) => parameters.push(name),
                    TokenKind::Variable(name) => parameters.push(format!("${name}")),
                    _ => return Err(self.unexpected()),
                }
                self.advance();
                if !self.take(";") {
                    break;
                }
            }
            self.expect(")")?;
        }
        self.expect(":")?;
        let body = self.expression(0)?;
        self.expect(";")?;
        Ok(Definition { name, parameters, body })
    }

    fn identifier(&mut self) -> Parsed<String> {
        let TokenKind::Identifier(name) = self.peek().clone() else { return Err(self.unexpected()) };
        self.advance();
        Ok(name)
    }

    fn variable(&mut self) -> Parsed<String> {
        let TokenKind::Variable(name) = self.peek().clone() else { return Err(self.unexpected()) };
        self.advance();
        Ok(name)
    }

    /// Counts a level of nesting, which the caller takes back.
    fn enter(&mut self) -> Parsed<()> {
        self.nesting += 1;
        match self.nesting > MAX_NESTING {
            true => Err(self.error("syntax error: the filter is nested too deeply")),
            false => Ok(()),
        }
    }

    /// Counts an operator or an access of a chain.
    fn extend(&self, chain: &mut usize) -> Parsed<()> {
        *chain += 1;
        match *chain > MAX_CHAIN {
            true => Err(self.error("syntax error: the filter is nested too deeply")),
            false => Ok(()),
        }
    }

    /// An expression with operators of at least this precedence.
    fn expression(&mut self, minimum: u8) -> Parsed<Filter> {
        self.enter()?;
        let mut left = self.operand()?;
        left = self.question_marks(left);
        let (mut closed_level, mut chain) = (None, 0);
        while let TokenKind::Symbol(symbol) = self.peek() {
            let Some((found, precedence, associativity)) = operator(symbol) else { break };
            if precedence < minimum {
                break;
            }
            if closed_level == Some(precedence) {
                return Err(self.unexpected());
            }
            self.extend(&mut chain)?;
            self.advance();
            let right = self.expression(match associativity {
                Associativity::Right => precedence,
                Associativity::Left | Associativity::None => precedence + 1,
            })?;
            left = combine(found, left, right);
            closed_level = (associativity == Associativity::None).then_some(precedence);
        }
        self.nesting -= 1;
        Ok(left)
    }

    fn question_marks(&mut self, mut filter: Filter) -> Filter {
        let mut is_first = true;
        while self.take("?") {
            // Further marks change nothing.
            if !std::mem::take(&mut is_first) {
                continue;
            }
            filter = Filter::Try { body: Box::new(filter), catch: None };
        }
        filter
    }

    /// An operand, without question marks that follow it.
    fn operand(&mut self) -> Parsed<Filter> {
        let TokenKind::Symbol(symbol) = self.peek() else { return self.term_or_binding() };
        match *symbol {
            "def" => {
                let definition = Box::new(self.definition()?);
                Ok(Filter::Define { definition, body: Box::new(self.expression(0)?) })
            }
            "-" => {
                self.advance();
                Ok(Filter::Negate(Box::new(self.expression(MINUS_PRECEDENCE + 1)?)))
            }
            "reduce" => self.reduce(),
            "foreach" => self.foreach(),
            "if" => {
                self.advance();
                self.condition()
            }
            "try" => self.try_filter(),
            "label" => {
                self.advance();
                let name = self.variable()?;
                self.expect("|")?;
                Ok(Filter::Label { name, body: Box::new(self.expression(0)?) })
            }
            _ => self.term_or_binding(),
        }
    }

    fn term_or_binding(&mut self) -> Parsed<Filter> {
        let term = self.term()?;
        if !self.take("as") {
            return Ok(term);
        }
        let patterns = self.patterns()?;
        self.expect("|")?;
        let body = Box::new(self.expression(0)?);
        Ok(Filter::Bind { source: Box::new(term), patterns, body })
    }

    fn nested_operand(&mut self) -> Parsed<Filter> {
        self.enter()?;
        let operand = self.operand()?;
        self.nesting -= 1;
        Ok(operand)
    }

    fn try_filter(&mut self) -> Parsed<Filter> {
        self.expect("try")?;
        let body = Box::new(self.nested_operand()?);
        let catch = match self.take("catch") {
            true => Some(Box::new(self.nested_operand()?)),
            false => None,
        };
        Ok(Filter::Try { body, catch })
    }

    /// A condition after `if` or `elif`.
    fn condition(&mut self) -> Parsed<Filter> {
        let condition = Box::new(self.expression(0)?);
        self.expect("then")?;
        let then = Box::new(self.expression(0)?);
        let otherwise = if self.take("elif") {
            self.enter()?;
            let rest = self.condition()?;
            self.nesting -= 1;
            Some(Box::new(rest))
        } else if self.take("else") {
            let rest = self.expression(0)?;
            self.expect("end")?;
            Some(Box::new(rest))
        } else {
            self.expect("end")?;
            None
        };
        Ok(Filter::If { condition, then, otherwise })
    }

    fn fold(&mut self, keyword: &'static str) -> Parsed<Fold> {
        self.expect(keyword)?;
        let source = Box::new(self.term()?);
        self.expect("as")?;
        let patterns = self.patterns()?;
        self.expect("(")?;
        let initial = Box::new(self.expression(0)?);
        self.expect(";")?;
        let update = Box::new(self.expression(0)?);
        Ok(Fold { source, patterns, initial, update })
    }

    fn reduce(&mut self) -> Parsed<Filter> {
        let Fold { source, patterns, initial, update } = self.fold("reduce")?;
        self.expect(")")?;
        Ok(Filter::Reduce { source, patterns, initial, update })
    }

    fn foreach(&mut self) -> Parsed<Filter> {
        let Fold { source, patterns, initial, update } = self.fold("foreach")?;
        let extract = match self.take(";") {
            true => Some(Box::new(self.expression(0)?)),
            false => None,
        };
        self.expect(")")?;
        Ok(Filter::Foreach { source, patterns, initial, update, extract })
    }

    fn patterns(&mut self) -> Parsed<Vec<Pattern>> {
        let mut patterns = vec![self.pattern()?];
        while self.take("?//") {
            patterns.push(self.pattern()?);
        }
        Ok(patterns)
    }

    fn pattern(&mut self) -> Parsed<Pattern> {
        self.enter()?;
        let pattern = if self.take("[") {
            let mut items = vec![self.pattern()?];
            while self.take(",") {
                items.push(self.pattern()?);
            }
            self.expect("]")?;
            Pattern::Array(items)
        } else if self.take("{") {
            let mut members = vec![self.member_pattern()?];
            while self.take(",") {
                members.push(self.member_pattern()?);
            }
            self.expect("}")?;
            Pattern::Object(members)
        } else {
            let expected = ", expecting BINDING or '[' or '{'";
            Pattern::Variable(self.variable().map_err(|_| self.unexpected_instead_of(expected))?)
        };
        self.nesting -= 1;
        Ok(pattern)
    }

    fn member_pattern(&mut self) -> Parsed<MemberPattern> {
        if let TokenKind::Variable(name) = self.peek().clone() {
            self.advance();
            let pattern = match self.take(":") {
                true => Some(self.pattern()?),
                false => None,
            };
            return Ok(MemberPattern { key: Filter::text(&name), variable: Some(name), pattern });
        }
        let key = self.key()?.ok_or_else(|| self.unexpected())?;
        self.expect(":")?;
        Ok(MemberPattern { key, variable: None, pattern: Some(self.pattern()?) })
    }

    /// The key of a member: a name, a keyword, a string, or a filter in parentheses.
    fn key(&mut self) -> Parsed<Option<Filter>> {
        let key = match self.peek().clone() {
            TokenKind::Identifier(name) => Filter::text(&name),
            TokenKind::Symbol("(") => {
                self.advance();
                let key = self.expression(0)?;
                self.expect(")")?;
                return Ok(Some(key));
            }
            TokenKind::Symbol(word) if word.as_bytes()[0].is_ascii_lowercase() => Filter::text(word),
            TokenKind::StringStart | TokenKind::Format(_) => return self.string().map(Some),
            _ => return Ok(None),
        };
        self.advance();
        Ok(Some(key))
    }

    fn member(&mut self) -> Parsed<(Filter, Filter)> {
        let at = self.at();
        match self.peek().clone() {
            TokenKind::Variable(name) => {
                self.advance();
                let variable = Filter::Variable { name: name.clone(), at };
                return match self.take(":") {
                    true => Ok((variable, self.member_value()?)),
                    false => Ok((Filter::text(&name), variable)),
                };
            }
            TokenKind::Symbol("$__loc__") => {
                self.advance();
                return Ok((Filter::text("__loc__"), Filter::Location(line_of(self.text, at))));
            }
            _ => {}
        }
        let needs_value = self.is("(");
        let key = self.key()?.ok_or_else(|| self.unexpected())?;
        if self.take(":") {
            self.check_key(&key, at)?;
            return Ok((key, self.member_value()?));
        }
        if needs_value {
            return Err(self.unexpected());
        }
        let value = Filter::Index {
            target: Box::new(Filter::Identity),
            key: Box::new(Filter::Variable { name: SAME_KEY.to_owned(), at }),
            optional: false,
        };
        match key.as_literal() {
            Some(_) => {
                let target = Box::new(Filter::Identity);
                Ok((key.clone(), Filter::Index { target, key: Box::new(key), optional: false }))
            }
            None => Ok((key, value)),
        }
    }

    fn check_key(&self, key: &Filter, at: usize) -> Parsed<()> {
        let kind = match key.as_literal() {
            None | Some(Literal::Text(_)) => return Ok(()),
            Some(Literal::Null) => "null (null)".to_owned(),
            Some(Literal::Bool(value)) => format!("boolean ({value})"),
            Some(Literal::Number(text)) => format!("number ({text})"),
        };
        Err(FilterError { message: format!("Cannot use {kind} as object key"), at })
    }

    fn member_value(&mut self) -> Parsed<Filter> {
        self.enter()?;
        let mut negations = 0;
        while self.take("-") {
            negations += 1;
        }
        let mut value = self.term()?;
        for _ in 0..negations {
            value = Filter::Negate(Box::new(value));
        }
        if self.take("|") {
            value = Filter::Pipe(Box::new(value), Box::new(self.member_value()?));
        }
        self.nesting -= 1;
        Ok(value)
    }

    fn term(&mut self) -> Parsed<Filter> {
        self.enter()?;
        let mut term = self.primary()?;
        let mut chain = 0;
        loop {
            self.extend(&mut chain)?;
            term = match self.peek().clone() {
                TokenKind::Field(name) => {
                    self.advance();
                    self.index(term, Filter::text(&name))
                }
                TokenKind::Symbol("[") => {
                    self.advance();
                    self.bracket(term)?
                }
                TokenKind::Symbol(".") => {
                    self.advance();
                    if self.take("[") { self.bracket(term)? } else { self.string_index(term)? }
                }
                _ => break,
            };
        }
        self.nesting -= 1;
        Ok(term)
    }

    fn index(&mut self, target: Filter, key: Filter) -> Filter {
        let optional = self.take("?");
        Filter::Index { target: Box::new(target), key: Box::new(key), optional }
    }

    fn string_index(&mut self, target: Filter) -> Parsed<Filter> {
        match self.peek() {
            TokenKind::StringStart | TokenKind::Format(_) => {
                let key = self.string()?;
                Ok(self.index(target, key))
            }
            _ => Err(self.unexpected()),
        }
    }

    /// The suffix that follows `[` after a term.
    fn bracket(&mut self, target: Filter) -> Parsed<Filter> {
        let target = Box::new(target);
        if self.take("]") {
            return Ok(Filter::Iterate { target, optional: self.take("?") });
        }
        let from = match self.is(":") {
            true => None,
            false => Some(Box::new(self.expression(0)?)),
        };
        if let Some(key) = from.clone().filter(|_| !self.is(":")) {
            self.expect("]")?;
            return Ok(Filter::Index { target, key, optional: self.take("?") });
        }
        self.expect(":")?;
        let to = match self.is("]") && from.is_some() {
            true => None,
            false => Some(Box::new(self.expression(0)?)),
        };
        self.expect("]")?;
        Ok(Filter::Slice { target, from, to, optional: self.take("?") })
    }

    fn primary(&mut self) -> Parsed<Filter> {
        let at = self.at();
        let token = self.peek().clone();
        match token {
            TokenKind::StringStart => self.string(),
            TokenKind::Format(name) => {
                let has_string = matches!(self.tokens.get(self.next + 1), Some(token) if token.kind == TokenKind::StringStart);
                if has_string {
                    return self.string();
                }
                self.advance();
                Ok(Filter::Format(name))
            }
            TokenKind::Field(name) => {
                self.advance();
                Ok(self.index(Filter::Identity, Filter::text(&name)))
            }
            TokenKind::Number(text) => {
                self.advance();
                Ok(Filter::Literal(Literal::Number(text)))
            }
            TokenKind::Variable(name) => {
                self.advance();
                Ok(Filter::Variable { name, at })
            }
            TokenKind::Identifier(name) => {
                self.advance();
                self.call(name, at)
            }
            TokenKind::Symbol(symbol) => self.symbol(symbol, at),
            _ => Err(self.unexpected()),
        }
    }

    fn symbol(&mut self, symbol: &str, at: usize) -> Parsed<Filter> {
        if !matches!(symbol, "." | ".." | "break" | "(" | "[" | "{" | "$__loc__" | "$") {
            return Err(self.unexpected());
        }
        self.advance();
        match symbol {
            ".." => Ok(Filter::call("recurse", Vec::new())),
            "$__loc__" => Ok(Filter::Location(line_of(self.text, at))),
            "break" => match self.variable() {
                Ok(label) => Ok(Filter::Break { label, at }),
                Err(_) => Err(self.error("break requires a label to break to")),
            },
            "(" => {
                let filter = self.expression(0)?;
                self.expect(")")?;
                Ok(filter)
            }
            "[" => {
                if self.take("]") {
                    return Ok(Filter::Array(None));
                }
                let items = self.expression(0)?;
                self.expect("]")?;
                Ok(Filter::Array(Some(Box::new(items))))
            }
            "{" => self.object(),
            "$" => {
                self.expect("$")?;
                self.expect("$")?;
                Ok(Filter::TakeVariable(self.variable()?))
            }
            _ => match self.peek() {
                TokenKind::StringStart | TokenKind::Format(_) => self.string_index(Filter::Identity),
                _ => Ok(Filter::Identity),
            },
        }
    }

    fn object(&mut self) -> Parsed<Filter> {
        let mut members = Vec::new();
        while !self.is("}") {
            members.push(self.member()?);
            if !self.take(",") {
                break;
            }
        }
        self.expect("}")?;
        Ok(Filter::Object(members))
    }

    fn call(&mut self, name: String, at: usize) -> Parsed<Filter> {
        let mut arguments = Vec::new();
        if self.take("(") {
            arguments.push(self.expression(0)?);
            while self.take(";") {
                arguments.push(self.expression(0)?);
            }
            self.expect(")")?;
        }
        Ok(match (name.as_str(), arguments.is_empty()) {
            ("null", true) => Filter::Literal(Literal::Null),
            ("true", true) => Filter::Literal(Literal::Bool(true)),
            ("false", true) => Filter::Literal(Literal::Bool(false)),
            _ => Filter::Call { name, arguments, at },
        })
    }

    /// A string, with the format before it.
    fn string(&mut self) -> Parsed<Filter> {
        let format = match self.peek().clone() {
            TokenKind::Format(name) => {
                self.advance();
                name
            }
            _ => "text".to_owned(),
        };
        if *self.peek() != TokenKind::StringStart {
            return Err(self.unexpected());
        }
        self.advance();
        let mut parts = Vec::new();
        loop {
            match self.peek().clone() {
                TokenKind::StringText(Ok(text)) => {
                    match parts.last_mut() {
                        Some(TemplatePart::Text(before)) => before.push_str(&text),
                        _ => parts.push(TemplatePart::Text(text)),
                    }
                    self.advance();
                }
                TokenKind::StringText(Err(message)) => return Err(self.error(message)),
                TokenKind::InterpolationStart => {
                    self.advance();
                    parts.push(TemplatePart::Filter(self.expression(0)?));
                    if *self.peek() != TokenKind::InterpolationEnd {
                        return Err(self.unexpected());
                    }
                    self.advance();
                }
                TokenKind::StringEnd => {
                    self.advance();
                    break;
                }
                _ => return Err(self.unexpected()),
            }
        }
        Ok(match &parts[..] {
            [] => Filter::text(""),
            [TemplatePart::Text(text)] => Filter::text(text),
            _ => Filter::Template { format, parts },
        })
    }
}

/// The variable that holds the key of a member whose value has the same key.
pub(super) const SAME_KEY: &str = " key";
