//! Operands: constants, variables, fields, calls, assignments.

use super::{AwkParser, AwkSyntaxError, PassedVariable};
use crate::awk::builtin::BuiltinFunction;
use crate::awk::lexer::{AwkToken, Keyword};
use crate::awk::tree::{ArithmeticOperator, AwkExpression, AwkPlace, GetlineSource, SpecialVariable};

type Parsed = Result<AwkExpression, AwkSyntaxError>;

const SPECIALS: [(&str, SpecialVariable); 17] = [
    ("NF", SpecialVariable::Nf),
    ("NR", SpecialVariable::Nr),
    ("FNR", SpecialVariable::Fnr),
    ("FS", SpecialVariable::Fs),
    ("RS", SpecialVariable::Rs),
    ("OFS", SpecialVariable::Ofs),
    ("ORS", SpecialVariable::Ors),
    ("SUBSEP", SpecialVariable::Subsep),
    ("CONVFMT", SpecialVariable::Convfmt),
    ("OFMT", SpecialVariable::Ofmt),
    ("RSTART", SpecialVariable::Rstart),
    ("RLENGTH", SpecialVariable::Rlength),
    ("RT", SpecialVariable::Rt),
    ("FILENAME", SpecialVariable::Filename),
    ("FPAT", SpecialVariable::Fpat),
    ("FIELDWIDTHS", SpecialVariable::Fieldwidths),
    ("IGNORECASE", SpecialVariable::Ignorecase),
];

/// Variables of `gawk` that change what a program does, and that are not supported.
const UNSUPPORTED: [&str; 3] = ["BINMODE", "FUNCTAB", "PROCINFO"];

/// Finds a special variable by name.
pub(in crate::awk) fn special(name: &str) -> Option<SpecialVariable> {
    SPECIALS.iter().find(|(special, _)| *special == name).map(|(_, special)| *special)
}

