//! The options of `ls`.

use haft_fs::Timestamp;

use super::super::human::SizeUnit;
use super::super::quote::QuotingStyle;
use crate::arguments::{ArgumentValue, CommandArguments};
use crate::text::streams::{Choices, Stop, TextRun};

/// The exit status for wrong usage.
pub(super) const LS_TROUBLE: i32 = 2;

/// The line width if nothing else says it.
const DEFAULT_WIDTH: usize = 80;

/// How the listing is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    Long,
    OnePerLine,
    /// Columns that are read downwards.
    Columns,
    /// Columns that are read across.
    Across,
    Commas,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SortKey {
    Name,
    Time,
    Size,
    Extension,
    Version,
    /// The order of the directory.
    Directory,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimeKind {
    Modified,
    Accessed,
    Changed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Indicator {
    None,
    Slash,
    FileType,
    Classify,
}

/// Which symbolic links are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Follow {
    Never,
    CommandLine,
    /// Operands that lead to directories.
    CommandLineDirectories,
    Always,
}

/// Which names that begin with a dot are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hidden {
    Skip,
    Almost,
    All,
}

/// The formats of times: for recent ones, and for others.
#[derive(Clone, Debug)]
pub(super) struct TimeFormats {
    pub(super) recent: Vec<u8>,
    pub(super) other: Vec<u8>,
}

/// The columns of a long listing.
#[derive(Clone, Copy, Debug)]
pub(super) struct LongColumns {
    pub(super) owner: bool,
    pub(super) group: bool,
    pub(super) numeric: bool,
}

/// The options of a listing.
#[derive(Clone, Debug)]
pub(super) struct ListOptions {
    pub(super) layout: Layout,
    pub(super) sort: SortKey,
    pub(super) time: TimeKind,
    pub(super) reverse: bool,
    pub(super) directories_first: bool,
    pub(super) hidden: Hidden,
    pub(super) follow: Follow,
    pub(super) immediate: bool,
    pub(super) recursive: bool,
    pub(super) inode: bool,
    pub(super) blocks: bool,
    pub(super) block_unit: SizeUnit,
    pub(super) size_unit: SizeUnit,
    pub(super) indicator: Indicator,
    pub(super) quoting: QuotingStyle,
    pub(super) hide_controls: bool,
    pub(super) columns: LongColumns,
    pub(super) formats: TimeFormats,
    pub(super) width: usize,
}

/// The last of the options that are mapped to a value.
fn last<T>(arguments: &CommandArguments, map: impl Fn(&str, &ArgumentValue) -> Option<T>) -> Option<T> {
    arguments.in_order().rev().find_map(|(name, value)| map(name, value))
}

/// Reads the options.
pub(super) fn read(run: &mut TextRun<'_, '_>, arguments: &CommandArguments) -> Result<ListOptions, Stop> {
    let is_terminal = run.context.file(1).is_some_and(|file| file.is_terminal());
    let layout = layout(run, arguments, is_terminal)?;
    let (sort, time) = order(run, arguments, layout)?;
    let indicator = indicator(run, arguments, is_terminal)?;
    let immediate = arguments.flag("directory");
    let follow = last(arguments, |name, _| match name {
        "dereference" => Some(Follow::Always),
        "dereference-command-line" => Some(Follow::CommandLine),
        _ => None,
    });
    let keeps_links = immediate || indicator == Indicator::Classify || layout == Layout::Long;
    let default = if keeps_links { Follow::Never } else { Follow::CommandLineDirectories };
    let human = last(arguments, |name, _| match name {
        "human-readable" => Some(SizeUnit::Human),
        "si" => Some(SizeUnit::Si),
        _ => None,
    });
    let numeric = arguments.flag("numeric-uid-gid");
    let hidden = last(arguments, |name, _| match name {
        "all" => Some(Hidden::All),
        "almost-all" => Some(Hidden::Almost),
        _ => None,
    });
    Ok(ListOptions {
        layout,
        sort,
        time,
        reverse: arguments.flag("reverse"),
        directories_first: arguments.flag("group-directories-first"),
        hidden: hidden.unwrap_or(Hidden::Skip),
        follow: follow.unwrap_or(default),
        immediate,
        recursive: arguments.flag("recursive") && !immediate,
        inode: arguments.flag("inode"),
        blocks: arguments.flag("size"),
        block_unit: human.unwrap_or(SizeUnit::Bytes(1024)),
        size_unit: human.unwrap_or(SizeUnit::Bytes(1)),
        indicator,
        quoting: quoting(run, arguments, is_terminal)?,
        hide_controls: hide_controls(arguments, is_terminal),
        columns: LongColumns {
            owner: !arguments.flag("g"),
            group: !arguments.flag("o") && !arguments.flag("no-group"),
            numeric,
        },
        formats: time_formats(run, arguments)?,
        width: width(run, arguments)?,
    })
}

