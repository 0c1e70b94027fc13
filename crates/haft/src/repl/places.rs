//! Where an interactive shell keeps its files.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::surroundings::Surroundings;

/// The files of a person, by the rules of the desktop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Places {
    /// Commands to run when an interactive shell starts.
    pub(crate) rc: Option<PathBuf>,
    /// What was entered before.
    pub(crate) history: Option<PathBuf>,
    /// What a login shell runs first.
    pub(crate) profiles: Vec<PathBuf>,
}

impl Places {
    pub(crate) fn of(surroundings: &Surroundings) -> Self {
        Self::by(|name| surroundings.variable(name))
    }

    fn by<'v>(variable: impl Fn(&str) -> Option<&'v OsStr>) -> Self {
        let home = variable("HOME").map(Path::new);
        let place = |name: &str, fallback: &str, file: &str| {
            let set = variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
            set.or_else(|| home.map(|home| home.join(fallback))).map(|base| base.join(file))
        };
        let own = home.map(|home| home.join(".profile"));
        Self {
            rc: place("XDG_CONFIG_HOME", ".config", "haft/rc"),
            history: place("XDG_STATE_HOME", ".local/state", "haft/history"),
            profiles: std::iter::once(PathBuf::from("/etc/profile")).chain(own).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_follow_the_variables() {
        let places = Places::by(|name| match name {
            "HOME" => Some(OsStr::new("/home/ada")),
            "XDG_STATE_HOME" => Some(OsStr::new("/state")),
            "XDG_CONFIG_HOME" => Some(OsStr::new("not/absolute")),
            _ => None,
        });
        assert_eq!(places.rc.as_deref(), Some(Path::new("/home/ada/.config/haft/rc")));
        assert_eq!(places.history.as_deref(), Some(Path::new("/state/haft/history")));
        assert_eq!(Places::by(|_| None).rc, None);
    }
}
