//! Parses programs.

mod expression;
mod primary;
mod resolve;
mod statement;

use std::rc::Rc;

use haft_text::encoding::Encoding;
use haft_text::regex::gnu::{GnuRegex, GnuRegexOptions, GnuSyntax};

pub(super) use primary::special;

use super::lexer::{AwkLexer, AwkToken, Keyword};
use super::tree::{AwkFunction, AwkPattern, AwkProgram, AwkRegex, AwkRule, AwkStatement, VariableSlot};

/// The deepest nesting of statements and expressions.
const MAX_NESTING: usize = 200;

/// Characters that may follow a backslash in a regular expression without a warning.
const KNOWN_ESCAPES: &[u8] = b"\\/.*+?()[]{}^$|ntfrsSwWy<>";

/// An error in a program.
#[derive(Debug)]
pub(super) struct AwkSyntaxError {
    /// The number of the line.
    pub(super) line: usize,
    /// The text of the line, and the column of the error. `None` if the message is about something else.
    pub(super) place: Option<(Vec<u8>, usize)>,
    pub(super) message: String,
    pub(super) status: i32,
}

/// A variable passed as an argument: the function it occurs in, the variable, the called function, the index of the argument.
struct PassedVariable {
    within: Option<usize>,
    variable: VariableSlot,
    callee: usize,
    index: usize,
}

pub(super) struct AwkParser<'a> {
    lexer: AwkLexer<'a>,
    token: AwkToken,
    program: AwkProgram,
    /// The function that is being parsed.
    function: Option<usize>,
    passed: Vec<PassedVariable>,
    ranges: usize,
    nesting: usize,
    /// Whether `>` is a redirection.
    in_print: bool,
    encoding: Encoding,
    /// Whether the program has several lines.
    has_lines: bool,
}

/// Parses a program. The names are those of variables that exist in any case.
pub(super) fn parse(
    source: &[u8],
    names: &[&str],
    encoding: Encoding,
    warn: &mut dyn FnMut(usize, &str),
) -> Result<AwkProgram, AwkSyntaxError> {
    let mut parser = AwkParser {
        lexer: AwkLexer::new(source),
        token: AwkToken::Newline,
        program: AwkProgram::default(),
        function: None,
        passed: Vec::new(),
        ranges: 0,
        nesting: 0,
        in_print: false,
        encoding,
        has_lines: source.contains(&b'\n'),
    };
    for name in names {
        parser.global(name);
    }
    parser.advance()?;
    let result = parser.items();
    parser.lexer.warnings.iter().for_each(|(line, warning)| warn(*line, warning));
    result?;
    parser.resolve_arrays()?;
    Ok(parser.program)
}

