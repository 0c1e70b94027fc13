//! What the keys do.

use super::keys::Key;
use super::{Editor, Line, Menu, Search, Step, terminal};

impl Editor<'_> {
    pub(super) fn press(&mut self, key: Key) -> Step {
        match key {
            Key::Gone => return Step::Done(Line::Gone),
            Key::Resized => return Step::Draw,
            _ => {}
        }
        if self.search.is_some() && self.press_in_search(&key) {
            return Step::Draw;
        }
        let completing = matches!(key, Key::Tab | Key::BackTab);
        if !completing && self.menu.take().is_some() && key == Key::Control('g') {
            return Step::Draw;
        }
        if key != Key::Alt('.') {
            self.recalled = None;
        }
        self.act(key)
    }

    fn act(&mut self, key: Key) -> Step {
        match key {
            Key::Enter => return self.enter(),
            Key::Control('c') => return Step::Done(Line::Interrupted),
            Key::Control('d') if self.buffer.text().is_empty() => return Step::Done(Line::End),
            Key::Control('d') | Key::Delete => {
                let (start, end) = (self.buffer.cursor(), self.buffer.right());
                self.buffer.remove(start, end);
            }
            Key::Control('l') => {
                terminal::write(self.output, "\x1b[H\x1b[2J");
                self.screen.forget();
            }
            Key::Control('r') => {
                self.search = Some(Search::new(self.buffer.text().to_owned(), self.history.len()));
            }
            Key::Tab => self.complete(false),
            Key::BackTab => self.complete(true),
            Key::Up | Key::Control('p') => self.up(),
            Key::Down | Key::Control('n') => self.down(),
            Key::Alt('.') => self.recall_argument(),
            Key::Alt('<') => self.show_entry(0),
            Key::Alt('>') => self.show_entry(self.history.len()),
            key => self.edit_by(key),
        }
        Step::Draw
    }

    fn edit_by(&mut self, key: Key) {
        let buffer = &mut self.buffer;
        let cursor = buffer.cursor();
        match key {
            Key::Character(character) => buffer.type_character(character),
            Key::Paste(text) => buffer.insert(&text),
            Key::AltEnter => buffer.insert("\n"),
            Key::Backspace => {
                buffer.remove(buffer.left(), cursor);
            }
            Key::Left | Key::Control('b') => buffer.move_to(buffer.left()),
            Key::Right | Key::Control('f') => buffer.move_to(buffer.right()),
            Key::Home | Key::Control('a') => buffer.move_to(buffer.line_start()),
            Key::End | Key::Control('e') => buffer.move_to(buffer.line_end()),
            Key::WordLeft | Key::Alt('b') => buffer.move_to(buffer.word_left()),
            Key::WordRight | Key::Alt('f') => buffer.move_to(buffer.word_right()),
            Key::Control('k') => buffer.cut(cursor, buffer.line_end()),
            Key::Control('u') => buffer.cut(buffer.line_start(), cursor),
            Key::Control('w') => buffer.cut(buffer.blank_left(), cursor),
            Key::AltBackspace => buffer.cut(buffer.word_left(), cursor),
            Key::DeleteWord | Key::Alt('d') => buffer.cut(cursor, buffer.word_right()),
            Key::Control('y') => buffer.paste_cut(),
            Key::Control('t') => buffer.transpose(),
            Key::Control('_') => {
                buffer.undo();
            }
            _ => {}
        }
    }

    fn enter(&mut self) -> Step {
        if !self.assistant.is_complete(self.buffer.text()) {
            // A line that is broken off in the middle goes on; one that is edited in the middle is split there.
            self.buffer.insert("\n");
            return Step::Draw;
        }
        Step::Done(Line::Text(self.buffer.text().to_owned()))
    }

    fn up(&mut self) {
        if !self.buffer.line_up() {
            match self.entry.checked_sub(1) {
                Some(entry) => self.show_entry(entry),
                None => self.bell(),
            }
        }
    }

    fn down(&mut self) {
        if !self.buffer.line_down() && self.entry < self.history.len() {
            self.show_entry(self.entry + 1);
        }
    }

    /// Shows a text of the history, or behind the last the new one.
    fn show_entry(&mut self, entry: usize) {
        if self.entry == self.history.len() {
            self.new = self.buffer.text().to_owned();
        }
        self.entry = entry;
        let text = self.history.get(entry).cloned().unwrap_or_else(|| self.new.clone());
        self.buffer.set(text);
    }

    /// Alt-.: the last argument of the text before, and with every further press of one earlier.
    fn recall_argument(&mut self) {
        let (back, start) =
            self.recalled.map_or((0, self.buffer.cursor()), |(back, start)| (back + 1, start));
        let arguments = self.history.iter().rev().filter_map(|entry| entry.split_whitespace().next_back());
        match arguments.into_iter().nth(back) {
            Some(argument) => {
                self.buffer.replace_before(start, argument);
                self.recalled = Some((back, start));
            }
            None => self.bell(),
        }
    }

    /// Tab: puts in what is certain; if that is nothing, shows the choice, and then goes through it.
    fn complete(&mut self, backward: bool) {
        if let Some(menu) = &mut self.menu {
            let start = menu.completion.start;
            let candidate = menu.turn(backward);
            self.buffer.replace_before(start, &candidate.text);
            return;
        }
        let completion = self.assistant.complete(self.buffer.text(), self.buffer.cursor());
        let start = completion.start;
        match completion.candidates.as_slice() {
            [] => self.bell(),
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
                self.menu = Some(Menu::new(completion));
            }
        }
    }

    /// A key while Ctrl-R is searching; says whether that was all it did.
    fn press_in_search(&mut self, key: &Key) -> bool {
        let Some(mut search) = self.search.take() else { return false };
        let found = match key {
            Key::Character(character) => {
                search.pattern.push(*character);
                search.backward(self.history, false)
            }
            Key::Backspace => {
                search.pattern.pop();
                search.at = self.history.len();
                search.backward(self.history, false)
            }
            Key::Control('r') => search.backward(self.history, true),
            Key::Control('s') => search.forward(self.history),
            Key::Control('g' | '[') => {
                self.buffer.set(search.before);
                return true;
            }
            // Any other key takes the text that is shown, and does what it does.
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
