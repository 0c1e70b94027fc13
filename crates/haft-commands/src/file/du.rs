//! `du`: shows the space that files use.

use std::collections::HashSet;
use std::io;

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow};

use super::human::{SizeUnit, format_size};
use super::run::{join, without_trailing_slashes};
use crate::arguments::{ArgumentValue, CommandArguments};
use crate::definition::CommandDefinition;
use crate::descriptor::{
    ArgumentStyle, CommandDescriptor, CommandParameter, Example, JsonKind, ParameterKind,
};
use crate::group::gnu_command;
use crate::rows::{column, json_option};
use crate::text::number::parse_count;
use crate::text::streams::{Stop, TextRun, run_text};

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "du",
    summary: "Show the space that files and directories use.",
    style: ArgumentStyle::GnuMixed(&["[FILE]..."]),
    parameters: &[
        CommandParameter::new("all", ParameterKind::Flag, "Show files too, not only directories.")
            .letter('a'),
        CommandParameter::new(
            "apparent-size",
            ParameterKind::Flag,
            "Show sizes instead of the space in use.",
        ),
        CommandParameter::new("bytes", ParameterKind::Flag, "The same as `--apparent-size`, in bytes.")
            .letter('b'),
        CommandParameter::new("total", ParameterKind::Flag, "Write a total.").letter('c'),
        CommandParameter::new(
            "dereference-args",
            ParameterKind::Flag,
            "Follow operands that are symbolic links.",
        )
        .letter('D'),
        CommandParameter::short_flag("H", 'H', "The same as `-D`."),
        CommandParameter::new("max-depth", ParameterKind::Text, "Show only N levels below an operand.")
            .letter('d')
            .with_value_name("N"),
        CommandParameter::new(
            "human-readable",
            ParameterKind::Flag,
            "Show sizes with units, powers of 1024.",
        )
        .letter('h'),
        CommandParameter::new("si", ParameterKind::Flag, "Show sizes with units, powers of 1000."),
        CommandParameter::short_flag("k", 'k', "Show blocks of 1024 bytes, the default."),
        CommandParameter::new("dereference", ParameterKind::Flag, "Follow symbolic links.").letter('L'),
        CommandParameter::new("count-links", ParameterKind::Flag, "Count hard links each time.").letter('l'),
        CommandParameter::short_flag("m", 'm', "Show blocks of 1 MiB."),
        CommandParameter::new(
            "no-dereference",
            ParameterKind::Flag,
            "Do not follow symbolic links, the default.",
        )
        .letter('P'),
        CommandParameter::new("separate-dirs", ParameterKind::Flag, "Leave out subdirectories.").letter('S'),
        CommandParameter::new("summarize", ParameterKind::Flag, "Show only the operands.").letter('s'),
        CommandParameter::new("null", ParameterKind::Flag, "Lines end with a NUL byte.").letter('0'),
        json_option(&[
            column("path", JsonKind::Text, "The path, or `total` for the sum."),
            column("bytes", JsonKind::Number, "The space on disk in bytes, or with `-b` the size."),
        ]),
    ],
    details: &[],
    statuses: &[("0", "success"), ("1", "a file could not be read")],
    examples: &[Example {
        summary: "The size of a directory",
        script: "mkdir d; printf 12345 > d/f; du -b d/f",
        output: "5	d/f\n",
        status: 0,
    }],
};

pub(crate) static COMMAND: CommandDefinition = CommandDefinition {
    steps_aside: Some(|session, arguments, _| super::step_aside::du(session, arguments)),
    ..gnu_command(&DESCRIPTOR, run)
};

const BLOCK_BYTES: u64 = 512;

