//! From the tree to the types that crates declare.
//!
//! The types are the only declaration of what may be written: the reader learns the keys of a table and the words of a
//! choice from them, and so it can say what is not among them and what is nearest.

use serde::de::value::{StrDeserializer, UsizeDeserializer};
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess, SeqAccess, Unexpected,
    VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use crate::error::ErrorKind;
use crate::fault::Fault;
use crate::located::LOCATED;
use crate::nearest::suggest;
use crate::value::{Key, Node, Table, Value};

/// Reads one value.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'n>(pub(crate) &'n Node);

impl Reader<'_> {
    fn expected(&self, wanted: &str) -> Fault {
        let found = self.0.value.word();
        Fault::new(ErrorKind::WrongValue, self.0.mark, format!("expected {wanted}, found {found}"))
    }
}

/// Implements the methods that demand one kind of value.
macro_rules! demand {
    ($($method:ident => $pattern:pat => $visit:ident, $wanted:literal;)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
            match &self.0.value {
                $pattern => $visit(visitor, &self.0.value).map_err(|fault: Fault| fault.within(self.0.mark)),
                _ => Err(self.expected($wanted)),
            }
        })*
    };
}

fn visit_number<'n, V: Visitor<'n>>(visitor: V, value: &'n Value) -> Result<V::Value, Fault> {
    match value {
        Value::Integer(number) => visitor.visit_i64(*number).map_err(|mut fault: Fault| {
            fault.text = format!("the number {number} is out of range");
            fault
        }),
        Value::Float(number) => visitor.visit_f64(*number),
        _ => Err(serde::de::Error::invalid_type(Unexpected::Other(value.word()), &visitor)),
    }
}

fn visit_text<'n, V: Visitor<'n>>(visitor: V, value: &'n Value) -> Result<V::Value, Fault> {
    match value {
        Value::Text(text) | Value::Date(text) => visitor.visit_borrowed_str(text),
        _ => Err(serde::de::Error::invalid_type(Unexpected::Other(value.word()), &visitor)),
    }
}

fn visit_flag<'n, V: Visitor<'n>>(visitor: V, value: &'n Value) -> Result<V::Value, Fault> {
    visitor.visit_bool(matches!(value, Value::Flag(true)))
}

fn visit_list<'n, V: Visitor<'n>>(visitor: V, value: &'n Value) -> Result<V::Value, Fault> {
    let Value::List(list) = value else { return visitor.visit_unit() };
    visitor.visit_seq(List(list.iter()))
}

fn visit_table<'n, V: Visitor<'n>>(visitor: V, value: &'n Value) -> Result<V::Value, Fault> {
    let Value::Table(table) = value else { return visitor.visit_unit() };
    visitor.visit_map(Entries::new(table))
}

impl<'de> Deserializer<'de> for Reader<'de> {
    type Error = Fault;

    demand! {
        deserialize_str => Value::Text(_) => visit_text, "a text";
        deserialize_string => Value::Text(_) => visit_text, "a text";
        deserialize_char => Value::Text(_) => visit_text, "a text";
        deserialize_bool => Value::Flag(_) => visit_flag, "true or false";
        deserialize_u8 => Value::Integer(_) => visit_number, "a whole number";
        deserialize_u16 => Value::Integer(_) => visit_number, "a whole number";
        deserialize_u32 => Value::Integer(_) => visit_number, "a whole number";
        deserialize_u64 => Value::Integer(_) => visit_number, "a whole number";
        deserialize_i8 => Value::Integer(_) => visit_number, "a whole number";
        deserialize_i16 => Value::Integer(_) => visit_number, "a whole number";
        deserialize_i32 => Value::Integer(_) => visit_number, "a whole number";
        deserialize_i64 => Value::Integer(_) => visit_number, "a whole number";
        deserialize_f32 => Value::Integer(_) | Value::Float(_) => visit_number, "a number";
        deserialize_f64 => Value::Integer(_) | Value::Float(_) => visit_number, "a number";
        deserialize_seq => Value::List(_) => visit_list, "a list";
        deserialize_map => Value::Table(_) => visit_table, "a table";
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let result = match &self.0.value {
            Value::Text(_) | Value::Date(_) => visit_text(visitor, &self.0.value),
            Value::Integer(_) | Value::Float(_) => visit_number(visitor, &self.0.value),
            Value::Flag(_) => visit_flag(visitor, &self.0.value),
            Value::List(_) => visit_list(visitor, &self.0.value),
            Value::Table(_) => visit_table(visitor, &self.0.value),
        };
        result.map_err(|fault| fault.within(self.0.mark))
    }

    /// What is written is there; what is absent never comes here.
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self).map_err(|fault: Fault| fault.within(self.0.mark))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        if name == LOCATED {
            return visitor.visit_seq(LocatedParts { node: self.0, next: 0 });
        }
        let Value::Table(table) = &self.0.value else { return Err(self.expected("a table")) };
        refuse_unknown(table, fields)?;
        visitor.visit_map(Entries::new(table)).map_err(|fault: Fault| fault.within(self.0.mark))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let Value::Text(text) = &self.0.value else { return Err(self.expected("a text")) };
        if !variants.contains(&text.as_str()) {
            let fault = Fault::new(ErrorKind::WrongValue, self.0.mark, format!("unknown value \"{text}\""));
            return Err(fault.hint(suggest(text, variants.iter().copied())));
        }
        visitor.visit_enum(Choice(text))
    }

    forward_to_deserialize_any! {
        bytes byte_buf unit unit_struct tuple tuple_struct identifier ignored_any
    }
}

