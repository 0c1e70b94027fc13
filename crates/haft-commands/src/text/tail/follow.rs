//! `tail -f`: writes what is added to files.

use std::io;
use std::time::Duration;

use haft_fs::{FileType, Metadata};
use haft_kernel::Bytes;
use haft_kernel::io::{Ready, wait_readable};
use haft_process::Signals;

use super::super::cat::copy;
use super::super::name::{quoted, quoted_always};
use super::super::portion::Headers;
use super::super::streams::{Stop, TextInput, TextRun};
use crate::arguments::{ArgumentValue, CommandArguments};
use crate::status::SIGNAL_BASE;

/// How often files are checked for changes.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// The files to follow.
pub(super) struct Following {
    by_name: bool,
    retry: bool,
    interval: Duration,
    files: Vec<FollowedFile>,
}

/// A file that is followed.
struct FollowedFile {
    name: Bytes,
    /// `None` if it cannot be opened.
    input: Option<TextInput>,
}

impl Following {
    /// Reads the options. Returns `None` if the files are not followed.
    pub(super) fn parse(
        run: &mut TextRun<'_, '_>,
        arguments: &CommandArguments,
    ) -> Result<Option<Self>, Stop> {
        let (mut by_name, mut retry, mut interval) = (None, false, POLL_INTERVAL);
        for (name, value) in arguments.in_order() {
            match (name, value) {
                ("f", _) => by_name = Some(by_name.unwrap_or(false)),
                ("F", _) => (by_name, retry) = (Some(true), true),
                ("follow", ArgumentValue::Text(how)) => by_name = Some(parse_how(run, how)?),
                ("retry", _) => retry = true,
                ("sleep-interval", ArgumentValue::Text(text)) => interval = parse_interval(run, text)?,
                _ => {}
            }
        }
        match by_name {
            None if retry => {
                run.complain("warning: --retry ignored; --retry is useful only when following");
            }
            Some(false) if retry => run.complain("warning: --retry only effective for the initial open"),
            Some(true) if arguments.operands.iter().any(|name| *name == "-") => {
                return run.fail(format_args!("cannot follow {} by name", run.quote(b"-")));
            }
            _ => {}
        }
        Ok(by_name.map(|by_name| Self { by_name, retry, interval, files: Vec::new() }))
    }

    /// Adds a file, which has been read to its end.
    pub(super) fn add(&mut self, name: Bytes, input: Option<TextInput>) {
        // A pipe was read to its end, after which nothing can be added.
        let is_pipe = name == "-" && input.as_ref().is_some_and(|input| !input.is_seekable());
        if !is_pipe {
            self.files.push(FollowedFile { name, input: input.filter(|input| !input.has_failed()) });
        }
    }

    /// Writes what is added to the files, until the output is closed or no file is left.
    pub(super) fn follow(mut self, run: &mut TextRun<'_, '_>, mut headers: Headers) -> Result<(), Stop> {
        let mut last = self.files.len().checked_sub(1);
        if self.files.is_empty() {
            return Ok(());
        }
        loop {
            for index in 0..self.files.len() {
                self.check(run, index)?;
                let file = &mut self.files[index];
                let Some(input) = &mut file.input else { continue };
                input.resume();
                if input.fill(run)?.is_empty() {
                    continue;
                }
                if last.replace(index) != Some(index) {
                    headers.write(run, &file.name)?;
                }
                copy(run, input)?;
            }
            if !self.retry && self.files.iter().all(|file| file.input.is_none()) {
                return run.fail("no files remaining");
            }
            run.flush()?;
            self.wait(run)?;
        }
    }

    /// Waits until the files are to be checked again.
    fn wait(&self, run: &mut TextRun<'_, '_>) -> Result<(), Stop> {
        run.context.flush();
        let output = run.context.file(1);
        let is_pipe = |metadata: &Metadata| metadata.kind == FileType::Fifo;
        let pipe = output.as_ref().filter(|output| output.metadata().is_ok_and(|found| is_pipe(&found)));
        let descriptor: Vec<_> = pipe.and_then(|output| output.descriptor()).into_iter().collect();
        let ready = wait_readable(&descriptor, Some(self.interval), run.context.cancel_token());
        run.context.check_signals()?;
        match ready {
            Ready::Descriptor(_) => Err(Stop::Exit(SIGNAL_BASE + Signals::PIPE)),
            _ => Ok(()),
        }
    }

    /// Finds out whether a file was truncated or replaced.
    fn check(&mut self, run: &mut TextRun<'_, '_>, index: usize) -> Result<(), Stop> {
        let may_reopen = self.by_name || (self.retry && self.files[index].input.is_none());
        if may_reopen {
            self.check_name(run, index)?;
        }
        let file = &self.files[index];
        let Some(open) = file.input.as_ref().and_then(TextInput::file) else { return Ok(()) };
        let size = open.metadata().ok().filter(Metadata::is_file).map(|metadata| metadata.size);
        if let (Some(size), Some(position)) = (size, open.position())
            && size < position
        {
            run.complain(format_args!("{}: file truncated", quoted(&file.name)));
            let _ = open.unread(usize::try_from(position).unwrap_or(usize::MAX));
        }
        Ok(())
    }

    /// Opens the file that has the name now, if it is another one.
    fn check_name(&mut self, run: &mut TextRun<'_, '_>, index: usize) -> Result<(), Stop> {
        let file = &mut self.files[index];
        let shown = quoted_always(&file.name);
        let path = run.path(&file.name);
        let found = run.files().metadata(&path);
        let open = file.input.as_ref().and_then(TextInput::file).and_then(|file| file.metadata().ok());
        let message = match (&found, open) {
            (Err(error), Some(_)) => {
                file.input = None;
                inaccessible(&shown, error)
            }
            (Err(_), None) => return Ok(()),
            (Ok(found), Some(open)) if found.same_file(&open) => return Ok(()),
            (Ok(_), Some(_)) => format!("{shown} has been replaced;  following new file"),
            (Ok(_), None) => format!("{shown} has appeared;  following new file"),
        };
        if found.is_ok() {
            match run.try_open(&file.name)? {
                Ok(input) => file.input = Some(input),
                Err(_) => return Ok(()),
            }
        }
        run.complain(message);
        Ok(())
    }
}

fn inaccessible(shown: &str, error: &io::Error) -> String {
    format!("{shown} has become inaccessible: {}", haft_fs::message(error))
}

/// Returns whether files are followed by name.
fn parse_how(run: &mut TextRun<'_, '_>, how: &[u8]) -> Result<bool, Stop> {
    match how {
        b"" => Ok(false),
        how if b"name".starts_with(how) => Ok(true),
        how if b"descriptor".starts_with(how) => Ok(false),
        how => {
            let [shown, option, descriptor, name] =
                [how, b"--follow", b"descriptor", b"name"].map(|word| run.quote(word));
            run.usage(format_args!(
                "invalid argument {shown} for {option}\nValid arguments are:\n  - {descriptor}\n  - {name}"
            ))
        }
    }
}

fn parse_interval(run: &mut TextRun<'_, '_>, text: &[u8]) -> Result<Duration, Stop> {
    let seconds = str::from_utf8(text).ok().and_then(|text| text.parse::<f64>().ok());
    match seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
        Some(interval) => Ok(interval),
        None => {
            let shown = run.quote(text);
            run.fail(format_args!("invalid number of seconds: {shown}"))
        }
    }
}
