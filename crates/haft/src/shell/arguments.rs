//! The command line of a shell, as bash reads it: raw, without doing anything.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

/// Where the script comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The text after `-c`.
    Text(Vec<u8>),
    /// A file.
    File(Vec<u8>),
    /// Standard input.
    Input,
}

/// An option with its sign: `-` turns it on, `+` off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Setting {
    /// An option of `set`, by letter.
    Letter(u8, bool),
    /// An option of `set`, by name.
    Name(Vec<u8>, bool),
    /// An option of `shopt`.
    Shell(Vec<u8>, bool),
}

/// What a shell was asked to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShellArguments {
    pub(crate) settings: Vec<Setting>,
    pub(crate) source: Source,
    /// `$0`, if it is not the shell's own name.
    pub(crate) name: Option<Vec<u8>>,
    pub(crate) arguments: Vec<Vec<u8>>,
    /// Whether `-i` asks for a session with a person.
    pub(crate) interactive: bool,
}

/// Long options that change nothing for a shell which reads no start-up files.
const WITHOUT_EFFECT: [&[u8]; 5] = [b"--norc", b"--noprofile", b"--login", b"--noediting", b"--restricted"];

/// Reads the words after the shell's own name.
pub(crate) fn parse(words: impl IntoIterator<Item = OsString>) -> Result<ShellArguments, String> {
    let mut words = words.into_iter().map(OsString::into_vec).peekable();
    let mut raw = Raw::default();
    while let Some(word) = words.next_if(|word| is_option(word)) {
        if word == b"--" || word == b"-" {
            break;
        }
        if word.starts_with(b"--") {
            raw.long(&word)?;
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
struct Raw {
    settings: Vec<Setting>,
    command: bool,
    input: bool,
    interactive: bool,
}

impl Raw {
    fn long(&mut self, word: &[u8]) -> Result<(), String> {
        match word {
            b"--posix" => self.settings.push(Setting::Name(b"posix".to_vec(), true)),
            b"--verbose" => self.settings.push(Setting::Letter(b'v', true)),
            _ if WITHOUT_EFFECT.contains(&word) => {}
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
                b'l' | b'r' | b'D' => {}
                b'o' | b'O' => {
                    let name = rest
                        .next()
                        .ok_or_else(|| format!("{sign}{}: option requires an argument", letter as char))?;
                    self.settings.push(if letter == b'o' {
                        Setting::Name(name, on)
                    } else {
                        Setting::Shell(name, on)
                    });
                }
                _ => self.settings.push(Setting::Letter(letter, on)),
            }
        }
        Ok(())
    }

    fn finish(self, mut words: impl Iterator<Item = Vec<u8>>) -> Result<ShellArguments, String> {
        let (source, name) = if self.command {
            let text = words.next().ok_or_else(|| "-c: option requires an argument".to_owned())?;
            (Source::Text(text), words.next())
        } else if self.input {
            (Source::Input, None)
        } else {
            match words.next() {
                Some(file) => (Source::File(file.clone()), Some(file)),
                None => (Source::Input, None),
            }
        };
        let interactive = self.interactive;
        Ok(ShellArguments { settings: self.settings, source, name, arguments: words.collect(), interactive })
    }
}

/// Whether haft was started under the name of a shell, such as `sh`, `bash` or `haft-sh`.
pub(crate) fn is_shell_name(name: &std::ffi::OsStr) -> bool {
    let name = name.as_bytes();
    let name = name.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    name.ends_with(b"sh")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Result<ShellArguments, String> {
        parse(words.iter().map(OsString::from))
    }

    #[test]
    fn a_text_has_a_name_and_arguments() {
        let read = read(&["-euo", "pipefail", "-c", "echo", "name", "a", "-b"]).unwrap();
        assert_eq!(read.source, Source::Text(b"echo".to_vec()));
        assert_eq!(read.name.as_deref(), Some(&b"name"[..]));
        assert_eq!(read.arguments, [b"a".to_vec(), b"-b".to_vec()]);
        let pipefail = Setting::Name(b"pipefail".to_vec(), true);
        assert_eq!(read.settings, [Setting::Letter(b'e', true), Setting::Letter(b'u', true), pipefail]);
    }

    #[test]
    fn a_file_is_its_own_name() {
        let read = read(&["+x", "--", "-file", "x"]).unwrap();
        assert_eq!(read.source, Source::File(b"-file".to_vec()));
        assert_eq!(read.settings, [Setting::Letter(b'x', false)]);
        assert_eq!(read.arguments, [b"x".to_vec()]);
    }

    #[test]
    fn without_a_file_the_script_is_standard_input() {
        assert_eq!(read(&[]).unwrap().source, Source::Input);
        let read = read(&["-s", "a", "b"]).unwrap();
        assert_eq!((read.source, read.arguments.len()), (Source::Input, 2));
    }

    #[test]
    fn what_is_missing_or_unknown_is_refused() {
        assert!(read(&["-c"]).is_err());
        assert!(read(&["-o"]).is_err());
        assert!(read(&["--wrong"]).is_err());
    }

    #[test]
    fn names_of_shells() {
        assert!(is_shell_name("/bin/sh".as_ref()) && is_shell_name("haft-bash".as_ref()));
        assert!(!is_shell_name("haft".as_ref()) && !is_shell_name("/sh/haft".as_ref()));
    }
}
