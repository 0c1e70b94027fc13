//! A script and its commands. They are parsed one at a time, as bash does, because aliases and options affect
//! later lines.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::ast::{Bytes, Command, CommandKind, List, Program, SimpleCommand, Span, Statement, Warning};
use crate::{ParseOptions, Parser, SyntaxError};

/// The aliases of a shell, by name.
pub type AliasTable = BTreeMap<Bytes, Bytes>;

/// A script: its text, and the commands of it that were parsed in advance.
///
/// A [`ScriptReader`] returns these commands as long as the options of the shell equal those they were parsed
/// with. From the first command for which they differ, it parses the text again.
///
/// ```
/// use haft_lang::{ParseOptions, Script};
///
/// let script = Script::parse(&b"echo one\necho two\n"[..], &ParseOptions::default());
/// assert!(script.error().is_none());
/// let mut reader = script.reader(ParseOptions::default());
/// assert!(reader.next_command()?.is_some());
/// assert_eq!(reader.offset(), 9);
/// # Ok::<(), haft_lang::SyntaxError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Script {
    source: Arc<[u8]>,
    commands: Vec<ScriptCommand>,
    /// The number of commands that a reader may return: those before the first change of an alias.
    reusable: usize,
    /// The aliases that the reusable commands were parsed with.
    aliases: Option<Arc<AliasTable>>,
    /// Whether the commands are the whole script.
    is_whole: bool,
    error: Option<SyntaxError>,
}

/// A complete command, and the options it was parsed with.
#[derive(Clone, Debug)]
struct ScriptCommand {
    program: Program,
    /// The offset of the text after it.
    end: usize,
    extglob: bool,
    posix: bool,
}

impl Script {
    /// Creates a script without parsing it.
    pub fn new(source: impl Into<Arc<[u8]>>) -> Self {
        Self { source: source.into(), ..Self::default() }
    }

    /// Parses a whole script, up to its first syntax error. `shopt -s extglob`, `set -o posix`, and aliases after
    /// `shopt -s expand_aliases`, affect the lines after them if they are at the top level of the script and
    /// have literal arguments.
    pub fn parse(source: impl Into<Arc<[u8]>>, options: &ParseOptions) -> Self {
        let mut script = Self { aliases: options.aliases.clone(), ..Self::new(source) };
        let source = script.source.clone();
        let mut parser = Parser::new(&source, options.clone());
        let mut aliases = AliasTracker::new(options);
        let mut ended = false;
        loop {
            let ParseOptions { extglob, posix, .. } = *parser.options_mut();
            match parser.next_complete_command() {
                Ok(Some(program)) => {
                    aliases.follow(&program, parser.options_mut());
                    ended |= program.body.statements.iter().any(ends_script);
                    script.commands.push(ScriptCommand { program, end: parser.offset(), extglob, posix });
                    if !aliases.changed {
                        script.reusable = script.commands.len();
                    }
                }
                Ok(None) => return Self { is_whole: true, ..script },
                // Text after `exit` or `exec` need not be valid: bash never reads it.
                Err(_) if ended => return script,
                Err(error) => return Self { error: Some(error), ..script },
            }
        }
    }

    /// Returns the text.
    #[must_use]
    pub fn source(&self) -> &Arc<[u8]> {
        &self.source
    }

    /// Returns the syntax error that ended parsing.
    #[must_use]
    pub fn error(&self) -> Option<&SyntaxError> {
        self.error.as_ref()
    }

