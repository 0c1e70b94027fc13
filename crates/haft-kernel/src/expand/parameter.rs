//! Parameter expansion: finding the value of a parameter.

use haft_lang::ast::{
    Parameter, ParameterExpansion, ParameterOperator, Span, SpecialParameter, Subscript, SubscriptKind,
};
use haft_text::Bytes;

use super::fetched::{Fetched, emit_fetched};
use super::parts::emit;
use super::sink::Sink;
use crate::flow::Unwind;
use crate::options::SetOption;
use crate::session::{Session, split_reference};
use crate::variables::{Attributes, Variable, VariableValue, is_name};

/// A parameter after indirection is resolved.
#[derive(Clone, Debug)]
pub(super) enum ParameterTarget {
    Variable { name: Bytes, selection: ElementSelection },
    Positional(usize),
    Special(SpecialParameter),
}

/// Which elements of a variable are selected.
#[derive(Clone, Debug)]
pub(super) enum ElementSelection {
    Whole,
    All {
        star: bool,
    },
    /// One element, by the text of its subscript.
    Text(Bytes),
    /// One element, by its index.
    Index(i64),
}

/// The status of a `-c` script that ends because of a fatal error of an expansion.
const FATAL_EXPANSION_STATUS: i32 = 127;

impl Session {
    /// Expands `${…}` into a sink.
    #[inline(never)]
    pub(super) fn expand_parameter(
        &mut self,
        expansion: &ParameterExpansion,
        span: Span,
        quoted: bool,
        sink: &mut Sink,
    ) -> Result<(), Unwind> {
        if let ParameterOperator::Value = expansion.operator
            && expansion.subscript.is_none()
            && !expansion.indirect
        {
            return self.expand_plain(&expansion.parameter, span, quoted, sink);
        }
        if let ParameterOperator::Invalid { text } = &expansion.operator {
            return self.expand_invalid(text);
        }
        if let Some(result) = self.expand_listing(expansion, quoted, sink) {
            return result;
        }
        let mut place = self.place(&expansion.parameter, expansion.subscript.as_deref())?;
        if expansion.indirect {
            match self.indirect(&place)? {
                Some(target) => place = target,
                // An unset positional parameter is not an error in an indirection.
                None if matches!(place, ParameterTarget::Positional(_)) => {}
                None => return self.expand_missing_indirect(expansion, quoted, sink),
            }
        }
        if expansion.indirect && self.options.has(SetOption::NoUnset) {
            self.require_target(&place, expansion)?;
        }
        self.apply_operator(&place, expansion, quoted, sink)
    }

    /// Fails for an indirect expansion whose target is unset, with `set -u`. The message names the parameter as written.
    fn require_target(
        &mut self,
        place: &ParameterTarget,
        expansion: &ParameterExpansion,
    ) -> Result<(), Unwind> {
        use ParameterOperator as Op;
        let expects_unset = matches!(
            expansion.operator,
            Op::Default { .. } | Op::Assign { .. } | Op::Require { .. } | Op::Alternative { .. }
        );
        if expects_unset || !matches!(self.fetch(place)?, Fetched::Unset) || self.has_elements(place) {
            return Ok(());
        }
        let written = self.place(&expansion.parameter, None)?;
        self.require_set(format!("!{}", place_name(&written)).as_bytes())
    }

    /// Whether a variable without a value is an array with elements.
    pub(super) fn has_elements(&self, place: &ParameterTarget) -> bool {
        let ParameterTarget::Variable { name, selection: ElementSelection::Whole } = place else {
            return false;
        };
        self.lookup(name).is_some_and(|variable| variable.is_array() && !variable.values().is_empty())
    }

    /// Reports an invalid `${…}`. An unknown transformation of an unset parameter is ignored; otherwise it exits the shell.
    fn expand_invalid(&mut self, text: &Bytes) -> Result<(), Unwind> {
        let transformed = text.split_last_chunk::<2>().filter(|(name, end)| end[0] == b'@' && is_name(name));
        match transformed {
            Some((name, _)) if !self.is_set(name) => Ok(()),
            Some(_) => {
                self.report(format_args!("${{{text}}}: bad substitution"));
                Err(self.fatal())
            }
            None => {
                let failure = self.fail_expansion(format_args!("${{{text}}}: bad substitution"), 1);
                Err(if self.conforms() { self.fatal() } else { failure })
            }
        }
    }

