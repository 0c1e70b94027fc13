//! Arithmetic expansion, with the variables of the session.

use haft_lang::ast::{
    Arithmetic, ArithmeticForm, ArithmeticNode, ArithmeticTree, PartKind, WordContent, WordPart,
};
use haft_text::Bytes;
use haft_text::arithmetic::{self, ArithmeticError, ArithmeticKey, plain_number};
use haft_text::format_number;

use crate::flow::Unwind;
use crate::options::SetOption;
use crate::session::Session;
use crate::variables::{VariableError, VariableValue};

/// Why an arithmetic expression could not be evaluated.
#[derive(Debug)]
pub(crate) enum ArithmeticFailure {
    /// An error in the expression.
    Expression(ArithmeticError),
    /// An error of a variable.
    Variable(VariableError),
    /// The error is already reported; the session unwinds.
    Unwind(Unwind),
}

impl From<ArithmeticError> for ArithmeticFailure {
    fn from(error: ArithmeticError) -> Self {
        Self::Expression(error)
    }
}

impl From<VariableError> for ArithmeticFailure {
    fn from(error: VariableError) -> Self {
        Self::Variable(error)
    }
}

impl From<Unwind> for ArithmeticFailure {
    fn from(unwind: Unwind) -> Self {
        Self::Unwind(unwind)
    }
}

/// The variables of a session, for the evaluator.
struct SessionVariables<'a> {
    session: &'a mut Session,
    /// The numbers that the expansions in the expression yielded, by part.
    expansions: &'a [i64],
}

impl arithmetic::ArithmeticVariables for SessionVariables<'_> {
    type Error = ArithmeticFailure;

    #[inline]
    fn get(&mut self, name: &Bytes) -> Result<Bytes, ArithmeticFailure> {
        match self.session.value(name) {
            Some(value) => Ok(value),
            None => {
                self.session.require_set(name)?;
                Ok(Bytes::new())
            }
        }
    }

    fn set(&mut self, name: &Bytes, value: i64) -> Result<(), ArithmeticFailure> {
        let mut digits = [0; 20];
        let value = Bytes::from(format_number(value, &mut digits));
        Ok(self.session.assign(name, value, false)?)
    }

    fn is_associative(&mut self, name: &Bytes) -> bool {
        self.session.is_associative(name)
    }

    fn get_element(&mut self, name: &Bytes, key: ArithmeticKey<'_>) -> Result<Bytes, ArithmeticFailure> {
        let unset = self.session.options.has(SetOption::NoUnset);
        let key_text = self.key_text(key)?;
        let Some(variable) = self.session.lookup(name) else {
            if unset {
                self.session.require_set(name)?;
            }
            if matches!(key, ArithmeticKey::Index(..0)) {
                self.refuse_index(name);
            }
            return Ok(Bytes::new());
        };
        let found = match (key, &variable.value) {
            (ArithmeticKey::Text(_), VariableValue::Associative(array)) => array.get(&key_text).cloned(),
            (ArithmeticKey::Index(number), VariableValue::Indexed(array)) => match array.resolve(number) {
                Some(index) => array.get(index).cloned(),
                None => {
                    self.refuse_index(name);
                    return Ok(Bytes::new());
                }
            },
            (ArithmeticKey::Index(0 | -1), VariableValue::Scalar(value)) => Some(value.clone()),
            _ => None,
        };
        Ok(found.unwrap_or_default())
    }

    fn set_element(
        &mut self,
        name: &Bytes,
        key: ArithmeticKey<'_>,
        value: i64,
    ) -> Result<(), ArithmeticFailure> {
        let value = Bytes::from(value.to_string());
        match key {
            ArithmeticKey::Index(number) => {
                let shown = number.to_string();
                match self.session.assign_index(name, shown.as_bytes(), number, value, false) {
                    // As in bash, the expression goes on.
                    Err(error @ VariableError::BadSubscript(_)) => self.session.report(error),
                    result => result?,
                }
            }
            ArithmeticKey::Text(_) => {
                let key = self.key_text(key)?;
                self.session.assign_element(name, &key, value, false)?;
            }
        }
        Ok(())
    }

    fn expand_subscript(&mut self, text: &[u8]) -> Result<Bytes, ArithmeticFailure> {
        Ok(self.session.expand_subscript_text(text)?)
    }

    fn expansion(&mut self, part: u32) -> Result<i64, ArithmeticFailure> {
        Ok(self.expansions.get(part as usize).copied().unwrap_or(0))
    }
}

