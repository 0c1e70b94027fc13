//! Parameter transformations such as `${name@Q}`.

use haft_lang::ast::{SpecialParameter, Transform};
use haft_text::Bytes;
use haft_text::encoding::Encoding;
use haft_text::quote;

use super::fetched::Fetched;
use super::parameter::{ElementSelection, ParameterTarget};
use crate::flow::Unwind;
use crate::session::Session;
use crate::variables::{Variable, VariableValue};

impl Session {
    pub(super) fn transform(
        &mut self,
        place: &ParameterTarget,
        fetched: Fetched,
        transform: Transform,
    ) -> Result<Fetched, Unwind> {
        if transform != Transform::Attributes || !self.has_elements(place) {
            self.check_unset(place, &fetched)?;
        }
        match transform {
            Transform::Attributes => return Ok(self.attribute_letters(place, fetched)),
            Transform::Assignment => return Ok(self.as_assignment(place, fetched)),
            Transform::Pairs | Transform::PairWords => return Ok(self.as_pairs(place, fetched, transform)),
            _ => {}
        }
        Ok(match transform {
            Transform::Upper => fetched.map(self, |value| self.encoding_of(value).to_uppercase(value).into()),
            Transform::UpperFirst => fetched.map(self, |value| {
                let encoding = self.encoding_of(value);
                let (first, rest) = value.split_at(encoding.character_length(value));
                [encoding.to_uppercase(first).as_slice(), rest].concat().into()
            }),
            Transform::Lower => fetched.map(self, |value| self.encoding_of(value).to_lowercase(value).into()),
            Transform::Quote => {
                fetched.map(self, |value| quote::reusable(value, self.encoding_of(value)).into())
            }
            Transform::Escapes => fetched.map(self, |value| decode_escapes(value)),
            Transform::Prompt => match fetched {
                Fetched::Unset => Fetched::Unset,
                Fetched::One(value) => Fetched::One(self.prompt(&value)?),
                Fetched::Many { values, star } => {
                    let prompts: Result<_, Unwind> = values.iter().map(|value| self.prompt(value)).collect();
                    Fetched::Many { values: prompts?, star }
                }
            },
            _ => fetched,
        })
    }

    fn variable_of(&self, place: &ParameterTarget) -> Option<(Bytes, Variable)> {
        let ParameterTarget::Variable { name, .. } = place else { return None };
        let target = self.follow(name).ok()?;
        let variable = self.lookup(&target.name)?.into_owned();
        Some((target.name, variable))
    }

    fn attribute_letters(&self, place: &ParameterTarget, fetched: Fetched) -> Fetched {
        let Some((_, variable)) = self.variable_of(place) else {
            return match fetched {
                Fetched::Many { .. } => fetched.map(self, |_| Bytes::new()),
                _ => Fetched::Unset,
            };
        };
        let letters = Bytes::from(variable.letters());
        match fetched {
            Fetched::Many { values, .. }
                if values.is_empty() && !variable.is_set() && !letters.is_empty() =>
            {
                Fetched::One(letters)
            }
            Fetched::Many { values, star } => {
                Fetched::Many { values: values.iter().map(|_| letters.clone()).collect(), star }
            }
            _ if letters.is_empty() && !variable.is_set() => Fetched::Unset,
            _ => Fetched::One(letters),
        }
    }

    /// `${name@A}`: returns an assignment that recreates the variable.
    fn as_assignment(&self, place: &ParameterTarget, fetched: Fetched) -> Fetched {
        if let (
            ParameterTarget::Special(SpecialParameter::At | SpecialParameter::Star),
            Fetched::Many { values, star },
        ) = (place, &fetched)
        {
            return self.as_set(values, *star);
        }
        let star = match place {
            ParameterTarget::Variable { selection: ElementSelection::All { star }, .. } => Some(*star),
            _ => None,
        };
        let nothing = || star.map_or(Fetched::Unset, |star| Fetched::Many { values: Vec::new(), star });
        let Some((name, variable)) = self.variable_of(place) else { return nothing() };
        let letters = variable.letters();
        let declared = match fetched {
            _ if star.is_some() && variable.is_array() => {
                variable.is_set().then(|| list_text(&variable, self.encoding()))
            }
            Fetched::One(value) => Some(quote::reusable(&value, self.encoding_of(&value))),
            Fetched::Many { values, .. } => {
                values.first().map(|value| quote::reusable(value, self.encoding_of(value)))
            }
            Fetched::Unset => None,
        };
        if declared.is_none() && letters.is_empty() {
            return nothing();
        }
        let mut words: Vec<Bytes> = Vec::with_capacity(3);
        if !letters.is_empty() {
            words.extend(["declare".into(), format!("-{letters}").into()]);
        }
        words.push(match declared {
            Some(value) => [&*name, b"=", &*value].concat().into(),
            None => name,
        });
        match star {
            Some(false) if variable.is_array() => Fetched::Many { values: words, star: false },
            _ => Fetched::One(words.join(&b' ').into()),
        }
    }