    /// Returns the script, or the syntax error that ended parsing.
    ///
    /// # Errors
    /// If the script has a syntax error.
    pub fn checked(self) -> Result<Self, SyntaxError> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(self),
        }
    }

    /// Returns the warnings about the commands that were parsed.
    pub fn warnings(&self) -> impl Iterator<Item = &Warning> {
        self.commands.iter().flat_map(|command| command.program.warnings.iter())
    }

    /// Returns the commands that were parsed before the error, or all of them, as one program.
    #[must_use]
    pub fn program(&self) -> Program {
        let bodies = self.commands.iter().map(|command| &command.program.body);
        let statements: Vec<Statement> = bodies.flat_map(|body| body.statements.iter().cloned()).collect();
        let warnings: Vec<Warning> = self.warnings().cloned().collect();
        let span = Span::new(0, u32::try_from(self.source.len()).unwrap_or(u32::MAX));
        Program { body: List { span, statements: statements.into() }, warnings: warnings.into() }
    }

    /// Returns a reader of the commands, for a shell with these options.
    #[must_use]
    pub fn reader(&self, options: ParseOptions) -> ScriptReader<'_> {
        ScriptReader { script: self, position: ReaderPosition::Parsed { next: 0, options } }
    }
}

/// Reads the commands of a [`Script`] one after another.
///
/// Commands that ran in between may affect the parsing of later ones: update [`ScriptReader::options_mut`] between
/// calls.
pub struct ScriptReader<'s> {
    script: &'s Script,
    position: ReaderPosition<'s>,
}

/// The source of the next command.
enum ReaderPosition<'s> {
    /// The commands that were parsed in advance.
    Parsed { next: usize, options: ParseOptions },
    /// The text.
    Text(Box<Parser<'s>>),
}

impl<'s> ScriptReader<'s> {
    /// Returns the options for the commands not read yet.
    pub fn options_mut(&mut self) -> &mut ParseOptions {
        match &mut self.position {
            ReaderPosition::Parsed { options, .. } => options,
            ReaderPosition::Text(parser) => parser.options_mut(),
        }
    }

    /// Returns the offset of the text not read yet.
    #[must_use]
    pub fn offset(&self) -> usize {
        match &self.position {
            ReaderPosition::Parsed { next: 0, .. } => 0,
            ReaderPosition::Parsed { next, .. } => self.script.commands[next - 1].end,
            ReaderPosition::Text(parser) => parser.offset(),
        }
    }

    /// Skips the rest of the line at an offset, after an error that ends only this line: see [`SyntaxError::skips_line`].
    pub fn skip_line(&mut self, offset: usize) {
        let source = &self.script.source;
        let rest = source.get(offset..).unwrap_or_default();
        self.continue_at(memchr::memchr(b'\n', rest).map_or(source.len(), |end| offset + end + 1));
    }

    /// Goes on at an offset at which a line begins.
    pub fn continue_at(&mut self, offset: usize) {
        let options = std::mem::take(self.options_mut());
        let parser = Parser::starting_at(&self.script.source, options, offset);
        self.position = ReaderPosition::Text(Box::new(parser));
    }

    /// Reads the next complete command. Returns `None` at the end of the script.
    ///
    /// # Errors
    /// Returns the first syntax error. The reader is then at its end.
    pub fn next_command(&mut self) -> Result<Option<Program>, SyntaxError> {
        let Self { script, position } = self;
        if let ReaderPosition::Parsed { next, options } = position {
            if script.is_whole && *next == script.commands.len() {
                return Ok(None);
            }
            let command = script.commands[..script.reusable].get(*next);
            if let Some(command) = command.filter(|command| command.fits(script, options)) {
                *next += 1;
                return Ok(Some(command.program.clone()));
            }
            *position = ReaderPosition::Text(Box::new(script.parser_after(*next, std::mem::take(options))));
        }
        match position {
            ReaderPosition::Text(parser) => parser.next_complete_command(),
            ReaderPosition::Parsed { .. } => Ok(None),
        }
    }
}

impl Script {
    /// Returns a parser that has read the first `count` commands. It reads them again with the options they were
    /// parsed with, because an offset alone does not tell whether the next command begins within the text of an alias.
    fn parser_after(&self, count: usize, options: ParseOptions) -> Parser<'_> {
        if count == 0 {
            return Parser::new(&self.source, options);
        }
        let mut parser =
            Parser::new(&self.source, ParseOptions { aliases: self.aliases.clone(), ..options.clone() });
        for command in &self.commands[..count] {
            (parser.options_mut().extglob, parser.options_mut().posix) = (command.extglob, command.posix);
            let _ = parser.next_complete_command();
        }
        *parser.options_mut() = options;
        parser
    }
}

