//! Reading the tests, actions and options of `find`.

use haft_fs::{AccessMode, FileType, Timestamp};
use haft_kernel::Bytes;
use haft_text::encoding::Encoding;
use haft_text::pattern::{Pattern, PatternOptions};

use super::super::super::date::parse_date;
use super::super::super::mode::ModeChanges;
use super::super::super::time::now;
use super::super::expression::{
    Action, Batch, Comparison, ComparisonKind, Expression, FileNumber, FileTime, FindFollow, NamePattern,
    PermissionMatch, Test,
};
use super::super::print_format::PrintFormat;
use super::ExpressionParser;
use crate::system::accounts::Accounts;
use crate::text::number::parse_count;
use crate::text::streams::{Stop, TextRun};

const MINUTE_SECONDS: i64 = 60;
const DAY_SECONDS: i64 = 86_400;

impl ExpressionParser<'_> {
    /// The argument of a predicate.
    fn argument(&mut self, run: &mut TextRun<'_, '_>, name: &[u8]) -> Result<Bytes, Stop> {
        match self.words.get(self.position) {
            Some(word) => {
                self.position += 1;
                Ok(word.clone())
            }
            None => missing(run, name),
        }
    }

    /// Reads a test, an action or an option after its name.
    pub(super) fn predicate(&mut self, run: &mut TextRun<'_, '_>, name: &[u8]) -> Result<Expression, Stop> {
        if !name.starts_with(b"-") || name.len() == 1 {
            return self.misplaced(run, name);
        }
        if let Some(test) = self.option(run, name)? {
            return Ok(Expression::Test(test));
        }
        if let Some(action) = self.action(run, name)? {
            return Ok(Expression::Action(action));
        }
        match self.test(run, name)? {
            Some(test) => Ok(Expression::Test(test)),
            None => {
                let shown = String::from_utf8_lossy(name).into_owned();
                run.fail(format_args!("unknown predicate `{shown}'"))
            }
        }
    }

    fn misplaced(&self, run: &mut TextRun<'_, '_>, word: &[u8]) -> Result<Expression, Stop> {
        let shown = String::from_utf8_lossy(word).into_owned();
        run.complain(format_args!("paths must precede expression: `{shown}'"));
        if run.lstat(word).is_ok()
            && let Some(before) = self.position.checked_sub(3).and_then(|index| self.words.get(index))
            && before.starts_with(b"-")
        {
            let name = String::from_utf8_lossy(before).into_owned();
            run.complain(format_args!("possible unquoted pattern after predicate `{name}'?"));
        }
        Err(Stop::Exit(1))
    }

    /// Reads an option, which is always true.
    fn option(&mut self, run: &mut TextRun<'_, '_>, name: &[u8]) -> Result<Option<Test>, Stop> {
        match name {
            b"-depth" | b"-d" => {
                self.options.depth_first = true;
                self.has_explicit_depth = true;
            }
            b"-maxdepth" => self.options.max_depth = self.depth(run, name)?,
            b"-mindepth" => self.options.min_depth = self.depth(run, name)?,
            b"-xdev" | b"-mount" => self.options.one_device = true,
            b"-follow" => self.options.follow = FindFollow::Always,
            b"-noleaf" => {}
            b"-daystart" => self.start_at_end_of_day(run),
            _ => return Ok(None),
        }
        Ok(Some(Test::Constant(true)))
    }

    fn depth(&mut self, run: &mut TextRun<'_, '_>, name: &[u8]) -> Result<u64, Stop> {
        let text = self.argument(run, name)?;
        match parse_count(&text) {
            Some(depth) => Ok(depth),
            None => {
                let (name, shown) = (String::from_utf8_lossy(name).into_owned(), run.quote(&text));
                run.fail(format_args!(
                    "Expected a positive decimal integer argument to {name}, but got {shown}"
                ))
            }
        }
    }

    /// Ages are measured from the end of the current day.
    fn start_at_end_of_day(&mut self, run: &TextRun<'_, '_>) {
        if self.options.day_start {
            return;
        }
        let zone = run.context.session().time_zone();
        let time =
            haft_text::printf::strftime::format(b"%H %M %S", &zone.local_time(self.options.start.seconds));
        let text = String::from_utf8_lossy(&time).into_owned();
        let parts: Vec<i64> = text.split(' ').filter_map(|part| part.parse().ok()).collect();
        if let [hours, minutes, seconds] = parts[..] {
            let into_day = hours * 3600 + minutes * MINUTE_SECONDS + seconds;
            self.options.start.seconds += DAY_SECONDS - into_day;
            self.options.start.nanoseconds = 0;
        }
        self.options.day_start = true;
    }

    fn action(&mut self, run: &mut TextRun<'_, '_>, name: &[u8]) -> Result<Option<Action>, Stop> {
        let action = match name {
            b"-print" => Action::Print(b'\n'),
            b"-print0" => Action::Print(0),
            b"-printf" => {
                let format = self.argument(run, name)?;
                Action::Format(PrintFormat::parse(run, &format)?)
            }
            b"-delete" => {
                self.options.depth_first = true;
                self.has_delete = true;
                Action::Delete
            }
            b"-prune" => {
                self.has_prune = true;
                return Ok(Some(Action::Prune));
            }
            b"-quit" => return Ok(Some(Action::Quit)),
            b"-exec" => self.exec(run, name)?,
            _ => return Ok(None),
        };
        self.has_action = true;
        Ok(Some(action))
    }

    /// Reads a command up to `;` or `{} +`.
    fn exec(&mut self, run: &mut TextRun<'_, '_>, name: &[u8]) -> Result<Action, Stop> {
        let rest = &self.words[self.position..];
        let end = rest
            .iter()
            .enumerate()
            .position(|(index, word)| *word == ";" || *word == "+" && index > 0 && rest[index - 1] == "{}");
        let Some(end) = end.filter(|end| *end > 0) else { return missing(run, name) };
        let is_batch = rest[end] == "+";
        let words = rest[..end].to_vec();
        self.position += end + 1;
        if !is_batch {
            return Ok(Action::Run(words));
        }
        if words.iter().filter(|word| memchr::memmem::find(word, b"{}").is_some()).count() > 1 {
            return run.fail("Only one instance of {} is supported with -exec ... +");
        }
        let words = words[..words.len() - 1].to_vec();
        if words.is_empty() {
            return missing(run, name);
        }
        self.batches.push(Batch { words, files: Vec::new(), bytes: 0 });
        Ok(Action::Collect(self.batches.len() - 1))
    }

    fn test(&mut self, run: &mut TextRun<'_, '_>, name: &[u8]) -> Result<Option<Test>, Stop> {
        Ok(Some(match name {
            b"-true" => Test::Constant(true),
            b"-false" => Test::Constant(false),
            b"-name" => Test::Name(self.pattern(run, name, false)?),
            b"-iname" => Test::Name(self.pattern(run, name, true)?),
            b"-path" | b"-wholename" => Test::Path(self.pattern(run, name, false)?),
            b"-ipath" | b"-iwholename" => Test::Path(self.pattern(run, name, true)?),
            b"-lname" => Test::LinkName(self.pattern(run, name, false)?),
            b"-ilname" => Test::LinkName(self.pattern(run, name, true)?),
            b"-type" => Test::Type(self.types(run, name)?),
            b"-xtype" => Test::OtherType(self.types(run, name)?),
            b"-size" => self.size(run, name)?,
            b"-empty" => Test::Empty,
            b"-perm" => self.permissions(run, name)?,
            b"-links" => Test::Number(FileNumber::Links, self.number(run, name)?),
            b"-inum" => Test::Number(FileNumber::Inode, self.number(run, name)?),
            b"-uid" => Test::Number(FileNumber::User, self.number(run, name)?),
            b"-gid" => Test::Number(FileNumber::Group, self.number(run, name)?),
            b"-user" | b"-group" => self.account(run, name)?,
            b"-nouser" => Test::UnknownUser,
            b"-nogroup" => Test::UnknownGroup,
            b"-samefile" => {
                let file = self.argument(run, name)?;
                let metadata = self.reference(run, &file)?;
                Test::SameFile(metadata.device, metadata.inode)
            }
            b"-readable" => Test::Access(AccessMode::READ),
            b"-writable" => Test::Access(AccessMode::WRITE),
            b"-executable" => Test::Access(AccessMode::EXECUTE),
            _ => return self.time_test(run, name),
        }))
    }

    fn time_test(&mut self, run: &mut TextRun<'_, '_>, name: &[u8]) -> Result<Option<Test>, Stop> {
        Ok(Some(match name {
            b"-mtime" => self.days(run, name, FileTime::Modified)?,
            b"-atime" => self.days(run, name, FileTime::Accessed)?,
            b"-ctime" => self.days(run, name, FileTime::Changed)?,
            b"-mmin" => self.minutes(run, name, FileTime::Modified)?,
            b"-amin" => self.minutes(run, name, FileTime::Accessed)?,
            b"-cmin" => self.minutes(run, name, FileTime::Changed)?,
            b"-newer" => self.newer(run, name, b'm', b'm')?,
            b"-anewer" => self.newer(run, name, b'a', b'm')?,
            b"-cnewer" => self.newer(run, name, b'c', b'm')?,
            [b'-', b'n', b'e', b'w', b'e', b'r', of, than] => self.newer(run, name, *of, *than)?,
            _ => return Ok(None),
        }))
    }

    fn pattern(
        &mut self,
        run: &mut TextRun<'_, '_>,
        name: &[u8],
        fold_case: bool,
    ) -> Result<NamePattern, Stop> {
        let text = self.argument(run, name)?;
        let bytewise = run.encoding() == Encoding::Bytes;
        let options = PatternOptions { ignore_case: fold_case, bytewise, extended: false };
        Ok(NamePattern { pattern: Pattern::compile(&text, options) })
    }

    fn types(&mut self, run: &mut TextRun<'_, '_>, name: &[u8]) -> Result<Vec<FileType>, Stop> {
        let text = self.argument(run, name)?;
        let shown = String::from_utf8_lossy(name).into_owned();
        let mut types = Vec::new();
        for item in text.split(|byte| *byte == b',') {
            types.push(match item {
                b"f" => FileType::File,
                b"d" => FileType::Directory,
                b"l" => FileType::Symlink,
                b"p" => FileType::Fifo,
                b"s" => FileType::Socket,
                b"c" => FileType::CharacterDevice,
                b"b" => FileType::BlockDevice,
                b"" if text.is_empty() => {
                    return run.fail(format_args!("Arguments to {shown} should contain at least one letter"));
                }
                b"" => {
                    return run.fail(format_args!(
                        "Last file type in list argument to {shown} is missing, i.e., list is ending on: ','"
                    ));
                }
                [letter] => {
                    let letter = char::from(*letter);
                    return run.fail(format_args!("Unknown argument to {shown}: {letter}"));
                }
                _ => {
                    return run.fail(format_args!("Must separate multiple arguments to {shown} using: ','"));
                }
            });
        }
        Ok(types)
    }

    fn size(&mut self, run: &mut TextRun<'_, '_>, name: &[u8]) -> Result<Test, Stop> {
        let text = self.argument(run, name)?;
        let (digits, unit) = match text.split_last() {
            None => return run.fail("invalid null argument to -size"),
            Some((b'b', digits)) => (digits, 512),
            Some((b'c', digits)) => (digits, 1),
            Some((b'w', digits)) => (digits, 2),
            Some((b'k', digits)) => (digits, 1 << 10),
            Some((b'M', digits)) => (digits, 1 << 20),
            Some((b'G', digits)) => (digits, 1 << 30),
            Some((b'0'..=b'9', _)) => (&*text, 512),
            Some((letter, _)) => {
                let letter = char::from(*letter);
                return run.fail(format_args!("invalid -size type `{letter}'"));
            }
        };
        match comparison(digits) {
            Some(comparison) => Ok(Test::Size(comparison, unit)),
            None => {
                let shown = String::from_utf8_lossy(digits).into_owned();
                run.fail(format_args!(
                    "Invalid argument `{shown}{}' to -size",
                    &String::from_utf8_lossy(&text)[digits.len()..]
                ))
            }
        }
    }

    fn permissions(&mut self, run: &mut TextRun<'_, '_>, name: &[u8]) -> Result<Test, Stop> {
        let text = self.argument(run, name)?;
        let (kind, mode) = match &*text {
            [b'-', mode @ ..] => (PermissionMatch::All, mode),
            [b'/', mode @ ..] => (PermissionMatch::Any, mode),
            mode => (PermissionMatch::Exact, mode),
        };
        let Some(changes) = ModeChanges::parse(mode) else {
            let shown = run.quote(&text);
            return run.fail(format_args!("invalid mode {shown}"));
        };
        Ok(Test::Permissions(kind, changes.apply(0, false, 0), changes.apply(0, true, 0)))
    }

    fn number(&mut self, run: &mut TextRun<'_, '_>, name: &[u8]) -> Result<Comparison<u64>, Stop> {
        let text = self.argument(run, name)?;
        match comparison(&text) {
            Some(comparison) => Ok(comparison),
            None => invalid(run, &text, name),
        }
    }

    fn account(&mut self, run: &mut TextRun<'_, '_>, name: &[u8]) -> Result<Test, Stop> {
        let text = self.argument(run, name)?;
        let is_user = name == b"-user";
        let number = if is_user { FileNumber::User } else { FileNumber::Group };
        let accounts = Accounts::read(run.context.session());
        let owner = String::from_utf8_lossy(&text).into_owned();
        let known = if is_user { accounts.user_id(&owner) } else { accounts.group_id(&owner) };
        let value = known.map(u64::from).or_else(|| parse_count(&text));
        match value {
            Some(value) => Ok(Test::Number(number, Comparison { kind: ComparisonKind::Equal, value })),
            None => {
                let (shown, kind) = (run.quote(&text), if is_user { "user" } else { "group" });
                run.fail(format_args!(
                    "{shown} is not the name of {} known {kind}",
                    if is_user { "a" } else { "an existing" }
                ))
            }
        }
    }

    /// The metadata of a file that others are compared with.
    fn reference(&self, run: &mut TextRun<'_, '_>, file: &[u8]) -> Result<haft_fs::Metadata, Stop> {
        let found = match self.options.follow {
            FindFollow::Never => run.lstat(file),
            _ => run.stat(file).or_else(|_| run.lstat(file)),
        };
        match found {
            Ok(metadata) => Ok(metadata),
            Err(error) => {
                let shown = run.quote(file);
                run.file_failed(shown, &error);
                Err(Stop::Exit(1))
            }
        }
    }

    fn days(&mut self, run: &mut TextRun<'_, '_>, name: &[u8], time: FileTime) -> Result<Test, Stop> {
        let text = self.argument(run, name)?;
        let Some((kind, seconds)) = age(&text, DAY_SECONDS) else { return invalid(run, &text, name) };
        // A day is complete after 24 hours.
        let moved = match kind {
            ComparisonKind::Less => 1,
            _ => DAY_SECONDS,
        };
        Ok(Test::Time(time, self.before(kind, seconds, moved), DAY_SECONDS))
    }

    fn minutes(&mut self, run: &mut TextRun<'_, '_>, name: &[u8], time: FileTime) -> Result<Test, Stop> {
        let text = self.argument(run, name)?;
        let Some((kind, seconds)) = age(&text, MINUTE_SECONDS) else { return invalid(run, &text, name) };
        Ok(Test::Time(time, self.before(kind, seconds, 0), MINUTE_SECONDS))
    }

    /// A comparison of times with one that is so many seconds before the start. More age is less time.
    fn before(
        &self,
        kind: ComparisonKind,
        (seconds, nanoseconds): (i64, u32),
        moved: i64,
    ) -> Comparison<Timestamp> {
        let start = self.options.start;
        let mut value =
            Timestamp { seconds: start.seconds - seconds - moved, nanoseconds: start.nanoseconds };
        match value.nanoseconds.checked_sub(nanoseconds) {
            Some(rest) => value.nanoseconds = rest,
            None => {
                value.seconds -= 1;
                value.nanoseconds = value.nanoseconds + 1_000_000_000 - nanoseconds;
            }
        }
        let kind = match kind {
            ComparisonKind::Greater => ComparisonKind::Less,
            ComparisonKind::Less => ComparisonKind::Greater,
            ComparisonKind::Equal => ComparisonKind::Equal,
        };
        Comparison { kind, value }
    }

    fn newer(&mut self, run: &mut TextRun<'_, '_>, name: &[u8], of: u8, than: u8) -> Result<Test, Stop> {
        let letter = |letter| match letter {
            b'a' => Some(FileTime::Accessed),
            b'm' => Some(FileTime::Modified),
            b'c' => Some(FileTime::Changed),
            _ => None,
        };
        let Some(time) = letter(of).filter(|_| than == b't' || letter(than).is_some()) else {
            let shown = String::from_utf8_lossy(name).into_owned();
            return run.fail(format_args!("invalid predicate `{shown}'"));
        };
        let text = self.argument(run, name)?;
        if than == b't' {
            let zone = run.context.session().time_zone();
            return match parse_date(&zone, &text, now()) {
                Some(date) => Ok(Test::NewerThan(time, date)),
                None => {
                    let shown = run.quote(&text);
                    run.fail(format_args!("I cannot figure out how to interpret {shown} as a date or time"))
                }
            };
        }
        let metadata = self.reference(run, &text)?;
        Ok(Test::NewerThan(
            time,
            match letter(than) {
                Some(FileTime::Accessed) => metadata.accessed,
                Some(FileTime::Changed) => metadata.changed,
                _ => metadata.modified,
            },
        ))
    }
}

