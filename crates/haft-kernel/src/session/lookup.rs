//! Reading variables: follows name references and computes dynamic variables.

use std::borrow::Cow;

use haft_text::Bytes;

use crate::session::Session;
use crate::variables::{Attributes, Variable, VariableError, VariableValue, is_name};

/// The longest chain of name references.
const MAX_REFERENCES: usize = 8;

/// The variable that a name means after its name references were followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableTarget {
    /// The variable.
    pub name: Bytes,
    /// The subscript, if a reference led to an element.
    pub subscript: Option<Bytes>,
}

/// Splits `name[subscript]`; `None` if it is not of that form.
#[must_use]
pub(crate) fn split_reference(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let open = memchr::memchr(b'[', text)?;
    let inner = text.get(open + 1..)?.strip_suffix(b"]")?;
    is_name(&text[..open]).then_some((&text[..open], inner))
}

impl Session {
    /// The variable of this name. Follows name references and computes dynamic variables.
    #[must_use]
    pub fn lookup(&self, name: &[u8]) -> Option<Cow<'_, Variable>> {
        let variable = self.variables.get(name)?;
        if !variable.attributes.intersects(Attributes::NAMEREF.union(Attributes::DYNAMIC)) {
            return Some(Cow::Borrowed(variable));
        }
        if variable.is(Attributes::DYNAMIC) {
            return Some(Cow::Owned(self.compute(name, variable)));
        }
        let target = self.follow(name).ok()?;
        let variable = self.variables.get(&target.name)?;
        let variable = match variable.is(Attributes::DYNAMIC) {
            true => Cow::Owned(self.compute(&target.name, variable)),
            false => Cow::Borrowed(variable),
        };
        match target.subscript {
            None => Some(variable),
            Some(subscript) => {
                let element = self.element(&variable, &subscript)?;
                Some(Cow::Owned(Variable::scalar(element).with(variable.attributes)))
            }
        }
    }

    /// The value of `$name`. `None` if it is unset.
    #[must_use]
    pub fn value(&self, name: &[u8]) -> Option<Bytes> {
        match self.variables.get(name) {
            None => None,
            Some(Variable { value: VariableValue::Scalar(value), attributes, .. })
                if !attributes.intersects(Attributes::INDIRECT) =>
            {
                Some(value.clone())
            }
            Some(_) => self.lookup(name)?.as_scalar().cloned(),
        }
    }

    /// The element that a subscript selects if it is a number, or a variable that contains one. Other expressions select
    /// nothing, because evaluating them could change the session.
    fn element(&self, variable: &Variable, subscript: &[u8]) -> Option<Bytes> {
        if matches!(subscript, b"@" | b"*") {
            return Some(variable.values().join(&b' ').into());
        }
        match &variable.value {
            VariableValue::Associative(array) => array.get(subscript).cloned(),
            VariableValue::Indexed(array) => {
                let named = is_name(subscript).then(|| self.value(subscript).unwrap_or_else(|| "0".into()));
                let text = named.as_deref().unwrap_or(subscript);
                let number: i64 = std::str::from_utf8(text).ok()?.trim().parse().ok()?;
                array.get(array.resolve(number)?).cloned()
            }
            VariableValue::Scalar(value) => (subscript == b"0").then(|| value.clone()),
        }
    }

    /// Follows name references to the variable that is meant.
    ///
    /// # Errors
    /// A circular reference, or one to an invalid name.
    pub fn follow(&self, name: &[u8]) -> Result<VariableTarget, VariableError> {
        let mut current = Bytes::from(name);
        for _ in 0..MAX_REFERENCES {
            let next = match self.variables.get(&current) {
                Some(variable) if variable.is(Attributes::NAMEREF) && variable.is_set() => {
                    variable.as_scalar().cloned().unwrap_or_default()
                }
                _ => return Ok(VariableTarget { name: current, subscript: None }),
            };
            if next.is_empty() {
                return Ok(VariableTarget { name: current, subscript: None });
            }
            if let Some((base, subscript)) = split_reference(&next) {
                let subscript = self.subscript_value(subscript).unwrap_or_else(|| subscript.into());
                return Ok(VariableTarget { name: base.into(), subscript: Some(subscript) });
            }
            if next == current {
                return Err(VariableError::Circular(current));
            }
            if !is_name(&next) {
                return Err(VariableError::InvalidReference(next));
            }
            current = next;
        }
        Err(VariableError::Circular(name.into()))
    }

    /// The value of a subscript that is quoted, or of the form `$name` or `${name}`.
    fn subscript_value(&self, subscript: &[u8]) -> Option<Bytes> {
        if subscript.iter().any(|byte| matches!(byte, b'\'' | b'"' | b'\\')) {
            let word = haft_lang::parse_subscript(subscript, &haft_lang::ParseOptions::default()).ok()?;
            return word.literal().map(Bytes::from);
        }
        let name = subscript.strip_prefix(b"$")?;
        let name = name.strip_prefix(b"{").and_then(|name| name.strip_suffix(b"}")).unwrap_or(name);
        is_name(name).then(|| self.value(name).unwrap_or_default())
    }

    /// Whether a variable of this name has a value; for arrays, element 0.
    #[must_use]
    pub fn is_set(&self, name: &[u8]) -> bool {
        self.lookup(name).is_some_and(|variable| variable.as_scalar().is_some())
    }
}
