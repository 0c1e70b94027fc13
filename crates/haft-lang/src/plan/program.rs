//! Programs that run more than their name says: what an option names, text in a language of their own, files of the project.

use super::build::{Builder, Place};
use super::builtin::without_prefix;
use super::step::{Item, Reason, Role};
use super::{script_language, show};

/// A program that may run something.
struct Program {
    name: &'static str,
    /// The options whose value is text for a shell.
    texts: &'static [&'static str],
    runs: Runs,
}

/// What a program runs besides what its options name.
#[derive(Clone, Copy)]
enum Runs {
    /// Nothing.
    Nothing,
    /// Files of the project it stands in.
    Files(&'static str),
    /// What it is given, in a language of its own.
    Language,
    /// What it is given, on another machine or in another system, if one of these is among its arguments, or always.
    Elsewhere(&'static [&'static str]),
    /// What arguments that begin with `+` say.
    Keys,
    /// Its operands, as a command.
    Command,
}

const fn program(name: &'static str, texts: &'static [&'static str], runs: Runs) -> Program {
    Program { name, texts, runs }
}

/// Commands of what manages containers that run something in them.
const CONTAINERS: &[&str] =
    &["apply", "attach", "build", "compose", "create", "debug", "exec", "run", "start", "up"];

/// The programs there are.
const PROGRAMS: &[Program] = &[
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
        Runs::Nothing,
    ),
    program("rsync", &["-e", "--rsh", "--rsync-path"], Runs::Nothing),
    program("scp", &["-S", "-o"], Runs::Nothing),
    program("sftp", &["-S", "-o"], Runs::Nothing),
    program("sort", &["--compress-program"], Runs::Nothing),
    program("split", &["--filter"], Runs::Nothing),
    program("zip", &["-TT", "--unzip-command"], Runs::Nothing),
    program("man", &["-P", "--pager", "-H"], Runs::Nothing),
    program("wget", &["--use-askpass"], Runs::Nothing),
    program("crontab", &[], Runs::Files("its standard input or file")),
    program("ssh", &["-o"], Runs::Elsewhere(&[])),
    program("docker", &[], Runs::Elsewhere(CONTAINERS)),
    program("podman", &[], Runs::Elsewhere(CONTAINERS)),
    program("kubectl", &[], Runs::Elsewhere(CONTAINERS)),
    program("oc", &[], Runs::Elsewhere(CONTAINERS)),
    program("ssh-agent", &[], Runs::Command),
    program("entr", &[], Runs::Command),
    program("xterm", &["-e"], Runs::Nothing),
    program("make", &["--eval"], Runs::Files("Makefile")),
    program("gmake", &["--eval"], Runs::Files("Makefile")),
    program("ninja", &[], Runs::Files("build.ninja")),
    program("cmake", &[], Runs::Files("CMakeLists.txt")),
    program("just", &[], Runs::Files("justfile")),
    program("rake", &[], Runs::Files("Rakefile")),
    program("npm", &[], Runs::Files("package.json")),
    program("pnpm", &[], Runs::Files("package.json")),
    program("yarn", &[], Runs::Files("package.json")),
    program("npx", &[], Runs::Files("package.json")),
    program("pytest", &[], Runs::Files("the tests")),
    program("tox", &[], Runs::Files("tox.ini")),
    program("cargo", &[], Runs::Files("Cargo.toml")),
    program("go", &[], Runs::Files("go.mod")),
    program("mvn", &[], Runs::Files("pom.xml")),
    program("gradle", &[], Runs::Files("build.gradle")),
    program("ansible-playbook", &[], Runs::Files("the playbook")),
    program("python", &[], Runs::Language),
    program("python2", &[], Runs::Language),
    program("python3", &[], Runs::Language),
    program("perl", &[], Runs::Language),
    program("ruby", &[], Runs::Language),
    program("node", &[], Runs::Language),
    program("deno", &[], Runs::Language),
    program("bun", &[], Runs::Language),
    program("php", &[], Runs::Language),
    program("lua", &[], Runs::Language),
    program("Rscript", &[], Runs::Language),
    program("tclsh", &[], Runs::Language),
    program("expect", &[], Runs::Language),
    program("osascript", &[], Runs::Language),
    program("fish", &[], Runs::Language),
    program("pwsh", &[], Runs::Language),
    program("gdb", &[], Runs::Language),
    program("lldb", &[], Runs::Language),
    program("vim", &[], Runs::Language),
    program("vi", &[], Runs::Language),
    program("nvim", &[], Runs::Language),
    program("ex", &[], Runs::Language),
    program("ed", &[], Runs::Language),
    program("emacs", &[], Runs::Language),
    program("less", &[], Runs::Keys),
    program("more", &[], Runs::Keys),
    program("tmux", &[], Runs::Language),
    program("screen", &[], Runs::Language),
    program("sqlite3", &[], Runs::Language),
    program("psql", &[], Runs::Language),
    program("mysql", &[], Runs::Language),
    program("m4", &[], Runs::Language),
    program("gnuplot", &[], Runs::Language),
];

