//! Completion of commands, files, variables, and parameters of commands and tools.

mod commands;
mod context;
mod files;
mod programmable;
mod quoting;

use haft_kernel::Session;

use super::editor::{CompletionCandidate, CompletionList};
use context::{CompletionContext, CompletionKind};
pub(crate) use programmable::complete as programmable;
use quoting::TypedWord;

/// All completions at the cursor, sorted.
pub(crate) fn complete(session: &Session, text: &str, cursor: usize) -> CompletionList {
    let Some(before) = text.get(..cursor) else { return CompletionList::default() };
    let context = CompletionContext::find(before, session);
    let mut completion = match &context.kind {
        CompletionKind::Variable { braced } => variables(session, before, context.start, *braced),
        kind => words(session, before, context.start, kind),
    };
    completion.candidates.sort();
    completion.candidates.dedup();
    completion
}

fn variables(session: &Session, before: &str, start: usize, braced: bool) -> CompletionList {
    let prefix = &before[start..];
    let names = session.variable_names().into_iter().filter_map(|name| String::from_utf8(name.to_vec()).ok());
    let candidates = names.filter(|name| name.starts_with(prefix)).map(|name| {
        let text = if braced { format!("{name}}}") } else { name.clone() };
        CompletionCandidate { shown: name, text, tail: "" }
    });
    CompletionList { start, candidates: candidates.collect() }
}

fn words(session: &Session, before: &str, start: usize, kind: &CompletionKind) -> CompletionList {
    let Some(typed) = TypedWord::of(&before[start..], session) else { return CompletionList::default() };
    if *kind == CompletionKind::Command && !typed.has_slash() {
        let names = commands::names(session, typed.name());
        let candidates = names.into_iter().map(|name| typed.candidate(&name, false)).collect();
        return CompletionList { start: start + typed.name_at, candidates };
    }
    let wanted = match kind {
        CompletionKind::Command => files::FileFilter::Programs,
        CompletionKind::Directory => files::FileFilter::Directories,
        _ => files::FileFilter::All,
    };
    let found = files::matching(session, &typed, wanted);
    let files = found.into_iter().map(|file| typed.candidate(&file.name, file.is_directory));
    let candidates = parameters(session, &before[start..], kind).chain(files).collect();
    CompletionList { start: start + typed.name_at, candidates }
}

/// The parameters of the command that match the typed argument.
fn parameters(
    session: &Session,
    typed: &str,
    kind: &CompletionKind,
) -> impl Iterator<Item = CompletionCandidate> {
    let names = match kind {
        CompletionKind::Argument(command) => session.parameters_of(command),
        _ => Vec::new(),
    };
    names.into_iter().filter(move |name| name.starts_with(typed)).map(|name| {
        let tail = if name.ends_with('=') { "" } else { " " };
        CompletionCandidate { shown: name.clone(), text: name, tail }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft_kernel::Kernel;
    use haft_test_support::Scratch;

    fn texts(session: &Session, text: &str) -> Vec<String> {
        let completion = complete(session, text, text.len());
        completion
            .candidates
            .iter()
            .map(|found| format!("{}{}{}", &text[..completion.start], found.text, found.tail))
            .collect()
    }

    fn session(scratch: &Scratch) -> Session {
        let mut session = Session::new(Kernel::builder().build());
        let home = scratch.text("home");
        session.import_environment([
            ("HOME", home.as_str()),
            ("HOMEPAGE", "x"),
            ("PATH", &scratch.text("bin")),
        ]);
        session.set_directory(scratch.path());
        session
    }

    fn scratch() -> Scratch {
        let scratch = Scratch::new();
        for directory in ["home", "home/docs", "bin", "my dir"] {
            std::fs::create_dir(scratch.file(directory)).unwrap();
        }
        for file in ["two words.txt", "it's", "plain.txt", "my dir/inner", ".hidden", "home/docs/a"] {
            scratch.touch(file);
        }
        std::os::unix::fs::symlink("/bin/true", scratch.file("bin/mytool")).unwrap();
        scratch
    }

    #[test]
    fn file_names_are_quoted_as_the_word_is() {
        let scratch = scratch();
        let session = session(&scratch);
        for (typed, expected) in [
            ("cat tw", "cat two\\ words.txt "),
            ("cat 'tw", "cat 'two words.txt' "),
            ("cat \"tw", "cat \"two words.txt\" "),
            ("cat two\\ w", "cat two\\ words.txt "),
            ("cat it", "cat it\\'s "),
            ("cat my", "cat my\\ dir/"),
            ("cat \"my", "cat \"my dir/"),
            ("cat my\\ dir/", "cat my\\ dir/inner "),
            ("cat 'my dir/i", "cat 'my dir/inner' "),
            ("cat ~/do", "cat ~/docs/"),
            ("cat $HOME/docs/", "cat $HOME/docs/a "),
            ("cat .h", "cat .hidden "),
            ("cat <pl", "cat <plain.txt "),
            ("x=pl", "x=plain.txt "),
            ("cat --file=pl", "cat --file=plain.txt "),
            ("echo $(cat pl", "echo $(cat plain.txt "),
            ("for f in pl", "for f in plain.txt "),
        ] {
            assert_eq!(texts(&session, typed), [expected], "{typed}");
        }
    }

    #[test]
    fn cd_completes_directories() {
        let scratch = scratch();
        assert_eq!(texts(&session(&scratch), "cd "), ["cd bin/", "cd home/", "cd my\\ dir/"]);
    }

    #[test]
    fn functions_aliases_and_programs_are_completed() {
        let scratch = scratch();
        let mut session = session(&scratch);
        session.set_shell_option(haft_kernel::options::ShellOption::ExpandAliases, true);
        session.run_main(b"mythings() { :; }; alias mylist='ls -l'").unwrap();
        for typed in ["my", "ls; my", "if my", "echo $(my", "sudo my", "x=1 my", "! my"] {
            let found = texts(&session, typed);
            let names: Vec<&str> = found
                .iter()
                .filter_map(|text| text.split([' ', ';', '(']).rfind(|part| !part.is_empty()))
                .collect();
            assert_eq!(names, ["mylist", "mythings", "mytool"], "{typed}");
        }
        assert!(texts(&session, "./b").contains(&"./bin/".to_owned()));
        assert_eq!(texts(&session, "unali"), ["unalias "]);
    }

    #[test]
    fn parameters_of_commands_are_completed() {
        let scratch = scratch();
        let mut session = Session::new(Kernel::builder().commands(haft_commands::TABLE).build());
        session.set_directory(scratch.file("home"));
        assert_eq!(texts(&session, "spawn com"), ["spawn command="]);
        assert_eq!(texts(&session, "seq 3 | scatter li"), ["seq 3 | scatter limit="]);
        assert_eq!(texts(&session, "x | gather --u"), ["x | gather --unordered "]);
        assert_eq!(texts(&session, "spawn cwd=do"), ["spawn cwd=docs/"]);
        assert!(texts(&session, "spawn d").contains(&"spawn docs/".to_owned()));
    }

    #[test]
    fn variables_are_completed() {
        let scratch = scratch();
        let session = session(&scratch);
        assert_eq!(texts(&session, "echo $HOME"), ["echo $HOME", "echo $HOMEPAGE"]);
        assert_eq!(texts(&session, "echo \"${HOMEP"), ["echo \"${HOMEPAGE}"]);
        assert!(texts(&session, "echo $").len() > 5);
    }
}