    /// `${@@A}`: returns a `set` command that recreates the positional parameters, split into words by `IFS`.
    fn as_set(&self, values: &[Bytes], star: bool) -> Fetched {
        let mut quoted = values.iter().map(|value| quote::reusable(value, self.encoding_of(value)));
        let Some(first) = quoted.next() else { return Fetched::Many { values: Vec::new(), star } };
        let separators = self.separators();
        let mut words: Vec<Bytes> = match !star && separators.next(b" ").0 == 0 {
            true => vec!["set".into(), "--".into(), first.into()],
            false => vec![[b"set -- ".as_slice(), &first].concat().into()],
        };
        words.extend(quoted.map(Bytes::from));
        match star {
            true => Fetched::One(words.join(separators.join()).into()),
            false => Fetched::Many { values: words, star },
        }
    }

    /// `${name[@]@K}` and `${name[@]@k}`: returns keys and values.
    fn as_pairs(&self, place: &ParameterTarget, fetched: Fetched, transform: Transform) -> Fetched {
        let whole =
            matches!(place, ParameterTarget::Variable { selection: ElementSelection::All { .. }, .. });
        let variable = match self.variable_of(place) {
            Some((_, variable)) if whole && variable.is_array() => variable,
            _ => {
                return fetched.map(self, |value| quote::reusable(value, self.encoding_of(value)).into());
            }
        };
        let star = matches!(fetched, Fetched::Many { star: true, .. });
        let pairs = variable.keys().into_iter().zip(variable.values());
        if transform == Transform::PairWords {
            return Fetched::Many { values: pairs.flat_map(|(key, value)| [key, value]).collect(), star };
        }
        let associative = matches!(variable.value, VariableValue::Associative(_));
        if variable.keys().is_empty() {
            return Fetched::Many { values: Vec::new(), star };
        }
        let mut shown = Vec::new();
        for (key, value) in pairs {
            let key = if associative { quote::declared_key(&key, self.encoding()) } else { key.to_vec() };
            shown.push([key.as_slice(), b" ", &quote::declared(&value, self.encoding())].concat());
        }
        let mut text = shown.join(&b' ');
        if associative {
            text.push(b' ');
        }
        Fetched::One(text.into())
    }
}

/// Returns the value of an array as `declare -p` prints it.
pub(crate) fn list_text(variable: &Variable, encoding: Encoding) -> Vec<u8> {
    let mut text = b"(".to_vec();
    let associative = matches!(variable.value, VariableValue::Associative(_));
    for (index, (key, value)) in variable.keys().into_iter().zip(variable.values()).enumerate() {
        if index > 0 && !associative {
            text.push(b' ');
        }
        text.push(b'[');
        text.extend(if associative { quote::declared_key(&key, encoding) } else { key.into_vec() });
        text.extend_from_slice(b"]=");
        text.extend(quote::declared(&value, encoding));
        if associative {
            text.push(b' ');
        }
    }
    text.push(b')');
    text
}

/// Expands the escapes of `$'…'` in a text.
fn decode_escapes(value: &[u8]) -> Bytes {
    let mut source = b"$'".to_vec();
    let mut bytes = value.iter();
    while let Some(&byte) = bytes.next() {
        match byte {
            b'\'' => source.extend_from_slice(b"\\'"),
            b'\\' => {
                source.push(byte);
                source.push(bytes.next().copied().unwrap_or(b'\\'));
            }
            _ => source.push(byte),
        }
    }
    source.push(b'\'');
    let Ok(program) = haft_lang::parse(&source, &haft_lang::ParseOptions::default()) else {
        return value.into();
    };
    let simple = program.body.statements.first().and_then(|statement| statement.first.stages.first());
    match simple.map(|command| &command.kind) {
        Some(haft_lang::ast::CommandKind::Simple(simple)) => simple.name().unwrap_or(value).into(),
        _ => value.into(),
    }
}
