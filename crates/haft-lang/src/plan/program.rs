//! Programs that run other commands: named by options, written in their own language, or in project files.

use super::build::{PlanBuilder, StepContext};
use super::builtin::without_prefix;
use super::step::{OpaqueReason, PlannedWord, StepRole};
use super::{script_language, show};

/// A program that may run other commands.
struct KnownProgram {
    name: &'static str,
    /// Options whose value is a shell command.
    texts: &'static [&'static str],
    runs: ProgramKind,
}

/// The commands that a program runs in addition to those in its options.
#[derive(Clone, Copy)]
enum ProgramKind {
    /// Nothing.
    Nothing,
    /// A file of the project.
    Files(&'static str),
    /// Code in its own language.
    Language,
    /// Its arguments, on another machine or in a container, if one of these words is an argument. Always, if
    /// the list is empty.
    Elsewhere(&'static [&'static str]),
    /// Arguments that start with `+`.
    Keys,
    /// Its operands, as a command.
    Command,
}

const fn program(name: &'static str, texts: &'static [&'static str], runs: ProgramKind) -> KnownProgram {
    KnownProgram { name, texts, runs }
}

/// Subcommands of container managers that run commands in containers.
const CONTAINER_SUBCOMMANDS: &[&str] =
    &["apply", "attach", "build", "compose", "create", "debug", "exec", "run", "start", "up"];

/// All known programs.
const PROGRAMS: &[KnownProgram] = &[
    program(
        "tar",
        &[
            "-I",
            "-F",
            "--use-compress-program",
            "--to-command",
            "--checkpoint-action",
            "--info-script",
            "--new-volume-script",
            "--rsh-command",
        ],
        ProgramKind::Nothing,
    ),
    program("rsync", &["-e", "--rsh", "--rsync-path"], ProgramKind::Nothing),
    program("scp", &["-S", "-o"], ProgramKind::Nothing),
    program("sftp", &["-S", "-o"], ProgramKind::Nothing),
    program("sort", &["--compress-program"], ProgramKind::Nothing),
    program("split", &["--filter"], ProgramKind::Nothing),
    program("zip", &["-TT", "--unzip-command"], ProgramKind::Nothing),
    program("man", &["-P", "--pager", "-H"], ProgramKind::Nothing),
    program("wget", &["--use-askpass"], ProgramKind::Nothing),
    program("crontab", &[], ProgramKind::Files("its standard input or file")),
    program("ssh", &["-o"], ProgramKind::Elsewhere(&[])),
    program("docker", &[], ProgramKind::Elsewhere(CONTAINER_SUBCOMMANDS)),
    program("podman", &[], ProgramKind::Elsewhere(CONTAINER_SUBCOMMANDS)),
    program("kubectl", &[], ProgramKind::Elsewhere(CONTAINER_SUBCOMMANDS)),
    program("oc", &[], ProgramKind::Elsewhere(CONTAINER_SUBCOMMANDS)),
    program("ssh-agent", &[], ProgramKind::Command),
    program("entr", &[], ProgramKind::Command),
    program("xterm", &["-e"], ProgramKind::Nothing),
    program("make", &["--eval"], ProgramKind::Files("Makefile")),
    program("gmake", &["--eval"], ProgramKind::Files("Makefile")),
    program("ninja", &[], ProgramKind::Files("build.ninja")),
    program("cmake", &[], ProgramKind::Files("CMakeLists.txt")),
    program("just", &[], ProgramKind::Files("justfile")),
    program("rake", &[], ProgramKind::Files("Rakefile")),
    program("npm", &[], ProgramKind::Files("package.json")),
    program("pnpm", &[], ProgramKind::Files("package.json")),
    program("yarn", &[], ProgramKind::Files("package.json")),
    program("npx", &[], ProgramKind::Files("package.json")),
    program("pytest", &[], ProgramKind::Files("the tests")),
    program("tox", &[], ProgramKind::Files("tox.ini")),
    program("cargo", &[], ProgramKind::Files("Cargo.toml")),
    program("go", &[], ProgramKind::Files("go.mod")),
    program("mvn", &[], ProgramKind::Files("pom.xml")),
    program("gradle", &[], ProgramKind::Files("build.gradle")),
    program("ansible-playbook", &[], ProgramKind::Files("the playbook")),
    program("python", &[], ProgramKind::Language),
    program("python2", &[], ProgramKind::Language),
    program("python3", &[], ProgramKind::Language),
    program("perl", &[], ProgramKind::Language),
    program("ruby", &[], ProgramKind::Language),
    program("node", &[], ProgramKind::Language),
    program("deno", &[], ProgramKind::Language),
    program("bun", &[], ProgramKind::Language),
    program("php", &[], ProgramKind::Language),
    program("lua", &[], ProgramKind::Language),
    program("Rscript", &[], ProgramKind::Language),
    program("tclsh", &[], ProgramKind::Language),
    program("expect", &[], ProgramKind::Language),
    program("osascript", &[], ProgramKind::Language),
    program("fish", &[], ProgramKind::Language),
    program("pwsh", &[], ProgramKind::Language),
    program("gdb", &[], ProgramKind::Language),
    program("lldb", &[], ProgramKind::Language),
    program("vim", &[], ProgramKind::Language),
    program("vi", &[], ProgramKind::Language),
    program("nvim", &[], ProgramKind::Language),
    program("ex", &[], ProgramKind::Language),
    program("ed", &[], ProgramKind::Language),
    program("emacs", &[], ProgramKind::Language),
    program("less", &[], ProgramKind::Keys),
    program("more", &[], ProgramKind::Keys),
    program("tmux", &[], ProgramKind::Language),
    program("screen", &[], ProgramKind::Language),
    program("sqlite3", &[], ProgramKind::Language),
    program("psql", &[], ProgramKind::Language),
    program("mysql", &[], ProgramKind::Language),
    program("m4", &[], ProgramKind::Language),
    program("gnuplot", &[], ProgramKind::Language),
];

impl PlanBuilder<'_> {
    /// Plans the commands that a program may run.
    pub(super) fn program(
        &mut self,
        index: usize,
        name: &[u8],
        arguments: &[PlannedWord],
        context: &StepContext<'_>,
    ) {
        match base_name(name) {
            b"git" => self.git(index, arguments, context),
            b"sed" | b"gsed" => self.language(index, arguments, script_language::SED),
            b"awk" | b"gawk" | b"mawk" | b"nawk" => {
                self.language(index, arguments, script_language::AWK);
            }
            name => {
                let known = PROGRAMS.iter().find(|program| program.name.as_bytes() == name);
                known.into_iter().for_each(|program| self.known_program(index, program, arguments, context));
            }
        }
    }

    fn known_program(
        &mut self,
        index: usize,
        program: &KnownProgram,
        arguments: &[PlannedWord],
        context: &StepContext<'_>,
    ) {
        if let [only] = arguments
            && matches!(only.literal(), Some(b"--version" | b"--help" | b"-V"))
        {
            return;
        }
        self.option_texts(index, program.texts, arguments, context);
        match program.runs {
            ProgramKind::Nothing => {}
            ProgramKind::Files(file) => self.opaque(index, OpaqueReason::ScriptFile, file.as_bytes()),
            ProgramKind::Language => {
                self.opaque(index, OpaqueReason::Language, show::sources(arguments).as_bytes());
            }
            ProgramKind::Elsewhere(commands) => {
                let runs = |item: &PlannedWord| item.literal().is_none_or(|word| is_among(commands, word));
                if commands.is_empty() || arguments.iter().any(runs) {
                    self.opaque(index, OpaqueReason::Elsewhere, show::sources(arguments).as_bytes());
                }
            }
            ProgramKind::Keys => {
                if let Some(keys) = arguments.iter().find(|item| item.prefix().starts_with(b"+")) {
                    self.opaque(index, OpaqueReason::Language, show::source(keys).as_bytes());
                }
            }
            ProgramKind::Command => {
                let is_option = |item: &&PlannedWord| item.prefix().starts_with(b"-");
                let options = arguments.iter().take_while(is_option).count();
                if options < arguments.len() {
                    self.run_arguments(
                        index,
                        arguments[options..].to_vec(),
                        StepRole::Wrapped,
                        &context.subshell(),
                    );
                }
            }
        }
    }

    /// Plans the values of options that are shell commands.
    pub(super) fn option_texts(
        &mut self,
        index: usize,
        options: &[&str],
        arguments: &[PlannedWord],
        context: &StepContext<'_>,
    ) {
        if options.is_empty() {
            return;
        }
        for (at, argument) in arguments.iter().enumerate() {
            if argument.several && argument.prefix().is_empty() {
                self.opaque(index, OpaqueReason::WrapperOptions, show::source(argument).as_bytes());
            }
            let found = options.iter().find_map(|option| value(option, argument, arguments.get(at + 1)));
            if let Some(text) = found.and_then(|text| command_in(&text)) {
                self.run_text(index, &text, StepRole::Callback, &context.subshell().repeated());
            }
        }
    }
}

