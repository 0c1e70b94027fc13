//! The entries: one data file per topic.
//!
//! An entry starts with `=== name`; its script follows. Sections may come after it, each started by a line of its own:
//! `--- stdin` (the bytes of standard input; empty without it), `--- args` (one argument on each line),
//! `--- options` (options of the shell, one on each line), `--- with -c` (the script is an argument, not a file),
//! `--- as a file` (the script is always a file, because its output depends on it), `--- with its words` (the text on standard error is compared
//! too) and `--- differs REASON` (a known difference, which must exist).

use std::path::{Path, PathBuf};

/// How many entries of a topic run as one test.
const ENTRIES_PER_TEST: usize = 20;

/// One script to compare.
#[derive(Debug, Default)]
pub(crate) struct Case {
    /// `topic/name`.
    pub(crate) name: String,
    /// The test that runs the entry, together with other entries of the topic.
    pub(crate) batch: String,
    /// The text of the script.
    pub(crate) script: String,
    /// Its standard input.
    pub(crate) stdin: Option<String>,
    /// Its arguments.
    pub(crate) arguments: Vec<String>,
    /// Options of the shell.
    pub(crate) options: Vec<String>,
    /// How the shell gets the script, if the entry requires one way.
    way: Option<ScriptDelivery>,
    /// The index of the entry in its topic.
    index: usize,
    /// Whether the text on standard error must be equal.
    pub(crate) words: bool,
    /// Why the results differ, for a known difference.
    pub(crate) known: Option<String>,
}

/// How a shell gets a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScriptDelivery {
    /// As a file.
    File,
    /// As an argument, after `-c`.
    Argument,
    /// As an argument, followed by a script name.
    NamedArgument,
    /// On standard input.
    Input,
}

/// Reads all entries of all topics, in the order of the files.
pub(crate) fn all() -> Vec<Case> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the directory of all crates");
    let directory = crates.join("haft-kernel/tests/differential/cases");
    let entries = std::fs::read_dir(&directory).expect("the directory of the cases");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("a readable entry").path()).collect();
    files.sort();
    let cases: Vec<Case> = files.iter().flat_map(|file| read(file)).collect();
    refuse_duplicates(&cases);
    cases
}

fn read(file: &Path) -> Vec<Case> {
    let topic = file.file_stem().expect("a file name").to_string_lossy().into_owned();
    let text = std::fs::read_to_string(file).expect("a readable topic");
    let mut cases: Vec<Case> = Vec::new();
    let mut section = Section::Script;
    for line in text.split_inclusive('\n') {
        if let Some(name) = line.strip_prefix("=== ") {
            let index = cases.len();
            let batch = format!("{topic}-{}", index / ENTRIES_PER_TEST + 1);
            cases.push(Case {
                name: format!("{topic}/{}", name.trim_end()),
                batch,
                index,
                ..Case::default()
            });
            section = Section::Script;
        } else if let Some(case) = cases.last_mut() {
            section = case.take(line, section);
        }
    }
    cases
}

fn refuse_duplicates(cases: &[Case]) {
    let mut names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    names.sort_unstable();
    let twice = names.windows(2).find(|pair| pair[0] == pair[1]);
    assert!(twice.is_none(), "two entries have the name '{}'", twice.unwrap_or_default()[0]);
}

/// The section that a line belongs to.
#[derive(Clone, Copy)]
enum Section {
    Script,
    Stdin,
    Arguments,
    Options,
}

impl Case {
    /// Returns how the shell gets the script: as a file, or with `in_turn` in one of the other ways.
    pub(crate) fn way(&self, in_turn: bool) -> ScriptDelivery {
        match self.way {
            Some(way) => way,
            None if !in_turn => ScriptDelivery::File,
            None if self.stdin.is_some() || self.index.is_multiple_of(2) => ScriptDelivery::NamedArgument,
            None => ScriptDelivery::Input,
        }
    }

    /// Adds a line to the entry, and returns the section of the next line.
    fn take(&mut self, line: &str, section: Section) -> Section {
        let content = line.strip_suffix('\n').unwrap_or(line);
        match content {
            "--- stdin" => {
                self.stdin = Some(String::new());
                return Section::Stdin;
            }
            "--- args" => return Section::Arguments,
            "--- options" => return Section::Options,
            "--- with -c" => self.way = Some(ScriptDelivery::Argument),
            "--- as a file" => self.way = Some(ScriptDelivery::File),
            "--- with its words" => self.words = true,
            _ if content.starts_with("--- differs ") => {
                self.known = content.strip_prefix("--- differs ").map(str::to_owned);
            }
            _ => match section {
                Section::Script => self.script.push_str(line),
                Section::Stdin => self.stdin.get_or_insert_default().push_str(line),
                Section::Arguments => self.arguments.push(content.to_owned()),
                Section::Options => self.options.push(content.to_owned()),
            },
        }
        section
    }
}