struct Measuring {
    all: bool,
    apparent: bool,
    follow: FollowLinks,
    unit: SizeUnit,
    max_depth: Option<u64>,
    separate: bool,
    count_links: bool,
    /// Whether every file is counted only once, not only those with several links.
    remember_all: bool,
    end: u8,
    counted: HashSet<(u64, u64)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FollowLinks {
    Never,
    Operands,
    Always,
}

fn run(context: &mut Context<'_>, arguments: &CommandArguments, _: &[Bytes]) -> Flow {
    run_text(context, |run| {
        run.collect_rows(&DESCRIPTOR, arguments);
        let max_depth = max_depth(run, arguments)?;
        let mut unit = arguments.in_order().filter_map(|(name, _)| match name {
            "human-readable" => Some(SizeUnit::Human),
            "si" => Some(SizeUnit::Si),
            "bytes" => Some(SizeUnit::Bytes(1)),
            "k" => Some(SizeUnit::Bytes(1 << 10)),
            "m" => Some(SizeUnit::Bytes(1 << 20)),
            _ => None,
        });
        let mut follow = arguments.in_order().filter_map(|(name, _)| match name {
            "dereference" => Some(FollowLinks::Always),
            "dereference-args" | "H" => Some(FollowLinks::Operands),
            "no-dereference" => Some(FollowLinks::Never),
            _ => None,
        });
        let follow = follow.next_back().unwrap_or(FollowLinks::Never);
        let current = [Bytes::from(".")];
        let names = if arguments.operands.is_empty() { &current } else { arguments.operands.as_slice() };
        let mut measuring = Measuring {
            all: arguments.flag("all"),
            apparent: arguments.flag("apparent-size") || arguments.flag("bytes"),
            follow,
            unit: unit.next_back().unwrap_or(SizeUnit::Bytes(1 << 10)),
            max_depth,
            separate: arguments.flag("separate-dirs"),
            count_links: arguments.flag("count-links"),
            remember_all: names.len() > 1 || follow == FollowLinks::Always,
            end: if arguments.flag("null") { 0 } else { b'\n' },
            counted: HashSet::new(),
        };
        let mut total = 0u64;
        for name in names {
            if name.is_empty() {
                run.problem("invalid zero-length file name");
                continue;
            }
            let name = measuring.shown_operand(run, name);
            total += measuring.measure(run, name, 0, &mut Vec::new())?;
        }
        match arguments.flag("total") {
            true => measuring.print(run, total, b"total"),
            false => Ok(()),
        }
    })
}

fn max_depth(run: &mut TextRun<'_, '_>, arguments: &CommandArguments) -> Result<Option<u64>, Stop> {
    let summarize = arguments.flag("summarize");
    let mut depth = None;
    let mut problems = Vec::new();
    for (_, value) in arguments.in_order().filter(|(name, _)| *name == "max-depth") {
        let ArgumentValue::Text(text) = value else { continue };
        depth = parse_count(text);
        if depth.is_none() {
            let shown = run.quote(text);
            problems.push(format!("invalid maximum depth {shown}"));
        }
    }
    if let Some((last, others)) = problems.split_last() {
        others.iter().for_each(|problem| run.complain(problem));
        return run.usage(last);
    }
    if arguments.flag("all") && summarize {
        return run.usage("cannot both summarize and show all entries");
    }
    match depth.filter(|_| summarize) {
        Some(0) => run.complain("warning: summarizing is the same as using --max-depth=0"),
        Some(depth) => {
            return run.usage(format_args!("warning: summarizing conflicts with --max-depth={depth}"));
        }
        None => {}
    }
    Ok(if summarize { Some(0) } else { depth })
}

impl Measuring {
    /// An operand as it is shown: at most one slash stays at its end.
    fn shown_operand<'n>(&self, run: &TextRun<'_, '_>, name: &'n [u8]) -> &'n [u8] {
        let trimmed = without_trailing_slashes(name);
        let is_directory = || run.stat(name).is_ok_and(|metadata| metadata.is_dir());
        match self.follow == FollowLinks::Always && is_directory() {
            true => trimmed,
            false => &name[..name.len().min(trimmed.len() + 1)],
        }
    }

    /// Measures a file and everything below it, and prints what is shown. Returns the number of bytes.
    fn measure(
        &mut self,
        run: &mut TextRun<'_, '_>,
        name: &[u8],
        level: u64,
        ancestors: &mut Vec<(u64, u64)>,
    ) -> Result<u64, Stop> {
        run.context.check()?;
        let follow = match self.follow {
            FollowLinks::Never => false,
            FollowLinks::Operands => level == 0,
            FollowLinks::Always => true,
        };
        let found = if follow { run.stat(name) } else { run.lstat(name) };
        let metadata = match found {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound && run.lstat(name).is_ok() => {
                let shown = run.shown(name);
                run.problem(format_args!("cannot access {shown}"));
                return Ok(0);
            }
            Err(error) => {
                run.name_failed("cannot access", name, &error);
                return Ok(0);
            }
        };
        let key = (metadata.device, metadata.inode);
        let remembers = !self.count_links && (self.remember_all || !metadata.is_dir() && metadata.links > 1);
        if ancestors.contains(&key) || remembers && !self.counted.insert(key) {
            return Ok(0);
        }
        let own = if self.apparent { metadata.size } else { metadata.blocks * BLOCK_BYTES };
        let mut below = 0;
        let mut shown = own;
        if metadata.is_dir() {
            ancestors.push(key);
            let sizes = self.measure_entries(run, name, level, ancestors)?;
            ancestors.pop();
            below = sizes.0;
            shown += if self.separate { sizes.1 } else { sizes.0 };
        }
        let is_shown = metadata.is_dir() || self.all || level == 0;
        if is_shown && self.max_depth.is_none_or(|depth| level <= depth) {
            self.print(run, shown, name)?;
        }
        Ok(own + below)
    }

    /// The sizes of all entries of a directory, and of those that are not directories.
    fn measure_entries(
        &mut self,
        run: &mut TextRun<'_, '_>,
        name: &[u8],
        level: u64,
        ancestors: &mut Vec<(u64, u64)>,
    ) -> Result<(u64, u64), Stop> {
        let names = match run.names_in(name)? {
            Ok(names) => names,
            Err(error) => {
                run.name_failed("cannot read directory", name, &error);
                return Ok((0, 0));
            }
        };
        let (mut all, mut files) = (0, 0);
        for entry in names {
            let whole = join(name, &entry);
            let size = self.measure(run, &whole, level + 1, ancestors)?;
            all += size;
            if self.separate && !run.lstat(&whole).is_ok_and(|metadata| metadata.is_dir()) {
                files += size;
            }
        }
        Ok((all, files))
    }

    fn print(&self, run: &mut TextRun<'_, '_>, bytes: u64, name: &[u8]) -> Result<(), Stop> {
        run.row(|| vec![name.into(), bytes.into()]);
        let size = format_size(bytes, self.unit);
        run.write(&[size.as_bytes(), b"\t", name, &[self.end]].concat())
    }
}