fn missing<T>(run: &mut TextRun<'_, '_>, name: &[u8]) -> Result<T, Stop> {
    let shown = String::from_utf8_lossy(name).into_owned();
    run.fail(format_args!("missing argument to `{shown}'"))
}

fn invalid<T>(run: &mut TextRun<'_, '_>, text: &[u8], name: &[u8]) -> Result<T, Stop> {
    let [text, name] = [text, name].map(|text| String::from_utf8_lossy(text).into_owned());
    run.fail(format_args!("invalid argument `{text}' to `{name}'"))
}

fn split_sign(text: &[u8]) -> (ComparisonKind, &[u8]) {
    match text {
        [b'+', rest @ ..] => (ComparisonKind::Greater, rest),
        [b'-', rest @ ..] => (ComparisonKind::Less, rest),
        rest => (ComparisonKind::Equal, rest),
    }
}

/// Parses `+N`, `-N` or `N`.
fn comparison(text: &[u8]) -> Option<Comparison<u64>> {
    let (kind, digits) = split_sign(text);
    Some(Comparison { kind, value: parse_count(digits)? })
}

/// Parses an age with decimals, in units of so many seconds. Returns seconds and nanoseconds.
fn age(text: &[u8], unit: i64) -> Option<(ComparisonKind, (i64, u32))> {
    let (kind, digits) = split_sign(text);
    let is_number = digits.iter().any(u8::is_ascii_digit)
        && digits.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
        && digits.iter().filter(|byte| **byte == b'.').count() <= 1;
    if !is_number {
        return None;
    }
    let number: f64 = str::from_utf8(digits).ok()?.parse().ok()?;
    let seconds = number * unit as f64;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "larger ages are the largest"
    )]
    let parts = (seconds.trunc() as i64, (seconds.fract() * 1e9) as u32);
    Some((kind, parts))
}
