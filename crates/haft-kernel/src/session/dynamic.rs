//! Dynamic variables, which are computed when they are read.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use haft_text::Bytes;

use crate::options::ShellOption;

use crate::session::random::{RandomGenerator, unpredictable_number};
use crate::session::{HostIdentity, ProgramOrigin, Session};
use crate::variables::{AssociativeArray, Attributes, IndexedArray, Variable, VariableError, VariableValue};

/// The dynamic variables.
pub(crate) const COMPUTED: &[(&str, Attributes)] = &[
    ("BASHPID", Attributes::INTEGER),
    ("BASH_ALIASES", Attributes::NONE),
    ("BASH_ARGC", Attributes::NONE),
    ("BASH_ARGV", Attributes::NONE),
    ("BASH_ARGV0", Attributes::NONE),
    ("BASH_CMDS", Attributes::NONE),
    ("BASH_COMMAND", Attributes::NONE),
    ("BASH_LINENO", Attributes::NONE),
    ("BASH_SOURCE", Attributes::NONE),
    ("BASH_SUBSHELL", Attributes::NONE),
    ("BASHOPTS", Attributes::READONLY),
    ("COMP_WORDBREAKS", Attributes::NONE),
    ("DIRSTACK", Attributes::NONE),
    ("EPOCHREALTIME", Attributes::NONE),
    ("EPOCHSECONDS", Attributes::NONE),
    ("FUNCNAME", Attributes::NONE),
    ("GROUPS", Attributes::NONE),
    ("HISTCMD", Attributes::INTEGER),
    ("LINENO", Attributes::NONE),
    ("PIPESTATUS", Attributes::NONE),
    ("RANDOM", Attributes::INTEGER),
    ("SECONDS", Attributes::INTEGER),
    ("SHELLOPTS", Attributes::READONLY),
    ("SRANDOM", Attributes::INTEGER),
    ("_", Attributes::NONE),
];

/// The value of `COMP_WORDBREAKS` until it is assigned.
pub(crate) const WORD_BREAKS: &str = " \t\n\"'@><=;|&(:";

/// The bit of a dynamic variable that is not listed until it was used; 0 for others.
fn hidden_bit(name: &[u8]) -> u32 {
    match name {
        b"BASHPID" => 1,
        b"BASH_ARGV0" => 1 << 1,
        b"BASH_COMMAND" => 1 << 2,
        b"BASH_SUBSHELL" => 1 << 3,
        b"EPOCHREALTIME" => 1 << 4,
        b"EPOCHSECONDS" => 1 << 5,
        b"HISTCMD" => 1 << 6,
        b"LINENO" => 1 << 7,
        b"RANDOM" => 1 << 8,
        b"SECONDS" => 1 << 9,
        b"SRANDOM" => 1 << 10,
        b"COMP_WORDBREAKS" => 1 << 11,
        _ => 0,
    }
}

impl Session {
    /// Adds the dynamic variables, so that they can be read, listed and unset.
    pub(crate) fn install_computed(&mut self) {
        for (name, attributes) in COMPUTED {
            let variable = Variable::scalar("").with(attributes.union(Attributes::DYNAMIC));
            self.variables.insert(name.as_bytes(), variable);
        }
    }

    /// Whether `set` lists a variable. Most dynamic variables are listed only once they were used.
    pub(crate) fn is_listed(&self, name: &[u8], variable: &Variable) -> bool {
        let bit = if variable.is(Attributes::DYNAMIC) { hidden_bit(name) } else { 0 };
        bit == 0 || self.caches.has_used_dynamic(bit)
    }

    /// The current value of a dynamic variable.
    pub(crate) fn compute(&self, name: &[u8], variable: &Variable) -> Variable {
        self.caches.note_dynamic(hidden_bit(name));
        let value = match name {
            b"LINENO" => number(self.calls.line()),
            b"RANDOM" => number(self.random.next()),
            b"SRANDOM" => number(unpredictable_number()),
            b"SECONDS" => number(self.clock.seconds()),
            b"EPOCHSECONDS" => number(since_epoch().as_secs()),
            b"EPOCHREALTIME" => {
                let now = since_epoch();
                let point = String::from_utf8_lossy(self.decimal_point());
                scalar(format!("{}{point}{:06}", now.as_secs(), now.subsec_micros()))
            }
            b"BASHPID" => number(self.identity.own_pid()),
            b"BASH_SUBSHELL" => number(self.identity.depth()),
            b"BASH_COMMAND" => VariableValue::Scalar(self.command_text()),
            b"BASH_ARGV0" => VariableValue::Scalar(self.parameters.zero().clone()),
            b"SHELLOPTS" => scalar(self.options.set_names()),
            b"BASHOPTS" => scalar(self.options.shell_names()),
            b"COMP_WORDBREAKS" => scalar(WORD_BREAKS),
            b"HISTCMD" => number(u32::try_from(self.history_number() - 1).unwrap_or(u32::MAX)),
            b"_" => VariableValue::Scalar(self.parameters.last_argument().clone()),
            _ => return self.compute_array(name, variable),
        };
        Variable { value, ..variable.clone() }
    }

