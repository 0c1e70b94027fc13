//! What a command is, as data.

/// A command: everything that its parser, its help, its schema, its documentation and its tests are made of.
#[derive(Clone, Copy, Debug)]
pub struct CommandDescriptor {
    /// The name it is called by.
    pub name: &'static str,
    /// One line that says what it does.
    pub summary: &'static str,
    /// How its arguments are written.
    pub style: ArgumentStyle,
    /// The parameters.
    pub parameters: &'static [CommandParameter],
    /// What is worth knowing beyond that: paragraphs.
    pub details: &'static [&'static str],
    /// What its exit statuses mean.
    pub statuses: &'static [(&'static str, &'static str)],
    /// Scripts that show it. They are tests.
    pub examples: &'static [Example],
}

/// How the arguments of a command are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentStyle {
    /// `key=value`, `--key value`, JSON words.
    Typed,
    /// GNU's options first, then operands: the names of these, the last of which stands for all that follow.
    Gnu(&'static [&'static str]),
}

/// A parameter of a command.
#[derive(Clone, Copy, Debug)]
pub struct CommandParameter {
    /// Its name: `name=…` or `--name …`.
    pub name: &'static str,
    /// A letter that stands for it: `-n …`.
    pub letter: Option<char>,
    /// What its values are.
    pub kind: ParameterKind,
    /// Whether it must be given.
    pub required: bool,
    /// What it is for.
    pub summary: &'static str,
}

/// What the values of a parameter are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    /// It has none: it is given or not.
    Flag,
    /// Any text.
    Text,
    /// The name of a variable.
    Name,
    /// A whole number, at least this.
    Integer(u64),
    /// A time as GNU writes it: `1.5m`.
    Duration,
    /// A signal, by name or number.
    Signal,
    /// One string, or a JSON array of strings.
    List,
    /// A JSON object of strings.
    Object,
    /// `never`, or `soon` or `now`, perhaps with `,fail=N`.
    Halt,
}

/// A script that shows a command.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// What it shows.
    pub summary: &'static str,
    /// The script.
    pub script: &'static str,
    /// What it writes to standard output. `…` stands for what differs from run to run.
    pub output: &'static str,
    /// Its exit status.
    pub status: i32,
}

impl CommandParameter {
    /// A parameter that may be left out.
    #[must_use]
    pub const fn new(name: &'static str, kind: ParameterKind, summary: &'static str) -> Self {
        Self { name, letter: None, kind, required: false, summary }
    }

    /// The same with a letter that stands for it.
    #[must_use]
    pub const fn letter(mut self, letter: char) -> Self {
        self.letter = Some(letter);
        self
    }

    /// The same, not to be left out.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.required = true;
        self
    }
}

impl ParameterKind {
    /// How a value is called in help.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Flag => "",
            Self::Text => "TEXT",
            Self::Name => "NAME",
            Self::Integer(_) => "NUMBER",
            Self::Duration => "DURATION",
            Self::Signal => "SIGNAL",
            Self::List => "LIST",
            Self::Object => "OBJECT",
            Self::Halt => "WHEN",
        }
    }
}

impl CommandDescriptor {
    /// The parameter of this name.
    #[must_use]
    pub fn parameter(&self, name: &[u8]) -> Option<&'static CommandParameter> {
        self.parameters.iter().find(|parameter| parameter.name.as_bytes() == name)
    }
}
