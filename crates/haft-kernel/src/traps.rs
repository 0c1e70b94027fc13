//! Traps.

use std::collections::BTreeMap;
use std::sync::Arc;

use haft_process::Signals;
use haft_text::Bytes;

/// What a trap waits for. The order is that in which `trap` lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Trap {
    /// `EXIT`: the shell ends.
    Exit,
    /// A signal.
    Signal(i32),
    /// `DEBUG`: before every simple command.
    Debug,
    /// `ERR`: a command failed.
    Error,
    /// `RETURN`: a function or sourced file ended.
    Return,
}

impl Trap {
    /// The trap of this name or number: `EXIT`, `0`, `INT`, `SIGINT`, `2`, `DEBUG`, `ERR`, `RETURN`.
    #[must_use]
    pub fn parse(name: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(name).ok()?;
        if let Ok(number) = text.parse::<i32>() {
            return match number {
                0 => Some(Self::Exit),
                1..=64 => Some(Self::Signal(number)),
                _ => None,
            };
        }
        match text.to_ascii_uppercase().as_str() {
            "EXIT" => Some(Self::Exit),
            "DEBUG" => Some(Self::Debug),
            "ERR" => Some(Self::Error),
            "RETURN" => Some(Self::Return),
            other => haft_process::signal_number(other).map(Self::Signal),
        }
    }

    /// The name as `trap` shows it: `SIGINT`, `EXIT`.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Exit => "EXIT".to_owned(),
            Self::Debug => "DEBUG".to_owned(),
            Self::Error => "ERR".to_owned(),
            Self::Return => "RETURN".to_owned(),
            Self::Signal(number) => {
                let name = haft_process::signal_name(number).unwrap_or_else(|| number.to_string());
                format!("SIG{name}")
            }
        }
    }
}

/// The traps that are set. A clone is shared until one of the two changes.
#[derive(Clone, Debug, Default)]
pub struct Traps {
    table: Arc<BTreeMap<Trap, Action>>,
    /// Signals that were ignored when the shell was started, which no script can change.
    fixed: Signals,
    /// Signals that a background command ignores unless it sets a trap for them.
    unheard: Signals,
}

/// What a trap does.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Action {
    /// The commands; empty to ignore.
    text: Bytes,
    /// Whether it was inherited by a subshell: shown by `trap`, but not run.
    inherited: bool,
}

impl Traps {
    /// The commands of a trap; empty if it is to be ignored; `None` if it is not set.
    #[must_use]
    pub fn get(&self, trap: Trap) -> Option<&Bytes> {
        if self.table.is_empty() {
            return None;
        }
        self.table.get(&trap).filter(|action| !action.inherited).map(|action| &action.text)
    }

    /// Sets a trap.
    pub fn set(&mut self, trap: Trap, text: Bytes) {
        if self.is_fixed(trap) {
            return;
        }
        self.forget_inherited();
        if let Trap::Signal(signal) = trap {
            self.unheard = self.unheard.without(signal);
        }
        Arc::make_mut(&mut self.table).insert(trap, Action { text, inherited: false });
    }

    /// Removes a trap.
    pub fn reset(&mut self, trap: Trap) {
        if self.is_fixed(trap) {
            return;
        }
        self.forget_inherited();
        Arc::make_mut(&mut self.table).remove(&trap);
    }

    /// Whether a trap is set here, or is in the shell that this is a subshell of.
    #[must_use]
    pub(crate) fn is_listed(&self, trap: Trap) -> bool {
        self.table.contains_key(&trap)
    }

    /// All traps that are to be shown, in order.
    pub fn iter(&self) -> impl Iterator<Item = (Trap, &Bytes)> {
        self.table.iter().map(|(trap, action)| (*trap, &action.text))
    }

    /// Whether none is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// Whether any trap does something: to ignore a signal takes no shell, it is passed on to programs.
    #[must_use]
    pub fn has_actions(&self) -> bool {
        self.table.values().any(|action| !action.text.is_empty())
    }

    /// Ignores signals from the beginning to the end, as whoever started the shell has done.
    pub fn fix(&mut self, signals: Signals) {
        for signal in signals.iter() {
            self.set(Trap::Signal(signal), Bytes::new());
        }
        self.fixed = signals;
    }

    /// Whether nothing can be changed about a trap.
    #[must_use]
    pub fn is_fixed(&self, trap: Trap) -> bool {
        matches!(trap, Trap::Signal(signal) if self.fixed.contains(signal))
    }

    /// Ignores what a terminal sends to stop a foreground command, unless a trap is set for it.
    pub fn ignore_keyboard(&mut self) {
        for signal in [Signals::INT, Signals::QUIT] {
            if self.get(Trap::Signal(signal)).is_none() {
                self.unheard = self.unheard.with(signal);
            }
        }
    }

    /// The signals that programs ignore.
    #[must_use]
    pub fn ignored(&self) -> Signals {
        let ignored = self.table.iter().filter_map(|(trap, action)| match trap {
            Trap::Signal(number) if action.text.is_empty() => Some(*number),
            _ => None,
        });
        ignored.fold(self.unheard, Signals::with)
    }

    /// What a shell begins with that takes the place of this one.
    #[must_use]
    pub fn for_script(&self) -> Self {
        let mut traps = Self::default();
        traps.fix(self.ignored());
        traps
    }

    /// The traps that a subshell has: those ignored stay, the rest is only shown until one is changed. `ERR`, `DEBUG` and `RETURN`
    /// stay if they are inherited by functions too.
    #[must_use]
    pub fn for_subshell(&self, errors: bool, functions: bool) -> Self {
        if self.table.is_empty() {
            return self.clone();
        }
        let keep = |trap: Trap| match trap {
            Trap::Error => errors,
            Trap::Debug | Trap::Return => functions,
            Trap::Exit | Trap::Signal(_) => false,
        };
        let table = self.table.iter().map(|(trap, action)| {
            let inherited = !(action.text.is_empty() || keep(*trap));
            (*trap, Action { text: action.text.clone(), inherited })
        });
        Self { table: Arc::new(table.collect()), ..*self }
    }

    fn forget_inherited(&mut self) {
        if self.table.values().any(|action| action.inherited) {
            Arc::make_mut(&mut self.table).retain(|_, action| !action.inherited);
        }
    }
}
