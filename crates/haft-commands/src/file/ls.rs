//! `ls`: lists files.

mod entry;
mod layout;
mod options;

use std::io;
use std::os::unix::ffi::OsStrExt as _;

use haft_fs::FileType;
use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow};

use super::run::join;
use crate::arguments::CommandArguments;
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};
use crate::group::gnu_command;
use crate::rows::{FILE_COLUMNS, file_cells, json_option};
use crate::system::accounts::Accounts;
use crate::text::streams::{Stop, TextRun, run_text};
use entry::{ListedFile, sort};
use layout::Lister;
use options::{Follow, Hidden, Indicator, LS_TROUBLE, Layout, ListOptions};

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "ls",
    summary: "List files and the contents of directories.",
    style: ArgumentStyle::GnuMixed(&["[FILE]..."]),
    parameters: PARAMETERS,
    details: &[
        "Names are sorted byte by byte, as in the C locale. There are no colours, and access control lists are not shown.",
    ],
    statuses: &[
        ("0", "success"),
        ("1", "a file in a directory could not be read"),
        ("2", "an operand could not be read"),
    ],
    examples: &[
        Example {
            summary: "One name per line",
            script: "touch b a .c; ls",
            output: "a\nb\ndev\ntmp\n",
            status: 0,
        },
        Example {
            summary: "Directories are marked",
            script: "mkdir -p d/e; touch d/f; ls -F d",
            output: "e/\nf\n",
            status: 0,
        },
    ],
};

const PARAMETERS: &[CommandParameter] = &[
    CommandParameter::short_flag("1", '1', "Write one name per line."),
    CommandParameter::new("all", ParameterKind::Flag, "List names that begin with a dot.").letter('a'),
    CommandParameter::new("almost-all", ParameterKind::Flag, "The same, without `.` and `..`.").letter('A'),
    CommandParameter::new("escape", ParameterKind::Flag, "Write escapes of C for special characters.").letter('b'),
    CommandParameter::short_flag("c", 'c', "Use the time of the last change of metadata."),
    CommandParameter::short_flag("C", 'C', "Write columns."),
    CommandParameter::new("color", ParameterKind::OptionalText, "`never`, or `auto`: there are no colours.")
        .with_value_name("WHEN"),
    CommandParameter::new("directory", ParameterKind::Flag, "List directories themselves.").letter('d'),
    CommandParameter::new("classify", ParameterKind::OptionalText, "Add a character that shows the type.")
        .with_value_name("WHEN"),
    CommandParameter::short_flag("F", 'F', "The same as `--classify`."),
    CommandParameter::new("file-type", ParameterKind::Flag, "The same, without `*` for programs."),
    CommandParameter::new(
        "format",
        ParameterKind::Text,
        "`across`, `commas`, `long`, `single-column` or `vertical`.",
    )
    .with_value_name("WORD"),
    CommandParameter::new("full-time", ParameterKind::Flag, "The same as `-l --time-style=full-iso`."),
    CommandParameter::short_flag("g", 'g', "The same as `-l`, without owners."),
    CommandParameter::new("group-directories-first", ParameterKind::Flag, "List directories first."),
    CommandParameter::new("no-group", ParameterKind::Flag, "Leave out groups in a long listing.").letter('G'),
    CommandParameter::new("human-readable", ParameterKind::Flag, "Show sizes with units, powers of 1024.")
        .letter('h'),
    CommandParameter::new("si", ParameterKind::Flag, "Show sizes with units, powers of 1000."),
    CommandParameter::new("dereference-command-line", ParameterKind::Flag, "Follow operands that are links.")
        .letter('H'),
    CommandParameter::new(
        "indicator-style",
        ParameterKind::Text,
        "`none`, `slash` (`-p`), `file-type` or `classify` (`-F`).",
    )
    .with_value_name("WORD"),
    CommandParameter::new("inode", ParameterKind::Flag, "Show inode numbers.").letter('i'),
    CommandParameter::new("kibibytes", ParameterKind::Flag, "Show blocks of 1024 bytes, the default.").letter('k'),
    CommandParameter::short_flag("l", 'l', "Write a long listing."),
    CommandParameter::new("dereference", ParameterKind::Flag, "Follow symbolic links.").letter('L'),
    CommandParameter::short_flag("m", 'm', "Write names separated by commas."),
    CommandParameter::new("numeric-uid-gid", ParameterKind::Flag, "The same as `-l`, with numbers of users.")
        .letter('n'),
    CommandParameter::new("literal", ParameterKind::Flag, "Do not quote names.").letter('N'),
    CommandParameter::short_flag("o", 'o', "The same as `-l`, without groups."),
    CommandParameter::short_flag("p", 'p', "Add a slash to directories."),
    CommandParameter::new("hide-control-chars", ParameterKind::Flag, "Write `?` for control characters.")
        .letter('q'),
    CommandParameter::new("show-control-chars", ParameterKind::Flag, "Write control characters as they are."),
    CommandParameter::new("quote-name", ParameterKind::Flag, "Write names in double quotes.").letter('Q'),
    CommandParameter::new(
        "quoting-style",
        ParameterKind::Text,
        "`literal`, `locale`, `shell`, `shell-always`, `shell-escape`, `shell-escape-always`, `c` or `escape`.",
    )
    .with_value_name("WORD"),
    CommandParameter::new("reverse", ParameterKind::Flag, "Reverse the order.").letter('r'),
    CommandParameter::new("recursive", ParameterKind::Flag, "List directories in directories.").letter('R'),
    CommandParameter::new("size", ParameterKind::Flag, "Show the blocks that each file uses.").letter('s'),
    CommandParameter::short_flag("S", 'S', "Sort by size, largest first."),
    CommandParameter::new("sort", ParameterKind::Text, "`none`, `time`, `size`, `extension` or `version`.")
        .with_value_name("WORD"),
    CommandParameter::new("time", ParameterKind::Text, "Use another time: `atime`, `ctime` or `mtime`.")
        .with_value_name("WORD"),
    CommandParameter::new(
        "time-style",
        ParameterKind::Text,
        "`full-iso`, `long-iso`, `iso`, `locale`, or `+FORMAT` as for `date`.",
    )
    .with_value_name("STYLE"),
    CommandParameter::short_flag("t", 't', "Sort by time, newest first."),
    CommandParameter::short_flag("u", 'u', "Use the time of the last access."),
    CommandParameter::short_flag("U", 'U', "Do not sort."),
    CommandParameter::short_flag("v", 'v', "Sort numbers in names by value."),
    CommandParameter::new("width", ParameterKind::Text, "The width of a line; 0 means no limit.")
        .letter('w')
        .with_value_name("COLUMNS"),
    CommandParameter::short_flag("x", 'x', "Write columns that are read across."),
    CommandParameter::short_flag("X", 'X', "Sort by extension."),
    json_option(FILE_COLUMNS),
];

