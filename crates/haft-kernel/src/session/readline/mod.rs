//! Keymaps and variables of readline: what `bind` and inputrc files set.

mod functions;
mod keys;
mod parse;
mod variables;

use std::collections::BTreeMap;

use haft_text::Bytes;

pub(crate) use functions::{FUNCTIONS, main_name, named};
pub(crate) use keys::{translate, written};
pub(crate) use parse::closing_quote;
use variables::ReadlineVariables;

/// The action of a key sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyBinding {
    /// It calls this function of readline.
    Function(&'static str),
    /// It stands for these keys.
    Macro(Bytes),
    /// It runs this shell command: `bind -x`.
    Command(Bytes),
}

/// The keymaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeymapKind {
    Emacs,
    ViInsert,
    ViCommand,
}

/// A keymap, or the part of one that follows a prefix key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeymapName {
    pub(crate) kind: KeymapKind,
    pub(crate) prefix: &'static [u8],
}

impl KeymapName {
    /// The keymap of this name.
    pub(crate) fn named(name: &[u8]) -> Option<Self> {
        let (kind, prefix): (_, &[u8]) = match name.to_ascii_lowercase().as_slice() {
            b"emacs" | b"emacs-standard" => (KeymapKind::Emacs, b""),
            b"emacs-meta" => (KeymapKind::Emacs, b"\x1b"),
            b"emacs-ctlx" => (KeymapKind::Emacs, b"\x18"),
            b"vi" | b"vi-move" | b"vi-command" => (KeymapKind::ViCommand, b""),
            b"vi-insert" => (KeymapKind::ViInsert, b""),
            _ => return None,
        };
        Some(Self { kind, prefix })
    }

    fn text(self) -> &'static str {
        match (self.kind, self.prefix) {
            (KeymapKind::Emacs, b"\x1b") => "emacs-meta",
            (KeymapKind::Emacs, b"\x18") => "emacs-ctlx",
            (KeymapKind::Emacs, _) => "emacs",
            (KeymapKind::ViInsert, _) => "vi-insert",
            (KeymapKind::ViCommand, _) => "vi",
        }
    }
}

type Keymap = BTreeMap<Vec<u8>, KeyBinding>;

/// The keymaps and variables of readline.
#[derive(Clone, Debug)]
pub(crate) struct ReadlineState {
    keymaps: [Keymap; 3],
    pub(crate) variables: ReadlineVariables,
    /// The keymap that bindings go to.
    pub(crate) current: KeymapName,
    /// Whether the conditions of the enclosing `$if` directives hold, the outermost first.
    conditions: Vec<bool>,
    /// The value of `TERM`, for `$if`.
    terminal: Bytes,
}

impl ReadlineState {
    /// The default bindings.
    pub(crate) fn new(is_utf8: bool, terminal: &Bytes) -> Self {
        let is_dumb = terminal.is_empty() || &**terminal == b"dumb";
        Self {
            keymaps: [KeymapKind::Emacs, KeymapKind::ViInsert, KeymapKind::ViCommand].map(default_keymap),
            variables: ReadlineVariables::new(is_utf8, is_dumb),
            current: KeymapName { kind: KeymapKind::Emacs, prefix: b"" },
            conditions: Vec::new(),
            terminal: terminal.clone(),
        }
    }

    fn keymap(&self) -> &Keymap {
        &self.keymaps[self.current.kind as usize]
    }

    /// The bindings of the current keymap. A sequence that begins another one is written with `\000` at its end and comes after it.
    pub(crate) fn bindings(&self) -> Vec<(Vec<u8>, &KeyBinding)> {
        let prefix = self.current.prefix;
        let inside =
            self.keymap().iter().filter(|(keys, _)| keys.starts_with(prefix) && keys.len() > prefix.len());
        let inside: Vec<_> = inside.collect();
        let begins_another =
            |index: usize| inside.get(index + 1).is_some_and(|(next, _)| next.starts_with(inside[index].0));
        let mut found: Vec<(Vec<u16>, Vec<u8>, &KeyBinding)> = Vec::new();
        for (index, (keys, binding)) in inside.iter().enumerate() {
            let mut order: Vec<u16> = keys.iter().map(|key| u16::from(*key)).collect();
            let mut text = written(&keys[prefix.len()..]);
            if begins_another(index) {
                order.push(u16::MAX);
                text.extend_from_slice(b"\\000");
            }
            found.push((order, text, binding));
        }
        found.sort_by(|left, right| left.0.cmp(&right.0));
        found.into_iter().map(|(_, text, binding)| (text, binding)).collect()
    }

