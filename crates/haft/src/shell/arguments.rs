//! Parses the command line of a shell as bash does, without side effects.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

/// The source of the script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ScriptSource {
    /// The text after `-c`.
    Text(Vec<u8>),
    /// A file.
    File(Vec<u8>),
    /// Standard input.
    Input,
}

/// An option with its sign: `-` turns it on, `+` off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ShellSetting {
    /// An option of `set`, by letter.
    Letter(u8, bool),
    /// An option of `set`, by name.
    Name(Vec<u8>, bool),
    /// An option of `shopt`.
    Shell(Vec<u8>, bool),
}

/// The parsed command line of a shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShellArguments {
    pub(crate) settings: Vec<ShellSetting>,
    pub(crate) source: ScriptSource,
    /// `$0`, unless it is the shell's own name.
    pub(crate) name: Option<Vec<u8>>,
    pub(crate) arguments: Vec<Vec<u8>>,
    /// Whether `-i` was given.
    pub(crate) interactive: bool,
    /// Whether `-l` was given.
    pub(crate) login: bool,
    pub(crate) startup: StartupOptions,
    /// Whether the line editor can be used: not with `--noediting`.
    pub(crate) editing: bool,
    /// Whether `-r` or `--restricted` was given.
    pub(crate) restricted: bool,
}

/// Which startup files an interactive shell runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StartupOptions {
    /// Whether a login shell runs its profiles: not with `--noprofile`.
    pub(crate) profile: bool,
    /// Whether it runs an rc file: not with `--norc`.
    pub(crate) rc: bool,
    /// The rc file, if `--rcfile` names another one.
    pub(crate) file: Option<Vec<u8>>,
}

impl Default for StartupOptions {
    fn default() -> StartupOptions {
        StartupOptions { profile: true, rc: true, file: None }
    }
}

/// The answer to `--help` or `--version` among the first arguments. The version is that of the emulated bash, in the place
/// where scripts expect it. Under the name `bash`, it begins with bash's words, which scripts look for.
pub(crate) fn help_or_version(words: &[OsString], name: &std::ffi::OsStr) -> Option<String> {
    let shell = if base_name(name) == b"bash" { "GNU bash" } else { "haft bash" };
    let options = words.iter().take_while(|word| word.as_bytes().starts_with(b"--") && word.len() > 2);
    options.map(|word| word.as_bytes()).find_map(|word| match word {
        b"--version" => Some(format!(
            "{shell}, version {} (haft {})\n",
            haft_kernel::BASH_VERSION,
            env!("CARGO_PKG_VERSION")
        )),
        b"--help" => Some(HELP.to_owned()),
        _ => None,
    })
}

const HELP: &str = "\
haft in place of bash

Usage: bash [option…] [file [argument…]]
       bash [option…] -c text [name [argument…]]
       bash [option…] -s [argument…]

Options: those of 'set' (-e -u -x -n -v -f …, -o name, + turns them off), -O name and +O name for those of 'shopt',
-i for an interactive shell, -l or --login, --posix, --norc, --noprofile, --rcfile file, --noediting, --version.
'help' in the shell lists the builtins. 'haft --help' shows what haft adds.
";

/// Parses the arguments after the shell's own name.
///
/// # Errors
/// A message for an unknown option or a missing argument.
pub(crate) fn parse(words: impl IntoIterator<Item = OsString>) -> Result<ShellArguments, String> {
    let mut words = words.into_iter().map(OsString::into_vec).peekable();
    let mut raw = ShellArgumentsParser::default();
    while let Some(word) = words.next_if(|word| is_option(word)) {
        if word == b"--" || word == b"-" {
            break;
        }
        if word.starts_with(b"--") {
            raw.long(&word, &mut words)?;
        } else {
            raw.short(&word, &mut words)?;
        }
    }
    raw.finish(words)
}

fn is_option(word: &[u8]) -> bool {
    word.starts_with(b"-") || (word.len() > 1 && word.starts_with(b"+"))
}

#[derive(Default)]
struct ShellArgumentsParser {
    settings: Vec<ShellSetting>,
    command: bool,
    input: bool,
    interactive: bool,
    login: bool,
    startup: StartupOptions,
    no_editing: bool,
    restricted: bool,
}

impl ShellArgumentsParser {
    fn long(&mut self, word: &[u8], rest: &mut impl Iterator<Item = Vec<u8>>) -> Result<(), String> {
        match word {
            b"--norc" => self.startup.rc = false,
            b"--noprofile" => self.startup.profile = false,
            b"--rcfile" | b"--init-file" => {
                let name = String::from_utf8_lossy(word);
                let file = rest.next().ok_or_else(|| format!("{name}: option requires an argument"))?;
                self.startup.file = Some(file);
            }
            b"--login" => self.login = true,
            b"--noediting" => self.no_editing = true,
            b"--restricted" => self.restricted = true,
            b"--debugger" => {}
            b"--posix" => self.settings.push(ShellSetting::Name(b"posix".to_vec(), true)),
            b"--verbose" => self.settings.push(ShellSetting::Letter(b'v', true)),
            _ => return Err(format!("{}: invalid option", OsString::from_vec(word.to_vec()).display())),
        }
        Ok(())
    }

