//! The effect of each key.

use super::keys::EditorKey;
use super::vi::ViEffect;
use super::{CompletionMenu, EditResult, Editor, HistorySearch, KeyEffect, terminal};

impl Editor<'_> {
    pub(super) fn press(&mut self, key: EditorKey) -> KeyEffect {
        match key {
            EditorKey::Gone => return KeyEffect::Done(EditResult::Gone),
            EditorKey::Resized | EditorKey::Replayed => return KeyEffect::Draw,
            EditorKey::Run(command) => return self.run_command(&command),
            _ => {}
        }
        if self.search.is_some() && self.press_in_search(&key) {
            return KeyEffect::Draw;
        }
        if self.bindings.is_vi
            && let Some(effect) = self.press_in_vi(&key)
        {
            return effect;
        }
        let completing = matches!(key, EditorKey::Tab | EditorKey::BackTab);
        if !completing && self.menu.take().is_some() && key == EditorKey::Control('g') {
            return KeyEffect::Draw;
        }
        if key != EditorKey::Alt('.') {
            self.recalled = None;
        }
        self.act(key)
    }

    /// Handles a key of the vi mode. Returns `None` if it has its usual effect.
    fn press_in_vi(&mut self, key: &EditorKey) -> Option<KeyEffect> {
        match key {
            _ if self.vi.is_command => {}
            EditorKey::Control('[') => {
                self.menu = None;
                self.vi.enter_command_mode(&mut self.buffer);
                return Some(KeyEffect::Draw);
            }
            // An escape and a command in quick succession.
            EditorKey::Alt(character) => {
                self.vi.enter_command_mode(&mut self.buffer);
                return self.press_in_vi(&EditorKey::Character(*character));
            }
            _ => return None,
        }
        match self.vi.press(key, &mut self.buffer) {
            ViEffect::Done => {}
            ViEffect::Bell => self.ring_bell(),
            ViEffect::Key(key) => return Some(self.act(key)),
        }
        Some(KeyEffect::Draw)
    }

    /// Runs a shell command on the terminal's own settings, and takes over the text that it leaves.
    fn run_command(&mut self, command: &str) -> KeyEffect {
        terminal::write(self.output, "\r\x1b[J");
        self.screen.forget();
        let (assistant, buffer) = (self.assistant, &self.buffer);
        let run = || assistant.run_command(command, buffer.text(), buffer.cursor());
        let (text, cursor) = match &self.raw {
            Some(raw) => raw.suspended(run),
            None => run(),
        };
        if text != self.buffer.text() {
            self.buffer.set(text);
        }
        self.buffer.move_to(cursor);
        KeyEffect::Draw
    }

    fn act(&mut self, key: EditorKey) -> KeyEffect {
        match key {
            EditorKey::Enter => return self.enter(),
            EditorKey::Control('c') => return KeyEffect::Done(EditResult::Interrupted),
            EditorKey::Control('d') if self.buffer.text().is_empty() => {
                return KeyEffect::Done(EditResult::End);
            }
            EditorKey::Control('d') | EditorKey::Delete => {
                let (start, end) = (self.buffer.cursor(), self.buffer.right());
                self.buffer.remove(start, end);
            }
            EditorKey::Control('l') => {
                terminal::write(self.output, "\x1b[H\x1b[2J");
                self.screen.forget();
            }
            EditorKey::Control('r') => {
                self.search = Some(HistorySearch::new(self.buffer.text().to_owned(), self.history.len()));
            }
            EditorKey::Tab => self.complete(false),
            EditorKey::BackTab => self.complete(true),
            EditorKey::Up | EditorKey::Control('p') => self.up(),
            EditorKey::Down | EditorKey::Control('n') => self.down(),
            EditorKey::Alt('.') => self.recall_argument(),
            EditorKey::Alt('<') => self.show_entry(0),
            EditorKey::Alt('>') => self.show_entry(self.history.len()),
            EditorKey::PrefixUp => self.search_prefix(true),
            EditorKey::PrefixDown => self.search_prefix(false),
            key => self.edit_by(key),
        }
        KeyEffect::Draw
    }

    fn edit_by(&mut self, key: EditorKey) {
        let buffer = &mut self.buffer;
        let cursor = buffer.cursor();
        match key {
            EditorKey::Character(character) => buffer.type_character(character),
            EditorKey::Paste(text) => buffer.insert(&text),
            EditorKey::AltEnter => buffer.insert("\n"),
            EditorKey::Backspace => {
                buffer.remove(buffer.left(), cursor);
            }
            EditorKey::Left | EditorKey::Control('b') => buffer.move_to(buffer.left()),
            EditorKey::Right | EditorKey::Control('f') => buffer.move_to(buffer.right()),
            EditorKey::Home | EditorKey::Control('a') => buffer.move_to(buffer.line_start()),
            EditorKey::End | EditorKey::Control('e') => buffer.move_to(buffer.line_end()),
            EditorKey::WordLeft | EditorKey::Alt('b') => buffer.move_to(buffer.word_left()),
            EditorKey::WordRight | EditorKey::Alt('f') => buffer.move_to(buffer.word_right()),
            EditorKey::Control('k') => buffer.cut(cursor, buffer.line_end()),
            EditorKey::Control('u') => buffer.cut(buffer.line_start(), cursor),
            EditorKey::Control('w') => buffer.cut(buffer.blank_left(), cursor),
            EditorKey::AltBackspace => buffer.cut(buffer.word_left(), cursor),
            EditorKey::DeleteWord | EditorKey::Alt('d') => buffer.cut(cursor, buffer.word_right()),
            EditorKey::DeleteLine => buffer.cut(buffer.line_start(), buffer.line_end()),
            EditorKey::Control('y') => buffer.paste_cut(),
            EditorKey::Control('t') => buffer.transpose(),
            EditorKey::Control('_') => {
                buffer.undo();
            }
            _ => {}
        }
    }

    fn enter(&mut self) -> KeyEffect {
        if !self.assistant.is_complete(self.buffer.text()) {
            // In the middle of the text, Enter splits the line.
            self.buffer.insert("\n");
            return KeyEffect::Draw;
        }
        KeyEffect::Done(EditResult::Text(self.buffer.text().to_owned()))
    }

    fn up(&mut self) {
        if !self.buffer.line_up() {
            match self.entry.checked_sub(1) {
                Some(entry) => self.show_entry(entry),
                None => self.ring_bell(),
            }
        }
    }

    fn down(&mut self) {
        if !self.buffer.line_down() && self.entry < self.history.len() {
            self.show_entry(self.entry + 1);
        }
    }

    /// Shows an entry of the history, or the new text after the last entry.
    fn show_entry(&mut self, entry: usize) {
        if self.entry == self.history.len() {
            self.new = self.buffer.text().to_owned();
        }
        self.entry = entry;
        let text = self.history.get(entry).cloned().unwrap_or_else(|| self.new.clone());
        self.buffer.set(text);
    }

    /// Shows the next entry of the history, in a direction, that begins like the text before the cursor.
    fn search_prefix(&mut self, backward: bool) {
        let prefix = self.buffer.before_cursor().to_owned();
        let fits = |entry: &usize| {
            self.history
                .get(*entry)
                .is_some_and(|text| text.starts_with(&prefix) && text != self.buffer.text())
        };
        let found = match backward {
            true => (0..self.entry).rev().find(fits),
            false => (self.entry + 1..self.history.len()).find(fits),
        };
        match found {
            Some(entry) => {
                self.show_entry(entry);
                self.buffer.move_to(prefix.len());
            }
            None => self.ring_bell(),
        }
    }

    /// Alt-.: inserts the last argument of the previous entry; each further press goes back one entry.
    fn recall_argument(&mut self) {
        let (back, start) =
            self.recalled.map_or((0, self.buffer.cursor()), |(back, start)| (back + 1, start));
        let arguments = self.history.iter().rev().filter_map(|entry| entry.split_whitespace().next_back());
        match arguments.into_iter().nth(back) {
            Some(argument) => {
                self.buffer.replace_before(start, argument);
                self.recalled = Some((back, start));
            }
            None => self.ring_bell(),
        }
    }

    /// Tab: inserts the common prefix of all candidates; then shows them, and cycles through them.
    fn complete(&mut self, backward: bool) {
        if let Some(menu) = &mut self.menu {
            let start = menu.completion.start;
            let candidate = menu.turn(backward);
            self.buffer.replace_before(start, &candidate.text);
            return;
        }
        let (assistant, buffer) = (self.assistant, &self.buffer);
        let complete = || assistant.complete(buffer.text(), buffer.cursor());
        // Completion functions run while Ctrl-C works.
        let completion = match &self.raw {
            Some(raw) => raw.with_signals(complete),
            None => complete(),
        };
        let start = completion.start;
        match completion.candidates.as_slice() {
            [] => self.ring_bell(),
            [only] => {
                let tail = if self.buffer.text()[self.buffer.cursor()..].starts_with(only.tail) {
                    ""
                } else {
                    only.tail
                };
                self.buffer.replace_before(start, &format!("{}{tail}", only.text));
            }
            _ => {
                let common = completion.common();
                if common.len() > self.buffer.cursor() - start {
                    self.buffer.replace_before(start, common);
                }
                self.menu = Some(CompletionMenu::new(completion));
            }
        }
    }

    /// Handles a key during a history search. Returns whether the key is used up.
    fn press_in_search(&mut self, key: &EditorKey) -> bool {
        let Some(mut search) = self.search.take() else { return false };
        let found = match key {
            EditorKey::Character(character) => {
                search.pattern.push(*character);
                search.backward(self.history, false)
            }
            EditorKey::Backspace => {
                search.pattern.pop();
                search.at = self.history.len();
                search.backward(self.history, false)
            }
            EditorKey::Control('r') => search.backward(self.history, true),
            EditorKey::Control('s') => search.forward(self.history),
            EditorKey::Control('g' | '[') => {
                self.buffer.set(search.before);
                return true;
            }
            // Any other key accepts the entry and then has its usual effect.
            _ => {
                self.entry = search.at.min(self.history.len());
                return false;
            }
        };
        if let Some(found) = found {
            let place = found.find(&search.pattern).unwrap_or(0);
            self.buffer.set(found);
            self.buffer.move_to(place);
        }
        self.search = Some(search);
        true
    }
}
