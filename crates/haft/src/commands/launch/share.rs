//! `haft launch add`, `remove` and `order`: change the items of a configuration.

use std::path::{Path, PathBuf};

use haft_config::{
    CONFIG_FILE_NAME, ConfigSource, ConfigText, FileRules, Layer, MAX_CONFIG_BYTES, MAX_TEXT_BYTES,
    PROJECT_DIRECTORY, printable_text,
};
use haft_launch::Catalogue;
use haft_process::reason;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::arguments::{AddArguments, ItemKind, PlaceOptions};
use super::catalogue::LaunchSetup;
use super::configure::user_directory;
use crate::commands::print::{print_json, print_text};
use crate::commands::trust;
use crate::failure::{Failure, print_stderr};
use crate::process_context::ProcessContext;

/// A change of a configuration.
#[derive(JsonSchema, Serialize)]
pub(crate) struct LaunchChangeReport<'a> {
    /// The configuration file.
    path: &'a Path,
    /// `agent`, `role`, `context` or `task`.
    kind: &'static str,
    /// The items that were added, removed or put first.
    names: &'a [String],
    /// Text files that were written or removed.
    files: &'a [PathBuf],
}

/// Adds an item of another configuration, or a text file.
pub(super) fn add(arguments: &AddArguments, process: &ProcessContext) -> Result<i32, Failure> {
    let AddArguments { kind, name, from, replace, place } = arguments;
    let world = LaunchSetup::load(process)?;
    let mut target = Target::open(&world, place.project)?;
    let section = kind.section();
    if target.config.item(section, name).is_some() && !replace {
        let message = format!("{section} '{name}' exists in {}", target.shown.display());
        return Err(Failure { hint: Some("--replace replaces it".to_owned()), ..Failure::usage(message) });
    }
    let item = Origin::open(&world.launch.working_directory.join(from))?.item(*kind, name)?;
    let file = item.file.map(|(written, text)| (target.file_for(*kind, name), written, text));
    let mut block = item.block;
    if let Some((path, written, _)) = &file {
        let shown = Value::from(target.file_key(path, &world)).to_string();
        block = with_file_key(&block, written.as_deref(), &shown);
    }
    target.config.set(section, name, &block);
    target.check(&world)?;
    let mut text = format!("# {}\n{}", target.shown.display(), printable_lines(&block));
    if let Some((path, _, content)) = &file {
        let content = String::from_utf8_lossy(content);
        text += &format!("\n# {}\n{}\n", path.display(), printable_lines(content.trim_end()));
    }
    confirm(&text, "add it", place)?;
    let files: Vec<PathBuf> = file.iter().map(|(path, _, _)| path.clone()).collect();
    if let Some((path, _, content)) = &file {
        write(path, content)?;
    }
    target.save()?;
    target.report(*kind, std::slice::from_ref(name), &files, place)
}

/// Removes an item, and the text file that `add` wrote for it.
pub(super) fn remove(
    kind: ItemKind,
    name: &str,
    place: &PlaceOptions,
    process: &ProcessContext,
) -> Result<i32, Failure> {
    let world = LaunchSetup::load(process)?;
    let mut target = Target::open(&world, place.project)?;
    let removed = target.config.remove(kind.section(), name).ok_or_else(|| target.missing(kind, name))?;
    target.check(&world)?;
    confirm(&format!("# {}\n{}", target.shown.display(), printable_lines(&removed)), "remove it", place)?;
    target.save()?;
    let file = target.file_for(kind, name);
    let is_own = removed.contains(&Value::from(target.file_key(&file, &world)).to_string());
    let files: Vec<PathBuf> =
        Some(file).filter(|file| is_own && std::fs::remove_file(file).is_ok()).into_iter().collect();
    target.report(kind, &[name.to_owned()], &files, place)
}

/// Puts items first, in the given order.
pub(super) fn order(
    kind: ItemKind,
    names: &[String],
    place: &PlaceOptions,
    process: &ProcessContext,
) -> Result<i32, Failure> {
    let world = LaunchSetup::load(process)?;
    let mut target = Target::open(&world, place.project)?;
    let known = target.config.names(kind.section());
    if let Some(missing) = names.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(target.missing(kind, missing));
    }
    target.config.order(kind.section(), names);
    target.check(&world)?;
    target.save()?;
    target.report(kind, names, &[], place)
}

/// The configuration that changes.
struct Target {
    layer: Layer,
    /// The directory of the configuration file.
    directory: PathBuf,
    path: PathBuf,
    shown: PathBuf,
    config: ConfigText,
}

