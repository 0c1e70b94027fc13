//! Expansion of JSON words to values.

use haft_lang::ast::{Json, JsonWord};
use haft_text::Bytes;
use serde_json::{Map, Number, Value};

use crate::flow::Unwind;
use crate::session::Session;

impl Session {
    /// Expands a JSON word to its value, and to a word that shows the value.
    pub(crate) fn expand_json(&mut self, word: &JsonWord) -> Result<(Bytes, Value), Unwind> {
        let value = self.expand_json_value(&word.value, &word.name)?;
        let shown = format!("{}={value}", word.name);
        Ok((shown.into(), value))
    }

    fn expand_json_value(&mut self, json: &Json, name: &[u8]) -> Result<Value, Unwind> {
        Ok(match json {
            Json::Null => Value::Null,
            Json::Bool(value) => Value::Bool(*value),
            Json::Number(text) => match serde_json::from_slice::<Number>(text) {
                Ok(number) => Value::Number(number),
                Err(_) => return Err(self.bad_json(name, "a number is out of range")),
            },
            Json::String(_) | Json::Template(_) => Value::String(self.expand_json_text(json, name)?),
            Json::Array(items) => {
                let items = items.iter().map(|item| self.expand_json_value(item, name));
                Value::Array(items.collect::<Result<_, _>>()?)
            }
            Json::Object(members) => {
                let mut map = Map::with_capacity(members.len());
                for (key, value) in members {
                    let key = self.expand_json_text(key, name)?;
                    map.insert(key, self.expand_json_value(value, name)?);
                }
                Value::Object(map)
            }
        })
    }

    /// Expands a string. Bytes that are not UTF-8 are an error, because JSON cannot represent them.
    fn expand_json_text(&mut self, json: &Json, name: &[u8]) -> Result<String, Unwind> {
        let bytes = match json {
            Json::String(text) => text.clone(),
            Json::Template(parts) => self.expand_quoted(parts)?,
            _ => Bytes::new(),
        };
        String::from_utf8(bytes.into_vec()).map_err(|_| self.bad_json(name, "a string is not UTF-8"))
    }

    fn bad_json(&mut self, name: &[u8], problem: &str) -> Unwind {
        self.report(format_args!("{}: {problem}", Bytes::from(name)));
        Unwind::Abort(1)
    }
}
