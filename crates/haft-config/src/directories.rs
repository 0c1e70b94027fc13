//! Directories of the installation, the user and the project.
//!
//! This module does not read the environment. The binary passes the relevant variables as
//! [`DirectoryInputs`].

use std::path::{Path, PathBuf};

use crate::source::Layer;

/// Name of the directory that marks a project.
pub const PROJECT_DIRECTORY: &str = ".haft";

/// Inputs of [`Directories::resolve`].
#[derive(Clone, Copy, Debug, Default)]
pub struct DirectoryInputs<'a> {
    /// Directory of the tools that come with the installation.
    pub system: Option<&'a Path>,
    /// The user's home directory.
    pub home: Option<&'a Path>,
    /// `XDG_CONFIG_HOME`, if set. This and the other XDG variables are ignored if they are not absolute.
    pub config_home: Option<&'a Path>,
    /// `XDG_STATE_HOME`, if set.
    pub state_home: Option<&'a Path>,
    /// `XDG_CACHE_HOME`, if set.
    pub cache_home: Option<&'a Path>,
    /// Directory where the upward search for a project starts.
    pub working_directory: Option<&'a Path>,
}

/// Directories that haft uses. None of them has to exist. A field is `None` if the directory cannot be
/// determined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Directories {
    /// Tools of the installation.
    pub system: Option<PathBuf>,
    /// User configuration, usually `~/.config/haft`.
    pub user: Option<PathBuf>,
    /// The nearest `.haft` at or above the working directory.
    pub project: Option<PathBuf>,
    /// Persistent state, usually `~/.local/state/haft`.
    pub state: Option<PathBuf>,
    /// Cache, usually `~/.cache/haft`.
    pub cache: Option<PathBuf>,
}

impl Directories {
    /// Determines the directories and searches for the project.
    pub fn resolve(inputs: &DirectoryInputs<'_>) -> Directories {
        let user = base(inputs.config_home, inputs.home, ".config");
        let project = inputs.working_directory.and_then(find_project);
        Directories {
            system: inputs.system.map(Path::to_path_buf),
            // The user's own configuration directory is never a project.
            project: project.filter(|project| Some(project) != user.as_ref()),
            user,
            state: base(inputs.state_home, inputs.home, ".local/state"),
            cache: base(inputs.cache_home, inputs.home, ".cache"),
        }
    }

    /// Directories that may hold tools, from lowest to highest precedence.
    pub fn tool_directories(&self) -> Vec<(Layer, PathBuf)> {
        let below = |directory: &Option<PathBuf>| directory.as_ref().map(|directory| directory.join("tools"));
        let all = [
            (Layer::System, self.system.clone()),
            (Layer::User, below(&self.user)),
            (Layer::Project, below(&self.project)),
        ];
        all.into_iter().filter_map(|(layer, directory)| Some((layer, directory?))).collect()
    }
}

fn base(configured: Option<&Path>, home: Option<&Path>, default: &str) -> Option<PathBuf> {
    let configured = configured.filter(|configured| configured.is_absolute()).map(Path::to_path_buf);
    Some(configured.or_else(|| Some(home?.join(default)))?.join("haft"))
}

/// Finds the nearest `.haft` directory at or above `from`.
pub fn find_project(from: &Path) -> Option<PathBuf> {
    from.ancestors().map(|directory| directory.join(PROJECT_DIRECTORY)).find(|directory| directory.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Option<&Path> {
        Some(Path::new(text))
    }

    #[test]
    fn defaults_are_below_home() {
        let directories =
            Directories::resolve(&DirectoryInputs { home: path("/home/me"), ..DirectoryInputs::default() });
        assert_eq!(directories.user.as_deref(), path("/home/me/.config/haft"));
        assert_eq!(directories.state.as_deref(), path("/home/me/.local/state/haft"));
        assert_eq!(directories.cache.as_deref(), path("/home/me/.cache/haft"));
        assert_eq!((directories.system, directories.project), (None, None));
    }

    #[test]
    fn absolute_xdg_variables_win_and_relative_ones_are_ignored() {
        let inputs = DirectoryInputs {
            home: path("/home/me"),
            config_home: path("/elsewhere"),
            cache_home: path("relative"),
            ..DirectoryInputs::default()
        };
        let directories = Directories::resolve(&inputs);
        assert_eq!(directories.user.as_deref(), path("/elsewhere/haft"));
        assert_eq!(directories.cache.as_deref(), path("/home/me/.cache/haft"));
    }

    #[test]
    fn without_home_there_are_no_user_directories() {
        assert_eq!(Directories::resolve(&DirectoryInputs::default()), Directories::default());
    }

    #[test]
    fn the_nearest_project_directory_is_found_and_a_file_is_not_one() {
        let root = tempfile::tempdir().expect("a directory");
        let deep = root.path().join("a/b/c");
        std::fs::create_dir_all(&deep).expect("directories");
        std::fs::create_dir(root.path().join("a/.haft")).expect("a directory");
        std::fs::write(root.path().join("a/b/.haft"), "").expect("a file");
        assert_eq!(find_project(&deep), Some(root.path().join("a/.haft")));
    }

    #[test]
    fn tool_directories_are_ordered_by_precedence() {
        let directories = Directories {
            system: Some("/s".into()),
            user: Some("/u".into()),
            project: Some("/p/.haft".into()),
            ..Directories::default()
        };
        let expected = [(Layer::System, "/s"), (Layer::User, "/u/tools"), (Layer::Project, "/p/.haft/tools")];
        let expected = expected.map(|(layer, directory)| (layer, PathBuf::from(directory)));
        assert_eq!(directories.tool_directories(), expected);
    }
}