pub(crate) static COMMAND: CommandDefinition = CommandDefinition {
    usage_status: LS_TROUBLE,
    steps_aside: Some(|session, arguments, _| super::step_aside::ls(session, arguments)),
    ..gnu_command(&DESCRIPTOR, run)
};

fn run(context: &mut Context<'_>, arguments: &CommandArguments, _: &[Bytes]) -> Flow {
    run_text(context, |run| {
        run.collect_rows(&DESCRIPTOR, arguments);
        if let Some(word) = arguments.text("color") {
            options::check_color(run, word)?;
        }
        let options = options::read(run, arguments)?;
        let long = options.layout == Layout::Long;
        let session = run.context.session();
        let lister = Lister {
            options: &options,
            encoding: session.encoding(),
            zone: long.then(|| session.time_zone()),
            accounts: (long && !options.columns.numeric).then(|| Accounts::read(session)),
            measured: None,
        };
        let mut listing = Listing { lister, status: 0, printed: false };
        listing.operands(run, &arguments.operands)?;
        run.set_status(listing.status);
        Ok(())
    })
}

struct Listing<'a> {
    lister: Lister<'a>,
    status: i32,
    /// Whether something was listed before, which a blank line separates.
    printed: bool,
}

/// The origin of a file in a listing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Operand,
    Directory,
}

