//! Lines of inputrc files, which are also the arguments of `bind`.

use haft_text::Bytes;

use super::{KeyBinding, KeymapKind, KeymapName, ReadlineState, keys, main_name, named};

/// A line that readline complains about, with its message.
pub(crate) type LineResult = Result<(), String>;

impl ReadlineState {
    /// Executes a line: a binding, `set`, or a directive such as `$if`.
    ///
    /// # Errors
    /// Returns the message for an invalid line.
    pub(crate) fn execute_line(&mut self, line: &[u8]) -> LineResult {
        let line = line.trim_ascii_start();
        if let Some(directive) = line.strip_prefix(b"$") {
            return self.directive(directive);
        }
        if line.is_empty() || line.starts_with(b"#") || self.conditions.contains(&false) {
            return Ok(());
        }
        let is_set = line.len() >= 3
            && line[..3].eq_ignore_ascii_case(b"set")
            && line.get(3).is_none_or(|next| next.is_ascii_whitespace());
        match is_set {
            true => self.set_variable(line[3..].trim_ascii_start()),
            false => self.bind_line(line),
        }
    }

    fn set_variable(&mut self, text: &[u8]) -> LineResult {
        let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
        let (name, value) = text.split_at(end);
        let value = value.trim_ascii();
        let quoted = value.strip_prefix(b"\"").map(|value| value.strip_suffix(b"\"").unwrap_or(value));
        let value = quoted.unwrap_or(value);
        match name.to_ascii_lowercase().as_slice() {
            b"keymap" => {
                self.current = KeymapName::named(value).unwrap_or(self.current);
                self.variables.set(name, self.current.text().as_bytes());
            }
            b"editing-mode" => self.set_editing_mode(value.eq_ignore_ascii_case(b"vi")),
            _ if !self.variables.set(name, value) => {
                return Err(format!("{}: unknown variable name", String::from_utf8_lossy(name)));
            }
            _ => {}
        }
        Ok(())
    }

    /// Selects the editing mode and its keymap.
    pub(crate) fn set_editing_mode(&mut self, is_vi: bool) {
        let kind = if is_vi { KeymapKind::ViInsert } else { KeymapKind::Emacs };
        self.current = KeymapName { kind, prefix: b"" };
        self.variables.set(b"editing-mode", if is_vi { b"vi" } else { b"emacs" });
        self.variables.set(b"keymap", self.current.text().as_bytes());
    }

    fn bind_line(&mut self, line: &[u8]) -> LineResult {
        let shown = || String::from_utf8_lossy(line).into_owned();
        let convert = self.variables.is_on("convert-meta");
        let (keys, rest) = match line.strip_prefix(b"\"") {
            Some(quoted) => {
                let Some(end) = closing_quote(quoted) else {
                    return Err(format!("{}: no closing `\"' in key binding", shown()));
                };
                (keys::translate(&quoted[..end], convert), &quoted[end + 1..])
            }
            None => {
                let end = line.iter().position(|byte| b": \t".contains(byte)).unwrap_or(line.len());
                (keys::translate_name(&line[..end], convert), &line[end..])
            }
        };
        if rest.is_empty() {
            return Err(format!("{}: no key sequence terminator", shown()));
        }
        let start = rest.iter().position(|byte| !b": \t".contains(byte)).unwrap_or(rest.len());
        let binding = binding_of(&rest[start..]);
        self.bind(&keys, binding);
        Ok(())
    }

    fn directive(&mut self, text: &[u8]) -> LineResult {
        let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
        let (name, argument) = (&text[..end], text[end..].trim_ascii());
        match name.to_ascii_lowercase().as_slice() {
            b"if" => {
                let holds = self.holds(argument);
                self.conditions.push(holds);
            }
            b"else" => match self.conditions.last_mut() {
                Some(last) => *last = !*last,
                None => return Err("$else found without matching $if".to_owned()),
            },
            b"endif" if self.conditions.pop().is_none() => {
                return Err("$endif without matching $if".to_owned());
            }
            b"endif" | b"include" => {}
            _ => return Err(format!("{}: unknown parser directive", String::from_utf8_lossy(name))),
        }
        Ok(())
    }

    /// Whether the condition of `$if` holds.
    fn holds(&self, condition: &[u8]) -> bool {
        let lower = condition.to_ascii_lowercase();
        if let Some(terminal) = condition.strip_prefix(b"term=") {
            let family = self.terminal.split(|byte| *byte == b'-').next().unwrap_or_default();
            return terminal == &*self.terminal || terminal == family;
        }
        match lower.strip_prefix(b"mode=") {
            Some(mode) => mode == &**self.variables.get("editing-mode"),
            None => lower == b"bash",
        }
    }
}

/// The position of the quote that ends a key sequence.
pub(crate) fn closing_quote(text: &[u8]) -> Option<usize> {
    let mut is_escaped = false;
    text.iter().position(|byte| {
        let ends = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        ends
    })
}

/// The function or macro that a text names; `None` for an unknown function.
fn binding_of(text: &[u8]) -> Option<KeyBinding> {
    if let Some(quote @ (b'"' | b'\'')) = text.first() {
        let inner = &text[1..];
        let end = match quote {
            b'"' => closing_quote(inner),
            quote => inner.iter().position(|byte| byte == quote),
        };
        let keys = keys::translate(&inner[..end.unwrap_or(inner.len())], false);
        return Some(KeyBinding::Macro(Bytes::from(keys)));
    }
    let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
    named(&text[..end]).map(|function| KeyBinding::Function(main_name(function)))
}