    /// Expands a parameter without an operator: `$1`, `$@`, `$?`, `${name}`.
    fn expand_plain(
        &mut self,
        parameter: &Parameter,
        span: Span,
        quoted: bool,
        sink: &mut Sink,
    ) -> Result<(), Unwind> {
        match parameter {
            Parameter::Positional(number) if *number > 0 => {
                if let Some(value) = self.parameters.positional().get(*number as usize - 1) {
                    emit(sink, value, quoted);
                    return Ok(());
                }
                // The message shows the dollar sign of `$1`, but not of `${1}`.
                let braced = span.end - span.start > 2;
                let name = if braced { number.to_string() } else { format!("${number}") };
                self.require_set(name.as_bytes())?;
                emit(sink, b"", quoted);
                Ok(())
            }
            Parameter::Special(SpecialParameter::Count) => {
                emit(sink, self.parameters.positional().len().to_string().as_bytes(), quoted);
                Ok(())
            }
            _ => {
                let place = self.place(parameter, None)?;
                let fetched = self.fetch(&place)?.for_sink(&place, sink);
                self.check_unset(&place, &fetched)?;
                emit_fetched(sink, fetched, quoted, self);
                self.check_cancelled()
            }
        }
    }

    /// Resolves a parameter and its subscript.
    pub(super) fn place(
        &mut self,
        parameter: &Parameter,
        subscript: Option<&Subscript>,
    ) -> Result<ParameterTarget, Unwind> {
        Ok(match parameter {
            Parameter::Variable(name) => {
                let selection = match subscript {
                    None => ElementSelection::Whole,
                    Some(subscript) => self.selection(name, subscript)?,
                };
                ParameterTarget::Variable { name: name.clone(), selection }
            }
            Parameter::Positional(number) => ParameterTarget::Positional(*number as usize),
            Parameter::Special(special) => ParameterTarget::Special(*special),
        })
    }

    /// Returns the elements of a variable that a subscript selects.
    fn selection(&mut self, name: &[u8], subscript: &Subscript) -> Result<ElementSelection, Unwind> {
        Ok(match &subscript.kind {
            SubscriptKind::At => ElementSelection::All { star: false },
            SubscriptKind::Star => ElementSelection::All { star: true },
            SubscriptKind::Element { key, index } => match self.is_associative(name) {
                true => ElementSelection::Text(self.expand_string(key)?),
                false => ElementSelection::Index(
                    self.evaluate(index).map_err(|failure| self.failed_subscript(failure))?,
                ),
            },
        })
    }

    /// Tells whether a name is that of an associative array, after namerefs.
    pub(crate) fn is_associative(&self, name: &[u8]) -> bool {
        let Some(variable) = self.variables.get(name) else { return false };
        if variable.is(Attributes::NAMEREF) || variable.is(Attributes::DYNAMIC) {
            return self
                .lookup(name)
                .is_some_and(|variable| matches!(variable.value, VariableValue::Associative(_)));
        }
        matches!(variable.value, VariableValue::Associative(_))
    }

    /// Returns the value of a parameter.
    pub(super) fn fetch(&mut self, place: &ParameterTarget) -> Result<Fetched, Unwind> {
        Ok(match place {
            ParameterTarget::Variable { name, selection } => return self.fetch_variable(name, selection),
            ParameterTarget::Positional(0) => Fetched::One(self.parameters.zero().clone()),
            ParameterTarget::Positional(number) => match self.parameters.positional().get(number - 1) {
                Some(value) => Fetched::One(value.clone()),
                None => Fetched::Unset,
            },
            ParameterTarget::Special(special) => self.fetch_special(*special),
        })
    }

    fn fetch_special(&self, special: SpecialParameter) -> Fetched {
        let one = |value: String| Fetched::One(value.into());
        match special {
            SpecialParameter::At => {
                Fetched::Many { values: self.parameters.positional().to_vec(), star: false }
            }
            SpecialParameter::Star => {
                Fetched::Many { values: self.parameters.positional().to_vec(), star: true }
            }
            SpecialParameter::Count => one(self.parameters.positional().len().to_string()),
            SpecialParameter::Status => one(self.parameters.status().to_string()),
            SpecialParameter::Flags => one(self.flags()),
            SpecialParameter::Process => one(self.identity.pid().to_string()),
            SpecialParameter::Background => match self.parameters.last_background() {
                Some(pid) => one(pid.to_string()),
                None => Fetched::Unset,
            },
        }
    }

