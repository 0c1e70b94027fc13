//! `${…}`: what a parameter yields.

use haft_lang::ast::{
    Parameter, ParameterExpansion, ParameterOperator, SpecialParameter, Subscript, SubscriptKind, Text,
};
use haft_text::Bytes;

use super::fetched::{Fetched, emit_fetched};
use super::parts::emit;
use super::sink::Sink;
use crate::flow::Unwind;
use crate::options::SetOption;
use crate::session::{Session, split_reference};
use crate::variables::{Attributes, Value, Variable, is_name};

/// The parameter that is meant, after indirection.
#[derive(Clone, Debug)]
pub(super) enum Place {
    Variable { name: Bytes, selection: Selection },
    Positional(usize),
    Special(SpecialParameter),
}

/// What of a variable is meant.
#[derive(Clone, Debug)]
pub(super) enum Selection {
    Whole,
    All {
        star: bool,
    },
    /// By the text of a subscript.
    Text(Bytes),
    /// By a number.
    Index(i64),
}

impl Session {
    /// Expands `${…}` into a sink.
    #[inline(never)]
    pub(super) fn expand_parameter(
        &mut self,
        expansion: &ParameterExpansion,
        quoted: bool,
        sink: &mut Sink,
    ) -> Result<(), Unwind> {
        if let ParameterOperator::Value = expansion.operator
            && expansion.subscript.is_none()
            && !expansion.indirect
        {
            return self.expand_plain(&expansion.parameter, quoted, sink);
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
                // A positional parameter that is not set leads to itself.
                None if matches!(place, Place::Positional(_)) => {}
                None => return self.expand_missing_indirect(expansion, quoted, sink),
            }
        }
        self.apply_operator(&place, expansion, quoted, sink)
    }

    /// `${…}` that is none. A transformation that does not exist is one of what is not set, and ends the shell otherwise.
    fn expand_invalid(&mut self, text: &Text) -> Result<(), Unwind> {
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

    /// `$1`, `$@`, `$?`, `${name}`: nothing done to the value.
    fn expand_plain(&mut self, parameter: &Parameter, quoted: bool, sink: &mut Sink) -> Result<(), Unwind> {
        match parameter {
            Parameter::Positional(number) if *number > 0 => {
                if let Some(value) = self.parameters.positional().get(*number as usize - 1) {
                    emit(sink, value, quoted);
                    return Ok(());
                }
                self.require_set(format!("${number}").as_bytes())?;
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

    /// The place that a parameter and its subscript mean.
    pub(super) fn place(
        &mut self,
        parameter: &Parameter,
        subscript: Option<&Subscript>,
    ) -> Result<Place, Unwind> {
        Ok(match parameter {
            Parameter::Variable(name) => {
                let selection = match subscript {
                    None => Selection::Whole,
                    Some(subscript) => self.selection(name, subscript)?,
                };
                Place::Variable { name: name.into(), selection }
            }
            Parameter::Positional(number) => Place::Positional(*number as usize),
            Parameter::Special(special) => Place::Special(*special),
        })
    }

    /// What a subscript selects of a variable.
    fn selection(&mut self, name: &[u8], subscript: &Subscript) -> Result<Selection, Unwind> {
        Ok(match &subscript.kind {
            SubscriptKind::At => Selection::All { star: false },
            SubscriptKind::Star => Selection::All { star: true },
            SubscriptKind::Element { key, index } => match self.is_associative(name) {
                true => Selection::Text(self.expand_string(key)?),
                false => {
                    Selection::Index(self.evaluate(index).map_err(|failure| self.failed_subscript(failure))?)
                }
            },
        })
    }

    /// Whether the variable that a name means is an associative array.
    pub(crate) fn is_associative(&self, name: &[u8]) -> bool {
        let Some(variable) = self.variables.get(name) else { return false };
        if variable.is(Attributes::NAMEREF) || variable.is(Attributes::DYNAMIC) {
            return self.lookup(name).is_some_and(|variable| matches!(variable.value, Value::Associative(_)));
        }
        matches!(variable.value, Value::Associative(_))
    }

    /// What a place yields.
    pub(super) fn fetch(&mut self, place: &Place) -> Result<Fetched, Unwind> {
        Ok(match place {
            Place::Variable { name, selection } => return self.fetch_variable(name, selection),
            Place::Positional(0) => Fetched::One(self.parameters.zero().clone()),
            Place::Positional(number) => match self.parameters.positional().get(number - 1) {
                Some(value) => Fetched::One(value.clone()),
                None => Fetched::Unset,
            },
            Place::Special(special) => self.fetch_special(*special),
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

    fn fetch_variable(&mut self, name: &[u8], selection: &Selection) -> Result<Fetched, Unwind> {
        if let Selection::Text(text) = selection
            && !self.is_associative(name)
        {
            let index = self.evaluate_or_fail(text)?;
            return self.fetch_variable(name, &Selection::Index(index));
        }
        let Some(variable) = self.lookup(name) else {
            return Ok(match selection {
                Selection::All { star } => Fetched::Many { values: Vec::new(), star: *star },
                Selection::Index(..0) => self.refuse_index(name),
                _ => Fetched::Unset,
            });
        };
        let found = match (selection, &variable.value) {
            (Selection::Whole, _) => variable.as_scalar().cloned(),
            (Selection::All { star }, _) => {
                return Ok(Fetched::Many { values: variable.values(), star: *star });
            }
            (Selection::Text(key), Value::Associative(_)) if key.is_empty() => {
                drop(variable);
                return Ok(self.refuse_index(name));
            }
            (Selection::Text(key), Value::Associative(array)) => array.get(key).cloned(),
            (Selection::Index(number), Value::Indexed(array)) => match array.resolve(*number) {
                Some(index) => array.get(index).cloned(),
                None => {
                    drop(variable);
                    return Ok(self.refuse_index(name));
                }
            },
            (Selection::Index(..0), Value::Scalar(_)) => {
                drop(variable);
                return Ok(self.refuse_index(name));
            }
            (Selection::Index(0), Value::Scalar(value)) if variable.is_set() => Some(value.clone()),
            (Selection::Index(number), Value::Associative(array)) => {
                array.get(number.to_string().as_bytes()).cloned()
            }
            _ => None,
        };
        Ok(found.map_or(Fetched::Unset, Fetched::One))
    }

    /// Says that a subscript is none of a variable; nothing is there, then.
    fn refuse_index(&mut self, name: &[u8]) -> Fetched {
        self.report(format_args!("{}: bad array subscript", String::from_utf8_lossy(name)));
        Fetched::Unset
    }

    /// The place that the value of a place names: `${!name}`. `None` if it names nothing.
    fn indirect(&mut self, place: &Place) -> Result<Option<Place>, Unwind> {
        if let Place::Variable { name, selection: Selection::Whole } = place
            && self.variables.get(name).is_some_and(|variable| variable.is(Attributes::NAMEREF))
        {
            return Ok(None);
        }
        let Some(text) = self.fetch(place)?.joined() else {
            let tolerated = match place {
                Place::Variable { name, .. } => self.variables.get(name).is_some_and(Variable::is_array),
                Place::Positional(_) => true,
                Place::Special(_) => false,
            };
            if tolerated {
                return Ok(None);
            }
            let shown = place_name(place);
            return Err(self.fail_expansion(format_args!("{shown}: invalid indirect expansion"), 1));
        };
        match self.parse_place(&text) {
            Some(Place::Variable { name, selection: Selection::Text(text) }) => {
                let selection = Selection::Text(self.expand_subscript_text(&text));
                Ok(Some(Place::Variable { name, selection }))
            }
            Some(target) => Ok(Some(target)),
            None => Err(self.fail_expansion(format_args!("{text}: invalid variable name"), 1)),
        }
    }

    /// The place that text such as `name[@]` or `3` names.
    pub(super) fn parse_place(&self, text: &[u8]) -> Option<Place> {
        if let Some((name, subscript)) = split_reference(text) {
            let selection = match subscript {
                b"@" => Selection::All { star: false },
                b"*" => Selection::All { star: true },
                text => Selection::Text(text.into()),
            };
            return Some(Place::Variable { name: name.into(), selection });
        }
        if is_name(text) {
            return Some(Place::Variable { name: text.into(), selection: Selection::Whole });
        }
        if !text.is_empty() && text.iter().all(u8::is_ascii_digit) {
            return std::str::from_utf8(text).ok()?.parse().ok().map(Place::Positional);
        }
        const SPECIAL: [SpecialParameter; 7] = [
            SpecialParameter::At,
            SpecialParameter::Star,
            SpecialParameter::Count,
            SpecialParameter::Status,
            SpecialParameter::Flags,
            SpecialParameter::Process,
            SpecialParameter::Background,
        ];
        let special = SPECIAL.into_iter().find(|special| text == [special.symbol()])?;
        Some(Place::Special(special))
    }

    /// `${!reference}` yields the name that the reference leads to.
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

    /// Refuses an unset parameter if `set -u` says so.
    pub(super) fn check_unset(&mut self, place: &Place, fetched: &Fetched) -> Result<(), Unwind> {
        if !self.options.has(SetOption::NoUnset) {
            return Ok(());
        }
        match (place, fetched) {
            (_, Fetched::Unset) => self.require_set(place_name(place).as_bytes()),
            _ => Ok(()),
        }
    }

    /// Refuses a name that was found unset if `set -u` says so.
    pub(super) fn require_set(&mut self, name: &[u8]) -> Result<(), Unwind> {
        if !self.options.has(SetOption::NoUnset) {
            return Ok(());
        }
        self.report(format_args!("{}: unbound variable", String::from_utf8_lossy(name)));
        Err(self.fatal())
    }

    /// How an error such as an unbound variable ends the shell; where a person enters the commands, it ends the line.
    pub(crate) fn fatal(&self) -> Unwind {
        match !self.identity.is_subshell() {
            true if self.is_interactive() => Unwind::Abort(1),
            true if self.identity.is_command_string() && !self.options.has(SetOption::ErrorExit) => {
                Unwind::Exit(127)
            }
            _ => Unwind::Exit(1),
        }
    }

    /// How an expansion that has failed ends if POSIX has it end the shell.
    pub(super) fn failed_in_posix(&self, failure: Unwind) -> Unwind {
        match failure {
            Unwind::Abort(_) if self.conforms() => Unwind::Exit(1),
            failure => failure,
        }
    }

    /// A subscript that cannot be computed ends the line.
    fn failed_subscript(&self, failure: Unwind) -> Unwind {
        match failure {
            Unwind::Abort(status) => self.end_line(status),
            failure => failure,
        }
    }

    /// Reports an expansion that cannot be: it ends the command being run, and under `set -e` the shell, whoever looks at the
    /// status of the command.
    pub(super) fn fail_expansion(&mut self, message: impl std::fmt::Display, status: i32) -> Unwind {
        self.report(message);
        match self.options.has(SetOption::ErrorExit) && !self.is_interactive() {
            true => Unwind::Exit(1),
            false if self.identity.is_command_string() && !self.identity.is_subshell() => Unwind::Abort(1),
            false => Unwind::Abort(status),
        }
    }

    /// Reports an error that ends the command being run.
    pub(crate) fn fail(&mut self, message: impl std::fmt::Display) -> Unwind {
        self.report(message);
        Unwind::Abort(1)
    }
}

/// How a place is called in messages.
pub(super) fn place_name(place: &Place) -> String {
    match place {
        Place::Variable { name, selection } => match selection {
            Selection::Whole => name.to_string(),
            Selection::All { star } => format!("{name}[{}]", if *star { '*' } else { '@' }),
            Selection::Text(text) => format!("{name}[{text}]"),
            Selection::Index(number) => format!("{name}[{number}]"),
        },
        Place::Positional(number) => number.to_string(),
        Place::Special(special) => char::from(special.symbol()).to_string(),
    }
}