/// Refuses the first key that is not among the fields.
pub(crate) fn refuse_unknown(table: &Table, fields: &[&str]) -> Result<(), Fault> {
    let Some((key, _)) = table.0.iter().find(|(key, _)| !fields.contains(&key.name.as_str())) else {
        return Ok(());
    };
    let fault = Fault::new(ErrorKind::UnknownKey, key.mark, format!("unknown key \"{}\"", key.name));
    Err(fault.hint(suggest(&key.name, fields.iter().copied())))
}

struct List<'n>(std::slice::Iter<'n, Node>);

impl<'n> SeqAccess<'n> for List<'n> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'n>>(&mut self, seed: T) -> Result<Option<T::Value>, Fault> {
        self.0.next().map(|node| seed.deserialize(Reader(node))).transpose()
    }
}

struct Entries<'n> {
    rest: std::slice::Iter<'n, (Key, Node)>,
    value: Option<&'n Node>,
}

impl<'n> Entries<'n> {
    fn new(table: &'n Table) -> Entries<'n> {
        Entries { rest: table.0.iter(), value: None }
    }
}

impl<'n> MapAccess<'n> for Entries<'n> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'n>>(&mut self, seed: K) -> Result<Option<K::Value>, Fault> {
        let Some((key, node)) = self.rest.next() else { return Ok(None) };
        self.value = Some(node);
        let name: StrDeserializer<'n, Fault> = key.name.as_str().into_deserializer();
        seed.deserialize(name).map(Some).map_err(|fault| fault.within(key.mark))
    }

    fn next_value_seed<T: DeserializeSeed<'n>>(&mut self, seed: T) -> Result<T::Value, Fault> {
        match self.value.take() {
            Some(node) => seed.deserialize(Reader(node)),
            None => Err(serde::de::Error::custom("a value was asked for before its key")),
        }
    }
}

/// A word that is one of a choice.
struct Choice<'n>(&'n str);

impl<'n> EnumAccess<'n> for Choice<'n> {
    type Error = Fault;
    type Variant = Choice<'n>;

    fn variant_seed<T: DeserializeSeed<'n>>(self, seed: T) -> Result<(T::Value, Choice<'n>), Fault> {
        let word: StrDeserializer<'n, Fault> = self.0.into_deserializer();
        Ok((seed.deserialize(word)?, self))
    }
}

impl<'n> VariantAccess<'n> for Choice<'n> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'n>>(self, _seed: T) -> Result<T::Value, Fault> {
        Err(serde::de::Error::custom("a choice is one word"))
    }

    fn tuple_variant<V: Visitor<'n>>(self, _length: usize, _visitor: V) -> Result<V::Value, Fault> {
        Err(serde::de::Error::custom("a choice is one word"))
    }

    fn struct_variant<V: Visitor<'n>>(
        self,
        _fields: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value, Fault> {
        Err(serde::de::Error::custom("a choice is one word"))
    }
}

/// The numbers of a mark, then the value.
struct LocatedParts<'n> {
    node: &'n Node,
    next: usize,
}

impl<'n> SeqAccess<'n> for LocatedParts<'n> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'n>>(&mut self, seed: T) -> Result<Option<T::Value>, Fault> {
        let mark = self.node.mark;
        let number = |number: usize| -> UsizeDeserializer<Fault> { number.into_deserializer() };
        self.next += 1;
        match self.next {
            1 => seed.deserialize(number(mark.source)).map(Some),
            2 => seed.deserialize(number(mark.start)).map(Some),
            3 => seed.deserialize(number(mark.end)).map(Some),
            4 => seed.deserialize(Reader(self.node)).map(Some),
            _ => Ok(None),
        }
    }
}