impl AwkParser<'_> {
    fn error<T>(&self, message: impl Into<String>) -> Result<T, AwkSyntaxError> {
        Err(self.syntax_error(message.into()))
    }

    fn syntax_error(&self, message: String) -> AwkSyntaxError {
        let (text, column) = self.lexer.source_line();
        AwkSyntaxError { line: self.lexer.line, place: Some((text.to_vec(), column)), message, status: 1 }
    }

    /// An error that is not about the current token.
    fn general_error<T>(&self, message: impl Into<String>, status: i32) -> Result<T, AwkSyntaxError> {
        Err(AwkSyntaxError { line: self.lexer.line, place: None, message: message.into(), status })
    }

    fn unexpected<T>(&self) -> Result<T, AwkSyntaxError> {
        match self.token {
            AwkToken::Newline | AwkToken::End => self.error("unexpected newline or end of string"),
            _ => self.error("syntax error"),
        }
    }

    fn advance(&mut self) -> Result<AwkToken, AwkSyntaxError> {
        let next = self.lexer.next().map_err(|message| self.syntax_error(message))?;
        Ok(std::mem::replace(&mut self.token, next))
    }

    fn is_symbol(&self, symbol: &str) -> bool {
        matches!(self.token, AwkToken::Symbol(found) if found == symbol)
    }

    fn takes(&mut self, symbol: &str) -> Result<bool, AwkSyntaxError> {
        let found = self.is_symbol(symbol);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn expect(&mut self, symbol: &str) -> Result<(), AwkSyntaxError> {
        if self.takes(symbol)? { Ok(()) } else { self.unexpected() }
    }

    fn takes_keyword(&mut self, keyword: Keyword) -> Result<bool, AwkSyntaxError> {
        let found = self.token == AwkToken::Keyword(keyword);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn skip_newlines(&mut self) -> Result<(), AwkSyntaxError> {
        while self.token == AwkToken::Newline {
            self.advance()?;
        }
        Ok(())
    }

    /// Skips newlines and semicolons.
    fn skip_terminators(&mut self) -> Result<(), AwkSyntaxError> {
        while self.token == AwkToken::Newline || self.is_symbol(";") {
            self.advance()?;
        }
        Ok(())
    }

    /// Runs `parse` one level deeper.
    fn nested<T>(
        &mut self,
        parse: impl FnOnce(&mut Self) -> Result<T, AwkSyntaxError>,
    ) -> Result<T, AwkSyntaxError> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return self.error("program is too deeply nested");
        }
        let result = parse(self);
        self.nesting -= 1;
        result
    }

    fn items(&mut self) -> Result<(), AwkSyntaxError> {
        self.skip_terminators()?;
        while self.token != AwkToken::End {
            self.item()?;
            self.skip_terminators()?;
        }
        Ok(())
    }

    fn item(&mut self) -> Result<(), AwkSyntaxError> {
        if let AwkToken::Keyword(keyword) = self.token {
            match keyword {
                Keyword::Function => return self.function_definition(),
                Keyword::Begin | Keyword::End | Keyword::BeginFile | Keyword::EndFile => {
                    self.advance()?;
                    if !self.is_symbol("{") {
                        return self.error("syntax error: BEGIN and END need an action");
                    }
                    let body = self.block()?;
                    match keyword {
                        Keyword::Begin => self.program.begin.push(body),
                        Keyword::End => self.program.end.push(body),
                        Keyword::BeginFile => self.program.begin_file.push(body),
                        _ => self.program.end_file.push(body),
                    }
                    return Ok(());
                }
                _ => {}
            }
        }
        let line = self.lexer.line;
        let pattern = self.pattern()?;
        let action = if self.is_symbol("{") { Some(self.block()?) } else { None };
        self.program.rules.push(AwkRule { line, pattern, action });
        Ok(())
    }

    fn pattern(&mut self) -> Result<AwkPattern, AwkSyntaxError> {
        if self.is_symbol("{") {
            return Ok(AwkPattern::Always);
        }
        let first = self.expression()?;
        if !self.takes(",")? {
            return Ok(AwkPattern::Expression(first));
        }
        self.skip_newlines()?;
        let last = self.expression()?;
        self.ranges += 1;
        Ok(AwkPattern::Range(self.ranges - 1, first, last))
    }

    fn function_definition(&mut self) -> Result<(), AwkSyntaxError> {
        self.advance()?;
        let (AwkToken::Name(name) | AwkToken::FunctionName(name)) = self.advance()? else {
            return self.unexpected();
        };
        let index = self.function_index(&name);
        if self.program.functions[index].is_defined {
            return self.error(format!("function name `{name}' previously defined"));
        }
        self.expect("(")?;
        let mut parameters = Vec::new();
        while !self.is_symbol(")") {
            let AwkToken::Name(parameter) = self.advance()? else { return self.unexpected() };
            parameters.push(parameter);
            if !self.takes(",")? {
                break;
            }
            self.skip_newlines()?;
        }
        self.expect(")")?;
        self.skip_newlines()?;
        let function = &mut self.program.functions[index];
        function.array_parameters = vec![false; parameters.len()];
        function.parameters = parameters;
        function.is_defined = true;
        self.function = Some(index);
        let body = self.block()?;
        self.function = None;
        self.program.functions[index].body = body;
        Ok(())
    }

    /// The index of a function, which may be defined later.
    fn function_index(&mut self, name: &str) -> usize {
        let functions = &mut self.program.functions;
        functions.iter().position(|function| function.name == name).unwrap_or_else(|| {
            functions.push(AwkFunction { name: name.to_owned(), ..AwkFunction::default() });
            functions.len() - 1
        })
    }

    /// The slot of a global variable.
    fn global(&mut self, name: &str) -> usize {
        let globals = &mut self.program.globals;
        globals.iter().position(|global| global == name).unwrap_or_else(|| {
            globals.push(name.to_owned());
            self.program.global_arrays.push(false);
            globals.len() - 1
        })
    }

    fn variable(&mut self, name: &str) -> VariableSlot {
        let local = self.function.and_then(|function| {
            self.program.functions[function].parameters.iter().position(|parameter| parameter == name)
        });
        local.map_or_else(|| VariableSlot::Global(self.global(name)), VariableSlot::Local)
    }

    /// `{ statements }`.
    fn block(&mut self) -> Result<Vec<AwkStatement>, AwkSyntaxError> {
        self.expect("{")?;
        let mut statements = Vec::new();
        self.skip_terminators()?;
        while !self.is_symbol("}") {
            if self.has_lines {
                statements.push(AwkStatement::Line(self.lexer.line));
            }
            let statement = self.nested(Self::statement)?;
            statements.push(statement);
            self.skip_terminators()?;
        }
        self.expect("}")?;
        Ok(statements)
    }

    fn compile(&mut self, pattern: &[u8]) -> Result<Rc<AwkRegex>, AwkSyntaxError> {
        let escaped = memchr::memchr_iter(b'\\', pattern).filter_map(|at| pattern.get(at + 1));
        self.program.is_inexact |= escaped.clone().any(|byte| !KNOWN_ESCAPES.contains(byte));
        let options = GnuRegexOptions::new(GnuSyntax::Awk, self.encoding);
        match GnuRegex::new(pattern, options) {
            Ok(regex) => Ok(Rc::new(AwkRegex { pattern: pattern.into(), compiled: Rc::new(regex) })),
            Err(error) => {
                self.general_error(format!("error: {error}: /{}/", String::from_utf8_lossy(pattern)), 1)
            }
        }
    }
}
