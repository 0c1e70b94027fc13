//! The operators of parameter expansion.

use haft_lang::ast::{CaseChange, Parameter, ParameterExpansion, ParameterOperator, Transform, Word};
use haft_text::Bytes;
use haft_text::encoding::Encoding;
use haft_text::pattern::{Pattern, PatternOptions};

use super::fetched::{Fetched, emit_fetched, emit_many};
use super::parameter::{ElementSelection, ParameterTarget, place_name};
use super::parts::emit;
use super::sink::{Sink, SinkMode};
use crate::flow::Unwind;
use crate::options::{SetOption, ShellOption};
use crate::session::Session;

impl Session {
    /// Expands `${!prefix*}` and `${!array[@]}`: names and keys instead of values.
    pub(super) fn expand_listing(
        &mut self,
        expansion: &ParameterExpansion,
        quoted: bool,
        sink: &mut Sink,
    ) -> Option<Result<(), Unwind>> {
        let Parameter::Variable(name) = &expansion.parameter else { return None };
        let (values, star) = match &expansion.operator {
            ParameterOperator::Names { fields } => (self.names_with(name), !fields),
            ParameterOperator::Keys { fields } => {
                (self.lookup(name).map_or_else(Vec::new, |variable| variable.keys()), !fields)
            }
            _ => return None,
        };
        let names = matches!(expansion.operator, ParameterOperator::Names { .. });
        let star = star || (names || quoted) && sink.joins_lists() && !sink.subject;
        emit_many(sink, &values, star && !sink.document, quoted, self);
        Some(Ok(()))
    }

    fn names_with(&self, prefix: &[u8]) -> Vec<Bytes> {
        let all = self.variables.sorted().into_iter();
        let set = all.filter(|(name, variable)| name.starts_with(prefix) && variable.is_set());
        set.map(|(name, _)| name.clone()).collect()
    }

    /// Applies the operator of an expansion to a parameter.
    #[inline(never)]
    pub(super) fn apply_operator(
        &mut self,
        place: &ParameterTarget,
        expansion: &ParameterExpansion,
        quoted: bool,
        sink: &mut Sink,
    ) -> Result<(), Unwind> {
        let fetched = self.fetch(place)?.for_sink(place, sink);
        // Without splitting and quotes, a list of one empty element counts as not empty.
        let lenient = sink.mode != SinkMode::Fields && !quoted;
        match &expansion.operator {
            ParameterOperator::Default { or_empty, word } if is_missing(&fetched, *or_empty, lenient) => {
                self.expand_alternative(word, quoted, sink)
            }
            ParameterOperator::Alternative { or_empty, .. } if is_missing(&fetched, *or_empty, lenient) => {
                if quoted {
                    match &fetched {
                        Fetched::Many { star: false, values } if values.is_empty() => sink.note_empty_list(),
                        _ => sink.quoted(b""),
                    }
                }
                Ok(())
            }
            ParameterOperator::Alternative { word, .. } => self.expand_alternative(word, quoted, sink),
            ParameterOperator::Assign { or_empty, word } if is_missing(&fetched, *or_empty, lenient) => {
                let value = self.assign_default(place, word).map_err(|failure| match failure {
                    Unwind::Abort(_) if self.conforms() => self.fatal(),
                    failure => failure,
                })?;
                emit(sink, &value, quoted);
                Ok(())
            }
            ParameterOperator::Require { or_empty, word } if is_missing(&fetched, *or_empty, lenient) => {
                Err(self.refuse_missing(place, *or_empty, word)?)
            }
            ParameterOperator::Default { .. }
            | ParameterOperator::Assign { .. }
            | ParameterOperator::Require { .. } => {
                emit_fetched(sink, fetched, quoted, self);
                self.check_cancelled()
            }
            operator => {
                let changed = self.transform_value(place, fetched, operator)?;
                emit_changed(sink, changed, operator, quoted, self);
                self.check_cancelled()
            }
        }
    }

    /// Expands the word of `${name:-word}` in place of the parameter.
    fn expand_alternative(&mut self, word: &Word, quoted: bool, sink: &mut Sink) -> Result<(), Unwind> {
        if !quoted {
            let before = std::mem::replace(&mut sink.alternative, true);
            let result = self.expand_inner(word, false, sink);
            sink.alternative = before;
            return result;
        }
        // In quotes the word yields a field even if it is a list without elements.
        let outer = sink.begin_alternative();
        self.expand_inner(word, true, sink)?;
        sink.end_alternative(outer);
        Ok(())
    }

