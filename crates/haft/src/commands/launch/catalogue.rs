//! Loads the configuration and the facts about the host for a launch.

use std::path::{Path, PathBuf};

use haft_config::trust::TrustStore;
use haft_config::{ConfigSource, Directories, Layer};
use haft_launch::Catalogue;
use jiff::Zoned;

use crate::commands::trust;
use crate::failure::{Failure, print_message};
use crate::places;
use crate::process_context::ProcessContext;

/// The directories, trust and host facts of a launch.
pub(super) struct LaunchSetup {
    pub(super) places: Directories,
    pub(super) trust: TrustStore,
    pub(super) launch: haft_launch::HostFacts,
}

impl LaunchSetup {
    /// Collects them.
    ///
    /// # Errors
    /// If the working directory was removed.
    pub(super) fn load(process: &ProcessContext) -> Result<LaunchSetup, Failure> {
        let missing = || Failure::usage("the working directory no longer exists");
        let working_directory = process.working_directory.clone().ok_or_else(missing)?;
        let places = places::find(process);
        let variable = |name: &str| process.variable(name).map(|value| value.to_string_lossy().into_owned());
        let user = variable("USER").or_else(|| variable("LOGNAME"));
        let now = Zoned::now();
        let trust = TrustStore::open(places.state.as_deref());
        let launch = haft_launch::HostFacts {
            project: places.project.as_deref().and_then(Path::parent).map(Path::to_path_buf),
            home: process.variable("HOME").map(PathBuf::from),
            environment: process.environment.clone(),
            user: user.unwrap_or_else(user_name),
            hostname: rustix::system::uname().nodename().to_string_lossy().into_owned(),
            date: now.strftime("%Y-%m-%d").to_string(),
            datetime: now.strftime("%Y-%m-%d %H:%M:%S %:z").to_string(),
            haft: std::fs::read_link("/proc/self/exe").unwrap_or_else(|_| PathBuf::from("haft")),
            trust: trust.clone(),
            working_directory,
        };
        Ok(LaunchSetup { trust, places, launch })
    }

    /// The configuration files in ascending precedence, or the error for each.
    pub(super) fn layers(&self) -> impl Iterator<Item = Result<ConfigSource, haft_config::Error>> {
        let layers = [(Layer::User, &self.places.user), (Layer::Project, &self.places.project)];
        let read = |(layer, place): (Layer, &Option<PathBuf>)| {
            let place = place.as_ref()?;
            ConfigSource::read(layer, place, &self.shown(place), &self.trust.owners()).transpose()
        };
        layers.into_iter().filter_map(read)
    }

    /// The whole catalogue.
    pub(super) fn catalogue(&self) -> Result<Catalogue, Failure> {
        let read = || Catalogue::read(self.layers().collect::<Result<Vec<_>, _>>()?);
        read().map_err(|error| haft_launch::Error::from(error).into())
    }

    /// Checks that the project's configuration is trusted, and asks the user at a terminal if it is not. The check covers the
    /// text that was read, even if the file has changed since.
    pub(super) fn demand_trust(&self, catalogue: &Catalogue) -> Result<(), Failure> {
        let Err(error) = catalogue.check_trust(&self.trust) else { return Ok(()) };
        let Some(project) = self.places.project.as_ref().filter(|_| trust::on_terminal()) else {
            return Err(error.into());
        };
        print_message(&error);
        if trust::ask_about(project, &self.trust, &self.launch.environment)? {
            return Ok(catalogue.check_trust(&self.trust)?);
        }
        let hint = error.hint().map(str::to_owned);
        Err(Failure { message: "nothing was launched".to_owned(), hint, status: error.exit_code() })
    }

    /// The catalogue without asking the user: a project's configuration that is untrusted or unreadable is left out.
    pub(super) fn trusted_catalogue(&self) -> Result<Catalogue, Failure> {
        let sources: Vec<ConfigSource> = self.layers().filter_map(Result::ok).collect();
        let whole = Catalogue::read(sources.clone());
        if let Some(catalogue) = whole.ok().filter(|catalogue| catalogue.check_trust(&self.trust).is_ok()) {
            return Ok(catalogue);
        }
        let own = sources.into_iter().filter(|source| source.layer != Layer::Project);
        Catalogue::read(own).map_err(|error| haft_launch::Error::from(error).into())
    }

    /// A path relative to the working directory or to `~`.
    pub(super) fn shown(&self, path: &Path) -> PathBuf {
        if let Ok(inner) = path.strip_prefix(&self.launch.working_directory) {
            return inner.to_path_buf();
        }
        let home = self.launch.home.as_deref().and_then(|home| path.strip_prefix(home).ok());
        home.map_or_else(|| path.to_path_buf(), |inner| Path::new("~").join(inner))
    }
}

/// The name of this process's user, from the table of users; else the number.
fn user_name() -> String {
    let number = rustix::process::getuid().as_raw().to_string();
    let table = std::fs::read("/etc/passwd").unwrap_or_default();
    let table = String::from_utf8_lossy(&table);
    let mut users = table.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let user = users.find(|columns| columns.get(2) == Some(&number.as_str()));
    user.map_or(number.clone(), |columns| columns[0].to_owned())
}

impl From<haft_launch::Error> for Failure {
    fn from(error: haft_launch::Error) -> Failure {
        Failure {
            message: error.to_string(),
            hint: error.hint().map(str::to_owned),
            status: error.exit_code(),
        }
    }
}
