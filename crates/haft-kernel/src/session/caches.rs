//! Caches of a session: paths of programs, the last environment, the last regular expression.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use haft_process::Environment;
use haft_text::Bytes;
use haft_text::regex::CompiledRegex;

/// Programs by name: the path, and how often it was used.
pub(crate) type HashedCommands = BTreeMap<Bytes, (Bytes, u32)>;

/// The most vectors that are kept for reuse.
const MAX_SPARE_VECTORS: usize = 8;

/// The largest capacity of a vector that is kept for reuse.
const MAX_SPARE_CAPACITY: usize = 64;

/// Caches. Losing one changes nothing that a script can see, except what `hash` and `set` list.
#[derive(Debug, Default)]
pub(crate) struct Caches {
    /// The table that `hash` shows.
    commands: Arc<HashedCommands>,
    /// The `PATH` for which the table holds.
    path: Option<Bytes>,
    environment: Option<CachedEnvironment>,
    regex: Option<CompiledRegex>,
    /// Empty vectors with capacity, for the words of the next command.
    spare_words: Vec<Vec<Bytes>>,
    /// The dynamic variables that were used, one bit each. Until then, `set` does not list them.
    used_dynamic: Cell<u32>,
}

/// The environment that the last program got.
#[derive(Clone, Debug)]
struct CachedEnvironment {
    exported: Arc<Environment>,
    program: Bytes,
    made: Arc<Environment>,
}

impl Caches {
    /// Notes that the dynamic variable with this bit was used.
    pub(crate) fn note_dynamic(&self, bit: u32) {
        self.used_dynamic.set(self.used_dynamic.get() | bit);
    }

    /// Whether the dynamic variable with this bit was used.
    pub(crate) fn has_used_dynamic(&self, bit: u32) -> bool {
        self.used_dynamic.get() & bit != 0
    }

    /// A subshell inherits the table of `hash` and the environment.
    pub(super) fn for_subshell(&self) -> Self {
        Self {
            used_dynamic: self.used_dynamic.clone(),
            commands: self.commands.clone(),
            path: self.path.clone(),
            environment: self.environment.clone(),
            regex: None,
            spare_words: Vec::new(),
        }
    }

    /// The table that `hash` shows.
    pub(crate) fn commands(&self) -> &Arc<HashedCommands> {
        &self.commands
    }

    /// The table that `hash` shows, to be changed.
    pub(crate) fn commands_mut(&mut self) -> &mut HashedCommands {
        Arc::make_mut(&mut self.commands)
    }

    /// Empties the table that `hash` shows.
    pub(crate) fn clear_commands(&mut self) {
        self.commands = Arc::default();
    }

    /// Empties the table if it was made for another `PATH`.
    pub(crate) fn validate_commands(&mut self, path: Option<&Bytes>) {
        if self.path.as_ref() != path {
            self.clear_commands();
            self.path = path.cloned();
        }
    }

    /// The path of a program in the table. Counts `uses` further uses.
    pub(crate) fn use_command(&mut self, name: &[u8], uses: u32) -> Option<Bytes> {
        if !self.commands.contains_key(name) {
            return None;
        }
        let (path, hits) = self.commands_mut().get_mut(name)?;
        *hits += uses;
        Some(path.clone())
    }

    /// The environment of `program`, if it is the last one made and the exported variables are the same.
    pub(crate) fn environment(
        &self,
        exported: &Arc<Environment>,
        program: &[u8],
    ) -> Option<Arc<Environment>> {
        let cached = self.environment.as_ref()?;
        let same = Arc::ptr_eq(&cached.exported, exported) && *cached.program == *program;
        same.then(|| cached.made.clone())
    }

    /// Remembers the environment made for `program` from the exported variables.
    pub(crate) fn set_environment(
        &mut self,
        exported: Arc<Environment>,
        program: Bytes,
        made: Arc<Environment>,
    ) {
        self.environment = Some(CachedEnvironment { exported, program, made });
    }

    /// The regular expression that was compiled last.
    pub(crate) fn regex(&self) -> Option<&CompiledRegex> {
        self.regex.as_ref()
    }

    /// Remembers a regular expression.
    pub(crate) fn set_regex(&mut self, regex: CompiledRegex) {
        self.regex = Some(regex);
    }

    /// An empty vector, with capacity if one is kept.
    #[inline]
    pub(crate) fn spare_words(&mut self) -> Vec<Bytes> {
        self.spare_words.pop().unwrap_or_default()
    }

    /// Keeps the allocation of a vector for the next command.
    pub(crate) fn recycle_words(&mut self, mut words: Vec<Bytes>) {
        if self.spare_words.len() < MAX_SPARE_VECTORS && words.capacity() <= MAX_SPARE_CAPACITY {
            words.clear();
            self.spare_words.push(words);
        }
    }
}