    fn assign_default(&mut self, place: &ParameterTarget, word: &Word) -> Result<Bytes, Unwind> {
        let value = self.expand_string(word)?;
        let result = match place {
            ParameterTarget::Variable { name, selection } => match selection {
                ElementSelection::Whole => self.assign(name, value.clone(), false),
                ElementSelection::Text(text) => self.assign_element(name, text, value.clone(), false),
                ElementSelection::Index(number) => {
                    self.assign_index(name, number.to_string().as_bytes(), *number, value.clone(), false)
                }
                ElementSelection::All { .. } => {
                    let shown = place_name(place);
                    return Err(self.fail_expansion(format_args!("{shown}: bad array subscript"), 2));
                }
            },
            _ => {
                let shown = place_name(place);
                return Err(self.fail_expansion(format_args!("${shown}: cannot assign in this way"), 1));
            }
        };
        match result {
            Ok(()) => match place {
                ParameterTarget::Variable { name, selection: ElementSelection::Whole } => {
                    Ok(self.value(name).unwrap_or(value))
                }
                _ => Ok(value),
            },
            Err(error) => Err(self.fail_expansion(error, 2)),
        }
    }

    fn refuse_missing(
        &mut self,
        place: &ParameterTarget,
        or_empty: bool,
        word: &Word,
    ) -> Result<Unwind, Unwind> {
        let mut message = self.expand_string(word)?;
        if message.is_empty() && word.literal().is_some() {
            message = if or_empty { "parameter null or not set" } else { "parameter not set" }.into();
        }
        self.report(format_args!("{}: {message}", place_name(place)));
        Ok(self.fatal())
    }

    /// Applies the operators that change a value.
    #[inline(never)]
    fn transform_value(
        &mut self,
        place: &ParameterTarget,
        fetched: Fetched,
        operator: &ParameterOperator,
    ) -> Result<Fetched, Unwind> {
        match operator {
            ParameterOperator::Transform(transform) => return self.transform(place, fetched, *transform),
            ParameterOperator::Substring { offset, length } => {
                self.check_unset(place, &fetched)?;
                return self.substring(place, fetched, offset, length.as_deref());
            }
            ParameterOperator::Length => {
                self.check_counted(place, &fetched)?;
                return Ok(Fetched::One(self.length(&fetched).to_string().into()));
            }
            _ => self.check_unset(place, &fetched)?,
        }
        Ok(match operator {
            ParameterOperator::RemovePrefix { longest, pattern } => {
                let pattern = self.compile_exact(pattern)?;
                fetched.map(self, |value| match pattern.prefix(value, *longest) {
                    Some(end) if end > 0 => value[end..].into(),
                    _ => value.clone(),
                })
            }
            ParameterOperator::RemoveSuffix { longest, pattern } => {
                let pattern = self.compile_exact(pattern)?;
                fetched.map(self, |value| match pattern.suffix(value, *longest) {
                    Some(start) if start < value.len() => value[..start].into(),
                    _ => value.clone(),
                })
            }
            ParameterOperator::Replace { scope, pattern, replacement } => {
                self.replace(fetched, *scope, pattern, replacement.as_ref())?
            }
            ParameterOperator::ChangeCase { change, all, pattern } => {
                let pattern = pattern.as_ref().map(|pattern| self.compile_exact(pattern)).transpose()?;
                fetched.map(self, |value| {
                    change_case(value, *change, *all, pattern.as_ref(), self.encoding_of(value))
                })
            }
            _ => fetched,
        })
    }

    /// Compiles the pattern that a word expands to.
    pub(crate) fn compile_pattern(&mut self, word: &Word) -> Result<Pattern, Unwind> {
        let text = self.expand_pattern(word)?;
        Ok(Pattern::compile(&text, self.pattern_options()))
    }

    /// Compiles a pattern for operators that match case regardless of `nocasematch`.
    fn compile_exact(&mut self, word: &Word) -> Result<Pattern, Unwind> {
        let text = self.expand_pattern(word)?;
        Ok(Pattern::compile(&text, PatternOptions { ignore_case: false, ..self.pattern_options() }))
    }

