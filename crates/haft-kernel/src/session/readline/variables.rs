//! The variables of readline.

use haft_text::Bytes;

use super::keys;

/// How the value of a variable is read and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum VariableKind {
    /// `on` or `off`.
    Switch,
    Number,
    Text,
    /// A key sequence.
    Keys,
    /// `none`, `visible` or `audible`.
    Bell,
}

/// A variable with its name, kind and default value.
type KnownVariable = (&'static str, VariableKind, &'static str);

/// All variables in the order of `bind -v`: switches first.
const VARIABLES: [KnownVariable; 47] = [
    ("bind-tty-special-chars", VariableKind::Switch, "on"),
    ("blink-matching-paren", VariableKind::Switch, "off"),
    ("byte-oriented", VariableKind::Switch, "off"),
    ("colored-completion-prefix", VariableKind::Switch, "off"),
    ("colored-stats", VariableKind::Switch, "off"),
    ("completion-ignore-case", VariableKind::Switch, "off"),
    ("completion-map-case", VariableKind::Switch, "off"),
    ("convert-meta", VariableKind::Switch, "off"),
    ("disable-completion", VariableKind::Switch, "off"),
    ("echo-control-characters", VariableKind::Switch, "on"),
    ("enable-active-region", VariableKind::Switch, "on"),
    ("enable-bracketed-paste", VariableKind::Switch, "on"),
    ("enable-keypad", VariableKind::Switch, "off"),
    ("enable-meta-key", VariableKind::Switch, "on"),
    ("expand-tilde", VariableKind::Switch, "off"),
    ("history-preserve-point", VariableKind::Switch, "off"),
    ("horizontal-scroll-mode", VariableKind::Switch, "off"),
    ("input-meta", VariableKind::Switch, "on"),
    ("mark-directories", VariableKind::Switch, "on"),
    ("mark-modified-lines", VariableKind::Switch, "off"),
    ("mark-symlinked-directories", VariableKind::Switch, "off"),
    ("match-hidden-files", VariableKind::Switch, "on"),
    ("menu-complete-display-prefix", VariableKind::Switch, "off"),
    ("meta-flag", VariableKind::Switch, "on"),
    ("output-meta", VariableKind::Switch, "on"),
    ("page-completions", VariableKind::Switch, "on"),
    ("prefer-visible-bell", VariableKind::Switch, "on"),
    ("print-completions-horizontally", VariableKind::Switch, "off"),
    ("revert-all-at-newline", VariableKind::Switch, "off"),
    ("show-all-if-ambiguous", VariableKind::Switch, "off"),
    ("show-all-if-unmodified", VariableKind::Switch, "off"),
    ("show-mode-in-prompt", VariableKind::Switch, "off"),
    ("skip-completed-text", VariableKind::Switch, "off"),
    ("visible-stats", VariableKind::Switch, "off"),
    ("bell-style", VariableKind::Bell, "audible"),
    ("comment-begin", VariableKind::Text, "#"),
    ("completion-display-width", VariableKind::Number, "-1"),
    ("completion-prefix-display-length", VariableKind::Number, "0"),
    ("completion-query-items", VariableKind::Number, "100"),
    ("editing-mode", VariableKind::Text, "emacs"),
    ("emacs-mode-string", VariableKind::Text, "@"),
    ("history-size", VariableKind::Number, "0"),
    ("isearch-terminators", VariableKind::Keys, ""),
    ("keymap", VariableKind::Text, "emacs"),
    ("keyseq-timeout", VariableKind::Number, "500"),
    ("vi-cmd-mode-string", VariableKind::Text, "(cmd)"),
    ("vi-ins-mode-string", VariableKind::Text, "(ins)"),
];

/// The values of readline's variables.
#[derive(Clone, Debug)]
pub(crate) struct ReadlineVariables {
    /// The values, in the order of [`VARIABLES`].
    values: Vec<Bytes>,
}

impl ReadlineVariables {
    /// The default values. In a locale of single bytes, Meta keys are converted. A dumb terminal cannot bracket a paste.
    pub(super) fn new(is_utf8: bool, is_dumb: bool) -> Self {
        let mut variables = Self { values: VARIABLES.iter().map(|(_, _, value)| (*value).into()).collect() };
        if !is_utf8 {
            for (name, value) in
                [("convert-meta", "on"), ("input-meta", "off"), ("meta-flag", "off"), ("output-meta", "off")]
            {
                variables.set(name.as_bytes(), value.as_bytes());
            }
        }
        if is_dumb {
            for name in ["enable-active-region", "enable-bracketed-paste"] {
                variables.set(name.as_bytes(), b"off");
            }
        }
        variables
    }

    /// Sets a variable. Returns false if there is none of this name. A value that it cannot have is ignored.
    pub(super) fn set(&mut self, name: &[u8], value: &[u8]) -> bool {
        let Some(place) =
            VARIABLES.iter().position(|(known, ..)| known.as_bytes().eq_ignore_ascii_case(name))
        else {
            return false;
        };
        let (known, kind, _) = VARIABLES[place];
        let is = |text: &str| value.eq_ignore_ascii_case(text.as_bytes());
        let new = match kind {
            VariableKind::Switch => {
                Some(if value.is_empty() || is("on") || is("1") { "on" } else { "off" }.into())
            }
            VariableKind::Number => Some(leading_number(value).into()),
            VariableKind::Text => Some(keys::translate(value, false).into()),
            VariableKind::Keys => Some(keys::written(&keys::translate(value, false)).into()),
            VariableKind::Bell if value.is_empty() || is("on") || is("audible") => Some("audible".into()),
            VariableKind::Bell if is("none") || is("off") => Some("none".into()),
            VariableKind::Bell if is("visible") => Some("visible".into()),
            VariableKind::Bell => None,
        };
        if let Some(new) = new {
            self.values[place] = new;
        }
        if let Some(same) = synonym(known) {
            let value = self.values[place].clone();
            let other = VARIABLES.iter().position(|(other, ..)| *other == same).unwrap_or(place);
            self.values[other] = value;
        }
        true
    }

    /// The value of a variable.
    pub(crate) fn get(&self, name: &str) -> &Bytes {
        let place = VARIABLES.iter().position(|(known, ..)| *known == name).unwrap_or_default();
        &self.values[place]
    }

    /// Whether a switch is on.
    pub(crate) fn is_on(&self, name: &str) -> bool {
        &**self.get(name) == b"on"
    }

    /// The variables that have a value, in the order of `bind -v`.
    pub(crate) fn listed(&self) -> impl Iterator<Item = (&'static str, &Bytes)> {
        let names = VARIABLES.iter().map(|(name, ..)| *name);
        names.zip(&self.values).filter(|(name, value)| *name != "isearch-terminators" || !value.is_empty())
    }
}

/// The variable that always has the same value.
fn synonym(name: &str) -> Option<&'static str> {
    match name {
        "input-meta" => Some("meta-flag"),
        "meta-flag" => Some("input-meta"),
        _ => None,
    }
}

/// The number at the start of a text, as `atoi` reads it.
fn leading_number(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let end = text.char_indices().find(|(at, c)| !(c.is_ascii_digit() || (*at == 0 && *c == '-')));
    let digits = &text[..end.map_or(text.len(), |(at, _)| at)];
    digits.parse::<i32>().unwrap_or(0).to_string()
}
