//! The command mode of vi.

use super::buffer::EditBuffer;
use super::keys::EditorKey;
use super::vi_text::{
    ahead, behind, big_class, class, column, find, first_print, following, matching_bracket, next_word,
    opposite, previous_word, put, replace, switch_case, word_end, word_run,
};

/// The editor's task after a key in command mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ViEffect {
    /// Nothing more.
    Done,
    /// It handles this key as in insertion mode.
    Key(EditorKey),
    /// It rings the bell.
    Bell,
}

/// The state of the vi mode.
#[derive(Clone, Debug, Default)]
pub(super) struct ViState {
    /// Whether keys are commands.
    pub(super) is_command: bool,
    /// The keys of a command that is not complete.
    pending: String,
    /// The last `f`, `F`, `t` or `T` with its character.
    last_find: Option<(char, char)>,
    /// The last command that changed the text, and the text that was inserted after it.
    last_change: String,
    /// The start of the text that the last change inserted.
    insertion: Option<usize>,
}

/// A command with its parts: `2d3w` has the count 6, the operator `d` and the motion `w`.
struct ViCommand {
    count: Option<usize>,
    operator: Option<char>,
    name: char,
    /// The character after `f`, `F`, `t`, `T` or `r`.
    argument: Option<char>,
}

/// The part of the text that a motion covers.
struct Motion {
    to: usize,
    /// Whether an operator also takes the character at the end.
    is_inclusive: bool,
}

impl ViState {
    /// Leaves insertion mode: the cursor moves left.
    pub(super) fn enter_command_mode(&mut self, buffer: &mut EditBuffer) {
        if let Some(start) = self.insertion.take()
            && let Some(inserted) = buffer.text().get(start..buffer.cursor())
        {
            self.last_change.push_str(inserted);
        }
        self.is_command = true;
        if buffer.cursor() > buffer.line_start() {
            buffer.move_to(buffer.left());
        }
    }

    /// Handles a key in command mode.
    pub(super) fn press(&mut self, key: &EditorKey, buffer: &mut EditBuffer) -> ViEffect {
        match key {
            EditorKey::Character(character) => {
                self.pending.push(*character);
                self.run_pending(buffer)
            }
            EditorKey::Control('[') => {
                let is_idle = self.pending.is_empty();
                self.pending.clear();
                if is_idle { ViEffect::Bell } else { ViEffect::Done }
            }
            EditorKey::Backspace => self.replace_pending("h", buffer),
            EditorKey::Home => self.replace_pending("0", buffer),
            EditorKey::End => self.replace_pending("$", buffer),
            EditorKey::Left => self.replace_pending("h", buffer),
            EditorKey::Right => self.replace_pending("l", buffer),
            key => {
                self.pending.clear();
                ViEffect::Key(key.clone())
            }
        }
    }

    fn replace_pending(&mut self, keys: &str, buffer: &mut EditBuffer) -> ViEffect {
        self.pending = keys.to_owned();
        self.run_pending(buffer)
    }

    fn run_pending(&mut self, buffer: &mut EditBuffer) -> ViEffect {
        let Some(command) = ViCommand::parse(&self.pending) else { return ViEffect::Done };
        let keys = std::mem::take(&mut self.pending);
        if command.name == '.' {
            return self.repeat(buffer);
        }
        let before = buffer.text().to_owned();
        let effect = self.run(&command, buffer);
        let inserts = !self.is_command && !matches!(effect, ViEffect::Key(_));
        if buffer.text() != before || inserts {
            self.last_change = keys;
            self.insertion = inserts.then(|| buffer.cursor());
        }
        self.stay_on_text(buffer);
        effect
    }

    /// In command mode the cursor is never after the last character of a line.
    fn stay_on_text(&self, buffer: &mut EditBuffer) {
        if self.is_command && buffer.cursor() > buffer.line_start() && buffer.cursor() == buffer.line_end() {
            buffer.move_to(buffer.left());
        }
    }

    /// `.`: repeats the last change, with the text that was inserted.
    fn repeat(&mut self, buffer: &mut EditBuffer) -> ViEffect {
        let keys = self.last_change.clone();
        let complete = keys.char_indices().map(|(at, c)| at + c.len_utf8());
        let end = complete.into_iter().find(|end| ViCommand::parse(&keys[..*end]).is_some());
        let Some(end) = end else { return ViEffect::Bell };
        let Some(command) = ViCommand::parse(&keys[..end]) else { return ViEffect::Bell };
        let effect = self.run(&command, buffer);
        if !self.is_command {
            buffer.insert(&keys[end..]);
            self.insertion = None;
            self.enter_command_mode(buffer);
        }
        self.stay_on_text(buffer);
        effect
    }