    /// Returns the current options of pattern matching.
    pub(crate) fn pattern_options(&self) -> PatternOptions {
        PatternOptions { bytewise: self.encoding() == Encoding::Bytes, ..self.pattern_options_for(b"") }
    }

    /// Returns the current options for matching one subject. The locale is only looked up if it matters.
    pub(crate) fn pattern_options_for(&self, subject: &[u8]) -> PatternOptions {
        PatternOptions {
            extended: self.options.shell(ShellOption::ExtendedGlob),
            ignore_case: self.options.shell(ShellOption::NoCaseMatch),
            bytewise: self.encoding_of(subject) == Encoding::Bytes,
        }
    }

    /// Fails for the length of an unset parameter with `set -u`. A missing array element counts as empty.
    fn check_counted(&mut self, place: &ParameterTarget, fetched: &Fetched) -> Result<(), Unwind> {
        match place {
            ParameterTarget::Variable { name, selection }
                if !matches!(selection, ElementSelection::Whole) =>
            {
                let is_set = self.lookup(name).is_some_and(|variable| variable.is_set());
                match is_set || !self.options.has(SetOption::NoUnset) {
                    true => Ok(()),
                    // Unlike other unset parameters, it does not end the shell.
                    false => Err(self.fail_expansion(format_args!("{name}: unbound variable"), 1)),
                }
            }
            _ => self.check_unset(place, fetched),
        }
    }

    fn length(&self, fetched: &Fetched) -> usize {
        match fetched {
            Fetched::Unset => 0,
            Fetched::One(value) => self.encoding_of(value).count(value),
            Fetched::Many { values, .. } => values.len(),
        }
    }
}

/// Tells whether a parameter is unset, or with `or_empty` also whether it is empty.
fn is_missing(fetched: &Fetched, or_empty: bool, lenient: bool) -> bool {
    match fetched {
        Fetched::Unset => true,
        Fetched::One(value) => or_empty && value.is_empty(),
        Fetched::Many { values, .. } => match values.as_slice() {
            [] => true,
            [only] => or_empty && !lenient && only.is_empty(),
            _ => false,
        },
    }
}

/// Appends the result of an operator. When elements of `@` become one string, a space joins them, or, as for `*`, the first character
/// of `IFS` if the string is quoted or the operator is one of three.
fn emit_changed(
    sink: &mut Sink,
    changed: Fetched,
    operator: &ParameterOperator,
    quoted: bool,
    session: &Session,
) {
    let joins = match operator {
        _ if sink.subject => false,
        ParameterOperator::Value | ParameterOperator::Transform(Transform::Assignment) => false,
        ParameterOperator::RemovePrefix { .. }
        | ParameterOperator::RemoveSuffix { .. }
        | ParameterOperator::Transform(_) => true,
        _ => quoted,
    };
    let alternative = std::mem::replace(&mut sink.alternative, false);
    match changed {
        Fetched::Many { values, star } if sink.document => {
            let star = star && matches!(operator, ParameterOperator::Value);
            emit_many(sink, &values, star, quoted, session);
        }
        Fetched::Many { values, star: false } if joins && sink.joins_lists() => {
            emit_many(sink, &values, true, quoted, session);
        }
        changed => {
            sink.alternative = alternative && matches!(operator, ParameterOperator::Value);
            emit_fetched(sink, changed, quoted, session);
        }
    }
    sink.alternative = alternative;
}

fn change_case(
    value: &[u8],
    change: CaseChange,
    all: bool,
    pattern: Option<&Pattern>,
    encoding: Encoding,
) -> Bytes {
    match (all && pattern.is_none(), change) {
        (true, CaseChange::Upper) => return encoding.to_uppercase(value).into(),
        (true, CaseChange::Lower) => return encoding.to_lowercase(value).into(),
        _ => {}
    }
    let mut result = Vec::with_capacity(value.len());
    for (index, character) in encoding.characters(value).enumerate() {
        let chosen = (all || index == 0) && pattern.is_none_or(|pattern| pattern.matches(character));
        match (chosen, change) {
            (false, _) => result.extend_from_slice(character),
            (true, CaseChange::Upper) => result.extend(encoding.to_uppercase(character)),
            (true, CaseChange::Lower) => result.extend(encoding.to_lowercase(character)),
            (true, CaseChange::Toggle) => {
                let upper = encoding.to_uppercase(character);
                result.extend(if upper == character { encoding.to_lowercase(character) } else { upper });
            }
        }
    }
    result.into()
}
