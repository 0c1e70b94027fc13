//! Deserializes the TOML tree into types that other crates declare.
//!
//! The declared types are the only schema: this deserializer learns valid keys and enum variants from them,
//! so errors can name the nearest valid one.

use serde::de::value::{StrDeserializer, UsizeDeserializer};
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess, SeqAccess, Unexpected,
    VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use crate::deserialize_error::DeserializeError;
use crate::error::ErrorKind;
use crate::nearest::suggest;
use crate::spanned::SPANNED;
use crate::tree::{TomlKey, TomlNode, TomlTable, TomlValue};

/// Deserializes one value.
#[derive(Clone, Copy)]
pub(crate) struct NodeDeserializer<'n>(pub(crate) &'n TomlNode);

impl NodeDeserializer<'_> {
    fn expected(&self, expected: &str) -> DeserializeError {
        let found = self.0.value.describe();
        DeserializeError::new(
            ErrorKind::WrongValue,
            self.0.span,
            format!("expected {expected}, found {found}"),
        )
    }
}

/// Implements the methods that accept one kind of value.
macro_rules! accept {
    ($($method:ident => $pattern:pat => $visit:ident, $expected:literal;)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeserializeError> {
            match &self.0.value {
                $pattern => $visit(visitor, &self.0.value).map_err(|error: DeserializeError| error.within(self.0.span)),
                _ => Err(self.expected($expected)),
            }
        })*
    };
}

fn visit_number<'n, V: Visitor<'n>>(visitor: V, value: &'n TomlValue) -> Result<V::Value, DeserializeError> {
    match value {
        TomlValue::Integer(number) => visitor.visit_i64(*number).map_err(|mut error: DeserializeError| {
            error.text = format!("number {number} is out of range");
            error
        }),
        TomlValue::Float(number) => visitor.visit_f64(*number),
        _ => Err(serde::de::Error::invalid_type(Unexpected::Other(value.describe()), &visitor)),
    }
}

fn visit_text<'n, V: Visitor<'n>>(visitor: V, value: &'n TomlValue) -> Result<V::Value, DeserializeError> {
    match value {
        TomlValue::Text(text) | TomlValue::Date(text) => visitor.visit_borrowed_str(text),
        _ => Err(serde::de::Error::invalid_type(Unexpected::Other(value.describe()), &visitor)),
    }
}

fn visit_flag<'n, V: Visitor<'n>>(visitor: V, value: &'n TomlValue) -> Result<V::Value, DeserializeError> {
    visitor.visit_bool(matches!(value, TomlValue::Flag(true)))
}

fn visit_list<'n, V: Visitor<'n>>(visitor: V, value: &'n TomlValue) -> Result<V::Value, DeserializeError> {
    let TomlValue::List(list) = value else { return visitor.visit_unit() };
    visitor.visit_seq(NodeSeq(list.iter()))
}

fn visit_table<'n, V: Visitor<'n>>(visitor: V, value: &'n TomlValue) -> Result<V::Value, DeserializeError> {
    let TomlValue::Table(table) = value else { return visitor.visit_unit() };
    visitor.visit_map(NodeMap::new(table))
}

impl<'de> Deserializer<'de> for NodeDeserializer<'de> {
    type Error = DeserializeError;

    accept! {
        deserialize_str => TomlValue::Text(_) => visit_text, "a string";
        deserialize_string => TomlValue::Text(_) => visit_text, "a string";
        deserialize_char => TomlValue::Text(_) => visit_text, "a string";
        deserialize_bool => TomlValue::Flag(_) => visit_flag, "a boolean";
        deserialize_u8 => TomlValue::Integer(_) => visit_number, "an integer";
        deserialize_u16 => TomlValue::Integer(_) => visit_number, "an integer";
        deserialize_u32 => TomlValue::Integer(_) => visit_number, "an integer";
        deserialize_u64 => TomlValue::Integer(_) => visit_number, "an integer";
        deserialize_i8 => TomlValue::Integer(_) => visit_number, "an integer";
        deserialize_i16 => TomlValue::Integer(_) => visit_number, "an integer";
        deserialize_i32 => TomlValue::Integer(_) => visit_number, "an integer";
        deserialize_i64 => TomlValue::Integer(_) => visit_number, "an integer";
        deserialize_f32 => TomlValue::Integer(_) | TomlValue::Float(_) => visit_number, "a number";
        deserialize_f64 => TomlValue::Integer(_) | TomlValue::Float(_) => visit_number, "a number";
        deserialize_seq => TomlValue::List(_) => visit_list, "an array";
        deserialize_map => TomlValue::Table(_) => visit_table, "a table";
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeserializeError> {
        let result = match &self.0.value {
            TomlValue::Text(_) | TomlValue::Date(_) => visit_text(visitor, &self.0.value),
            TomlValue::Integer(_) | TomlValue::Float(_) => visit_number(visitor, &self.0.value),
            TomlValue::Flag(_) => visit_flag(visitor, &self.0.value),
            TomlValue::List(_) => visit_list(visitor, &self.0.value),
            TomlValue::Table(_) => visit_table(visitor, &self.0.value),
        };
        result.map_err(|error| error.within(self.0.span))
    }

    /// TOML has no null, so a key that is present has a value.
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeserializeError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, DeserializeError> {
        visitor.visit_newtype_struct(self).map_err(|error: DeserializeError| error.within(self.0.span))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DeserializeError> {
        if name == SPANNED {
            return visitor.visit_seq(SpannedParts { node: self.0, next: 0 });
        }
        let TomlValue::Table(table) = &self.0.value else { return Err(self.expected("a table")) };
        refuse_unknown(table, fields)?;
        visitor.visit_map(NodeMap::new(table)).map_err(|error: DeserializeError| error.within(self.0.span))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DeserializeError> {
        let TomlValue::Text(text) = &self.0.value else { return Err(self.expected("a string")) };
        if !variants.contains(&text.as_str()) {
            let error =
                DeserializeError::new(ErrorKind::WrongValue, self.0.span, format!("unknown value '{text}'"));
            return Err(error.hint(suggest(text, variants.iter().copied())));
        }
        visitor.visit_enum(UnitVariant(text))
    }

    forward_to_deserialize_any! {
        bytes byte_buf unit unit_struct tuple tuple_struct identifier ignored_any
    }
}

/// Returns an error for the first key that is not among `fields`.
pub(crate) fn refuse_unknown(table: &TomlTable, fields: &[&str]) -> Result<(), DeserializeError> {
    let Some((key, _)) = table.0.iter().find(|(key, _)| !fields.contains(&key.name.as_str())) else {
        return Ok(());
    };
    let error = DeserializeError::new(ErrorKind::UnknownKey, key.span, format!("unknown key '{}'", key.name));
    Err(error.hint(suggest(&key.name, fields.iter().copied())))
}

struct NodeSeq<'n>(std::slice::Iter<'n, TomlNode>);

impl<'n> SeqAccess<'n> for NodeSeq<'n> {
    type Error = DeserializeError;

    fn next_element_seed<T: DeserializeSeed<'n>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, DeserializeError> {
        self.0.next().map(|node| seed.deserialize(NodeDeserializer(node))).transpose()
    }
}