    fn fetch_variable(&mut self, name: &[u8], selection: &ElementSelection) -> Result<Fetched, Unwind> {
        if let ElementSelection::Text(text) = selection
            && !self.is_associative(name)
        {
            let index = self.evaluate_or_fail(text)?;
            return self.fetch_variable(name, &ElementSelection::Index(index));
        }
        let Some(variable) = self.lookup(name) else {
            return Ok(match selection {
                ElementSelection::All { star } => Fetched::Many { values: Vec::new(), star: *star },
                ElementSelection::Index(..0) => self.refuse_index(name),
                _ => Fetched::Unset,
            });
        };
        let found = match (selection, &variable.value) {
            (ElementSelection::Whole, _) => variable.as_scalar().cloned(),
            (ElementSelection::All { star }, _) => {
                return Ok(Fetched::Many { values: variable.values(), star: *star });
            }
            (ElementSelection::Text(key), VariableValue::Associative(_)) if key.is_empty() => {
                drop(variable);
                return Ok(self.refuse_index(name));
            }
            (ElementSelection::Text(key), VariableValue::Associative(array)) => array.get(key).cloned(),
            (ElementSelection::Index(number), VariableValue::Indexed(array)) => {
                match array.resolve(*number) {
                    Some(index) => array.get(index).cloned(),
                    None => {
                        drop(variable);
                        return Ok(self.refuse_index(name));
                    }
                }
            }
            (ElementSelection::Index(..0), VariableValue::Scalar(_)) => {
                drop(variable);
                return Ok(self.refuse_index(name));
            }
            (ElementSelection::Index(0), VariableValue::Scalar(value)) if variable.is_set() => {
                Some(value.clone())
            }
            (ElementSelection::Index(number), VariableValue::Associative(array)) => {
                array.get(number.to_string().as_bytes()).cloned()
            }
            _ => None,
        };
        Ok(found.map_or(Fetched::Unset, Fetched::One))
    }

    /// Reports an invalid subscript, and returns an unset value.
    fn refuse_index(&mut self, name: &[u8]) -> Fetched {
        self.report(format_args!("{}: bad array subscript", String::from_utf8_lossy(name)));
        Fetched::Unset
    }

    /// Resolves indirection, `${!name}`: returns the parameter that the value names, or `None` if it names none.
    fn indirect(&mut self, place: &ParameterTarget) -> Result<Option<ParameterTarget>, Unwind> {
        if let ParameterTarget::Variable { name, selection: ElementSelection::Whole } = place
            && self.variables.get(name).is_some_and(|variable| variable.is(Attributes::NAMEREF))
        {
            return Ok(None);
        }
        let Some(text) = self.fetch(place)?.joined() else {
            let tolerated = match place {
                ParameterTarget::Variable { name, .. } => {
                    self.variables.get(name).is_some_and(Variable::is_array)
                }
                ParameterTarget::Positional(_) => true,
                ParameterTarget::Special(special) => {
                    matches!(special, SpecialParameter::At | SpecialParameter::Star)
                }
            };
            if tolerated {
                return Ok(None);
            }
            let shown = place_name(place);
            return Err(self.fail_expansion(format_args!("{shown}: invalid indirect expansion"), 1));
        };
        match self.parse_place(&text) {
            Some(ParameterTarget::Variable { name, selection: ElementSelection::Text(text) }) => {
                let selection = ElementSelection::Text(self.expand_subscript_text(&text)?);
                Ok(Some(ParameterTarget::Variable { name, selection }))
            }
            Some(target) => Ok(Some(target)),
            None => Err(self.fail_expansion(format_args!("{text}: invalid variable name"), 1)),
        }
    }

    /// Parses text such as `name[@]` or `3` as a parameter.
    pub(super) fn parse_place(&self, text: &[u8]) -> Option<ParameterTarget> {
        if let Some((name, subscript)) = split_reference(text) {
            let selection = match subscript {
                b"@" => ElementSelection::All { star: false },
                b"*" => ElementSelection::All { star: true },
                text => ElementSelection::Text(text.into()),
            };
            return Some(ParameterTarget::Variable { name: name.into(), selection });
        }
        if is_name(text) {
            return Some(ParameterTarget::Variable { name: text.into(), selection: ElementSelection::Whole });
        }
        if !text.is_empty() && text.iter().all(u8::is_ascii_digit) {
            return std::str::from_utf8(text).ok()?.parse().ok().map(ParameterTarget::Positional);
        }
        const NAMED_BY_CHARACTER: [SpecialParameter; 7] = [
            SpecialParameter::At,
            SpecialParameter::Star,
            SpecialParameter::Count,
            SpecialParameter::Status,
            SpecialParameter::Flags,
            SpecialParameter::Process,
            SpecialParameter::Background,
        ];
        let special = NAMED_BY_CHARACTER.into_iter().find(|special| text == [special.symbol()])?;
        Some(ParameterTarget::Special(special))
    }