/// The meaning of a word that is one of some. Those without a meaning are not supported.
fn supported<T: Copy + PartialEq>(
    run: &mut TextRun<'_, '_>,
    option: &str,
    word: &[u8],
    choices: &Choices<Option<T>>,
) -> Result<T, Stop> {
    match run.choice(option, word, choices)? {
        Some(meaning) => Ok(meaning),
        None => {
            let shown = run.quote(word);
            trouble(run, format_args!("argument {shown} of '{option}' is not supported"))
        }
    }
}

/// Writing in colour is not supported.
pub(super) fn check_color(run: &mut TextRun<'_, '_>, word: &[u8]) -> Result<(), Stop> {
    match run.choice("--color", word, WHEN)? {
        When::Always => trouble(run, "argument 'always' of '--color' is not supported"),
        When::Never | When::Auto => Ok(()),
    }
}

const FORMATS: &Choices<Layout> = &[
    (&["verbose", "long"], Layout::Long),
    (&["commas"], Layout::Commas),
    (&["horizontal", "across"], Layout::Across),
    (&["vertical"], Layout::Columns),
    (&["single-column"], Layout::OnePerLine),
];

const SORT_KEYS: &Choices<Option<SortKey>> = &[
    (&["none"], Some(SortKey::Directory)),
    (&["time"], Some(SortKey::Time)),
    (&["size"], Some(SortKey::Size)),
    (&["extension"], Some(SortKey::Extension)),
    (&["version"], Some(SortKey::Version)),
    (&["width"], None),
];

const TIMES: &Choices<Option<TimeKind>> = &[
    (&["atime", "access", "use"], Some(TimeKind::Accessed)),
    (&["ctime", "status"], Some(TimeKind::Changed)),
    (&["birth", "creation"], None),
];

const INDICATORS: &Choices<Indicator> = &[
    (&["none"], Indicator::None),
    (&["slash"], Indicator::Slash),
    (&["file-type"], Indicator::FileType),
    (&["classify"], Indicator::Classify),
];

/// When names are marked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    Always,
    Never,
    Auto,
}

const WHEN: &Choices<When> = &[
    (&["always", "yes", "force"], When::Always),
    (&["never", "no", "none"], When::Never),
    (&["auto", "tty", "if-tty"], When::Auto),
];

const QUOTING_STYLES: &Choices<Option<QuotingStyle>> = &[
    (&["literal"], Some(QuotingStyle::Literal)),
    (&["shell"], Some(QuotingStyle::Shell)),
    (&["shell-always"], Some(QuotingStyle::ShellAlways)),
    (&["shell-escape"], Some(QuotingStyle::ShellEscape)),
    (&["shell-escape-always"], Some(QuotingStyle::ShellEscapeAlways)),
    (&["c"], Some(QuotingStyle::C)),
    (&["c-maybe"], None),
    (&["escape"], Some(QuotingStyle::Escape)),
    (&["locale"], Some(QuotingStyle::Locale)),
    (&["clocale"], None),
];