impl Target {
    fn open(world: &LaunchSetup, project: bool) -> Result<Target, Failure> {
        let own = || world.launch.working_directory.join(PROJECT_DIRECTORY);
        let (layer, directory) = match project {
            true => (Layer::Project, world.places.project.clone().unwrap_or_else(own)),
            false => (Layer::User, user_directory(world)?),
        };
        let shown = world.shown(&directory);
        let source = ConfigSource::read(layer, &directory, &shown, &world.trust.owners());
        let path = directory.join(CONFIG_FILE_NAME);
        let empty = || source_of(layer, &path, String::new());
        let config = source.and_then(|source| ConfigText::parse(source.unwrap_or_else(empty)));
        let config = config.map_err(haft_launch::Error::from)?;
        Ok(Target { layer, shown: shown.join(CONFIG_FILE_NAME), directory, path, config })
    }

    fn missing(&self, kind: ItemKind, name: &str) -> Failure {
        let known = self.config.names(kind.section());
        let hint = haft_config::suggest(name, known.iter().copied());
        let message = format!("no {} '{name}' in {}", kind.section(), self.shown.display());
        Failure { hint, ..Failure::usage(message) }
    }

    /// Fails if the changed configuration is invalid.
    fn check(&self, world: &LaunchSetup) -> Result<(), Failure> {
        let mut sources: Vec<ConfigSource> =
            world.layers().filter_map(Result::ok).filter(|source| source.layer != self.layer).collect();
        sources.push(source_of(self.layer, &self.shown, self.config.text()));
        sources.sort_by_key(|source| source.layer);
        Catalogue::read(sources).map(drop).map_err(|error| haft_launch::Error::from(error).into())
    }

    /// The file for the text of an item.
    fn file_for(&self, kind: ItemKind, name: &str) -> PathBuf {
        let plain = |letter: char| {
            if letter.is_ascii_alphanumeric() || "._-".contains(letter) { letter } else { '-' }
        };
        let name: String = name.chars().map(plain).collect();
        self.directory
            .join(format!("{}s", kind.section()))
            .join(format!("{}.md", name.trim_start_matches('.')))
    }

    /// The file as the value of `file`: relative to the project's root, or below the home directory.
    fn file_key(&self, path: &Path, world: &LaunchSetup) -> String {
        let root = self.directory.parent().filter(|_| self.layer == Layer::Project);
        match root.and_then(|root| path.strip_prefix(root).ok()) {
            Some(inner) => inner.display().to_string(),
            None => {
                let home = world.launch.home.as_deref().and_then(|home| path.strip_prefix(home).ok());
                home.map_or_else(|| path.display().to_string(), |inner| format!("~/{}", inner.display()))
            }
        }
    }

    fn save(&self) -> Result<(), Failure> {
        write(&self.path, self.config.text().as_bytes())
    }

    fn report(
        &self,
        kind: ItemKind,
        names: &[String],
        files: &[PathBuf],
        place: &PlaceOptions,
    ) -> Result<i32, Failure> {
        if place.json {
            let report = LaunchChangeReport { path: &self.path, kind: kind.section(), names, files };
            return Ok(print_json(&report, 0));
        }
        let trust = if self.layer == Layer::Project { "; `haft trust` allows it to be used" } else { "" };
        Ok(print_text(&format!("changed {}{trust}\n", self.shown.display()), 0))
    }
}

/// The source of an item: a configuration, or texts.
pub(super) struct Origin {
    /// A configuration, and the directory that its paths are relative to.
    config: Option<(ConfigSource, PathBuf)>,
    /// A text file, or a directory with text files.
    texts: PathBuf,
}

/// An item that was found.
struct FoundItem {
    /// Its TOML text.
    block: String,
    /// The value of its `file` as it is written, if there is one, and the content of the file.
    file: Option<(Option<String>, Vec<u8>)>,
}

impl Origin {
    /// Opens a configuration file, a directory with a configuration, or texts.
    pub(super) fn open(from: &Path) -> Result<Origin, Failure> {
        let candidates = match from.is_dir() {
            true => vec![from.join(PROJECT_DIRECTORY).join(CONFIG_FILE_NAME), from.join(CONFIG_FILE_NAME)],
            false if from.extension().is_some_and(|extension| extension == "toml") => {
                vec![from.to_path_buf()]
            }
            false => Vec::new(),
        };
        let Some(path) = candidates.into_iter().find(|path| path.is_file()) else {
            from.metadata().map_err(|error| cannot_read(from, &reason(&error)))?;
            return Ok(Origin { config: None, texts: from.to_path_buf() });
        };
        let bytes = FileRules::up_to(MAX_CONFIG_BYTES)
            .read(&path)
            .map_err(|error| cannot_read(&path, error.reason()))?;
        let text = String::from_utf8(bytes).map_err(|_| cannot_read(&path, "it is not UTF-8 text"))?;
        let directory = path.parent().unwrap_or(Path::new("/"));
        let is_project = directory.file_name().is_some_and(|name| name == PROJECT_DIRECTORY);
        let root = if is_project { directory.parent().unwrap_or(directory) } else { directory };
        Ok(Origin {
            config: Some((source_of(Layer::User, &path, text), root.to_path_buf())),
            texts: from.to_path_buf(),
        })
    }