struct NodeMap<'n> {
    rest: std::slice::Iter<'n, (TomlKey, TomlNode)>,
    value: Option<&'n TomlNode>,
}

impl<'n> NodeMap<'n> {
    fn new(table: &'n TomlTable) -> NodeMap<'n> {
        NodeMap { rest: table.0.iter(), value: None }
    }
}

impl<'n> MapAccess<'n> for NodeMap<'n> {
    type Error = DeserializeError;

    fn next_key_seed<K: DeserializeSeed<'n>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, DeserializeError> {
        let Some((key, node)) = self.rest.next() else { return Ok(None) };
        self.value = Some(node);
        let name: StrDeserializer<'n, DeserializeError> = key.name.as_str().into_deserializer();
        seed.deserialize(name).map(Some).map_err(|error| error.within(key.span))
    }

    fn next_value_seed<T: DeserializeSeed<'n>>(&mut self, seed: T) -> Result<T::Value, DeserializeError> {
        match self.value.take() {
            Some(node) => seed.deserialize(NodeDeserializer(node)),
            None => Err(serde::de::Error::custom("next_value called before next_key")),
        }
    }
}

/// The name of a unit variant.
struct UnitVariant<'n>(&'n str);

impl<'n> EnumAccess<'n> for UnitVariant<'n> {
    type Error = DeserializeError;
    type Variant = UnitVariant<'n>;

    fn variant_seed<T: DeserializeSeed<'n>>(
        self,
        seed: T,
    ) -> Result<(T::Value, UnitVariant<'n>), DeserializeError> {
        let word: StrDeserializer<'n, DeserializeError> = self.0.into_deserializer();
        Ok((seed.deserialize(word)?, self))
    }
}

impl<'n> VariantAccess<'n> for UnitVariant<'n> {
    type Error = DeserializeError;

    fn unit_variant(self) -> Result<(), DeserializeError> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'n>>(self, _seed: T) -> Result<T::Value, DeserializeError> {
        Err(serde::de::Error::custom("only unit variants are supported"))
    }

    fn tuple_variant<V: Visitor<'n>>(
        self,
        _length: usize,
        _visitor: V,
    ) -> Result<V::Value, DeserializeError> {
        Err(serde::de::Error::custom("only unit variants are supported"))
    }

    fn struct_variant<V: Visitor<'n>>(
        self,
        _fields: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value, DeserializeError> {
        Err(serde::de::Error::custom("only unit variants are supported"))
    }
}

/// Presents a node as the sequence that [`Spanned`](crate::Spanned) reads: source, start, end, value.
struct SpannedParts<'n> {
    node: &'n TomlNode,
    next: usize,
}

impl<'n> SeqAccess<'n> for SpannedParts<'n> {
    type Error = DeserializeError;

    fn next_element_seed<T: DeserializeSeed<'n>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, DeserializeError> {
        let span = self.node.span;
        let number = |number: usize| -> UsizeDeserializer<DeserializeError> { number.into_deserializer() };
        self.next += 1;
        match self.next {
            1 => seed.deserialize(number(span.source)).map(Some),
            2 => seed.deserialize(number(span.start)).map(Some),
            3 => seed.deserialize(number(span.end)).map(Some),
            4 => seed.deserialize(NodeDeserializer(self.node)).map(Some),
            _ => Ok(None),
        }
    }
}