fn layout(run: &mut TextRun<'_, '_>, arguments: &CommandArguments, terminal: bool) -> Result<Layout, Stop> {
    let mut layout = if terminal { Layout::Columns } else { Layout::OnePerLine };
    for (name, value) in arguments.in_order() {
        layout = match name {
            "l" | "g" | "o" | "numeric-uid-gid" | "full-time" => Layout::Long,
            "C" => Layout::Columns,
            "x" => Layout::Across,
            "m" => Layout::Commas,
            // A long listing stays one.
            "1" if layout != Layout::Long => Layout::OnePerLine,
            "format" => run.choice("--format", text(value), FORMATS)?,
            _ => layout,
        };
    }
    Ok(layout)
}

fn text(value: &ArgumentValue) -> &[u8] {
    match value {
        ArgumentValue::Text(text) => text,
        _ => b"",
    }
}

fn invalid<T>(run: &mut TextRun<'_, '_>, option: &str, value: &[u8]) -> Result<T, Stop> {
    let shown = run.quote(value);
    trouble(run, format_args!("invalid argument {shown} for '--{option}'"))
}

/// Prints an error in the arguments, and ends the command.
fn trouble<T>(run: &mut TextRun<'_, '_>, message: impl std::fmt::Display) -> Result<T, Stop> {
    run.complain(format_args!("{message}\nTry 'ls --help' for more information."));
    Err(Stop::Exit(LS_TROUBLE))
}

fn order(
    run: &mut TextRun<'_, '_>,
    arguments: &CommandArguments,
    layout: Layout,
) -> Result<(SortKey, TimeKind), Stop> {
    let (mut sort, mut time) = (None, TimeKind::Modified);
    let mut explicit_time = false;
    for (name, value) in arguments.in_order() {
        match name {
            "t" => sort = Some(SortKey::Time),
            "S" => sort = Some(SortKey::Size),
            "X" => sort = Some(SortKey::Extension),
            "v" => sort = Some(SortKey::Version),
            "U" => sort = Some(SortKey::Directory),
            "c" => (time, explicit_time) = (TimeKind::Changed, true),
            "u" => (time, explicit_time) = (TimeKind::Accessed, true),
            "sort" => {
                sort = Some(supported(run, "--sort", text(value), SORT_KEYS)?);
            }
            "time" => {
                explicit_time = true;
                time = supported(run, "--time", text(value), TIMES)?;
            }
            _ => {}
        }
    }
    // Without a long listing, the choice of a time is a choice of order.
    let by_time = explicit_time && layout != Layout::Long;
    Ok((sort.unwrap_or(if by_time { SortKey::Time } else { SortKey::Name }), time))
}

fn indicator(
    run: &mut TextRun<'_, '_>,
    arguments: &CommandArguments,
    terminal: bool,
) -> Result<Indicator, Stop> {
    let mut style = Indicator::None;
    for (name, value) in arguments.in_order() {
        style = match (name, text(value)) {
            ("p", _) => Indicator::Slash,
            ("file-type", _) => Indicator::FileType,
            ("F", _) | ("classify", b"") => Indicator::Classify,
            ("classify", word) => match run.choice("--classify", word, WHEN)? {
                When::Always => Indicator::Classify,
                When::Auto if terminal => Indicator::Classify,
                When::Auto | When::Never => style,
            },
            ("indicator-style", word) => run.choice("--indicator-style", word, INDICATORS)?,
            _ => style,
        };
    }
    Ok(style)
}

fn quoting(
    run: &mut TextRun<'_, '_>,
    arguments: &CommandArguments,
    terminal: bool,
) -> Result<QuotingStyle, Stop> {
    let mut style = None;
    for (name, value) in arguments.in_order() {
        style = match (name, text(value)) {
            ("literal", _) => Some(QuotingStyle::Literal),
            ("quote-name", _) => Some(QuotingStyle::C),
            ("escape", _) => Some(QuotingStyle::Escape),
            ("quoting-style", word) => Some(supported(run, "--quoting-style", word, QUOTING_STYLES)?),
            _ => style,
        };
    }
    let variable = run.context.value(b"QUOTING_STYLE").and_then(|word| style_of(&word));
    let default = if terminal { QuotingStyle::ShellEscape } else { QuotingStyle::Literal };
    Ok(style.or(variable).unwrap_or(default))
}

