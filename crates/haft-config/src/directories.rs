//! Where things of haft are: for everybody on the machine, for one user, for one project.
//!
//! Nothing here reads the environment. The program that owns the process hands over what it was started with, as
//! [`DirectoryInputs`], and gets [`Directories`] back.

use std::path::{Path, PathBuf};

use crate::source::Layer;

/// The directory that makes a directory a project.
pub const PROJECT_DIRECTORY: &str = ".haft";

/// What [`Directories`] are found from.
#[derive(Clone, Copy, Debug, Default)]
pub struct DirectoryInputs<'a> {
    /// The directory of tools that come with the installation.
    pub system: Option<&'a Path>,
    /// The user's home directory.
    pub home: Option<&'a Path>,
    /// `XDG_CONFIG_HOME`, if it is set. Like the next two it counts only if it is absolute.
    pub config_home: Option<&'a Path>,
    /// `XDG_STATE_HOME`, if it is set.
    pub state_home: Option<&'a Path>,
    /// `XDG_CACHE_HOME`, if it is set.
    pub cache_home: Option<&'a Path>,
    /// The directory from which a project is looked for, upward.
    pub working_directory: Option<&'a Path>,
}

/// The directories haft looks into. Each may be missing on the disk; `None` where it cannot even be named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Directories {
    /// Tools that come with the installation.
    pub system: Option<PathBuf>,
    /// The user's configuration, usually `~/.config/haft`.
    pub user: Option<PathBuf>,
    /// The project's `.haft`, the nearest one above the working directory.
    pub project: Option<PathBuf>,
    /// What is remembered between runs, usually `~/.local/state/haft`.
    pub state: Option<PathBuf>,
    /// What may be thrown away at any time, usually `~/.cache/haft`.
    pub cache: Option<PathBuf>,
}

impl Directories {
    /// Finds the places.
    pub fn resolve(sources: &DirectoryInputs<'_>) -> Directories {
        let user = base(sources.config_home, sources.home, ".config");
        let project = sources.working_directory.and_then(find_project);
        Directories {
            system: sources.system.map(Path::to_path_buf),
            // The user's own configuration is no project, wherever he has put it.
            project: project.filter(|project| Some(project) != user.as_ref()),
            user,
            state: base(sources.state_home, sources.home, ".local/state"),
            cache: base(sources.cache_home, sources.home, ".cache"),
        }
    }

    /// The directories of tools there may be, in the order in which later ones win.
    pub fn tool_directories(&self) -> Vec<(Layer, PathBuf)> {
        let below = |place: &Option<PathBuf>| place.as_ref().map(|place| place.join("tools"));
        let all = [
            (Layer::System, self.system.clone()),
            (Layer::User, below(&self.user)),
            (Layer::Project, below(&self.project)),
        ];
        all.into_iter().filter_map(|(layer, place)| Some((layer, place?))).collect()
    }
}

fn base(chosen: Option<&Path>, home: Option<&Path>, usual: &str) -> Option<PathBuf> {
    let chosen = chosen.filter(|chosen| chosen.is_absolute()).map(Path::to_path_buf);
    Some(chosen.or_else(|| Some(home?.join(usual)))?.join("haft"))
}

/// The nearest `.haft` directory at or above a directory.
pub fn find_project(from: &Path) -> Option<PathBuf> {
    from.ancestors().map(|directory| directory.join(PROJECT_DIRECTORY)).find(|place| place.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Option<&Path> {
        Some(Path::new(text))
    }

    #[test]
    fn the_usual_places() {
        let places =
            Directories::resolve(&DirectoryInputs { home: path("/home/me"), ..DirectoryInputs::default() });
        assert_eq!(places.user.as_deref(), path("/home/me/.config/haft"));
        assert_eq!(places.state.as_deref(), path("/home/me/.local/state/haft"));
        assert_eq!(places.cache.as_deref(), path("/home/me/.cache/haft"));
        assert_eq!((places.system, places.project), (None, None));
    }

    #[test]
    fn chosen_places_win_if_they_are_absolute() {
        let sources = DirectoryInputs {
            home: path("/home/me"),
            config_home: path("/elsewhere"),
            cache_home: path("relative"),
            ..DirectoryInputs::default()
        };
        let places = Directories::resolve(&sources);
        assert_eq!(places.user.as_deref(), path("/elsewhere/haft"));
        assert_eq!(places.cache.as_deref(), path("/home/me/.cache/haft"));
    }

    #[test]
    fn without_a_home_there_are_no_places_of_a_user() {
        assert_eq!(Directories::resolve(&DirectoryInputs::default()), Directories::default());
    }

    #[test]
    fn the_nearest_project_above_is_found_and_a_file_of_that_name_is_none() {
        let root = tempfile::tempdir().expect("a directory");
        let deep = root.path().join("a/b/c");
        std::fs::create_dir_all(&deep).expect("directories");
        std::fs::create_dir(root.path().join("a/.haft")).expect("a directory");
        std::fs::write(root.path().join("a/b/.haft"), "").expect("a file");
        assert_eq!(find_project(&deep), Some(root.path().join("a/.haft")));
    }

    #[test]
    fn tools_are_looked_for_where_later_ones_win() {
        let places = Directories {
            system: Some("/s".into()),
            user: Some("/u".into()),
            project: Some("/p/.haft".into()),
            ..Directories::default()
        };
        let expected = [(Layer::System, "/s"), (Layer::User, "/u/tools"), (Layer::Project, "/p/.haft/tools")];
        let expected = expected.map(|(layer, place)| (layer, PathBuf::from(place)));
        assert_eq!(places.tool_directories(), expected);
    }
}
