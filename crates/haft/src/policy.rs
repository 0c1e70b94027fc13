//! The policy of a run: a preset or a file that the user names, or the section `[policy]` of the configuration.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::Args;
use haft_config::trust::TrustStore;
use haft_config::{ConfigSource, FileRules, Layer, MAX_CONFIG_BYTES, printable};
use haft_policy::{Policy, PolicyContext, Preset};

use crate::failure::Failure;
use crate::places;
use crate::process_context::ProcessContext;

/// The option that names a policy.
#[derive(Args, Debug, Default)]
pub(crate) struct PolicyOption {
    /// A preset (read-only, workspace, offline, full) or a file [default: that of the configuration]
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) policy: Option<OsString>,
}

/// The policy that an option names, or else that of the user's configuration. The project's configuration narrows both;
/// it need not be trusted for that.
///
/// # Errors
/// If a file cannot be read or has mistakes, or there is no such policy.
pub(crate) fn load(named: Option<&OsStr>, process: &ProcessContext) -> Result<Policy, Failure> {
    let context = context(process);
    let places = places::find(process);
    let owners = TrustStore::open(places.state.as_deref()).owners();
    let section = |layer, directory: Option<&PathBuf>| -> Result<Option<Policy>, haft_config::Error> {
        let Some(directory) = directory else { return Ok(None) };
        match ConfigSource::read(layer, directory, directory, &owners) {
            Ok(source) => source.map_or(Ok(None), |source| Policy::read(source, &context)),
            // Neither file can widen what the user allows.
            Err(_) if layer == Layer::Project || belongs_to_other(directory) => Ok(None),
            Err(error) => Err(error),
        }
    };
    let user = match named {
        Some(name) => Some(named_policy(name, &context)?),
        None => section(Layer::User, places.user.as_ref())?,
    };
    let project = section(Layer::Project, places.project.as_ref())?;
    let policies = user.into_iter().chain(project);
    Ok(policies.reduce(|user, project| user.narrow(&project)).unwrap_or_default())
}

/// Whether a directory is in one of another user, as `HOME` may be after `su`.
fn belongs_to_other(directory: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let nearest = directory.ancestors().find_map(|above| above.metadata().ok());
    nearest.is_some_and(|metadata| metadata.uid() != rustix::process::geteuid().as_raw())
}

/// The preset or file of a name.
fn named_policy(name: &OsStr, context: &PolicyContext) -> Result<Policy, Failure> {
    let preset = name.to_str().map(str::parse::<Preset>);
    let is_path = |name: &str| name.contains(['/', '.']);
    match preset {
        Some(Ok(preset)) => Ok(Policy::preset(preset, context)?),
        Some(Err(unknown)) if !name.to_str().is_some_and(is_path) && !Path::new(name).exists() => {
            let failure = Failure::usage(&unknown);
            Err(unknown.hint().into_iter().fold(failure, Failure::with_hint))
        }
        _ => read_file(Path::new(name), context),
    }
}

fn read_file(file: &Path, context: &PolicyContext) -> Result<Policy, Failure> {
    let bytes = FileRules::up_to(MAX_CONFIG_BYTES).or_pipe().read(file).map_err(Failure::usage)?;
    let name = printable(file);
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure::usage(format_args!("cannot read '{name}': it is not UTF-8 text")))?;
    let source =
        ConfigSource { layer: Layer::User, name: name.clone(), path: Some(file.to_path_buf()), text };
    Policy::read(source, context)?.ok_or_else(|| {
        Failure::usage(format_args!("'{name}' has no section [policy]"))
            .with_hint("start it with [policy] and, for example, preset = \"workspace\"")
    })
}

/// The directories that patterns refer to.
pub(crate) fn context(process: &ProcessContext) -> PolicyContext {
    let directory = process.directory_or_link();
    let repository = directory.as_deref().and_then(find_repository);
    let configured =
        places::unchecked(process).project.and_then(|project| Some(project.parent()?.to_path_buf()));
    let root = repository.as_ref().map(|(root, _)| root.clone());
    let real = |path: PathBuf| std::fs::canonicalize(&path).unwrap_or(path);
    let home = process.variable("HOME").map(PathBuf::from).map(real);
    // A home directory is not a project, even if it is a repository: its files belong to all projects.
    let is_project = |path: &PathBuf| !home.as_ref().is_some_and(|home| home.starts_with(path));
    let project = [configured, root, directory].into_iter().flatten().map(real).find(is_project);
    let temp = process.variable("TMPDIR").map(PathBuf::from).into_iter();
    let temp = temp.chain(["/tmp", "/var/tmp", "/dev/shm"].map(PathBuf::from));
    PolicyContext {
        project,
        home: home.clone(),
        temp: temp.filter(|path| path.is_absolute()).map(real).collect(),
        git: repository.filter(|(root, _)| is_project(&real(root.clone()))).map(|(_, data)| real(data)),
    }
}

/// The root of the repository around a directory, and the directory with its data, which worktrees share.
fn find_repository(directory: &Path) -> Option<(PathBuf, PathBuf)> {
    let (root, marker) =
        directory.ancestors().map(|root| (root, root.join(".git"))).find(|(_, marker)| marker.exists())?;
    if marker.is_dir() {
        return Some((root.to_path_buf(), marker));
    }
    let data = linked_data(root, &marker)?;
    Some((root.to_path_buf(), data))
}

/// The data of a worktree or a submodule, whose `.git` is a file that names it. The file comes with the project, so the
/// directory must confirm that it belongs to it.
fn linked_data(root: &Path, marker: &Path) -> Option<PathBuf> {
    let link = std::fs::read_to_string(marker).ok()?;
    let data = std::fs::canonicalize(root.join(link.strip_prefix("gitdir:")?.trim())).ok()?;
    let marker = std::fs::canonicalize(marker).ok()?;
    let back = std::fs::read_to_string(data.join("gitdir")).ok();
    let back = back.and_then(|back| std::fs::canonicalize(data.join(back.trim())).ok());
    if back.is_some_and(|back| back == marker) {
        let common = std::fs::read_to_string(data.join("commondir")).ok()?;
        let common = std::fs::canonicalize(data.join(common.trim())).ok()?;
        return data.starts_with(&common).then_some(common);
    }
    // A submodule's data is inside that of a repository around it.
    let is_inside = marker.ancestors().skip(2).any(|above| data.starts_with(above.join(".git/modules")));
    is_inside.then_some(data)
}

/// Resolves the symbolic links of a path, as far as it exists.
pub(crate) fn resolve(path: &Path) -> PathBuf {
    let existing = path.ancestors().find_map(|above| Some((above, std::fs::canonicalize(above).ok()?)));
    match existing {
        Some((above, real)) => match path.strip_prefix(above) {
            Ok(rest) if !rest.as_os_str().is_empty() => real.join(rest),
            _ => real,
        },
        None => path.to_path_buf(),
    }
}
