//! Parses a whole script the way bash does: one command at a time, because aliases and options affect later
//! lines.

use std::collections::BTreeMap;

use crate::ast::{Command, CommandKind, List, Program, SimpleCommand, Span, Statement, Text, Warning};
use crate::{ParseOptions, Parser, SyntaxError};

/// The result of [`parse_script`].
#[derive(Clone, Debug)]
pub struct ParsedScript {
    /// The commands parsed before the error, or all of them.
    pub program: Program,
    /// The syntax error that ended parsing.
    pub error: Option<SyntaxError>,
}

/// Parses a whole script. `shopt -s extglob`, and aliases after `shopt -s expand_aliases`, affect the lines
/// after them if they are at the top level of the script and have literal arguments.
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
            // Text after `exit` or `exec` need not be valid: bash never reads it.
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
#[derive(Default)]
struct Aliases {
    hidden: BTreeMap<Text, Text>,
    expanded: bool,
}

impl Aliases {
    /// Applies the `shopt`, `alias` and `unalias` commands among the parsed top-level commands.
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

/// Splits `name=text`.
fn split(definition: &[u8]) -> Option<(Text, Text)> {
    let at = memchr::memchr(b'=', definition).filter(|at| *at > 0)?;
    Some((Text::from(&definition[..at]), Text::from(&definition[at + 1..])))
}