    /// The key sequences that call a function in the current keymap, as text.
    pub(crate) fn sequences(&self, function: &'static str) -> Vec<Vec<u8>> {
        let wanted = KeyBinding::Function(main_name(function));
        self.bindings().into_iter().filter(|(_, binding)| **binding == wanted).map(|(text, _)| text).collect()
    }

    /// Binds a key sequence in the current keymap, or removes its binding.
    pub(crate) fn bind(&mut self, keys: &[u8], binding: Option<KeyBinding>) {
        let full = [self.current.prefix, keys].concat();
        let keymap = &mut self.keymaps[self.current.kind as usize];
        match binding {
            Some(binding) => drop(keymap.insert(full, binding)),
            None => drop(keymap.remove(&full)),
        }
    }

    /// Removes the bindings of a function in the current keymap.
    pub(crate) fn unbind_function(&mut self, function: &'static str) {
        let unwanted = KeyBinding::Function(main_name(function));
        let prefix = self.current.prefix;
        let keymap = &mut self.keymaps[self.current.kind as usize];
        keymap.retain(|keys, binding| !keys.starts_with(prefix) || *binding != unwanted);
    }

    /// The bindings of a keymap that differ from the default ones; `None` for keys whose default binding was removed.
    pub(crate) fn changes(&self, kind: KeymapKind) -> Vec<(Vec<u8>, Option<KeyBinding>)> {
        let (now, before) = (&self.keymaps[kind as usize], default_keymap(kind));
        let changed = now.iter().filter(|(keys, binding)| before.get(*keys) != Some(*binding));
        let changed = changed.map(|(keys, binding)| (keys.clone(), Some(binding.clone())));
        let removed = before.keys().filter(|keys| !now.contains_key(*keys)).map(|keys| (keys.clone(), None));
        changed.chain(removed).collect()
    }
}

fn default_keymap(kind: KeymapKind) -> Keymap {
    let mut keymap = Keymap::new();
    let self_insert = KeyBinding::Function("self-insert");
    match kind {
        KeymapKind::Emacs => {
            let lower = KeyBinding::Function("do-lowercase-version");
            for letter in b'A'..=b'Z' {
                keymap.insert(vec![0x18, letter], lower.clone());
                if letter != b'O' {
                    keymap.insert(vec![0x1b, letter], lower.clone());
                }
            }
            keymap.extend(
                (b' '..=u8::MAX).filter(|key| *key != 0x7f).map(|key| (vec![key], self_insert.clone())),
            );
        }
        KeymapKind::ViInsert => {
            let inserted = (1..=u8::MAX).filter(|key| *key != 0x1b);
            keymap.extend(inserted.map(|key| (vec![key], self_insert.clone())));
        }
        KeymapKind::ViCommand => {}
    }
    let text = match kind {
        KeymapKind::Emacs => include_str!("emacs.inputrc"),
        KeymapKind::ViInsert => include_str!("vi-insert.inputrc"),
        KeymapKind::ViCommand => include_str!("vi-command.inputrc"),
    };
    for line in text.lines() {
        if let Some((keys, name)) = line.strip_prefix('"').and_then(|line| line.rsplit_once("\": "))
            && let Some(function) = named(name.as_bytes())
        {
            let keys = keys.strip_suffix("\\000").unwrap_or(keys);
            keymap.insert(translate(keys.as_bytes(), false), KeyBinding::Function(main_name(function)));
        }
    }
    keymap
}