impl SessionVariables<'_> {
    /// Reports an index before the first element. Such an element has no value.
    fn refuse_index(&mut self, name: &Bytes) {
        self.session.report(format_args!("{name}: bad array subscript"));
    }

    /// The key of an associative array, after expansions and quote removal. Empty for an index.
    fn key_text(&mut self, key: ArithmeticKey<'_>) -> Result<Bytes, ArithmeticFailure> {
        match key {
            ArithmeticKey::Text(key) => Ok(self.session.expand_subscript_text(key)?),
            ArithmeticKey::Index(_) => Ok(Bytes::new()),
        }
    }
}

/// The result of the expansions in an expression.
enum ExpandedExpression {
    /// Only numbers, by part.
    Numbers,
    /// Other text: the whole expression after expansion.
    Text(Vec<u8>),
}

impl Session {
    /// Evaluates an arithmetic expression. Reports an error before it unwinds.
    pub(crate) fn evaluate(&mut self, expression: &Arithmetic) -> Result<i64, Unwind> {
        self.evaluate_for("", expression)
    }

    /// The same. `prefix` precedes the message of an error.
    pub(crate) fn evaluate_for(&mut self, prefix: &str, expression: &Arithmetic) -> Result<i64, Unwind> {
        self.try_evaluate(expression).map_err(|failure| match failure {
            ArithmeticFailure::Unwind(unwind) => unwind,
            ArithmeticFailure::Variable(error) => self.fail(error),
            ArithmeticFailure::Expression(error) => {
                let text = self.expand_string(&expression.text).unwrap_or_default();
                self.fail(format_args!("{prefix}{}", error.describe(&text)))
            }
        })
    }

    /// Evaluates an arithmetic expression.
    pub(crate) fn try_evaluate(&mut self, expression: &Arithmetic) -> Result<i64, ArithmeticFailure> {
        match &expression.form {
            ArithmeticForm::Tree(tree) => {
                arithmetic::evaluate(tree, &mut SessionVariables { session: self, expansions: &[] })
            }
            ArithmeticForm::Guess(tree) => {
                let parts = expression.text.parts();
                let mut numbers = vec![0; parts.len()];
                match self.expand_guess(parts, &mut numbers)? {
                    ExpandedExpression::Numbers if self.has_expanded_keys(tree) => {
                        self.try_evaluate_text(&text_before(parts, &numbers))
                    }
                    ExpandedExpression::Numbers => arithmetic::evaluate(
                        tree,
                        &mut SessionVariables { session: self, expansions: &numbers },
                    ),
                    ExpandedExpression::Text(text) => self.try_evaluate_text(&text),
                }
            }
            ArithmeticForm::Text => {
                let text = match &expression.text.content {
                    WordContent::Plain(text) | WordContent::Static { text, .. } => text.clone(),
                    WordContent::Parts(parts) => self.expand_expression(parts)?,
                };
                self.try_evaluate_text(&text)
            }
        }
    }

    /// Tells whether an expression uses expansions as keys of associative arrays. Keys are text, even if they look like numbers.
    fn has_expanded_keys(&self, tree: &ArithmeticTree) -> bool {
        tree.nodes().iter().any(|node| match node {
            ArithmeticNode::Element { name, subscript } => {
                subscript.key.is_none() && self.is_associative(name)
            }
            _ => false,
        })
    }

