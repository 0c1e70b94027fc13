//! Expanding the name and arguments of a command.

use std::borrow::Cow;

use haft_lang::ast::{Argument, PartKind, SimpleCommand, Word, WordContent, WordFlags, WordPart};
use haft_text::Bytes;

use crate::command::Operand;
use crate::flow::Unwind;
use crate::options::SetOption;
use crate::session::Session;
use crate::variables::{Assigned, AssignedValue};

/// The expanded name and arguments of a command.
#[derive(Debug, Default)]
pub(crate) struct CommandArguments {
    /// The words, the name first. Assignments given to `declare` and similar builtins are words too.
    pub(crate) words: Vec<Bytes>,
    /// The arguments after the name, if any of them is an assignment.
    pub(crate) operands: Option<Vec<Operand>>,
    /// The values of JSON words, for a command that takes values.
    pub(crate) values: Vec<(usize, serde_json::Value)>,
}

impl Session {
    /// Expands the name and arguments of a command.
    pub(crate) fn expand_arguments(&mut self, simple: &SimpleCommand) -> Result<CommandArguments, Unwind> {
        let mut arguments =
            CommandArguments { words: self.caches.spare_words(), ..CommandArguments::default() };
        self.expand_arguments_into(simple, &mut arguments)?;
        Ok(arguments)
    }

    /// The same, into `arguments`, which must be empty.
    #[inline(never)]
    pub(crate) fn expand_arguments_into(
        &mut self,
        simple: &SimpleCommand,
        arguments: &mut CommandArguments,
    ) -> Result<(), Unwind> {
        let CommandArguments { words, operands, values } = arguments;
        if simple.literal {
            words.extend(
                simple
                    .arguments
                    .iter()
                    .filter_map(|argument| argument.word().and_then(Word::literal_text).cloned()),
            );
            return Ok(());
        }
        if simple.arguments.iter().any(|argument| matches!(argument, Argument::Assignment(_))) {
            *operands = Some(self.expand_operands(simple, words)?);
            return Ok(());
        }
        for argument in &simple.arguments {
            match argument {
                Argument::Word(word) if word.flags.contains(WordFlags::ASSIGNMENT) => {
                    match self.takes_assignments(simple) {
                        true => words.push(self.expand_string(word)?),
                        false if self.options.has(SetOption::Posix) => {
                            self.expand_fields(&without_tildes(word), words)?;
                        }
                        false => self.expand_fields(word, words)?,
                    }
                }
                Argument::Word(word) => self.expand_fields(word, words)?,
                Argument::Json(json) if self.takes_values(words) => {
                    let (word, value) = self.expand_json(json)?;
                    values.push((words.len(), value));
                    words.push(word);
                }
                Argument::Json(json) => self.expand_words(&json.words, words)?,
                Argument::Assignment(_) => {}
            }
        }
        for (place, _) in values {
            *place = words.len() - 1 - *place;
        }
        Ok(())
    }

    /// Whether the arguments of a command are assignments, which are not split: those of `declare` and similar builtins. The name must be
    /// written without quotes and expansions. In POSIX mode, `command` may precede it.
    fn takes_assignments(&self, simple: &SimpleCommand) -> bool {
        let mut names = simple.arguments.iter().map(|argument| argument.word().and_then(Word::plain));
        let is_skipped =
            |name: &Option<&[u8]>| *name == Some(b"command") && self.options.has(SetOption::Posix);
        let Some(Some(name)) = names.find(|name| !is_skipped(name)) else { return false };
        matches!(name, b"declare" | b"typeset" | b"local" | b"readonly" | b"export" | b"alias")
            && !self.definitions.functions().contains_key(name)
    }

    #[inline(never)]
    fn expand_operands(
        &mut self,
        simple: &SimpleCommand,
        words: &mut Vec<Bytes>,
    ) -> Result<Vec<Operand>, Unwind> {
        let mut operands = Vec::with_capacity(simple.arguments.len());
        for argument in &simple.arguments {
            let before = words.len();
            match argument {
                Argument::Word(word) => self.expand_fields(word, words)?,
                Argument::Json(json) => self.expand_words(&json.words, words)?,
                Argument::Assignment(assignment) => {
                    let assigned = self.expand_assignment(assignment, makes_associative(words))?;
                    words.push(as_word(&assigned));
                    operands.push(Operand::Assignment(assigned));
                    continue;
                }
            }
            operands.extend(words[before..].iter().cloned().map(Operand::Word));
        }
        if !operands.is_empty() {
            operands.remove(0);
        }
        Ok(operands)
    }
}

/// A word that looks like an assignment, with its tildes as text. In POSIX mode only real assignments expand them.
fn without_tildes(word: &Word) -> Cow<'_, Word> {
    let WordContent::Parts(parts) = &word.content else { return Cow::Borrowed(word) };
    let literal = |part: &WordPart| match &part.kind {
        PartKind::Tilde(user) => {
            WordPart { kind: PartKind::Literal([b"~", &**user].concat().into()), ..part.clone() }
        }
        _ => part.clone(),
    };
    let parts: Vec<WordPart> = parts.iter().map(literal).collect();
    Cow::Owned(Word { content: WordContent::Parts(parts.into()), ..word.clone() })
}

/// Whether the words so far declare an associative array.
fn makes_associative(words: &[Bytes]) -> bool {
    let options = words.iter().skip(1).take_while(|word| word.as_bytes() != b"--");
    options.filter(|word| word.starts_with(b"-")).any(|word| word.contains(&b'A'))
}

/// An assignment as a word, for commands that are not builtins.
fn as_word(assigned: &Assigned) -> Bytes {
    let mut word = assigned.name.to_vec();
    if let Some(subscript) = &assigned.subscript {
        word.push(b'[');
        word.extend_from_slice(subscript);
        word.push(b']');
    }
    word.extend_from_slice(if assigned.append { b"+=" } else { b"=" });
    match &assigned.value {
        AssignedValue::Scalar(value) => word.extend_from_slice(value),
        AssignedValue::List(elements) => {
            word.push(b'(');
            for (index, element) in elements.iter().enumerate() {
                if index > 0 {
                    word.push(b' ');
                }
                word.extend_from_slice(&element.value);
            }
            word.push(b')');
        }
    }
    word.into()
}