impl Builder<'_> {
    /// Follows a program that may run something.
    pub(super) fn program(&mut self, index: usize, name: &[u8], arguments: &[Item], place: &Place<'_>) {
        match base_name(name) {
            b"git" => self.git(index, arguments, place),
            b"sed" | b"gsed" => self.language(index, arguments, script_language::SED),
            b"awk" | b"gawk" | b"mawk" | b"nawk" => {
                self.language(index, arguments, script_language::AWK);
            }
            name => {
                let known = PROGRAMS.iter().find(|program| program.name.as_bytes() == name);
                known.into_iter().for_each(|program| self.known_program(index, program, arguments, place));
            }
        }
    }

    fn known_program(&mut self, index: usize, program: &Program, arguments: &[Item], place: &Place<'_>) {
        if let [only] = arguments
            && matches!(only.literal(), Some(b"--version" | b"--help" | b"-V"))
        {
            return;
        }
        self.option_texts(index, program.texts, arguments, place);
        match program.runs {
            Runs::Nothing => {}
            Runs::Files(file) => self.opaque(index, Reason::ScriptFile, file.as_bytes()),
            Runs::Language => self.opaque(index, Reason::Language, show::sources(arguments).as_bytes()),
            Runs::Elsewhere(commands) => {
                let runs = |item: &Item| item.literal().is_none_or(|word| is_among(commands, word));
                if commands.is_empty() || arguments.iter().any(runs) {
                    self.opaque(index, Reason::Elsewhere, show::sources(arguments).as_bytes());
                }
            }
            Runs::Keys => {
                if let Some(keys) = arguments.iter().find(|item| item.prefix().starts_with(b"+")) {
                    self.opaque(index, Reason::Language, show::source(keys).as_bytes());
                }
            }
            Runs::Command => {
                let is_option = |item: &&Item| item.prefix().starts_with(b"-");
                let options = arguments.iter().take_while(is_option).count();
                if options < arguments.len() {
                    self.run_arguments(
                        index,
                        arguments[options..].to_vec(),
                        Role::Wrapped,
                        &place.subshell(),
                    );
                }
            }
        }
    }

    /// Plans the values of options that are text for a shell.
    pub(super) fn option_texts(
        &mut self,
        index: usize,
        options: &[&str],
        arguments: &[Item],
        place: &Place<'_>,
    ) {
        if options.is_empty() {
            return;
        }
        for (at, argument) in arguments.iter().enumerate() {
            if argument.several && argument.prefix().is_empty() {
                self.opaque(index, Reason::WrapperOptions, show::source(argument).as_bytes());
            }
            let found = options.iter().find_map(|option| value(option, argument, arguments.get(at + 1)));
            if let Some(text) = found.and_then(|text| command_in(&text)) {
                self.run_text(index, &text, Role::Callback, &place.subshell().repeated());
            }
        }
    }
}

fn is_among(names: &[&str], word: &[u8]) -> bool {
    names.iter().any(|name| name.as_bytes() == word)
}

/// The name of an interpreter without its version: `python3.12`.
fn base_name(name: &[u8]) -> &[u8] {
    let version =
        name.iter().rposition(|byte| !byte.is_ascii_digit() && *byte != b'.').map_or(0, |at| at + 1);
    if name[version..].contains(&b'.') { &name[..version] } else { name }
}

/// The value that an argument gives to an option, if it does: in the same word or the next one.
pub(super) fn value(option: &str, argument: &Item, next: Option<&Item>) -> Option<Item> {
    let (option, prefix) = (option.as_bytes(), argument.prefix());
    if argument.literal() == Some(option) {
        return next.cloned();
    }
    if option.starts_with(b"--") {
        let rest = prefix.strip_prefix(option)?;
        return rest.starts_with(b"=").then(|| without_prefix(argument, option.len() + 1));
    }
    // Among other letters in one word.
    let letters = prefix.strip_prefix(b"-").filter(|letters| !letters.starts_with(b"-"))?;
    let at = memchr::memmem::find(letters, &option[1..])? + option.len();
    if argument.literal().is_some_and(|word| word.len() == at) {
        return next.cloned();
    }
    Some(without_prefix(argument, at))
}

/// The command in the value of an option that may also be something else: `exec=COMMAND`, `ProxyCommand=COMMAND`.
fn command_in(value: &Item) -> Option<Item> {
    const HARMLESS: [&[u8]; 6] = [b"dot", b"echo", b"bell", b"sleep", b"ttyout", b"totals"];
    let prefix = value.prefix();
    let end = prefix.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(prefix.len());
    let (key, assigned) = (&prefix[..end], prefix.get(end) == Some(&b'='));
    let runs = key == b"exec" || key.ends_with(b"Command") || key.to_ascii_lowercase().ends_with(b"command");
    match assigned {
        true if runs => Some(without_prefix(value, end + 1)),
        // A setting that names no command.
        true => None,
        false if HARMLESS.contains(&key) => None,
        false => Some(value.clone()),
    }
}
