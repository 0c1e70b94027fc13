//! Completion specifications: what `complete` defines.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use haft_text::Bytes;

use crate::variables::bash_hash;

/// A source of completions, such as aliases: the argument of `-A`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CompletionAction {
    /// The name.
    pub(crate) name: &'static str,
    /// The option that is short for `-A name`; 0 if there is none.
    pub(crate) letter: u8,
}

const fn action(name: &'static str, letter: u8) -> CompletionAction {
    CompletionAction { name, letter }
}

/// All actions, in the order in which `complete -p` lists them.
pub(crate) const ACTIONS: [CompletionAction; 24] = [
    action("alias", b'a'),
    action("arrayvar", 0),
    action("binding", 0),
    action("builtin", b'b'),
    action("command", b'c'),
    action("directory", b'd'),
    action("disabled", 0),
    action("enabled", 0),
    action("export", b'e'),
    action("file", b'f'),
    action("function", 0),
    action("helptopic", 0),
    action("hostname", 0),
    action("group", b'g'),
    action("job", b'j'),
    action("keyword", b'k'),
    action("running", 0),
    action("service", b's'),
    action("setopt", 0),
    action("shopt", 0),
    action("signal", 0),
    action("stopped", 0),
    action("user", b'u'),
    action("variable", b'v'),
];

/// An option of a completion specification: the argument of `-o`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletionOption {
    /// `bashdefault`: the usual completions of bash if there are no others.
    BashDefault,
    /// `default`: names of files if there are no other completions.
    Default,
    /// `dirnames`: names of directories if there are no other completions.
    Directories,
    /// `filenames`: the completions are names of files.
    Filenames,
    /// `noquote`: names of files are not quoted.
    NoQuote,
    /// `nosort`: the completions stay in their order.
    NoSort,
    /// `nospace`: no blank follows the only completion.
    NoSpace,
    /// `plusdirs`: names of directories are completions too.
    PlusDirectories,
}

impl CompletionOption {
    /// All options with their names, in the order in which `complete -p` lists them.
    pub(crate) const ALL: [(Self, &'static str); 8] = [
        (Self::BashDefault, "bashdefault"),
        (Self::Default, "default"),
        (Self::Directories, "dirnames"),
        (Self::Filenames, "filenames"),
        (Self::NoQuote, "noquote"),
        (Self::NoSort, "nosort"),
        (Self::NoSpace, "nospace"),
        (Self::PlusDirectories, "plusdirs"),
    ];

    /// The option of this name.
    pub(crate) fn named(name: &[u8]) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| known.as_bytes() == name).map(|(option, _)| *option)
    }
}

/// A set of completion options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompletionOptions(u8);

impl CompletionOptions {
    /// Whether an option is in the set.
    #[must_use]
    pub fn has(self, option: CompletionOption) -> bool {
        self.0 & (1 << option as u8) != 0
    }

    /// Adds or removes an option.
    pub(crate) fn put(&mut self, option: CompletionOption, on: bool) {
        match on {
            true => self.0 |= 1 << option as u8,
            false => self.0 &= !(1 << option as u8),
        }
    }
}

/// How the arguments of a command are completed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CompletionSpec {
    /// A bit for each of [`ACTIONS`].
    pub(crate) actions: u32,
    pub(crate) options: CompletionOptions,
    /// `-G`.
    pub(crate) glob_pattern: Option<Bytes>,
    /// `-W`.
    pub(crate) words: Option<Bytes>,
    /// `-P`.
    pub(crate) prefix: Option<Bytes>,
    /// `-S`.
    pub(crate) suffix: Option<Bytes>,
    /// `-X`.
    pub(crate) filter: Option<Bytes>,
    /// `-C`.
    pub(crate) command: Option<Bytes>,
    /// `-F`.
    pub(crate) function: Option<Bytes>,
}

impl CompletionSpec {
    /// Adds the action of this name. Returns false if there is none.
    pub(crate) fn add_action(&mut self, name: &[u8]) -> bool {
        let place = ACTIONS.iter().position(|action| action.name.as_bytes() == name);
        self.actions |= place.map_or(0, |place| 1 << place);
        place.is_some()
    }

    /// The actions.
    pub(crate) fn actions(&self) -> impl Iterator<Item = CompletionAction> {
        let chosen = self.actions;
        ACTIONS
            .into_iter()
            .enumerate()
            .filter(move |(place, _)| chosen & (1 << place) != 0)
            .map(|(_, action)| action)
    }
}

/// The name under which bash stores the specification of `complete -D`.
pub(crate) const DEFAULT_COMMAND: &str = "_DefaultCmD_";
/// The name under which bash stores the specification of `complete -E`.
pub(crate) const EMPTY_COMMAND: &str = "_EmptycmD_";
/// The name under which bash stores the specification of `complete -I`.
pub(crate) const INITIAL_WORD: &str = "_InitialWorD_";

/// The initial number of hash buckets of the table in bash.
const INITIAL_BUCKETS: usize = 512;

/// The completion specifications, by command.
#[derive(Clone, Debug, Default)]
pub(crate) struct CompletionTable {
    entries: HashMap<Bytes, StoredSpec, RandomState>,
    /// The sequence number of the next new command.
    next: u64,
}

#[derive(Clone, Debug)]
struct StoredSpec {
    spec: Arc<CompletionSpec>,
    sequence: u64,
}

impl CompletionTable {
    /// The specification of a command.
    pub(crate) fn get(&self, command: &[u8]) -> Option<&Arc<CompletionSpec>> {
        self.entries.get(command).map(|stored| &stored.spec)
    }

    /// The specification of a command, to be changed.
    pub(crate) fn get_mut(&mut self, command: &[u8]) -> Option<&mut CompletionSpec> {
        self.entries.get_mut(command).map(|stored| Arc::make_mut(&mut stored.spec))
    }

    /// Sets the specification of a command.
    pub(crate) fn set(&mut self, command: &Bytes, spec: Arc<CompletionSpec>) {
        let known = self.entries.get(command).map(|stored| stored.sequence);
        let sequence = known.unwrap_or(self.next);
        self.next += u64::from(known.is_none());
        self.entries.insert(command.clone(), StoredSpec { spec, sequence });
    }

    /// Removes the specification of a command. Returns false if there is none.
    pub(crate) fn remove(&mut self, command: &[u8]) -> bool {
        self.entries.remove(command).is_some()
    }

    /// Removes all specifications.
    pub(crate) fn clear(&mut self) {
        self.entries.clear();
    }

    /// Whether there are no specifications.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// All specifications, in the order of bash: by the hash bucket of the command, the newest first within a bucket.
    pub(crate) fn listed(&self) -> Vec<(&Bytes, &CompletionSpec)> {
        let mut buckets = INITIAL_BUCKETS;
        while self.entries.len() > buckets * 2 {
            buckets *= 4;
        }
        let mut listed: Vec<_> = self.entries.iter().collect();
        listed.sort_unstable_by_key(|(command, stored)| {
            (bash_hash(command) as usize & (buckets - 1), u64::MAX - stored.sequence)
        });
        listed.into_iter().map(|(command, stored)| (command, &*stored.spec)).collect()
    }
}