impl ScriptCommand {
    /// Whether parsing the command with these options would give the same result.
    fn fits(&self, script: &Script, options: &ParseOptions) -> bool {
        let same_aliases = match (&script.aliases, &options.aliases) {
            (None, None) => true,
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        };
        same_aliases && self.extglob == options.extglob && self.posix == options.posix
    }
}

/// Whether a statement is `exit`, or `exec` with a command: bash reads nothing after it.
fn ends_script(statement: &Statement) -> bool {
    let [Command { kind: CommandKind::Simple(simple), .. }] = &*statement.first.stages else { return false };
    let ends = match simple.name() {
        Some(b"exit") => true,
        Some(b"exec") => simple.arguments.len() > 1,
        _ => false,
    };
    ends && !statement.background && statement.rest.is_empty()
}

/// Whether alias expansion is on, and the aliases defined while it is off.
struct AliasTracker {
    hidden: AliasTable,
    expanded: bool,
    /// Whether the aliases to expand have changed.
    changed: bool,
}

impl AliasTracker {
    fn new(options: &ParseOptions) -> Self {
        Self { hidden: AliasTable::new(), expanded: options.aliases.is_some(), changed: false }
    }

    /// Applies the `shopt`, `set -o posix`, `alias` and `unalias` commands among the parsed top-level commands.
    fn follow(&mut self, program: &Program, options: &mut ParseOptions) {
        for statement in &*program.body.statements {
            let pipelines =
                std::iter::once(&statement.first).chain(statement.rest.iter().map(|(_, next)| next));
            for command in pipelines.flat_map(|pipeline| pipeline.stages.iter()) {
                if let CommandKind::Simple(simple) = &command.kind {
                    self.apply(simple, options);
                }
            }
        }
    }

    fn apply(&mut self, simple: &SimpleCommand, options: &mut ParseOptions) {
        if !matches!(simple.name(), Some(b"shopt" | b"set" | b"alias" | b"unalias")) {
            return;
        }
        let words: Vec<&[u8]> =
            simple.arguments.iter().filter_map(|argument| argument.word()?.literal()).collect();
        match words.as_slice() {
            [b"shopt", flag @ (b"-s" | b"-u"), names @ ..] => {
                let on = *flag == b"-s";
                if names.contains(&&b"extglob"[..]) {
                    options.extglob = on;
                }
                if names.contains(&&b"expand_aliases"[..]) && self.expanded != on {
                    self.expanded = on;
                    self.changed = true;
                    let shown = options.aliases.take().map(Arc::unwrap_or_clone).unwrap_or_default();
                    let hidden = std::mem::replace(&mut self.hidden, shown);
                    options.aliases = (!hidden.is_empty()).then(|| Arc::new(hidden));
                }
            }
            [b"set", flag @ (b"-o" | b"+o"), b"posix"] => options.posix = *flag == b"-o",
            [b"alias", definitions @ ..] => {
                let named = definitions.iter().filter_map(|definition| split(definition));
                self.defined(options).extend(named);
            }
            [b"unalias", b"-a"] => self.defined(options).clear(),
            [b"unalias", names @ ..] => {
                for name in names {
                    self.defined(options).remove(*name);
                }
            }
            _ => {}
        }
    }

    fn defined<'a>(&'a mut self, options: &'a mut ParseOptions) -> &'a mut AliasTable {
        if !self.expanded {
            return &mut self.hidden;
        }
        self.changed = true;
        Arc::make_mut(options.aliases.get_or_insert_default())
    }
}

/// Splits `name=text`.
fn split(definition: &[u8]) -> Option<(Bytes, Bytes)> {
    let at = memchr::memchr(b'=', definition).filter(|at| *at > 0)?;
    Some((Bytes::from(&definition[..at]), Bytes::from(&definition[at + 1..])))
}