fn style_of(word: &[u8]) -> Option<QuotingStyle> {
    QUOTING_STYLES.iter().find(|(words, _)| words[0].as_bytes() == word).and_then(|(_, style)| *style)
}

fn hide_controls(arguments: &CommandArguments, terminal: bool) -> bool {
    let given = last(arguments, |name, _| match name {
        "hide-control-chars" => Some(true),
        "show-control-chars" => Some(false),
        _ => None,
    });
    given.unwrap_or(terminal)
}

fn time_formats(run: &mut TextRun<'_, '_>, arguments: &CommandArguments) -> Result<TimeFormats, Stop> {
    let both = |format: &[u8]| TimeFormats { recent: format.to_vec(), other: format.to_vec() };
    let given = last(arguments, |name, value| match name {
        "full-time" => Some(b"full-iso".to_vec()),
        "time-style" => Some(text(value).to_vec()),
        _ => None,
    });
    let variable = run.context.value(b"TIME_STYLE").map(|style| style.to_vec());
    let whole = given.or(variable).unwrap_or_else(|| b"locale".to_vec());
    let default = || TimeFormats { recent: b"%b %e %H:%M".to_vec(), other: b"%b %e  %Y".to_vec() };
    // The locale is that of POSIX.
    let mut style = whole.as_slice();
    if style.starts_with(b"posix-") {
        return Ok(default());
    }
    if let Some(format) = style.strip_prefix(b"+") {
        let mut lines = format.splitn(2, |byte| *byte == b'\n');
        let other = lines.next().unwrap_or_default().to_vec();
        let recent = lines.next().map_or_else(|| other.clone(), <[u8]>::to_vec);
        return Ok(TimeFormats { recent, other });
    }
    if style.is_empty() {
        style = b"locale";
    }
    Ok(match style {
        b"full-iso" => both(b"%Y-%m-%d %H:%M:%S.%N %z"),
        b"long-iso" => both(b"%Y-%m-%d %H:%M"),
        b"iso" => TimeFormats { recent: b"%m-%d %H:%M".to_vec(), other: b"%Y-%m-%d ".to_vec() },
        b"locale" => default(),
        other => return invalid(run, "time-style", other),
    })
}

/// The width of a line. 0 means that it is not limited.
fn width(run: &mut TextRun<'_, '_>, arguments: &CommandArguments) -> Result<usize, Stop> {
    let parse = |text: &[u8]| str::from_utf8(text).ok()?.parse::<usize>().ok();
    if let Some(text) = arguments.text("width") {
        return match parse(text) {
            Some(width) => Ok(width),
            None => {
                let shown = run.quote(text);
                run.complain(format_args!("invalid line width: {shown}"));
                Err(Stop::Exit(LS_TROUBLE))
            }
        };
    }
    let variable = run.context.value(b"COLUMNS").and_then(|text| parse(&text)).filter(|width| *width > 0);
    let terminal = || {
        let size = rustix::termios::tcgetwinsize(run.context.file(1)?.descriptor()?).ok()?;
        Some(usize::from(size.ws_col)).filter(|width| *width > 0)
    };
    Ok(variable.or_else(terminal).unwrap_or(DEFAULT_WIDTH))
}

impl ListOptions {
    /// Whether a time is recent: not in the future, and not older than half a year.
    pub(super) fn is_recent(time: Timestamp, now: Timestamp) -> bool {
        const HALF_YEAR_SECONDS: i64 = 31_556_952 / 2;
        let start = Timestamp { seconds: now.seconds - HALF_YEAR_SECONDS, ..now };
        start < time && time <= now
    }

    /// Whether metadata is needed besides names.
    pub(super) fn needs_metadata(&self) -> bool {
        self.layout == Layout::Long
            || self.inode
            || self.blocks
            || self.indicator == Indicator::Classify
            || self.directories_first
            || matches!(self.sort, SortKey::Time | SortKey::Size)
    }
}
