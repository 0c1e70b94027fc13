//! Expansion of assignments.

use haft_lang::ast::{
    ArrayElement, Assignment, AssignmentValue, PartKind, Subscript, SubscriptKind, Word, WordContent,
    WordPart,
};
use haft_text::Bytes;

use crate::expand::parts::COPIED_CHUNK_BYTES;
use crate::flow::Unwind;
use crate::options::SetOption;
use crate::session::Session;
use crate::variables::{Assigned, AssignedElement, AssignedValue, Attributes, VariableError};

/// The number of list elements between two checks for cancellation.
const ELEMENTS_PER_CHECK: usize = 1 << 16;

impl Session {
    /// Expands the words of an assignment, which may be to an associative array, without assigning.
    pub(crate) fn expand_assignment(
        &mut self,
        assignment: &Assignment,
        associative: bool,
    ) -> Result<Assigned, Unwind> {
        let subscript =
            assignment.subscript.as_ref().map(|subscript| self.expand_subscript(subscript)).transpose()?;
        let value = match &assignment.value {
            AssignmentValue::Word(word) => AssignedValue::Scalar(self.expand_string(word)?),
            AssignmentValue::Array(elements) if associative => {
                AssignedValue::List(self.expand_pairs(elements)?)
            }
            AssignmentValue::Array(elements) => AssignedValue::List(self.expand_elements(elements)?),
        };
        Ok(Assigned { name: assignment.name.clone(), subscript, append: assignment.append, value })
    }

    /// Expands a subscript to the key of an element, or to the arithmetic expression of its index.
    pub(crate) fn expand_subscript(&mut self, subscript: &Subscript) -> Result<Bytes, Unwind> {
        match &subscript.kind {
            SubscriptKind::At => Ok("@".into()),
            SubscriptKind::Star => Ok("*".into()),
            SubscriptKind::Element { key, .. } => self.expand_string(key),
        }
    }

    /// Expands a compound value for an associative array. Each word is one key or one value; word splitting does not apply.
    fn expand_pairs(&mut self, elements: &[ArrayElement]) -> Result<Vec<AssignedElement>, Unwind> {
        let expand = |element: &ArrayElement| {
            let subscript = element.subscript.as_ref().map(|subscript| self.expand_subscript(subscript));
            let subscript = subscript.transpose()?;
            let value = self.expand_without_tilde(&element.value)?;
            Ok(AssignedElement { subscript, append: element.append, value })
        };
        elements.iter().map(expand).collect()
    }

    fn expand_elements(&mut self, elements: &[ArrayElement]) -> Result<Vec<AssignedElement>, Unwind> {
        let mut expanded = Vec::with_capacity(elements.len());
        let mut fields = Vec::new();
        for element in elements {
            if let Some(subscript) = &element.subscript {
                let subscript = Some(self.expand_subscript(subscript)?);
                let value = self.expand_string(&element.value)?;
                expanded.push(AssignedElement { subscript, append: element.append, value });
                continue;
            }
            self.expand_fields(&element.value, &mut fields)?;
            for (index, value) in fields.drain(..).enumerate() {
                if index % ELEMENTS_PER_CHECK == 0 {
                    self.check()?;
                }
                expanded.push(AssignedElement { subscript: None, append: false, value });
            }
        }
        Ok(expanded)
    }

    /// Runs an assignment without a command. Reports an error before it unwinds.
    pub(crate) fn run_assignment(&mut self, assignment: &Assignment) -> Result<(), Unwind> {
        if let (AssignmentValue::Word(word), None) = (&assignment.value, &assignment.subscript) {
            if !assignment.append
                && !self.traces()
                && self.stores_text_unchanged(&assignment.name)
                && let Some(rest) = own_prefix(&assignment.name, word)
            {
                return self.append_in_place(&assignment.name, rest);
            }
            let value = self.expand_string(word)?;
            self.trace_assignment(assignment, None, Some(&value))?;
            if assignment.append {
                self.reserve_memory("an assignment", value.len())?;
            }
            let result = self.assign(&assignment.name, value, assignment.append);
            return result.map_err(|error| self.refuse_assignment(&error));
        }
        let associative = self.is_associative(&assignment.name);
        let assigned = self.expand_assignment(assignment, associative)?;
        self.trace_assigned(assignment, &assigned)?;
        self.assign_expanded(assigned).map_err(|error| self.refuse_assignment(&error))
    }

    /// Reports a failed assignment. It ends the command, and with `set -e` the shell, even where `set -e` is otherwise ignored.
    pub(crate) fn refuse_assignment(&mut self, error: &VariableError) -> Unwind {
        let unwind = self.fail(error);
        match error {
            _ if self.conforms() && !self.calls.is_under_command() => Unwind::Exit(1),
            VariableError::Arithmetic(_) => self.end_line(1),
            _ if self.options.has(SetOption::ErrorExit) => Unwind::Exit(1),
            _ => unwind,
        }
    }

    /// Traces an assignment with its expanded value.
    pub(crate) fn trace_assigned(
        &mut self,
        assignment: &Assignment,
        assigned: &Assigned,
    ) -> Result<(), Unwind> {
        let value = match &assigned.value {
            AssignedValue::Scalar(value) => Some(value.as_bytes()),
            AssignedValue::List(_) => None,
        };
        self.trace_assignment(assignment, assigned.subscript.as_deref(), value)
    }

    /// Tells whether an assigned text becomes the value of a variable unchanged.
    fn stores_text_unchanged(&self, name: &[u8]) -> bool {
        const VALUE_CHANGING: Attributes = Attributes::INTEGER
            .union(Attributes::LOWER)
            .union(Attributes::UPPER)
            .union(Attributes::CAPITAL)
            .union(Attributes::NAMEREF)
            .union(Attributes::DYNAMIC);
        self.variables.get(name).is_none_or(|variable| !variable.attributes.intersects(VALUE_CHANGING))
    }

    /// Runs `name="${name}rest"` by appending in place, so that building a string in steps takes linear time.
    fn append_in_place(&mut self, name: &[u8], rest: &[WordPart]) -> Result<(), Unwind> {
        let more = self.expand_quoted(rest)?;
        self.reserve_memory("an assignment", more.len())?;
        if more.len() <= COPIED_CHUNK_BYTES {
            return self.assign(name, more, true).map_err(|error| self.fail(error));
        }
        for chunk in more.chunks(COPIED_CHUNK_BYTES) {
            self.check_cancelled()?;
            self.assign(name, Bytes::from(chunk), true).map_err(|error| self.fail(error))?;
        }
        Ok(())
    }
}

/// Returns the other parts of a word whose first part is `$name`, if none of them can change the variable.
fn own_prefix<'a>(name: &[u8], word: &'a Word) -> Option<&'a [WordPart]> {
    let WordContent::Parts(parts) = &word.content else { return None };
    let inner = match &**parts {
        [WordPart { kind: PartKind::DoubleQuoted(inner), .. }] => inner,
        _ => parts,
    };
    let (first, rest) = inner.split_first()?;
    let own = matches!(&first.kind, PartKind::Variable(variable) if **variable == *name);
    let harmless = |part: &WordPart| {
        matches!(
            part.kind,
            PartKind::Literal(_)
                | PartKind::Escaped(_)
                | PartKind::SingleQuoted(_)
                | PartKind::AnsiQuoted(_)
                | PartKind::Variable(_)
        )
    };
    (own && !rest.is_empty() && rest.iter().all(harmless)).then_some(rest)
}