    fn run(&mut self, command: &ViCommand, buffer: &mut EditBuffer) -> ViEffect {
        match command.operator {
            Some(operator) => self.operate(operator, command, buffer),
            None => self.run_simple(command, buffer),
        }
    }

    fn operate(&mut self, operator: char, command: &ViCommand, buffer: &mut EditBuffer) -> ViEffect {
        let cursor = buffer.cursor();
        let (start, end) = if command.name == operator {
            (buffer.line_start(), buffer.line_end())
        } else {
            // `cw` changes to the end of the word.
            let count = command.count.unwrap_or(1);
            let to_end =
                |class| Motion { to: word_run(buffer.text(), cursor, class, count), is_inclusive: true };
            let motion = match (operator, command.name) {
                ('c', 'w') => Some(to_end(class)),
                ('c', 'W') => Some(to_end(big_class)),
                _ => self.motion(&ViCommand { operator: None, ..*command }, buffer),
            };
            let Some(motion) = motion else { return ViEffect::Bell };
            let (start, mut end) = (cursor.min(motion.to), cursor.max(motion.to));
            if motion.is_inclusive {
                end += following(&buffer.text()[end..]);
            }
            (start, end)
        };
        match operator {
            'y' => {
                buffer.copy(start, end);
                buffer.move_to(start);
            }
            _ => buffer.cut(start, end),
        }
        if operator == 'c' {
            buffer.move_to(start);
            self.is_command = false;
        }
        ViEffect::Done
    }

    fn run_simple(&mut self, command: &ViCommand, buffer: &mut EditBuffer) -> ViEffect {
        let count = command.count.unwrap_or(1);
        let cursor = buffer.cursor();
        match command.name {
            'i' | 'a' | 'I' | 'A' | 's' | 'S' | 'C' => self.start_insertion(command.name, count, buffer),
            'x' => buffer.cut(cursor, ahead(buffer, count)),
            'X' => buffer.cut(behind(buffer, count), cursor),
            'D' => buffer.cut(cursor, buffer.line_end()),
            'Y' => buffer.copy(cursor, buffer.line_end()),
            'p' | 'P' => put(buffer, command.name == 'p', count),
            'u' | 'U' => return if buffer.undo() { ViEffect::Done } else { ViEffect::Bell },
            'r' => replace(buffer, command.argument, count),
            '~' => switch_case(buffer, count),
            '#' => {
                buffer.move_to(0);
                buffer.insert("#");
                return ViEffect::Key(EditorKey::Enter);
            }
            'k' | '-' => return ViEffect::Key(EditorKey::Up),
            'j' | '+' => return ViEffect::Key(EditorKey::Down),
            'G' => return ViEffect::Key(EditorKey::Alt(if command.count.is_some() { '<' } else { '>' })),
            '/' | '?' => return ViEffect::Key(EditorKey::Control('r')),
            'n' => return ViEffect::Key(EditorKey::PrefixUp),
            'N' => return ViEffect::Key(EditorKey::PrefixDown),
            '\\' | '*' | '=' => return ViEffect::Key(EditorKey::Tab),
            '_' => return ViEffect::Key(EditorKey::Alt('.')),
            _ => {
                let Some(motion) = self.motion(command, buffer) else { return ViEffect::Bell };
                buffer.move_to(motion.to);
            }
        }
        ViEffect::Done
    }

    fn start_insertion(&mut self, name: char, count: usize, buffer: &mut EditBuffer) {
        let cursor = buffer.cursor();
        match name {
            'a' => buffer.move_to(buffer.right().min(buffer.line_end())),
            'I' => buffer.move_to(first_print(buffer)),
            'A' => buffer.move_to(buffer.line_end()),
            's' => buffer.cut(cursor, ahead(buffer, count)),
            'S' => buffer.cut(buffer.line_start(), buffer.line_end()),
            'C' => buffer.cut(cursor, buffer.line_end()),
            _ => {}
        }
        self.is_command = false;
    }

