//! Generates scripts from a grammar.

use std::collections::BTreeMap;

use crate::random::SeededRandom;

/// The alternatives of each rule.
pub(crate) struct Grammar {
    rules: BTreeMap<&'static str, Vec<Vec<Symbol>>>,
}

/// A piece of an alternative.
enum Symbol {
    Text(&'static str),
    Rule(&'static str),
}

/// Here-document delimiters: as written in the redirection, and as the line that ends the body.
const DELIMITERS: [(&str, &str); 5] =
    [("EOF", "EOF"), ("'EOF'", "EOF"), ("\"E F\"", "E F"), ("\\END", "END"), ("_x1", "_x1")];

/// A script being generated.
struct ScriptDraft<'a> {
    random: &'a mut SeededRandom,
    text: String,
    /// The number of rules that may still be expanded.
    budget: usize,
    /// Pending here-documents: their delimiter, and whether a tab may precede it.
    due: Vec<(&'static str, bool)>,
    /// The length of `due` at the start of each enclosing construct.
    outer: Vec<usize>,
}

impl Grammar {
    /// The grammar in `tests/data/grammar.txt`.
    pub(crate) fn new() -> Self {
        let mut rules = BTreeMap::new();
        let mut alternatives: Option<&mut Vec<Vec<Symbol>>> = None;
        for line in include_str!("../data/grammar.txt").lines() {
            if let Some(alternative) = line.strip_prefix("    ") {
                let alternatives = alternatives.as_mut().expect("a rule before its alternatives");
                alternatives.push(symbols(alternative));
            } else if !line.is_empty() && !line.starts_with('#') {
                alternatives = Some(rules.entry(line).or_default());
            }
        }
        Self { rules }
    }

    /// A script.
    pub(crate) fn script(&self, random: &mut SeededRandom) -> Vec<u8> {
        let budget = 10 + random.below(120);
        let mut draft = ScriptDraft { random, text: String::new(), budget, due: Vec::new(), outer: vec![0] };
        self.write("script", &mut draft);
        if !draft.due.is_empty() {
            draft.newline(self);
        }
        draft.text.into_bytes()
    }

    fn write(&self, rule: &'static str, draft: &mut ScriptDraft<'_>) {
        match rule {
            "empty" => {}
            "space" => draft.text.push(' '),
            "break" => draft.text.push('\n'),
            "nl" => draft.newline(self),
            "here" => draft.announce(false),
            "here-tabs" => draft.announce(true),
            "open" => draft.outer.push(draft.due.len()),
            "close" => draft.close(self),
            _ => self.write_alternative(rule, draft),
        }
    }

    fn write_alternative(&self, rule: &'static str, draft: &mut ScriptDraft<'_>) {
        let alternatives = self.rules.get(rule).unwrap_or_else(|| panic!("no rule \"{rule}\""));
        let chosen = if draft.budget == 0 { 0 } else { draft.random.below(alternatives.len()) };
        draft.budget = draft.budget.saturating_sub(1);
        for symbol in &alternatives[chosen] {
            match symbol {
                Symbol::Text(text) => draft.text.push_str(text),
                Symbol::Rule(rule) => self.write(rule, draft),
            }
        }
    }
}

impl ScriptDraft<'_> {
    fn announce(&mut self, tabs: bool) {
        let (written, ends) = *self.random.choose(&DELIMITERS);
        self.text.push_str(written);
        self.due.push((ends, tabs));
    }

    /// Ends the line and writes the bodies of pending here-documents.
    fn newline(&mut self, grammar: &Grammar) {
        self.text.push('\n');
        let from = self.outer.last().copied().unwrap_or(0);
        for (ends, tabs) in self.due.split_off(from) {
            for _ in 0..self.random.below(3) {
                let outer = self.due.len();
                self.outer.push(outer);
                grammar.write("here-text", self);
                self.close(grammar);
                self.text.push('\n');
            }
            self.text.push_str(if tabs { "\t" } else { "" });
            self.text.push_str(ends);
            self.text.push('\n');
        }
    }

    fn close(&mut self, grammar: &Grammar) {
        if self.due.len() > self.outer.last().copied().unwrap_or(0) {
            self.newline(grammar);
        }
        self.outer.pop();
    }
}

fn symbols(alternative: &'static str) -> Vec<Symbol> {
    let mut symbols = Vec::new();
    for piece in alternative.split_inclusive('»') {
        let (text, rule) = piece.split_once('«').unwrap_or((piece, ""));
        symbols.push(Symbol::Text(text));
        if let Some(rule) = rule.strip_suffix('»') {
            symbols.push(Symbol::Rule(rule));
        }
    }
    symbols
}
