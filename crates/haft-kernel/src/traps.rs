//! Traps.

use std::collections::BTreeMap;
use std::sync::Arc;

use haft_process::Signals;
use haft_text::Bytes;

/// The condition of a trap, in the order in which `trap` lists them.
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

    /// The name that bash's messages use for syntax errors in the trap's commands.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Exit => "exit trap",
            Self::Debug => "debug trap",
            Self::Error => "error trap",
            Self::Return => "return trap",
            Self::Signal(_) => "trap",
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

/// The traps of a session. Clones share the table until one of them changes it.
#[derive(Clone, Debug, Default)]
pub struct Traps {
    table: Arc<BTreeMap<Trap, TrapAction>>,
    /// Signals that were ignored when the shell started. As in bash, no script can change that.
    fixed: Signals,
    /// Signals that a background command ignores unless it sets a trap for them.
    unheard: Signals,
}

/// The action of a trap.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TrapAction {
    /// The commands. Empty means that the signal is ignored.
    text: Bytes,
    /// Whether a subshell inherited it: `trap` shows it, but it does not run.
    inherited: bool,
}

impl Traps {
    /// The commands of a trap. Empty if the signal is ignored; `None` if it is not set.
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
        Arc::make_mut(&mut self.table).insert(trap, TrapAction { text, inherited: false });
    }

    /// Removes a trap.
    pub fn reset(&mut self, trap: Trap) {
        if self.is_fixed(trap) {
            return;
        }
        self.forget_inherited();
        Arc::make_mut(&mut self.table).remove(&trap);
    }

    /// Whether a trap is set here or in the parent shell.
    #[must_use]
    pub(crate) fn is_listed(&self, trap: Trap) -> bool {
        self.table.contains_key(&trap)
    }

    /// All traps that `trap` shows, in order.
    pub fn iter(&self) -> impl Iterator<Item = (Trap, &Bytes)> {
        self.table.iter().map(|(trap, action)| (*trap, &action.text))
    }

    /// Whether none is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// Whether any trap has commands. Ignored signals do not count: programs inherit them.
    #[must_use]
    pub fn has_actions(&self) -> bool {
        self.table.values().any(|action| !action.text.is_empty())
    }

    /// Ignores signals permanently, because they were ignored when the shell started.
    pub fn fix(&mut self, signals: Signals) {
        for signal in signals.iter() {
            self.set(Trap::Signal(signal), Bytes::new());
        }
        self.fixed = signals;
    }

    /// Whether a trap cannot be changed.
    #[must_use]
    pub fn is_fixed(&self, trap: Trap) -> bool {
        matches!(trap, Trap::Signal(signal) if self.fixed.contains(signal))
    }

    /// Ignores `SIGINT` and `SIGQUIT` for a background command, unless they have traps.
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

    /// The traps of a separate shell that this one starts.
    #[must_use]
    pub fn for_script(&self) -> Self {
        let mut traps = Self::default();
        traps.fix(self.ignored());
        traps
    }

    /// The traps of a subshell: ignored signals stay ignored, other traps are only shown until one is changed. `ERR`, `DEBUG`
    /// and `RETURN` stay if functions inherit them too.
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
            (*trap, TrapAction { text: action.text.clone(), inherited })
        });
        Self { table: Arc::new(table.collect()), ..*self }
    }

    fn forget_inherited(&mut self) {
        if self.table.values().any(|action| action.inherited) {
            Arc::make_mut(&mut self.table).retain(|_, action| !action.inherited);
        }
    }
}
