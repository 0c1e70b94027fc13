//! The in-process commands that may run instead of programs.

use std::sync::{Arc, LazyLock};

use super::{Added, Command};

/// Names that are read when they are needed first.
type LazyNames = LazyLock<Vec<String>, Box<dyn FnOnce() -> Vec<String> + Send>>;

/// Commands that run instead of programs of the same name, if a script cannot observe the difference.
#[derive(Clone, Debug, Default)]
pub(crate) struct StandIns {
    tables: Vec<&'static [&'static dyn Command]>,
    /// Names whose programs always run.
    host: Option<Arc<LazyNames>>,
    /// Whether `type -a` and `enable` know them.
    is_listed: bool,
}

impl StandIns {
    pub(crate) fn add(&mut self, table: &'static [&'static dyn Command]) {
        self.tables.push(table);
    }

    /// Always runs the programs of these names. The function is called when a stand-in is found first.
    pub(crate) fn keep_programs(&mut self, names: impl FnOnce() -> Vec<String> + Send + 'static) {
        self.host = Some(Arc::new(LazyLock::new(Box::new(names))));
    }

    /// Lets `type -a` and `enable` know the commands.
    pub(crate) fn list(&mut self) {
        self.is_listed = true;
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    /// The command of this name.
    pub(crate) fn find(&self, name: &[u8]) -> Option<Added> {
        let all = self.tables.iter().copied().flatten();
        let command = all.copied().find(|command| command.name().as_bytes() == name)?;
        let is_host = self.host.iter().flat_map(|names| names.iter()).any(|host| host.as_bytes() == name);
        (!is_host).then_some(Added::Static(command))
    }

    /// The name of a command that `type -a` and `enable` know.
    pub(crate) fn listed(&self, name: &[u8]) -> Option<&'static str> {
        let all = self.tables.iter().copied().flatten().filter(|_| self.is_listed);
        all.map(|command| command.name()).find(|known| known.as_bytes() == name)
    }
}