    fn expand_guess(
        &mut self,
        parts: &[WordPart],
        numbers: &mut [i64],
    ) -> Result<ExpandedExpression, Unwind> {
        let mut text: Option<Vec<u8>> = None;
        for (index, part) in parts.iter().enumerate() {
            if let PartKind::Literal(literal) = &part.kind {
                if let Some(text) = &mut text {
                    text.extend_from_slice(literal);
                }
                continue;
            }
            let value = self.expand_quoted(std::slice::from_ref(part))?;
            match (&mut text, unsigned(&value)) {
                (None, Some(number)) => numbers[index] = number,
                (None, None) => {
                    let mut before = text_before(&parts[..index], numbers);
                    self.push_expanded(&mut before, &value);
                    text = Some(before);
                }
                (Some(text), _) => self.push_expanded(text, &value),
            }
        }
        Ok(text.map_or(ExpandedExpression::Numbers, ExpandedExpression::Text))
    }

    /// Returns the text of an expression after expansion.
    fn expand_expression(&mut self, parts: &[WordPart]) -> Result<Bytes, Unwind> {
        let mut text = Vec::new();
        for part in parts {
            let value = self.expand_quoted(std::slice::from_ref(part))?;
            match part.kind {
                PartKind::Literal(_) => text.extend_from_slice(&value),
                _ => self.push_expanded(&mut text, &value),
            }
        }
        Ok(text.into())
    }

    /// Appends the result of an expansion to the text of an expression. Within the key of an associative array special characters are
    /// escaped, so that they do not end the key and are not expanded again.
    fn push_expanded(&self, text: &mut Vec<u8>, value: &[u8]) {
        let special = |byte: &u8| matches!(byte, b'[' | b']' | b'\'' | b'"' | b'\\' | b'$' | b'`');
        if !value.iter().any(special) || !open_array(text).is_some_and(|name| self.is_associative(name)) {
            return text.extend_from_slice(value);
        }
        for byte in value {
            if special(byte) {
                text.push(b'\\');
            }
            text.push(*byte);
        }
    }

    fn try_evaluate_text(&mut self, text: &[u8]) -> Result<i64, ArithmeticFailure> {
        arithmetic::evaluate_text(text, &mut SessionVariables { session: self, expansions: &[] })
    }

    /// Evaluates an expression after expansion.
    ///
    /// # Errors
    /// The error message, if the text is not an expression or its evaluation fails.
    pub fn evaluate_text(&mut self, text: &[u8]) -> Result<i64, String> {
        self.try_evaluate_text(text).map_err(|failure| match failure {
            ArithmeticFailure::Expression(error) => error.describe(text),
            ArithmeticFailure::Variable(error) => error.to_string(),
            ArithmeticFailure::Unwind(_) => format!("{}: no value", String::from_utf8_lossy(text)),
        })
    }

    /// Evaluates an expression after expansion. Reports an error before it unwinds.
    pub(crate) fn evaluate_or_fail(&mut self, text: &[u8]) -> Result<i64, Unwind> {
        self.evaluate_text_for("", text)
    }

    /// The same. `prefix` precedes the message of an error.
    pub(crate) fn evaluate_text_for(&mut self, prefix: &str, text: &[u8]) -> Result<i64, Unwind> {
        self.try_evaluate_text(text).map_err(|failure| match failure {
            ArithmeticFailure::Unwind(unwind) => unwind,
            ArithmeticFailure::Variable(error) => self.fail(error),
            ArithmeticFailure::Expression(error) => {
                self.fail(format_args!("{prefix}{}", error.describe(text)))
            }
        })
    }
}

/// Returns the name of the array if the end of a text is inside a subscript.
fn open_array(text: &[u8]) -> Option<&[u8]> {
    let mut open = Vec::new();
    let mut bytes = text.iter().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'[' => open.push(at),
            b']' => drop(open.pop()),
            _ => {}
        }
    }
    let before = &text[..open.pop()?];
    let length =
        before.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    Some(&before[before.len() - length..])
}

/// Parses an unsigned decimal integer without leading zeros.
fn unsigned(text: &[u8]) -> Option<i64> {
    plain_number(text).filter(|number| *number >= 0 && !text.is_empty() && text[0] != b'-')
}

fn text_before(parts: &[WordPart], numbers: &[i64]) -> Vec<u8> {
    let mut text = Vec::new();
    for (part, number) in parts.iter().zip(numbers) {
        match &part.kind {
            PartKind::Literal(literal) => text.extend_from_slice(literal),
            _ => text.extend_from_slice(number.to_string().as_bytes()),
        }
    }
    text
}
