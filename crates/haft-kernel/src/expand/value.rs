//! Expansion of JSON words to values.

use haft_lang::ast::{Json, JsonWord};
use haft_text::Bytes;
use serde_json::{Map, Number, Value};

use crate::flow::Unwind;
use crate::session::Session;

impl Session {
    /// Expands a JSON word to its value, and to a word that shows the value. There, numbers are as they were written.
    pub(crate) fn expand_json(&mut self, word: &JsonWord) -> Result<(Bytes, Value), Unwind> {
        let mut shown = format!("{}=", word.name);
        let value = self.expand_json_value(&word.value, &word.name, &mut shown)?;
        Ok((shown.into(), value))
    }

    /// Expands a value, and appends it to `shown` as JSON.
    fn expand_json_value(&mut self, json: &Json, name: &[u8], shown: &mut String) -> Result<Value, Unwind> {
        let value = match json {
            Json::Array(items) => return self.expand_json_array(items, name, shown),
            Json::Object(members) => return self.expand_json_object(members, name, shown),
            Json::Number(text) => {
                shown.push_str(&String::from_utf8_lossy(text));
                return match serde_json::from_slice::<Number>(text) {
                    Ok(number) => Ok(Value::Number(number)),
                    Err(_) => Err(self.bad_json(name, "a number is out of range")),
                };
            }
            Json::Null => Value::Null,
            Json::Bool(value) => Value::Bool(*value),
            Json::String(_) | Json::Template(_) => Value::String(self.expand_json_text(json, name)?),
        };
        shown.push_str(&value.to_string());
        Ok(value)
    }

    fn expand_json_array(
        &mut self,
        items: &[Json],
        name: &[u8],
        shown: &mut String,
    ) -> Result<Value, Unwind> {
        let mut values = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            shown.push(if index == 0 { '[' } else { ',' });
            values.push(self.expand_json_value(item, name, shown)?);
        }
        shown.push_str(if items.is_empty() { "[]" } else { "]" });
        Ok(Value::Array(values))
    }

    fn expand_json_object(
        &mut self,
        members: &[(Json, Json)],
        name: &[u8],
        shown: &mut String,
    ) -> Result<Value, Unwind> {
        let mut fields = Map::with_capacity(members.len());
        for (index, (key, value)) in members.iter().enumerate() {
            let key = self.expand_json_text(key, name)?;
            shown.push(if index == 0 { '{' } else { ',' });
            shown.push_str(&format!("{}:", Value::from(key.as_str())));
            fields.insert(key, self.expand_json_value(value, name, shown)?);
        }
        shown.push_str(if members.is_empty() { "{}" } else { "}" });
        Ok(Value::Object(fields))
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