    /// Expands `${!name}` of a nameref to the name of its target.
    fn expand_missing_indirect(
        &mut self,
        expansion: &ParameterExpansion,
        quoted: bool,
        sink: &mut Sink,
    ) -> Result<(), Unwind> {
        if let Parameter::Variable(name) = &expansion.parameter {
            let target = self.variables.get(name).and_then(|variable| variable.as_scalar().cloned());
            emit(sink, &target.unwrap_or_default(), quoted);
        }
        Ok(())
    }

    /// Fails for an unset parameter with `set -u`.
    pub(super) fn check_unset(&mut self, place: &ParameterTarget, fetched: &Fetched) -> Result<(), Unwind> {
        if !self.options.has(SetOption::NoUnset) {
            return Ok(());
        }
        match (place, fetched) {
            (ParameterTarget::Special(special), Fetched::Unset) => {
                self.require_set(&[b'$', special.symbol()])
            }
            (_, Fetched::Unset) => self.require_set(place_name(place).as_bytes()),
            _ => Ok(()),
        }
    }

    /// Fails for the name of an unset parameter with `set -u`.
    pub(super) fn require_set(&mut self, name: &[u8]) -> Result<(), Unwind> {
        if !self.options.has(SetOption::NoUnset) {
            return Ok(());
        }
        self.report(format_args!("{}: unbound variable", String::from_utf8_lossy(name)));
        self.note_exit_in_place();
        Err(self.fatal())
    }

    /// With `set -e`, the `EXIT` trap sees the calls in which an expansion failed.
    fn note_exit_in_place(&mut self) {
        if self.options.has(SetOption::ErrorExit) && !self.is_interactive() {
            self.trap_state.set_exits_in_place(true);
        }
    }

    /// Returns how a fatal error, such as an unbound variable, unwinds: it exits the shell, or ends the line of an interactive shell.
    pub(crate) fn fatal(&self) -> Unwind {
        match !self.identity.is_subshell() {
            true if self.is_interactive() => Unwind::Abort(1),
            true if self.identity.is_command_string() && !self.options.has(SetOption::ErrorExit) => {
                Unwind::Exit(FATAL_EXPANSION_STATUS)
            }
            _ => Unwind::Exit(1),
        }
    }

    /// Returns how a failed expansion unwinds. In POSIX mode it exits the shell.
    pub(super) fn failed_in_posix(&self, failure: Unwind) -> Unwind {
        match failure {
            Unwind::Abort(_) if self.conforms() => Unwind::Exit(1),
            failure => failure,
        }
    }

    /// Returns how an invalid subscript unwinds: it ends the line.
    fn failed_subscript(&self, failure: Unwind) -> Unwind {
        match failure {
            Unwind::Abort(status) => self.end_line(status),
            failure => failure,
        }
    }

    /// Reports a failed expansion. It ends the current command, and with `set -e` the shell, even where `set -e` is otherwise ignored.
    pub(super) fn fail_expansion(&mut self, message: impl std::fmt::Display, status: i32) -> Unwind {
        self.report(message);
        self.note_exit_in_place();
        match self.options.has(SetOption::ErrorExit) && !self.is_interactive() {
            true => Unwind::Exit(1),
            false if self.identity.is_command_string() && !self.identity.is_subshell() => Unwind::Abort(1),
            false => Unwind::Abort(status),
        }
    }

    /// Reports an error that ends the current command.
    pub(crate) fn fail(&mut self, message: impl std::fmt::Display) -> Unwind {
        self.report(message);
        Unwind::Abort(1)
    }
}

/// Returns the name of a parameter for messages.
pub(super) fn place_name(place: &ParameterTarget) -> String {
    match place {
        ParameterTarget::Variable { name, selection } => match selection {
            ElementSelection::Whole => name.to_string(),
            ElementSelection::All { star } => format!("{name}[{}]", if *star { '*' } else { '@' }),
            ElementSelection::Text(text) => format!("{name}[{text}]"),
            ElementSelection::Index(number) => format!("{name}[{number}]"),
        },
        ParameterTarget::Positional(number) => number.to_string(),
        ParameterTarget::Special(special) => char::from(special.symbol()).to_string(),
    }
}