    /// The place that a motion leads to; `None` if there is no such motion or place.
    fn motion(&mut self, command: &ViCommand, buffer: &EditBuffer) -> Option<Motion> {
        let count = command.count.unwrap_or(1);
        let (text, cursor) = (buffer.text(), buffer.cursor());
        let repeated = |step: &dyn Fn(&str, usize) -> usize| (0..count).fold(cursor, |at, _| step(text, at));
        let (to, is_inclusive) = match command.name {
            'h' => (behind(buffer, count), false),
            'l' | ' ' => (ahead(buffer, count), false),
            '0' => (buffer.line_start(), false),
            '^' => (first_print(buffer), false),
            '$' => (buffer.line_end(), false),
            '|' => (column(buffer, count), false),
            'w' => (repeated(&|text, at| next_word(text, at, class)), false),
            'W' => (repeated(&|text, at| next_word(text, at, big_class)), false),
            'b' => (repeated(&|text, at| previous_word(text, at, class)), false),
            'B' => (repeated(&|text, at| previous_word(text, at, big_class)), false),
            'e' => (repeated(&|text, at| word_end(text, at, class)), true),
            'E' => (repeated(&|text, at| word_end(text, at, big_class)), true),
            '%' => (matching_bracket(text, cursor)?, true),
            'f' | 'F' | 't' | 'T' => {
                self.last_find = Some((command.name, command.argument?));
                find(text, cursor, command.name, command.argument?, count)?
            }
            ';' | ',' => {
                let (name, character) = self.last_find?;
                let name = if command.name == ';' { name } else { opposite(name) };
                find(text, cursor, name, character, count)?
            }
            _ => return None,
        };
        Some(Motion { to, is_inclusive })
    }
}

impl ViCommand {
    /// Parses the keys of a command. Returns `None` if more keys have to follow.
    fn parse(keys: &str) -> Option<Self> {
        let (count, rest) = leading_count(keys);
        let mut characters = rest.chars();
        let name = characters.next()?;
        let (operator, count, name) = match name {
            'd' | 'c' | 'y' => {
                let (more, rest) = leading_count(characters.as_str());
                characters = rest.chars();
                let total = count.map_or(more, |count| Some(count.saturating_mul(more.unwrap_or(1))));
                (Some(name), total, characters.next()?)
            }
            name => (None, count, name),
        };
        let argument = match name {
            'f' | 'F' | 't' | 'T' | 'r' => Some(characters.next()?),
            _ => None,
        };
        Some(Self { count, operator, name, argument })
    }
}

/// The count before a command. `0` is a command if it is first.
fn leading_count(keys: &str) -> (Option<usize>, &str) {
    const MAX_COUNT: usize = 100_000;
    if keys.starts_with('0') {
        return (None, keys);
    }
    let end = keys.find(|c: char| !c.is_ascii_digit()).unwrap_or(keys.len());
    (keys[..end].parse().ok().map(|count: usize| count.min(MAX_COUNT)), &keys[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text and the cursor after keys in command mode; `^[` leaves insertion mode.
    fn typed(text: &str, keys: &str) -> (String, usize) {
        let mut buffer = EditBuffer::default();
        buffer.set(text);
        let mut state = ViState::default();
        state.enter_command_mode(&mut buffer);
        for key in keys.chars() {
            match (key, state.is_command) {
                ('^', false) => state.enter_command_mode(&mut buffer),
                (key, false) => buffer.type_character(key),
                (key, true) => drop(state.press(&EditorKey::Character(key), &mut buffer)),
            }
        }
        (buffer.text().to_owned(), buffer.cursor())
    }

    #[test]
    fn commands_of_vi_edit_the_text() {
        for (text, keys, expected, cursor) in [
            ("one two three", "0", "one two three", 0),
            ("one two three", "0w", "one two three", 4),
            ("one two three", "02w", "one two three", 8),
            ("one two three", "bb", "one two three", 4),
            ("one two three", "0e", "one two three", 2),
            ("one two three", "0dw", "two three", 0),
            ("one two three", "0d2w", "three", 0),
            ("one two three", "0cwx^", "x two three", 0),
            ("one two three", "0wD", "one ", 3),
            ("one two three", "0x", "ne two three", 0),
            ("one two three", "03x", " two three", 0),
            ("one two three", "0ftd$", "one ", 3),
            ("one two three", "dd", "", 0),
            ("one two three", "0dwu", "one two three", 0),
            ("one two three", "0dwP", "one two three", 3),
            ("one two three", "0ywP", "one one two three", 3),
            ("one two", "0rX", "Xne two", 0),
            ("one two", "0~", "One two", 1),
            ("one two", "Aabc^", "one twoabc", 9),
            ("one two", "Iab^", "abone two", 1),
            ("one two", "0iab^", "abone two", 1),
            ("one two three", "0dw.", "three", 0),
            ("a b c", "0cwx^w.", "x x c", 2),
            ("f(a, (b)) c", "0f(%", "f(a, (b)) c", 8),
            ("a.b.c", "0f.;", "a.b.c", 3),
            ("a.b.c", "0f.;,", "a.b.c", 1),
            ("a.b.c", "0dt.", ".b.c", 0),
            ("a-b c", "0dW", "c", 0),
            ("one", "S", "", 0),
            ("one two", "0Cx^", "x", 0),
            ("äöü", "0x", "öü", 0),
        ] {
            assert_eq!(typed(text, keys), (expected.to_owned(), cursor), "{text:?} {keys:?}");
        }
    }
}
