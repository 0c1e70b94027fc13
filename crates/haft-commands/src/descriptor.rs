//! Commands described as data.

/// Describes a command. Its parser, help, schema, documentation and tests are derived from this.
#[derive(Clone, Copy, Debug)]
pub struct CommandDescriptor {
    /// The name of the command.
    pub name: &'static str,
    /// One sentence on what it does.
    pub summary: &'static str,
    /// How its arguments are written.
    pub style: ArgumentStyle,
    /// Its parameters.
    pub parameters: &'static [CommandParameter],
    /// Further paragraphs of its help.
    pub details: &'static [&'static str],
    /// Its exit statuses and their meanings.
    pub statuses: &'static [(&'static str, &'static str)],
    /// Example scripts, which run as tests.
    pub examples: &'static [Example],
}

/// How the arguments of a command are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentStyle {
    /// `key=value`, `--key value` and JSON words.
    Typed,
    /// The same, up to a command and its arguments. Holds the command as the synopsis shows it.
    TypedCommand(&'static [&'static str]),
    /// GNU options, then operands. Holds the operands as the synopsis shows them.
    Gnu(&'static [&'static str]),
    /// GNU options and operands in any order, up to `--`.
    GnuMixed(&'static [&'static str]),
}

impl ArgumentStyle {
    /// The operands as the synopsis shows them. `None` if the command has only parameters.
    #[must_use]
    pub const fn operands(self) -> Option<&'static [&'static str]> {
        match self {
            Self::Typed => None,
            Self::TypedCommand(operands) | Self::Gnu(operands) | Self::GnuMixed(operands) => Some(operands),
        }
    }

    /// Whether arguments are typed values.
    #[must_use]
    pub const fn is_typed(self) -> bool {
        matches!(self, Self::Typed | Self::TypedCommand(_))
    }
}

/// A parameter of a command.
#[derive(Clone, Copy, Debug)]
pub struct CommandParameter {
    /// The name, written `name=…` or `--name …`.
    pub name: &'static str,
    /// The short option, written `-n …`.
    pub letter: Option<char>,
    /// The type of its values.
    pub kind: ParameterKind,
    /// Whether it must be given.
    pub required: bool,
    /// One line for the help.
    pub summary: &'static str,
    /// Whether only the short option exists.
    short_only: bool,
    /// Overrides the value name that help derives from the type.
    value_name: Option<&'static str>,
    /// The columns of a row, for the option that asks for JSON.
    columns: &'static [JsonColumn],
}

/// A member of the objects that a command writes with `--json`.
#[derive(Clone, Copy, Debug)]
pub struct JsonColumn {
    /// The name of the member.
    pub name: &'static str,
    /// The type of its values, any of which can be null.
    pub kind: JsonKind,
    /// One line for the documentation.
    pub summary: &'static str,
}

/// The type of a member in JSON output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonKind {
    /// A string.
    Text,
    /// An integer.
    Number,
    /// True or false.
    Boolean,
    /// An array of strings.
    Texts,
    /// An array of integers.
    Numbers,
}

/// The type of a parameter's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    /// No value: the parameter is given or not.
    Flag,
    /// Any text.
    Text,
    /// Text that may be missing, written `--name=TEXT`. It is empty then.
    OptionalText,
    /// A variable name.
    Name,
    /// An integer of at least this value.
    Integer(u64),
    /// A duration in GNU's syntax, such as `1.5m`.
    Duration,
    /// A signal name or number.
    Signal,
    /// One string, or a JSON array of strings.
    List,
    /// A JSON object with string values.
    Object,
    /// `never`, `soon` or `now`, the last two optionally with `,fail=N`.
    Halt,
}

/// An example script for a command.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// One line that says what the example shows.
    pub summary: &'static str,
    /// The script.
    pub script: &'static str,
    /// Its standard output. `…` matches text that varies between runs.
    pub output: &'static str,
    /// Its exit status.
    pub status: i32,
}

/// An option with a value.
pub(crate) const fn option(
    name: &'static str,
    letter: char,
    value: &'static str,
    summary: &'static str,
) -> CommandParameter {
    CommandParameter::new(name, ParameterKind::Text, summary).letter(letter).with_value_name(value)
}

impl CommandParameter {
    /// An optional parameter.
    #[must_use]
    pub const fn new(name: &'static str, kind: ParameterKind, summary: &'static str) -> Self {
        Self {
            name,
            letter: None,
            kind,
            required: false,
            summary,
            short_only: false,
            value_name: None,
            columns: &[],
        }
    }

    /// The option that asks for JSON with these columns.
    pub(crate) const fn json(name: &'static str, columns: &'static [JsonColumn]) -> Self {
        let summary = "Write a JSON array with an object for each result. Programs do not have this option.";
        Self { columns, ..Self::new(name, ParameterKind::Flag, summary) }
    }

    /// The columns of the JSON output, for the option that asks for it.
    #[must_use]
    pub const fn columns(&self) -> &'static [JsonColumn] {
        self.columns
    }

    /// A flag that has only a short option.
    #[must_use]
    pub const fn short_flag(name: &'static str, letter: char, summary: &'static str) -> Self {
        Self { short_only: true, ..Self::new(name, ParameterKind::Flag, summary) }.letter(letter)
    }

    /// Removes the long option.
    #[must_use]
    pub const fn without_long_option(mut self) -> Self {
        self.short_only = true;
        self
    }

    /// Whether the parameter can be given by its name.
    #[must_use]
    pub const fn has_long_option(&self) -> bool {
        !self.short_only
    }

    /// Adds a short option.
    #[must_use]
    pub const fn letter(mut self, letter: char) -> Self {
        self.letter = Some(letter);
        self
    }

    /// Makes the parameter required.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// Sets the name that help shows for the value.
    #[must_use]
    pub const fn with_value_name(mut self, name: &'static str) -> Self {
        self.value_name = Some(name);
        self
    }

    /// The name that help shows for the value. Empty for a flag.
    #[must_use]
    pub const fn value_name(&self) -> &'static str {
        match self.value_name {
            Some(name) => name,
            None => self.kind.value_name(),
        }
    }
}

impl ParameterKind {
    const fn value_name(self) -> &'static str {
        match self {
            Self::Flag => "",
            Self::Text | Self::OptionalText => "TEXT",
            Self::Name => "NAME",
            Self::Integer(_) => "N",
            Self::Duration => "DURATION",
            Self::Signal => "SIGNAL",
            Self::List => "LIST",
            Self::Object => "OBJECT",
            Self::Halt => "WHEN",
        }
    }
}

impl CommandDescriptor {
    /// Finds a parameter by its full name.
    #[must_use]
    pub fn parameter(&self, name: &[u8]) -> Option<&'static CommandParameter> {
        self.parameters
            .iter()
            .find(|parameter| parameter.has_long_option() && parameter.name.as_bytes() == name)
    }
}