fn is_among(names: &[&str], word: &[u8]) -> bool {
    names.iter().any(|name| name.as_bytes() == word)
}

/// Removes the version from the name of an interpreter: `python3.12`.
fn base_name(name: &[u8]) -> &[u8] {
    let version =
        name.iter().rposition(|byte| !byte.is_ascii_digit() && *byte != b'.').map_or(0, |at| at + 1);
    if name[version..].contains(&b'.') { &name[..version] } else { name }
}

/// Returns the value of an option if the argument is that option. The value may be in the same word or the
/// next one.
pub(super) fn value(option: &str, argument: &PlannedWord, next: Option<&PlannedWord>) -> Option<PlannedWord> {
    let (option, prefix) = (option.as_bytes(), argument.prefix());
    if argument.literal() == Some(option) {
        return next.cloned();
    }
    if option.starts_with(b"--") {
        let rest = prefix.strip_prefix(option)?;
        return rest.starts_with(b"=").then(|| without_prefix(argument, option.len() + 1));
    }
    // A short option in a bundle.
    let letters = prefix.strip_prefix(b"-").filter(|letters| !letters.starts_with(b"-"))?;
    let at = memchr::memmem::find(letters, &option[1..])? + option.len();
    if argument.literal().is_some_and(|word| word.len() == at) {
        return next.cloned();
    }
    Some(without_prefix(argument, at))
}

/// Returns the command in an option's value that may be a setting: `exec=COMMAND`, `ProxyCommand=COMMAND`.
fn command_in(value: &PlannedWord) -> Option<PlannedWord> {
    const HARMLESS_ACTIONS: [&[u8]; 6] = [b"dot", b"echo", b"bell", b"sleep", b"ttyout", b"totals"];
    let prefix = value.prefix();
    let end = prefix.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(prefix.len());
    let (key, assigned) = (&prefix[..end], prefix.get(end) == Some(&b'='));
    let runs = key == b"exec" || key.ends_with(b"Command") || key.to_ascii_lowercase().ends_with(b"command");
    match assigned {
        true if runs => Some(without_prefix(value, end + 1)),
        // A setting without a command.
        true => None,
        false if HARMLESS_ACTIONS.contains(&key) => None,
        false => Some(value.clone()),
    }
}
