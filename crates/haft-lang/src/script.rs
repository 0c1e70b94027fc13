//! Reading a whole script the way bash does: command by command, minding what changes the reading of the rest.

use std::collections::BTreeMap;

use crate::ast::{Command, CommandKind, List, Program, SimpleCommand, Span, Statement, Text, Warning};
use crate::{ParseOptions, Parser, SyntaxError};

/// A script as far as it could be read.
#[derive(Clone, Debug)]
pub struct ParsedScript {
    /// What was read.
    pub program: Program,
    /// Why the reading ended before the end.
    pub error: Option<SyntaxError>,
}

/// Parses a whole script. `shopt -s extglob`, and aliases if `shopt -s expand_aliases` is there, take effect for the
/// lines after them when they stand at the top of the script with literal arguments.
#[must_use]
pub fn parse_script(source: &[u8], options: &ParseOptions) -> ParsedScript {
    let mut parser = Parser::new(source, options.clone());
    let mut statements = Vec::new();
    let mut warnings: Vec<Warning> = Vec::new();
    let mut error = None;
    let mut ended = false;
    let mut aliases = Aliases { expanded: !options.aliases.is_empty(), ..Aliases::default() };
    loop {
        match parser.next_complete_command() {
            Ok(Some(program)) => {
                aliases.follow(&program, parser.options_mut());
                ended |= program.body.statements.iter().any(ends_script);
                statements.extend(program.body.statements.iter().cloned());
                warnings.extend(program.warnings.iter().cloned());
            }
            Ok(None) => break,
            // What follows the end of a script need not be one: the shell never reads it.
            Err(_) if ended => break,
            Err(found) => {
                error = Some(found);
                break;
            }
        }
    }
    let span = Span::new(0, u32::try_from(source.len()).unwrap_or(u32::MAX));
    let body = List { span, statements: statements.into() };
    ParsedScript { program: Program { body, warnings: warnings.into() }, error }
}

/// Whether a statement is `exit`, or `exec` with a command: nothing that follows it is ever read.
fn ends_script(statement: &Statement) -> bool {
    let [Command { kind: CommandKind::Simple(simple), .. }] = &*statement.first.stages else { return false };
    let ends = match simple.name() {
        Some(b"exit") => true,
        Some(b"exec") => simple.arguments.len() > 1,
        _ => false,
    };
    ends && !statement.background && statement.rest.is_empty()
}

/// Whether aliases are expanded, and those that are defined while they are not.
#[derive(Default)]
struct Aliases {
    hidden: BTreeMap<Text, Text>,
    expanded: bool,
}

impl Aliases {
    /// Lets the simple commands at the top of what was just read change the options.
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
        if !matches!(simple.name(), Some(b"shopt" | b"alias" | b"unalias")) {
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
                    std::mem::swap(&mut self.hidden, &mut options.aliases);
                }
            }
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

    fn defined<'a>(&'a mut self, options: &'a mut ParseOptions) -> &'a mut BTreeMap<Text, Text> {
        if self.expanded { &mut options.aliases } else { &mut self.hidden }
    }
}

/// `name=text`.
fn split(definition: &[u8]) -> Option<(Text, Text)> {
    let at = memchr::memchr(b'=', definition).filter(|at| *at > 0)?;
    Some((Text::from(&definition[..at]), Text::from(&definition[at + 1..])))
}
