//! The streaming form of JSON text: a path and a leaf at a time.

use super::reader::Problem;
use super::value::Value;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum LastSeen {
    #[default]
    Nothing,
    OpenArray,
    OpenObject,
    Colon,
    Comma,
    Value,
}

/// The state of a streaming parser: the path, and the output that is due.
#[derive(Debug, Default)]
pub(super) struct StreamState {
    path: Vec<Value>,
    last: LastSeen,
    output: Option<Value>,
    /// The path of a closing event that follows the output.
    closing: Option<Value>,
}

impl StreamState {
    pub(super) fn depth(&self) -> usize {
        self.path.len()
    }

    pub(super) fn path(&self) -> Value {
        self.path.clone().into()
    }

    /// An event for a leaf.
    pub(super) fn leaf(&self, value: Value) -> Value {
        vec![self.path(), value].into()
    }

    pub(super) fn has_value(&self) -> bool {
        self.last == LastSeen::Value
    }

    /// Notes that a value was read.
    pub(super) fn saw_value(&mut self) {
        self.last = if self.path.is_empty() { LastSeen::Nothing } else { LastSeen::Value };
    }

    /// The next event that is due.
    pub(super) fn take_output(&mut self) -> Option<Value> {
        self.output.take().or_else(|| self.closing.take())
    }

    fn in_array(&self) -> bool {
        self.path.last().is_some_and(|key| key.as_number().is_some())
    }

    /// Reads a character of the structure.
    pub(super) fn structure(&mut self, byte: u8, next: &mut Option<Value>) -> Result<(), Problem> {
        match byte {
            b'[' => self.open_array(next),
            b'{' => self.open_object(),
            b':' => self.colon(next),
            b',' => self.comma(next),
            b']' => self.close_array(next),
            _ => self.close_object(next),
        }
    }

    fn open_array(&mut self, next: &Option<Value>) -> Result<(), Problem> {
        if next.is_some() {
            return Err("Expected a separator between values");
        }
        if self.last == LastSeen::OpenObject {
            return Err("Expected string key after '{', not '['");
        }
        if self.last == LastSeen::Comma && !self.in_array() {
            return Err("Expected string key after ',' in object, not '['");
        }
        self.path.push(Value::Number(0.0));
        self.last = LastSeen::OpenArray;
        Ok(())
    }

    fn open_object(&mut self) -> Result<(), Problem> {
        match self.last {
            LastSeen::Value => return Err("Expected a separator between values"),
            LastSeen::OpenObject => return Err("Expected string key after '{', not '{'"),
            LastSeen::Comma if !self.in_array() => {
                return Err("Expected string key after ',' in object, not '{'");
            }
            _ => {}
        }
        self.path.push(Value::Null);
        self.last = LastSeen::OpenObject;
        Ok(())
    }

    fn colon(&mut self, next: &mut Option<Value>) -> Result<(), Problem> {
        if self.path.is_empty() || self.in_array() {
            return Err("':' not as part of an object");
        }
        if self.last == LastSeen::Nothing || next.is_none() {
            return Err("Expected string key before ':'");
        }
        if next.as_ref().and_then(Value::as_text).is_none() {
            return Err("Object keys must be strings");
        }
        if self.last != LastSeen::Value {
            return Err("':' should follow a key");
        }
        self.last = LastSeen::Colon;
        if let (Some(slot), Some(name)) = (self.path.last_mut(), next.take()) {
            *slot = name;
        }
        Ok(())
    }

    fn comma(&mut self, next: &mut Option<Value>) -> Result<(), Problem> {
        if self.last != LastSeen::Value {
            return Err("Expected value before ','");
        }
        let following = match self.path.last() {
            None => return Err("',' not as part of an object or array"),
            Some(Value::String(_)) => Value::Null,
            Some(Value::Null) => return Err("Objects must consist of key:value pairs"),
            Some(index) => Value::Number(index.as_number().unwrap_or_default() + 1.0),
        };
        if let Some(value) = next.take() {
            self.output = Some(self.leaf(value));
        }
        if let Some(slot) = self.path.last_mut() {
            *slot = following;
        }
        self.last = LastSeen::Comma;
        Ok(())
    }

    fn close_array(&mut self, next: &mut Option<Value>) -> Result<(), Problem> {
        if self.path.is_empty() {
            return Err("Unmatched ']' at the top-level");
        }
        if self.last == LastSeen::Comma {
            return Err("Expected another array element");
        }
        if !self.in_array() {
            return Err("Unmatched ']' in the middle of an object");
        }
        self.close(next, LastSeen::OpenArray, Vec::new().into());
        Ok(())
    }

    fn close_object(&mut self, next: &mut Option<Value>) -> Result<(), Problem> {
        if self.path.is_empty() {
            return Err("Unmatched '}' at the top-level");
        }
        if self.last == LastSeen::Comma {
            return Err("Expected another key:value pair");
        }
        if self.in_array() {
            return Err("Unmatched '}' in the middle of an array");
        }
        if next.is_some() {
            if !matches!(self.path.last(), Some(Value::String(_))) {
                return Err("Objects must consist of key:value pairs");
            }
        } else {
            match self.last {
                LastSeen::Colon => return Err("Missing value in key:value pair"),
                LastSeen::OpenArray => return Err("Unmatched '}' in the middle of an array"),
                LastSeen::Value | LastSeen::OpenObject => {}
                _ => return Err("Unmatched '}'"),
            }
        }
        self.close(next, LastSeen::OpenObject, super::value::Fields::default().into());
        Ok(())
    }

    /// Closes a container. An empty one is a leaf; otherwise its last path is repeated without a value.
    fn close(&mut self, next: &mut Option<Value>, opening: LastSeen, empty: Value) {
        if let Some(value) = next.take() {
            self.output = Some(self.leaf(value));
            self.closing = Some(vec![self.path()].into());
        } else if self.last != opening {
            self.output = Some(vec![self.path()].into());
        }
        self.path.pop();
        if self.last == opening {
            self.output = Some(self.leaf(empty));
        }
        self.last = if self.path.is_empty() { LastSeen::Nothing } else { LastSeen::Value };
    }
}