impl Listing<'_> {
    fn options(&self) -> &ListOptions {
        self.lister.options
    }

    /// Lists the operands: files first, then the contents of directories.
    fn operands(&mut self, run: &mut TextRun<'_, '_>, operands: &[Bytes]) -> Result<(), Stop> {
        let current = [Bytes::from(".")];
        let names = if operands.is_empty() { &current } else { operands };
        let mut files = Vec::new();
        for name in names {
            run.context.check()?;
            files.extend(self.file(run, name, name, Origin::Operand, None));
        }
        // All operands determine the widths, even those that are not listed together.
        self.lister.measure(&files, names);
        sort(&mut files, self.options());
        let immediate = self.options().immediate;
        let is_directory = |file: &ListedFile| !immediate && file.kind() == Some(FileType::Directory);
        let (directories, files): (Vec<_>, Vec<_>) = files.into_iter().partition(is_directory);
        if !files.is_empty() {
            self.add_rows(run, b"", &files);
            run.write(&self.lister.render(&files))?;
            self.printed = true;
        }
        self.lister.forget_measures();
        let headed = operands.len() > 1 || self.options().recursive;
        for directory in directories {
            self.directory(run, &directory.name, Origin::Operand, headed)?;
        }
        Ok(())
    }

    /// Reads what is listed of a file. `None` if it cannot be read, which is reported.
    fn file(
        &mut self,
        run: &mut TextRun<'_, '_>,
        name: &[u8],
        path: &[u8],
        origin: Origin,
        kind: Option<FileType>,
    ) -> Option<ListedFile> {
        let options = self.lister.options;
        let mut file =
            ListedFile { name: name.to_vec(), metadata: None, target: None, target_metadata: None, kind };
        let wants_directory = options.recursive || options.indicator != Indicator::None;
        let is_followed = kind == Some(FileType::Symlink) && options.follow == Follow::Always;
        if origin == Origin::Directory
            && !options.needs_metadata()
            && (kind.is_some() && !is_followed || !wants_directory)
        {
            return Some(file);
        }
        match self.metadata(run, path, origin) {
            Ok(metadata) => file.metadata = Some(metadata),
            Err(error) => {
                self.failed(run, "cannot access", path, &error, origin);
                // A link that leads nowhere is still listed.
                return (origin == Origin::Directory).then_some(file);
            }
        }
        let is_link = file.metadata.is_some_and(|metadata| metadata.is_symlink());
        if is_link && options.layout == Layout::Long {
            match run.files().read_link(&run.path(path)) {
                Ok(target) => file.target = Some(target.as_os_str().as_bytes().to_vec()),
                Err(error) => self.failed(run, "cannot read symbolic link", path, &error, origin),
            }
        }
        let marks_target = matches!(options.indicator, Indicator::FileType | Indicator::Classify);
        if is_link && (marks_target || options.directories_first) {
            file.target_metadata = run.stat(path).ok();
        }
        Some(file)
    }

    fn metadata(&self, run: &TextRun<'_, '_>, path: &[u8], origin: Origin) -> io::Result<haft_fs::Metadata> {
        match (self.options().follow, origin) {
            (Follow::Always, _) | (Follow::CommandLine, Origin::Operand) => run.stat(path),
            (Follow::CommandLineDirectories, Origin::Operand) => match run.stat(path) {
                Ok(metadata) if metadata.is_dir() => Ok(metadata),
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => run.lstat(path),
            },
            _ => run.lstat(path),
        }
    }

    fn failed(
        &mut self,
        run: &mut TextRun<'_, '_>,
        problem: &str,
        path: &[u8],
        error: &io::Error,
        origin: Origin,
    ) {
        run.name_failed(problem, path, error);
        self.status = match origin {
            Origin::Operand => LS_TROUBLE,
            Origin::Directory => self.status.max(1),
        };
    }

    /// Lists the contents of a directory.
    fn directory(
        &mut self,
        run: &mut TextRun<'_, '_>,
        name: &[u8],
        origin: Origin,
        headed: bool,
    ) -> Result<(), Stop> {
        run.context.check()?;
        let entries = match run.files().read_dir(&run.path(name)) {
            Ok(entries) => entries,
            Err(error) => {
                self.failed(run, "cannot open directory", name, &error, origin);
                return Ok(());
            }
        };
        let mut files = Vec::new();
        if self.options().hidden == Hidden::All {
            for dot in [b".".as_slice(), b".."] {
                files.extend(self.file(
                    run,
                    dot,
                    &join(name, dot),
                    Origin::Directory,
                    Some(FileType::Directory),
                ));
            }
        }
        for entry in entries {
            run.context.check()?;
            match entry {
                Ok(entry) => {
                    let own = entry.name.as_bytes();
                    if self.options().hidden != Hidden::Skip || !own.starts_with(b".") {
                        files.extend(self.file(run, own, &join(name, own), Origin::Directory, entry.kind));
                    }
                }
                Err(error) => {
                    self.failed(run, "reading directory", name, &error, origin);
                    break;
                }
            }
        }
        sort(&mut files, self.options());
        self.print_directory(run, name, &files, headed)?;
        if self.options().recursive {
            for file in files.iter().filter(|file| file.kind() == Some(FileType::Directory)) {
                if !matches!(file.name.as_slice(), b"." | b"..") {
                    self.directory(run, &join(name, &file.name), Origin::Directory, true)?;
                }
            }
        }
        Ok(())
    }

    /// Adds files to the results of `--json`.
    fn add_rows(&self, run: &mut TextRun<'_, '_>, directory: &[u8], files: &[ListedFile]) {
        for file in files.iter().filter(|_| run.collects_rows()).collect::<Vec<_>>() {
            let path = join(directory, &file.name);
            let Some(metadata) = file.metadata.or_else(|| run.lstat(&path).ok()) else { continue };
            let target = run.files().read_link(&run.path(&path)).ok().filter(|_| metadata.is_symlink());
            let target = target.as_ref().map(|target| target.as_os_str().as_bytes());
            run.row(|| file_cells(&path, &metadata, target));
        }
    }

    fn print_directory(
        &mut self,
        run: &mut TextRun<'_, '_>,
        name: &[u8],
        files: &[ListedFile],
        headed: bool,
    ) -> Result<(), Stop> {
        if headed {
            if self.printed {
                run.write(b"\n")?;
            }
            run.write(&[self.lister.name(name, b":").as_slice(), b":\n"].concat())?;
        }
        self.printed = true;
        let directory = if headed || name != b"." { name } else { b"" };
        self.add_rows(run, directory, files);
        if self.options().layout == Layout::Long || self.options().blocks {
            run.write(self.lister.total(files).as_bytes())?;
        }
        run.write(&self.lister.render(files))
    }
}