impl AwkParser<'_> {
    /// An operand with `++` or `--`, or an assignment.
    pub(super) fn postfix(&mut self) -> Parsed {
        for (symbol, change) in [("++", 1.0), ("--", -1.0)] {
            if self.takes(symbol)? {
                let operand = self.primary()?;
                let place = Box::new(self.as_place(operand)?);
                return Ok(AwkExpression::Increment { place, change, is_prefix: true });
            }
        }
        let operand = self.primary()?;
        let AwkExpression::Place(place) = operand else { return Ok(operand) };
        for (symbol, change) in [("++", 1.0), ("--", -1.0)] {
            if self.takes(symbol)? {
                return Ok(AwkExpression::Increment { place: Box::new(place), change, is_prefix: false });
            }
        }
        self.assignment(place)
    }

    fn assignment(&mut self, place: AwkPlace) -> Parsed {
        let operator = match self.token {
            AwkToken::Symbol("=") => None,
            AwkToken::Symbol("+=") => Some(ArithmeticOperator::Add),
            AwkToken::Symbol("-=") => Some(ArithmeticOperator::Subtract),
            AwkToken::Symbol("*=") => Some(ArithmeticOperator::Multiply),
            AwkToken::Symbol("/=") => Some(ArithmeticOperator::Divide),
            AwkToken::Symbol("%=") => Some(ArithmeticOperator::Remainder),
            AwkToken::Symbol("^=" | "**=") => Some(ArithmeticOperator::Power),
            _ => return Ok(AwkExpression::Place(place)),
        };
        self.advance()?;
        self.skip_newlines()?;
        let (place, value) = (Box::new(place), Box::new(self.expression()?));
        Ok(match operator {
            None => AwkExpression::Assign(place, value),
            Some(operator) => AwkExpression::Update(place, operator, value),
        })
    }

    fn primary(&mut self) -> Parsed {
        match self.advance()? {
            AwkToken::Number(number) => Ok(AwkExpression::Number(number)),
            AwkToken::Text(text) => Ok(AwkExpression::Text(text.into())),
            AwkToken::Regex(pattern) => Ok(AwkExpression::Regex(self.compile(&pattern)?)),
            AwkToken::Name(name) => Ok(AwkExpression::Place(self.named(&name)?)),
            AwkToken::FunctionName(name) => self.call(&name),
            AwkToken::Builtin(function) => self.builtin(function),
            AwkToken::Keyword(Keyword::Getline) => self.getline(),
            AwkToken::Symbol("$") => {
                let index = self.nested(Self::field_index)?;
                Ok(AwkExpression::Place(AwkPlace::Field(Box::new(index))))
            }
            AwkToken::Symbol("(") => self.group(),
            AwkToken::Symbol(symbol @ ("-" | "+" | "!")) => {
                let operand = Box::new(self.nested(Self::postfix)?);
                Ok(match symbol {
                    "-" => AwkExpression::Negate(operand),
                    "!" => AwkExpression::Not(operand),
                    _ => AwkExpression::ToNumber(operand),
                })
            }
            _ => self.unexpected(),
        }
    }

    /// The index of a field: `$NF`, `$++i`, `$-1`.
    fn field_index(&mut self) -> Parsed {
        for (symbol, change) in [("++", 1.0), ("--", -1.0)] {
            if self.takes(symbol)? {
                let operand = self.primary()?;
                let place = Box::new(self.as_place(operand)?);
                return Ok(AwkExpression::Increment { place, change, is_prefix: true });
            }
        }
        self.primary()
    }

    fn group(&mut self) -> Parsed {
        let mut list = self.expressions(")")?;
        match list.len() {
            0 => self.unexpected(),
            // A place in parentheses is a value: it must not be assigned to by what follows.
            1 => Ok(list.remove(0)),
            _ => Ok(AwkExpression::Group(list)),
        }
    }

    /// A variable, or an element of an array.
    fn named(&mut self, name: &str) -> Result<AwkPlace, AwkSyntaxError> {
        if UNSUPPORTED.contains(&name) {
            return self.error(format!("{name} is not supported"));
        }
        if let Some(special) = special(name) {
            return Ok(AwkPlace::Special(special));
        }
        let variable = self.variable(name);
        if !self.takes("[")? {
            return Ok(AwkPlace::Variable(variable));
        }
        self.mark_array(variable);
        let subscripts = self.expressions("]")?;
        if subscripts.is_empty() {
            return self.unexpected();
        }
        if self.is_symbol("[") {
            return self.error("arrays of arrays are not supported");
        }
        Ok(AwkPlace::Element(variable, subscripts))
    }

    fn call(&mut self, name: &str) -> Parsed {
        let callee = self.function_index(name);
        self.expect("(")?;
        let arguments = self.expressions(")")?;
        for (index, argument) in arguments.iter().enumerate() {
            if let AwkExpression::Place(AwkPlace::Variable(variable)) = argument {
                self.passed.push(PassedVariable {
                    within: self.function,
                    variable: *variable,
                    callee,
                    index,
                });
            }
        }
        Ok(AwkExpression::Call(callee, arguments))
    }

    fn builtin(&mut self, function: BuiltinFunction) -> Parsed {
        let (name, least, most) = function.signature();
        let arguments = match self.takes("(")? {
            true => self.expressions(")")?,
            false if function == BuiltinFunction::Length => Vec::new(),
            false => return self.unexpected(),
        };
        if arguments.len() < least || arguments.len() > most {
            return self.error(format!("{} is invalid as number of arguments for {name}", arguments.len()));
        }
        self.program.is_inexact |= is_inexact(function, &arguments);
        for index in function.array_arguments() {
            match arguments.get(*index) {
                None => {}
                Some(AwkExpression::Place(AwkPlace::Variable(variable))) => self.mark_array(*variable),
                Some(_) => return self.error(format!("{name}: argument {} is not an array", index + 1)),
            }
        }
        Ok(AwkExpression::Builtin(function, arguments))
    }

    /// `getline`, `getline place`, `getline < file`, `getline place < file`.
    fn getline(&mut self) -> Parsed {
        let place = self.getline_place()?;
        let source = match self.takes("<")? {
            true => Some(GetlineSource::File(Box::new(self.primary()?))),
            false => None,
        };
        Ok(AwkExpression::Getline { place, source })
    }

    fn getline_place(&mut self) -> Result<Option<Box<AwkPlace>>, AwkSyntaxError> {
        if !matches!(self.token, AwkToken::Name(_) | AwkToken::Symbol("$")) {
            return Ok(None);
        }
        let operand = self.primary()?;
        Ok(Some(Box::new(self.as_place(operand)?)))
    }

    /// `command | getline`, `command | getline place`. The current token is the bar.
    pub(super) fn command_getline(&mut self, command: AwkExpression) -> Parsed {
        self.advance()?;
        self.advance()?;
        self.program.is_inexact = true;
        let source = Some(GetlineSource::Command(Box::new(command)));
        Ok(AwkExpression::Getline { place: self.getline_place()?, source })
    }
}

/// Whether the result of a function can differ from that of GNU's `awk`.
fn is_inexact(function: BuiltinFunction, arguments: &[AwkExpression]) -> bool {
    use BuiltinFunction as F;
    match function {
        F::System | F::Rand | F::Srand | F::Strftime | F::Mktime => true,
        // Versions differ for a start below 1.
        F::Substr => !arguments.get(1..).unwrap_or_default().iter().all(
            |position| matches!(position, AwkExpression::Number(number) if *number >= 1.0 && number.fract() == 0.0),
        ),
        _ => false,
    }
}