    /// All items of the configuration.
    pub(super) fn catalogue(self) -> Result<Catalogue, Failure> {
        let source = self.config.map(|(source, _)| source);
        Catalogue::read(source).map_err(|error| haft_launch::Error::from(error).into())
    }

    /// Finds an item, in the configuration or as a text file.
    fn item(&self, kind: ItemKind, name: &str) -> Result<FoundItem, Failure> {
        if let Some((source, root)) = &self.config {
            let config = ConfigText::parse(source.clone()).map_err(haft_launch::Error::from)?;
            if let Some(block) = config.item(kind.section(), name) {
                let file = config.string_value(kind.section(), name, "file");
                return with_file(block, file, root);
            }
            let names = config.names(kind.section());
            let hint = match names.is_empty() {
                true => None,
                false => Some(format!("it has {}", names.join(", "))),
            };
            let message = format!("no {} '{name}' in {}", kind.section(), source.name);
            return Err(Failure { hint, ..Failure::usage(message) });
        }
        self.text_item(kind, name)
    }

    fn text_item(&self, kind: ItemKind, name: &str) -> Result<FoundItem, Failure> {
        if kind == ItemKind::Agent {
            return Err(Failure::usage(format!("'{}' is not a configuration file", self.texts.display())));
        }
        let plural = format!("{}s", kind.section());
        let file = format!("{name}.md");
        let candidates = [self.texts.clone(), self.texts.join(&plural).join(&file), self.texts.join(&file)];
        let Some(path) = candidates.iter().find(|path| path.is_file()) else {
            let message = format!("no configuration and no '{file}' in {}", self.texts.display());
            return Err(Failure::usage(message));
        };
        let content =
            FileRules::up_to(MAX_TEXT_BYTES).read(path).map_err(|error| cannot_read(path, error.reason()))?;
        let block = format!("[[{}]]\nname = {}\n", kind.section(), Value::from(name));
        Ok(FoundItem { block, file: Some((None, content)) })
    }
}

/// An item with the text file that it names, if that file belongs to the same tree.
fn with_file(block: &str, file: Option<String>, root: &Path) -> Result<FoundItem, Failure> {
    let block = block.trim_end().to_owned() + "\n";
    let Some(named) = file.filter(|named| !named.starts_with(['/', '~'])) else {
        return Ok(FoundItem { block, file: None });
    };
    let path = root.join(&named);
    match FileRules::up_to(MAX_TEXT_BYTES).beneath(root).read(&path) {
        Ok(content) => Ok(FoundItem { block, file: Some((Some(named), content)) }),
        Err(error) if error.kind() == haft_config::FileErrorKind::NotFound => {
            Ok(FoundItem { block, file: None })
        }
        Err(error) => Err(cannot_read(&path, error.reason())),
    }
}

/// Sets the item's `file` to another path: in place of `written`, or on a line after the name.
fn with_file_key(block: &str, written: Option<&str>, new: &str) -> String {
    let Some(written) = written else { return format!("{block}file = {new}\n") };
    let is_file = |line: &str| {
        line.split_once('=').is_some_and(|(key, value)| key.trim() == "file" && value.contains(written))
    };
    let lines =
        block.lines().map(|line| if is_file(line) { format!("file = {new}\n") } else { format!("{line}\n") });
    lines.collect()
}

fn source_of(layer: Layer, path: &Path, text: String) -> ConfigSource {
    ConfigSource { layer, name: path.display().to_string(), path: None, text }
}

fn cannot_read(path: &Path, why: &str) -> Failure {
    Failure::usage(format!("'{}' cannot be read: {why}", path.display()))
}

/// A text for a terminal: without control characters other than newlines and tabs.
fn printable_lines(text: &str) -> String {
    text.lines()
        .map(|line| line.split('\t').map(printable_text).collect::<Vec<_>>().join("\t") + "\n")
        .collect()
}

/// Shows a change and asks the user, unless `--yes` is given.
fn confirm(text: &str, question: &str, place: &PlaceOptions) -> Result<(), Failure> {
    if !place.json {
        print_stderr(text);
    }
    let nothing = "nothing was changed";
    if place.yes || trust::confirm(&format!("{question}?"), nothing, "--yes changes it without asking")? {
        return Ok(());
    }
    Err(Failure::new(nothing, 1))
}

/// Writes a file in one step.
fn write(path: &Path, content: &[u8]) -> Result<(), Failure> {
    haft_config::replace_file(path, content).map_err(|error| Failure {
        status: 1,
        ..Failure::usage(format!("cannot write '{}': {}", path.display(), reason(&error)))
    })
}