    fn compute_array(&self, name: &[u8], variable: &Variable) -> Variable {
        let value = match name {
            b"PIPESTATUS" => {
                list(self.parameters.pipe_status().iter().map(|status| status.to_string().into()))
            }
            b"FUNCNAME" if self.calls.is_in_function() => self.frame_names(),
            b"FUNCNAME" => {
                let empty = list(std::iter::empty());
                return Variable { value: empty, ..variable.clone() }.with(Attributes::UNSET);
            }
            b"BASH_ARGC" => list(self.frame_arguments().map(|arguments| arguments.len().to_string().into())),
            b"BASH_ARGV" => {
                list(self.frame_arguments().flat_map(|arguments| arguments.iter().rev().cloned()))
            }
            b"BASH_SOURCE" => self.frame_sources(),
            b"BASH_LINENO" => self.frame_lines(),
            b"DIRSTACK" => list(
                std::iter::once(Bytes::from(self.working_directory.path()))
                    .chain(self.working_directory.stack().iter().cloned()),
            ),
            b"GROUPS" => {
                list(HostIdentity::of(&self.kernel).groups.iter().map(|group| group.to_string().into()))
            }
            b"BASH_ALIASES" => {
                pairs(self.definitions.aliases().iter().map(|(name, value)| (name.clone(), value.clone())))
            }
            b"BASH_CMDS" => {
                pairs(self.caches.commands().iter().map(|(name, (path, _))| (name.clone(), path.clone())))
            }
            _ => return variable.clone(),
        };
        Variable { value, ..variable.clone() }
    }

    fn frame_names(&self) -> VariableValue {
        let main = self.has_main().then(|| "main".into());
        list(self.calls.frames().iter().rev().map(|frame| frame.name.clone()).chain(main))
    }

    fn frame_sources(&self) -> VariableValue {
        let main = self.has_main().then(|| self.source_name());
        list(self.calls.frames().iter().rev().map(|frame| frame.source.clone()).chain(main))
    }

    /// The arguments of the calls, the innermost first, and at the end those of the program.
    fn frame_arguments(&self) -> impl Iterator<Item = &[Bytes]> {
        let frames = self.calls.frames();
        let shows_program = frames.is_empty() || self.options.shell(ShellOption::ExtendedDebug);
        let program = shows_program.then(|| self.identity.arguments());
        frames.iter().rev().filter_map(|frame| frame.arguments.as_deref()).chain(program)
    }

    fn frame_lines(&self) -> VariableValue {
        let main = self.has_main().then(|| "0".into());
        list(self.calls.frames().iter().rev().map(|frame| frame.line.to_string().into()).chain(main))
    }

    /// Whether the program is a file, which is then the outermost call.
    pub(crate) fn has_main(&self) -> bool {
        self.identity.program() == ProgramOrigin::File
    }

    /// The name of the script as `BASH_SOURCE` shows it.
    pub(crate) fn source_name(&self) -> Bytes {
        self.identity.source_name()
    }

    /// Assigns a dynamic variable.
    pub(crate) fn assign_computed(&mut self, name: &[u8], value: &[u8]) {
        self.caches.note_dynamic(hidden_bit(name));
        let text = String::from_utf8_lossy(value);
        let parsed: i64 = text.trim().parse().unwrap_or(0);
        match name {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a seed has 32 bits")]
            b"RANDOM" => self.random = RandomGenerator::new(parsed as u32),
            b"SECONDS" => self.clock.set_seconds(parsed.cast_unsigned()),
            b"LINENO" => self.calls.set_line(u32::try_from(parsed).unwrap_or(0)),
            b"BASH_ARGV0" => drop(self.parameters.set_zero(value.into())),
            _ => {}
        }
    }

    /// Assigns to an element of an array whose elements stand for something else: `BASH_CMDS`, `BASH_ALIASES`, `DIRSTACK`.
    /// Returns whether it is one of them.
    pub(crate) fn assign_computed_element(
        &mut self,
        name: &[u8],
        subscript: &[u8],
        value: &Bytes,
    ) -> Result<bool, VariableError> {
        match name {
            b"BASH_CMDS" if self.is_restricted() => {
                let refused = self.refuses(value.contains(&b'/'), value);
                if !refused {
                    self.report(format_args!("{value}: not found"));
                }
            }
            b"BASH_CMDS" => {
                let path = self.value(b"PATH");
                self.caches.validate_commands(path.as_ref());
                self.caches.commands_mut().insert(subscript.into(), (value.clone(), 0));
            }
            b"BASH_ALIASES" => {
                self.definitions.aliases_mut().insert(subscript.into(), value.clone());
            }
            b"DIRSTACK" => {
                let number =
                    self.evaluate_text(subscript).map_err(|error| VariableError::Arithmetic(error.into()))?;
                let place = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
                if let Some(slot) = place.and_then(|place| self.working_directory.stack_mut().get_mut(place))
                {
                    *slot = value.clone();
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

fn number(number: impl Into<i128>) -> VariableValue {
    scalar(number.into().to_string())
}

fn scalar(text: impl Into<Bytes>) -> VariableValue {
    VariableValue::Scalar(text.into())
}

fn list(values: impl Iterator<Item = Bytes>) -> VariableValue {
    VariableValue::Indexed(Arc::new(IndexedArray::from_values(values.collect())))
}

fn pairs(entries: impl Iterator<Item = (Bytes, Bytes)>) -> VariableValue {
    let mut array = AssociativeArray::default();
    entries.for_each(|(key, value)| array.set(key, value));
    VariableValue::Associative(Arc::new(array))
}

fn since_epoch() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}