    fn short(&mut self, word: &[u8], rest: &mut impl Iterator<Item = Vec<u8>>) -> Result<(), String> {
        let on = word[0] == b'-';
        let sign = if on { '-' } else { '+' };
        for &letter in &word[1..] {
            match letter {
                b'c' if on => self.command = true,
                b's' if on => self.input = true,
                b'i' if on => self.interactive = true,
                b'l' if on => self.login = true,
                b'r' if on => self.restricted = true,
                b'D' => {}
                b'o' | b'O' => {
                    let name = rest
                        .next()
                        .ok_or_else(|| format!("{sign}{}: option requires an argument", letter as char))?;
                    self.settings.push(if letter == b'o' {
                        ShellSetting::Name(name, on)
                    } else {
                        ShellSetting::Shell(name, on)
                    });
                }
                _ => self.settings.push(ShellSetting::Letter(letter, on)),
            }
        }
        Ok(())
    }

    fn finish(self, mut words: impl Iterator<Item = Vec<u8>>) -> Result<ShellArguments, String> {
        let (source, name) = if self.command {
            let text = words.next().ok_or_else(|| "-c: option requires an argument".to_owned())?;
            (ScriptSource::Text(text), words.next())
        } else if self.input {
            (ScriptSource::Input, None)
        } else {
            match words.next() {
                Some(file) => (ScriptSource::File(file.clone()), Some(file)),
                None => (ScriptSource::Input, None),
            }
        };
        Ok(ShellArguments {
            settings: self.settings,
            source,
            name,
            arguments: words.collect(),
            interactive: self.interactive,
            login: self.login,
            startup: self.startup,
            editing: !self.no_editing,
            restricted: self.restricted,
        })
    }
}

/// Whether a name is that of a shell, such as `sh`, `bash` or `haft-sh`.
pub(crate) fn is_shell_name(name: &std::ffi::OsStr) -> bool {
    base_name(name).ends_with(b"sh")
}

/// The last component of the path of a program.
fn base_name(path: &std::ffi::OsStr) -> &[u8] {
    path.as_bytes().rsplit(|&byte| byte == b'/').next().unwrap_or_default()
}

/// Whether a name is `sh`, which means POSIX mode.
pub(crate) fn is_posix_name(name: &std::ffi::OsStr) -> bool {
    matches!(base_name(name), b"sh" | b"-sh")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Result<ShellArguments, String> {
        parse(words.iter().map(OsString::from))
    }

    #[test]
    fn command_text_takes_a_name_and_arguments() {
        let read = read(&["-euo", "pipefail", "-c", "echo", "name", "a", "-b"]).unwrap();
        assert_eq!(read.source, ScriptSource::Text(b"echo".to_vec()));
        assert_eq!(read.name.as_deref(), Some(&b"name"[..]));
        assert_eq!(read.arguments, [b"a".to_vec(), b"-b".to_vec()]);
        let pipefail = ShellSetting::Name(b"pipefail".to_vec(), true);
        assert_eq!(
            read.settings,
            [ShellSetting::Letter(b'e', true), ShellSetting::Letter(b'u', true), pipefail]
        );
    }

    #[test]
    fn help_and_version_are_recognized_before_other_arguments() {
        let about = |words: &[&str]| {
            help_or_version(&words.iter().map(OsString::from).collect::<Vec<_>>(), "/bin/bash".as_ref())
        };
        let version = about(&["--norc", "--version", "-c", "true"]).unwrap_or_default();
        assert_eq!(version.split(' ').nth(3), Some(haft_kernel::BASH_VERSION));
        assert!(version.starts_with("GNU bash"));
        assert!(about(&["--help"]).is_some_and(|text| text.contains("--norc")));
        assert_eq!(about(&["-c", "--version"]), None);
        assert_eq!(about(&["--", "--version"]), None);
    }

    #[test]
    fn the_file_is_the_script_name() {
        let read = read(&["+x", "--", "-file", "x"]).unwrap();
        assert_eq!(read.source, ScriptSource::File(b"-file".to_vec()));
        assert_eq!(read.settings, [ShellSetting::Letter(b'x', false)]);
        assert_eq!(read.arguments, [b"x".to_vec()]);
    }

    #[test]
    fn without_a_file_the_script_is_standard_input() {
        assert_eq!(read(&[]).unwrap().source, ScriptSource::Input);
        let read = read(&["-s", "a", "b"]).unwrap();
        assert_eq!((read.source, read.arguments.len()), (ScriptSource::Input, 2));
    }

    #[test]
    fn missing_arguments_and_unknown_options_are_errors() {
        assert!(read(&["-c"]).is_err());
        assert!(read(&["-o"]).is_err());
        assert!(read(&["--wrong"]).is_err());
    }

    #[test]
    fn shell_names_are_recognized() {
        assert!(is_shell_name("/bin/sh".as_ref()) && is_shell_name("haft-bash".as_ref()));
        assert!(!is_shell_name("haft".as_ref()) && !is_shell_name("/sh/haft".as_ref()));
    }
}
